"""(ε, δ) over a path of several tables, alike or not: power functions, put into one another.

The power of a test of level x at one table is at most β(x) = min(1, δ + e^ε·x, 1 - e^-ε·(1-δ-x)) at
the next one, and so at most β_n(…β_1(x)) at the last one (Dong, Roth and Su 2022, Theorem 2.14).
All of these are least ones of lines c + e^k·x, each of which says that the ends are (k, c)-DP, for
k below 0 too. As β rises, it makes of each line two: (k+ε, δ + e^ε·c) and
(k-ε, 1 - e^-ε·(1-δ-c)). Of several paths between the ends the lines of all hold, and of lines of
one slope the least.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from dpcompose.core.notions.notion import Pair
from dpcompose.curves import Curve, Points, curve_of
from dpcompose.curves.rounding import ONE, ZERO, bits_up, exp_up

#: A path of more steps, or with a larger ε in all, is known by its ε and δ alone,
_MOST_STEPS, _MOST_EPSILON = 64, 200
#: and one of unlike steps where so many lines would be made.
_MOST_LINES = 20_000

#: Significant bits of a δ.
_BITS = 160
#: Of each slope e^k, the least c.
_Lines = dict[Fraction, Fraction]
#: The steps of a path in any order, with how often each is taken.
Steps = Sequence[tuple[Pair, int]]


def pair_steps(ways: Iterable[Steps]) -> Iterator[Curve]:
    """Yields curves of a change that can be made in these ways, beside the sums of their steps.

    Of each way the steps may be taken in every order. Nothing, where no way is of several steps but
    equal ones of pure DP (`pure_steps`).
    """
    kept = sorted({way for way in map(_merged, ways) if way and _followed(way)})
    if any(len(way) > 1 or (way[0][0][1] and way[0][1] > 1) for way in kept):
        points = _points(tuple(kept))
        if points:
            yield curve_of(Points(points))


def _merged(way: Steps) -> tuple[tuple[Pair, int], ...]:
    counted: dict[Pair, int] = {}
    for pair, count in way:
        if pair != (ZERO, ZERO) and count:
            counted[pair] = counted.get(pair, 0) + count
    return tuple(sorted(counted.items()))


def _followed(way: Steps) -> bool:
    """Whether a path is short enough."""
    states = math.prod(count + 1 for _, count in way)
    return (
        sum(count for _, count in way) <= _MOST_STEPS
        and sum(pair[0] * count for pair, count in way) <= _MOST_EPSILON
        and states * states <= _MOST_LINES
        and all(pair[1] < 1 for pair, _ in way)
    )


@lru_cache(maxsize=256)  # many blocks and copies are alike
def _points(ways: Sequence[Steps]) -> tuple[Pair, ...]:
    least: _Lines = {}
    for way in ways:
        _join(least, _any_order(way))
    return tuple(
        (slope, delta) for slope, delta in sorted(least.items()) if slope >= 0 and delta < 1
    )


def _any_order(way: Steps) -> _Lines:
    """Returns the lines of all orders: the last step is any one, and what comes before in any
    order."""
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
    for slope, delta in others.items():
        lines[slope] = min(delta, lines.get(slope, ONE))


def _after(lines: _Lines, epsilon: Fraction, delta: Fraction) -> _Lines:
    """Takes one more step."""
    rise, fall = exp_up(epsilon), 1 / exp_up(epsilon)
    made: _Lines = {}
    for slope, least in lines.items():
        up = bits_up(delta + rise * least, _BITS)
        down = bits_up(1 - fall * (1 - min(ONE, delta + least)), _BITS)
        _join(made, {slope + epsilon: up, slope - epsilon: down})
    return made
