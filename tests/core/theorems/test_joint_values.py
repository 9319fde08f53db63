"""The worst split of a joint bound, against every split into whole numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from core.theorems.for_readers import joint_bound
from dpcompose.core.theorems.one_mechanism import worst_moves

costs = st.fractions(min_value=0, max_value=5, max_denominator=7)
values = st.lists(st.tuples(costs, st.integers(0, 4)), min_size=1, max_size=4)


@given(values, st.integers(0, 9))
def test_no_split_costs_more_and_one_costs_as_much(
    values: list[tuple[Fraction, int]], l1: int
) -> None:
    exact = [(cost, Fraction(most)) for cost, most in values]
    splits = product(*(range(most + 1) for _, most in values))
    worst = max(
        sum(cost * v for (cost, _), v in zip(exact, split, strict=True))
        for split in splits
        if sum(split) <= l1
    )
    assert joint_bound(exact, Fraction(l1)) == worst
    moves = worst_moves(exact, Fraction(l1))
    assert sum(moves) <= l1
    assert all(0 <= v <= most for v, (_, most) in zip(moves, exact, strict=True))
