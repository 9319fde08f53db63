"""Every part as a certified law on a grid, and which grids suit it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from dpcompose.core.profile.parts import (
    Concentrated,
    Drawn,
    Exchanged,
    Grouped,
    MechanismLoss,
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
    from dpcompose.core.profile import discrete, divergences, exchange, sampling

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
            return sampling.sampled(part, step, side)
        case Drawn():
            return sampling.drawn(part, step, side)
        case Exchanged():
            return exchange.exchanged(part, step)
        case Grouped():
            return sampling.grouped(part, step, side)
