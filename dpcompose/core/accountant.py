"""The search: the worst neighbouring change, and the least loss certified for it.

The value comes from the general composition theorem (GMPS24 IV.1 / V.2, VI.4, VI.13, VI.21):
losses add over the mechanisms that a change reaches, and the worst change is found by following it
down the tree. Each dataset answers for a whole change; answers are remembered, and the walk uses
its own stack, so that deep specs are no problem.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpcompose.core.blocks import Splitter
from dpcompose.core.change import State, all_leaves, single_units
from dpcompose.core.cost import Coster
from dpcompose.core.fates import extremes
from dpcompose.core.layout import Place
from dpcompose.core.loss import Algebra, Loss
from dpcompose.core.moving import LIMIT, become, moved, one_below
from dpcompose.core.walk import Answer, Branch, Choice, Effort, Walk, by_units, fit, worst_of


@dataclass(slots=True)
class Accountant:
    """Losses of changes in one notion.

    `charge_all`: price every block at its worst, as if every mechanism read the whole table
    (what sequential composition would give).
    """

    algebra: Algebra
    charge_all: bool
    _coster: Coster
    _known: dict[tuple[int, State], Answer]
    _own: dict[tuple[int, State], tuple[Loss, ...]]
    _effort: Effort

    def __init__(self, algebra: Algebra) -> None:
        self.algebra = algebra
        self.charge_all = False
        self._coster = Coster(algebra)
        self._known = {}
        self._own = {}
        self._effort = Effort()

    def charging_all(self) -> Accountant:
        """An accountant that charges all blocks, and knows the costs that this one has found."""
        other = Accountant(self.algebra)
        other.charge_all = True
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
            own = tuple(cost(mechanism, placed, state) for mechanism, placed in place.mechanisms)
            self._own[id(place), state] = own
        choices: list[Choice] = []
        for below in place.derived:
            choices.append((yield from self._along_map(place, below, state)))
        for partition, blocks in zip(place.dataset.partitions, place.blocks, strict=True):
            splitter = Splitter(algebra, self.charge_all, place, partition, blocks, self._effort)
            choices.append((yield from splitter.split(state)))
        loss = algebra.add([*own, *(choice.loss for choice in choices)])
        return Answer(loss, own, tuple(choices))

    # -- maps ----------------------------------------------------------------------------------

    def _along_map(self, place: Place, below: Place, state: State) -> Walk:
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
        if len(units) > 1 or units[0][1] > 1:
            return (yield from by_units(algebra, units, lambda s: self._along_map(place, below, s)))
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
