"""Two-sided geometric noise (discrete Laplace): mass proportional to e^(-|n|/scale)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dpcompose.core.mechanisms.family import (
    EXACTLY_DRAWN,
    ChargedGuarantee,
    FamilyForm,
    drawn_by,
    family_theorem,
    noise_key,
)
from dpcompose.core.notions.concrete_mechanism import EqualLosses
from dpcompose.core.notions.notion import Notion
from dpcompose.core.numbers.form_keys import STEPS
from dpcompose.curves.families import GeometricLoss, geometric_mu, geometric_rho
from dpcompose.curves.rounding import number


@dataclass(frozen=True, slots=True)
class Geometric(EqualLosses):
    """Adds to whole numbers noise of mass proportional to e^(-|n|/scale); sensitivities in L1."""

    FORMULAS: ClassVar[dict[Notion, str]] = {
        Notion.PURE: "s / b",
        Notion.ZCDP: "(c - 2 * exp(-1 / b) * (1 - exp(-c / b)) / (1 - exp(-2 / b))) / b",
        Notion.GDP: "(-normal_quantile(exp(-m / b) / (1 + exp(-1 / b)))"
        " - normal_quantile(exp(-n / b) / (1 + exp(-1 / b)))) ** 2",
    }
    scale: Fraction

    def parameters(self, shift: Fraction) -> dict[str, Any]:
        """Returns the scale, and the two whole numbers nearest to half of the steps and one."""
        after = math.ceil(shift) + 1
        return {"b": self.scale, "m": after // 2, "n": after - after // 2}

    def epsilon(self, shift: Fraction) -> Fraction:
        return shift / self.scale

    def part(self, shift: Fraction) -> GeometricLoss:
        """Returns the loss at a shift, which is rounded up to whole steps."""
        return GeometricLoss(math.ceil(shift), self.scale)

    def describe(self, shift: Fraction) -> str:
        return f"geometric noise of scale {number(self.scale)}, sensitivity {number(shift)}"


def _pure_steps(touch: ChargedGuarantee) -> bool:
    """Returns whether a guarantee is pure over several steps, which loses no more than geometric
    noise."""
    stated = touch.guarantee
    return stated.noise is None and stated.notion is Notion.PURE and touch.taken > 1


NOISY = drawn_by("geometric noise", Geometric, but=_pure_steps)


family_theorem(
    "geometric-zcdp",
    title="Geometric noise as zCDP",
    formula="ρ = (s - 2r(1-r^s)/(1-r²))/scale, r = e^(-1/scale)",
    notion=Notion.ZCDP,
    given=NOISY,
)(geometric_rho)


family_theorem(
    "geometric-gdp",
    title="Geometric noise as Gaussian DP",
    formula="μ = z(T(n)) + z(T(s+1-n)), n = ⌊(s+1)/2⌋, T(n) = r^n/(1+r)",
    notion=Notion.GDP,
    given=NOISY,
)(geometric_mu)


FORM = FamilyForm(
    name="geometric",
    family=Geometric,
    about="Two-sided geometric noise on whole numbers; its sensitivity is in L1.",
    keys=(noise_key("scale", "The noise n has a mass proportional to e^(-|n|/scale)."),),
    sensitivity=STEPS,
    norm="L1",
    states=("pure",),
    trusted=EXACTLY_DRAWN,
    whole=True,
)
