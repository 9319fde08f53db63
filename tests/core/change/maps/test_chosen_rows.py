"""What limits and caps choose, and what a selection of columns leaves."""

from __future__ import annotations

import pytest

from dpcompose.core.change.kind_form import Contradiction
from dpcompose.core.change.maps import chosen_rows
from dpcompose.core.change.maps.columns import Columns
from dpcompose.core.change.maps.kind import Readers, RowSelection
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import PAIR, SINGLE


def test_which_rows_are_chosen() -> None:
    first = chosen_rows.chosen("limit", 3, "first")
    assert first.picks is RowSelection.FIRST and first.random is None and first.determined
    drawn = chosen_rows.chosen("limit", 3, "random")
    assert drawn.picks is RowSelection.RANDOM and drawn.random == "random limit" and drawn.may_drop
    assert chosen_rows.chosen("cap", 1, "random").picks is RowSelection.ONE
    assert (chosen_rows.which("first"), chosen_rows.which("random")) == ("the first", "a random")
    assert "fixed" in chosen_rows.declared(1, "first")
    assert "secret" not in chosen_rows.declared(2, "random")
    # Of one row of each key, the choice is what makes it lose less.
    assert "afresh; which one stays secret" in chosen_rows.declared(1, "random")
    chosen_rows.check_order("first", "time")
    with pytest.raises(Contradiction) as found:
        chosen_rows.check_order("random", "time")
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
