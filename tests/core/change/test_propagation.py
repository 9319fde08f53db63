"""Changes on their way down a map, and what limits and caps choose."""

from __future__ import annotations

from walks import of

from dpcompose.core.change.maps.filter import Filter
from dpcompose.core.change.maps.flatten import Flatten
from dpcompose.core.change.maps.row import RowMap
from dpcompose.core.change.propagation import assigned, become, one_below, propagate
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import (
    ANY,
    NEW_END,
    OLD_END,
    PAIR,
    SINGLE,
    State,
    all_leaves,
)

ROWS = Traits()


def units(state: State) -> dict[str, int]:
    found: dict[str, int] = {}
    for leaf, count in all_leaves(state).items():
        found[str(leaf.kind)] = found.get(str(leaf.kind), 0) + count
    return found


def test_rows_move_one_by_one() -> None:
    assert propagate(of(SINGLE, 3), RowMap(), ROWS, False) == (of(SINGLE, 3),)
    (flattened,) = propagate(of(SINGLE, 2), Flatten(3), ROWS, False) or []
    assert units(flattened) == {"single": 6}


def test_replaced_rows_through_a_filter_stay_or_lose_an_end() -> None:
    """Two replaced rows: each is a pair still, or one end alone, or the other."""
    one = propagate(of(PAIR), Filter(), ROWS, False)
    assert one is not None and {tuple(units(each).items()) for each in one} == {
        (("pair", 1),),
        (("single", 1),),
    }
    two = propagate(of(PAIR, 2), Filter(), ROWS, False)
    assert two is not None
    assert {"pair": 1, "single": 1} in [units(each) for each in two]
    assert propagate(of(PAIR, 2), Filter(), ROWS, False, limit=1) is None


def test_the_history_is_kept_where_statements_speak_of_it() -> None:
    (kept,) = propagate(of(SINGLE), Flatten(2), ROWS, True) or []
    ((item, count),) = kept
    assert item.leaf == SINGLE and count == 1 and units(item.below) == {"single": 2}


def test_units_in_one_block() -> None:
    assert one_below(of(PAIR), False, become(ANY)) == of(ANY)
    assert one_below(of(PAIR), False, lambda _: None) == ()
    ends = assigned(of(PAIR, 2), iter([OLD_END, NEW_END]), False)
    assert {leaf.sign for leaf in all_leaves(ends)} == {0, 1} and units(ends) == {"single": 2}
    assert assigned(of(SINGLE, 2), iter([None, SINGLE]), False) == of(SINGLE)
