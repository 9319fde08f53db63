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

from fractions import Fraction
from functools import cache, lru_cache

import numpy as np

from dpcompose.core.numbers.exact import float_up
from dpcompose.core.profile.exchange import curve_of
from dpcompose.core.profile.masses import EPS, Floats, Masses
from dpcompose.core.profile.parts import SampledRows
from dpcompose.core.profile.powers import Power, law_above, mixed, path, symmetric
from dpcompose.core.profile.sampled_laws import BaseLaw

#: A smaller chance counts as given away.
_MINUTE = 1e-60


def sampled_rows(part: SampledRows, step: Fraction, side: str, base_law: BaseLaw) -> Masses:
    """A law on multiples of `step` above the profile of several rows, for the two tables in the
    order that `side` tells."""
    powers = _powers(part, base_law)
    if part.side != "both":
        turned = [power.reversed() for power in powers]
        if part.side == side:
            return law_above(powers, step, turned)
        return law_above(turned, step, powers)
    powers = [each for power in powers for each in (power, power.reversed())]
    if not part.both:
        return law_above(powers, step)
    both = [curve_of(each, base_law) for each in part.both]
    chances = [float_up(chance) for chance in part.chances(part.counted[-1])][1:]

    def alike(losses: Floats) -> Floats:
        parts = [w * each.at(losses) for w, each in zip(chances, both, strict=True)]
        found: Floats = np.sum(parts, axis=0) * (1 + 32 * EPS)
        return found

    return law_above(powers, step, alike=alike)


@lru_cache(maxsize=8)  # one question is answered on several grids
def _powers(part: SampledRows, base_law: BaseLaw) -> list[Power]:
    """Curves of the first table against the second, for all ways of sharing out the rows."""

    @cache
    def curve(n: int) -> Power:
        known = curve_of(part.once[n], base_law)
        return symmetric(float(known.step), known.heights)

    def mixture(rows: int) -> Power:
        none, *some = [float_up(chance) for chance in part.chances(rows)]
        most = max(some)
        curves = [curve(n) if w == most or w >= _MINUTE else None for n, w in enumerate(some)]
        return mixed([none, *some], curves)

    found: list[Power] = []
    for more, fewer in part.splits():
        power = mixture(more)
        found.append(path(mixture(fewer).reversed(), power) if fewer else power)
    return found
