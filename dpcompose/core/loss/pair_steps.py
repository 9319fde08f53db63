"""Curves of (ε, δ) steps along a path of tables: power functions, composed as functions.

The power of a test of level x at one table is at most β(x) = min(1, δ + e^ε·x, 1 - e^-ε·(1-δ-x)) at
the next one, and so at most β_n(…β_1(x)) at the last one (Dong, Roth and Su 2022, Theorem 2.14).
Each of these functions is a minimum of lines c + e^k·x, and each line says that the two ends are
(k, c)-DP, for k below 0 too. As β rises, it turns each line into two lines, (k+ε, δ + e^ε·c) and
(k-ε, 1 - e^-ε·(1-δ-c)). With several paths between the ends, the lines of all paths hold, and of
lines of one slope the least.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from dpcompose.core.notions.notion import Pair
from dpcompose.curves import Curve, Points, curve_of
from dpcompose.curves.rounding import ONE, ZERO, bits_up, exp_up

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
    """Yields the curve of a change that can be made along any of these paths, beyond plain sums.

    The steps of each path may be taken in every order. Yields nothing if every path consists of
    equal steps of pure DP (see `pure_steps`), of a single step, or is too long.
    """
    kept = sorted({way for way in map(_merged, ways) if way and _is_short(way)})
    if any(len(way) > 1 or (way[0][0][1] and way[0][1] > 1) for way in kept):
        points = _points(tuple(kept))
        if points:
            yield curve_of(Points(points))


def _merged(way: Steps) -> tuple[tuple[Pair, int], ...]:
    """Returns the steps of a path that lose anything, with equal ones counted together."""
    counted: dict[Pair, int] = {}
    for pair, count in way:
        if pair != (ZERO, ZERO) and count:
            counted[pair] = counted.get(pair, 0) + count
    return tuple(sorted(counted.items()))


def _is_short(way: Steps) -> bool:
    """Returns whether a path is short enough for its lines to be computed."""
    states = math.prod(count + 1 for _, count in way)
    return (
        sum(count for _, count in way) <= _MOST_STEPS
        and sum(pair[0] * count for pair, count in way) <= _MOST_EPSILON
        and states * states <= _MOST_LINES
        and all(pair[1] < 1 for pair, _ in way)
    )


@lru_cache(maxsize=256)  # many blocks and copies are alike
def _points(ways: Sequence[Steps]) -> tuple[Pair, ...]:
    """Returns the (ε, δ) that hold for a change with these paths, by growing ε."""
    least: _Lines = {}
    for way in ways:
        _join(least, _any_order(way))
    return tuple(
        (slope, delta) for slope, delta in sorted(least.items()) if slope >= 0 and delta < 1
    )


def _any_order(way: Steps) -> _Lines:
    """Returns the least lines over all orders of the steps, each of which is possible.

    The sets of steps taken so far are enumerated by size; any step may be the last one taken.
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
    """Adds `others` to `lines`: of two lines with one slope the smaller one is stored."""
    for slope, delta in others.items():
        lines[slope] = min(delta, lines.get(slope, ONE))


def _after(lines: _Lines, epsilon: Fraction, delta: Fraction) -> _Lines:
    """Returns the lines of a path after one more step of (ε, δ)."""
    rise, fall = exp_up(epsilon), 1 / exp_up(epsilon)
    made: _Lines = {}
    for slope, least in lines.items():
        up = bits_up(delta + rise * least, _BITS)
        down = bits_up(1 - fall * (1 - min(ONE, delta + least)), _BITS)
        _join(made, {slope + epsilon: up, slope - epsilon: down})
    return made
