"""Laws of what is read through a Poisson sample, for several rows at once.

Let one table have n rows that the other one has not. Draw the rows that both tables share first.
Given these let μ₀ be the law of what is released when none of the n rows is drawn. The table
without them gives μ₀, the other one the mixture Σ w_j·P_j with the binomial chances w_j, where P_j
is the mean of the laws with j of the rows. If j rows more in the sample never let a test of level x
at μ₀ have more than the power β_j(x), an event of chance x under μ₀ has at most the chance

    β(x) = Σ w_j·β_j(x)

under the mixture: this holds for each event, so whichever laws the P_j are. β is concave, so that
a mean over the rest of the sample keeps to it too. Read from the other end, it is the curve of the
tables in the other order. A pair of laws that has this curve dominates in both orders, and so under
composition over independent draws (Zhu, Dong and Wang 2022, Theorem 10).

The mixture attains β where one event is the best at each level for all j. So it is for Gaussian
noise: the sum of j rows, each of norm at most the sensitivity, has a norm of at most j times that,
β_j is the curve of N(j, σ²) against N(0, σ²), and the tests x > c are best for all j at once. So
the worst rows are parallel and as long as they may be, and one step loses what the mixture
Σ w_j·N(j, σ²) does. The geometric noise that is the worst of all ε-DP mechanisms attains it too.
Nor is it ever more than a path of n rows, each amplified: T(x) = (1-q)·x + q·β₁(x) is concave, so
that by induction Σ w_j·β₁^j(x) is at most T^n(x).

Where both tables have rows that the other one has not, this is the curve from the one table to μ₀,
put into that from μ₀ to the other one (`powers`). It need not be the worst that all rows are in one
table; each way of sharing them out is looked at.

Replaced rows may also be drawn alike on both sides: Σ w_j·δ_j(ε) with the δ_j of j rows replaced.

Numbers of drawn rows that are told together count as the largest of these, and what is hardly ever
drawn is given away; either makes β larger.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, lru_cache

import numpy as np

from dpcompose.curves.backends.lattice.exchange import curve_of
from dpcompose.curves.backends.lattice.masses import Floats, Masses
from dpcompose.curves.backends.lattice.powers import Power, law_above, mixed, path
from dpcompose.curves.backends.lattice.sampled_laws import BaseLaw
from dpcompose.curves.backends.lattice.settings import TAIL
from dpcompose.curves.curve import PoissonGroup
from dpcompose.curves.rounding.doubles import EPS
from dpcompose.curves.rounding.exact import float_up


def sampled_rows(part: PoissonGroup, step: Fraction, side: str, base_law: BaseLaw) -> Masses:
    """Returns a privacy loss distribution on multiples of `step` that dominates several rows behind
    a Poisson sample.

    `side`: the order of the tables, "removed" or "added"; `base_law`: makes the distribution of
    what is sampled.
    """
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

    def at_equal_losses(losses: Floats) -> Floats:
        parts = [w * each.at(losses) for w, each in zip(chances, both, strict=True)]
        found: Floats = np.sum(parts, axis=0) * (1 + 32 * EPS)
        return found

    return law_above(powers, step, alike=at_equal_losses)


@lru_cache(maxsize=8)  # one question is answered on several grids
def _powers(part: PoissonGroup, base_law: BaseLaw) -> list[Power]:
    """Returns the power function of the first table against the second, for each way of sharing out
    the rows between the two."""

    @cache
    def curve(n: int) -> Power:
        """Returns the power function of `n` rows more in the sample."""
        return curve_of(part.once[n], base_law)

    def mixture(rows: int) -> Power:
        """Returns the power function of a table with `rows` rows more, of which a random number is
        drawn."""
        none, *some = [float_up(chance) for chance in part.chances(rows)]
        most = max(some)
        curves = [curve(n) if w == most or w >= TAIL else None for n, w in enumerate(some)]
        return mixed([none, *some], curves)

    found: list[Power] = []
    for more, fewer in part.splits():
        power = mixture(more)
        found.append(path(mixture(fewer).reversed(), power) if fewer else power)
    return found
