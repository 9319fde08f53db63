"""The search for the minimum of a function of one number that has one valley, in doubles."""

from __future__ import annotations

import math
from collections.abc import Callable

#: Orders α of Rényi divergences are searched for |ln(α-1)| up to this.
LOG_ORDERS = 130.0


def valley(of: Callable[[float], float], start: float, lowest: float, highest: float) -> float:
    """Returns the place of the least value of `of`, a function with one valley, between `lowest`
    and `highest`; Brent's search, after three points around the valley are found from `start`."""
    step, middle, low = 1.0, start, max(start - 1.0, lowest)
    at_middle, at_low = of(middle), of(low)
    if at_low < at_middle:
        high, step = middle, -1.0
        middle, at_middle = low, at_low
    else:
        high = low
    # Walk downhill from `high` over `middle` with growing steps.
    while True:
        step *= 2
        ahead = min(max(middle + step, lowest), highest)
        at_ahead = of(ahead)
        if at_ahead >= at_middle or ahead in (lowest, highest):
            break
        high, middle, at_middle = middle, ahead, at_ahead
    low, high = min(high, ahead), max(high, ahead)
    best, at_best = (ahead, at_ahead) if at_ahead < at_middle else (middle, at_middle)
    return _brent(of, low, high, best, at_best)


def _brent(
    of: Callable[[float], float], low: float, high: float, best: float, at_best: float
) -> float:
    """Returns the place of the least value between `low` and `high`, by Brent's search; `best`: a
    place between, `at_best`: the value there."""
    golden = (3 - math.sqrt(5)) / 2
    second = third = best
    at_second = at_third = at_best
    step = before = 0.0
    for _ in range(80):
        middle, tolerance = (low + high) / 2, 1e-8 * (1 + abs(best))
        if abs(best - middle) <= 2 * tolerance - (high - low) / 2:
            break
        parabola = False
        if abs(before) > tolerance:
            r = (best - second) * (at_best - at_third)
            q = (best - third) * (at_best - at_second)
            p, q = (best - third) * q - (best - second) * r, 2 * (q - r)
            p, q = (-p, q) if q > 0 else (p, -q)
            if abs(p) < abs(q * before / 2) and q * (low - best) < p < q * (high - best):
                before, step, parabola = step, p / q, True
        if not parabola:
            before = (high if best < middle else low) - best
            step = golden * before
        new = best + (step if abs(step) >= tolerance else math.copysign(tolerance, step))
        at_new = of(new)
        if at_new <= at_best:
            low, high = (best, high) if new >= best else (low, best)
            third, at_third, second, at_second = second, at_second, best, at_best
            best, at_best = new, at_new
        else:
            low, high = (new, high) if new < best else (low, new)
            if at_new <= at_second or second == best:
                third, at_third, second, at_second = second, at_second, new, at_new
            elif at_new <= at_third or third in (best, second):
                third, at_third = new, at_new
    return best
