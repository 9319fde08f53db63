"""The exponential mechanism: its least ρ and μ against 50 digits."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from mpmath import mp
from reference import orders

from dpcompose.curves.families.exponential_loss import BoundedRange

RANGES = [Fraction(x) for x in ("0.001", "0.1", "1", "4", "30")]


@pytest.mark.parametrize("eta", RANGES)
def test_rho_is_the_largest_divergence_over_order(eta: Fraction) -> None:
    with mp.workdps(orders.DIGITS):
        x = orders.number(eta)

        def psi(y: Any) -> Any:
            return mp.log(mp.sinh(y / 2) / (y / 2))

        def log_moment(order: Any) -> Any:
            return order * psi(order * x) - (order - 1) * psi((order - 1) * x) - psi(x)

        truth = orders.largest_ratio(log_moment)
        assert 0 <= orders.excess(BoundedRange(eta).rho(), truth) < 1e-6
        assert BoundedRange(eta).rho() <= eta * eta / 8


@pytest.mark.slow
@pytest.mark.parametrize("eta", RANGES)
def test_mu_covers_every_pair_of_outcomes(eta: Fraction) -> None:
    with mp.workdps(orders.DIGITS):
        x = orders.number(eta)

        def errs(t: Any) -> Any:
            return (mp.exp(-t) - mp.exp(-x)) / (1 - mp.exp(-x))

        tries = [x * n / 100 for n in range(1, 100)]
        truth = orders.largest_mu((errs(t), errs(x - t)) for t in tries)
        assert 0 <= orders.excess(BoundedRange(eta).mu(), truth) < 1e-30
