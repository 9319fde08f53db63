"""Laws of what is read through a sample of one public size, for several rows replaced at once.

n rows of a table are replaced, and of these j are drawn with the chance w_j, with others of the
table in the place of the rest. Put the n rows and the others each in an order, drawn at random, in
which they take these places. Given it let P_j and Q_j be the laws of what is released with j of the
old or of the new rows, and μ₀ = P_0 = Q_0. P_j is j rows replaced from each Q_i with i ≤ j; so with
δ_j the profile of j rows replaced in the sample, and any weights x_ji ≥ 0 with the sum X_j over i,

    w_j·P_j - Σ_i x_ji·Q_i ≤ w_j·δ_j(ln(X_j/w_j)).

Take all of (a-1)·w_0 of μ₀ = Q_0 and of a·w_i of Q_i for this, where a = e^ε ≥ 1:

    Σ w_j·P_j - a·Σ w_i·Q_i ≤ Σ_{j>0} w_j·δ_j(ln(X_j/w_j)),

for all X_j with Σ_{0<j≤k} X_j ≤ (a-1)·w_0 + a·Σ_{0<i≤k} w_i for each k, which is what P_1 to P_k
may take. A mixture over the orders is no worse than its worst part. For one row this is the theorem
of Balle, Barthe and Gaboardi (2018). Where there is more than they take for each k < n, it is the
mixture of the P_j against μ₀, which noise attains that the new rows do not move.

Where fewer rows are drawn than is said, j' for j and i' for i, as in a larger table, P_j' is at
most j rows replaced from Q_i' as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpcompose.curves.backends.lattice.exchange import curve_of
from dpcompose.curves.backends.lattice.masses import Floats, Masses
from dpcompose.curves.backends.lattice.powers import Power, knots, shared_levels
from dpcompose.curves.backends.lattice.profiles import from_profile
from dpcompose.curves.backends.lattice.sampled_laws import BaseLaw
from dpcompose.curves.backends.lattice.settings import MAX_POINTS, MOST_LOG
from dpcompose.curves.curve import ReplacedRows
from dpcompose.curves.rounding.doubles import EPS
from dpcompose.curves.rounding.exact import float_up

#: What is found for a table a little nearer, by this of a, holds whatever was rounded.
_NEARER = 1e-11


def replaced_rows(part: ReplacedRows, step: Fraction, base_law: BaseLaw) -> Masses:
    """Returns a privacy loss distribution on multiples of `step` that dominates several replaced
    rows behind a sample of fixed size; `base_law`: makes the distribution of what is sampled."""
    known = _bound_of_part(part, base_law)
    places = known.top / float(step)
    # What holds at the last place holds beyond it.
    at = knots(max(math.ceil(min(places, MAX_POINTS - 3.0)), 0) + 1)
    return from_profile(step, known.at(at.astype(np.float64) * float(step)), at)


@lru_cache(maxsize=8)  # one question is answered on several grids
def _bound_of_part(part: ReplacedRows, base_law: BaseLaw) -> _Bound:
    once = [curve_of(each, base_law) for each in part.once]
    return _Bound([float_up(each) for each in part.chances], once)


class _Bound:
    """The least bound found of the module's formula; `top`: the ε from which on it no longer
    falls."""

    def __init__(self, chances: Sequence[float], once: Sequence[Power]) -> None:
        self.none, self.some = chances[0], np.array(chances[1:])
        rows = range(len(once))
        #: Rows whose X_j are chosen together, in a row of such.
        ways = [[rows], *([rows[:k], rows[k:]] for k in rows[1:]), [rows[k : k + 1] for k in rows]]
        alone = {each: _Together(self.some, once, each) for way in ways for each in way}
        self.ways = [[alone[each] for each in way] for way in ways]
        whole = alone[rows]
        self.top = math.log(self.none + float(whole.taken[-1].sum())) * (1 + 1e-9) + 2 * _NEARER

    def at(self, losses: Floats) -> Floats:
        """Returns δ at each ε ≥ 0 of `losses`."""
        grown = np.exp(np.minimum(losses, MOST_LOG)) * (1 - _NEARER)
        # What P_1 to P_k may take.
        reach = [(grown - 1) * self.none + grown * w for w in np.cumsum(self.some)]
        most = np.maximum(reach, 0.0)
        best = np.ones(len(losses))
        for way in self.ways:
            delta, before, taken = np.zeros(len(losses)), np.zeros(len(losses)), []
            for each in way:
                whole = most[each.rows[-1]]
                found, of_each = each.at(np.maximum(whole - before, 0.0))
                delta, before = delta + found, whole
                taken.append(of_each)
            fits = np.cumsum(np.concatenate(taken), axis=0) <= most * (1 + 1e-13)
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
