"""The privacy loss of a mechanism of bounded range, as the exponential mechanism is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcompose.curves.backends.lattice.sizes import WIDEST, double_of
from dpcompose.curves.backends.renyi.cumulants import Cumulant, not_below
from dpcompose.curves.curve import MechanismLoss
from dpcompose.curves.rounding.doubles import FORMULA_MARGIN, digits_of, mpf_of, up
from dpcompose.curves.rounding.exact import bits_up, gaussian_mean_up, note_rounding
from dpcompose.curves.rounding.words import number

if TYPE_CHECKING:
    from dpcompose.curves.backends.lattice.masses import Masses


@dataclass(frozen=True, slots=True)
class BoundedRange(MechanismLoss):
    """A mechanism of bounded range η = `epsilon` > 0: its log odds between two tables differ by at
    most η from outcome to outcome.

    Of all such pairs the profile is largest at δ(ε') = (e^(η/2) - e^(ε'/2))²/(e^η - 1) for |ε'| ≤ η
    (two outcomes, losses t and t-η, with t = (ε'+η)/2).
    """

    epsilon: Fraction

    def masses(self, step: Fraction) -> Masses:
        """Returns a privacy loss distribution that dominates every mechanism of this range.

        A pair with its losses in [t-η, t] has the largest profile if only the ends occur, since
        (x-e^ε')₊ is convex in the odds x; that is (1-e^(t-η))(1-e^(ε'-t))/(1-e^(-η)), largest where
        the two exponentials agree, t = (η+ε')/2. Minus its slope in e^ε' is the Q-mass above, so
        that the loss has the P-density e^(-(η-l)/2)/(2(1-e^(-η))) on [-η, η].
        """
        from dpcompose.curves.backends.lattice.closed_laws import response, slope
        from dpcompose.curves.backends.lattice.masses import bounded
        from dpcompose.curves.backends.lattice.tuning import NATS
        from dpcompose.curves.rounding.doubles import EPS, LEAST

        # Where the density would leave the range of doubles, the loss is taken for an ε-DP one.
        if step > NATS or self.epsilon < LEAST:
            return response(self.epsilon, step)
        whole = -math.expm1(-bounded(self.epsilon, 700.0))
        return slope(self.epsilon, 0.5 / whole * (1 + 8 * EPS), step)

    def cumulant(self) -> Cumulant:
        return Cumulant(_cumulant(not_below(self.epsilon)))

    def greatest(self) -> Fraction:
        return self.epsilon

    def rho(self) -> Fraction:
        return bounded_range_rho(self.epsilon)

    def mu(self) -> Fraction:
        return bounded_range_mu(self.epsilon)

    def anchor(self) -> Fraction:
        return self.epsilon

    def spread(self) -> float:
        return double_of(self.epsilon * Fraction(4, 7), WIDEST)

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
    """Returns ln(sinh(x/2)/(x/2)) for x ≥ 0."""
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


def bounded_range_rho(eta: Fraction) -> Fraction:
    """Returns the least ρ known for which all mechanisms of range `eta` are ρ-zCDP, rounded up."""
    from mpmath import mp

    with mp.workdps(60 + 2 * max(0, -digits_of(eta))):
        x = mpf_of(eta)
        fall, half = -mp.expm1(-x), x / 2
        # ln(sinh(η/2)/(η/2)) = η/2 + ln(1-e^-η) - ln η, coth(η/2) = (1+e^-η)/(1-e^-η).
        value = half + mp.log(fall) - mp.log(x) + half * (2 - fall) / fall - 1
        note_rounding()
        return min(eta * eta / 8, up(value, FORMULA_MARGIN))


def bounded_range_mu(eta: Fraction) -> Fraction:
    """Returns a μ for which all mechanisms of range `eta` are μ-GDP, rounded up."""
    return gaussian_mean_up(eta / 2)
