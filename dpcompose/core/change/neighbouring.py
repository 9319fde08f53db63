"""Neighbouring relations and the distances between them (GMPS24, Section III)."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class RelationKind(StrEnum):
    """The built-in neighbouring relations, named as in a spec."""

    UNBOUNDED = "unbounded"
    BOUNDED = "bounded"
    USER = "user"
    EDGE = "edge"
    NODE = "node"
    NODE_REWIRED = "node-rewired"
    FREE_LUNCH = "free-lunch"
    EUCLIDEAN = "euclidean"
    DECLARED = "declared"


class Relation(NamedTuple):
    """A neighbouring relation: which pairs of tables are one step apart.

    `keeps`: columns that a replacement leaves as they are (bounded only; they are public).
    `changes`: the only columns in which it may differ, of a table whose columns are named; None
    where any may (bounded only; then `keeps` is empty). `name`, `within`, `distance`: for a
    declared relation, its name and "at most `distance` steps of `within` apart"; otherwise None (or
    that of `ZERO_OUT`), None and 1.
    """

    kind: RelationKind
    keeps: frozenset[str] = frozenset()
    name: str | None = None
    within: Relation | None = None
    distance: int = 1
    changes: frozenset[str] | None = None

    def __str__(self) -> str:
        if self.name is not None:
            return self.name
        if self.keeps:
            return f"{self.kind.value} keeping {', '.join(sorted(self.keeps))}"
        if self.changes is not None:
            return f"{self.kind.value} changing {', '.join(sorted(self.changes))} alone"
        return self.kind.value

    @property
    def leaves_nulls(self) -> bool:
        """Returns whether a row that is removed leaves a null in its place."""
        return (self.within or self).name == "zero-out"

    @property
    def neighbours(self) -> str:
        """Returns the neighbours in words: `bounded neighbours`, `bounded neighbours keeping
        city`."""
        name = self.name or self.kind.value
        return f"{name} neighbours{str(self).removeprefix(name)}"

    def required_columns(
        self, columns: frozenset[str] | None, others: bool = False
    ) -> frozenset[str] | None:
        """Returns the columns that a replaced row must keep to be one step of the relation (theory,
        section 12).

        `columns`: the columns that the table is known to have, None if its root names none: then
        any replacement is one of `changes`. `others`: the table may have more columns, in any of
        which the rows may differ. None: no replacement is known to be a step.
        """
        if columns is None:
            return self.keeps
        if self.changes is None:
            return self.keeps if others else self.keeps & columns
        return None if others else columns - self.changes


UNBOUNDED = Relation(RelationKind.UNBOUNDED)
#: One row becomes a null, which is as if absent but for its place: the number of rows is public.
ZERO_OUT = Relation(RelationKind.UNBOUNDED, name="zero-out")
BOUNDED = Relation(RelationKind.BOUNDED)
EUCLIDEAN = Relation(RelationKind.EUCLIDEAN)
#: Per unit of the distance in L1, of values whose metric that is.
L1 = Relation(RelationKind.EUCLIDEAN, name="l1")


def graph_distance(stated: RelationKind, step: RelationKind, degree: int | None) -> int | None:
    """Returns how many steps of the relation `stated` make one of `step`, on a graph with public
    vertices.

    `degree` is the largest degree on the whole domain, None if unknown. None means that no finite
    number does. Source: theory of Proposition A.3 applied to edge and node neighbours.
    """
    kinds = RelationKind
    if stated is step:
        return 1
    table: dict[tuple[RelationKind, RelationKind], int | None] = {
        (kinds.EDGE, kinds.NODE): degree,
        (kinds.EDGE, kinds.NODE_REWIRED): None if degree is None else 2 * degree,
        (kinds.NODE, kinds.EDGE): 2,
        (kinds.NODE, kinds.NODE_REWIRED): 2,
        (kinds.NODE_REWIRED, kinds.EDGE): 1,
        (kinds.NODE_REWIRED, kinds.NODE): 1,
    }
    return table.get((stated, step))
