"""Distances: how many steps of a neighbouring relation cover one unit of change (theory, sections
3, 4)."""

from __future__ import annotations

from dpcompose.core.change.neighbouring import RelationKind, graph_distance
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import BOTH, Kind, TracedUnit, leaves, sides
from dpcompose.core.model.placed import Placed

_GRAPH = {
    Kind.EDGE: RelationKind.EDGE,
    Kind.NODE: RelationKind.NODE,
    Kind.NODE_REWIRED: RelationKind.NODE_REWIRED,
}


def steps(placed: Placed, item: TracedUnit) -> int | None:
    """Returns how many steps of a guarantee's relation cover the part of a unit that its mechanism
    reads; for a metric, the distance that is moved.

    `item.leaf` is the unit of the dataset on which the guarantee is stated. None: no number of
    steps covers it.
    """
    relation, traits = placed.statement.relation, placed.traits
    leaf = item.leaf
    kind = leaf.kind
    match relation.kind:
        case RelationKind.UNBOUNDED:
            return _row_steps(placed, item)
        case RelationKind.BOUNDED:
            return _replacements(placed, item)
        case RelationKind.USER:
            return _user_steps(item, traits)
        case RelationKind.EDGE if traits.edge_rows:
            return _row_steps(placed, item)
        case RelationKind.EDGE | RelationKind.NODE | RelationKind.NODE_REWIRED:
            if kind not in _GRAPH:
                return None
            needed = graph_distance(relation.kind, _GRAPH[kind], traits.degree)
            if relation.kind is RelationKind.EDGE and placed.by_edges:
                reached = _edges_reached(item)
                if reached is not None:
                    needed = reached if needed is None else min(needed, reached)
            return needed
        case RelationKind.DECLARED:
            return 1 if kind is Kind.DECLARED and relation.name in leaf.kept else None
        case RelationKind.FREE_LUNCH | RelationKind.EUCLIDEAN:
            return None


def _edges_reached(item: TracedUnit) -> int | None:
    """Returns the most edges of the graph that the change at the dataset read comes from; None if
    not known."""
    reached = 0
    for leaf, count in leaves(item):
        if leaf.kind not in (Kind.SINGLE, Kind.PAIR):
            return None
        reached += len(leaf.ends) * count
    return reached


def _row_steps(placed: Placed, item: TracedUnit) -> int | None:
    """Returns how many steps, each of one row added or removed, cover the unit; None if not
    known."""
    leaf = item.leaf
    if leaf.kind in (Kind.SINGLE, Kind.PAIR):
        return sides(item) if placed.one_end else len(leaf.ends)
    if leaf.kind is not Kind.USER:
        return None
    known = None if leaf.size is None else int(leaf.size)
    levels = None if placed.counted is None else placed.counted - placed.level
    arrived = _arrived(item, levels)
    if arrived is None or known is None:
        return known if arrived is None else arrived
    return min(arrived, known)


def _arrived(item: TracedUnit, levels: int | None) -> int | None:
    """Returns the most rows of a privacy unit from which the change `levels` further down can come.

    `levels`: None for the dataset read. Each unit of change there comes from one row, or from all
    rows together. None if the number is not known.
    """
    if not item.below or levels == 0:
        leaf = item.leaf
        if leaf.kind in (Kind.ANY, Kind.METRIC):
            return None
        rows = leaf.size if leaf.kind is Kind.USER else 1
        return None if rows is None else int(rows)
    total = 0
    for inner, count in item.below:
        arrived = _arrived(inner, None if levels is None else levels - 1)
        if BOTH in inner.leaf.ends and inner.leaf.kind is not Kind.USER:
            arrived = None if inner.leaf.size is None else int(inner.leaf.size)
        if arrived is None:
            return None
        total += arrived * count
    return total


def _replacements(placed: Placed, item: TracedUnit) -> int | None:
    """Returns how many steps, each of one row replaced, cover the unit; None if no number does.

    A row is replaced in the columns that the relation does not keep.
    """
    leaf, padded, traits = item.leaf, placed.padded, placed.traits
    keeps = placed.statement.relation.required_columns(traits.columns, traits.others)
    if keeps is None:
        return None
    if leaf.kind is Kind.PAIR:
        return 1 if keeps.issubset(leaf.kept) else None
    if leaf.kind is Kind.SINGLE:
        if leaf.displaced and keeps.issubset(leaf.kept):
            return 1
        return 1 if padded and not keeps else None
    if leaf.kind is Kind.USER and padded and not keeps:
        return _row_steps(placed, item)
    if leaf.kind is Kind.ANY and leaf.size is not None and not keeps:
        # Two tables of one public size are at most that many replacements apart.
        return int(leaf.size)
    return None


def _user_steps(item: TracedUnit, traits: Traits) -> int | None:
    """Returns how many steps, each of all rows of one privacy unit added or removed, cover the
    unit.

    None if no number does. `traits`: of the dataset on which the guarantee is stated.
    """
    leaf = item.leaf
    if leaf.kind is Kind.USER:
        return 1
    if leaf.kind is Kind.SINGLE:
        return 1 if traits.rows_are_units else 2
    if leaf.kind is Kind.PAIR:
        if traits.rows_are_units:
            return sides(item)
        kept = traits.unit is not None and traits.unit in leaf.kept
        return 2 if kept or sides(item) == 1 else 4
    return None
