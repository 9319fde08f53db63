"""Geometric noise: its least ρ and μ against 50 digits."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from mpmath import mp
from reference import orders

from dpcompose.core.mechanisms.geometric import Geometric
from dpcompose.curves.families.geometric_loss import GeometricLoss

CASES = [(1, "1"), (2, "1"), (3, "0.3"), (7, "5"), (40, "100")]


@pytest.mark.slow
@pytest.mark.parametrize(("shift", "scale"), CASES)
def test_rho_is_the_largest_divergence_over_order(shift: int, scale: str) -> None:
    with mp.workdps(orders.DIGITS):
        rate = 1 / orders.number(Fraction(scale))
        ratio = mp.exp(-rate)

        def log_moment(order: Any) -> Any:
            ends = mp.exp(rate * shift * (order - 1)) + mp.exp(-rate * shift * order)
            inside = mp.fsum(
                mp.exp(-rate * (order * n + (1 - order) * (shift - n))) for n in range(1, shift)
            )
            return mp.log((ends + (1 - ratio) * inside) / (1 + ratio))

        truth = orders.largest_ratio(log_moment)
        found = GeometricLoss(shift, Fraction(scale)).rho()
        assert 0 <= orders.excess(found, truth) < 1e-6


@pytest.mark.parametrize(("shift", "scale"), CASES)
def test_mu_lies_below_every_threshold(shift: int, scale: str) -> None:
    with mp.workdps(orders.DIGITS):
        ratio = mp.exp(-1 / orders.number(Fraction(scale)))
        tails = [ratio**n / (1 + ratio) for n in range(1, shift + 1)]
        truth = orders.largest_mu(zip(tails, tails[::-1], strict=True))
        found = GeometricLoss(shift, Fraction(scale)).mu()
        assert 0 <= orders.excess(found, truth) < 1e-30


def test_extreme_noise() -> None:
    for shift, scale in ((10**9, "10000000"), (1, "1e-400"), (10**30, "1e29"), (3, "1e40")):
        noise = Geometric(Fraction(scale))
        epsilon = noise.epsilon(Fraction(shift))
        assert 0 < noise.rho(Fraction(shift)) <= min(epsilon, epsilon * epsilon / 2)
        assert (noise.mu(Fraction(shift)) or 0) > 0
    assert Geometric(Fraction(1)).rho(Fraction(0)) == Geometric(Fraction(1)).mu(Fraction(0)) == 0
