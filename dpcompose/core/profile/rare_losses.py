"""Many copies of a loss that is nearly always minute and hardly ever large, as two laws.

On a grid that the large losses need, the minute ones would be rounded up by more than their size,
as many times as there are copies. So of a Poisson-sampled Gaussian the outcomes are told apart in
two kinds, by a loss: often small, m, and rarely large, r. With the n-fold sums of both

    (m + r)^n = Σ_k (n over k) · r^k · m^(n-k),

and with c the chance of m and b such that e^b·∫e^(-l)dm is at most c, the small ones are c^(n-k)
times n-k copies of a loss l-b with E e^(-(l-b)) ≤ 1, and a shift by (n-k)·b. By Jensen's inequality
k copies more make δ no smaller, so that this is at most the sum of

    n copies of: 0 with chance c, or a large loss less b;    and n copies of the small losses m/c.

The latter are added up by themselves on a grid of their own, in relative terms (`tails`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpcompose.core.profile.masses import EPS, MAX_POINTS, Masses, on_grid, scatter
from dpcompose.core.profile.parts import Composition, Part, Sampled
from dpcompose.core.profile.sampled_gaussian import SampledGaussian
from dpcompose.core.profile.tails import power

#: Fewer copies are not told apart.
_FEWEST = 16
#: Losses are large from so many steps on, and beyond what occurs as seldom as this: for all that
#: are large, there are as many copies too many of the small ones.
_LARGE, _SELDOM = 2, 5e-7
#: Grid points for the deviation of the sum of the small losses, and for a step, at most. The grid
#: may add as much to the variance of the sum as a step to that of a large loss.
_FINE, _MOST, _LONG = 1 << 14, 1 << 16, 1 << 12
#: A sum of less than a million chances is off by less than this, as is ln of one.
_SUM = 24 * EPS


def apart(part: Part, count: int, step: Fraction, side: str) -> tuple[Masses, Masses] | None:
    """The law of a rare loss, for `count` copies, and that of the sum of the others, for one.

    None where a loss is not of this kind on this grid.
    """
    match part:
        case Sampled(rate, Composition((), gaussian, stay), False, own) if stay == 1:
            if own == "both" or not 0 < rate < 1 or count < _FEWEST:
                return None
            return _apart(SampledGaussian.of(gaussian, rate, own != side), count, step)
    return None


@lru_cache(maxsize=16)
def _apart(one: SampledGaussian | None, count: int, step: Fraction) -> tuple[Masses, Masses] | None:
    width = float(step)
    if one is None or not one.greatest / MAX_POINTS < width < 1:
        return None
    edge = one.quantile(_SELDOM)
    often = one.deviation(edge)
    if not 0 < often < width:
        return None
    wanted = max(width / (2 * math.sqrt(count)), often * math.sqrt(count) / _FINE, width / _MOST)
    times = max(0, math.ceil(math.log2(width / wanted)))
    edge = max(min(edge, one.outcome(_LONG * width / 2**times)), one.outcome(_LARGE * width))
    small = on_grid(*one.integral(step / 2**times, 0.0, -math.inf, edge), step / 2**times)
    total = float(small.p.sum())
    chances = small.p * ((1 + 2 * _SUM) / total)
    less = math.log(float((np.exp(-small.losses()) * chances).sum())) + _SUM
    sums = power(Masses(small.step, small.first, chances, 0.0), count)
    places, p = one.integral(step, -less, edge, math.inf)
    places, p = np.append(places, 0.0), np.append(p, total * (1 + _SUM))
    return on_grid(places, p, step, one.left_out), scatter(
        sums.losses(), sums.p, step, sums.infinite
    )
