"""The largest D_α/α of a loss whose divergence is known order by order: its least ρ, certified.

K(s) = s·D_(1+s) is convex and 0 at s = 0. Between two orders it lies below its chord β·s - γ, where
γ ≥ 0, and (β·s - γ)/(s(1+s)) rises up to s = (γ + √(γ² + βγ))/β and falls from there on. A chord of
upper bounds may have a γ < 0: then all of it falls. Nor does D_(1+s) = K(s)/s fall, which says more
where s is small. Below the first order K is below its chord from 0; what lies above the last is for
the caller to bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import pairwise

from dpcompose.curves.backends.lattice.tuning import FINE
from dpcompose.curves.rounding.doubles import DIGITS, ROUNDING
from dpcompose.curves.rounding.exact import decimal_up, note_rounding

#: The least s = α-1 that is evaluated, and the ratio of neighbouring s at first.
_FIRST, _RATIO = 1e-9, 2.0**0.25


def largest_ratio(
    cumulant: Callable[[float], float], last: Callable[[float], float], close: float = 1e-8
) -> Fraction:
    """Returns an upper bound of K(s)/(s(1+s)) over all s > 0, which is the ρ of zCDP.

    `cumulant`: K, within ROUNDING relatively or above. `last`: for a ratio that is reached, gives
    an s from which on none exceeds it. `close`: the relative precision to look for.
    """
    here = _FIRST
    points = [(here, cumulant(here))]
    best = points[0][1] / here
    while here < last(best):
        here *= _RATIO
        points.append((here, cumulant(here)))
        best = max(best, points[-1][1] / (here * (1 + here)))
    heap = [_interval(low, high) for low, high in pairwise(points)]
    heapify(heap)
    least = points[0][1] / _FIRST
    for _ in range(FINE):
        if not heap or -heap[0][0] <= best * (1 + close):
            break
        _, low, high = heappop(heap)
        s = (low[0] + high[0]) / 2
        middle = s, cumulant(s)
        best = max(best, middle[1] / (s * (1 + s)))
        heappush(heap, _interval(low, middle))
        heappush(heap, _interval(middle, high))
    note_rounding()
    found = max([best, least, *(-each[0] for each in heap)])
    return Fraction(decimal_up(Fraction(found) * (1 + Fraction(2 * ROUNDING)), DIGITS))


_Point = tuple[float, float]


def _interval(low: _Point, high: _Point) -> tuple[float, _Point, _Point]:
    (a, first), (b, second) = low, high
    rise = (second - first) / (b - a)
    below = max(rise * a - first, 0.0)
    # A little off the highest place is lower by the square of that: a few roundings.
    top = min(max((below + math.sqrt(below * (below + rise))) / rise, a), b) if rise > 0 else a
    bound = min((first + rise * (top - a)) / (top * (1 + top)), second / b / (1 + a))
    return -bound * (1 + 1e-13), low, high
