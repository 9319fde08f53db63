"""What limits and caps choose, and what a selection of columns leaves."""

from __future__ import annotations

import pytest

from dpcompose.core.change.kind_form import Contradiction
from dpcompose.core.change.maps.cap import Cap
from dpcompose.core.change.maps.chosen_rows import ChosenRows
from dpcompose.core.change.maps.columns import Columns
from dpcompose.core.change.maps.kind import Readers, RowSelection
from dpcompose.core.change.maps.limit import RowLimit
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import PAIR, SINGLE


def test_which_rows_are_chosen() -> None:
    first = RowLimit("id", 3, "first").conduct()
    assert first.picks is RowSelection.FIRST and first.random is None and first.determined
    drawn = RowLimit("id", 3, "random").conduct()
    assert drawn.picks is RowSelection.RANDOM and drawn.random == "random limit" and drawn.may_drop
    assert Cap(1, "random").conduct().picks is RowSelection.ONE
    assert (Cap(3, "first").which, Cap(1, "random").which) == ("the first 3 rows", "a random 1 row")
    assert "fixed" in Cap(1, "first").declaration("of each unit")
    assert "secret" not in Cap(2, "random").declaration("of each unit")
    # Of one row of each key, the choice is what makes it lose less.
    assert "afresh; which one stays secret" in Cap(1, "random").declaration("of each unit")
    assert issubclass(Cap, ChosenRows)
    assert Cap.from_keys(2, "first", "time") == Cap(2, "first", "time") != Cap(2, "first")
    with pytest.raises(Contradiction) as found:
        RowLimit.from_keys("id", 2, "random", "time")
    assert found.value.why.code == "DPC105" and found.value.why.at == ("order",)


def test_a_selection_of_columns_sees_changes_of_these_alone() -> None:
    town = Columns(frozenset({"town"}))
    traits = Traits(columns=frozenset({"town", "age"}))
    (added,) = town.becomes(SINGLE, traits)
    assert [leaf.kind for leaf, _ in added.units] == [SINGLE.kind]
    # A replaced row that keeps the column is the same row; another one is replaced.
    (same,) = town.becomes(PAIR._replace(kept=("town",)), traits)
    (other,) = town.becomes(PAIR._replace(kept=("age",)), traits)
    assert same.units == () and [leaf.kind for leaf, _ in other.units] == [PAIR.kind]
    assert town.traits_after(traits).columns == frozenset({"town"})
    assert town.rows_needed(7) == 7 and town.describe() == "the column `town`"
    ((says, at),) = town.declares("few", Readers((), 0))
    assert at == ("only",) and "`town` and nothing else" in says
