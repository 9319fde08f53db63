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
from dpcompose.core.profile.exchange import curve_of
from dpcompose.core.profile.masses import EPS, Floats, Masses
from dpcompose.core.profile.parts import SampledRows
from dpcompose.core.profile.powers import Power, law_above, mixed, path, symmetric
from dpcompose.core.profile.sampled_laws import BaseLaw

#: Smaller rates are raised to this.
_LEAST_RATE = Fraction(1, 10**50)


def sampled_rows(part: SampledRows, step: Fraction, base_law: BaseLaw) -> Masses:
    """A law on multiples of `step` above the profile of several rows."""
    powers = _powers(part, base_law)
    if not part.both:
        return law_above(powers, step)
    both = [curve_of(each, base_law) for each in part.both]
    chances = _chances(part.rate, len(both))[1:]

    def alike(losses: Floats) -> Floats:
        parts = [w * each.at(losses) for w, each in zip(chances, both, strict=True)]
        found: Floats = np.sum(parts, axis=0) * (1 + 32 * EPS)
        return found

    return law_above(powers, step, alike)


@lru_cache(maxsize=8)  # one question is answered on several grids
def _powers(part: SampledRows, base_law: BaseLaw) -> tuple[Power, ...]:
    """Curves of both orders of the tables, for all ways of sharing out the rows."""
    curves = [curve_of(each, base_law) for each in part.once]
    once = [symmetric(float(each.step), each.heights) for each in curves]
    found: list[Power] = []
    for more, fewer in part.splits():
        power = mixed(_chances(part.rate, more), once[:more])
        if fewer:
            power = path(mixed(_chances(part.rate, fewer), once[:fewer]).reversed(), power)
        found += [power, power.reversed()]
    return tuple(found)


def _chances(rate: Fraction, rows: int) -> Sequence[float]:
    """The chances that none of so many rows is drawn, one, …"""
    q = min(max(rate, _LEAST_RATE), Fraction(1))
    return [float_up(math.comb(rows, n) * q**n * (1 - q) ** (rows - n)) for n in range(rows + 1)]
