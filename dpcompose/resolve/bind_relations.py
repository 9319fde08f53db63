"""Neighbouring relations: what their names mean, and where they have a meaning."""

from __future__ import annotations

from collections.abc import Mapping

from dpcompose.core.change.kind_form import Refusal
from dpcompose.core.change.neighbouring import (
    EUCLIDEAN,
    L1,
    UNBOUNDED,
    ZERO_OUT,
    Relation,
    RelationKind,
)
from dpcompose.core.change.row_facts import Shape
from dpcompose.core.model.problem import Goal
from dpcompose.errors import Path, quoted
from dpcompose.faults import Faults
from dpcompose.resolve.forest import SpecPlace, has_column, named_by_roots, no_unit
from dpcompose.spec.asked import Declared, LongRelation, Protected

_PROTECTABLE = {
    kind.value: Relation(kind)
    for kind in RelationKind
    if kind not in {RelationKind.EUCLIDEAN, RelationKind.DECLARED}
} | {"zero-out": ZERO_OUT}
#: What the built-in relations are that people call otherwise.
_MEANINGS = {
    "unbounded": "one row added or removed",
    "bounded": "one row replaced",
    "edge": "one edge added or removed",
}
_BUILT_IN = {**_PROTECTABLE, "euclidean": EUCLIDEAN, "l1": L1}


class Relations:
    """The relations that a spec can name: the built-in ones, and those that it declares.

    `goal`: what is protected; None if that has an error, after which nothing that relies on it by
    default is reported.
    """

    def __init__(
        self, written: Mapping[str, Declared], broken: frozenset[Path], faults: Faults
    ) -> None:
        self.goal: Goal | None = None
        self._faults = faults
        self._broken = {path[1] for path in broken if path[0] == "relations" and len(path) == 2}
        self._all_broken = ("relations",) in broken
        self._declared: dict[str, Relation] = {}
        for name, declared in written.items():
            self._declare(name, declared)

    def _declare(self, name: str, declared: Declared) -> None:
        """Stores a declared relation by its name in `_declared`; after an error its name in
        `_broken`."""
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
            self._faults.add(
                "DPC129", at, message, wrong=declared.within, legal=_PROTECTABLE, closed=True
            )
            self._broken.add(name)
            return
        self._declared[name] = Relation(
            RelationKind.DECLARED, name=name, within=within, distance=declared.distance
        )

    def protected(self, written: str | Protected) -> Goal | None:
        """Returns the relation to protect, with its distance; None after an error."""
        relation = self.relation(written, ("protect",), protects=True)
        distance = 1 if isinstance(written, str) else written.distance
        return None if relation is None else Goal(relation, distance)

    def relation(
        self, written: str | LongRelation | None, path: Path, protects: bool = False
    ) -> Relation | None:
        """Returns the relation at `path`, by default the protected one; None after an error.

        `protects`: only relations that can be protected are known.
        """
        if written is None:
            return None if self.goal is None else self.goal.relation
        if isinstance(written, str):
            return self._relation_of_name(written, path, protects)
        relation = self._relation_of_name(written.relation, (*path, "relation"), protects)
        changes = written.changes
        if relation is None or (not written.keeps and changes is None):
            return relation
        key = "keeps" if changes is None else "changes"
        if relation.kind is not RelationKind.BOUNDED:
            message = f"`{key}` says what a replacement {key}, and {quoted(str(relation))} is none"
            self._faults.add("DPC152", (*path, key), message, f"`{key}` goes with `bounded`")
            return None
        if written.keeps and changes is not None:
            message = "`keeps` and `changes` exclude each other"
            hint = "`changes` keeps all columns that it does not list: remove one of them"
            self._faults.add("DPC105", (*path, "changes"), message, hint, key=True)
            return None
        columns = None if changes is None else frozenset(changes)
        return Relation(RelationKind.BOUNDED, keeps=frozenset(written.keeps), changes=columns)

    def _relation_of_name(self, name: str, path: Path, protects: bool = False) -> Relation | None:
        """Returns the built-in or declared relation of this name; None after an error, which is
        reported once.

        `protects`: only relations that can be protected are known.
        """
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
        if self._faults.full:
            self._faults.skip()
            return None
        # All that words a fault is loaded where there is one.
        from dpcompose.spec.unions import unknown_word

        about = {each: _MEANINGS.get(each, "") for each in (*built_in, *self._declared)}
        closed = not self._declared
        unknown_word(name, path, self._faults, "DPC129", message, about, "relations", closed)
        return None

    # where they have a meaning

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
        if given and not self._columns_of(relation, domain, at):
            return False
        why = meaningless(relation, domain, movable)
        if why is None:
            return True
        name = quoted(str(relation))
        subject = name if given else f"the relation protected, {name},"
        message = f"{subject} has no meaning on {quoted(domain.name)}: {why.says}"
        self._faults.add(why.code, at, message, why.hint)
        return False

    def _of_nulls(self, relation: Relation, given: bool) -> tuple[str, str] | None:
        """Returns why a statement is not for the nulls of `zero-out` neighbours, and a hint; None
        if it is. `given`: the spec names the relation."""
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
        if relation.kind is not RelationKind.BOUNDED or not domain.sound:
            return True
        root = domain.root
        if relation.changes is None:
            key, names = "keeps", sorted(relation.keeps)
        else:
            key, names = "changes", sorted(relation.changes)
            if root.traits.columns is None:
                named_by_roots(names, (*at, key), [root], True, self._faults)
                return False
        missing = [each for each in names if not has_column(each, (*at, key), root, self._faults)]
        return not missing


# --- meanings -------------------------------------------------------------------------------------

_ON_GRAPHS = frozenset({RelationKind.EDGE, RelationKind.NODE, RelationKind.NODE_REWIRED})
_GRAPH_NAMES = "`edge`, `node` or `node-rewired`"


def meaningless(relation: Relation, place: SpecPlace, movable: bool = True) -> Refusal | None:
    """Returns why `relation` has no meaning on a dataset, or None if it has one.

    `movable`: the statement may be made on another dataset.
    """
    traits, kind = place.traits, relation.kind
    if not place.sound or kind is RelationKind.FREE_LUNCH:
        return None
    if kind is RelationKind.DECLARED:
        assert relation.within is not None
        if place.parent is None:
            return meaningless(relation.within, place, movable)
        hint = f"{_instead(place.root.name, movable)}, or name a built-in relation"
        return Refusal("DPC151", (), "a declared relation is one between roots", hint)
    if kind is RelationKind.EUCLIDEAN:
        if traits.shape is Shape.VALUE:
            if relation == L1 and traits.metric != "l1":
                why = "its distance is Euclidean, and a point may move further in L1"
                return Refusal("DPC149", (), why, "write `metric: l1` in its map")
            return None
        hint = "a distance is one between values: `map: {kind: value, sensitivity: …}`"
        return Refusal("DPC149", (), f"it is {traits.shape}", hint)
    if kind in _ON_GRAPHS:
        return _off_graph(kind, place, movable)
    if traits.shape is Shape.VALUE or (
        traits.shape is Shape.GRAPH and kind is not RelationKind.USER
    ):
        return _no_rows(place, movable)
    if kind is RelationKind.USER and traits.unit is None:
        why, hint = no_unit(place)
        return Refusal("DPC147", (), why, f"{hint}; or name another relation")
    if traits.fixed and kind is not RelationKind.BOUNDED:
        why = "its size is public, so that no two of its tables are neighbours (Example III.4)"
        hint = "say `bounded`: a row is replaced, and the size stays"
        return Refusal("DPC140", (), why, hint)
    if relation.changes is not None and traits.others:
        why = "which columns it has is not known, so that it is not clear what may change there"
        hint = (
            f"say `relation: bounded` (any row replaced), or {_instead(place.root.name, movable)}; "
            "or select what is needed: `map: {kind: columns, only: […]}`"
        )
        return Refusal("DPC159", (), why, hint)
    return None


def _instead(name: str, movable: bool) -> str:
    """Returns the hint to make the statement on the dataset `name` instead, or, where it is not
    `movable`, to read that one."""
    return f"say `stated_on: {name}`" if movable else f"read {quoted(name)} instead"


def _off_graph(kind: RelationKind, place: SpecPlace, movable: bool) -> Refusal | None:
    """Returns why a relation on edges or vertices has no meaning on a dataset; None if it has one.
    `movable`: the statement may be made on another dataset."""
    traits = place.traits
    if traits.shape is Shape.GRAPH or (kind is RelationKind.EDGE and traits.edge_rows):
        return None
    why = f"it is {traits.shape}"
    if place.root.traits.shape is Shape.GRAPH:
        hint = f"{_instead(place.root.name, movable)}, or name a relation between tables"
        return Refusal("DPC146", (), f"{why}, made from a graph", hint)
    return Refusal(
        "DPC146",
        (),
        why,
        "on tables: `unbounded`, `bounded` or `user`; a graph has `domain: graph`",
    )


def _no_rows(place: SpecPlace, movable: bool) -> Refusal:
    """Returns the error of a neighbouring relation between rows on a graph or a value, which have
    none. `movable`: the statement may be made on another dataset."""
    why = f"it is {place.traits.shape} and has no rows"
    if place.traits.shape is Shape.GRAPH:
        return Refusal("DPC148", (), why, f"on graphs: {_GRAPH_NAMES}")
    above = "None" if place.parent is None else place.parent.name
    hint = f"say `relation: euclidean` (per unit of distance), or {_instead(above, movable)}"
    return Refusal("DPC148", (), why, hint)
