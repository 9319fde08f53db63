"""What reports say beside the number: findings, assumptions, reasons, and words for guarantees."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpcompose.core.mechanisms.discrete_gaussian import DiscreteGaussian
from dpcompose.core.mechanisms.exponential import Exponential
from dpcompose.core.mechanisms.gaussian import Gaussian
from dpcompose.core.mechanisms.geometric import Geometric
from dpcompose.core.mechanisms.laplace import Laplace
from dpcompose.core.mechanisms.randomized_response import RandomizedResponse
from dpcompose.core.notions.guarantee import Guarantee
from dpcompose.core.notions.notion import Notion
from dpcompose.pipeline import analyze
from dpcompose.report.wording import guarantee

F = Fraction


def spec(protect: str, datasets: str, *mechanisms: str, more: str = "") -> str:
    rows = "".join(f"  - {{{each}}}\n" for each in mechanisms)
    return f"dpcompose: 1\nprotect: {protect}\n{more}datasets:\n{datasets}mechanisms:\n{rows}"


# --- what a bound is put down to -----------------------------------------------------------------

BLOCKS = "abcdefghijklmn"
SPLIT = (
    "  people: {}\n"
    f"  part: {{from: people, partition: {{by: value, blocks: [{', '.join(BLOCKS)}]}}}}\n"
)


@pytest.mark.parametrize("more", ["", "delta: 1e-6, "])
def test_several_units_alike_count_as_often_as_they_are(more: str) -> None:
    """Too many blocks to try all ways: the bound is a path, and each share counts its steps."""
    notion = "approx" if more else "pure"
    rows = [
        f"name: m{block}, reads: part.{block}, notion: {notion}, epsilon: 0.{50 + i}, {more}"
        "relation: bounded, stated_on: people"
        for i, block in enumerate(BLOCKS)
    ]
    report = analyze(spec("{relation: bounded, distance: 3}", SPLIT, *rows))
    assert report.bound is not None and report.worst is not None
    assert "for each of 3 such units" in report.worst.says[-1]
    assert sum(each.bound.value for each in report.shares) == report.bound.value == F("3.75")
    charged = next(each for each in report.alternatives if "every block" in each.why)
    assert charged.bound is not None and charged.bound.value == F("23.73") * (2 if more else 1)


# --- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        (Guarantee(Notion.PURE, F("0.7")), "0.7-DP"),
        (
            Guarantee(Notion.PURE, F(1, 2), noise=Laplace(F(2)), shift=F(1)),
            "0.5-DP (Laplace noise of scale 2, sensitivity 1)",
        ),
        (
            Guarantee(Notion.PURE, F(1, 2), noise=Geometric(F(2)), shift=F(1)),
            "0.5-DP (geometric noise of scale 2, sensitivity 1)",
        ),
        (
            Guarantee(Notion.GDP, F(1, 2), noise=Gaussian(F(2)), shift=F(1)),
            "0.5-GDP (Gaussian noise of σ = 2, sensitivity 1)",
        ),
        (
            Guarantee(Notion.ZCDP, F(1, 8), noise=DiscreteGaussian(F(2)), shift=F(1)),
            "0.125-zCDP (discrete Gaussian noise of σ = 2, sensitivity 1)",
        ),
        (
            Guarantee(Notion.PURE, F(3, 2), noise=Exponential(F(1)), shift=F(3, 2)),
            "1.5-DP (exponential mechanism of range 1.5)",
        ),
        (
            Guarantee(Notion.PURE, F(1), noise=RandomizedResponse(5, F(1)), shift=F(1)),
            "1-DP (randomized response over 5 values)",
        ),
        (Guarantee(Notion.RDP, F(0), points=((F(8), F(1, 2)),)), "(8, 0.5)-RDP"),
        (
            Guarantee(Notion.RDP, F(0), points=((F(2), F("0.1")), (F(8), F(1, 2)))),
            "(2, 0.1)- and (8, 0.5)-RDP",
        ),
        (
            Guarantee(Notion.PROFILE, F(0), points=tuple((F(i), F(1, 10**i)) for i in range(4))),
            "(0, 1)-DP to (3, 0.001)-DP (4 points)",
        ),
    ],
)
def test_words_for_a_guarantee(stated: Guarantee, says: str) -> None:
    assert guarantee(stated) == says
