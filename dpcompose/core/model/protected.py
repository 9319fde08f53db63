"""The change that the protected neighbouring relation makes in a root."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.units import (
    ANY,
    ChangeUnit,
    Kind,
    State,
    TracedUnit,
    leaf_item,
    outermost,
    state_of,
)
from dpcompose.core.model.problem import Domain, Goal, Root
from dpcompose.core.model.tree import STEP, Place


def initial(root: Root, top: Place, goal: Goal, taken: Sequence[int] | None = None) -> State:
    """Returns the change of a root table that is to be protected; empty if it changes no column of
    the root.

    `top`: the place of the root; `goal`: the protected relation. `taken`: a part of the protected
    change, for a root that shares it with others. For a declared relation, one number for each of
    its steps: the steps of the relation it is made of that this root takes. For another relation
    only their sum counts.
    """
    relation, name = goal.relation, None
    parts = {1: goal.distance if taken is None else sum(taken)}
    if relation.kind is RelationKind.DECLARED:
        assert relation.within is not None
        parts = {relation.distance: goal.distance} if taken is None else Counter(taken)
        name, relation = relation.name, relation.within
    columns = top.traits.columns
    kept = relation.required_columns(columns) or frozenset()
    if relation.changes is not None and kept == columns:
        return ()
    leaf = _step_leaf(root, relation.kind, tuple(sorted(kept)))
    if STEP not in top.levels:
        total = sum(inside * n for inside, n in parts.items())
        return ((leaf_item(leaf if name is None else outermost(leaf)), total),)
    step = ChangeUnit(Kind.DECLARED, (0,), () if name is None else (name,))
    if name is not None:
        leaf = leaf._replace(ends=(0, 0) if len(leaf.ends) == 2 else (0,))
    return state_of(
        (TracedUnit(step, ((leaf_item(leaf), inside),)), n) for inside, n in parts.items()
    )


def _step_leaf(root: Root, kind: RelationKind, keeps: tuple[str, ...]) -> ChangeUnit:
    """Returns the unit of change of one step of a built-in relation; `ANY` if the relation is not
    one on such a root.

    `keeps`: the columns that a replaced row keeps.
    """
    table = root.domain is not Domain.GRAPH
    match kind:
        case RelationKind.UNBOUNDED if table:
            return ChangeUnit(Kind.SINGLE)
        case RelationKind.BOUNDED if table:
            return ChangeUnit(Kind.PAIR, (0, 1), keeps)
        case RelationKind.USER if table and root.unit is not None:
            return ChangeUnit(Kind.USER, size=root.max_rows_per_unit)
        case RelationKind.EDGE if not table:
            return ChangeUnit(Kind.EDGE)
        case RelationKind.NODE if not table:
            return ChangeUnit(Kind.NODE)
        case RelationKind.NODE_REWIRED if not table:
            return ChangeUnit(Kind.NODE_REWIRED)
        case _:
            return ANY._replace(size=root.size)
