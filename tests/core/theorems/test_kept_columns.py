"""What depends on columns that are kept loses nothing; of everything else nothing is said."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations

from core.theorems.for_readers import kept_columns
from dpcompose.core.theorem import Role
from dpcompose.core.theorems.book import BOOK, in_role

COLUMNS = ("a", "b", "c")
SETS = list(chain.from_iterable(combinations(COLUMNS, n) for n in range(4)))


def test_more_columns_that_change_or_are_used_cost_no_less() -> None:
    one = Fraction(1)
    for uses in SETS:
        for changes in SETS:
            cost = kept_columns(one, uses, changes)
            assert cost == (any(each in changes for each in uses))
            for more in COLUMNS:
                assert cost <= kept_columns(one, (*uses, more), changes)
                assert cost <= kept_columns(one, uses, (*changes, more))


def test_the_entry_is_the_one_that_proofs_cite() -> None:
    assert in_role(Role.KEPT).id == "kept-columns"
    assert BOOK["kept-columns"].specialises == ("IV.10",)
