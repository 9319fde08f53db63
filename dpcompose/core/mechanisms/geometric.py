"""Two-sided geometric noise (discrete Laplace): mass proportional to e^(-|n|/scale)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcompose.core.exact import gaussian_mean_up, tanh_up
from dpcompose.core.mechanisms.family import EXACTLY_DRAWN, NOISE, STEPS, Family, Form, Key
from dpcompose.core.profile.parts import Composition, MechanismLoss
from dpcompose.core.profile.sizes import MOST_POINTS, even, least
from dpcompose.core.words import number
from dpcompose.values import dataclass

if TYPE_CHECKING:
    from dpcompose.core.profile.cumulants import Cumulant
    from dpcompose.core.profile.masses import Floats, Masses

ZERO = Fraction(0)
#: A standard deviation of the loss that none exceeds by much.
_WIDEST = 1.7
#: Noise moved by this much, or by this many scales, counts as a response.
_FARTHEST = 10**12
#: In how many blocks the values of the noise are summed.
_BLOCKS = 400


@dataclass(frozen=True, slots=True)
class Geometric(Family):
    """Adds to whole numbers noise of mass proportional to e^(-|n|/scale); sensitivities in L1."""

    scale: Fraction

    def epsilon(self, shift: Fraction) -> Fraction:
        return shift / self.scale

    def rho(self, shift: Fraction) -> Fraction:
        return self._moved(shift).rho() if shift else ZERO

    def mu(self, shift: Fraction) -> Fraction:
        return self._moved(shift).mu() if shift else ZERO

    def loss(self, shift: Fraction) -> Composition:
        return Composition(((self._moved(shift), 1),))

    def _moved(self, shift: Fraction) -> GeometricLoss:
        return GeometricLoss(math.ceil(shift), self.scale)

    def says(self, shift: Fraction) -> str:
        return f"geometric noise of scale {number(self.scale)}, sensitivity {number(shift)}"


@dataclass(frozen=True, slots=True)
class GeometricLoss(MechanismLoss):
    """Two-sided geometric noise, mass proportional to e^(-|n|/scale), moved by `shift` ≥ 1."""

    shift: int
    scale: Fraction

    def masses(self, step: Fraction) -> Masses:
        """With r = e^(-1/scale), P-mass 1/(1+r) at loss s/scale, (1-r)/(1+r)·r^x at (s-2x)/scale
        for 0 < x < s, r^s/(1+r) at -s/scale."""
        import numpy as np

        from dpcompose.core.profile.discrete import (
            LOG_TAIL,
            MAX_ATOMS,
            MAX_SHIFT,
            on_lattice,
            response,
        )
        from dpcompose.core.profile.masses import EPS

        # Far down, atoms of little mass are raised to the last one that is listed.
        count = min(self.shift, math.ceil(LOG_TAIL * self.scale) + 1)
        if count > MAX_ATOMS or self.shift > MAX_SHIFT or self.scale * 500 < 1:
            return response(self.greatest(), step)
        rate = float(1 / self.scale)
        places = np.arange(count + 1, dtype=np.int64)
        ratio = math.exp(-rate)
        p: Floats = np.exp(-rate * places) * (-math.expm1(-rate) / (1 + ratio))
        p[0] = 1 / (1 + ratio)
        p[-1] = math.exp(-rate * count) / (1 + ratio)
        p *= 1 + (float(LOG_TAIL) + 64) * EPS
        return on_lattice(self.shift - 2 * places, 1 / self.scale, p, step)

    def cumulant(self) -> Cumulant:
        from dpcompose.core.profile.cumulants import Cumulant, not_below, of_response

        known = self.shift < _FARTHEST and self.shift < _FARTHEST * self.scale
        if not known:
            return Cumulant(of_response(2, not_below(self.greatest())))
        return Cumulant(_cumulant(self.shift, not_below(1 / self.scale)))

    def quadratic(self) -> Fraction:
        return ZERO

    def greatest(self) -> Fraction:
        return self.shift / self.scale

    def rho(self) -> Fraction:
        return self.greatest() * tanh_up(self.greatest() / 2)

    def mu(self) -> Fraction:
        return gaussian_mean_up(self.greatest())

    def natural_step(self) -> Fraction | None:
        return even(self.shift, 1 / self.scale) if self.shift < MOST_POINTS else None

    def anchor(self) -> Fraction | None:
        return self.natural_step()

    def spread(self) -> float:
        return least(self.greatest(), _WIDEST)

    def line(self) -> Fraction:
        return Fraction(self.shift)

    def moved(self, shift: Fraction) -> GeometricLoss:
        return GeometricLoss(int(shift), self.scale)

    def dominates(self, other: MechanismLoss) -> bool:
        return False

    def attained(self) -> bool:
        return True

    def says(self) -> str:
        return f"geometric noise of scale {number(self.scale)} moved by {self.shift}"


def _cumulant(shift: int, rate: float) -> Callable[[float], float]:
    # The losses L and -L have masses p and p·e^-L: E - 1 = Σ p·(e^(sL) - 1)·(1 - e^(-(1+s)L)) over
    # L > 0. All x ≤ 0 lose shift·rate, 0 < x < shift/2 lose (shift-2x)·rate; a block of x counts
    # as its first, which loses most.
    from dpcompose.core.profile.cumulants import gap, softplus

    inside = (shift - 1) // 2
    width = max(1, -(-inside // _BLOCKS))
    starts = [(x, min(width, inside + 1 - x)) for x in range(1, inside + 1, width)]
    one, beyond = gap(rate), 1 + math.exp(-rate)

    def of(s: float) -> float:
        decay = (1 + 2 * s) * rate

        def pair(x: int) -> float:
            loss = (shift - 2 * x) * rate
            return gap(s * loss) * gap((1 + s) * loss)

        total = pair(0) + one * math.fsum(
            math.exp(-decay * x) * (gap(decay * n) / gap(decay)) * pair(x) for x, n in starts
        )
        return softplus(s * shift * rate + math.log(total) - math.log(beyond))

    return of


FORM = Form(
    name="geometric",
    family=Geometric,
    about="Two-sided geometric noise on whole numbers.",
    key=Key("scale", "The noise n has a mass proportional to e^(-|n|/scale).", NOISE, True),
    sensitivity=STEPS,
    relative=False,
    values=False,
    states=("pure",),
    trusted=EXACTLY_DRAWN,
)
