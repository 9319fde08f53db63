"""What each notion says of itself, and conversions by a second way."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from scipy.stats import norm

from dpcompose.core.notions.guarantee import Bound, Guarantee, Quantity, bound_of
from dpcompose.core.notions.notion import Notion, chain, convert, curve

F = Fraction


@pytest.mark.parametrize("notion", Notion)
def test_each_notion_has_its_facts(notion: Notion) -> None:
    facts = notion.facts
    assert facts.symbol in (*facts.parameters, "epsilon")
    assert all(convert(F(n, 3), notion, notion) == F(n, 3) for n in range(4))
    assert notion.amount_of(F(3)) == (9 if facts.squared else 3)


@pytest.mark.parametrize("epsilon", [F(1, 100), F(1), F(5)])
def test_pure_dp_as_the_weaker_notions(epsilon: Fraction) -> None:
    """ρ = ε·tanh(ε/2), and μ with Φ(μ/2) = e^ε/(1 + e^ε): never below, hardly above."""
    x = float(epsilon)
    rho = convert(epsilon, Notion.PURE, Notion.ZCDP)
    assert float(rho) == pytest.approx(x * math.tanh(x / 2), rel=1e-14)
    square = convert(epsilon, Notion.PURE, Notion.GDP)
    mu = 2 * norm.ppf(math.exp(x) / (1 + math.exp(x)))
    assert math.sqrt(square) == pytest.approx(mu, rel=1e-9)
    assert convert(F(3), Notion.GDP, Notion.ZCDP) == F(3, 2)
    with pytest.raises(ValueError, match="no exact conversion"):
        convert(F(1), Notion.ZCDP, Notion.PURE)


def test_losses_along_a_path() -> None:
    steps = [(F(1), 2), (F(4), 1)]
    assert chain(steps, Notion.PURE) == 6
    assert chain(steps, Notion.ZCDP) == 16  # (√1 + √1 + √4)²
    assert chain([(F(1), 1), (math.inf, 1)], Notion.PURE) == math.inf


def test_points_for_people() -> None:
    two = ((F(2), F(1, 10)), (F(8), F(1, 2)))
    assert curve(two, "RDP", "order") == "(2, 0.1)- and (8, 0.5)-RDP"
    three = (*two, (F(16), F(1)))
    assert curve(three, "RDP", "order") == "(2, 0.1)-RDP to (16, 1)-RDP (3 orders)"


def test_certified_losses_and_how_they_are_told() -> None:
    assert bound_of(Quantity(Notion.GDP, F(9, 4))) == Bound(Notion.GDP, F(3, 2))
    up = bound_of(Quantity(Notion.GDP, F(2)))
    assert not up.exact and up.value**2 > 2
    pair = bound_of(Quantity(Notion.APPROX, F(1), F(1, 9), False))
    assert (pair.value, pair.delta, pair.exact, pair.delta_exact) == (F(1), F(1, 9), True, False)
    both = Quantity(Notion.APPROX, F(1), F(1, 9)).plus(Quantity(Notion.APPROX, F(2), F(0), False))
    assert both == Quantity(Notion.APPROX, F(3), F(1, 9), False)
    assert Guarantee(Notion.GDP, F(3)).amount == 9
