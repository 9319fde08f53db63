"""The (ε, δ) of one mechanism for one change, by guarantees that share the units of the change.

The least loss is not one number: one guarantee may have the smaller ε and another the smaller δ, so
that all ways of taking turns are composed, and the undominated ones returned.

At a chosen δ such a path has a curve. The power of a test of level x at one table is at most β(x) =
min(1, δ + e^ε·x, 1 - e^-ε·(1-δ-x)) at the next one, and so at most β_n(…β_1(x)) at the last one
(Dong, Roth and Su 2022, Theorem 2.14). Each of these functions is a minimum of lines c + e^k·x, and
each line says that the two ends are (k, c)-DP, for k below 0 too. As β rises, it turns each line
into two lines, (k+ε, δ + e^ε·c) and (k-ε, 1 - e^-ε·(1-δ-c)). With several paths between the ends,
the lines of all paths hold, and of lines of one slope the least.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from typing import Any, NamedTuple

from dpcompose.core.change.neighbouring import Relation, RelationKind
from dpcompose.core.change.units import State, TracedUnit, leaf_item, only_rows
from dpcompose.core.loss.cost import halves, join_rows, needed, of_any_change
from dpcompose.core.loss.proved import (
    Charged,
    Inference,
    PairOf,
    ProvedNumber,
    ProvedPair,
    ProvedPairs,
)
from dpcompose.core.model.placed import Placed
from dpcompose.core.notions.guarantee import Guarantee
from dpcompose.core.notions.notion import Notion, Pair, chain_pairs, in_order
from dpcompose.core.theorem import Role
from dpcompose.curves import Curve, Points, curve_of
from dpcompose.curves.rounding import ONE, ZERO, bits_up, exp_up

#: Undominated (ε, δ), sorted by ε; a δ may be in another form that is compared in the same way.
Frontier = tuple[tuple[Fraction, Any], ...]

#: The most undominated pairs of a loss; each is a bound by itself, so dropping some is sound.
MOST_PAIRS = 24
#: The most options for covering one unit,
MOST_OPTIONS = 12
#: and the most ways for all units of one level, and for all units of the change.
MOST_PARTIAL, MOST_WALKS = 64, 256

#: Steps along a part of a path: (loss of a step, number of such steps).
_Steps = list[tuple[Pair, int]]


def frontier(pairs: Iterable[tuple[Fraction, Any]]) -> Frontier:
    """Returns the undominated ones of these (ε, δ), sorted by ε; evenly thinned beyond
    `MOST_PAIRS`."""
    kept: list[tuple[Fraction, Any]] = []
    for epsilon, delta in sorted(pairs, key=lambda pair: pair[0]):
        if kept and kept[-1][0] == epsilon:
            if delta < kept[-1][1]:
                kept[-1] = (epsilon, delta)
                if len(kept) > 1 and not delta < kept[-2][1]:
                    kept.pop()
        elif not kept or delta < kept[-1][1]:
            kept.append((epsilon, delta))
    if len(kept) > MOST_PAIRS:
        last = len(kept) - 1
        kept = [kept[i * last // (MOST_PAIRS - 1)] for i in range(MOST_PAIRS)]
    return tuple(kept)


def walk_pairs(walk: Sequence[tuple[Pair, int]], free: bool = False) -> Pair | None:
    """Returns the (ε, δ) along a path of neighbouring tables; None if δ reaches 1.

    `walk`: (pair of a step, number of such steps). `free`: the steps may be taken in any order.
    """
    if len(walk) == 1:
        return chain_pairs(walk, free)
    merged: dict[Pair, int] = {}
    for pair, count in walk:
        if pair != (ZERO, ZERO):
            merged[pair] = merged.get(pair, 0) + count
    return chain_pairs(sorted(merged.items()), free)


class Way(NamedTuple):
    """One path of neighbouring tables from the first table to the second, each step by a stated
    guarantee.

    A level is the dataset, one of the ancestors or the one read, on whose tables a guarantee is
    stated. `levels`: the steps by the number of their level; all at 0, in the worst order, where
    halves of rows are covered at several. `free`: for each level, whether its
    intermediate tables exist for every order of its steps; `all_free`: whether the levels may come
    in any order.
    """

    levels: dict[int, _Steps]
    free: dict[int, bool]
    all_free: bool


def covering_pairs(placed: Sequence[Placed], state: State) -> list[ProvedPair]:
    """Returns (ε, δ) of one copy of a mechanism for the change `state`, all of which hold, by its
    stated guarantees `placed` of pure and approximate DP, each with the step that gives it."""
    usable = _as_pairs(placed)
    found: list[ProvedPair] = []
    for each in usable:
        if each.statement.relation.kind is RelationKind.FREE_LUNCH:
            epsilon, delta = _pair(each.statement.guarantee)
            given = {"x": epsilon, "d": delta}
            step = Inference(None, "x", given, "d", charged=Charged((each,), state))
            found.append((epsilon, delta, step))
    pure = [p for p in usable if p.statement.guarantee.notion is Notion.PURE]
    whole = of_any_change(pure, state, Notion.PURE)
    if not isinstance(whole, float):
        step = Inference(None, "x", {"x": whole}, "0")
        if isinstance(whole, ProvedNumber):
            step = replace(whole.step, formula_delta="0")
        found.append((Fraction(whole), ZERO, step))
    for way in _paths(usable, state):
        pair = along(way)
        if pair is not None:
            found.append((*pair, _step_along(way, usable, state)))
    return found


def _step_along(way: Way, usable: Sequence[Placed], state: State) -> Inference:
    """Returns the step by which a path of stated guarantees covers a change."""
    taken = {pair for steps in way.levels.values() for pair, _ in steps}
    used = tuple(each for each in usable if _pair(each.statement.guarantee) in taken)
    stages: list[tuple[Any, int]] = []
    plain: list[tuple[Pair, int]] = []
    for level, steps in way.levels.items():
        if len(way.levels) == 1:
            step = path_step(list(steps), list(steps), way.free[level])
            return replace(step, role=None, charged=Charged(used, state))
        stage = walk_pairs(steps, way.free[level])
        assert stage is not None
        inner = path_step(list(steps), list(steps), way.free[level])
        stages.append((PairOf(ProvedPairs((stage,), [inner]), 0), 1))
        plain.append((stage, 1))
    return replace(path_step(stages, plain, way.all_free), role=None, charged=Charged(used, state))


def path_step(
    parts: Sequence[tuple[Any, int]], plain: Sequence[tuple[Pair, int]], free: bool
) -> Inference:
    """Returns the step of a path of neighbouring tables (see `walk_pairs`).

    `parts`: the pair of a step, as a premise or as it is stated, and the number of such steps;
    `plain`: the same with numbers alone.
    """
    merged: dict[Pair, tuple[Any, int]] = {}
    for (each, count), (pair, _) in zip(parts, plain, strict=True):
        if pair != (ZERO, ZERO) and count:
            known = merged.get(pair)
            merged[pair] = (each, count) if known is None else (known[0], known[1] + count)
    if len(merged) == 1:
        [(each, count)] = merged.values()
        [pair] = merged
        given = {"k": count, **_named(each, "x", "d")}
        if count == 1:
            return Inference(Role.GROUP, "x", _named(each, "x", "d"), "d")
        delta = "d * (exp(k * x) - 1) / (exp(x) - 1)" if pair[0] else "k * d"
        return Inference(Role.GROUP, "k * x", given, delta if pair[1] else "0")
    ordered = in_order([(pair, count) for pair, (_, count) in merged.items()], free)
    given = {}
    terms: list[str] = []
    before: list[str] = []
    for number, (pair, count) in enumerate(ordered, start=1):
        given |= {f"k{number}": count, **_named(merged[pair][0], f"x{number}", f"d{number}")}
        x, k, d = f"x{number}", f"k{number}", f"d{number}"
        if pair[1]:
            grown = f"{d} * (exp({k} * {x}) - 1) / (exp({x}) - 1)" if pair[0] else f"{k} * {d}"
            terms.append(f"exp({' + '.join(before)}) * {grown}" if before else grown)
        before.append(f"{k} * {x}")
    return Inference(Role.GROUP, " + ".join(before) or "0", given, " + ".join(terms) or "0")


def _named(each: Any, name: str, delta: str) -> dict[str, Any]:
    """Returns a pair as a premise, or as its two numbers, by the names in a formula."""
    return {name: each} if isinstance(each, PairOf) else {name: each[0], delta: each[1]}


def paths(placed: Sequence[Placed], state: State) -> list[Way]:
    """Returns the paths of tables along which guarantees of pure and approximate DP cover a
    change."""
    return _paths(_as_pairs(placed), state)


def _paths(usable: Sequence[Placed], state: State) -> list[Way]:
    """Returns the paths of tables along which these guarantees cover a change."""
    joined = join_rows(usable, state)
    return [*all_ways(usable, state), *(() if joined is None else all_ways(*joined))]


def _as_pairs(placed: Sequence[Placed]) -> list[Placed]:
    """Returns the usable guarantees of pure and of approximate DP."""
    notions = (Notion.PURE, Notion.APPROX)
    return [p for p in placed if p.usable and p.statement.guarantee.notion in notions]


def along(way: Way) -> Pair | None:
    """Returns the (ε, δ) between the ends of a path; None if δ reaches 1.

    The steps of one level stay together: between two of them there need not be a table of another
    level.
    """
    stages: list[tuple[Pair, int]] = []
    for level, steps in way.levels.items():
        stage = walk_pairs(steps, way.free[level])
        if stage is None:
            return None
        stages.append((stage, 1))
    return walk_pairs(stages, way.all_free)


def in_any_order(way: Way) -> _Steps | None:
    """Returns the steps of a path of one level that may be taken in any order, or are all equal.

    None if the path has several levels, or if the order of its different steps matters.
    """
    if len(way.levels) != 1:
        return None
    ((level, steps),) = way.levels.items()
    return steps if way.free[level] or len({pair for pair, _ in steps}) == 1 else None


def all_ways(placed: Sequence[Placed], state: State) -> list[Way]:
    """Returns the paths by which the stated guarantees of a mechanism cover the change of the
    table.

    Each unit of the change, `state`, or each of its `halves`, is covered by guarantees, some of
    `placed`, that are stated on one and the same dataset (see `Way`). At most `MOST_WALKS` paths
    are returned.
    """
    walks: list[list[tuple[int | None, _Steps]]] = [[]]
    for item, count in state:
        ways = _ways(placed, item, count)
        walks = [[*before, way] for before in walks for way in ways][:MOST_WALKS]
    met = {level for walk in walks for level, _ in walk if level is not None}
    free = {level: _only_rows_at(state, level) for level in met}
    # With one row for each unit, a row may have to go before another can come.
    all_free = only_rows(state) and all(each.traits.unit is None for each in placed)
    found: list[Way] = []
    for walk in walks:
        levels: dict[int, _Steps] = {}
        if any(level is None for level, _ in walk):
            # Halves of rows may have to come in one order: the worst one is assumed.
            found.append(Way({0: [step for _, steps in walk for step in steps]}, {0: False}, False))
            continue
        for level, steps in walk:
            levels.setdefault(level or 0, []).extend(steps)
        found.append(Way(levels, free, all_free))
    return found


@lru_cache(maxsize=1024)  # many mechanisms meet one change
def _only_rows_at(state: State, level: int) -> bool:
    """Returns whether the dataset `level` levels below the outermost changes by rows alone, none
    displacing another, whatever they became."""
    for _ in range(level):
        state = tuple((inner, n) for item, _ in state for inner, n in item.below)
    return only_rows(tuple((leaf_item(item.leaf), n) for item, n in state))


def _ways(
    placed: Sequence[Placed], item: TracedUnit, count: int
) -> list[tuple[int | None, _Steps]]:
    """Returns the ways in which guarantees cover `count` units equal to `item`, as (level, steps
    there); None as the level where the halves of each are covered at two levels.

    Parameters: see `all_ways`.
    """
    ways: list[tuple[int | None, _Steps]] = [*_at_one_level(placed, item, count)]
    if (split := halves(placed, item)) is not None:
        both = [_at_one_level(placed, half, count) for half in split]
        ways += [
            (None, first + second)
            for (level, first), (other, second) in product(*both)
            if level != other
        ]
    return ways


def _at_one_level(
    placed: Sequence[Placed], item: TracedUnit, count: int
) -> list[tuple[int, _Steps]]:
    """Returns the ways in which guarantees of one level cover `count` units equal to `item`, as
    (level, steps there).

    Parameters: see `all_ways`.
    """
    ways: list[tuple[int, _Steps]] = []
    for level in sorted({each.level for each in placed}):
        here = [p for p in placed if p.level == level]
        columns = [needed(each, item) for each in here]
        partial: list[_Steps] = [[]]
        for row in zip(*columns, strict=True):
            given = [
                (_pair(p.statement.guarantee), p.statement.relation, steps)
                for p, (steps, _) in zip(here, row, strict=True)
                if steps is not None
            ]
            shared = _shared_out(_undominated(given)[:MOST_OPTIONS], row[0][1] * count)
            partial = [before + way for before in partial for way in shared][:MOST_PARTIAL]
        ways.extend((level, way) for way in partial)
    return ways


#: A guarantee that covers one unit: the (ε, δ) of a step, its relation, and the number of steps.
_Option = tuple[Pair, Relation, int]


def _undominated(options: list[_Option]) -> list[_Option]:
    """Returns the options that no other one with as many steps dominates."""
    if len(options) == 1:
        return options
    by_steps: dict[int, dict[Pair, Relation]] = {}
    for pair, relation, steps in options:
        by_steps.setdefault(steps, {}).setdefault(pair, relation)
    return [
        (pair, known[pair], steps) for steps, known in by_steps.items() for pair in frontier(known)
    ]


def _shared_out(options: Sequence[_Option], units: int) -> list[_Steps]:
    """Returns ways of covering `units` equal units: all by one guarantee, or shared between two.

    Guarantees for one relation may take any of the steps, as each of them is a step of that
    relation; others take whole units.
    """
    ways = [[(loss, steps * units)] for loss, _, steps in options]
    for (first, relation, one), (second, its, other) in combinations(options, 2):
        if relation == its:
            shared, one, other = one * units, 1, 1
        else:
            shared = units
        for taken in range(1, shared) if shared <= 6 else (shared // 2,):
            ways.append([(first, one * taken), (second, other * (shared - taken))])
    return ways


def _pair(guarantee: Guarantee) -> Pair:
    """Returns the (ε, δ) of a guarantee of pure or approximate DP."""
    return guarantee.value, guarantee.delta


#: A path with more steps, or a larger total ε, has no curve,
_MOST_STEPS, _MOST_EPSILON = 64, 200
#: nor has one of unlike steps that would take more lines.
_MOST_LINES = 20_000

#: Significant bits of a δ.
_BITS = 160
#: The least c for each k, of lines c + e^k·x.
_Lines = dict[Fraction, Fraction]
#: The steps of a path with their counts, in any order.
Steps = Sequence[tuple[Pair, int]]


def pair_steps(ways: Iterable[Steps]) -> Iterator[Curve]:
    """Yields the privacy curve of a change that can be made along any of these paths, if it beats
    sums.

    `ways`: the steps of each path, which may be taken in every order. Yields nothing if every path
    consists of equal steps of pure DP (see `pure_steps`), of a single step, or is too long.
    """
    kept = sorted({way for way in map(_merged, ways) if way and _is_short(way)})
    if any(len(way) > 1 or (way[0][0][1] and way[0][1] > 1) for way in kept):
        points = _points(tuple(kept))
        if points:
            yield curve_of(Points(points))


def _merged(way: Steps) -> tuple[tuple[Pair, int], ...]:
    """Returns the steps of a path that lose anything, with the counts of equal ones added."""
    counted: dict[Pair, int] = {}
    for pair, count in way:
        if pair != (ZERO, ZERO) and count:
            counted[pair] = counted.get(pair, 0) + count
    return tuple(sorted(counted.items()))


def _is_short(way: Steps) -> bool:
    """Returns whether a path has few enough steps, and a small enough ε, for its lines to be
    computed."""
    states = math.prod(count + 1 for _, count in way)
    return (
        sum(count for _, count in way) <= _MOST_STEPS
        and sum(pair[0] * count for pair, count in way) <= _MOST_EPSILON
        and states * states <= _MOST_LINES
        and all(pair[1] < 1 for pair, _ in way)
    )


@lru_cache(maxsize=256)  # many blocks and copies are alike
def _points(ways: Sequence[Steps]) -> tuple[Pair, ...]:
    """Returns all (ε, δ) that hold for a change that can be made along each of these paths, by
    growing ε."""
    least: _Lines = {}
    for way in ways:
        _join(least, _any_order(way))
    return tuple(
        (slope, delta) for slope, delta in sorted(least.items()) if slope >= 0 and delta < 1
    )


def _any_order(way: Steps) -> _Lines:
    """Returns the lines (k: c) of a path, each the least over all orders of its steps (see the
    module).

    Sets of steps taken so far are enumerated by size; any step may be the last one taken.
    """
    found: dict[tuple[int, ...], _Lines] = {(0,) * len(way): {ZERO: ZERO}}
    for n in range(sum(count for _, count in way)):
        for taken in [each for each in found if sum(each) == n]:
            lines = found.pop(taken)
            for place, (pair, count) in enumerate(way):
                if taken[place] < count:
                    after = (*taken[:place], taken[place] + 1, *taken[place + 1 :])
                    _join(found.setdefault(after, {}), _after(lines, *pair))
    (whole,) = found.values()
    return whole


def _join(lines: _Lines, others: _Lines) -> None:
    """Adds the lines `others` to `lines`; of two with the same k the smaller c stays."""
    for slope, delta in others.items():
        lines[slope] = min(delta, lines.get(slope, ONE))


def _after(lines: _Lines, epsilon: Fraction, delta: Fraction) -> _Lines:
    """Returns the lines of a path, given by those before its last step, which is (`epsilon`,
    `delta`)-DP."""
    rise, fall = exp_up(epsilon), 1 / exp_up(epsilon)
    made: _Lines = {}
    for slope, least in lines.items():
        up = bits_up(delta + rise * least, _BITS)
        down = bits_up(1 - fall * (1 - min(ONE, delta + least)), _BITS)
        _join(made, {slope + epsilon: up, slope - epsilon: down})
    return made
