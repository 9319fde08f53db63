"""What every kind of map says: what a change becomes (theory, section 4), and nothing left out."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest

from dpcompose.core.change import maps
from dpcompose.core.change.effects import MapOutcome, TooMany
from dpcompose.core.change.kind_form import Contradiction, Form
from dpcompose.core.change.maps.cap import Cap
from dpcompose.core.change.maps.edges import Edges
from dpcompose.core.change.maps.filter import Filter
from dpcompose.core.change.maps.flatten import Flatten
from dpcompose.core.change.maps.group import Group
from dpcompose.core.change.maps.kind import Map, fates
from dpcompose.core.change.maps.limit import RowLimit
from dpcompose.core.change.maps.nodes import Nodes
from dpcompose.core.change.maps.opaque import Opaque
from dpcompose.core.change.maps.row import RowMap
from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.maps.shuffle import Shuffle
from dpcompose.core.change.maps.stable import Stable
from dpcompose.core.change.maps.value import Value
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import ANY, NEW_END, OLD_END, PAIR, SINGLE, ChangeUnit, Kind
from dpcompose.core.numbers.form_keys import REQUIRED, FormKey, Sort

FOLDER = Path(maps.__file__).parent
SHARED = {"__init__", "kind", "chosen_rows"}

EDGE, NODE = ChangeUnit(Kind.EDGE), ChangeUnit(Kind.NODE)
REWIRED = ChangeUnit(Kind.NODE_REWIRED)
USER, USER_OF_2 = ChangeUnit(Kind.USER), ChangeUnit(Kind.USER, size=2)
INSIDE = ChangeUnit(Kind.PAIR, (0, 0))
OF_UNITS = Traits(unit="id")
OF_DEGREE = Traits(degree=3)


def shape(found: list[MapOutcome] | TooMany) -> list[list[tuple[str, int]]]:
    """The fates as the kinds of their units, with counts: a row comes, or one is replaced."""
    assert not isinstance(found, TooMany)
    return [[(unit.kind.value, count) for unit, count in fate.units] for fate in found]


UP_TO_TWO = [[("pair", 2)], [("pair", 1), ("single", 1)], [("single", 2)]]
ONE, REPLACED = [("single", 1)], [("pair", 1)]
PER_KEY = [ONE, REPLACED]
PER_KEY_OF_A_PAIR = [
    [("pair", 1), ("pair", 1)],
    [("pair", 1), ("single", 1)],
    [("single", 1), ("pair", 1)],
    [("single", 1), ("single", 1)],
]


@pytest.mark.parametrize(
    ("made_by", "leaf", "traits", "expected"),
    [
        (Filter(), SINGLE, Traits(), [ONE]),
        (Filter(), PAIR, Traits(), [REPLACED, ONE, ONE]),
        (RowMap(), SINGLE, Traits(), [ONE]),
        (RowMap(), PAIR, Traits(), [REPLACED]),
        (RowMap(), USER_OF_2, OF_UNITS, [[("single", 2)]]),
        (RowMap(frozenset({"id"})), USER_OF_2, OF_UNITS, [[("user", 1)]]),
        (RowMap(), USER, OF_UNITS, [[("any", 1)]]),
        (Flatten(2), SINGLE, Traits(), [[("single", 2)]]),
        (Flatten(2), PAIR, Traits(), UP_TO_TWO),
        (Flatten(2, exact=True), PAIR, Traits(), [[("pair", 2)]]),
        (Flatten(2), USER_OF_2, OF_UNITS, [[("single", 4)]]),
        (Group("city"), SINGLE, Traits(), PER_KEY),
        (Group("city"), PAIR, Traits(), PER_KEY_OF_A_PAIR),
        (Group("city"), ChangeUnit(Kind.PAIR, (0, 1), ("city",)), Traits(), [REPLACED]),
        (Group("id"), USER, OF_UNITS, [ONE]),
        (RowLimit("city", 5, "first"), SINGLE, Traits(), PER_KEY),
        (RowLimit("city", 5, "random"), PAIR, Traits(), PER_KEY_OF_A_PAIR),
        (RowLimit("id", 5, "first"), USER, OF_UNITS, [[("user", 1)]]),
        (Cap(3, "first"), SINGLE, OF_UNITS, PER_KEY),
        (Cap(3, "first"), USER, OF_UNITS, [[("user", 1)]]),
        (Stable(4), SINGLE, Traits(), [[("single", 4)]]),
        (Stable(4), PAIR, Traits(), [[("single", 4), ("single", 4)]]),
        (Edges(), EDGE, OF_DEGREE, [ONE]),
        (Edges(), NODE, OF_DEGREE, [[("single", 3)]]),
        (Edges(), NODE, Traits(), [[("any", 1)]]),
        (Nodes(), EDGE, OF_DEGREE, [[("pair", 2)]]),
        (Nodes(), NODE, OF_DEGREE, [[("pair", 4)]]),
        (Nodes(), REWIRED, OF_DEGREE, [[("pair", 7)]]),
        (Sample(Fraction(1, 2)), PAIR, Traits(), [REPLACED, ONE, ONE]),
        (Opaque(), SINGLE, Traits(), [[("any", 1)]]),
        (Shuffle(9), PAIR, Traits(), [[("any", 1)]]),
        (Flatten(2), ANY, Traits(), [[("any", 1)]]),
        (Value(), ANY, Traits(), [[("metric", 1)]]),
    ],
)
def test_what_a_unit_becomes(
    made_by: Map, leaf: ChangeUnit, traits: Traits, expected: list[list[tuple[str, int]]]
) -> None:
    assert shape(fates(made_by, leaf, traits)) == expected


@pytest.mark.parametrize(
    ("value", "leaf", "moves"),
    [
        (Value(Fraction(2)), SINGLE, Fraction(2)),
        (Value(Fraction(2)), PAIR, Fraction(4)),
        (Value(Fraction(2), Fraction(3)), PAIR, Fraction(3)),
        (Value(Fraction(2), Fraction(9)), PAIR, Fraction(4)),
        (Value(Fraction(2), None, Fraction(1)), SINGLE, Fraction(1)),
        (Value(Fraction(2)), USER_OF_2, Fraction(4)),
        (Value(Fraction(2)), USER, None),
        (Value(None, Fraction(2)), SINGLE, None),
        (Value(Fraction(2), None, Fraction(7)), ANY, Fraction(7)),
    ],
)
def test_how_far_a_value_moves(value: Value, leaf: ChangeUnit, moves: Fraction | None) -> None:
    (fate,) = _listed(value, leaf)
    assert fate.units[0][0].size == moves


@pytest.mark.parametrize(
    ("made_by", "leaf", "traits", "pair"),
    [
        (Flatten(25), PAIR, Traits(), PAIR),
        (Edges(), REWIRED, Traits(degree=25), INSIDE),
    ],
)
def test_many_rows_are_bounded_by_rows_of_one_sort(
    made_by: Map, leaf: ChangeUnit, traits: Traits, pair: ChangeUnit
) -> None:
    assert fates(made_by, leaf, traits) == TooMany(((pair, 25), (SINGLE, 25)))


def test_a_replacement_keeps_the_columns_that_a_row_map_keeps() -> None:
    pair = ChangeUnit(Kind.PAIR, (0, 1), ("city", "id"))
    ((unit, _),) = next(iter(_listed(RowMap(frozenset({"id"})), pair))).units
    assert unit.kept == ("id",)
    assert [fate.units[0][0] for fate in _listed(Filter(), pair)] == [pair, OLD_END, NEW_END]


def _listed(made_by: Map, leaf: ChangeUnit) -> list[MapOutcome]:
    found = fates(made_by, leaf, OF_UNITS)
    assert isinstance(found, list)
    return found


# ---------------------------------------------------------------------------------------------
# One file a kind, and nothing left out


def test_one_file_for_each_kind() -> None:
    files = {path.stem for path in FOLDER.glob("*.py")} - SHARED
    assert files == {form.kind.__module__.rpartition(".")[2] for form in maps.MAPS.values()}
    assert all(name.replace("-", "_") in files for name in maps.MAPS)


@pytest.mark.parametrize("part", sorted(Map.__abstractmethods__))
def test_a_kind_without_a_part_cannot_be_made(part: str) -> None:
    parts: dict[str, Callable[..., Any]] = {
        name: method
        for name, method in inspect.getmembers(Opaque, inspect.isfunction)
        if name in Map.__abstractmethods__ and name != part
    }
    with pytest.raises(TypeError, match=part):
        type("Forgetful", (Map,), parts)()


@pytest.mark.parametrize("name", maps.MAPS)
def test_a_kind_is_made_of_its_keys(name: str) -> None:
    form = maps.MAPS[name]
    examples = {Sort.WHOLE: 3, Sort.COLUMN: "city", Sort.COLUMNS: frozenset({"id"})}

    def given(key: FormKey) -> object:
        if key.sort is Sort.MOVES:
            return Fraction(1), None
        if key.name == "poisson":
            return Fraction(1, 2)
        if key.default is not REQUIRED:
            return frozenset() if key.sort is Sort.COLUMNS else key.default
        return key.choices[0] if key.choices else examples[key.sort]

    made = form.made(*map(given, form.keys))
    assert type(made) is form.kind
    assert maps.form_of(made) is form
    assert made.describe()
    assert hash(made) == hash(form.made(*map(given, form.keys)))


#: Two values of each sort.
VALUES: dict[Sort, tuple[object, object]] = {
    Sort.WHOLE: (2, 3),
    Sort.SEVERAL: (2, 3),
    Sort.NAME: ("x", "y"),
    Sort.COLUMN: ("x", "y"),
    Sort.COLUMNS: (frozenset("x"), frozenset("y")),
    Sort.FLAG: (False, True),
    Sort.NUMBER: (Fraction(1), Fraction(2)),
    Sort.MOVES: ((Fraction(1), Fraction(2)), (Fraction(1), Fraction(3))),
}


@pytest.mark.parametrize("name", sorted({*maps.MAPS} - {"sample", "batches", "allocate"}))
def test_maps_that_differ_in_a_key_are_not_equal(name: str) -> None:
    # Else `total` would take unlike tables of two specs for one.
    form = maps.MAPS[name]
    values = [key.choices or VALUES[key.sort] for key in form.keys]
    for place, key in enumerate(form.keys):
        differ = [
            form.made(*first[:place], one, *first[place + 1 :])
            != form.made(*first[:place], other, *first[place + 1 :])
            for one, other in pairwise(values[place])
            for first in product(*((None, each[0]) for each in values))
            if fits(form, (*first[:place], one, *first[place + 1 :]))
            and fits(form, (*first[:place], other, *first[place + 1 :]))
        ]
        assert differ and all(differ), key.name


def fits(form: Form[Map], values: tuple[Any, ...]) -> bool:
    """Whether a map may have these values."""
    if any(v is None and k.default is REQUIRED for k, v in zip(form.keys, values, strict=True)):
        return False
    try:
        form.made(*values)
    except Contradiction:
        return False
    return True
