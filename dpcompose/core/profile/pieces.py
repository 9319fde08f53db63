"""Every part as a certified law on a grid, and which grids suit it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from dpcompose.core.profile.parts import (
    BoundedRange,
    Concentrated,
    DiscreteGaussian,
    Drawn,
    Exchanged,
    Geometric,
    Grouped,
    KaryResponse,
    Laplace,
    Part,
    Points,
    Renyi,
    Response,
    Sampled,
)
from dpcompose.core.profile.sizes import natural_step, scale

if TYPE_CHECKING:
    from dpcompose.core.profile.masses import Masses

__all__ = ["masses", "natural_step", "scale"]


def masses(part: Part, step: Fraction, side: str = "removed") -> Masses:
    """A law on multiples of `step` whose curve is at least the profile of `part` at every real ε.

    `side` "added" reads a one-sided sample with the tables exchanged.
    """
    # numpy is needed from here on only.
    from dpcompose.core.profile import discrete, divergences, exchange, laplace, sampling

    match part:
        case Response(epsilon):
            return discrete.response(epsilon, step)
        case Laplace(shift):
            return laplace.laplace(shift, step)
        case BoundedRange(epsilon):
            return laplace.bounded_range(epsilon, step)
        case KaryResponse(k, epsilon):
            return discrete.kary_response(k, epsilon, step)
        case Geometric(shift, scale):
            return discrete.geometric(shift, scale, step)
        case DiscreteGaussian(shift, variance):
            law = discrete.discrete_gaussian(shift, variance, step)
            rho = Fraction(shift * shift) / (2 * variance)
            return law or divergences.divergence((), rho, step)
        case Points(points):
            return discrete.stated(points, step)
        case Concentrated(rho):
            return divergences.divergence((), rho, step)
        case Renyi(points, rho):
            return divergences.divergence(points, rho, step)
        case Sampled():
            return sampling.sampled(part, step, side)
        case Drawn():
            return sampling.drawn(part, step, side)
        case Exchanged():
            return exchange.exchanged(part, step)
        case Grouped():
            return sampling.grouped(part, step, side)
