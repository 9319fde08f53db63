"""Laplace noise: density e^(-|x|/scale)/(2·scale), sensitivities in L1."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcompose.core.mechanisms.family import (
    BY_FAMILY,
    EXACTLY_DRAWN,
    NOISE,
    NUMBER,
    Family,
    FamilyForm,
    ParameterKey,
    drawn_by,
)
from dpcompose.core.notions.notion import Notion
from dpcompose.core.numbers.exact import (
    MAX_EXPONENT,
    ONE,
    ZERO,
    bits_up,
    exp_up,
    gaussian_mean_up,
    log1p_up,
    note_rounding,
)
from dpcompose.core.numbers.words import number
from dpcompose.core.profile.cumulants import Cumulant, not_below
from dpcompose.core.profile.parts import Bracket, Composition, MechanismLoss
from dpcompose.core.profile.rounding import digits_of, down, mpf_of, up
from dpcompose.core.profile.sizes import least
from dpcompose.core.theorem import Example, Hypothesis, theorem

if TYPE_CHECKING:
    from dpcompose.core.profile.masses import Masses
    from dpcompose.core.profile.transforms import LaplaceTransforms

#: A standard deviation of the loss that none exceeds by much.
_WIDEST = 1.7
#: Covers the rounding of an evaluation in 60 digits.
_MARGIN = Fraction(1, 10**40)


@dataclass(frozen=True, slots=True)
class Laplace(Family):
    """Adds Laplace noise of density e^(-|x|/scale)/(2·scale); sensitivities in L1."""

    scale: Fraction

    def epsilon(self, shift: Fraction) -> Fraction:
        return shift / self.scale

    def rho(self, shift: Fraction) -> Fraction:
        return LaplaceLoss(shift / self.scale).rho() if shift else ZERO

    def mu(self, shift: Fraction) -> Fraction:
        return LaplaceLoss(shift / self.scale).mu()

    def loss(self, shift: Fraction) -> Composition:
        return Composition(((LaplaceLoss(shift / self.scale), 1),))

    def describe(self, shift: Fraction) -> str:
        return f"Laplace noise of scale {number(self.scale)}, sensitivity {number(shift)}"


@dataclass(frozen=True, slots=True)
class LaplaceLoss(MechanismLoss):
    """Laplace noise of scale 1, moved by `shift` = a > 0.

    The loss is +a with P-chance 1/2, -a with chance e^(-a)/2, and between them has the density
    e^(-(a-l)/2)/4.
    """

    shift: Fraction

    def masses(self, step: Fraction) -> Masses:
        from dpcompose.core.profile.discrete import response
        from dpcompose.core.profile.masses import EPS, Masses, bounded, split
        from dpcompose.core.profile.slope import WIDE, slope

        if step > WIDE:
            return response(self.shift, step)
        law = slope(self.shift, 0.25, step)
        low = 0.5 * math.exp(-bounded(self.shift, 700.0)) * (1 + 4 * EPS)
        for index, mass in split(self.shift, 0.5, step) + split(-self.shift, low, step):
            law.p[max(index - law.first, 0)] += mass
        return Masses(step, law.first, law.p * (1 + 4 * EPS), 0.0)

    def cumulant(self) -> Cumulant:
        return Cumulant(_cumulant(not_below(self.shift)))

    def quadratic(self) -> Fraction:
        return ZERO

    def greatest(self) -> Fraction:
        return self.shift

    def rho(self) -> Fraction:
        return laplace_zcdp(self.shift)

    def mu(self) -> Fraction:
        return laplace_gdp(self.shift)

    def transforms(self) -> type[LaplaceTransforms]:
        from dpcompose.core.profile.transforms import LaplaceTransforms

        return LaplaceTransforms

    def least_epsilon(self, delta: Fraction) -> Bracket:
        """a + 2·ln(1-δ), as δ(ε) = 1 - e^((ε-a)/2) (Balle, Barthe and Gaboardi 2018, Theorem 3)."""
        lost = 2 * log1p_up(delta / (1 - delta))
        return Bracket(max(self.shift - lost * (1 - _MARGIN), ZERO), max(self.shift - lost, ZERO))

    def least_delta(self, epsilon: Fraction) -> Bracket:
        from mpmath import mp

        with mp.workdps(60):
            value = -mp.expm1(mpf_of((epsilon - self.shift) / 2))
            return Bracket(min(up(value, _MARGIN), ONE), down(value, _MARGIN))

    def natural_step(self) -> None:
        return None

    def anchor(self) -> Fraction:
        return self.shift

    def spread(self) -> float:
        return least(self.shift, _WIDEST)

    def line(self) -> Fraction:
        return self.shift

    def with_shift(self, shift: Fraction) -> LaplaceLoss:
        return LaplaceLoss(shift)

    def coarse(self, bits: int) -> LaplaceLoss:
        return LaplaceLoss(bits_up(self.shift, bits))

    def dominates(self, other: MechanismLoss) -> bool:
        return False

    def attained(self) -> bool:
        return True

    def describe(self) -> str:
        return f"Laplace noise moved by {number(self.shift)} of its scale"


def _cumulant(shift: float) -> Callable[[float], float]:
    # E = ((1+s)·e^(s·shift) + s·e^(-(1+s)·shift))/(1+2s) (Mironov 2017, Proposition 6).
    def of(s: float) -> float:
        x, both = s * shift, 1 + 2 * s
        if x > 30:
            tail = math.log1p(s / (1 + s) * math.exp(-both * shift))
            return x + math.log1p(-s / both) + tail
        return math.log1p(((1 + s) * _excess(x) + s * _excess(-(1 + s) * shift)) / both)

    return of


def _excess(x: float) -> float:
    """e^x - 1 - x."""
    if abs(x) > 0.5:
        return math.expm1(x) - x
    term = 1.0
    for n in range(17, 2, -1):
        term = 1 + term * x / n
    return term * x * x / 2


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
    from mpmath import mp

    with mp.workdps(60 + max(0, -digits_of(shift))):
        value = mpf_of(shift) + mp.expm1(-mpf_of(shift))
        note_rounding()
        return min(shift * shift / 2, up(value, _MARGIN))


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
    half = shift / 2
    # ln 2 is below 7/10.
    far = half > MAX_EXPONENT
    epsilon = half + Fraction(7, 10) if far else log1p_up(2 * (exp_up(half) - 1))
    return gaussian_mean_up(min(shift, epsilon))


FORM = FamilyForm(
    name="laplace",
    family=Laplace,
    about="Laplace noise on numbers; its sensitivity is in L1.",
    key=ParameterKey("scale", "The noise has density e^(-|x|/scale)/(2·scale).", NOISE, True),
    sensitivity=NUMBER,
    norm="L1",
    relative=False,
    values=False,
    states=("pure",),
    trusted=EXACTLY_DRAWN,
    giving=lambda stated: 1 / stated.value,
)
