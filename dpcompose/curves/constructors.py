"""Curves of single mechanisms: of concrete noise, and of guarantees as they are stated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from dpcompose.curves.curve import (
    Concentrated,
    Curve,
    Maximum,
    Part,
    Points,
    Renyi,
    Response,
)
from dpcompose.curves.families.discrete_gaussian_loss import DiscreteGaussianLoss
from dpcompose.curves.families.exponential_loss import BoundedRange
from dpcompose.curves.families.geometric_loss import GeometricLoss
from dpcompose.curves.families.laplace_loss import LaplaceLoss
from dpcompose.curves.families.randomized_response_loss import KaryResponse
from dpcompose.curves.families.skellam_loss import LEAST_VARIANCE, SkellamLoss
from dpcompose.curves.rounding.written import Number, count_of, number_of


def gaussian(sigma: Number, sensitivity: Number = 1) -> Curve:
    """Returns the curve of normal noise of standard deviation `sigma`; `sensitivity` is in the L2
    norm."""
    return Curve((), (number_of(sensitivity, "a sensitivity") / _noise(sigma, "sigma")) ** 2)


def laplace(scale: Number, sensitivity: Number = 1) -> Curve:
    """Returns the curve of Laplace noise of density e^(-|x|/scale)/(2·scale); `sensitivity` is in
    the L1 norm."""
    shift = number_of(sensitivity, "a sensitivity") / _noise(scale, "scale")
    return _one(LaplaceLoss(shift)) if shift else Curve()


def geometric(scale: Number, sensitivity: int = 1) -> Curve:
    """Returns the curve of two-sided geometric noise, mass proportional to e^(-|n|/scale)."""
    steps = count_of(sensitivity, "a sensitivity", 0)
    return _one(GeometricLoss(steps, _noise(scale, "scale"))) if steps else Curve()


def discrete_gaussian(sigma: Number, sensitivity: int = 1) -> Curve:
    """Returns the curve of discrete Gaussian noise, mass proportional to e^(-n²/(2·sigma²));
    `sensitivity` is in the L1 norm."""
    steps = count_of(sensitivity, "a sensitivity", 0)
    return _one(DiscreteGaussianLoss(steps, _noise(sigma, "sigma") ** 2)) if steps else Curve()


def skellam(variance: Number, sensitivity: int = 1) -> Curve:
    """Returns the curve of the difference of two Poisson counts of mean variance/2 each, as noise;
    `sensitivity` is in the L1 norm."""
    steps, noise = count_of(sensitivity, "a sensitivity", 0), _noise(variance, "variance")
    if noise < LEAST_VARIANCE:
        raise ValueError(f"variance is at least {LEAST_VARIANCE}")
    return _one(SkellamLoss(steps, noise)) if steps else Curve()


def exponential(epsilon: Number) -> Curve:
    """Returns the curve of every mechanism of bounded range `epsilon`, such as the exponential
    mechanism."""
    value = number_of(epsilon, "ε")
    return _one(BoundedRange(value)) if value else Curve()


def randomized_response(epsilon: Number, values: int = 2) -> Curve:
    """Returns the curve of randomized response over `values` values: the true one comes out with
    odds of e^epsilon to 1 against each other one."""
    odds, k = number_of(epsilon, "ε"), count_of(values, "values", 2)
    return _one(KaryResponse(k, odds)) if odds else Curve()


def pure(epsilon: Number) -> Curve:
    """Returns the curve that dominates every ε-DP mechanism."""
    value = number_of(epsilon, "ε")
    return _one(Response(value)) if value else Curve()


def approx(epsilon: Number, delta: Number) -> Curve:
    """Returns the curve that dominates every (ε, δ)-DP mechanism."""
    return Curve(pure(epsilon).parts, Fraction(0), 1 - number_of(delta, "δ", 1))


def gdp(mu: Number) -> Curve:
    """Returns the curve that dominates every μ-GDP mechanism."""
    return Curve((), number_of(mu, "μ") ** 2)


def zcdp(rho: Number) -> Curve:
    """Returns a curve that dominates every ρ-zCDP mechanism."""
    value = number_of(rho, "ρ")
    return _one(Concentrated(value)) if value else Curve()


def rdp(points: Iterable[tuple[Number, Number]]) -> Curve:
    """Returns a curve that dominates every mechanism of Rényi divergence ≤ ε at each (order α >
    1, ε)."""
    found = sorted((number_of(a, "an order"), number_of(e, "ε")) for a, e in points)
    if not found or found[0][0] <= 1 or len({a for a, _ in found}) < len(found):
        raise ValueError("orders are above 1 and differ, and there is one at least")
    epsilons = [e for _, e in found]
    if epsilons != sorted(epsilons):
        raise ValueError("a Rényi divergence does not fall with its order")
    return _one(Renyi(tuple(found)))


def profile(points: Iterable[tuple[Number, Number]]) -> Curve:
    """Returns a curve that dominates every mechanism that is (ε, δ)-DP for each (ε, δ) of `points`,
    which are on its privacy profile or above."""
    least: dict[Fraction, Fraction] = {}
    for epsilon, delta in points:
        at, value = number_of(epsilon, "ε"), number_of(delta, "δ", 1)
        least[at] = min(value, least.get(at, Fraction(1)))
    kept: list[tuple[Fraction, Fraction]] = []
    for pair in sorted(least.items()):
        if not kept or pair[1] < kept[-1][1]:
            kept.append(pair)
    if not kept or kept[0][1] == 1:
        raise ValueError("a profile has a point with a δ below 1, and no other at its ε")
    return _one(Points(tuple(kept)))


def compose(*curves: Curve | Iterable[Curve]) -> Curve:
    """Returns the curve of several mechanisms on the same data, adaptively chosen in a fixed order;
    given one by one, or in a list."""
    return Curve().compose(*_curves_of(curves))


def _curves_of(given: Sequence[Curve | Iterable[Curve]]) -> list[Curve]:
    """Returns a flat list of curves that were given one by one or in lists; raises TypeError for
    anything else."""
    found: list[Curve] = []
    for each in given:
        found += [each] if isinstance(each, Curve) else each if isinstance(each, Iterable) else []
        if not found or not isinstance(found[-1], Curve):
            raise TypeError(f"a curve is due, such as gaussian(sigma=1), not {each!r}")
    return found


def maximum(*given: Curve | Iterable[Curve]) -> Curve:
    """Returns the curve of a mechanism that is one of several, whichever: at each ε the greatest
    δ."""
    curves = tuple(_curves_of(given))
    if not curves:
        raise ValueError("a maximum is of one curve at least")
    return curves[0] if len(set(curves)) == 1 else _one(Maximum(tuple(dict.fromkeys(curves))))


def _one(part: Part) -> Curve:
    return Curve(((part, 1),))


def _noise(given: Number, name: str) -> Fraction:
    """Returns a parameter of noise as a fraction; raises ValueError unless it is above 0."""
    value = number_of(given, name)
    if not value or not math.isfinite(value):
        raise ValueError(f"{name} is above 0")
    return value
