"""The law of a composition on one grid, right in relative terms far into the upper tail.

A Fourier transform leaves an error of the size of the greatest chance on every place. So the laws
are composed under several tilts (`lattice`), each of which makes another range of losses the bulk;
each gives an upper bound at every place, and the least of them is taken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpcompose.curves.backends.lattice.components import Ensemble, ensemble, moments, tilt_for_delta
from dpcompose.curves.backends.lattice.lattice import lattice_law
from dpcompose.curves.backends.lattice.law import Law
from dpcompose.curves.backends.lattice.masses import TAIL, Floats, Masses
from dpcompose.curves.rounding.doubles import EPS
from dpcompose.curves.rounding.exact import ZERO

#: The means of neighbouring tilts are no further apart than so many times their deviations in all.
_APART = 2.5
#: So often the space between two tilts is halved at most.
_HALVED = 60


def composed(laws: Sequence[tuple[Masses, int]]) -> Masses:
    """Returns the distribution of the sum of independent privacy losses, each law as often as its
    count, all on one grid; every chance is rounded up."""
    step = laws[0][0].step
    parts = ensemble({}, laws, ZERO, step)
    known = []
    last = tilt_for_delta(parts, math.log(TAIL))
    for theta in [*_tilts(parts, 0.0, last, _HALVED), last]:
        law = lattice_law(parts, theta, step, Fraction(moments(parts, theta).mean))
        if law is not None:
            known.append((_first(law, step), _untilted(law), law))
    if not known or known[0][2].theta:
        return Masses(step, 0, np.zeros(1), 1.0)
    first = known[0][0]
    last = max(start + len(p) for start, p, _ in known)
    best = np.full(last - first, 1.0)
    for start, p, law in known:
        inside = slice(max(start - first, 0), start - first + len(p))
        best[inside] = np.minimum(best[inside], p[max(first - start, 0) :])
        # Where no window is, Chernoff's bound.
        x: Floats = law.x[0] + float(step) * np.arange(first - start, last - start)
        best = np.minimum(best, _lifted(law, x))
    end = known[-1][2]
    beyond = end.missing * math.exp(min(end.log_mass - end.theta * float(end.x[-1]), 0.0)) * 1.01
    # Nothing is above the sum of the greatest losses, and next to nothing far below that.
    greatest = sum(count * (law.first + len(law.p) - 1) for law, count in parts.dense)
    if greatest < last:
        best, beyond = best[: greatest + 1 - first], 0.0
    high = len(best) - int(np.searchsorted(np.cumsum(best[::-1]), TAIL))
    best = best[: max(high, 1)]
    # What lies below the first window.
    best[0] += known[0][2].missing
    return Masses(step, first, best, min(end.infinite + beyond + 2 * TAIL, 1.0))


def _tilts(parts: Ensemble, low: float, high: float, halved: int) -> list[float]:
    """Returns tilts from `low` up to, but without, `high`, dense enough that each loss between is
    in the bulk of one of the tilted laws; intervals are halved at most `halved` times."""
    here, there = moments(parts, low), moments(parts, high)
    deviations = math.sqrt(here.variance) + math.sqrt(there.variance)
    if not halved or there.mean - here.mean <= _APART * deviations:
        return [low]
    middle = (low + high) / 2
    return _tilts(parts, low, middle, halved - 1) + _tilts(parts, middle, high, halved - 1)


def _first(law: Law, step: Fraction) -> int:
    """Returns the index on the grid of `step` at which a law begins."""
    return int(law.ref / step) + round(float(law.x[0]) / float(step))


def _untilted(law: Law) -> Floats:
    """Returns the chances of the losses of a law without its tilt, rounded up."""
    found: Floats = np.minimum((law.p + law.noise) * _lifted(law, law.x), 1.0)
    return found


def _lifted(law: Law, x: Floats) -> Floats:
    """Returns at losses `x` the factor from tilted to untilted chances, rounded up."""
    logs = law.log_mass - law.theta * x
    error = law.log_error + 4 * EPS * (abs(law.log_mass) + law.theta * np.abs(x) + 4)
    with np.errstate(over="ignore", under="ignore"):
        found: Floats = np.exp(logs + error)
    return found
