"""Sums over sets by size: against listing the sets, and in time for thousands of blocks."""

from __future__ import annotations

import math
import random
import time
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

import pytest

from dpcompose.core.hypotheses.sums import Sums, Term, how_many, subset_sums

F = Fraction
NEARLY = Decimal("1.000000001")


def listed(terms: list[Term], low: int, high: int) -> tuple[float, float]:
    values = [math.exp(term.log) for term in terms for _ in range(term.count)]
    marks = [float(term.mark) for term in terms for _ in range(term.count)]
    total = marked = 0.0
    for j in range(low, high + 1):
        for members in combinations(range(len(values)), j):
            product = math.prod(values[i] for i in members)
            total += product
            marked += product * sum(marks[i] for i in members)
    return total, marked


def holds(sums: Sums, total: float, marked: float) -> None:
    for interval, value in ((sums.total, total), (sums.marked, marked)):
        assert float(interval.low) <= value * (1 + 1e-12)
        assert float(interval.high) >= value * (1 - 1e-12)
        assert float(interval.high - interval.low) <= 1e-25 * max(float(interval.high), 1e-9)


@pytest.mark.parametrize("seed", range(80))
def test_few_blocks_are_listed(seed: int) -> None:
    rng = random.Random(seed)
    terms = [
        Term(
            F(rng.randint(-4000, 4000), 1000),
            rng.randint(1, 3),
            F(rng.randint(0, 9), 1000),
        )
        for _ in range(rng.randint(1, 3))
    ]
    size = sum(term.count for term in terms)
    low = rng.randint(0, size)
    high = rng.randint(low, size)
    holds(subset_sums(terms, low, high), *listed(terms, low, high))


@pytest.mark.parametrize(("low", "high"), [(0, 9), (1, 9), (3, 5), (9, 9), (0, 0), (2, 2)])
def test_sets_are_counted(low: int, high: int) -> None:
    assert how_many(9, low, high) == sum(math.comb(9, j) for j in range(low, high + 1))


@pytest.mark.parametrize("log", ["-700", "-30", "0", "1e-30", "30", "700"])
def test_extreme_losses(log: str) -> None:
    sums = subset_sums([Term(F(log), 40), Term(F(1, 10), 3)], 2, 5)
    assert 0 < sums.total.low <= sums.total.high <= sums.total.low * NEARLY


@pytest.mark.slow
@pytest.mark.parametrize(
    "terms",
    [
        [Term(F(3, 10), 5000)],
        [Term(F(i, 10), 1000, F(i, 10**9)) for i in range(5)],
        [Term(F(i, 5000)) for i in range(5000)],
    ],
    ids=["equal", "few kinds", "all different"],
)
@pytest.mark.parametrize("high", [5000, 365])
def test_five_thousand_blocks_take_no_time(terms: list[Term], high: int) -> None:
    start = time.process_time()
    sums = subset_sums(terms, 1, high)
    assert time.process_time() - start < 10  # half a second on an idle machine
    assert 0 < sums.total.low <= sums.total.high <= sums.total.low * NEARLY
