"""What one mechanism loses for one change as (ε, δ): its statements share out the units of change.

What is least is not one number: a statement may have the smaller ε and another the smaller δ, so
that all ways of taking turns are composed, and the undominated ones kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.units import Item, State
from dpcompose.core.loss.algebras import Frontier, Pairs
from dpcompose.core.model.placed import Placed
from dpcompose.core.notions.guarantee import Guarantee
from dpcompose.core.notions.notion import Amount
from dpcompose.core.numbers.exact import ZERO

#: So many statements of a mechanism are tried for one unit,
MOST_OPTIONS = 12
#: and so many ways are kept for all units of one level, and for all units of the change.
MOST_PARTIAL, MOST_WALKS = 64, 256

#: For each unit of a statement's level inside an item: how many steps, and how many such units.
Needed = Callable[[Placed, Item], list[tuple[int | None, int]]]
#: One way along a path: the loss of a step, and how many such steps.
_Way = list[tuple[Frontier, int]]


def pair_cost(
    algebra: Pairs,
    covers: Sequence[tuple[Sequence[Placed], State]],
    needed: Needed,
    at_once: Amount,
) -> Frontier:
    """The undominated losses of one copy of a mechanism.

    `covers`: statements with what they are to cover, the whole change each time; first all of them
    and the change as it is. `at_once`: the ε of those that cover a change of any size, for pure DP.
    """
    found: list[Frontier] = [
        _pair(p.statement.guarantee, algebra)
        for p in covers[0][0]
        if p.statement.relation.kind is RelationKind.FREE_LUNCH
    ]
    if not isinstance(at_once, float):
        found.append(((at_once, algebra.delta(ZERO)),))
    for placed, state in covers:
        found += [algebra.chain(way) for way in _all_ways(algebra, placed, state, needed)]
    best: Frontier = algebra.best(found)
    return best


def _all_ways(algebra: Pairs, placed: Sequence[Placed], state: State, needed: Needed) -> list[_Way]:
    walks: list[_Way] = [[]]
    for item, count in state:
        ways = _ways(algebra, placed, item, count, needed)
        walks = [before + way for before in walks for way in ways][:MOST_WALKS]
    return walks


def _ways(
    algebra: Pairs, placed: Sequence[Placed], item: Item, count: int, needed: Needed
) -> list[_Way]:
    """The ways of covering so many equal units, by the statements of one level or another."""
    ways: list[_Way] = []
    for level in sorted({each.level for each in placed}):
        here = [p for p in placed if p.level == level]
        columns = [needed(each, item) for each in here]
        partial: list[_Way] = [[]]
        for row in zip(*columns, strict=True):
            by_steps: dict[int, list[Frontier]] = {}
            for p, (steps, _) in zip(here, row, strict=True):
                if steps is not None:
                    by_steps.setdefault(steps, []).append(_pair(p.statement.guarantee, algebra))
            options = [
                ((pair,), steps)
                for steps, pairs in by_steps.items()
                for pair in algebra.best(pairs)
            ][:MOST_OPTIONS]
            shared = _shared_out(options, row[0][1] * count)
            partial = [before + way for before in partial for way in shared][:MOST_PARTIAL]
        ways.extend(partial)
    return ways


def _shared_out(options: Sequence[tuple[Frontier, int]], units: int) -> list[_Way]:
    """Ways of covering `units` equal units: each by one option, or shared between two."""
    ways = [[(loss, steps * units)] for loss, steps in options]
    some = range(1, units) if units <= 6 else (units // 2,)
    for first, second in combinations(options, 2):
        for taken in some if units > 1 else ():
            ways.append([(first[0], first[1] * taken), (second[0], second[1] * (units - taken))])
    return ways


def _pair(guarantee: Guarantee, algebra: Pairs) -> Frontier:
    return ((guarantee.value, algebra.delta(guarantee.delta)),)
