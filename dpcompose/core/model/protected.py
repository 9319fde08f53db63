"""The change that the protected relation makes in a root."""

from __future__ import annotations

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.units import ANY, Item, Kind, Leaf, State, leaf_item, outermost
from dpcompose.core.model.problem import Domain, Goal, Root
from dpcompose.core.model.tree import STEP, Place


def initial(root: Root, top: Place, goal: Goal, taken: int | None = None) -> State:
    """The change that `goal` makes in a root; none where it changes no column that the root has.

    `taken`: so many steps alone, not all that the goal allows; of a declared relation so many of
    those that it is within, and of all these fewer than it allows are one step of it as well.
    """
    relation = goal.relation
    steps = goal.distance if taken is None else taken
    name = None
    if relation.kind is RelationKind.DECLARED:
        assert relation.within is not None
        name, inside, relation = relation.name, relation.distance, relation.within
        if taken is not None:
            steps, inside = (1, taken) if STEP in top.levels else (taken, 1)
    columns = top.traits.columns
    kept = relation.kept(columns) or frozenset()
    if relation.changes is not None and kept == columns:
        return ()
    leaf = _step_leaf(root, relation.kind, tuple(sorted(kept)))
    if name is None:
        if STEP in top.levels:
            return ((Item(Leaf(Kind.DECLARED), ((leaf_item(leaf), 1),)), steps),)
        return ((leaf_item(leaf), steps),)
    if STEP not in top.levels:
        return ((leaf_item(outermost(leaf)), steps * inside),)
    step = Leaf(Kind.DECLARED, (0,), (name,)) if name else Leaf(Kind.DECLARED)
    tags = (0, 0) if len(leaf.tags) == 2 else (0,)
    return ((Item(step, ((leaf_item(leaf._replace(tags=tags)), inside),)), steps),)


def _step_leaf(root: Root, kind: RelationKind, keeps: tuple[str, ...]) -> Leaf:
    table = root.domain is not Domain.GRAPH
    match kind:
        case RelationKind.UNBOUNDED if table:
            return Leaf(Kind.SINGLE)
        case RelationKind.BOUNDED if table:
            return Leaf(Kind.PAIR, (0, 1), keeps)
        case RelationKind.USER if table and root.unit is not None:
            return Leaf(Kind.USER)
        case RelationKind.EDGE if not table:
            return Leaf(Kind.EDGE)
        case RelationKind.NODE if not table:
            return Leaf(Kind.NODE)
        case RelationKind.NODE_REWIRED if not table:
            return Leaf(Kind.NODE_REWIRED)
        case _:
            return ANY._replace(size=root.size)
