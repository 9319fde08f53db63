"""Laws of what is read through a Poisson sample, for one row replaced.

Given the rest of the sample let μ₀ be the law of what is released without either row, μ and μ' the
laws with the old and with the new one. The two tables give P = (1-q)μ₀+qμ and Q = (1-q)μ₀+qμ', and
for a = e^ε ≥ 1

    P - aQ = q·μ - A·μ₀ - B·μ',   A = (1-q)(a-1),  B = qa.

For every s ≥ 0, since -B·μ' = -Bs·μ₀ + B(s·μ₀-μ'), with δ₁ the profile for one row there or not,

    δ(ε) ≤ q·δ₁(ln((A+Bs)/q)) + Bs·δ₁(ln(1/s)),

and for every t in [0, 1], with δ₂ the profile for one row replaced in the sample,

    δ(ε) ≤ tq·δ₁(ln(A/(tq))) + (1-t)q·δ₂(ln(B/((1-t)q))).

A mixture over the rest of the sample is no worse than its worst part. The first holds two steps of
the amplified loss (some s), with s = 0 it has one end alone, and the second holds a row that is in
both samples or in none (t = 0); for pure DP the best s gives the exact formula of
`poisson-sample-replaced` with b = 2u, and the best t the one with b.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from dpcompose.curves.backends.lattice.masses import Floats, Masses
from dpcompose.curves.backends.lattice.powers import Power, knots, symmetric
from dpcompose.curves.backends.lattice.profiles import from_profile, upward
from dpcompose.curves.backends.lattice.sampled_laws import BaseLaw, base_grid, both_orders
from dpcompose.curves.backends.lattice.settings import FEW, LEAST, MAX_POINTS, MOST_LOG
from dpcompose.curves.backends.lattice.sizes import composed_scale
from dpcompose.curves.curve import Curve, PoissonReplaceOne
from dpcompose.curves.rounding.doubles import EPS
from dpcompose.curves.rounding.exact import float_up

#: ln(1/s) is tried up to so many standard deviations of the loss of one end, so many for each.
_DEVIATIONS, _PER_DEVIATION = 10, 4
#: And so many t inside of (0, 1).
_SHARES = 15
#: All of these are tried at the first places of the curve, then at every so many-th.
_APART = 16


@lru_cache(maxsize=128)  # one question is answered on several grids
def curve_of(base: Curve, base_law: BaseLaw) -> Power:
    """Returns the curve of what is read through a sample, for both orders of the tables, made once
    for all grids."""
    step = base_grid(base, max(composed_scale(base) / FEW, LEAST))
    laws = [base_law(base, step, side) for side in both_orders(base, "removed")]
    whole = max(2, *(law.first + len(law.p) for law in laws))
    heights = np.maximum.reduce([upward(law, min(whole, MAX_POINTS)) for law in laws])
    # Of a longer curve only what it comes down to is known beyond.
    end = max(law.infinite for law in laws) if whole <= MAX_POINTS else heights[-1]
    return symmetric(float(step), np.append(heights, end))


def exchanged(part: PoissonReplaceOne, step: Fraction, base_law: BaseLaw) -> Masses:
    """Returns a privacy loss distribution on multiples of `step` that dominates a composition read
    through a Poisson sample, for one row replaced.

    `base_law`: makes the distribution of what is sampled.
    """
    once = curve_of(part.once, base_law)
    both = None if part.both is None else curve_of(part.both, base_law)
    q = min(float_up(part.rate), 1.0)
    ends = [end / float(step) for end in _ends(q, once, both)]
    # Of a longer curve what is beyond is as if it were without end.
    top = max((end for end in ends if end <= MAX_POINTS - 2), default=MAX_POINTS - 3)
    at = knots(math.ceil(top) + 1)
    losses: Floats = at.astype(np.float64) * float(step)
    heights = _bound(part.rate, losses, once, both, composed_scale(part.once))
    return from_profile(step, heights, at)


def _ends(q: float, once: Power, both: Power | None) -> list[float]:
    """Returns the ε from which on the bound with s = 0, that with t = 0, and that with s = e^(-top)
    no longer fall; `q`: the rate, `once`: δ₁, `both`: δ₂."""
    ends = [] if both is None else [both.top]
    if q < 1:
        # (1-q)(a-1)/q = e^top
        far = once.top + math.log(q) - math.log1p(-q)
        ends.append(float(np.logaddexp(0.0, far)) * (1 + 1e-12) + 1e-12)
    return ends or [2 * once.top]


def _bound(
    rate: Fraction, losses: Floats, once: Power, both: Power | None, deviation: float
) -> Floats:
    """Returns the least of the bounds above at each ε ≥ 0 of `losses`, ascending.

    `once`: δ₁, `both`: δ₂, None where not known; `deviation`: about the size of a loss. All s and t
    are tried at some of the ε, and between two of these what was best there.
    """
    q = min(float_up(rate), 1.0)
    odds = math.log(float(1 - rate) / q) if rate < 1 else -MOST_LOG
    with np.errstate(divide="ignore"):
        rise = np.maximum(np.log(-np.expm1(-losses)), -MOST_LOG)
    # ln(A/q), no greater than it is.
    away = losses + rise + odds
    away -= 8 * EPS * (1 + losses - rise + abs(odds))

    crossings = _crossings(once, deviation)
    # Raised, so that no factor beyond doubles is needed: e^700 times this is more than 1.
    rests = once.at(crossings)
    rests[rests > 0] = np.maximum(rests[rests > 0], 1e-300)

    def crossing(index: Any, some: Floats, below: Floats) -> Any:
        u, rest = crossings[index], rests[index]
        slack = (16 + 8 * (some + u)) * EPS
        bound = once.at(np.logaddexp(below, some - u) - slack)
        return bound + np.exp(np.minimum(some - u, 700.0)) * rest * (1 + slack)

    best = np.minimum(once.at(away), _least_of(crossing, len(crossings), losses, away))
    if both is not None:

        def divided(index: Any, some: Floats, below: Floats) -> Any:
            t = (index + 1) / (_SHARES + 1)
            mixed = both.at(some - np.log1p(-t))
            return t * once.at(below - np.log(t)) + (1 - t) * mixed

        best = np.minimum(best, both.at(losses))
        best = np.minimum(best, _least_of(divided, _SHARES, losses, away))
    result: Floats = q * best * (1 + 32 * EPS)
    return result


def _least_of(
    bound: Callable[[Any, Floats, Floats], Any], tries: int, losses: Floats, away: Floats
) -> Floats:
    """Returns at each loss the least of some bounds, as far as it is looked for.

    `bound`: gives the bound with an index below `tries`, at losses and the values `away` that
    belong to them.
    """
    near = min(FEW, len(losses))
    some = np.unique(np.r_[:near, near : len(losses) : _APART, len(losses) - 1])
    table = [bound(index, losses[some], away[some]) for index in range(tries)]
    if near < len(losses):
        chosen = np.argmin(table, axis=0)
        after = np.searchsorted(some, np.arange(len(losses)))
        first, last = chosen[np.maximum(after - 1, 0)], chosen[after]
        table = [bound(index, losses, away) for index in (first, (first + last) // 2, last)]
    least: Floats = np.minimum.reduce(table)
    return least


def _crossings(once: Power, deviation: float) -> Floats:
    """Returns the values of ln(1/s) to try, up to some times `deviation`, about the size of a
    loss."""
    some = deviation / _PER_DEVIATION * np.arange(_DEVIATIONS * _PER_DEVIATION + 1)
    return np.append(some[some < once.top], once.top)
