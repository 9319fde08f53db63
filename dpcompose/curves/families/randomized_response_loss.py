"""The privacy loss of randomized response with k values."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcompose.curves.backends.lattice.sizes import WIDEST, double_of
from dpcompose.curves.backends.renyi.cumulants import Cumulant, not_below, of_response
from dpcompose.curves.backends.renyi.largest import largest_ratio
from dpcompose.curves.curve import MechanismLoss
from dpcompose.curves.rounding.doubles import LEAST, MARGIN, WORKING_DIGITS
from dpcompose.curves.rounding.exact import (
    MAX_EXPONENT,
    ZERO,
    bits_up,
    exp_up,
    float_up,
    gaussian_mean_up,
    log1p_up,
    log_inverse_up,
    tanh_up,
)
from dpcompose.curves.rounding.words import number

if TYPE_CHECKING:
    from dpcompose.curves.backends.lattice.masses import Masses


@dataclass(frozen=True, slots=True)
class KaryResponse(MechanismLoss):
    """Randomized response over `k` ≥ 2 values: the loss is +ε, -ε, or 0 where another value came
    out."""

    k: int
    epsilon: Fraction

    def masses(self, step: Fraction) -> Masses:
        from dpcompose.curves.backends.lattice.closed_laws import kary_response

        return kary_response(self.k, self.epsilon, step)

    def cumulant(self) -> Cumulant:
        return Cumulant(of_response(self.k, not_below(self.epsilon)))

    def greatest(self) -> Fraction:
        return self.epsilon

    def rho(self) -> Fraction:
        return kary_rho(self.k, self.epsilon)

    def mu(self) -> Fraction:
        return kary_mu(self.k, self.epsilon)

    def natural_step(self) -> Fraction:
        return self.epsilon

    def spread(self) -> float:
        odds = math.exp(double_of(self.epsilon, 700))
        share = (odds + 1) / (odds + min(self.k, 1e300) - 1)
        return double_of(self.epsilon, WIDEST) * math.sqrt(share)

    def with_shift(self, shift: Fraction) -> KaryResponse:
        return KaryResponse(self.k, shift)

    def coarse(self, bits: int) -> KaryResponse:
        return KaryResponse(self.k, bits_up(self.epsilon, bits))

    def describe(self) -> str:
        return f"{self.k}-ary randomized response of ε = {number(self.epsilon)}"


def _largest(k: int, epsilon: Fraction) -> Fraction:
    """Returns the largest D_α/α over all orders α, rounded up; at large orders it is at most
    ε/α."""
    least = not_below(epsilon)
    return largest_ratio(of_response(k, least), lambda ratio: least / ratio)


def kary_rho(k: int, epsilon: Fraction) -> Fraction:
    """Returns the least ρ known for which randomized response over `k` values is ρ-zCDP, rounded
    up."""
    x = epsilon
    pure = x * tanh_up(x / 2)
    if k == 2 or x > MAX_EXPONENT:
        return pure
    if (k - 2) ** 2 <= 4 * (1 + x + x**2 / 2 + x**3 / 6):  # a lower bound of 4·e^x
        # Of few values D_α/α is largest as α → 1, where it is the mean loss.
        odds = exp_up(x)
        return min(pure, x * (odds - 1) / (odds + k - 1))
    return min(pure, _largest(k, x))


def kary_mu(k: int, epsilon: Fraction) -> Fraction:
    """Returns the least μ known for which randomized response over `k` values is μ-GDP, rounded
    up."""
    found = gaussian_mean_up(epsilon)
    if k == 2 or epsilon > MAX_EXPONENT or not epsilon:
        return found
    odds = exp_up(epsilon)
    near = gaussian_mean_up(log1p_up(odds + k - 3))
    if odds > k - 1:
        # 1-p = 1/(1+e^(ε-ln(k-1))).
        return min(found, (near + gaussian_mean_up(log1p_up(odds / (k - 1) - 1))) / 2)
    # p = 1/(1+e^x) for e^x = (k-1)/e^ε: rounded down, as it is taken away.
    far = gaussian_mean_up(log1p_up((k - 1) / odds - 1) * (1 - MARGIN))
    return min(found, (near - far * (1 - MARGIN)) / 2)


def two_answers_rho(high: Fraction, low: Fraction) -> Fraction:
    """Returns the least ρ of a mechanism with two outcomes, one of which has the chance `high` for
    one table and `low` for the other; rounded up."""
    most = max(log_inverse_up(low / high), log_inverse_up((1 - high) / (1 - low)))
    pure = most * tanh_up(most / 2)
    if min(low, 1 - high, high - low) < LEAST:
        return pure  # its square leaves the range of doubles
    orders = _cumulant(high, low), _cumulant(low, high)

    def greater(s: float) -> float:
        # Convex and 0 at s = 0, as either is.
        return max(each(s) for each in orders)

    return min(pure, largest_ratio(greater, lambda ratio: float_up(most) / ratio))


def _cumulant(one: Fraction, other: Fraction) -> Callable[[float], float]:
    """Returns the function s·D_(1+s) of a mechanism with two outcomes, whose chances are `one` and
    1 - `one` against `other` and 1 - `other`."""
    lost = len(str(int(1 / abs(one - other))))
    # Twice the digits that are lost in the difference of the chances.
    context = Context(prec=WORKING_DIGITS + 2 * lost, Emax=MAX_EMAX, Emin=MIN_EMIN)
    outcomes = []
    for p, q in ((one, other), (1 - one, 1 - other)):
        chance, odds = (context.divide(x.numerator, Decimal(x.denominator)) for x in (p, p / q))
        outcomes.append((chance, context.ln(odds)))

    def of(s: float) -> float:
        total = Decimal(0)
        for chance, loss in outcomes:
            gain = context.exp(context.multiply(Decimal(s), loss))
            total = context.add(total, context.multiply(chance, gain))
        return float(context.ln(total))

    return of


def two_answers_mu(high: Fraction, low: Fraction) -> Fraction:
    """Returns the least μ, Φ⁻¹(high) - Φ⁻¹(low), of a mechanism with two outcomes, one of which has
    the chance `high` for one table and `low` for the other; rounded up."""
    return max(_quantile_up(high) + _quantile_up(1 - low), ZERO)


def _quantile_up(chance: Fraction) -> Fraction:
    """Returns Φ⁻¹ of a chance, rounded up."""
    if chance >= Fraction(1, 2):
        return gaussian_mean_up(log_inverse_up((1 - chance) / chance)) / 2
    odds = log_inverse_up(chance / (1 - chance)) * (1 - MARGIN) - MARGIN
    return -gaussian_mean_up(max(odds, ZERO)) * (1 - MARGIN) / 2
