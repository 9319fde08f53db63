"""Names of neighbouring relations: the built-in ones, and those that a spec declares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dpcompose.core.change.neighbouring import EUCLIDEAN, L1, ZERO_OUT, Relation, RelationKind
from dpcompose.core.model.problem import Goal
from dpcompose.errors import Path, meant, quoted
from dpcompose.faults import Faults
from dpcompose.source.rewriting import writing
from dpcompose.spec import synonyms
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


def changing(columns: Iterable[str]) -> Relation:
    """Returns the bounded relation in which a row is replaced in these columns only."""
    return Relation(RelationKind.BOUNDED, changes=frozenset(columns))


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

    def goal(self, written: str | Protected) -> Goal | None:
        """Returns the relation to protect, with its distance; None after an error."""
        path: Path = ("protect",)
        if isinstance(written, str):
            relation = self._relation_of_name(written, path, protects=True)
            return None if relation is None else Goal(relation)
        relation = self._long(written, path, protects=True)
        return None if relation is None else Goal(relation, written.distance)

    def stated(self, written: str | LongRelation, path: Path) -> Relation | None:
        """Returns the relation of a statement; None after an error."""
        if isinstance(written, str):
            return self._relation_of_name(written, path)
        return self._long(written, path)

    def _long(self, written: LongRelation, path: Path, protects: bool = False) -> Relation | None:
        """Returns the relation that a mapping with `keeps` or `changes` declares; None after an
        error."""
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
        return (
            changing(changes)
            if changes
            else Relation(RelationKind.BOUNDED, keeps=frozenset(written.keeps))
        )

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
        legal = [*built_in, *self._declared]
        word = synonyms.relation(name)
        if word is None or meant(name, legal, closed=True) is not None:
            closed = not self._declared
            self._faults.add("DPC129", path, message, wrong=name, legal=legal, closed=closed)
        elif word.write is None:
            self._faults.add("DPC129", path, message, word.says)
        elif word.write in legal:
            says = _MEANINGS.get(word.write)
            hint = f"{quoted(word.write)}: {says}" if says else None
            label, fix = f"write `{word.write}`", writing(path, word.write)
            self._faults.add("DPC129", path, message, hint, label=label, fix=fix)
        else:
            self._faults.add("DPC129", path, message, wrong=name, legal=legal)
        return None
