"""The least ε at which a law's certified δ is at most the one asked for."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from dpcompose.curves.backends.lattice.law import Law, LogDelta, delta_of
from dpcompose.curves.backends.lattice.settings import ENOUGH


def epsilon_of(
    curve: Callable[[float], LogDelta], log_delta: float, guess: float, most: float, end: float
) -> float | None:
    """Returns an ε in [0, most] with δ(ε) ≤ e^log_delta for sure, close to the least; None if none
    is found.

    `curve`: gives ln δ at an ε; `guess`: where to start; `end`: an ε above every loss that has a
    noticeable chance. Newton's method within a bracket, which is halved where a step leaves it or
    is not half as long as the one before.
    """
    low, high, before = 0.0, math.inf, math.inf
    at = min(max(guess, 0.0), most)
    for _ in range(120):
        value = curve(at)
        excess = value.log_upper - log_delta
        if excess <= 0:
            high = at
        else:
            low = at
        step = _step(excess, value.slope)
        if high - low <= ENOUGH * low or (at == high and -step <= ENOUGH * high):
            break
        # A little further than to the root, so that the bracket closes from both sides.
        target = at + step + math.copysign(ENOUGH / 4 * at, step)
        if low == 0 < at and target <= 0 and curve(0.0).log_upper <= log_delta:
            return 0.0
        if not low < target < min(high, most) or abs(step) > before / 2:
            far = end if at < end else 2 * at
            target = min(far, most) if high == math.inf else (low + high) / 2
        if target in (low, high):
            break
        before = abs(target - at)
        at = target
    return high if high < math.inf else None


def _step(excess: float, slope: float) -> float:
    """Returns Newton's step to the wanted ε: by ln δ from below the root, by δ as a function of e^ε
    from above it. `excess`: ln δ above the wanted one, `slope`: as in `LogDelta`."""
    if not 0 < slope < math.inf or abs(excess) == math.inf:
        return math.nan
    if excess > 0:
        return excess / slope
    fall = -math.expm1(min(-excess, 700.0)) / slope
    return math.log1p(fall) if fall > -1 else math.nan


def lower_epsilon(law: Law, log_delta: float, near: float) -> float | None:
    """Returns an ε just below `near` at which δ is surely above e^log_delta; None if none is found
    soon."""
    for exponent in (-12, -11, -10, -9, -8, -7, -6):
        at = near * (1 - 10.0**exponent)
        if delta_of(law, Fraction(at)).log_lower > log_delta:
            return at
    return None
