"""Gaussian noise: normal, of standard deviation `sigma`, sensitivities in L2."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpcompose.core.mechanisms.family import (
    EXACTLY_DRAWN,
    NOISE,
    NUMBER,
    Family,
    FamilyForm,
    ParameterKey,
)
from dpcompose.core.numbers.words import number
from dpcompose.core.profile.parts import Composition


@dataclass(frozen=True, slots=True)
class Gaussian(Family):
    """Adds normal noise of standard deviation `sigma`; sensitivities in L2."""

    sigma: Fraction

    def epsilon(self, shift: Fraction) -> None:
        return None

    def rho(self, shift: Fraction) -> Fraction:
        return self.mu(shift) ** 2 / 2

    def mu(self, shift: Fraction) -> Fraction:
        return shift / self.sigma

    def loss(self, shift: Fraction) -> Composition:
        return Composition((), self.mu(shift) ** 2)

    def says(self, shift: Fraction) -> str:
        return f"Gaussian noise of σ = {number(self.sigma)}, sensitivity {number(shift)}"


FORM = FamilyForm(
    name="gaussian",
    family=Gaussian,
    about="Normal noise on numbers; its sensitivity is in L2.",
    key=ParameterKey("sigma", "The standard deviation of the noise.", NOISE, True),
    sensitivity=NUMBER,
    norm="L2",
    relative=False,
    values=False,
    states=("gdp",),
    trusted=EXACTLY_DRAWN,
)
