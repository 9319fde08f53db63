"""The privacy loss of randomized response with k values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from dpcompose.curves.backends.lattice.sizes import RESPONSE, double_of
from dpcompose.curves.backends.renyi.cumulants import Cumulant, not_below, of_response
from dpcompose.curves.backends.renyi.largest import largest_ratio
from dpcompose.curves.curve import MechanismLoss
from dpcompose.curves.rounding.exact import (
    MAX_EXPONENT,
    ZERO,
    bits_up,
    exp_up,
    gaussian_mean_up,
    log1p_up,
    tanh_up,
)
from dpcompose.curves.rounding.words import number

if TYPE_CHECKING:
    from dpcompose.curves.backends.lattice.masses import Masses


#: More than what is rounded up in a quantile of the normal law, relatively.
_SLIGHTLY = Fraction(1, 10**30)


@dataclass(frozen=True, slots=True)
class KaryResponse(MechanismLoss):
    """Randomized response over `k` ≥ 2 values: loss +ε, -ε, or 0 (another value came out)."""

    k: int
    epsilon: Fraction

    def masses(self, step: Fraction) -> Masses:
        from dpcompose.curves.backends.lattice.discrete import kary_response

        return kary_response(self.k, self.epsilon, step)

    def cumulant(self) -> Cumulant:
        return Cumulant(of_response(self.k, not_below(self.epsilon)))

    def quadratic(self) -> Fraction:
        return ZERO

    def greatest(self) -> Fraction:
        return self.epsilon

    def rho(self) -> Fraction:
        return kary_rho(self.k, self.epsilon)

    def mu(self) -> Fraction:
        return kary_mu(self.k, self.epsilon)

    def natural_step(self) -> Fraction:
        return self.epsilon

    def anchor(self) -> Fraction:
        return self.epsilon

    def spread(self) -> float:
        odds = math.exp(double_of(self.epsilon, 700))
        share = (odds + 1) / (odds + min(self.k, 1e300) - 1)
        return double_of(self.epsilon, RESPONSE) * math.sqrt(share)

    def line(self) -> None:
        return None

    def with_shift(self, shift: Fraction) -> KaryResponse:
        return KaryResponse(self.k, shift)

    def coarse(self, bits: int) -> KaryResponse:
        return KaryResponse(self.k, bits_up(self.epsilon, bits))

    def dominates(self, other: MechanismLoss) -> bool:
        return False

    def attained(self) -> bool:
        return True

    def describe(self) -> str:
        return f"{self.k}-ary randomized response of ε = {number(self.epsilon)}"


@lru_cache(maxsize=256)
def _largest(k: int, epsilon: Fraction) -> Fraction:
    """No divergence exceeds ε."""
    least = not_below(epsilon)
    return largest_ratio(of_response(k, least), lambda ratio: least / ratio)


def kary_rho(k: int, epsilon: Fraction) -> Fraction:
    x = epsilon
    pure = x * tanh_up(x / 2)
    if k == 2 or x > MAX_EXPONENT:
        return pure
    if (k - 2) ** 2 <= 4 * (1 + x + x**2 / 2 + x**3 / 6):
        odds = exp_up(x)
        return min(pure, x * (odds - 1) / (odds + k - 1))
    return min(pure, _largest(k, x))


def kary_mu(k: int, epsilon: Fraction) -> Fraction:
    found = gaussian_mean_up(epsilon)
    if k == 2 or epsilon > MAX_EXPONENT or not epsilon:
        return found
    odds = exp_up(epsilon)
    near = gaussian_mean_up(log1p_up(odds + k - 3))
    if odds > k - 1:
        # 1-p = 1/(1+e^(ε-ln(k-1))).
        return min(found, (near + gaussian_mean_up(log1p_up(odds / (k - 1) - 1))) / 2)
    # p = 1/(1+e^x) for e^x = (k-1)/e^ε: rounded down, as it is taken away.
    far = gaussian_mean_up(log1p_up((k - 1) / odds - 1) * (1 - _SLIGHTLY))
    return min(found, (near - far * (1 - _SLIGHTLY)) / 2)
