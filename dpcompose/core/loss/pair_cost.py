"""The (ε, δ) of one mechanism for one change, by statements that share the units of the change.

The least loss is not one number: one statement may have the smaller ε and another the smaller δ, so
that all ways of taking turns are composed, and the undominated ones returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

from dpcompose.core.change.units import State, TracedUnit, leaf_item, only_rows
from dpcompose.core.loss.algebras import Frontier, Pairs, walk_pairs
from dpcompose.core.model.placed import Placed
from dpcompose.core.notions.guarantee import Guarantee
from dpcompose.core.notions.notion import Pair

#: The most options for covering one unit,
MOST_OPTIONS = 12
#: and the most ways for all units of one level, and for all units of the change.
MOST_PARTIAL, MOST_WALKS = 64, 256

#: Returns, for the units of a statement's level inside an item, (steps needed, number of units).
Needed = Callable[[Placed, TracedUnit], list[tuple[int | None, int]]]
#: Steps along a part of a path: (loss of a step, number of such steps).
_Steps = list[tuple[Pair, int]]


class Way(NamedTuple):
    """One way of covering a change by a path: the steps through tables of each level.

    `levels`: the steps by the number of the level. `free`: for each level, whether its intermediate
    tables exist for every order of its steps; `all_free`: whether the levels may come in any order.
    """

    levels: dict[int, _Steps]
    free: dict[int, bool]
    all_free: bool


def pair_cost(algebra: Pairs, at_once: Iterable[Pair], ways: Iterable[Way]) -> Frontier:
    """Returns the undominated (ε, δ) of one copy of a mechanism.

    `at_once`: the losses by statements that cover a change of any size; `ways`: the paths.
    """
    found = [*at_once, *(pair for way in ways if (pair := along(way)))]
    return algebra.frontier((epsilon, algebra.delta(delta)) for epsilon, delta in found)


def along(way: Way) -> Pair | None:
    """Returns (ε, δ) along a path; None if δ reaches 1.

    The steps through the tables of one level stay together: between two of them there need not be a
    table further up.
    """
    stages: list[tuple[Pair, int]] = []
    for level, steps in way.levels.items():
        stage = walk_pairs(steps, way.free[level])
        if stage is None:
            return None
        stages.append((stage, 1))
    return walk_pairs(stages, way.all_free)


def in_any_order(way: Way) -> _Steps | None:
    """Returns the steps of a path of one level whose tables exist for every order of the steps.

    None if the path has several levels, or if the order of its different steps matters.
    """
    if len(way.levels) != 1:
        return None
    ((level, steps),) = way.levels.items()
    return steps if way.free[level] or len({pair for pair, _ in steps}) == 1 else None


def all_ways(placed: Sequence[Placed], state: State, needed: Needed) -> list[Way]:
    """Returns the ways of covering a change, each unit of it by the statements of one level.

    `needed`: see `Needed`. At most `MOST_WALKS` ways are returned.
    """
    walks: list[list[tuple[int, _Steps]]] = [[]]
    for item, count in state:
        ways = _ways(placed, item, count, needed)
        walks = [[*before, way] for before in walks for way in ways][:MOST_WALKS]
    free = {level: only_rows(_at(state, level)) for walk in walks for level, _ in walk}
    # With one row for each unit, a row may have to go before another can come.
    all_free = only_rows(state) and all(each.traits.unit is None for each in placed)
    found: list[Way] = []
    for walk in walks:
        levels: dict[int, _Steps] = {}
        for level, steps in walk:
            levels.setdefault(level, []).extend(steps)
        found.append(Way(levels, free, all_free))
    return found


def _at(state: State, level: int) -> State:
    """Returns the change units at a level, without their history."""
    for _ in range(level):
        state = tuple((inner, n) for item, _ in state for inner, n in item.below)
    return tuple((leaf_item(item.leaf), n) for item, n in state)


def _ways(
    placed: Sequence[Placed], item: TracedUnit, count: int, needed: Needed
) -> list[tuple[int, _Steps]]:
    """Returns the ways of covering `count` equal units, each as (level, steps on that level)."""
    ways: list[tuple[int, _Steps]] = []
    for level in sorted({each.level for each in placed}):
        here = [p for p in placed if p.level == level]
        columns = [needed(each, item) for each in here]
        partial: list[_Steps] = [[]]
        for row in zip(*columns, strict=True):
            by_steps: dict[int, list[Pair]] = {}
            for p, (steps, _) in zip(here, row, strict=True):
                if steps is not None:
                    by_steps.setdefault(steps, []).append(_pair(p.statement.guarantee))
            options = [
                (pair, steps)
                for steps, pairs in by_steps.items()
                for pair in Pairs().frontier(pairs)
            ][:MOST_OPTIONS]
            shared = _shared_out(options, row[0][1] * count)
            partial = [before + way for before in partial for way in shared][:MOST_PARTIAL]
        ways.extend((level, way) for way in partial)
    return ways


def _shared_out(options: Sequence[tuple[Pair, int]], units: int) -> list[_Steps]:
    """Returns ways of covering `units` equal units: each by one option, or shared between two.

    `options`: the (ε, δ) of a step, and the number of steps for one unit.
    """
    ways = [[(loss, steps * units)] for loss, steps in options]
    some = range(1, units) if units <= 6 else (units // 2,)
    for first, second in combinations(options, 2):
        for taken in some if units > 1 else ():
            ways.append([(first[0], first[1] * taken), (second[0], second[1] * (units - taken))])
    return ways


def _pair(guarantee: Guarantee) -> Pair:
    """Returns the (ε, δ) of a pure or approximate guarantee."""
    return guarantee.value, guarantee.delta
