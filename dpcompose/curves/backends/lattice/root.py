"""The least ε at which a law's certified δ is at most the one asked for."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from dpcompose.curves.backends.lattice.law import Law, LogDelta, delta_of

#: Relative distance at which the search ends.
_ENOUGH = 2e-12
#: The first step to the sure side, relatively; it grows when it was not enough.
_BUMP = 2e-13
#: Steps towards a root that bring δ no nearer, after which the end of the law is looked at.
_STALLS, _NEARER = 4, 0.9


def epsilon_of(
    curve: Callable[[float], LogDelta], log_delta: float, guess: float, most: float, end: float
) -> float | None:
    """Returns an ε in [0, most] with δ(ε) ≤ e^log_delta for sure, close to the least; None if none
    is found.

    `curve`: gives ln δ at an ε; `guess`: where to start; `end`: an ε above every loss that has a
    noticeable chance. Newton's method kept in a bracket; ln δ is concave or nearly so, and in a
    lattice δ is linear in e^ε between two losses.
    """
    low, high = 0.0, most
    sure = False
    at = min(max(guess, 0.0), most)
    bump = _BUMP
    stalls, before = 0, (at, math.inf)
    for _ in range(80):
        value = curve(at)
        excess = value.log_upper - log_delta
        if excess <= 0:
            high, sure = at, True
        else:
            low = at
            nearer = stalls < _STALLS and excess <= _NEARER * before[1]
            stalls = 0 if nearer else stalls + 1
            if not sure and stalls == _STALLS:
                # What is uncertain about the law may be more than δ at every ε.
                last = max(at, min(end, most))
                if curve(last).log_upper > log_delta:
                    return None
                high, sure = last, True
        if stalls < _STALLS:
            step = _step(excess, value.slope)
        else:
            # The slope is that of δ without its uncertainty: the last two places tell it better.
            moved, gained = at - before[0], before[1] - excess
            step = 1.001 * excess * moved / gained if gained * moved > 0 else math.nan
        before = (at, excess)
        if sure and (high - low <= _ENOUGH * high or (at == high and -step <= _ENOUGH * high)):
            break
        target = at + step
        if abs(step) <= 1e-9 * at:
            # Near the end: a little more, so as to land on the sure side.
            target += bump * at
            bump *= 4
        if not low < target < high and low == 0:
            if curve(0.0).log_upper <= log_delta:
                return 0.0
            low = 1e-290
        if not low < target < high:
            target = (low + high) / 2 if high < math.inf else 2 * at + 1e-300
        if target in (low, high):
            break
        at = target
    return high if sure else None


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
