"""Two-sided geometric noise (discrete Laplace): mass proportional to e^(-|n|/scale)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcompose.core.mechanisms.family import (
    BY_FAMILY,
    EXACTLY_DRAWN,
    NOISE,
    STEPS,
    Family,
    FamilyForm,
    FormKey,
    Sort,
    drawn_by,
)
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Hypothesis, theorem
from dpcompose.curves import Curve
from dpcompose.curves.families import GeometricLoss, geometric_mu, geometric_rho
from dpcompose.curves.rounding import ZERO, number

if TYPE_CHECKING:
    from dpcompose.core.theorems.setting import ChargedStep


@dataclass(frozen=True, slots=True)
class Geometric(Family):
    """Adds to whole numbers noise of mass proportional to e^(-|n|/scale); sensitivities in L1."""

    scale: Fraction

    def epsilon(self, shift: Fraction) -> Fraction:
        return shift / self.scale

    def rho(self, shift: Fraction) -> Fraction:
        return geometric_zcdp(math.ceil(shift), self.scale) if shift else ZERO

    def mu(self, shift: Fraction) -> Fraction:
        return geometric_gdp(math.ceil(shift), self.scale) if shift else ZERO

    def loss(self, shift: Fraction) -> Curve:
        return Curve(((self._shifted(shift), 1),))

    def _shifted(self, shift: Fraction) -> GeometricLoss:
        """Returns the loss at a shift, rounded up to whole steps."""
        return GeometricLoss(math.ceil(shift), self.scale)

    def describe(self, shift: Fraction) -> str:
        return f"geometric noise of scale {number(self.scale)}, sensitivity {number(shift)}"


def _geometric(touch: ChargedStep) -> None:
    """Accepts geometric noise, or a pure guarantee over several steps, which loses no more.

    Raises Refused for any other mechanism.
    """
    guarantee = touch.first.statement.guarantee
    steps = sum(each or 0 for each in touch.steps)
    if guarantee.noise is not None or guarantee.notion is not Notion.PURE or steps < 2:
        drawn_by(Geometric)(touch)


NOISY = Hypothesis(
    "geometric noise",
    "noise n of mass proportional to e^(-|n|/scale) is drawn for each whole number, and a change "
    "moves them by at most s in all (L1); or the mechanism is (1/scale)-DP, and the change is s "
    "steps",
    "declared",
    test=_geometric,
)


@theorem(
    "geometric-zcdp",
    title="Geometric noise as zCDP",
    place="Documentation",
    source="dpcompose",
    formula="ρ = (s - 2r(1-r^s)/(1-r²))/scale, r = e^(-1/scale)",
    notion=Notion.ZCDP,
    uses=BY_FAMILY,
    hypotheses=(NOISY,),
)
def geometric_zcdp(shift: int, scale: Fraction) -> Fraction:
    """Returns the least ρ of geometric noise of a scale moved by `shift` steps, rounded up."""
    return geometric_rho(shift, scale)


@theorem(
    "geometric-gdp",
    title="Geometric noise as Gaussian DP",
    place="Documentation",
    source="dpcompose",
    formula="μ = z(T(n)) + z(T(s+1-n)), n = ⌊(s+1)/2⌋, T(n) = r^n/(1+r)",
    notion=Notion.GDP,
    uses=BY_FAMILY,
    hypotheses=(NOISY,),
)
def geometric_gdp(shift: int, scale: Fraction) -> Fraction:
    """Returns the least μ of geometric noise of a scale moved by `shift` steps, rounded up."""
    return geometric_mu(shift, scale)


FORM = FamilyForm(
    name="geometric",
    family=Geometric,
    about="Two-sided geometric noise on whole numbers; its sensitivity is in L1.",
    keys=(
        FormKey(
            "scale",
            Sort.NUMBER,
            "The noise n has a mass proportional to e^(-|n|/scale).",
            need=NOISE,
            noise=True,
        ),
    ),
    sensitivity=STEPS,
    norm="L1",
    states=("pure",),
    trusted=EXACTLY_DRAWN,
    whole=True,
)
