"""Discrete Gaussian noise: mass proportional to e^(-n²/(2·sigma²)) on the whole numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from dpcompose.core.mechanisms.family import EXACTLY_DRAWN, Family, FamilyForm, noise_key
from dpcompose.core.numbers.form_keys import WHOLE_L2
from dpcompose.curves import Concentrated, Curve
from dpcompose.curves.families import DiscreteGaussianLoss
from dpcompose.curves.rounding import number, sqrt_up


@dataclass(frozen=True, slots=True)
class DiscreteGaussian(Family):
    """Adds to whole numbers noise of mass proportional to e^(-n²/(2·sigma²)).

    `norm`: sensitivities are in L1 (the number of unit steps), so that a shift of one coordinate
    dominates; or in L2, where only ρ is known: at some δ, steps in several coordinates are worse
    than one step as far in one coordinate. `unit`: the square of the unit of shifts in L2.
    """

    sigma: Fraction
    norm: Literal["L1", "L2"] = "L1"
    unit: Fraction = Fraction(1)

    def rho(self, shift: Fraction) -> Fraction:
        """Returns ρ = s²/(2σ²) for the `shift` s (Canonne, Kamath and Steinke 2020), attained at
        the order α = 2."""
        return (shift / self.sigma) ** 2 * self.unit / 2

    def loss(self, shift: Fraction) -> Curve:
        """Returns the loss at a shift: the exact one for one coordinate, and a bound by its ρ in
        L2."""
        if self.norm == "L2":
            return Curve(((Concentrated(self.rho(shift)), 1),))
        moved = DiscreteGaussianLoss(math.ceil(shift), self.sigma * self.sigma)
        return Curve(((moved, 1),))

    def describe(self, shift: Fraction) -> str:
        norm = " in L2" if self.norm == "L2" else ""
        moved = f"sensitivity {number(sqrt_up(shift * shift * self.unit))}{norm}"
        return f"discrete Gaussian noise of σ = {number(self.sigma)}, {moved}"


FORM = FamilyForm(
    name="discrete-gaussian",
    family=DiscreteGaussian,
    about="Discrete normal noise on whole numbers; its sensitivity is in L2.",
    keys=(
        noise_key(
            "sigma", "The noise n has a mass proportional to e^(-n²/(2·sigma²)).", exactly=True
        ),
    ),
    sensitivity=WHOLE_L2,
    norm="L2",
    states=("zcdp",),
    trusted=EXACTLY_DRAWN,
    whole=True,
    giving=lambda stated: sqrt_up(1 / (2 * stated.value)),
)
