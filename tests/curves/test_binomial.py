"""How many of some rows are drawn: never fewer than the binomial law says."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from scipy.stats import binom

from dpcompose.curves.rounding.binomial import chances, distinct_numbers

F = Fraction


@pytest.mark.parametrize(
    ("rows", "rate"),
    [
        (1, F(1, 3)),
        (40, F(1, 10)),
        (1000, F(1)),
        (1001, F(256, 60000)),
        (1001, F(999, 1000)),
        (5000, F(1, 2)),
        (10**6, F(1, 10**6)),
        (10**9, F(1, 3)),
        (2000, F(1, 10**400)),
    ],
)
def test_more_are_drawn_than_by_the_binomial_law(rows: int, rate: F) -> None:
    for at_once in (True, False):
        numbers = distinct_numbers(rows, rate, at_once)
        assert numbers[-1] == rows and numbers == sorted(set(numbers)) and len(numbers) < 1200
        found = chances(rows, rate, numbers)
        assert sum(found) == 1 and min(found) >= 0
        more = F(1)
        for end, chance in zip([0, *numbers], found, strict=True):
            more -= chance
            truth = binom.sf(end, rows, float(rate))
            assert float(more) >= truth * (1 - 1e-9)
            if rows <= 1000 or (rows * rate <= 10_000 and truth > 1e-70):
                assert float(more) <= truth * (1 + 1e-7) + 1e-300


@pytest.mark.slow
def test_chances_grow_with_the_rows_and_with_the_rate() -> None:
    """The numbers that are told apart are the same ones, so that nothing jumps."""
    for least, most in pairwise(
        [(33, F(1, 50)), (34, F(1, 50)), (500, F(1, 50)), (1000, F(1, 50)), (1001, F(1, 49))]
    ):
        numbers = distinct_numbers(least[0], least[1], False)[:-1]
        few, many = (chances(*each, [*numbers, each[0]]) for each in (least, most))
        for n in range(len(numbers) + 1):
            assert sum(few[: n + 1]) >= sum(many[: n + 1]) * (1 - F(1, 10**9))


def test_few_rows_are_told_apart_exactly() -> None:
    assert distinct_numbers(10, F(1, 7), True) == list(range(1, 11))
    assert chances(2, F(1, 3), [1, 2]) == [F(4, 9), F(4, 9), F(1, 9)]
    assert chances(2, F(1, 3), [2]) == [F(4, 9), F(5, 9)]
