"""Amounts of the notions: conversions, distances and chains of steps, worked out by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpcompose.core.notions.guarantee import (
    CONVERTS,
    Guarantee,
    Notion,
    at_distance,
    chain,
    chain_pairs,
    convert,
)
from dpcompose.core.notions.quantity import Quantity

F = Fraction
NONE = F(0)


def test_what_adds_up() -> None:
    values = {Notion.PURE: 3, Notion.ZCDP: 3, Notion.GDP: 9}
    for notion, amount in values.items():
        assert Guarantee(notion, F(3)).amount == amount


def test_names() -> None:
    symbols = {each: each.symbol for each in Notion}
    assert symbols.pop(Notion.ZCDP) == "rho" and symbols.pop(Notion.GDP) == "mu"
    assert set(symbols.values()) == {"epsilon"}
    assert Notion.GDP.words == "Gaussian DP" and len({each.words for each in Notion}) == len(Notion)


def test_conversions() -> None:
    pure, approx, gdp, zcdp = Notion.PURE, Notion.APPROX, Notion.GDP, Notion.ZCDP
    assert convert(F(3), pure, approx) == 3
    assert convert(F(4), gdp, zcdp) == 2  # μ = 2, ρ = μ²/2
    assert float(convert(F(2), pure, zcdp)) == pytest.approx(2 * math.tanh(1), rel=1e-15)
    mean = math.sqrt(convert(F(1), pure, gdp))
    # The tail of the normal law from μ/2 on is 1/(1+e).
    assert math.erfc(mean / 2 / math.sqrt(2)) / 2 == pytest.approx(1 / (1 + math.e), rel=1e-12)
    for source in Notion:
        assert convert(NONE, source, pure) == 0 and convert(math.inf, source, pure) == math.inf


def test_no_conversion_but_those_that_are_listed() -> None:
    for source in Notion:
        for target in set(Notion) - {source, *CONVERTS[source]}:
            with pytest.raises(ValueError, match=f"no exact conversion from {source} to {target}"):
                convert(F(1), source, target)


def test_group_privacy() -> None:
    assert at_distance(F(1, 2), Notion.PURE, 3) == F(3, 2)
    assert at_distance(F(1, 2), Notion.ZCDP, 3) == F(9, 2)
    assert at_distance(F(1, 4), Notion.GDP, 3) == F(9, 4)  # μ = 1/2, then 3/2


def test_a_path_of_steps() -> None:
    assert chain([], Notion.PURE) == chain([(F(1), 0), (NONE, 9)], Notion.ZCDP) == 0
    assert chain([(F(1), 2), (F(1, 2), 3)], Notion.PURE) == F(7, 2)
    assert chain([(F(1), 1), (math.inf, 1)], Notion.PURE) == math.inf
    # (√1 + 2·√(1/4))² = 4, all roots rational.
    assert chain([(F(1), 1), (F(1, 4), 2)], Notion.ZCDP) == 4
    # (3·√2)² = 18: no root is taken where all steps are alike.
    assert chain([(F(2), 2), (F(2), 1)], Notion.GDP) == 18
    # (√2 + √(1/2))² = 2 + 1/2 + 2·√1 = 9/2, through roots that are rounded up.
    found = chain([(F(2), 1), (F(1, 2), 1)], Notion.ZCDP)
    assert F(9, 2) <= found <= F(9, 2) * (1 + F(1, 10**40))


def test_a_path_of_steps_with_a_delta() -> None:
    assert chain_pairs([((F(1), F(1, 2)), 1)]) == (1, F(1, 2))
    assert chain_pairs([((F(1), NONE), 2), ((F(3), NONE), 1)]) == (5, 0)
    # Without an ε, δ's just add up.
    assert chain_pairs([((NONE, F(1, 10)), 3)]) == (0, F(3, 10))
    assert chain_pairs([((NONE, F(1, 2)), 2)]) is None
    # Two steps: δ + e·δ.
    twice = chain_pairs([((F(1), F(1, 10)), 2)])
    assert twice is not None and twice[0] == 2
    assert float(twice[1]) == pytest.approx((1 + math.e) / 10, rel=1e-15)
    # In both directions: δ stands behind e^1 in one of them.
    for order in (1, -1):
        found = chain_pairs([((F(1), NONE), 1), ((NONE, F(1, 100)), 1)][::order])
        assert found is not None and found[0] == 1
        assert float(found[1]) == pytest.approx(math.e / 100, rel=1e-15)
    assert chain_pairs([((F(10_001), F(1, 10**9)), 2)]) is None


def test_a_quantity_is_exact_unless_it_says_otherwise() -> None:
    assert Quantity(Notion.PURE, F(1)) == Quantity(Notion.PURE, F(1), NONE, True)
