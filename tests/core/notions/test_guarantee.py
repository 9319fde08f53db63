"""Guarantees of steps, and paths of (ε, δ) steps, worked out by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpcompose.core.notions.guarantee import Guarantee, Quantity
from dpcompose.core.notions.notion import Notion, chain, chain_pairs

F = Fraction
NONE = F(0)


def test_what_adds_up() -> None:
    values = {Notion.PURE: 3, Notion.ZCDP: 3, Notion.GDP: 9}
    for notion, amount in values.items():
        assert Guarantee(notion, F(3)).amount == amount


def test_a_path_through_roots_is_rounded_up() -> None:
    # (√2 + √(1/2))² = 2 + 1/2 + 2·√1 = 9/2.
    found = chain([(F(2), 1), (F(1, 2), 1)], Notion.ZCDP)
    assert F(9, 2) <= found <= F(9, 2) * (1 + F(1, 10**40))


def test_a_path_of_steps_with_a_delta() -> None:
    assert chain_pairs([((F(1), F(1, 2)), 1)]) == (F(1), F(1, 2))
    assert chain_pairs([((F(1), NONE), 2), ((F(3), NONE), 1)]) == (F(5), NONE)
    # Without an ε, δ's just add up.
    assert chain_pairs([((NONE, F(1, 10)), 3)]) == (NONE, F(3, 10))
    assert chain_pairs([((NONE, F(1, 2)), 2)]) is None
    # Two steps: δ + e·δ.
    twice = chain_pairs([((F(1), F(1, 10)), 2)])
    assert twice is not None and twice[0] == 2
    assert float(twice[1]) == pytest.approx((1 + math.e) / 10, rel=1e-15)
    assert chain_pairs([((F(10_001), F(1, 10**9)), 2)]) is None


@pytest.mark.parametrize("order", [1, -1])
def test_a_path_holds_in_both_directions(order: int) -> None:
    """The δ stands behind the step of ε = 1 in one of them."""
    found = chain_pairs([((F(1), NONE), 1), ((NONE, F(1, 100)), 1)][::order])
    assert found is not None and found[0] == 1
    assert float(found[1]) == pytest.approx(math.e / 100, rel=1e-15)


def test_a_quantity_is_exact_unless_it_says_otherwise() -> None:
    assert Quantity(Notion.PURE, F(1)) == Quantity(Notion.PURE, F(1), NONE, True)
