"""What an attacker gains, by the worst mechanisms."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from core.theorems.for_readers import advantage, trade_off

F = Fraction


@pytest.mark.parametrize("rate", [F(1, 1000), F(1, 10), F(1, 4), F(1, 2), F(9, 10)])
def test_the_best_test_of_a_randomized_response(rate: Fraction) -> None:
    """Take the outcome that speaks for it, and toss a coin for the other: Neyman and Pearson."""
    alpha, p = float(rate), math.e / (1 + math.e)
    rest = max(0.0, alpha - (1 - p))
    best = min(alpha, 1 - p) / (1 - p) * p + rest / p * (1 - p)
    found = float(trade_off([(F(1), F(0))], rate))
    assert best - 1e-12 <= found <= best + 1e-9


def test_the_advantage_is_the_total_variation() -> None:
    """Of a response tanh(ε/2); with a δ that gives all away 1 - (1 - δ)(1 - tanh)."""
    true = math.tanh(0.5)
    assert true - 1e-12 <= float(advantage([(F(1), F(0))])) <= true + 1e-9
    both = 1 - 0.9 * (1 - true)
    assert float(advantage([(F(1), F(1, 10))])) == pytest.approx(both, abs=1e-9)
    assert advantage([(F(1), F(1, 10)), (F(1), F(0))]) == advantage([(F(1), F(0))])
    assert advantage([(F(0), F(0))]) == 0
