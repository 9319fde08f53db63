"""The privacy loss distribution of every part, as a certified law on a grid."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpcompose.curves.backends.lattice import (
    discrete,
    divergences,
    exchange,
    group_distance,
    replaced_rows,
    sampled_laws,
    sampled_rows,
)
from dpcompose.curves.backends.lattice.allocated import allocated
from dpcompose.curves.backends.lattice.grids import rough_curve
from dpcompose.curves.backends.lattice.masses import EPS, Masses
from dpcompose.curves.backends.lattice.profiles import greatest, mirrored
from dpcompose.curves.backends.lattice.sampled_gaussian import sampled_gaussian
from dpcompose.curves.backends.lattice.sampled_laws import SUM, both_orders
from dpcompose.curves.backends.lattice.tails import join, power
from dpcompose.curves.curve import (
    Allocated,
    Concentrated,
    Curve,
    Grouped,
    Maximum,
    MechanismLoss,
    MixtureOfDraws,
    Part,
    Points,
    PoissonGroup,
    PoissonReplaceOne,
    Renyi,
    ReplacedRows,
    Response,
    Sampled,
    leans,
)
from dpcompose.curves.rounding.exact import float_up

#: With more samples than this a composition is known by points of its curve.
_MANY_SAMPLES = 16


def masses(part: Part, step: Fraction, side: str = "removed") -> Masses:
    """Returns a law on multiples of `step` whose curve is at least the profile of `part` at every
    real ε.

    `side` "added" reads a one-sided sample with the tables exchanged.
    """
    match part:
        case Response(epsilon):
            return discrete.response(epsilon, step)
        case MechanismLoss():
            return part.masses(step)
        case Points(points):
            return discrete.stated(points, step)
        case Concentrated(rho):
            return divergences.divergence((), rho, step)
        case Renyi(points, rho):
            return divergences.divergence(points, rho, step)
        case Sampled():
            return sampled_laws.sampled(part, step, side, base_law)
        case Allocated():
            return allocated(part, step, side)
        case MixtureOfDraws():
            return sampled_laws.law_of_draws(part, step, side, base_law)
        case PoissonReplaceOne():
            return exchange.exchanged(part, step, base_law)
        case PoissonGroup():
            return sampled_rows.sampled_rows(part, step, side, base_law)
        case ReplacedRows():
            return replaced_rows.replaced_rows(part, step, base_law)
        case Grouped():
            return group_distance.grouped(part, step, side, base_law)
        case Maximum(options):
            orders = [(each, order) for each in options for order in both_orders(each, side)]
            return greatest(*(_option(each, step, order) for each, order in orders))


@lru_cache(maxsize=128)  # what may be any of some is often asked for again, with one other
def _option(base: Curve, step: Fraction, side: str) -> Masses:
    return base_law(base, step, side)


def base_law(base: Curve, step: Fraction, side: str) -> Masses:
    """Returns the law of a whole composition on a grid, what gives everything away included."""
    if not base.parts and not base.gaussian:
        law = Masses(step, 0, np.ones(1), 0.0)
    elif not base.parts:
        law = sampled_gaussian(base.gaussian, Fraction(1), step, False)
    elif len(base.parts) == 1 and base.parts[0][1] == 1 and not base.gaussian:
        law = masses(base.parts[0][0], step, side)
    elif sum(count for part, count in base.parts if isinstance(part, Sampled)) > _MANY_SAMPLES:
        law = _by_curve(base, step)
    else:
        law = _composed(base, step, side)
    if base.no_failure == 1:
        return law
    no_failure = float_up(base.no_failure)
    infinite = float_up(1 - base.no_failure) + no_failure * law.infinite
    return Masses(step, law.first, law.p * (no_failure * (1 + EPS)), infinite * (1 + 4 * EPS))


def _by_curve(base: Curve, step: Fraction) -> Masses:
    """Returns a symmetric law above many samples, from some points of their curve in both
    orders."""
    points = rough_curve(base.parts, base.gaussian, masses)
    return discrete.stated(points, step) if points else Masses(step, 0, np.zeros(1), 1.0)


def _composed(base: Curve, step: Fraction, side: str) -> Masses:
    one_sided = any(isinstance(part, Sampled) or leans(part) for part, _ in base.parts)
    laws = [power(masses(part, step, side), count, one_sided) for part, count in base.parts]
    if base.gaussian:
        laws.append(sampled_gaussian(base.gaussian, Fraction(1), step, False))
    law, *rest = sorted(laws, key=lambda law: len(law.p))
    for other in rest:
        law = join(law, other, one_sided)
    return law if one_sided else _reflected(law)


def _reflected(law: Masses) -> Masses:
    """Returns a symmetric law whose lower half is made from the upper one.

    Below 0 the chances under Q are e^(-l) times the masses: roundings would be large there.
    """
    if law.first > 0 or law.first + len(law.p) < 2:
        return law
    positive = law.p[-law.first :].copy()
    positive[0] = 0.0
    losses = np.arange(len(positive)) * float(law.step)
    taken = float(positive.sum() + (positive * np.exp(-losses)).sum()) + law.infinite
    return mirrored(law.step, positive, law.infinite, max(0.0, 1 - taken) + SUM)
