"""Laws of what is read through a Poisson sample, for several rows at once.

Given the rest of the sample let μ₀ be the law of what is released without any of the rows. A table
that has n of them gives the mixture of the laws with j of these drawn, with the chances w_j of j
successes in n, and what is known of j rows more in the sample bounds each part: the power of a test
of level x at μ₀ is at most Σ w_j·β_j(x). That is attained where one event is the best for all j, as
by noise with monotone likelihood ratios, and by the geometric noise that is the worst of all
mechanisms that are ε-DP at each row. Where both tables have rows that the other one has not, this
is the curve from the one table to μ₀, put into that from μ₀ to the other one (`powers`). It need
not be the worst that all rows are in one table; each way of sharing them out is looked at.

Replaced rows may also be drawn alike on both sides: Σ w_j·δ_j(ε) with the δ_j of j rows replaced.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpcompose.core.numbers.exact import float_up
from dpcompose.core.profile.curves import from_profile
from dpcompose.core.profile.exchange import curve_of, knots
from dpcompose.core.profile.masses import EPS, MAX_POINTS, Floats, Masses
from dpcompose.core.profile.parts import Composition, SampledRows
from dpcompose.core.profile.powers import Power, mixed, path, symmetric
from dpcompose.core.profile.sampled_laws import BaseLaw

#: Smaller rates are raised to this.
_LEAST_RATE = Fraction(1, 10**50)


def sampled_rows(part: SampledRows, step: Fraction, base_law: BaseLaw) -> Masses:
    """A law on multiples of `step` above the profile of several rows."""
    powers = _powers(part, base_law)
    both = [curve_of(each, base_law) for each in part.both]
    top = max(power.top for power in powers)
    if both:
        top = min(top, max(each.top for each in both))
    places = top / float(step)
    if not places <= MAX_POINTS - 2:
        # All of the curve is too far out: below its end nothing is known.
        last = max(float(power.up[-1]) for power in powers)
        return Masses(step, math.ceil(places) + 1, np.ones(1), min(1.0, last * (1 + EPS)))
    at = knots(max(math.ceil(places), 0) + 1)
    losses: Floats = at.astype(np.float64) * float(step)
    heights = np.maximum.reduce([power.at(losses) for power in powers])
    if both:
        chances = _chances(part.rate, len(both))[1:]
        alike = sum(w * each.at(losses) for w, each in zip(chances, both, strict=True))
        heights = np.minimum(heights, alike * (1 + 32 * EPS))
    return from_profile(step, heights, at)


@lru_cache(maxsize=8)  # one question is answered on several grids
def _powers(part: SampledRows, base_law: BaseLaw) -> tuple[Power, ...]:
    """Curves of both orders of the tables, for all ways of sharing out the rows."""
    once = [_symmetric(each, base_law) for each in part.once]
    found: list[Power] = []
    for more, fewer in part.splits():
        power = mixed(_chances(part.rate, more), once[:more])
        if fewer:
            power = path(mixed(_chances(part.rate, fewer), once[:fewer]).reversed(), power)
        found += [power, power.reversed()]
    return tuple(found)


def _symmetric(base: Composition, base_law: BaseLaw) -> Power:
    known = curve_of(base, base_law)
    return symmetric(float(known.step), known.heights)


def _chances(rate: Fraction, rows: int) -> Sequence[float]:
    """The chances that none of so many rows is drawn, one, …"""
    q = min(max(rate, _LEAST_RATE), Fraction(1))
    return [float_up(math.comb(rows, n) * q**n * (1 - q) ** (rows - n)) for n in range(rows + 1)]
