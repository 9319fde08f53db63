"""Laplace noise: density e^(-|x|/scale)/(2·scale), sensitivities in L1."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpcompose.core.mechanisms.family import (
    BY_FAMILY,
    EXACTLY_DRAWN,
    NOISE,
    NUMBER,
    Family,
    FamilyForm,
    FormKey,
    Sort,
    drawn_by,
)
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Hypothesis, theorem
from dpcompose.curves import Curve
from dpcompose.curves.families import LaplaceLoss, laplace_mu, laplace_rho
from dpcompose.curves.rounding import ZERO, number


@dataclass(frozen=True, slots=True)
class Laplace(Family):
    """Adds Laplace noise of density e^(-|x|/scale)/(2·scale); sensitivities in L1."""

    scale: Fraction

    def epsilon(self, shift: Fraction) -> Fraction:
        return shift / self.scale

    def rho(self, shift: Fraction) -> Fraction:
        return laplace_zcdp(shift / self.scale) if shift else ZERO

    def mu(self, shift: Fraction) -> Fraction:
        return laplace_gdp(shift / self.scale)

    def loss(self, shift: Fraction) -> Curve:
        return Curve(((LaplaceLoss(shift / self.scale), 1),))

    def describe(self, shift: Fraction) -> str:
        return f"Laplace noise of scale {number(self.scale)}, sensitivity {number(shift)}"


NOISY = Hypothesis(
    "Laplace noise",
    "noise of density e^(-|x|/scale)/(2·scale) is drawn for each number; a change moves the "
    "numbers by at most a·scale in all (L1)",
    "declared",
    test=drawn_by(Laplace),
)


@theorem(
    "laplace-zcdp",
    title="Laplace noise as zCDP",
    place="Documentation",
    source="dpcompose",
    formula="ρ = a + e^-a - 1, a = sensitivity/scale",
    notion=Notion.ZCDP,
    uses=BY_FAMILY,
    hypotheses=(NOISY,),
)
def laplace_zcdp(shift: Fraction) -> Fraction:
    """Returns the least ρ of Laplace noise, rounded up; `shift`: sensitivity divided by scale."""
    return laplace_rho(shift)


@theorem(
    "laplace-gdp",
    title="Laplace noise as Gaussian DP",
    place="Documentation",
    source="dpcompose",
    formula="μ = 2 · Φ⁻¹(1 - e^(-a/2)/2), a = sensitivity/scale",
    notion=Notion.GDP,
    uses=BY_FAMILY,
    hypotheses=(NOISY,),
)
def laplace_gdp(shift: Fraction) -> Fraction:
    """Returns the least μ of Laplace noise, rounded up; `shift`: sensitivity divided by scale."""
    return laplace_mu(shift)


FORM = FamilyForm(
    name="laplace",
    family=Laplace,
    about="Laplace noise on numbers; its sensitivity is in L1.",
    keys=(
        FormKey(
            "scale",
            Sort.NUMBER,
            "The noise has density e^(-|x|/scale)/(2·scale).",
            need=NOISE,
            noise=True,
        ),
    ),
    sensitivity=NUMBER,
    norm="L1",
    states=("pure",),
    trusted=EXACTLY_DRAWN,
    giving=lambda stated: 1 / stated.value,
)
