"""The search: the worst neighbouring change, and the least loss certified for it.

The value comes from the general composition theorem (GMPS24 IV.1 / V.2, VI.4, VI.13, VI.21):
losses add over the mechanisms that a change reaches, and the worst change is found by following it
down the tree. Each dataset answers for a whole change; answers are remembered, and the walk uses
its own stack, so that deep specs are no problem.
"""

from __future__ import annotations

from dataclasses import replace

from dpcompose.core import amplify
from dpcompose.core.blocks import Splitter
from dpcompose.core.change import (
    ANY,
    OLD_END,
    PAIR,
    SINGLE,
    Kind,
    Leaf,
    State,
    all_leaves,
    single_units,
)
from dpcompose.core.cost import Coster
from dpcompose.core.fates import extremes
from dpcompose.core.layout import Place
from dpcompose.core.loss import Loss
from dpcompose.core.moving import LIMIT, become, moved, one_below
from dpcompose.core.pattern import Felt
from dpcompose.core.patterns import Algebra, Patterns
from dpcompose.core.problem import Mechanism, Sample
from dpcompose.core.walk import Answer, Branch, Choice, Effort, Walk, by_units, fit, worst_of
from dpcompose.values import dataclass


@dataclass(slots=True)
class Accountant:
    """Losses of changes in one notion.

    `charge_all`: price every block at its worst, as if every mechanism read the whole table
    (what sequential composition would give). `oriented`: in every change that is followed, all rows
    are added or all are removed, so that one-sided losses keep their side.
    """

    algebra: Algebra
    charge_all: bool
    oriented: bool
    _coster: Coster
    _known: dict[tuple[int, State], Answer]
    _own: dict[tuple[int, State], tuple[Loss, ...]]
    _effort: Effort

    def __init__(self, algebra: Algebra) -> None:
        self.algebra = algebra
        self.charge_all = False
        self.oriented = False
        self._coster = Coster(algebra)
        self._known = {}
        self._own = {}
        # Patterns cost more to compare than numbers.
        self._effort = Effort(8_000) if isinstance(algebra, Patterns) else Effort()

    def charging_all(self) -> Accountant:
        """An accountant that charges all blocks, and knows the costs that this one has found."""
        other = Accountant(self.algebra)
        other.charge_all, other.oriented = True, self.oriented
        other._effort = Effort(0)
        other._coster, other._own = self._coster, self._own
        return other

    def answer(self, place: Place, state: State) -> Answer:
        """The worst loss of everything at and below `place` for the change `state` there."""
        known = self._known
        stack: list[tuple[tuple[int, State], Walk]] = []
        key = (id(place), state)
        if key not in known:
            stack.append((key, self._walk(place, state)))
        sent: Loss = None
        while stack:
            key_now, walk = stack[-1]
            try:
                wanted = walk.send(sent)
            except StopIteration as stop:
                known[key_now] = stop.value
                stack.pop()
                sent = stop.value.loss
                continue
            wanted_key = (id(wanted[0]), wanted[1])
            answered = known.get(wanted_key)
            if answered is None:
                stack.append((wanted_key, self._walk(*wanted)))
                sent = None
            else:
                sent = answered.loss
        return known[key]

    def known(self) -> dict[tuple[int, State], Answer]:
        """Every answer found so far, by the identity of the place and the change there."""
        return self._known

    def _walk(self, place: Place, state: State) -> Walk:
        algebra = self.algebra
        if not state:
            return Answer(algebra.zero, (algebra.zero,) * len(place.mechanisms), ())
        own = self._own.get((id(place), state))
        if own is None:
            cost = self._coster.cost
            own = tuple(
                self._told(cost(mechanism, placed, state), mechanism, place, state)
                for mechanism, placed in place.mechanisms
            )
            self._own[id(place), state] = own
        choices: list[Choice] = []
        for below in place.derived:
            choices.append((yield from self._along_map(place, below, state)))
        for partition, blocks in zip(place.dataset.partitions, place.blocks, strict=True):
            splitter = Splitter(algebra, self.charge_all, place, partition, blocks, self._effort)
            choices.append((yield from splitter.split(state)))
        loss = algebra.add([*own, *(choice.loss for choice in choices)])
        return Answer(loss, own, tuple(choices))

    def _told(self, loss: Loss, mechanism: Mechanism, place: Place, state: State) -> Loss:
        """A loss with where it comes from, where the algebra keeps that."""
        if not isinstance(self.algebra, Patterns):
            return loss
        felt = ((Felt(mechanism.name, place.dataset.name, state), mechanism.count),)
        return tuple(replace(pattern, trace=felt) if pattern.atoms else pattern for pattern in loss)

    # -- samples -------------------------------------------------------------------------------

    def _through_sample(self, place: Place, below: Place, state: State, sample: Sample) -> Walk:
        """Everything that reads one sample is composed, and amplified once (theory, section 7).

        Distances above the sample multiply the amplified loss. Independent draws are independent
        mechanisms.
        """
        assert below.edge is not None
        algebra, rounds = self.algebra, below.edge.rounds
        units = single_units(state)
        if len(units) > 1 or units[0][1] > 1:
            return (
                yield from by_units(algebra, units, lambda s: self._along_map(place, below, s))
            )
        leaf = next(iter(all_leaves(state)))
        push = place.depth in below.levels

        def inside(unit: Leaf) -> Walk:
            fitted = fit(one_below(state, push, become(unit)), place, below, push)
            loss = yield (below, fitted)
            return fitted, loss

        whole = _unchanged(leaf)
        if sample.size is not None and leaf.kind is not Kind.PAIR:
            # Without replacement the number of rows is public: only replacements are covered.
            fitted, _ = yield from inside(ANY)
            return Choice(algebra.none, (Branch(below, fitted, rounds),))
        fitted, loss = yield from inside(whole)
        found: list[Loss | None] = []
        if sample.size is not None:
            found.append(algebra.times(amplify.thinned(algebra, loss, sample.rate), rounds))
            if not below.by_position:
                # The row may also give way to any other one, which keeps no column.
                _, other = yield from inside(PAIR)
                row = amplify.amplified(algebra, other, sample.rate, replace=True)
                found.append(None if row is None else algebra.times(row, rounds))
        elif leaf.kind is Kind.SINGLE:
            side = "removed" if self.oriented else "both"
            row = amplify.amplified(algebra, loss, sample.rate, side=side)
            found.append(None if row is None else algebra.times(row, rounds))
        elif leaf.kind is Kind.PAIR:
            _, once = yield from inside(OLD_END)
            found.append(amplify.replaced(algebra, once, loss, sample.rate, rounds))
        elif leaf.kind is Kind.USER and leaf.size is not None and loss != algebra.zero:
            # Row by row: each is in the sample or not, by itself.
            _, once = yield from inside(SINGLE)
            side = "both" if leaf.size == 1 else "removed"
            row = amplify.amplified(algebra, once, sample.rate, side=side)
            found.append(amplify.stepwise(algebra, row, int(leaf.size), rounds))
        sharper = [each for each in found if each is not None]
        if not sharper or not isinstance(algebra, Patterns) or leaf.kind is Kind.USER:
            sharper.append(algebra.times(amplify.unamplified(algebra, loss), rounds))
        return Choice(algebra.best(sharper), (Branch(below, fitted, rounds),))

    # -- maps ----------------------------------------------------------------------------------

    def _along_map(self, place: Place, below: Place, state: State) -> Walk:
        """The worst that a map makes of a change; `below` is the dataset that it makes.

        What alone depends on a random map may be charged by statements above it instead: they
        hold whatever is drawn, so that nothing is amplified on the way (theory, section 7).
        """
        algebra = self.algebra
        assert below.edge is not None and below.edge.made_by is not None
        made_by = below.edge.made_by
        choice: Choice
        if isinstance(made_by, Sample) and below.above is None:
            choice = yield from self._through_sample(place, below, state, made_by)
        else:
            choice = yield from self._moved(place, below, state)
        if below.whole is None:
            return choice
        part: Choice = yield from self._moved(place, below.whole, state)
        branches = tuple(each._replace(copies=below.edge.rounds) for each in part.branches)
        part = part._replace(loss=algebra.times(part.loss, below.edge.rounds), branches=branches)
        best = algebra.best([choice.loss, part.loss])
        return part if best == part.loss else choice._replace(loss=best)

    def _moved(self, place: Place, below: Place, state: State) -> Walk:
        algebra = self.algebra
        assert below.edge is not None and below.edge.made_by is not None
        made_by = below.edge.made_by
        push = place.depth in below.levels
        alone = all_leaves(state).total() == 1
        limit = LIMIT if alone or self._effort.left > 0 else 1
        listed = moved(state, made_by, place.traits, push, limit)
        if listed is not None and (alone or self._effort.allows(len(listed))):
            found: list[Choice] = []
            for after in listed:
                fitted = fit(after, place, below, push)
                loss = yield (below, fitted)
                found.append(Choice(loss, (Branch(below, fitted, 1),)))
            return worst_of(algebra, found)
        units = single_units(state)
        if below.above is not None:
            # Statements above the random map that is passed cover the change as it is there.
            fitted = fit(one_below(state, push, _unchanged), place, below, push)
            loss = yield (below, fitted)
            return Choice(loss, (Branch(below, fitted, 1),))
        if len(units) > 1 or units[0][1] > 1:
            return (yield from by_units(algebra, units, lambda s: self._moved(place, below, s)))
        # One unit that becomes too many rows to list: bound it by its rows one by one.
        leaf = next(iter(all_leaves(state)))
        found = []
        for unit, rows in extremes(made_by, leaf, place.traits):
            after = one_below(state, push, become(unit))
            fitted = fit(after, place, below, push)
            loss = yield (below, fitted)
            grouped = algebra.chain([(loss, rows)])
            found.append(Choice(grouped, (Branch(below, fitted, 1),), rows > 1, rows))
        return worst_of(algebra, found)


def _unchanged(leaf: Leaf) -> Leaf:
    """What a unit becomes where it stays what it is."""
    return leaf._replace(tags=tuple(range(len(leaf.tags))), displaced=False)
