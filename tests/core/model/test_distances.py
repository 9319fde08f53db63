"""How many steps of a statement cover a unit of change, by the definitions of the relations."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dpcompose.core.change.neighbouring import Relation, RelationKind
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import ANY, PAIR, SINGLE, ChangeUnit, Kind, TracedUnit, leaf_item
from dpcompose.core.model.distances import steps
from dpcompose.core.model.placed import Placed
from dpcompose.core.model.problem import Statement
from dpcompose.core.notions.guarantee import Guarantee
from dpcompose.core.notions.notion import Notion

ROWS = Traits()
UNITS = Traits(unit="u", rows_are_units=True)
WITH_UNIT = Traits(unit="u")
DEGREE = Traits(degree=4)
EDGES = Traits(edge_rows=True, degree=4)


def needed(
    kind: str, leaf: ChangeUnit | TracedUnit, traits: Traits = ROWS, **more: Any
) -> int | None:
    """The steps of a statement on a relation, beside what else is known of its place."""
    keeps, name = frozenset(more.pop("keeps", ())), more.pop("name", None)
    relation = Relation(RelationKind(kind), keeps, name)
    statement = Statement(relation, 0, Guarantee(Notion.PURE, Fraction(1)), ())
    item = leaf if isinstance(leaf, TracedUnit) else leaf_item(leaf)
    return steps(Placed(statement, 0, traits, **more), item)


def test_rows_added_and_removed() -> None:
    assert needed("unbounded", SINGLE) == 1 and needed("unbounded", PAIR) == 2
    # The new row alone goes on, and the old one may be left out or not.
    new = TracedUnit(PAIR, ((leaf_item(ChangeUnit(Kind.SINGLE, (1,), sign=1)), 1),))
    assert needed("unbounded", new) == 1 and needed("unbounded", new, one_end=False) == 2
    user = ChangeUnit(Kind.USER)
    assert needed("unbounded", user._replace(size=3)) == 3 and needed("unbounded", user) is None
    assert needed("unbounded", ANY._replace(size=3)) is None


def test_no_more_rows_of_a_user_than_go_on() -> None:
    rows = ((leaf_item(SINGLE), 2),)
    assert needed("unbounded", TracedUnit(ChangeUnit(Kind.USER, size=5), rows)) == 2
    assert needed("unbounded", TracedUnit(ChangeUnit(Kind.USER), rows)) == 2
    # Two rows that go on count where all of the user counts: none has gone on there.
    assert needed("unbounded", TracedUnit(ChangeUnit(Kind.USER, size=5), rows), counted=0) == 5


def test_rows_replaced() -> None:
    assert needed("bounded", PAIR) == 1 and needed("bounded", SINGLE) is None
    assert needed("bounded", SINGLE, padded=True) == 1
    assert needed("bounded", SINGLE._replace(displaced=True)) == 1
    assert needed("bounded", ANY._replace(size=7)) == 7 and needed("bounded", ANY) is None
    user = ChangeUnit(Kind.USER, size=3)
    assert needed("bounded", user, padded=True) == 3 and needed("bounded", user) is None


def test_rows_replaced_that_keep_a_column() -> None:
    assert needed("bounded", PAIR._replace(kept=("c", "d")), keeps="c") == 1
    assert needed("bounded", PAIR._replace(kept=("d",)), keeps="c") is None
    assert needed("bounded", SINGLE, keeps="c", padded=True) is None
    assert needed("bounded", ANY._replace(size=7), keeps="c") is None


@pytest.mark.parametrize(
    ("leaf", "traits", "found"),
    [
        (ChangeUnit(Kind.USER), WITH_UNIT, 1),
        (SINGLE, UNITS, 1),
        # All rows of a user go, and all but the one that is removed come back.
        (SINGLE, WITH_UNIT, 2),
        (PAIR, UNITS, 2),
        (PAIR._replace(kept=("u",)), WITH_UNIT, 2),  # of one user
        (PAIR, WITH_UNIT, 4),  # of two
        (ANY, WITH_UNIT, None),
    ],
)
def test_users(leaf: ChangeUnit, traits: Traits, found: int | None) -> None:
    assert needed("user", leaf, traits) == found


def test_graphs() -> None:
    node = ChangeUnit(Kind.NODE)
    assert needed("edge", node, DEGREE) == 4 and needed("edge", node) is None
    assert needed("node", ChangeUnit(Kind.EDGE), DEGREE) == 2
    assert needed("node", SINGLE, DEGREE) is None
    assert needed("edge", SINGLE, EDGES) == 1 and needed("edge", PAIR, EDGES) == 2
    # Of a node with four edges three are in the table that is read.
    reached = TracedUnit(node, ((leaf_item(SINGLE), 3),))
    assert needed("edge", reached, DEGREE) == 4
    assert needed("edge", reached, DEGREE, by_edges=True) == 3
    assert needed("edge", reached, by_edges=True) == 3


def test_declared_relations_cover_their_own_step_alone() -> None:
    step = ChangeUnit(Kind.DECLARED, (0,), ("house",))
    assert needed("declared", step, name="house") == 1
    assert needed("declared", step, name="street") is None
    assert needed("declared", SINGLE, name="house") is None


@pytest.mark.parametrize("kind", ["free-lunch", "euclidean"])
def test_relations_of_which_no_number_of_steps_is_known(kind: str) -> None:
    assert needed(kind, SINGLE) is None and needed(kind, ANY._replace(size=1)) is None


def test_a_displaced_row_is_a_replacement_of_its_own_key() -> None:
    displaced = SINGLE._replace(displaced=True, kept=("a",))
    assert needed("bounded", displaced, keeps=["a"]) == 1
    assert needed("bounded", displaced, keeps=["b"]) is None
    assert needed("bounded", displaced, keeps=["a", "b"], padded=True) is None
