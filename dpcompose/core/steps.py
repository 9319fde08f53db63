"""How many steps of a relation cover one unit of change (theory, sections 3 and 4)."""

from __future__ import annotations

from dpcompose.core.change import Item, Kind, Traits, leaves, sides
from dpcompose.core.relation import Relation, RelationKind, graph_distance

_GRAPH = {
    Kind.EDGE: RelationKind.EDGE,
    Kind.NODE: RelationKind.NODE,
    Kind.NODE_REWIRED: RelationKind.NODE_REWIRED,
}


def steps(
    relation: Relation, item: Item, padded: bool, traits: Traits, by_edges: bool = False
) -> int | None:
    """How many steps of `relation` cover the part of a unit that reaches the dataset read.

    None: no number of steps does. `item.leaf` is the unit at the statement's own dataset.
    """
    leaf = item.leaf
    kind = leaf.kind
    match relation.kind:
        case RelationKind.UNBOUNDED:
            return _row_steps(item)
        case RelationKind.BOUNDED:
            return _replacements(relation, item, padded)
        case RelationKind.USER:
            return _user_steps(item, traits)
        case RelationKind.EDGE if traits.edge_rows:
            return _row_steps(item)
        case RelationKind.EDGE | RelationKind.NODE | RelationKind.NODE_REWIRED:
            if kind not in _GRAPH:
                return None
            needed = graph_distance(relation.kind, _GRAPH[kind], traits.degree)
            if relation.kind is RelationKind.EDGE and by_edges:
                reached = _edges_reached(item)
                if reached is not None:
                    needed = reached if needed is None else min(needed, reached)
            return needed
        case RelationKind.DECLARED:
            return 1 if kind is Kind.DECLARED and relation.name in leaf.kept else None
        case RelationKind.FREE_LUNCH | RelationKind.EUCLIDEAN:
            return None


def _edges_reached(item: Item) -> int | None:
    """How many edges reach the dataset read, at most; None if that cannot be told."""
    reached = 0
    for leaf, count in leaves(item):
        if leaf.kind not in (Kind.SINGLE, Kind.PAIR):
            return None
        reached += len(leaf.tags) * count
    return reached


def _row_steps(item: Item) -> int | None:
    """Steps of adding or removing one row."""
    leaf = item.leaf
    if leaf.kind in (Kind.SINGLE, Kind.PAIR):
        return sides(item)
    if leaf.kind is not Kind.USER:
        return None
    # Each unit that arrives stems from one row of the user; all of them are at most `size`.
    known = None if leaf.size is None else int(leaf.size)
    arrived = 0
    for each, count in leaves(item):
        rows = each.size if each.kind is Kind.USER else 1
        if rows is None or each.kind in (Kind.ANY, Kind.METRIC):
            return known
        arrived += int(rows) * count
    return arrived if known is None else min(arrived, known)


def _replacements(relation: Relation, item: Item, padded: bool) -> int | None:
    """Steps of replacing one row (keeping `relation.keeps`)."""
    leaf = item.leaf
    keeps = relation.keeps
    if leaf.kind is Kind.PAIR:
        return 1 if keeps.issubset(leaf.kept) else None
    if leaf.kind is Kind.SINGLE:
        if leaf.displaced and keeps.issubset(leaf.kept):
            return 1
        return 1 if padded and not keeps else None
    if leaf.kind is Kind.USER and padded and not keeps:
        return _row_steps(item)
    return None


def _user_steps(item: Item, traits: Traits) -> int | None:
    """Steps of adding or removing all rows of one unit."""
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
