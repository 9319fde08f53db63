"""Where a neighbouring relation has a meaning."""

from __future__ import annotations

from typing import NamedTuple

from dpcompose.core.change.neighbouring import L1, UNBOUNDED, Relation, RelationKind
from dpcompose.core.change.row_facts import Shape
from dpcompose.core.model.problem import Goal
from dpcompose.errors import Path, quoted
from dpcompose.faults import Faults
from dpcompose.resolve.bind_relations import Relations
from dpcompose.resolve.facts import Facts, no_unit
from dpcompose.resolve.forest import SpecPlace
from dpcompose.resolve.named_columns import has_column, named_by_roots
from dpcompose.spec.asked import LongRelation

_ON_GRAPHS = frozenset({RelationKind.EDGE, RelationKind.NODE, RelationKind.NODE_REWIRED})
_GRAPH_NAMES = "`edge`, `node` or `node-rewired`"


class Where(NamedTuple):
    """A dataset on which a relation is checked for a meaning.

    `above`: the name of what it is made from. `movable`: the statement may be made on another
    dataset.
    """

    name: str
    facts: Facts
    above: str | None
    movable: bool = True

    def instead(self, name: str) -> str:
        """Returns the hint to make the statement on the dataset `name` instead."""
        return f"say `stated_on: {name}`" if self.movable else f"read {quoted(name)} instead"


class Meaningless(NamedTuple):
    """The reason why a relation has no meaning on a dataset: a code, a clause and a hint."""

    code: str
    why: str
    hint: str


def meaningless(relation: Relation, where: Where) -> Meaningless | None:
    """Returns why `relation` has no meaning on a dataset, or None if it has one."""
    facts, kind = where.facts, relation.kind
    if not facts.sound or kind is RelationKind.FREE_LUNCH:
        return None
    if kind is RelationKind.DECLARED:
        assert relation.within is not None
        if where.above is None:
            return meaningless(relation.within, where)
        hint = f"{where.instead(facts.root)}, or name a built-in relation"
        return Meaningless("DPC151", "a declared relation is one between roots", hint)
    if kind is RelationKind.EUCLIDEAN:
        if facts.traits.shape is Shape.VALUE:
            if relation == L1 and facts.traits.metric != "l1":
                why = "its distance is Euclidean, and a point may move further in L1"
                return Meaningless("DPC149", why, "write `metric: l1` in its map")
            return None
        hint = "a distance is one between values: `map: {kind: value, sensitivity: …}`"
        return Meaningless("DPC149", f"it is {facts.traits.shape}", hint)
    if kind in _ON_GRAPHS:
        return _off_graph(kind, where)
    shape = facts.traits.shape
    if shape is Shape.VALUE or (shape is Shape.GRAPH and kind is not RelationKind.USER):
        return _no_rows(where)
    if kind is RelationKind.USER and facts.traits.unit is None:
        why, hint = no_unit(facts)
        return Meaningless("DPC147", why, f"{hint}; or name another relation")
    if facts.traits.fixed and kind is not RelationKind.BOUNDED:
        why = "its size is public, so that no two of its tables are neighbours (Example III.4)"
        hint = "say `bounded`: a row is replaced, and the size stays"
        return Meaningless("DPC140", why, hint)
    if relation.changes is not None and facts.traits.others:
        why = "which columns it has is not known, so that it is not clear what may change there"
        hint = (
            f"say `relation: bounded` (any row replaced), or {where.instead(facts.root)}; "
            "or select what is needed: `map: {kind: columns, only: […]}`"
        )
        return Meaningless("DPC159", why, hint)
    return None


def _off_graph(kind: RelationKind, where: Where) -> Meaningless | None:
    """Returns why a relation on edges or vertices has no meaning on a dataset; None if it has
    one."""
    facts = where.facts
    traits = facts.traits
    if traits.shape is Shape.GRAPH or (kind is RelationKind.EDGE and traits.edge_rows):
        return None
    why = f"it is {facts.traits.shape}"
    if facts.on_graph:
        hint = f"{where.instead(facts.root)}, or name a relation between tables"
        return Meaningless("DPC146", f"{why}, made from a graph", hint)
    return Meaningless(
        "DPC146", why, "on tables: `unbounded`, `bounded` or `user`; a graph has `domain: graph`"
    )


def _no_rows(where: Where) -> Meaningless:
    """Returns why a relation between rows has no meaning on a dataset without rows."""
    why = f"it is {where.facts.traits.shape} and has no rows"
    if where.facts.traits.shape is Shape.GRAPH:
        return Meaningless("DPC148", why, f"on graphs: {_GRAPH_NAMES}")
    hint = f"say `relation: euclidean` (per unit of distance), or {where.instead(str(where.above))}"
    return Meaningless("DPC148", why, hint)


# --- of statements -------------------------------------------------------------------------------


class Meanings:
    """Looks up the relations of statements, and checks that they have a meaning on their
    datasets."""

    def __init__(self, relations: Relations, goal: Goal | None, faults: Faults) -> None:
        """Sets up the checks; `goal` is None if it has errors: defaults that depend on it are not
        reported."""
        self.goal = goal
        self._relations = relations
        self._faults = faults
        self._simple: dict[str, Relation] = {}
        self._fine: set[tuple[Relation, int, bool]] = set()

    def relation(self, written: str | LongRelation | None, path: Path) -> Relation | None:
        """Returns the relation at `path`, by default the protected one; None after an error."""
        if written is None:
            return None if self.goal is None else self.goal.relation
        if not isinstance(written, str):
            return self._relations.stated(written, path)
        known = self._simple.get(written)
        if known is None:
            known = self._relations.stated(written, path)
            if known is not None:
                self._simple[written] = known
        return known

    def hold(
        self, relation: Relation, domain: SpecPlace, at: Path, given: bool, movable: bool = True
    ) -> bool:
        """Returns whether a relation has a meaning on a dataset; if not, reports an error at the
        path `at`.

        `given`: the spec names the relation. `movable`: the statement may be made on another
        dataset.
        """
        if fault := self._of_nulls(relation, given and movable):
            self._faults.add("DPC150", at, *fault)
            return False
        key = (relation, id(domain.facts), domain.parent is None)
        if key in self._fine:
            return True
        if given and not self._columns_of(relation, domain, at):
            return False
        above = None if domain.parent is None else domain.parent.name
        why = meaningless(relation, Where(domain.name, domain.facts, above, movable))
        if why is None:
            self._fine.add(key)
            return True
        name = quoted(str(relation))
        subject = name if given else f"the relation protected, {name},"
        message = f"{subject} has no meaning on {quoted(domain.name)}: {why.why}"
        self._faults.add(why.code, at, message, why.hint)
        return False

    def _of_nulls(self, relation: Relation, given: bool) -> tuple[str, str] | None:
        """Returns why a statement is not for the nulls of `zero-out` neighbours, and a hint; None
        if it is."""
        nulls = self.goal is not None and self.goal.relation.leaves_nulls
        if relation.leaves_nulls and self.goal is not None and not nulls:
            message = f"{quoted(str(relation))} neighbours have nulls, which are not protected here"
            hint = "write `protect: zero-out`, or state it for rows added and removed: `unbounded`"
            return message, hint
        if nulls and given and relation == UNBOUNDED:
            message = "under `zero-out` a row becomes a null: it is neither added nor removed"
            hint = (
                "leave `relation` out if to this mechanism a null is as no row, whatever it reads"
            )
            return message, hint
        return None

    def _columns_of(self, relation: Relation, domain: SpecPlace, at: Path) -> bool:
        """Returns whether the columns that a relation names are columns of the root; if not,
        reports an error.

        They need not be among the columns that the dataset still has.
        """
        if relation.kind is not RelationKind.BOUNDED or not domain.facts.sound:
            return True
        root = domain
        while root.parent is not None:
            root = root.parent
        if relation.changes is None:
            key, names = "keeps", sorted(relation.keeps)
        else:
            key, names = "changes", sorted(relation.changes)
            if root.facts.traits.columns is None:
                named_by_roots(names, (*at, key), [root], True, self._faults)
                return False
        missing = [each for each in names if not has_column(each, (*at, key), root, self._faults)]
        return not missing
