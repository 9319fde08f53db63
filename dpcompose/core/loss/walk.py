"""What the search for the worst change is made of: needs, branches, choices and answers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dpcompose.core.change.units import (
    State,
    drop_level,
    only_rows,
    outermost_units,
    single_units,
    top_level,
    undirected,
)
from dpcompose.core.loss.algebras import Loss, Scalars
from dpcompose.core.loss.pattern_algebra import Algebra
from dpcompose.core.model.tree import Place
from dpcompose.core.theorem import Refused

Need = tuple[Place, State]
Walk = Generator[Need, Loss, Any]


class PureNeed(NamedTuple):
    """A need of the loss in pure DP, whatever the notion of the bound is."""

    place: Place
    state: State


class Branch(NamedTuple):
    """The change in one dataset below, for `copies` equal blocks."""

    place: Place
    state: State
    copies: int


class How(NamedTuple):
    """The rule by which a loss is bounded, with the rules whose bounds it combines."""

    rule: str
    of: tuple[How, ...] = ()

    def uses(self, rule: str) -> bool:
        """Whether a rule is this one or one of those that it takes together."""
        return self.rule == rule or any(each.uses(rule) for each in self.of)


class Choice(NamedTuple):
    """The worst thing that may happen along one map or at one partition.

    `loss` is its loss; `bounded`: the loss is bounded from above by a path of single units, not
    searched; `branches` then show one unit, of which there are `units` alike (0: of several sorts).
    `how` is the rule that bounds it (`core.kernel`).
    """

    loss: Loss
    branches: tuple[Branch, ...]
    bounded: bool = False
    units: int = 1
    how: How = How("")


class Answer(NamedTuple):
    """The loss of a change at a place: of its own mechanisms, and of what hangs below."""

    loss: Loss
    own: tuple[Loss, ...]
    choices: tuple[Choice, ...]


@dataclass(slots=True)
class Effort:
    """How many joint ways the search may still list; then several units are only bounded."""

    left: int = 8_000

    def allows(self, ways: int) -> bool:
        """Whether so many more may be listed; they are counted, so that the search ends."""
        allowed = ways <= self.left
        self.left -= ways
        return allowed


def in_pure(walk: Walk) -> Walk:
    """Returns the result of a walk whose needs are answered in pure DP."""
    sent: Loss = None
    while True:
        try:
            need = walk.send(sent)
        except StopIteration as stop:
            return stop.value
        sent = yield PureNeed(*need)


def by_units(
    algebra: Algebra,
    place: Place,
    state: State,
    search: Callable[[State], Walk],
    outermost: bool = False,
) -> Walk:
    """A bound for several units from the losses of each alone: a path through them.

    Rows that have no privacy unit may change in any order. A unit's rows may have to go before
    others of it come. `outermost`: all that has become of one unit further up is one step.
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
    free = only_rows(state) and place.top.traits.unit is None
    return Choice(algebra.chain(parts, free), tuple(branches), True, alike, how)


def best_of(algebra: Algebra, found: Sequence[Choice], shown: Choice) -> Choice:
    """Returns the best of several bounds on one change; `shown` is the one whose branches are
    kept."""
    if len(found) == 1:
        return shown
    loss = algebra.best(each.loss for each in found)
    attaining = next((each for each in found if each.loss == loss), None)
    how = attaining.how if attaining else How("best", tuple(each.how for each in found))
    return shown._replace(loss=loss, how=how)


def worst_of(algebra: Algebra, found: Sequence[Choice]) -> Choice:
    """Returns the worst of several possible changes."""
    if len(found) == 1:
        return found[0]
    if isinstance(algebra, Scalars):
        return max(found, key=lambda each: each.loss)
    shown = max(found, key=lambda each: algebra.key(each.loss))
    loss = algebra.worst_case(each.loss for each in found)
    return shown._replace(loss=loss, bounded=any(each.bounded for each in found))


def fit(state: State, above: Place, below: Place, pushed: bool) -> State:
    """Forget the levels that nothing at or below `below` speaks of any more, and directions."""
    if above.leans and not below.leans:
        state = undirected(state)
    levels = [*above.levels, above.depth] if pushed else list(above.levels)
    if tuple(levels) == below.levels:
        return state
    for depth in range(len(levels) - 1, -1, -1):
        if levels[depth] not in below.levels:
            state = drop_level(state, depth)
    return top_level(state)
