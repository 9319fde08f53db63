"""How many steps of one relation make a step of another, and how relations are called."""

from __future__ import annotations

import pytest

from dpcompose.core.change.neighbouring import (
    BOUNDED,
    UNBOUNDED,
    Relation,
    RelationKind,
    graph_distance,
)


@pytest.mark.parametrize(
    ("stated", "step", "steps"),
    [
        ("edge", "edge", 1), ("edge", "node", 4), ("edge", "node-rewired", 8),
        ("node", "edge", 2), ("node", "node", 1), ("node", "node-rewired", 2),
        ("node-rewired", "edge", 1), ("node-rewired", "node", 1), ("unbounded", "edge", None),
    ],
)  # fmt: skip
def test_graphs_of_degree_four(stated: str, step: str, steps: int | None) -> None:
    assert graph_distance(RelationKind(stated), RelationKind(step), 4) == steps


def test_without_a_degree_no_number_of_edges_makes_a_node() -> None:
    for step in (RelationKind.NODE, RelationKind.NODE_REWIRED):
        assert graph_distance(RelationKind.EDGE, step, None) is None
    assert graph_distance(RelationKind.NODE, RelationKind.NODE_REWIRED, None) == 2


def test_names() -> None:
    keeping = Relation(RelationKind.BOUNDED, frozenset({"b", "a"}))
    assert str(keeping) == "bounded keeping a, b" and str(BOUNDED) == "bounded"
    house = Relation(RelationKind.DECLARED, name="house", within=UNBOUNDED, distance=4)
    assert str(house) == "house"
