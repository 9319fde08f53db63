"""The exponential mechanism: a choice with weights e^(ε·score/(2Δ)); the loss has a range of ε."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcompose.core.mechanisms.family import (
    BY_FAMILY,
    NUMBER,
    Family,
    FamilyForm,
    Need,
    ParameterKey,
    Trusted,
    drawn_by,
)
from dpcompose.core.notions.notion import Notion
from dpcompose.core.numbers.exact import ZERO, bits_up, gaussian_mean_up, note_rounding
from dpcompose.core.numbers.words import number
from dpcompose.core.profile.cumulants import Cumulant, not_below
from dpcompose.core.profile.parts import Composition, MechanismLoss
from dpcompose.core.profile.rounding import digits_of, mpf_of, up
from dpcompose.core.profile.sizes import least
from dpcompose.core.theorem import Example, Hypothesis, theorem

if TYPE_CHECKING:
    from dpcompose.core.profile.masses import Masses

#: A standard deviation of the loss that none exceeds by much.
_WIDEST = 2.0
#: Below this, floats would lose digits.
_TINY = Fraction(1, 10**290)
#: Covers the rounding of an evaluation in 60 digits.
_MARGIN = Fraction(1, 10**40)


@dataclass(frozen=True, slots=True)
class Exponential(Family):
    """Chooses with weights e^(ε·u/(2Δ)): the log odds of any two tables have a range of ε.

    Sensitivities are in units of Δ: a shift of 1 is a range of `range`.
    """

    range: Fraction

    def epsilon(self, shift: Fraction) -> Fraction:
        """The range is an ε too."""
        return self.range * shift

    def rho(self, shift: Fraction) -> Fraction:
        return BoundedRange(self.epsilon(shift)).rho() if shift and self.range else ZERO

    def mu(self, shift: Fraction) -> Fraction:
        return BoundedRange(self.epsilon(shift)).mu()

    def loss(self, shift: Fraction) -> Composition:
        return Composition(((BoundedRange(self.epsilon(shift)), 1),))

    def describe(self, shift: Fraction) -> str:
        return f"exponential mechanism of range {number(self.epsilon(shift))}"


@dataclass(frozen=True, slots=True)
class BoundedRange(MechanismLoss):
    """The log odds between two tables have a range of `epsilon` = η > 0.

    Of all such pairs the profile is largest at δ(ε') = (e^(η/2) - e^(ε'/2))²/(e^η - 1) for
    |ε'| ≤ η (two outcomes, losses t and t-η, with t = (ε'+η)/2).
    """

    epsilon: Fraction

    def masses(self, step: Fraction) -> Masses:
        """A pair with its losses in [t-η, t] has the largest profile if only the ends occur, since
        (x-e^ε')₊ is convex in the odds x; that is (1-e^(t-η))(1-e^(ε'-t))/(1-e^(-η)), largest where
        the two exponentials agree, t = (η+ε')/2. Minus its slope in e^ε' is the Q-mass above, so
        that the loss has the P-density e^(-(η-l)/2)/(2(1-e^(-η))) on [-η, η].
        """
        from dpcompose.core.profile.discrete import response
        from dpcompose.core.profile.masses import EPS, bounded
        from dpcompose.core.profile.slope import WIDE, slope

        if step > WIDE or self.epsilon < _TINY:
            return response(self.epsilon, step)
        whole = -math.expm1(-bounded(self.epsilon, 700.0))
        return slope(self.epsilon, 0.5 / whole * (1 + 8 * EPS), step)

    def cumulant(self) -> Cumulant:
        return Cumulant(_cumulant(not_below(self.epsilon)))

    def quadratic(self) -> Fraction:
        return ZERO

    def greatest(self) -> Fraction:
        return self.epsilon

    def rho(self) -> Fraction:
        return exponential_zcdp(self.epsilon)

    def mu(self) -> Fraction:
        return exponential_gdp(self.epsilon)

    def natural_step(self) -> None:
        return None

    def anchor(self) -> Fraction:
        return self.epsilon

    def spread(self) -> float:
        return least(self.epsilon * Fraction(4, 7), _WIDEST)

    def line(self) -> None:
        return None

    def with_shift(self, shift: Fraction) -> BoundedRange:
        return BoundedRange(shift)

    def coarse(self, bits: int) -> BoundedRange:
        return BoundedRange(bits_up(self.epsilon, bits))

    def dominates(self, other: MechanismLoss) -> bool:
        return isinstance(other, BoundedRange) and self.epsilon >= other.epsilon

    def attained(self) -> bool:
        return False

    def describe(self) -> str:
        return f"an exponential mechanism of range {number(self.epsilon)}"


def _log_sinhc(x: float) -> float:
    """ln(sinh(x/2)/(x/2)) for x ≥ 0."""
    if x > 1:
        return x / 2 + math.log1p(-math.exp(-x)) - math.log(x)
    square, term = x * x / 4, 1.0
    for n in range(8, 1, -1):
        term = 1 + term * square / (2 * n * (2 * n + 1))
    return math.log1p(term * square / 6)


def _cumulant(eta: float) -> Callable[[float], float]:
    # The ratio dP/dQ lies in [e^(t-η), e^t] for some t. Of all such with mean 1 a convex function
    # of it is largest for two outcomes, at the ends; the best t is e^t = e^η·φ(αη)/φ(sη) with
    # φ(x) = (1-e^-x)/x, and gives K = αψ(αη) - sψ(sη) - ψ(η) with ψ = _log_sinhc.
    def of(s: float) -> float:
        alpha = 1 + s
        most = min(s * eta, alpha * s * eta * eta / 8)
        terms = alpha * _log_sinhc(alpha * eta), s * _log_sinhc(s * eta), _log_sinhc(eta)
        found = terms[0] - terms[1] - terms[2] + 1e-14 * terms[0]
        # The difference of large terms may be lost in rounding (or not a number).
        return found if found < most else most

    return of


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
    from mpmath import mp

    with mp.workdps(60 + 2 * max(0, -digits_of(eta))):
        x = mpf_of(eta)
        fall, half = -mp.expm1(-x), x / 2
        # ln(sinh(η/2)/(η/2)) = η/2 + ln(1-e^-η) - ln η, coth(η/2) = (1+e^-η)/(1-e^-η).
        value = half + mp.log(fall) - mp.log(x) + half * (2 - fall) / fall - 1
        note_rounding()
        return min(eta * eta / 8, up(value, _MARGIN))


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
    return gaussian_mean_up(eta / 2)


FORM = FamilyForm(
    name="exponential",
    family=Exponential,
    about="A choice with weights that grow with a score.",
    key=ParameterKey(
        "epsilon", "Its range: weights e^(epsilon·score/(2·sensitivity)).", NUMBER, noise=False
    ),
    norm=None,
    sensitivity=Need(
        "above 0",
        "DPC114",
        "the weights are e^(epsilon·score/(2·sensitivity))",
        lambda value: value > 0,
    ),
    relative=True,
    values=False,
    states=("pure",),
    trusted=Trusted(
        "{}: outcomes are chosen with exactly the weights of the exponential mechanism"
    ),
)
