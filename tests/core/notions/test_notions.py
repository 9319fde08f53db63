"""Every notion answers what is asked of it, and nobody else lists the notions."""

from __future__ import annotations

import ast
import math
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from statistics import NormalDist

import pytest

from dpcompose.core.notions import notion as notions
from dpcompose.core.notions.guarantee import Guarantee
from dpcompose.core.notions.notion import (
    CONVERTS,
    FACTS,
    SIGNS,
    Notion,
    at_distance,
    chain,
    chain_pairs,
    convert,
)

ROOT = Path(notions.__file__).parents[2]
HALF = Fraction(1, 2)


def test_every_notion_has_its_facts() -> None:
    assert set(FACTS) == set(Notion)
    for notion, facts in FACTS.items():
        assert facts.symbol in facts.parameters or facts.parameters == ("points",)
        assert SIGNS[facts.symbol] == facts.sign
        assert set(facts.reads_as) <= set(Notion)
        assert (facts.power is None) == (notion not in CONVERTS[notion] or notion == "approx")


#: By the definitions: ρ = ε·tanh(ε/2), μ²: μ = 2Φ⁻¹(e^ε/(1+e^ε)), ρ = μ²/2.
@pytest.mark.parametrize(
    ("source", "target", "amount", "least"),
    [
        ("pure", "approx", 1, 1.0),
        ("pure", "zcdp", 1, math.tanh(0.5)),
        ("pure", "gdp", 1, (2 * NormalDist().inv_cdf(math.e / (1 + math.e))) ** 2),
        ("gdp", "zcdp", 1, 0.5),
        ("zcdp", "zcdp", 3, 3.0),
    ],
)
def test_conversions(source: str, target: str, amount: int, least: float) -> None:
    found = convert(Fraction(amount), Notion(source), Notion(target))
    assert least * (1 - 1e-9) <= float(found) <= least * (1 + 1e-9)


def test_what_needs_a_delta_is_no_conversion() -> None:
    with pytest.raises(ValueError, match="no exact conversion from zcdp to pure"):
        convert(Fraction(1), Notion.ZCDP, Notion.PURE)
    assert convert(math.inf, Notion.ZCDP, Notion.PURE) == math.inf


def test_distances() -> None:
    assert at_distance(HALF, Notion.PURE, 3) == Fraction(3, 2)
    assert at_distance(HALF, Notion.ZCDP, 3) == at_distance(HALF, Notion.GDP, 3) == Fraction(9, 2)
    # (√4 + 2·√9)² = 64, and along equal steps (1 + 2)²·4 = 36.
    assert chain([(Fraction(4), 1), (Fraction(9), 2)], Notion.ZCDP) == 64
    assert chain([(Fraction(4), 1), (Fraction(4), 2)], Notion.ZCDP) == 36
    assert chain([(Fraction(4), 1), (Fraction(9), 2)], Notion.PURE) == 22
    assert chain([(Fraction(4), 0), (Fraction(0), 2)], Notion.GDP) == 0
    assert chain([(math.inf, 1)], Notion.GDP) == math.inf


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        (Guarantee(Notion.PURE, HALF), "0.5-DP"),
        (Guarantee(Notion.APPROX, HALF, Fraction(1, 100)), "(0.5, 0.01)-DP"),
        (Guarantee(Notion.ZCDP, HALF), "0.5-zCDP"),
        (Guarantee(Notion.GDP, HALF), "0.5-GDP"),
        (
            Guarantee(Notion.RDP, Fraction(0), points=((Fraction(2), HALF),)),
            "(2, 0.5)-RDP",
        ),
        (
            Guarantee(
                Notion.PROFILE,
                Fraction(0),
                points=tuple((Fraction(n), Fraction(1, 10**n)) for n in (1, 2, 3)),
            ),
            "(1, 0.1)-DP to (3, 0.001)-DP (3 points)",
        ),
    ],
)
def test_how_a_guarantee_is_told(stated: Guarantee, says: str) -> None:
    assert stated.notion.facts.describe(stated) == says


def test_mu_is_the_root_of_what_adds_up() -> None:
    assert Guarantee(Notion.GDP, HALF).amount == Fraction(1, 4)
    assert Notion.GDP.value_of(Fraction(1, 4)) == (HALF, True)
    value, exact = Notion.GDP.value_of(Fraction(2))
    assert value * value > 2 and value < 1.4142136 and not exact


def test_no_table_of_signs_or_words_stands_elsewhere() -> None:
    signs = {"ρ", "μ", "zCDP", "Gaussian DP"}
    for path in ROOT.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path.parent.name == "notions" or not any(sign in text for sign in signs):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Dict):
                values = {each.value for each in node.values if isinstance(each, ast.Constant)}
                assert not values & signs, f"{path}:{node.lineno}"


def test_pairs_along_a_path_count_what_comes_before() -> None:
    """δ = Σ e^(ε before)·δ of each step, for steps in every order that is tried."""
    steps = [((HALF, Fraction(1, 1000)), 3), ((Fraction(1), Fraction(1, 50)), 2)]
    alone = [each for each, count in steps for _ in range(count)]

    def along(order: tuple[tuple[Fraction, Fraction], ...]) -> float:
        total = before = 0.0
        for epsilon, delta in order:
            total, before = total + math.exp(before) * float(delta), before + float(epsilon)
        return total

    sums = [along(order) for order in permutations(alone)]
    for free, expected in ((True, min(sums)), (False, max(sums))):
        found = chain_pairs(steps, free)
        assert found is not None and found[0] == Fraction(7, 2)
        assert float(found[1]) == pytest.approx(expected, rel=1e-12)
