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
from dpcompose.core.theorem import Example, Hypothesis, theorem
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
    example=Example(
        (Fraction(1, 10**30),),
        Fraction(1, 8 * 10**60),
        "A small η is ρ = η²/8. η = 1 is 0.12330, and η = 4 is 1.6699, where η²/8 is 2.",
    ),
    statement="""\
    A mechanism whose log odds have a range of η is ρ-zCDP with
    ρ = ln(sinh(η/2)/(η/2)) + (η/2)·coth(η/2) - 1, rounded up: a little below η²/8, and no more
    than about η for large η. No smaller ρ holds for all of them.

    Proof. The largest D_α is that of two outcomes, with losses t and t - η. At the best t,
    (α-1)·D_α = αψ(αη) - (α-1)ψ((α-1)η) - ψ(η), ψ(x) = ln(sinh(x/2)/(x/2)). With g(x) = xψ(ηx) that
    is the integral of g''(x) over u ≤ x ≤ u+1 and 0 ≤ u ≤ α-1. Since ψ'(y)/y = Σ 2/(y²+4π²n²),
    g''(x)/x falls, so that its mean over [u, u+1] with weights x is at most that over [0, 1]: the
    limit of D_α/α as α tends to 1, ψ(η) + ηψ'(η).
    """,
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
    example=Example(
        (Fraction(0),), Fraction(0), "η = 0 is μ = 0. η = 1 is 0.62390, where ε = 1 is 1.2320."
    ),
    statement="""\
    A mechanism whose log odds have a range of η is μ-GDP with μ = 2Φ⁻¹(e^(η/2)/(1 + e^(η/2))),
    rounded up: that of a pure ε of η/2. No smaller μ holds for all of them.

    Proof. The profile is at most that of a pair of two outcomes, with losses t and t - η, for some
    t in [0, η]. The trade-off function of such a pair is broken at one point, (q(t), q(η-t)), so
    that its least μ is z(q(t)) + z(q(η-t)), z(q) = Φ⁻¹(1-q). Write q(t) = 1/(1 + e^v) and ψ(v) = z;
    v = η/2 + w with w = ln sinh(t/2) - ln sinh((η-t)/2), and η - t has -w. ψ is odd. If it is
    concave on v ≥ 0, its slope falls with |v|, and ψ(η/2+w) + ψ(η/2-w) is largest at w = 0.

    ψ is concave there if zΦ(z)Φ(-z) ≤ φ(z)(Φ(z) - Φ(-z)) for z ≥ 0. The difference is 0 at z = 0
    and in the limit, and its derivative is 2φ² - Φ(z)Φ(-z). In 2φ²/(Φ(z)Φ(-z)), which is 4/π at 0
    and tends to 0, the logarithm has the derivative h(z) - h(-z) - 2z, h = φ/Φ(-z), which is 0 at 0
    and falls, as the slope of h is below 1. So the difference rises first and falls then.
    """,
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
