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
from dpcompose.curves.backends.lattice.allocated import allocated, losses_of
from dpcompose.curves.backends.lattice.from_points import atoms
from dpcompose.curves.backends.lattice.lattice import composed
from dpcompose.curves.backends.lattice.masses import Masses
from dpcompose.curves.backends.lattice.powers import (
    GreatestBound,
    LossBound,
    ProfileBound,
    law_above,
)
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
from dpcompose.curves.rounding.exact import MANY, float_up


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
        case PoissonGroup() if part.side != "both":
            bound = several_rows.sampled_rows(part, side, base_law)
            there = "added" if side == "removed" else "removed"
            other = several_rows.sampled_rows(part, there, base_law)
            return law_above(bound, step, other)
        case Grouped() if part.steps > MANY:
            return several_rows.many_steps(part, step, side, base_law)
        case PoissonReplaceOne() | PoissonGroup() | ReplacedRows() | Grouped():
            return law_above(_bound_of_rows(part, side), step)
        case Maximum(options):
            orders = [(each, order) for each in options for order in both_orders(each, side)]
            return greatest(*(_option(each, step, order) for each, order in orders))


def _bound_of_rows(
    part: PoissonReplaceOne | PoissonGroup | ReplacedRows | Grouped, side: str
) -> ProfileBound:
    """Returns the profile bound of several rows, or of one that is replaced."""
    match part:
        case PoissonReplaceOne():
            return samples.exchanged(part, base_law)
        case PoissonGroup():
            return several_rows.sampled_rows(part, side, base_law)
        case ReplacedRows():
            return several_rows.replaced_rows(part, base_law)
        case Grouped():
            return several_rows.several_steps(part, base_law)


def bound_alone(part: Part, side: str) -> ProfileBound | None:
    """Returns the profile bound of a part that is used once, at the part's own losses or lines and
    so without a grid; None where the part has none. `side` as for `masses`.

    Such a bound falls with ε and does not depend on the question, so that an ε found by it does not
    grow with δ. It is what the law on a grid is made of: that law lies above it, between grid
    points by as much as the grid is wide.
    """
    match part:
        case Allocated():
            found = losses_of(part, side)
            return None if found is None else GreatestBound(tuple(found))
        case Points():
            return _bound_of_points(part)
        case MechanismLoss() if (step := part.natural_step()) is not None:
            law = part.masses(step)
            return LossBound(law.losses() * (1 + 4 * EPS), law.p, law.infinite)
        case Grouped() if part.steps > MANY:
            return None
        case PoissonReplaceOne() | PoissonGroup() | ReplacedRows() | Grouped():
            return _bound_of_rows(part, side)
    return None


@lru_cache(maxsize=8)  # of many points many questions are asked
def _bound_of_points(part: Points) -> LossBound:
    """Returns the profile of what is known by some (ε, δ)."""
    every, infinite = atoms(part.points)
    losses, chances = [float_up(loss) for loss, _ in every], [p for _, p in every]
    return LossBound(np.array(losses), np.array(chances), infinite)


@lru_cache(maxsize=128)  # the options of one `Maximum` recur in others
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
