"""What an attacker gains and what a filter leaves, by the worst mechanisms and by sums."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from core.theorems.for_readers import (
    advantage,
    approx_filter,
    gdp_filter,
    left,
    pure_filter,
    success,
    trade_off,
    zcdp_filter,
    zcdp_filter_aside,
)

F = Fraction


@pytest.mark.parametrize("rate", [F(1, 1000), F(1, 10), F(1, 4), F(1, 2), F(9, 10)])
def test_the_best_test_of_a_randomized_response(rate: Fraction) -> None:
    """Take the outcome that speaks for it, and toss a coin for the other: Neyman and Pearson."""
    alpha, p = float(rate), math.e / (1 + math.e)
    rest = max(0.0, alpha - (1 - p))
    best = min(alpha, 1 - p) / (1 - p) * p + rest / p * (1 - p)
    found = float(trade_off([(F(1), F(0))], rate))
    assert best - 1e-12 <= found <= best + 1e-9
    assert float(success([(F(1), F(0))], rate)) == pytest.approx(found, abs=1e-15)


def test_the_advantage_is_the_total_variation() -> None:
    """Of a response tanh(ε/2); with a δ that gives all away 1 - (1 - δ)(1 - tanh)."""
    true = math.tanh(0.5)
    assert true - 1e-12 <= float(advantage([(F(1), F(0))])) <= true + 1e-9
    both = 1 - 0.9 * (1 - true)
    assert float(advantage([(F(1), F(1, 10))])) == pytest.approx(both, abs=1e-9)
    assert advantage([(F(1), F(1, 10)), (F(1), F(0))]) == advantage([(F(1), F(0))])
    assert advantage([(F(0), F(0))]) == 0


def test_filters_leave_what_is_not_spent() -> None:
    losses = [F(1, 2), F(1, 3)]
    for each in (left, pure_filter, zcdp_filter, gdp_filter):
        assert each(losses, F(1)) == F(1, 6)
        assert each(losses, F(5, 6)) == 0 and each(losses, F(4, 5)) is None
    pairs = [(F(1, 2), F(1, 100)), (F(1, 3), F(0))]
    for both in (approx_filter, zcdp_filter_aside):
        assert both(pairs, (F(1), F(1, 50))) == (F(1, 6), F(1, 100))
        assert both(pairs, (F(1), F(1, 200))) is None and both(pairs, (F(1, 2), F(1))) is None
