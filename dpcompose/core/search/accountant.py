"""The search for the worst neighbouring change, and for the least loss certified for it.

The value comes from the general composition theorem (GMPS24 IV.1 / V.2, VI.4, VI.13, VI.21): losses
add over the mechanisms that a change reaches, and the worst change is found by propagating it down
the tree of datasets. Answers are cached by dataset and change. Walks (generators that request
losses) are run with a stack of our own, so that the depth of a spec is not limited by recursion.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dpcompose.core.change.maps.allocate import Allocate
from dpcompose.core.change.propagation import LIMIT
from dpcompose.core.change.units import Kind, State, all_leaves, single_units
from dpcompose.core.kernel import joint_distance
from dpcompose.core.kernel.along_map import AlongMap
from dpcompose.core.kernel.over_blocks import OverBlocks
from dpcompose.core.loss import proved
from dpcompose.core.loss.algebra import AMPLIFIED, Loss, LossAlgebra, Walk
from dpcompose.core.loss.algebras import Scalars
from dpcompose.core.loss.pattern import TracedCharge
from dpcompose.core.loss.walk import Answer, Choice, Effort, PureNeed, best_of
from dpcompose.core.model.placed import Placed
from dpcompose.core.model.problem import Mechanism
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Refused, Role
from dpcompose.curves.rounding import RoundingWatch

#: The statements of a mechanism, placed relative to the dataset that it reads.
Seen = tuple[Placed, ...]
#: A mechanism, its placed statements, its loss, and whether the loss is rounded.
KnownCost = tuple[Mechanism, Seen, Loss, bool]
#: Costs in one algebra, by the change and the identity of the mechanism.
Costs = dict[State, dict[int, KnownCost]]


@dataclass(slots=True)
class Accountant:
    """Computes the largest losses of changes of datasets in one algebra, and caches them.

    `costs`: the costs of mechanisms that are known.
    """

    algebra: LossAlgebra
    costs: Costs = field(default_factory=dict)
    effort: Effort = field(default_factory=Effort, init=False)
    _known: dict[tuple[int, State], Answer] = field(default_factory=dict, init=False)
    _pure: Accountant | None = field(default=None, init=False)

    @property
    def pure(self) -> Accountant:
        """Returns the accountant that computes the losses in pure DP that this one needs."""
        if self._pure is None:
            self._pure = Accountant(Scalars(Notion.PURE))
        return self._pure

    def answer(self, place: Place, state: State) -> Answer:
        """Returns the largest loss of all mechanisms at and below `place` for the change `state` of
        its dataset."""
        key = (id(place), state)
        if key not in self._known:
            self.follow(self._walk(place, state), key)
        return self._known[key]

    def follow(self, walk: Walk, key: tuple[int, State] | None = None) -> Any:
        """Runs a walk, computes each loss that it requests, and returns its result, stored under
        `key` if given.

        A key is the identity of a place and the change of its dataset.
        """
        known, sent = self._known, None
        stack = [(key, walk)]
        while True:
            now, walk = stack[-1]
            try:
                wanted = walk.send(sent)
            except StopIteration as stop:
                stack.pop()
                if now is not None:
                    known[now] = stop.value
                if not stack:
                    return stop.value
                sent = stop.value.loss
                continue
            if isinstance(wanted, PureNeed):
                sent = self.pure.answer(*wanted).loss
                continue
            place, state = wanted
            answered = known.get((id(place), state))
            if answered is None and place.like is not place and not self.algebra.traces:
                answered = known.get((id(place.like), state))
                if answered is not None:
                    known[(id(place), state)] = answered
            if answered is None:
                stack.append(((id(place), state), self._walk(place, state)))
            sent = None if answered is None else answered.loss

    def answers(self) -> dict[tuple[int, State], Answer]:
        """Returns every answer computed so far, by the identity of its place and the change
        there."""
        return self._known

    def _walk(self, place: Place, state: State) -> Walk:
        """Computes the answer for a change of the dataset of a place; yields requests for the
        losses below."""
        algebra = self.algebra
        if not state:
            return Answer(algebra.zero, (algebra.zero,) * len(place.mechanisms), ())
        own = tuple(
            proved.at(self._cost(*read, state, place.like)[2], place.like, state)
            for read in place.like.mechanisms
        )
        if algebra.traces:
            own = tuple(
                algebra.traced(
                    loss, ((TracedCharge(each.name, place.dataset.name, state), each.count),)
                )
                for loss, (each, _) in zip(own, place.mechanisms, strict=True)
            )
        choices: list[Choice] = []
        for below in place.derived:
            choice = yield from self._along_map(place, below, state)
            choices.append(choice._replace(loss=proved.at(choice.loss, below, state)))
        for numbers in joint_distance.groups(place):
            joint = yield from tried(joint_distance.together(algebra, place, numbers, state))
            if joint is not None:
                alone = [choices[number].loss for number in numbers]
                better = joint_distance.better(algebra, joint, alone)
                for number, choice in zip(numbers, better, strict=False):
                    choices[number] = choice
        for partition, blocks in zip(place.dataset.partitions, place.blocks, strict=True):
            rules = OverBlocks(algebra, place, partition, blocks)
            choice = yield from self._over_blocks(rules, state)
            choices.append(choice._replace(loss=proved.at(choice.loss, place, state)))
        loss = algebra.add([*own, *(choice.loss for choice in choices)], Role.SEQUENTIAL)
        return Answer(proved.at(loss, place, state), own, tuple(choices))

    def _cost(
        self, mechanism: Mechanism, placed: Seen, state: State, place: Place | None = None
    ) -> KnownCost:
        """Returns the loss of a mechanism for a change of the dataset that it reads, from the cache
        if known.

        `placed`: the guarantees of the mechanism; `place`: of the dataset, which the proof names.
        """
        algebra, known = self.algebra, self.costs.setdefault(state, {})
        found = known.get(id(mechanism))
        if found is None or found[0] is not mechanism or found[1] != placed:
            with RoundingWatch() as watch:
                once = algebra.charge(placed, state)
                once = once if place is None else proved.at(once, place, state)
                loss = algebra.times(once, mechanism.count)
            found = known[id(mechanism)] = mechanism, placed, loss, watch.rounded
        return found

    def rounded(self, mechanism: Mechanism, placed: Seen, state: State) -> bool:
        """Returns whether the loss of a mechanism for a change is rounded up from an irrational
        number."""
        return self._cost(mechanism, placed, state)[3]

    # -- maps ----------------------------------------------------------------------------------

    def _along_map(self, place: Place, below: Place, state: State) -> Walk:
        """Returns the best bound (`Choice`) on the loss below the map from `place` to `below`."""
        rules = AlongMap(self.algebra, place, below)
        choice: Choice
        if not below.read:
            return (yield from rules.unread(state))
        if not rules.sampled:
            choice = yield from self._propagate(rules, state)
        else:
            choice = yield from self._sampled(rules, place, below, state)
        if below.whole is None:
            return choice
        inside = AlongMap(self.algebra, place, below.whole)
        part = rules.every_draw((yield from self._propagate(inside, state)))
        best = self.algebra.best([choice.loss, part.loss])
        return best_of(self.algebra, [part, choice], part if best == part.loss else choice)

    def _sampled(self, rules: AlongMap, place: Place, below: Place, state: State) -> Walk:
        """Returns the best bound below a sample: by a path of single rows, or by which rows are
        drawn."""
        if self.algebra.notion not in AMPLIFIED and not isinstance(rules.made_by, Allocate):

            def amplified(pure: AlongMap, state: State) -> Walk:
                return self.pure._sampled(pure, place, below, state)

            return (yield from rules.as_pure(state, amplified))
        rows = yield from tried(rules.sampled_rows(state))
        ways = [rules.coupled(state)]
        plain = all(leaf.kind is Kind.SINGLE for leaf in all_leaves(state))
        at_delta = self.algebra.notion is Notion.PROFILE
        known = at_delta and rows is not None and rows.loss != self.algebra.none
        if _alone(state):
            ways.insert(0, rules.sample(state))
        elif not (plain and known):
            # At a δ the bound by drawn rows is never above that by a path if rows are only added
            # or only removed; for replaced rows it may be.
            ways.insert(0, rules.units(state, lambda s: self._along_map(place, below, s)))
        found: list[Choice] = []
        for way in ways:
            choice = yield from tried(way)
            found += [] if choice is None else [choice]
        found += [] if rows is None else [rows]
        return best_of(self.algebra, found, found[0])

    def _propagate(self, rules: AlongMap, state: State) -> Walk:
        """Returns the best bound below a map: by its outcomes, or by how it draws rows at
        random."""
        listed: Choice = yield from self._any_outcome(rules, state)
        displaced = yield from tried(rules.displaced(state))
        if displaced is None or not listed.loss:
            return listed
        at_delta = self.algebra.notion is Notion.PROFILE and not displaced.bounded
        if at_delta and displaced.loss != self.algebra.none:
            return displaced  # an amplified profile is nowhere above the unamplified one
        if self.algebra.best([listed.loss, displaced.loss]) == listed.loss:
            return listed
        return best_of(self.algebra, [displaced, listed], displaced)

    def _any_outcome(self, rules: AlongMap, state: State) -> Walk:
        """Returns the bound by the worst of all outcomes of a map, or by a path of units if they
        are too many."""
        alone = all_leaves(state).total() == 1
        limit = LIMIT if alone or self.effort.left > 0 else 1
        try:
            listed = rules.outcomes(state, limit)
            if alone or self.effort.allows(len(listed)):
                return (yield from rules.worst_outcome(listed))
        except Refused:
            pass
        if rules.below.above is not None:
            return (yield from rules.unchanged(state))
        if not _alone(state):
            single = yield from rules.units(state, lambda s: self._propagate(rules, s))
            outermost = rules.units(state, lambda s: self._propagate(rules, s), outermost=True)
            coarser = yield from tried(outermost)
            found = [single] if coarser is None else [single, coarser]
            return best_of(self.algebra, found, single)
        return (yield from rules.extremes(state))

    # -- partitions ----------------------------------------------------------------------------

    def _over_blocks(self, rules: OverBlocks, state: State) -> Walk:
        """Returns the best bound on the loss over the blocks of a partition."""
        if rules.anywhere(state):
            return (yield from rules.everywhere(state))
        found = all_leaves(state)
        if found.total() == 1:
            (leaf,) = found
            if leaf.kind is Kind.USER:
                return (yield from rules.one_user(state))
            return (yield from rules.one_row(state))
        return (yield from self._several_units(rules, state))

    def _several_units(self, rules: OverBlocks, state: State) -> Walk:
        """Returns the best bound for several units over blocks: by all ways if few, else by a path
        of units."""
        bound: Choice = yield from rules.units(state, lambda s: self._over_blocks(rules, s))
        # All that one unit further up has become may lose less than its parts by themselves.
        outermost = rules.units(state, lambda s: self._over_blocks(rules, s), outermost=True)
        coarser = yield from tried(outermost)
        capped = yield from tried(rules.each_block_full(state))
        exact: Choice | None = None
        if self.effort.left > 0:
            exact = yield from tried(rules.exhaustive(state, self.effort.allows))
        if exact is None:
            exact = yield from tried(rules.equal_rows(state))
        # Where few blocks are read, any change of them all may be known to lose less than a path.
        whole = (yield from rules.everywhere(state)) if rules.few_for(state) else None
        found = [each for each in (whole, coarser, bound, capped, exact) if each is not None]
        # Of equal bounds the one by a path is the easiest to follow.
        best = self.algebra.best([bound.loss, *(choice.loss for choice in found)])
        attaining = next((choice for choice in reversed(found) if choice.loss == best), None)
        if attaining is not None:
            return attaining._replace(loss=best)
        return best_of(self.algebra, found, exact or bound)


def tried(rule: Walk) -> Walk:
    """Returns the bound (`Choice`) that a rule gives; None if the rule does not apply."""
    try:
        return (yield from rule)
    except Refused:
        return None


def _alone(state: State) -> bool:
    """Returns whether a change is a single unit."""
    units = single_units(state)
    return len(units) == 1 and units[0][1] == 1
