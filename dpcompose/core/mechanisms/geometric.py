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
from dpcompose.core.theorem import Example, Hypothesis, theorem
from dpcompose.curves import Curve
from dpcompose.curves.families import GeometricLoss, geometric_mu, geometric_rho
from dpcompose.curves.rounding import ZERO, number, tanh_up

if TYPE_CHECKING:
    from dpcompose.core.theorems.touches import ChargedStep


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
    example=Example(
        (1, Fraction(1)),
        tanh_up(Fraction(1, 2)),
        "One step at scale 1 is ρ = tanh(1/2), about 0.46212; two steps are 1.2642, not 1.5232.",
    ),
    statement="""\
    Two-sided geometric noise moved by s steps is ρ-zCDP with ρ = (s - 2r(1-r^s)/(1-r²))/scale,
    rounded up, r = e^(-1/scale), and no smaller ρ will do. For s = 1 it is that of ε = 1/scale. So
    is whatever is (1/scale)-DP, over s steps: no trade-off function of such a mechanism is below
    that of the noise (Dong, Roth and Su 2022, Theorem 2.14).

    Proof. With λ = 1/scale, t = α - 1/2 and w = e^(2λt), e^((α-1)·D_α) is a constant times
    w^(-s/2)·(A·w^s + w^(s-1) + … + w + A), A = 1/(1-r). Times w - 1 the bracket is 0 where
    w^s·(w-r)/(1-rw) = 1. Both factors are inside of the unit circle for |w| < 1 and outside of it
    for |w| > 1: all zeros have |w| = 1, which is t² < 0. As a function of t² it is entire, of order
    1/2 and with negative zeros alone, so that its logarithm is concave in t² by Hadamard's theorem
    and lies below its tangent at t² = 1/4; α(α-1) = t² - 1/4. The slope there is the limit of D_α/α
    as α tends to 1, the mean loss λ(E|N-s| - E|N|).
    """,
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
    example=Example(
        (0, Fraction(1)),
        ZERO,
        "No step is μ = 0. One step at scale 1 is the μ of ε = 1, about 1.2320; two steps are "
        "1.9037, not 2.3580.",
    ),
    statement="""\
    Two-sided geometric noise moved by s steps is μ-GDP with μ = z(T(n)) + z(T(m)), rounded up:
    z(q) = Φ⁻¹(1-q), T(n) = r^n/(1+r), r = e^(-1/scale), n and m the two halves of s + 1 rounded
    down and up. No smaller μ will do. So is whatever is (1/scale)-DP, over s steps.

    Proof. The trade-off function is broken at the thresholds n = 1, …, s, which err with T(n) and
    T(s+1-n), and has straight ends to (0, 1) and (1, 0). The Gaussian one is convex: it lies below
    if it does so at the breaks, so that the least μ is the largest z(T(n)) + z(T(s+1-n)). The slope
    of z(e^-y) in y is Mills' ratio of z, which falls: z(T(n)) is concave in n, and the sum largest
    in the middle.

    T(n) = 1/(1 + e^ε) where e^ε = (1+r)·r^-n - 1: each z is half the μ of a pure ε.
    """,
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
