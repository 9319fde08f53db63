"""Gaussian noise: normal, of standard deviation `sigma`, sensitivities in L2."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dpcompose.core.mechanisms.family import EXACTLY_DRAWN, FamilyForm, noise_key
from dpcompose.core.notions.concrete_mechanism import Family
from dpcompose.core.notions.notion import Notion
from dpcompose.core.numbers.form_keys import NUMBER
from dpcompose.curves import Curve
from dpcompose.curves.rounding import number, sqrt_up


class OneGaussian(Family):
    """A mechanism whose privacy loss is that of one Gaussian mechanism: `mu_squared` says all about
    it."""

    __slots__ = ()

    def rho(self, shift: Fraction) -> Fraction:
        return self.mu_squared(shift) / 2

    def mu(self, shift: Fraction) -> Fraction:
        return sqrt_up(self.mu_squared(shift))

    @abstractmethod
    def mu_squared(self, shift: Fraction) -> Fraction:
        """Returns the exact μ² of the Gaussian mechanism with the same privacy loss, at a shift."""

    def loss(self, shift: Fraction) -> Curve:
        return Curve((), self.mu_squared(shift))


@dataclass(frozen=True, slots=True)
class Gaussian(OneGaussian):
    """Adds normal noise of standard deviation `sigma`; sensitivities in L2.

    `unit`: the square of the unit of shifts, for sensitivities that are not rational.
    """

    FORMULAS: ClassVar[dict[Notion, str]] = {
        Notion.GDP: "(s / sigma) ** 2 * u",
        Notion.ZCDP: "(s / sigma) ** 2 * u / 2",
    }
    sigma: Fraction
    unit: Fraction = Fraction(1)

    def parameters(self, shift: Fraction) -> dict[str, Any]:
        return {"sigma": self.sigma, "u": self.unit}

    def mu_squared(self, shift: Fraction) -> Fraction:
        return (shift / self.sigma) ** 2 * self.unit

    def describe(self, shift: Fraction) -> str:
        moved = number(sqrt_up(shift * shift * self.unit))
        return f"Gaussian noise of σ = {number(self.sigma)}, sensitivity {moved}"


FORM = FamilyForm(
    name="gaussian",
    family=Gaussian,
    about="Normal noise on numbers; its sensitivity is in L2.",
    keys=(noise_key("sigma", "The standard deviation of the noise."),),
    sensitivity=NUMBER,
    norm="L2",
    states=("gdp",),
    trusted=EXACTLY_DRAWN,
    giving=lambda stated: sqrt_up(1 / (2 * stated.value)),
)
