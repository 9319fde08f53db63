"""Randomized response: its least ρ and μ against 50 digits, for few values and for many."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from mpmath import mp
from reference import orders

from dpcompose.core.mechanisms.randomized_response import RandomizedResponse
from dpcompose.curves.families.randomized_response_loss import KaryResponse

CASES = [(2, "1"), (3, "1"), (4, "1"), (10, "1"), (50, "1.5"), (1000, "0.01"), (10**6, "3")]


@pytest.mark.slow
@pytest.mark.parametrize(("k", "epsilon"), CASES)
def test_rho_is_the_largest_divergence_over_order(k: int, epsilon: str) -> None:
    with mp.workdps(orders.DIGITS):
        x = orders.number(Fraction(epsilon))
        whole = mp.exp(x) + k - 1

        def log_moment(order: Any) -> Any:
            gain = mp.expm1((order - 1) * x) * -mp.expm1(-order * x)
            return mp.log1p(gain * mp.exp(x) / whole)

        truth = orders.largest_ratio(log_moment)
        assert 0 <= orders.excess(KaryResponse(k, Fraction(epsilon)).rho(), truth) < 2e-6


@pytest.mark.parametrize(("k", "epsilon"), CASES)
def test_mu_lies_below_both_breaks(k: int, epsilon: str) -> None:
    with mp.workdps(orders.DIGITS):
        x = orders.number(Fraction(epsilon))
        whole = mp.exp(x) + k - 1
        truth = orders.largest_mu([(1 / whole, 1 - mp.exp(x) / whole)])
        assert 0 <= orders.excess(KaryResponse(k, Fraction(epsilon)).mu(), truth) < 1e-24


def test_rows_answer_by_themselves() -> None:
    one = KaryResponse(4, Fraction(1))
    noise = RandomizedResponse(4, Fraction(1))
    assert noise.rho(Fraction(9)) == 9 * one.rho()
    assert noise.mu(Fraction(9)) == 3 * one.mu()
