"""What each kind of map makes of a change where columns, units and public sizes matter."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpcompose.core.change.effects import MapOutcome
from dpcompose.core.change.maps.cap import Cap
from dpcompose.core.change.maps.columns import Columns
from dpcompose.core.change.maps.filter import Filter
from dpcompose.core.change.maps.flatten import Flatten
from dpcompose.core.change.maps.group import Group
from dpcompose.core.change.maps.join_public import JoinPublic
from dpcompose.core.change.maps.kind import Map
from dpcompose.core.change.maps.limit import RowLimit
from dpcompose.core.change.maps.row import RowMap
from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.maps.stable import Stable
from dpcompose.core.change.neighbouring import Relation, RelationKind
from dpcompose.core.change.propagation import propagate
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import BOTH, SINGLE, ChangeUnit, Kind, leaf_item, state_of

A, B = frozenset({"a"}), frozenset({"b"})
UNITS = Traits(unit="u")
ONE_EACH = Traits(unit="u", rows_are_units=True)


def pair(*kept: str) -> ChangeUnit:
    return ChangeUnit(Kind.PAIR, (0, 1), kept)


@pytest.mark.parametrize(
    ("made_by", "kept", "left"),
    [
        # What it keeps differs, though what it uses does not: a row is still replaced.
        (RowMap(A, B), "b", [()]),
        (RowMap(A, B), "a", [("a",)]),
        (RowMap(A, B), "ab", []),
        (RowMap(A), "ab", [("a",)]),
        (RowMap(frozenset(), B), "b", []),
        (Flatten(1, exact=True, keeps=A, uses=B), "b", [()]),
        (Flatten(1, exact=True, keeps=A, uses=B), "ab", []),
        (Flatten(1, exact=True, keeps=A), "ab", [("a",)]),
        (Columns(A), "b", [()]),
        (Columns(A), "a", []),
        (JoinPublic(1, exact=True), "ab", [("a", "b")]),
    ],
)
def test_which_columns_a_replaced_row_still_agrees_in(
    made_by: Map, kept: str, left: list[tuple[str, ...]]
) -> None:
    found = made_by.becomes(pair(*kept), Traits())
    assert isinstance(found, list) and len(found) == 1
    assert [unit.kept for unit, count in found[0].units for _ in range(count)] == left


def rows(made_by: Map, size: int, traits: Traits) -> set[tuple[int, int]]:
    """The most that all rows of a user may become: single rows, and replaced ones."""
    found = made_by.becomes(ChangeUnit(Kind.USER, size=size), traits)
    assert isinstance(found, list)

    def counted(fate: MapOutcome, kind: Kind) -> int:
        return sum(count * int(unit.size or 1) for unit, count in fate.units if unit.kind is kind)

    return {
        (counted(each, Kind.SINGLE) + counted(each, Kind.USER), counted(each, Kind.PAIR))
        for each in found
    }


@pytest.mark.parametrize(
    ("made_by", "traits", "expected"),
    [
        (Cap(3, "first"), UNITS, {(3, 0)}),
        (Cap(9, "first"), UNITS, {(5, 0)}),
        (RowLimit("u", 3, "first"), UNITS, {(3, 0)}),
        # By another column each row is a change of its own key, whatever the rows of a unit are.
        (RowLimit("a", 1, "first"), UNITS, {(5 - i, i) for i in range(6)}),
        (RowLimit("a", 1, "first"), Traits(), {(5 - i, i) for i in range(6)}),
        (Group("a"), UNITS, {(5 - i, i) for i in range(6)}),
        (JoinPublic(3), UNITS, {(15, 0)}),
        (JoinPublic(3), Traits(), {(15, 0)}),
        (Flatten(3), UNITS, {(15, 0)}),
        (Flatten(3, keeps=frozenset({"u"})), UNITS, {(15, 0)}),
        (Stable(2), UNITS, {(10, 0)}),
        (RowMap(), UNITS, {(5, 0)}),
    ],
)
def test_five_rows_of_a_user(made_by: Map, traits: Traits, expected: set[tuple[int, int]]) -> None:
    assert rows(made_by, 5, traits) == expected


def test_one_row_stands_for_all_of_a_unit_in_groups_by_it() -> None:
    [fate] = Group("u").becomes(ChangeUnit(Kind.USER, size=5), UNITS)
    [(unit, count)] = fate.units
    assert (unit.kind, unit.ends, unit.size, count) == (Kind.SINGLE, (BOTH,), 5, 1)


@pytest.mark.parametrize("made_by", [Group("u"), RowLimit("u", 1, "first"), Cap(1, "first")])
def test_a_row_is_alone_where_rows_are_units_and_the_column_is_the_unit(made_by: Map) -> None:
    assert len(made_by.becomes(SINGLE, ONE_EACH)) == 1
    assert len(made_by.becomes(SINGLE, UNITS)) == 2  # it may change the row of its key


@pytest.mark.parametrize("made_by", [Group("a"), RowLimit("a", 1, "first")])
def test_rows_that_are_units_meet_under_another_column(made_by: Map) -> None:
    assert len(made_by.becomes(SINGLE, ONE_EACH)) == 2


def displacing(made_by: Map) -> bool:
    """Whether an added row may be told as one that takes the place of another."""
    found = made_by.becomes(SINGLE, UNITS)
    assert isinstance(found, list)
    return any(each.displaces for each in found)


def test_only_the_first_rows_displace_one_of_their_own_table() -> None:
    assert displacing(RowLimit("a", 2, "first")) and displacing(Cap(2, "first"))
    assert not displacing(RowLimit("a", 2, "random")) and not displacing(Cap(2, "random"))


PUBLIC = Traits(ordered=True, fixed=True, size=6, most=6, unit="u", columns=A | B)


@pytest.mark.parametrize(
    ("made_by", "fixed", "size", "most"),
    [
        (Filter(), False, None, 6),
        (RowMap(), True, 6, 6),
        (Columns(A), True, 6, 6),
        (Flatten(2), False, None, 12),
        (Flatten(2, exact=True), True, 12, 12),
        (JoinPublic(2), False, None, 12),
        (JoinPublic(2, exact=True), True, 12, 12),
        (Group("a"), False, None, 6),
        (RowLimit("a", 1, "first"), False, None, 6),
        (Cap(1, "first"), False, None, 6),
        (Sample(Fraction(1, 2)), False, None, 6),
        (Sample(Fraction(1, 2), 3, 6), True, 3, 3),
    ],
)
def test_how_many_rows_are_public(
    made_by: Map, fixed: bool, size: int | None, most: int | None
) -> None:
    after = made_by.traits_after(PUBLIC)
    assert (after.fixed, after.size, after.most) == (fixed, size, most)


@pytest.mark.parametrize(
    ("made_by", "unit"),
    [
        (RowMap(), None),
        (RowMap(frozenset({"u"})), "u"),
        (Flatten(2), None),
        (Flatten(2, keeps=frozenset({"u"})), "u"),
        (Group("a"), None),
        (Group("u"), "u"),
        (JoinPublic(2), "u"),
        (Stable(1), None),
    ],
)
def test_which_maps_keep_the_unit(made_by: Map, unit: str | None) -> None:
    after = made_by.traits_after(ONE_EACH)
    assert after.unit == unit and (unit is not None or not after.rows_are_units)


def test_maps_in_a_row_that_are_one() -> None:
    assert Flatten(2).then(Flatten(3)) == Flatten(6)
    assert Flatten(2).then(Flatten(3, exact=True)) is None
    half = Sample(Fraction(1, 2))
    assert half.then(half) == Sample(Fraction(1, 4))
    assert half.then(Sample(Fraction(1, 2), shared=True)) is None
    assert half.then(Sample(Fraction(1, 2), 3, 6)) is None


def test_of_rows_removed_and_added_some_may_vanish_on_the_way() -> None:
    added = ChangeUnit(Kind.SINGLE, sign=1)
    state = state_of([(leaf_item(SINGLE), 1), (leaf_item(added), 1)])
    found = propagate(state, Filter(), Traits(), False)
    assert found is not None and {sum(n for _, n in each) for each in found} == {0, 1, 2}
    # Of rows that all come, fewer are never worse.
    some = propagate(state_of([(leaf_item(SINGLE), 2)]), Filter(), Traits(), False)
    assert some is not None and {sum(n for _, n in each) for each in some} == {2}


def test_what_a_replacement_must_keep_where_not_all_columns_are_known() -> None:
    of_a = Relation(RelationKind.BOUNDED, changes=A)
    assert of_a.required_columns(A | B) == B and of_a.required_columns(None) == frozenset()
    assert of_a.required_columns(A | B, others=True) is None
    keeping = Relation(RelationKind.BOUNDED, B)
    assert (
        keeping.required_columns(A) == frozenset() and keeping.required_columns(A, others=True) == B
    )
