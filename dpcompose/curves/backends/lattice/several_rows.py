"""Laws of several rows at once: drawn by a Poisson sample, replaced behind a sample of one size, or
several steps of a path apart.

**Drawn by a Poisson sample.** Let one table have n rows that the other one has not. Draw the rows
that both tables share first. Given these let μ₀ be the law of what is released when none of the n
rows is drawn. The table without them gives μ₀, the other one the mixture Σ w_j·P_j with the
binomial chances w_j, where P_j is the mean of the laws with j of the rows. If j rows more in the
sample never let a test of level x at μ₀ have more than the power β_j(x), an event of chance x under
μ₀ has at most the chance

    β(x) = Σ w_j·β_j(x)

under the mixture: this holds for each event, so whichever laws the P_j are. β is concave, so that a
mean over the rest of the sample keeps to it too. Read from the other end, it is the curve of the
tables in the other order. A pair of laws that has this curve dominates in both orders, and so under
composition over independent draws (Zhu, Dong and Wang 2022, Theorem 10).

The mixture attains β where one event is the best at each level for all j. So it is for Gaussian
noise: the sum of j rows, each of norm at most the sensitivity, has a norm of at most j times that,
β_j is the curve of N(j, σ²) against N(0, σ²), and the tests x > c are best for all j at once. So
the worst rows are parallel and as long as they may be, and one step loses what the mixture Σ
w_j·N(j, σ²) does. The geometric noise that is the worst of all ε-DP mechanisms attains it too. Nor
is it ever more than a path of n rows, each amplified: T(x) = (1-q)·x + q·β₁(x) is concave, so that
by induction Σ w_j·β₁^j(x) is at most T^n(x).

Where both tables have rows that the other one has not, this is the curve from the one table to μ₀,
put into that from μ₀ to the other one (`powers`). It need not be the worst that all rows are in one
table; each way of sharing them out is looked at.

Replaced rows may also be drawn alike on both sides: Σ w_j·δ_j(ε) with the δ_j of j rows replaced.

Numbers of drawn rows that are told together count as the largest of these, and what is hardly ever
drawn is given away; either makes β larger.

**Replaced behind a sample of one public size.** n rows of a table are replaced, and of these j are
drawn with the chance w_j, with others of the table in the place of the rest. Put the n rows and the
others each in an order, drawn at random, in which they take these places. Given it let P_j and Q_j
be the laws of what is released with j of the old or of the new rows, and μ₀ = P_0 = Q_0. P_j is j
rows replaced from each Q_i with i ≤ j; so with δ_j the profile of j rows replaced in the sample,
and any weights x_ji ≥ 0 with the sum X_j over i,

    w_j·P_j - Σ_i x_ji·Q_i ≤ w_j·δ_j(ln(X_j/w_j)).

Take all of (a-1)·w_0 of μ₀ = Q_0 and of a·w_i of Q_i for this, where a = e^ε ≥ 1:

    Σ w_j·P_j - a·Σ w_i·Q_i ≤ Σ_{j>0} w_j·δ_j(ln(X_j/w_j)),

for all X_j with Σ_{0<j≤k} X_j ≤ (a-1)·w_0 + a·Σ_{0<i≤k} w_i for each k, which is what P_1 to P_k
may take. A mixture over the orders is no worse than its worst part. For one row this is the theorem
of Balle, Barthe and Gaboardi (2018). Where there is more than they take for each k < n, it is the
mixture of the P_j against μ₀, which noise attains that the new rows do not move.

Where fewer rows are drawn than is said, j' for j and i' for i, as in a larger table, P_j' is at
most j rows replaced from Q_i' as well.

**At a group distance** a composition's power function is put into itself (`powers`). At each of the
tables on the way the power of a test is at most β of that at the table before, where β is the power
that the composition allows, so that at the last table it is at most β(β(…(x))) (Dong, Roth and Su
2022, Theorem 2.14). Beyond so many steps (n·ε, δ(ε)·(e^(nε)-1)/(e^ε-1)) is taken for each ε, which
is a line above the same curve.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, lru_cache

import numpy as np

from dpcompose.curves.backends.lattice.closed_laws import stated
from dpcompose.curves.backends.lattice.masses import Floats, Masses, spread
from dpcompose.curves.backends.lattice.powers import (
    GreatestBound,
    Power,
    ProfileBound,
    mixed,
    path,
    shared_levels,
)
from dpcompose.curves.backends.lattice.profiles import from_profile, upward
from dpcompose.curves.backends.lattice.samples import BaseLaw, both_orders, curve_of
from dpcompose.curves.backends.lattice.sizes import composed_scale
from dpcompose.curves.backends.lattice.tuning import FINE, MAX_POINTS, MOST_LOG, TAIL
from dpcompose.curves.curve import Grouped, PoissonGroup, ReplacedRows
from dpcompose.curves.rounding.doubles import EPS, ROUNDING, SUM_ROUNDING
from dpcompose.curves.rounding.exact import float_up


def sampled_rows(part: PoissonGroup, side: str, base_law: BaseLaw) -> ProfileBound:
    """Returns the profile bound of several rows behind a Poisson sample.

    `side`: the order of the tables, "removed" or "added"; `base_law`: makes the distribution of
    what is sampled.
    """
    powers = _powers(part, base_law)
    turned = tuple(power.reversed() for power in powers)
    if part.side != "both":
        return GreatestBound(powers if part.side == side else turned)
    if not part.both:
        return GreatestBound(powers + turned)
    both = [curve_of(each, base_law) for each in part.both]
    chances = [float_up(chance) for chance in part.chances(part.counted[-1])][1:]

    def at_equal_losses(losses: Floats) -> Floats:
        parts = [w * each.at(losses) for w, each in zip(chances, both, strict=True)]
        found: Floats = np.sum(parts, axis=0) * (1 + 32 * EPS)
        return found

    return GreatestBound(powers + turned, at_equal_losses)


@lru_cache(maxsize=8)  # one question is answered on several grids
def _powers(part: PoissonGroup, base_law: BaseLaw) -> tuple[Power, ...]:
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
    return tuple(found)


#: Up to so many numbers of rows are also divided into two sets.
_MOST_IN_TWO = 8


@lru_cache(maxsize=8)  # one question is answered on several grids
def replaced_rows(part: ReplacedRows, base_law: BaseLaw) -> ProfileBound:
    """Returns an upper bound of the privacy profile of a composition read through a sample of fixed
    size, for several rows replaced; `base_law`: makes the distribution of the composition."""
    once = [curve_of(each, base_law) for each in part.once]
    return _ReplacedRows([float_up(each) for each in part.chances], once)


class _ReplacedRows:
    """Upper bound of the profile for several replaced rows: the module's formula, the least over a
    few choices of the X_j; `top`: the ε from which on it no longer falls."""

    def __init__(self, chances: Sequence[float], once: Sequence[Power]) -> None:
        self.none, self.some = chances[0], np.array(chances[1:])
        rows = range(len(once))
        #: Rows whose X_j are chosen together, in a row of such. In the best way levels do not
        #: rise with j, and stay the same but where P_1 to P_j take all that they may.
        each = [rows[k : k + 1] for k in rows]
        ways = [[rows], *([rows[:k], *each[k:]] for k in rows[1:])]
        if len(rows) <= _MOST_IN_TWO:
            ways += [[rows[:k], rows[k:]] for k in rows[1:]]
        alone = {each: _Together(self.some, once, each) for way in ways for each in way}
        self.ways = [[alone[each] for each in way] for way in ways]
        whole = alone[rows]
        self.top = (
            math.log(self.none + float(whole.taken[-1].sum())) * (1 + 1e-9) + 2 * SUM_ROUNDING
        )

    def at(self, losses: Floats) -> Floats:
        """Returns δ at each ε ≥ 0 of `losses`."""
        # e^ε is lowered by this relative margin, which covers what is rounded below.
        grown = np.exp(np.minimum(losses, MOST_LOG)) * (1 - SUM_ROUNDING)
        # What P_1 to P_k may take.
        reach = [(grown - 1) * self.none + grown * w for w in np.cumsum(self.some)]
        most = np.maximum(reach, 0.0)
        before = np.concatenate([np.zeros((1, len(losses))), most])
        known = {
            each.rows: each.at(np.maximum(most[each.rows[-1]] - before[each.rows[0]], 0.0))
            for each in {each.rows: each for way in self.ways for each in way}.values()
        }
        best = np.ones(len(losses))
        for way in self.ways:
            delta = sum(known[each.rows][0] for each in way)
            taken = np.concatenate([known[each.rows][1] for each in way])
            fits = np.cumsum(taken, axis=0) <= most * (1 + ROUNDING)
            best = np.where(fits.all(axis=0), np.minimum(best, delta), best)
        result: Floats = best * (1 + 64 * EPS)
        return result


class _Together:
    """The sum Σ w_j·δ_j(ln(X_j/w_j)) over some rows j, for X_j at which the lines of all curves
    touch at the same level.

    `taken`: the X_j, `heights`: the sum, at levels that fall; between them both are chords.
    """

    def __init__(self, chances: Floats, once: Sequence[Power], rows: range) -> None:
        self.rows = rows
        taken, heights = [np.zeros((1, len(rows)))], [np.array([chances[list(rows)].sum()])]
        for of in (2, 0):
            levels = shared_levels([once[j].levels[of] for j in rows])
            index = [once[j].at_level(levels, of) for j in rows]
            with np.errstate(over="ignore"):
                lines = [
                    chances[j] * np.exp(once[j].losses[i] + once[j].slack)
                    for j, i in zip(rows, index, strict=True)
                ]
            taken.append(np.stack(lines, axis=1))
            given = [chances[j] * once[j].up[i] for j, i in zip(rows, index, strict=True)]
            heights.append(np.sum(given, axis=0))
        every, height = np.concatenate(taken), np.concatenate(heights)
        sums = every.sum(axis=1)
        order = np.argsort(sums, kind="stable")
        order = order[np.isfinite(sums[order])]
        self.taken, self.sums = every[order], sums[order]
        self.heights = height[order]

    def at(self, total: Floats) -> tuple[Floats, Floats]:
        """Returns the sum for X_j that add up to `total`, and these X_j."""
        second = np.clip(np.searchsorted(self.sums, total, side="right"), 1, len(self.sums) - 1)
        first = second - 1
        gap = np.maximum(self.sums[second] - self.sums[first], 1e-300)
        share = np.clip((total - self.sums[first]) / gap, 0.0, 1.0)
        found = (1 - share) * self.heights[first] + share * self.heights[second]
        taken = (1 - share)[:, None] * self.taken[first] + share[:, None] * self.taken[second]
        return found, taken.T


@lru_cache(maxsize=8)  # one question is answered on several grids
def several_steps(part: Grouped, base_law: BaseLaw) -> Power:
    """Returns the power function of a test between two tables at most `MANY` steps apart;
    `base_law`: makes the distribution for one step."""
    found = once = curve_of(part.base, base_law)
    for bit in bin(part.steps)[3:]:
        found = path(found, found)
        if bit == "1":
            found = path(once, found)
    return found


def many_steps(part: Grouped, step: Fraction, side: str, base_law: BaseLaw) -> Masses:
    """Returns a privacy loss distribution on multiples of `step` for two tables any number n of
    steps apart: it has δ(ε)·(e^(nε)-1)/(e^ε-1) at n·ε for every ε ≥ 0 on the grid, and the convex
    curve below."""
    finest = composed_scale(part.base) / FINE * part.steps
    times = max(1, math.ceil(finest / float(step)))
    # A path may remove a row and add another: what is one-sided is taken from both sides.
    orders = both_orders(part.base, side)
    laws = [base_law(part.base, step * times / part.steps, each) for each in orders]
    top = max(law.first + len(law.p) for law in laws)
    if top > MAX_POINTS:
        # All of the curve is too far out: (n·greatest loss, 0), or nothing if that is infinite.
        return stated(
            ((top * step * times, Fraction(math.ceil(max(law.infinite for law in laws)))),), step
        )
    size = max(top, 2)
    delta = np.maximum.reduce([upward(law, size) for law in laws])
    far = np.arange(size, dtype=np.float64) * float(step * times)
    near = far / part.steps
    near[0] = far[0] = 1.0
    with np.errstate(divide="ignore"):
        factor = far - near + np.log(np.expm1(-far) / np.expm1(-near))
        factor[0] = math.log(part.steps)
        size_of = np.log(delta) + factor
    slack = (64 + 4 * far) * EPS
    return spread(from_profile(step * times, np.exp(np.minimum(size_of + slack, 0.0))), times)
