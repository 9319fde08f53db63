"""Names of neighbouring relations, and where a relation has a meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from dpcompose.core.problem import Goal
from dpcompose.core.relation import Relation, RelationKind
from dpcompose.errors import Path, quoted
from dpcompose.faults import Faults
from dpcompose.resolve.facts import Facts, Shape, no_unit
from dpcompose.spec.mechanisms import Declared, LongRelation, Protected

_PROTECTABLE = {
    kind.value: Relation(kind)
    for kind in RelationKind
    if kind not in {RelationKind.EUCLIDEAN, RelationKind.DECLARED}
}
_BUILT_IN = {**_PROTECTABLE, "euclidean": Relation(RelationKind.EUCLIDEAN)}
_ON_GRAPHS = frozenset({RelationKind.EDGE, RelationKind.NODE, RelationKind.NODE_REWIRED})
_GRAPH_NAMES = "`edge`, `node` or `node-rewired`"


class Relations:
    """The relations that a spec can name: the built-in ones, and those that it declares."""

    def __init__(
        self, written: Mapping[str, Declared], broken: frozenset[Path], faults: Faults
    ) -> None:
        self._faults = faults
        self._broken = {path[1] for path in broken if path[0] == "relations" and len(path) == 2}
        self._all_broken = ("relations",) in broken
        self._declared: dict[str, Relation] = {}
        for name, declared in written.items():
            self._declare(name, declared)

    def _declare(self, name: str, declared: Declared) -> None:
        path = ("relations", name)
        if name in _BUILT_IN or not name.strip():
            message = f"{quoted(name)} cannot be the name of a declared relation"
            hint = "it is built in: choose another name" if name in _BUILT_IN else None
            self._faults.add("DPC109", path, message, hint, key=True)
            self._broken.add(name)
            return
        within = _PROTECTABLE.get(declared.within)
        if within is None:
            message = f"{quoted(declared.within)} is not a built-in relation"
            at = (*path, "within")
            self._faults.add("DPC129", at, message, wrong=declared.within, legal=_PROTECTABLE)
            self._broken.add(name)
            return
        self._declared[name] = Relation(
            RelationKind.DECLARED, name=name, within=within, distance=declared.distance
        )

    def goal(self, written: str | Protected) -> Goal | None:
        """The relation to protect; None if it is faulty, which is then reported."""
        path: Path = ("protect",)
        if isinstance(written, str):
            relation = self._named(written, path, protects=True)
            return None if relation is None else Goal(relation)
        relation = self._long(written, path, protects=True)
        return None if relation is None else Goal(relation, written.distance)

    def stated(self, written: str | LongRelation, path: Path) -> Relation | None:
        """The relation of a statement; None if it is faulty, which is then reported."""
        if isinstance(written, str):
            return self._named(written, path)
        return self._long(written, path)

    def _long(self, written: LongRelation, path: Path, protects: bool = False) -> Relation | None:
        relation = self._named(written.relation, (*path, "relation"), protects)
        if relation is None or not written.keeps:
            return relation
        if relation.kind is not RelationKind.BOUNDED:
            message = f"`keeps` says what a replacement keeps, and {quoted(str(relation))} is none"
            self._faults.add("DPC152", (*path, "keeps"), message, "`keeps` goes with `bounded`")
            return None
        return Relation(RelationKind.BOUNDED, keeps=frozenset(written.keeps))

    def _named(self, name: str, path: Path, protects: bool = False) -> Relation | None:
        built_in = _PROTECTABLE if protects else _BUILT_IN
        relation = built_in.get(name) or self._declared.get(name)
        if relation is not None or name in self._broken:
            return relation
        if protects and name in _BUILT_IN:
            message = f"{quoted(name)} is a relation between values: it cannot be protected"
        elif self._all_broken:
            return None
        else:
            message = f"unknown relation {quoted(name)}"
        legal = [*built_in, *self._declared]
        self._faults.add("DPC129", path, message, wrong=name, legal=legal)
        return None


# --- meaning -------------------------------------------------------------------------------------


class Where(NamedTuple):
    """A dataset as the meaning of a relation needs it; `above`: what it is made from."""

    name: str
    facts: Facts
    above: str | None


class Meaningless(NamedTuple):
    """Why a relation has no meaning on a dataset, and what to do."""

    code: str
    why: str
    hint: str


def meaningless(relation: Relation, where: Where) -> Meaningless | None:
    """Why `relation` has no meaning on a dataset, or None if it has one."""
    facts, kind = where.facts, relation.kind
    if not facts.sound or kind is RelationKind.FREE_LUNCH:
        return None
    if kind is RelationKind.DECLARED:
        assert relation.within is not None
        if where.above is None:
            return meaningless(relation.within, where)
        hint = f"say `stated_on: {facts.root}`, or name a built-in relation"
        return Meaningless("DPC151", "a declared relation is one between roots", hint)
    if kind is RelationKind.EUCLIDEAN:
        if facts.shape is Shape.VALUE:
            return None
        hint = "a distance is one between values: `map: {kind: value, sensitivity: …}`"
        return Meaningless("DPC149", f"it is {facts.shape}", hint)
    if kind in _ON_GRAPHS:
        return _off_graph(kind, where)
    if facts.shape is Shape.VALUE or (facts.shape is Shape.GRAPH and kind is not RelationKind.USER):
        return _no_rows(where)
    if kind is RelationKind.USER and facts.unit is None:
        why, hint = no_unit(facts)
        return Meaningless("DPC147", why, f"{hint}; or name another relation")
    if facts.fixed and kind is not RelationKind.BOUNDED:
        why = "its size is public, so that no two of its tables are neighbours (Example III.4)"
        hint = "say `bounded`: a row is replaced, and the size stays"
        return Meaningless("DPC140", why, hint)
    return None


def _off_graph(kind: RelationKind, where: Where) -> Meaningless | None:
    facts = where.facts
    if facts.shape is Shape.GRAPH or (kind is RelationKind.EDGE and facts.edge_rows):
        return None
    why = f"it is {facts.shape}"
    if facts.on_graph:
        hint = f"say `stated_on: {facts.root}`, or name a relation between tables"
        return Meaningless("DPC146", f"{why}, made from a graph", hint)
    return Meaningless(
        "DPC146", why, "on tables: `unbounded`, `bounded` or `user`; a graph has `domain: graph`"
    )


def _no_rows(where: Where) -> Meaningless:
    why = f"it is {where.facts.shape} and has no rows"
    if where.facts.shape is Shape.GRAPH:
        return Meaningless("DPC148", why, f"on graphs: {_GRAPH_NAMES}")
    hint = f"say `relation: euclidean` (per unit of distance), or `stated_on: {where.above}`"
    return Meaningless("DPC148", why, hint)
