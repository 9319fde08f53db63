"""Laplace noise: density e^(-|x|/scale)/(2·scale), sensitivities in L1."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcompose.core.exact import MAX_EXPONENT, exp_up, gaussian_mean_up, log1p_up
from dpcompose.core.mechanisms.family import EXACTLY_DRAWN, NOISE, NUMBER, Family, Form, Key
from dpcompose.core.profile.parts import Composition, MechanismLoss
from dpcompose.core.profile.rounding import digits_of, mpf_of, up
from dpcompose.core.profile.sizes import least
from dpcompose.core.words import number
from dpcompose.values import dataclass

if TYPE_CHECKING:
    from dpcompose.core.profile.cumulants import Cumulant
    from dpcompose.core.profile.masses import Masses

ZERO = Fraction(0)
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
        return LaplaceLoss(shift / self.scale).rho()

    def mu(self, shift: Fraction) -> Fraction:
        return LaplaceLoss(shift / self.scale).mu()

    def loss(self, shift: Fraction) -> Composition:
        return Composition(((LaplaceLoss(shift / self.scale), 1),))

    def says(self, shift: Fraction) -> str:
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
        from dpcompose.core.profile.cumulants import Cumulant, not_below

        return Cumulant(_cumulant(not_below(self.shift)))

    def quadratic(self) -> Fraction:
        return ZERO

    def greatest(self) -> Fraction:
        return self.shift

    def rho(self) -> Fraction:
        """a + e^-a - 1, the limit of D_α/α as α → 1, and the largest (theorem laplace-rho)."""
        from mpmath import mp

        with mp.workdps(60 + max(0, -digits_of(self.shift))):
            value = mpf_of(self.shift) + mp.expm1(-mpf_of(self.shift))
            return min(self.shift * self.shift / 2, up(value, _MARGIN))

    def mu(self) -> Fraction:
        """2Φ⁻¹(1 - e^(-a/2)/2) (theorem laplace-mu), which is what ε = ln(2e^(a/2) - 1) gives."""
        half = self.shift / 2
        # ln 2 is below 7/10.
        far = half > MAX_EXPONENT
        epsilon = half + Fraction(7, 10) if far else log1p_up(2 * (exp_up(half) - 1))
        return gaussian_mean_up(min(self.shift, epsilon))

    def natural_step(self) -> None:
        return None

    def anchor(self) -> Fraction:
        return self.shift

    def spread(self) -> float:
        return least(self.shift, _WIDEST)

    def line(self) -> Fraction:
        return self.shift

    def moved(self, shift: Fraction) -> LaplaceLoss:
        return LaplaceLoss(shift)

    def dominates(self, other: MechanismLoss) -> bool:
        return False

    def attained(self) -> bool:
        return True

    def says(self) -> str:
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


FORM = Form(
    name="laplace",
    family=Laplace,
    about="Laplace noise on numbers.",
    key=Key("scale", "The noise has density e^(-|x|/scale)/(2·scale).", NOISE, True),
    sensitivity=NUMBER,
    relative=False,
    values=False,
    states=("pure",),
    trusted=EXACTLY_DRAWN,
)
