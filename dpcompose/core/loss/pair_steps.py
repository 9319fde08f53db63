"""(ε, δ) over a path of several tables: its power function, put into itself.

The power of a test of level x is at most β(x) = min(1, δ + e^ε·x, 1 - e^-ε·(1-δ-x)) at the next
table, and so at most β(β(…(x))) at the last one (Dong, Roth and Su 2022, Theorem 2.14). It is
linear in pieces, of slopes e^(kε), k = t, t-2, …, -t after t steps, so that the (ε', δ') at these
slopes are all that it says.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from dpcompose.core.loss.pattern import Known
from dpcompose.core.numbers.exact import ONE, ZERO, bits_up, exp_up
from dpcompose.core.profile.parts import Points

#: A path of more steps, or with a larger ε in all, is known by its ε and δ alone.
_MOST_STEPS, _MOST_EPSILON = 64, 200

#: Significant bits of a δ.
_BITS = 160
#: Where a power function bends: the level of a test, and its power.
_Corners = list[tuple[Fraction, Fraction]]


def pair_steps(epsilon: Fraction, delta: Fraction, steps: int) -> Iterator[Known]:
    """What is known of so many steps, each (ε, δ), beside their sum; nothing if they are many."""
    if epsilon and 0 < delta < 1 and 1 < steps <= _MOST_STEPS and epsilon * steps <= _MOST_EPSILON:
        points = _points(epsilon, delta, steps)
        if points:
            yield Known(Points(points))


@lru_cache(maxsize=256)  # many blocks and copies are alike
def _points(
    epsilon: Fraction, delta: Fraction, steps: int
) -> tuple[tuple[Fraction, Fraction], ...]:
    rise = exp_up(epsilon)
    corners = _after([(ZERO, ZERO), (ONE, ONE)], rise, delta)
    for _ in range(steps - 1):
        corners = _after(corners, rise, delta)
    found = []
    for k in range(steps % 2, steps + 1, 2):
        # Not above the slope, so that δ is not below what it is there.
        slope = 1 / exp_up(-epsilon * k)
        least = bits_up(max(power - slope * level for level, power in corners), _BITS)
        if least < 1:
            found.append((epsilon * k, least))
    return tuple(found)


def _after(corners: _Corners, rise: Fraction, delta: Fraction) -> _Corners:
    """One more step; a larger slope than e^ε is no better than (ε, δ)."""
    bend, end = (1 - delta) / (1 + rise), 1 - delta

    def power(x: Fraction) -> Fraction:
        return min(ONE, delta + rise * x, 1 - (1 - delta - x) / rise)

    made: _Corners = []
    for n, (level, height) in enumerate(corners):
        if n:
            before, below = corners[n - 1]
            for cut in (bend, end):
                if below < cut < height:
                    at = before + (cut - below) * (level - before) / (height - below)
                    made.append((at, power(cut)))
                    if cut == end:
                        return made
        made.append((level, power(height)))
        if height >= end:
            return made
    return made
