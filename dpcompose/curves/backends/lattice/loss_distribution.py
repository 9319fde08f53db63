"""The privacy loss distribution of every part, as a certified law on a grid."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpcompose.curves.backends.lattice import (
    closed_laws,
    samples,
    several_rows,
)
from dpcompose.curves.backends.lattice.allocated import allocated
from dpcompose.curves.backends.lattice.lattice import composed
from dpcompose.curves.backends.lattice.masses import Masses
from dpcompose.curves.backends.lattice.profiles import greatest, with_mirror_image
from dpcompose.curves.backends.lattice.sampled_gaussian import sampled_gaussian
from dpcompose.curves.backends.lattice.samples import both_orders
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
)
from dpcompose.curves.rounding.doubles import EPS
from dpcompose.curves.rounding.exact import float_up


def masses(part: Part, step: Fraction, side: str = "removed") -> Masses:
    """Returns the privacy loss distribution of `part` on multiples of `step`: its curve is at least
    the profile of the part at every real ε.

    `side`: the order of the tables for a sample whose loss depends on it: "removed", the first
    table has the row, or "added", the reverse.
    """
    match part:
        case Response(epsilon):
            return closed_laws.response(epsilon, step)
        case MechanismLoss():
            return part.masses(step)
        case Points(points):
            return closed_laws.stated(points, step)
        case Concentrated(rho):
            return closed_laws.divergence((), rho, step)
        case Renyi(points, rho):
            return closed_laws.divergence(points, rho, step)
        case Sampled():
            return samples.sampled(part, step, side, base_law)
        case Allocated():
            return allocated(part, step, side)
        case MixtureOfDraws():
            return samples.law_of_draws(part, step, side, base_law)
        case PoissonReplaceOne():
            return samples.exchanged(part, step, base_law)
        case PoissonGroup():
            return several_rows.sampled_rows(part, step, side, base_law)
        case ReplacedRows():
            return several_rows.replaced_rows(part, step, base_law)
        case Grouped():
            return several_rows.grouped(part, step, side, base_law)
        case Maximum(options):
            orders = [(each, order) for each in options for order in both_orders(each, side)]
            return greatest(*(_option(each, step, order) for each, order in orders))


@lru_cache(maxsize=128)  # what may be any of some is often asked for again, with one other
def _option(base: Curve, step: Fraction, side: str) -> Masses:
    """Returns the privacy loss distribution of one of the compositions of a `Maximum`."""
    return base_law(base, step, side)


def base_law(base: Curve, step: Fraction, side: str) -> Masses:
    """Returns the privacy loss distribution of a whole composition on a grid, total failure
    included as an infinite loss; `side` as for `masses`."""
    if not base.parts and not base.gaussian:
        law = Masses(step, 0, np.ones(1), 0.0)
    elif not base.parts:
        law = sampled_gaussian(base.gaussian, Fraction(1), step, False)
    elif len(base.parts) == 1 and base.parts[0][1] == 1 and not base.gaussian:
        law = masses(base.parts[0][0], step, side)
    else:
        law = _composed(base, step, side)
    if base.no_failure == 1:
        return law
    no_failure = float_up(base.no_failure)
    infinite = float_up(1 - base.no_failure) + no_failure * law.infinite
    return Masses(step, law.first, law.p * (no_failure * (1 + EPS)), infinite * (1 + 4 * EPS))


def _composed(base: Curve, step: Fraction, side: str) -> Masses:
    """Returns the privacy loss distribution of several parts together. Only the losses above 0 are
    taken from their sum; those below mirror the law of the tables in the other order."""
    return with_mirror_image(*(_sum_of(base, step, each) for each in both_orders(base, side)))


def _sum_of(base: Curve, step: Fraction, side: str) -> Masses:
    """Returns the distribution of the sum of the losses of all parts, for one order of the
    tables."""
    laws = [(masses(part, step, side), count) for part, count in base.parts]
    if base.gaussian:
        laws.append((sampled_gaussian(base.gaussian, Fraction(1), step, False), 1))
    return composed(laws)
