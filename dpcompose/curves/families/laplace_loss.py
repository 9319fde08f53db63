"""The privacy loss of Laplace noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcompose.curves.backends.lattice.sizes import WIDEST, double_of
from dpcompose.curves.backends.renyi.cumulants import Cumulant, not_below
from dpcompose.curves.curve import Certified, MechanismLoss
from dpcompose.curves.rounding.doubles import FORMULA_MARGIN, digits_of, down, mpf_of, up
from dpcompose.curves.rounding.exact import (
    MAX_EXPONENT,
    ONE,
    ZERO,
    bits_up,
    exp_up,
    gaussian_mean_up,
    log1p_up,
    note_rounding,
)
from dpcompose.curves.rounding.words import number

if TYPE_CHECKING:
    from dpcompose.curves.backends.lattice.masses import Masses
    from dpcompose.curves.backends.vertical_line.transforms import LaplaceTransforms


@dataclass(frozen=True, slots=True)
class LaplaceLoss(MechanismLoss):
    """Laplace noise of scale 1, moved by `shift` = a > 0.

    The loss is +a with P-chance 1/2, -a with chance e^(-a)/2, and between them has the density
    e^(-(a-l)/2)/4.
    """

    shift: Fraction

    def masses(self, step: Fraction) -> Masses:
        from dpcompose.curves.backends.lattice.closed_laws import response, slope
        from dpcompose.curves.backends.lattice.masses import Masses, bounded, split
        from dpcompose.curves.backends.lattice.tuning import NATS
        from dpcompose.curves.rounding.doubles import EPS

        if step > NATS:
            return response(self.shift, step)
        law = slope(self.shift, 0.25, step)
        low = 0.5 * math.exp(-bounded(self.shift, 700.0)) * (1 + 4 * EPS)
        for index, mass in split(self.shift, 0.5, step) + split(-self.shift, low, step):
            law.p[max(index - law.first, 0)] += mass
        return Masses(step, law.first, law.p * (1 + 4 * EPS), 0.0)

    def cumulant(self) -> Cumulant:
        return Cumulant(_cumulant(not_below(self.shift)))

    def greatest(self) -> Fraction:
        return self.shift

    def rho(self) -> Fraction:
        return laplace_rho(self.shift)

    def mu(self) -> Fraction:
        return laplace_mu(self.shift)

    def transforms(self) -> type[LaplaceTransforms]:
        from dpcompose.curves.backends.vertical_line.transforms import LaplaceTransforms

        return LaplaceTransforms

    def least_epsilon(self, delta: Fraction) -> Certified:
        """Returns a + 2·ln(1-δ), as δ(ε) = 1 - e^((ε-a)/2) (Balle, Barthe and Gaboardi 2018,
        Theorem 3)."""
        lost = 2 * log1p_up(delta / (1 - delta))
        return Certified(
            max(self.shift - lost * (1 - FORMULA_MARGIN), ZERO), max(self.shift - lost, ZERO)
        )

    def least_delta(self, epsilon: Fraction) -> Certified:
        from mpmath import mp

        with mp.workdps(60):
            value = -mp.expm1(mpf_of((epsilon - self.shift) / 2))
            return Certified(min(up(value, FORMULA_MARGIN), ONE), down(value, FORMULA_MARGIN))

    def anchor(self) -> Fraction:
        return self.shift

    def spread(self) -> float:
        return double_of(self.shift, WIDEST)

    def line(self) -> Fraction:
        return self.shift

    def with_shift(self, shift: Fraction) -> LaplaceLoss:
        return LaplaceLoss(shift)

    def coarse(self, bits: int) -> LaplaceLoss:
        return LaplaceLoss(bits_up(self.shift, bits))

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
    """Returns e^x - 1 - x."""
    if abs(x) > 0.5:
        return math.expm1(x) - x
    term = 1.0
    for n in range(17, 2, -1):
        term = 1 + term * x / n
    return term * x * x / 2


def laplace_rho(shift: Fraction) -> Fraction:
    """Returns the ρ of Laplace noise of scale 1, a - 1 + e^-a with a = `shift`, rounded up."""
    from mpmath import mp

    with mp.workdps(60 + max(0, -digits_of(shift))):
        value = mpf_of(shift) + mp.expm1(-mpf_of(shift))
        note_rounding()
        return min(shift * shift / 2, up(value, FORMULA_MARGIN))


def laplace_mu(shift: Fraction) -> Fraction:
    """Returns the least μ known for which Laplace noise of scale 1 is μ-GDP, rounded up."""
    half = shift / 2
    # ln 2 is below 7/10.
    far = half > MAX_EXPONENT
    epsilon = half + Fraction(7, 10) if far else log1p_up(2 * (exp_up(half) - 1))
    return gaussian_mean_up(min(shift, epsilon))
