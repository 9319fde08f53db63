"""Laplace noise: density e^(-|x|/scale)/(2·scale), sensitivities in L1."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dpcompose.core.mechanisms.family import (
    EXACTLY_DRAWN,
    FamilyForm,
    drawn_by,
    family_theorem,
    noise_key,
)
from dpcompose.core.notions.concrete_mechanism import EqualLosses
from dpcompose.core.notions.notion import Notion
from dpcompose.core.numbers.form_keys import NUMBER
from dpcompose.curves.families import LaplaceLoss, laplace_mu, laplace_rho
from dpcompose.curves.rounding import number


@dataclass(frozen=True, slots=True)
class Laplace(EqualLosses):
    """Adds Laplace noise of density e^(-|x|/scale)/(2·scale); sensitivities in L1."""

    FORMULAS: ClassVar[dict[Notion, str]] = {
        Notion.PURE: "s / b",
        Notion.ZCDP: "s / b + exp(-s / b) - 1",
        Notion.GDP: "(2 * normal_quantile(1 - exp(-s / b / 2) / 2)) ** 2",
    }
    scale: Fraction

    def parameters(self, shift: Fraction) -> dict[str, Any]:
        return {"b": self.scale}

    def part(self, shift: Fraction) -> LaplaceLoss:
        return LaplaceLoss(shift / self.scale)

    def describe(self, shift: Fraction) -> str:
        return f"Laplace noise of scale {number(self.scale)}, sensitivity {number(shift)}"


NOISY = drawn_by("Laplace noise", Laplace)


family_theorem(
    "laplace-zcdp",
    title="Laplace noise as zCDP",
    formula="ρ = a + e^-a - 1, a = sensitivity/scale",
    notion=Notion.ZCDP,
    given=NOISY,
)(laplace_rho)


family_theorem(
    "laplace-gdp",
    title="Laplace noise as Gaussian DP",
    formula="μ = 2 · Φ⁻¹(1 - e^(-a/2)/2), a = sensitivity/scale",
    notion=Notion.GDP,
    given=NOISY,
)(laplace_mu)


FORM = FamilyForm(
    name="laplace",
    family=Laplace,
    about="Laplace noise on numbers; its sensitivity is in L1.",
    keys=(noise_key("scale", "The noise has density e^(-|x|/scale)/(2·scale)."),),
    sensitivity=NUMBER,
    norm="L1",
    states=("pure",),
    trusted=EXACTLY_DRAWN,
    giving=lambda stated: 1 / stated.value,
)
