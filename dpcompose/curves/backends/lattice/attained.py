"""Bounds from below behind samples without replacement: what Gaussian mechanisms attain.

Any event S gives δ ≥ P(S) - e^ε·Q(S) for any mechanism of the stated guarantee. Here an output of
each draw is told only by a cell of its loss, and S is that the whole numbers of the cells add up to
some total: both chances are sums of products of terms above 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from dpcompose.curves.backends.lattice.masses import Floats
from dpcompose.curves.backends.lattice.tuning import NORMAL_TAIL
from dpcompose.curves.curve import Curve, Sampled
from dpcompose.curves.rounding.doubles import LEAST, PRODUCT_ROUNDING, float_of

#: So many cells of an output, and so many totals on each side of 0 that are told apart.
_CELLS, _TOTALS = 4000, 2000
#: Totals are told apart up to so many times the bound from above, or so many standard deviations.
_FURTHEST, _DEVIATIONS = 2.0, 4.0

#: The chances under P and under Q of each total, from -_TOTALS to _TOTALS.
_Laws = tuple[Floats, Floats]


def is_of_samples(curve: Curve) -> bool:
    """Returns whether a curve is of Gaussian noise alone, behind samples without replacement or
    before any."""
    return curve.no_failure == 1 and all(
        isinstance(part, Sampled)
        and part.replace
        and not part.base.parts
        and part.base.no_failure == 1
        for part, _ in curve.parts
    )


def epsilon_attained(curve: Curve, delta: float, upper: float) -> float:
    """Returns an ε below which some mechanism of a curve of samples is not (ε, δ)-DP; `upper`: a
    bound of the least ε from above, more than 0."""
    found = 0.0
    for p, q in _tails(curve, upper):
        with np.errstate(divide="ignore", invalid="ignore"):
            above = np.log(np.maximum(p - delta, 0.0) / q)
        found = max(found, float(above.max()))
    return max(0.0, found - PRODUCT_ROUNDING)


def delta_attained(curve: Curve, epsilon: float) -> float:
    """Returns a δ below which some mechanism of a curve of samples is not (ε, δ)-DP."""
    greatest = 0.0
    for p, q in _tails(curve, max(epsilon, 1.0)):
        greatest = max(greatest, float((p - math.exp(epsilon) * (1 + 1e-12) * q).max()))
    return greatest


def _tails(curve: Curve, far: float) -> Iterator[_Laws]:
    """Yields for some mechanisms the chance under P, rounded down, and under Q, rounded up, that
    the total is at least any number; `far`: about the ε that is asked for."""
    parts = [(part.rate, part.base.gaussian, n) for part, n in curve.parts if type(part) is Sampled]
    if curve.gaussian:
        parts.append((Fraction(1), curve.gaussian, 1))
    deviation = math.sqrt(sum(n * _variance(rate, gaussian) for rate, gaussian, n in parts))
    far = max(far, _DEVIATIONS * deviation)
    for ends in _ENDS:
        laws = [(_one_draw(rate, gaussian, ends, far), n) for rate, gaussian, n in parts]
        p, q = _composed(laws)
        rise = PRODUCT_ROUNDING
        yield (
            np.cumsum(p[::-1]) * (1 - rise),
            np.cumsum(q[::-1]) * (1 + rise) + LEAST,
        )


#: Where the old and the new row lie, in shares of the sensitivity, if all other rows lie at 0.
_ENDS = ((1.0, 0.0), (0.0, 1.0), (0.5, -0.5))


def _one_draw(rate: Fraction, gaussian: Fraction, ends: tuple[float, float], far: float) -> _Laws:
    """Returns the laws of the cell of one draw; parameters as `_tails`."""
    q, mu = float_of(rate), math.sqrt(float_of(gaussian))
    places = np.linspace(-NORMAL_TAIL - mu, NORMAL_TAIL + mu, _CELLS + 1)
    none = _normal(places)
    old, new = ((1 - q) * none + q * _normal(places - mu * end) for end in ends)
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = np.nan_to_num(np.log(old / new), nan=0.0)
    unit = _FURTHEST * far / _TOTALS
    cells = np.clip(np.rint(losses / unit), -_TOTALS, _TOTALS).astype(np.int64) + _TOTALS
    size = 2 * _TOTALS + 1
    laws = [np.bincount(cells, chances, size).astype(np.float64) for chances in (old, new)]
    return laws[0], laws[1]


def _variance(rate: Fraction, gaussian: Fraction) -> float:
    """Returns about the variance of the loss of one draw."""
    q, square = float_of(rate), float_of(gaussian)
    return min(square, q * q * math.expm1(min(square, 700.0)))


def _normal(places: Floats) -> Floats:
    """Returns the chances of a standard normal number between each two of some ascending places."""
    tails = np.array([math.erfc(abs(z) / math.sqrt(2)) / 2 for z in places.tolist()])
    signs = np.where(places < 0, 1.0, -1.0)
    crossing = (signs[:-1] > 0) & (signs[1:] < 0)
    chances: Floats = np.where(crossing, 1 - tails[1:] - tails[:-1], np.abs(tails[1:] - tails[:-1]))
    return chances


def _composed(laws: Sequence[tuple[_Laws, int]]) -> _Laws:
    """Returns the laws of the total of independent draws, each so often; a total beyond the last
    one counts as it."""
    whole: _Laws | None = None
    for power, count in laws:
        left = count
        while left:
            if left % 2:
                whole = power if whole is None else _sum(whole, power)
            left //= 2
            if left:
                power = _sum(power, power)
    assert whole is not None
    return whole


def _sum(one: _Laws, other: _Laws) -> _Laws:
    return _held(np.convolve(one[0], other[0])), _held(np.convolve(one[1], other[1]))


def _held(law: Floats) -> Floats:
    """Returns the law of a sum of two totals, cut to the totals that are told apart."""
    middle = law[_TOTALS:-_TOTALS].copy()
    middle[0] += law[:_TOTALS].sum()
    middle[-1] += law[-_TOTALS:].sum()
    return middle
