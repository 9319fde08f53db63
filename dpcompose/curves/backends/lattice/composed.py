"""The law of a composition on one grid, right in relative terms far into the upper tail.

A Fourier transform leaves an error of the size of the greatest chance on every place. So the laws
are composed under several tilts (`lattice`), each of which makes another range of losses the bulk;
each gives an upper bound at every place, and the least of them is taken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np

from dpcompose.curves.backends.lattice.components import Ensemble, ensemble, moments, tilt_for_delta
from dpcompose.curves.backends.lattice.lattice import lattice_law
from dpcompose.curves.backends.lattice.law import Law
from dpcompose.curves.backends.lattice.masses import Floats, Masses
from dpcompose.curves.backends.lattice.settings import TAIL
from dpcompose.curves.rounding.doubles import EPS
from dpcompose.curves.rounding.exact import ZERO

#: The means of neighbouring tilts are no further apart than so many times their deviations in all.
_APART = 2.5
#: At most so many tilts are tried; between those that are too far apart Chernoff's bound is taken.
_TILTS = 48


def composed(laws: Sequence[tuple[Masses, int]]) -> Masses:
    """Returns the distribution of the sum of independent privacy losses, each law as often as its
    count, all on one grid; every chance is rounded up."""
    step = laws[0][0].step
    parts = ensemble({}, laws, ZERO, step)
    best: Floats = np.ones(0)
    first, missing, end = 0, 0.0, None
    for theta in _tilts(parts, tilt_for_delta(parts, math.log(TAIL))):
        law = lattice_law(parts, theta, step, Fraction(moments(parts, theta).mean))
        if law is None and not theta:
            return Masses(step, 0, np.zeros(1), 1.0)
        if law is None:
            continue
        p, start, end = _untilted(law), _first(law, step), law
        if not theta:
            # What lies below the first law's window, where no other law holds either.
            first, missing = start, law.missing
        best = np.concatenate([best, np.ones(max(start + len(p) - first - len(best), 0))])
        inside = slice(max(start - first, 0), start - first + len(p))
        best[inside] = np.minimum(best[inside], p[max(first - start, 0) :])
        x: Floats = law.x[0] + float(step) * np.arange(first - start, first - start + len(best))
        best = np.minimum(best, _lifted(law, x))
    assert end is not None
    beyond = end.missing * math.exp(min(end.log_mass - end.theta * float(end.x[-1]), 0.0)) * 1.01
    # Nothing is above the sum of the greatest losses, and next to nothing far below that.
    greatest = sum(count * (law.first + len(law.p) - 1) for law, count in parts.dense)
    if greatest < first + len(best):
        best, beyond = best[: greatest + 1 - first], 0.0
    high = len(best) - int(np.searchsorted(np.cumsum(best[::-1]), TAIL))
    best = best[: max(high, 1)]
    best[0] += missing
    return Masses(step, first, best, min(end.infinite + beyond + 2 * TAIL, 1.0))


def _tilts(parts: Ensemble, last: float) -> list[float]:
    """Returns tilts from 0 to `last`, ascending, of which the tilted laws leave no gap between
    them, as far as so many tilts can: the widest gap is halved first."""
    found = [(theta, moments(parts, theta)) for theta in sorted({0.0, last})]
    while len(found) < _TILTS:
        gaps = [
            (there.mean - here.mean)
            / max(math.sqrt(here.variance) + math.sqrt(there.variance), 1e-300)
            for (_, here), (_, there) in pairwise(found)
        ]
        widest = max(range(len(gaps)), key=gaps.__getitem__, default=None)
        if widest is None or gaps[widest] <= _APART:
            break
        middle = (found[widest][0] + found[widest + 1][0]) / 2
        found.insert(widest + 1, (middle, moments(parts, middle)))
    return [theta for theta, _ in found]


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
