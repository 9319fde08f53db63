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
from dpcompose.core.theorem import Example, Hypothesis, theorem
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
    example=Example(
        (Fraction(0),), Fraction(0), "a = 0 is ρ = 0. a = 1 is ρ = 1/e, about 0.36788, not 0.46212."
    ),
    statement="""\
    Laplace noise moved by a times its scale is ρ-zCDP with ρ = a + e^-a - 1, rounded up, and no
    smaller ρ will do. For a = 1 that is 0.3679, where 1-DP alone is 0.4621.

    Proof. With t = α - 1/2, (α-1)·D_α = ln F(t²) - a/2, F(s) = cosh(a√s) + sinh(a√s)/(2√s)
    (Mironov 2017, Proposition 6). F is entire in s, of order 1/2. Where F(s) = 0, the function
    u(x) = cosh(x√s) + sinh(x√s)/(2√s) solves u'' = su on [0, a] with u(0) = 1, u'(0) = 1/2 and
    u(a) = 0. That problem is self-adjoint, so that all zeros s are real; for s ≥ 0, F is above 0.
    By Hadamard's theorem F(s) = F(0)·Π(1 + s/s_n) with all s_n > 0, and ln F is concave on s ≥ 0.
    It lies below its tangent at s = 1/4, where (α-1)·D_α is 0, and α(α-1) = s - 1/4. The slope
    there is the limit of D_α/α as α tends to 1: the mean loss, a + e^-a - 1.

    In several coordinates a is the sum of the shifts (L1): this ρ is convex in a and 0 at 0, so
    that one coordinate with all of a is the worst.
    """,
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
    example=Example((Fraction(0),), Fraction(0), "a = 0 is μ = 0. a = 1 is μ about 1.0301."),
    statement="""\
    Laplace noise moved by a times its scale is μ-GDP with μ = 2Φ⁻¹(1 - e^(-a/2)/2), rounded up,
    and no smaller μ will do. For a = 1 that is 1.0301, where 1-DP alone is 1.2320.

    Proof. A threshold x of the way errs with e^-x/2 and e^(x-a)/2, 0 ≤ x ≤ a, and beyond these the
    trade-off function has two straight ends, to (0, 1) and (1, 0), where the Gaussian one is too:
    convex, it lies below them if it does so where they begin. So the least μ is the largest
    z(e^-x/2) + z(e^(x-a)/2), z(q) = Φ⁻¹(1-q). By Mills' ratio m(z) = (1-Φ(z))/φ(z), which falls,
    the slope of z(e^-y/2) in y is m(z), and z rises with y: z(e^-y/2) is concave in y, and the sum
    is largest in the middle, at x = a/2.

    It is the μ of a pure ε with 1/(1 + e^ε) = e^(-a/2)/2.
    """,
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
