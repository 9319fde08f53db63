"""The exponential mechanism: a choice with weights e^(ε·score/(2Δ)); the loss has a range of ε."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpcompose.core.mechanisms.family import (
    BY_FAMILY,
    Family,
    FamilyForm,
    FormKey,
    Need,
    Sort,
    Trusted,
    drawn_by,
)
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Hypothesis, theorem
from dpcompose.curves import Curve
from dpcompose.curves.families import BoundedRange, bounded_range_mu, bounded_range_rho
from dpcompose.curves.rounding import ZERO, number


@dataclass(frozen=True, slots=True)
class Exponential(Family):
    """A choice with weights e^(ε·u/(2Δ)): the log odds of any two tables have a range of ε.

    Sensitivities are in units of Δ: a shift of 1 is a range of `range`.
    """

    range: Fraction

    def epsilon(self, shift: Fraction) -> Fraction:
        """Returns the range of the loss at a shift, which is also an ε of pure DP."""
        return self.range * shift

    def rho(self, shift: Fraction) -> Fraction:
        return exponential_zcdp(self.epsilon(shift)) if shift and self.range else ZERO

    def mu(self, shift: Fraction) -> Fraction:
        return exponential_gdp(self.epsilon(shift))

    def loss(self, shift: Fraction) -> Curve:
        return Curve(((BoundedRange(self.epsilon(shift)), 1),))

    def describe(self, shift: Fraction) -> str:
        return f"exponential mechanism of range {number(self.epsilon(shift))}"


RANGE = Hypothesis(
    "bounded range",
    "ln P(x)/Q(x) lies, for two neighbouring tables, between two numbers η apart",
    "declared",
    test=drawn_by(Exponential),
)


@theorem(
    "exponential-zcdp",
    title="Exponential mechanism as zCDP",
    place="Documentation",
    source="dpcompose",
    formula="ρ = ln(sinh(η/2)/(η/2)) + (η/2)·coth(η/2) - 1",
    notion=Notion.ZCDP,
    uses=BY_FAMILY,
    hypotheses=(RANGE,),
)
def exponential_zcdp(eta: Fraction) -> Fraction:
    """Returns the least ρ of all mechanisms whose log odds have a range of `eta`, rounded up."""
    return bounded_range_rho(eta)


@theorem(
    "exponential-gdp",
    title="Exponential mechanism as Gaussian DP",
    place="Documentation",
    source="dpcompose",
    formula="μ = 2 · Φ⁻¹(e^(η/2)/(1 + e^(η/2)))",
    notion=Notion.GDP,
    uses=BY_FAMILY,
    hypotheses=(RANGE,),
)
def exponential_gdp(eta: Fraction) -> Fraction:
    """Returns the least μ of all mechanisms whose log odds have a range of `eta`, rounded up."""
    return bounded_range_mu(eta)


FORM = FamilyForm(
    name="exponential",
    family=Exponential,
    about="A choice with weights that grow with a score.",
    keys=(
        FormKey("epsilon", Sort.NUMBER, "Its range: weights e^(epsilon·score/(2·sensitivity))."),
    ),
    norm=None,
    sensitivity=Need(
        "above 0",
        "DPC114",
        "the weights are e^(epsilon·score/(2·sensitivity))",
        lambda value: value > 0,
    ),
    relative=True,
    states=("pure",),
    trusted=Trusted(
        "{}: outcomes are chosen with exactly the weights of the exponential mechanism"
    ),
)
