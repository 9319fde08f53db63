"""The data types of the search for the worst change: requests for losses, their bounds and
rules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dpcompose.core.change.units import (
    State,
    drop_level,
    only_rows,
    outermost_units,
    single_units,
    top_level,
    undirected,
)
from dpcompose.core.loss.algebra import Loss, LossAlgebra, Walk
from dpcompose.core.model.tree import Place
from dpcompose.core.theorem import Refused


class PureNeed(NamedTuple):
    """A request, made by a `Walk`, for the loss of a change in pure DP, whatever the notion of the
    bound.

    `place`: the dataset that changes; `state`: its change.
    """

    place: Place
    state: State


class Branch(NamedTuple):
    """One dataset below a map or partition, and what a change above becomes there.

    `place`: that dataset; `state`: its change; `copies`: the number of equal blocks, or of equal
    draws of a sample, with this change.
    """

    place: Place
    state: State
    copies: int


class How(NamedTuple):
    """The name of the rule by which a loss is bounded, with the rules whose bounds it combines."""

    rule: str
    of: tuple[How, ...] = ()

    def uses(self, rule: str) -> bool:
        """Returns whether `rule` is this rule or one of those that it combines, at any depth."""
        return self.rule == rule or any(each.uses(rule) for each in self.of)


class Choice(NamedTuple):
    """A bound on the loss below one map or partition, with the worst change there that it stands
    for.

    `loss`: the bound; `branches`: the datasets directly below with their changes. `bounded`: the
    loss is bounded from above by a path of single units, not searched; `branches` then show one
    unit, of which there are `units` equal ones (0: units of several sorts). `how`: the rule that
    bounds the loss (`core.kernel`).
    """

    loss: Loss
    branches: tuple[Branch, ...]
    bounded: bool = False
    units: int = 1
    how: How = How("")


class Answer(NamedTuple):
    """The largest loss of a change of one dataset, with everything that is made from the dataset.

    `own`: the loss of each mechanism that reads the dataset itself; `choices`: the bound below each
    map and partition; `loss`: the composition of all of them.
    """

    loss: Loss
    own: tuple[Loss, ...]
    choices: tuple[Choice, ...]


@dataclass(slots=True)
class Effort:
    """The number of ways of following a change of several units that the search may still
    enumerate.

    When it is used up, several units are bounded by a path of single units instead.
    """

    left: int = 8_000

    def allows(self, ways: int) -> bool:
        """Returns whether `ways` more may be enumerated, and deducts them in either case.

        Refused requests count as well, so that the search ends.
        """
        allowed = ways <= self.left
        self.left -= ways
        return allowed


def in_pure(walk: Walk) -> Walk:
    """Runs a walk (see `Walk`), asks for each loss that it requests in pure DP, and returns its
    result."""
    sent: Loss = None
    while True:
        try:
            need = walk.send(sent)
        except StopIteration as stop:
            return stop.value
        sent = yield PureNeed(*need)


class LossRules(ABC):
    """The rules that bound the loss of a change of a dataset, below one map or over one partition.

    Each rule is a method that returns a walk (`Walk`): it yields requests for the losses of changes
    of the datasets below, and its result is a `Choice`. It raises `Refused` where it does not
    apply. `place`: the dataset that changes.
    """

    __slots__ = ()
    algebra: LossAlgebra
    place: Place

    @property
    @abstractmethod
    def by_name(self) -> Mapping[str, Callable[[State], Walk]]:
        """Returns the rules that combine no other rules, by their names in certificates."""

    def replay(self, how: How, state: State) -> Walk:
        """Bounds the loss of the change `state` by the rule named in `how`; `Refused` where it does
        not apply."""
        if how.rule in self.by_name and not how.of:
            return (yield from self.by_name[how.rule](state))
        if how.rule in ("units", "outermost"):
            rest = iter(how.of)

            def following(unit: State) -> Walk:
                """Bounds the loss of one unit of the change by the next rule; `Refused` if no rule
                is left."""
                each = next(rest, None)
                if each is None:
                    raise Refused("some unit of the change is left out")
                return (yield from self.replay(each, unit))

            return (yield from self.units(state, following, how.rule == "outermost"))
        if how.rule == "best" and how.of:
            found = []
            for each in how.of:
                found.append((yield from self.replay(each, state)))
            return best_of(self.algebra, found, found[0])
        raise Refused(f"there is no rule `{how.rule}` here")

    def units(self, state: State, search: Callable[[State], Walk], outermost: bool = False) -> Walk:
        """Bounds the loss of a change of several units by group privacy: searches the loss of each
        unit alone, and returns the `Choice` with the loss of a path of tables that changes one unit
        at a step.

        `search`: bounds the loss of one unit. Rows without a privacy unit may change in any order;
        rows of one unit may have to go before other rows of it come. `outermost`: everything that
        one unit of an ancestor has become is one step. Raises Refused for a single unit, or if the
        outermost units are the single units.
        """
        units = single_units(state)
        if outermost:
            finest, units = units, outermost_units(state)
            if units == finest:
                raise Refused("each unit is one by itself")
        if len(units) == 1 and units[0][1] == 1:
            raise Refused("one unit is no path")
        parts: list[tuple[Loss, int]] = []
        branches: list[Branch] = []
        hows: list[How] = []
        for unit, count in units:
            choice: Choice = yield from search(unit)
            parts.append((choice.loss, count))
            branches.extend(choice.branches)
            hows.append(choice.how)
        alike = units[0][1] if len(units) == 1 else 0
        how = How("outermost" if outermost else "units", tuple(hows))
        free = only_rows(state) and self.place.top.traits.unit is None
        return Choice(self.algebra.chain(parts, free), tuple(branches), True, alike, how)


def best_of(algebra: LossAlgebra, found: Sequence[Choice], shown: Choice) -> Choice:
    """Returns the best of several bounds (`found`) on one change, with the branches of `shown`."""
    if len(found) == 1:
        return shown
    loss = algebra.best(each.loss for each in found)
    attaining = next((each for each in found if each.loss == loss), None)
    how = attaining.how if attaining else How("best", tuple(each.how for each in found))
    return shown._replace(loss=loss, how=how)


def worst_of(algebra: LossAlgebra, found: Sequence[Choice]) -> Choice:
    """Returns a bound that covers several possible changes (`found`), with the branches of the
    worst one."""
    if len(found) == 1:
        return found[0]
    shown = max(found, key=lambda each: algebra.key(each.loss))
    loss = algebra.worst_case(each.loss for each in found)
    if loss == shown.loss:
        return shown._replace(loss=loss)
    return shown._replace(loss=loss, bounded=any(each.bounded for each in found))


def fit(state: State, above: Place, below: Place, pushed: bool) -> State:
    """Returns a change of the dataset `above` in the form in which `below`, made from it, needs it.

    Dropped are the units of ancestors on which no guarantee at or below `below` is stated, and the
    order of the two tables where no loss there depends on it. `pushed`: the units of `above` itself
    have been added as the innermost level of the history.
    """
    if above.leans and not below.leans:
        state = undirected(state)
    levels = [*above.levels, above.depth] if pushed else list(above.levels)
    if tuple(levels) == below.levels:
        return state
    for depth in range(len(levels) - 1, -1, -1):
        if levels[depth] not in below.levels:
            state = drop_level(state, depth)
    return top_level(state)
