"""The exponential mechanism: a choice with weights e^(ε·score/(2Δ)); the loss has a range of ε."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dpcompose.core.mechanisms.family import FamilyForm, drawn_by, family_theorem
from dpcompose.core.notions.concrete_mechanism import EqualLosses
from dpcompose.core.notions.notion import Notion
from dpcompose.core.numbers.form_keys import FormKey, Need, Sort
from dpcompose.core.theorem import Assumption
from dpcompose.curves.families import BoundedRange, bounded_range_mu, bounded_range_rho
from dpcompose.curves.rounding import number


@dataclass(frozen=True, slots=True)
class Exponential(EqualLosses):
    """A choice with weights e^(ε·u/(2Δ)): the log odds of any two tables have a range of ε.

    Sensitivities are in units of Δ: a shift of 1 is a range of `range`.
    """

    FORMULAS: ClassVar[dict[Notion, str]] = {
        Notion.PURE: "r * s",
        Notion.ZCDP: "min((r * s) ** 2 / 8, ln(sinh(r * s / 2) / (r * s / 2))"
        " + (r * s / 2) / tanh(r * s / 2) - 1)",
        Notion.GDP: "(2 * normal_quantile(exp(r * s / 2) / (1 + exp(r * s / 2)))) ** 2",
    }
    range: Fraction

    def parameters(self, shift: Fraction) -> dict[str, Any]:
        return {"r": self.range}

    def part(self, shift: Fraction) -> BoundedRange:
        return BoundedRange(self.epsilon(shift))

    def epsilon(self, shift: Fraction) -> Fraction:
        """Returns the range of the loss at a shift, a multiple of Δ, which is also an ε of pure
        DP."""
        return self.range * shift

    def describe(self, shift: Fraction) -> str:
        return f"exponential mechanism of range {number(self.epsilon(shift))}"


RANGE = drawn_by("bounded range", Exponential)


family_theorem(
    "exponential-zcdp",
    title="Exponential mechanism as zCDP",
    formula="ρ = ln(sinh(η/2)/(η/2)) + (η/2)·coth(η/2) - 1",
    notion=Notion.ZCDP,
    given=RANGE,
)(bounded_range_rho)


family_theorem(
    "exponential-gdp",
    title="Exponential mechanism as Gaussian DP",
    formula="μ = 2 · Φ⁻¹(e^(η/2)/(1 + e^(η/2)))",
    notion=Notion.GDP,
    given=RANGE,
)(bounded_range_mu)


FORM = FamilyForm(
    name="exponential",
    family=Exponential,
    about="A choice with weights that grow with a score.",
    keys=(
        FormKey("epsilon", Sort.NUMBER, "Its range: weights e^(epsilon·score/(2·sensitivity))."),
    ),
    sensitivity=Need(
        "above 0",
        "DPC114",
        "the weights are e^(epsilon·score/(2·sensitivity))",
        lambda value: value > 0,
    ),
    relative=True,
    states=("pure",),
    trusted=Assumption(
        "{}: outcomes are chosen with exactly the weights of the exponential mechanism"
    ),
)
