"""What the author of a spec might say of it, if it is true, that could make its bound less.

A candidate is a change of the tree of a spec, in words as well: whether it saves anything is found
by analysing the changed spec. Nothing here looks at numbers, but for the noise of what is stated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.mechanisms import FORMS
from dpcompose.core.model.problem import Mechanism, Problem, Statement
from dpcompose.core.notions.notion import Notion
from dpcompose.core.numbers.exact import sqrt_up
from dpcompose.errors import Path
from dpcompose.planning.scaling import number_text
from dpcompose.report.wording import listing
from dpcompose.source import Number, Source, Value

#: What stands at a key of a spec.
Tree = dict[str, Value]


class Put(NamedTuple):
    """A value at a place in the tree, where nothing or another one stands; None removes it."""

    path: Path
    value: Value


@dataclass(frozen=True, slots=True)
class Entry:
    """What is written at one entry of a spec, which stands at `path`, and what that changes."""

    path: Path
    write: str
    puts: tuple[Put, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """Entries that say the same kind of thing, true together.

    `condition`: when they are true, with `{}` for the names that `of` gives, one for each entry, if
    there are any.
    """

    key: str
    condition: str
    entries: tuple[Entry, ...]
    of: tuple[str, ...] = ()

    @property
    def says(self) -> str:
        """When the entries are true."""
        return self.condition.replace("{}", listing(self.of)) if self.of else self.condition

    def alone(self, at: int) -> Candidate:
        """One of the entries by itself."""
        return replace(self, entries=self.entries[at : at + 1], of=self.of[at : at + 1])


def candidates(source: Source, problem: Problem) -> list[Candidate]:
    """What could be said, the plainest first."""
    tree = source.value
    assert isinstance(tree, dict)
    spec = _Spec(tree, problem)
    found = [
        *_disjoint(spec),
        *_once(spec),
        *_units(spec),
        *_samples(spec),
        *_replaced(spec),
        *_cells(spec),
        *_named(spec),
        *_drops(spec),
        *_keeps(spec),
        *_above(spec),
    ]
    return [each for each in found if each.entries]


class _Spec:
    """The parts of a spec that candidates speak of."""

    def __init__(self, tree: Tree, problem: Problem) -> None:
        self.tree, self.problem = tree, problem
        datasets, mechanisms = tree.get("datasets"), tree.get("mechanisms")
        assert isinstance(datasets, dict) and isinstance(mechanisms, list)
        self.datasets: dict[str, Tree] = {
            name: each if isinstance(each, dict) else {} for name, each in datasets.items()
        }
        self.mechanisms: list[tuple[int, Tree]] = [
            (at, each)
            for at, each in enumerate(mechanisms)
            if isinstance(each, dict) and isinstance(each.get("reads"), str)
        ]
        self._taken = {*self.datasets}
        goal = problem.goal.relation
        self.kind = (goal.within or goal).kind
        self.meant: dict[str, Mechanism] = {each.name: each for each in problem.mechanisms()}

    def above(self, reference: str) -> Iterator[str]:
        """The datasets that `reference` names and is made from, the nearest first."""
        name: Value = reference
        while isinstance(name, str):
            name = name.split(".")[0]
            if name not in self.datasets:
                return
            yield name
            name = self.datasets[name].get("from")

    def free(self, name: str) -> str:
        """A name for a further dataset."""
        name = re.sub(r"\W+", "_", name).strip("_")
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def part(self, name: str, key: str) -> Tree:
        """The map or the partition of a dataset, as a mapping; empty where it has none."""
        found = self.datasets[name].get(key)
        if isinstance(found, str):
            return {"kind" if key == "map" else "by": found}
        return found if isinstance(found, dict) else {}


def _inside(spec: _Spec, name: str, key: str, says: Mapping[str, Value]) -> Put:
    """Something said in the map or in the partition of a dataset."""
    return Put(("datasets", name, key), {**spec.part(name, key), **says})


def _disjoint(spec: _Spec) -> Iterator[Candidate]:
    roots = [name for name, each in spec.datasets.items() if "from" not in each]
    if len(roots) > 1 and "roots" not in spec.tree:
        put = Put(("roots",), "disjoint")
        path: Path = ("datasets", roots[0])
        entry = Entry(path, "roots: disjoint", (put,))
        yield Candidate("roots", f"nobody is in two of {listing(roots)}", (entry,))


def _once(spec: _Spec) -> Iterator[Candidate]:
    """One row in one block, where it may be in many."""
    names = [
        name
        for name in spec.datasets
        if spec.part(name, "partition").get("by") == "membership"
        and spec.part(name, "partition").get("max_blocks") != "1"
    ]
    yield Candidate(
        "max_blocks",
        "each row is in at most one block of {}",
        tuple(
            Entry(
                ("datasets", name),
                "max_blocks: 1",
                (_inside(spec, name, "partition", {"max_blocks": Number("1")}),),
            )
            for name in names
        ),
        tuple(names),
    )


def _replaced(spec: _Spec) -> Iterator[Candidate]:
    """How far one row replaced moves what is released, where it counts as two rows."""
    displaced = any(
        spec.part(name, "map").get("kind") in ("limit", "cap", "sample") for name in spec.datasets
    )
    if spec.kind in (RelationKind.UNBOUNDED, RelationKind.USER) and not displaced:
        return
    entries: list[tuple[Entry, str]] = []
    for at, each in spec.mechanisms:
        given = each.get("sensitivity")
        plain = given.get("unbounded") if isinstance(given, dict) else given
        if not isinstance(plain, str) or "relation" in each:
            continue
        if isinstance(given, dict) and given.keys() != {"unbounded"}:
            continue
        says = f"sensitivity: {{unbounded: {plain}, bounded: {plain}}}"
        put = Put(("mechanisms", at, "sensitivity"), {"unbounded": plain, "bounded": plain})
        entries.append((Entry(("mechanisms", at), says, (put,)), _name(each)))
    yield _together(
        "bounded",
        "one row replaced moves {} no further than one row added does, as it is with counts and "
        "with sums of values from 0 on",
        entries,
    )


def _cells(spec: _Spec) -> Iterator[Candidate]:
    """A histogram: one row replaced touches two cells, each once. In L2 that is √2, else blocks."""
    if spec.kind is not RelationKind.BOUNDED:
        return
    entries: list[tuple[Entry, str]] = []
    rooted: list[tuple[Entry, str]] = []
    for at, each in spec.mechanisms:
        form = FORMS.get(str(each.get("mechanism")))
        given = each.get("sensitivity")
        if form is None or form.norm is None or not isinstance(given, str) or "relation" in each:
            continue
        if form.norm == "L2":
            twice = "2" if given == "1" else f"2 * ({given}) * ({given})"
            two: Value = {"unbounded": given, "bounded": {"l2_squared": Number(twice)}}
            write = f"sensitivity: {{unbounded: {given}, bounded: {{l2_squared: {twice}}}}}"
            put = Put(("mechanisms", at, "sensitivity"), two)
            rooted.append((Entry(("mechanisms", at), write, (put,)), _name(each)))
            continue
        celled = _celled(spec, at, each)
        if celled is not None:
            moved: Value = {"unbounded": given, "bounded": Number("0")}
            puts = (*celled.puts, Put(("mechanisms", at, "sensitivity"), moved))
            write = f"{celled.write}, sensitivity: {{unbounded: {given}, bounded: 0}}"
            entries.append((Entry(("mechanisms", at), write, puts), _name(each)))
    says = "{} counts each row in one cell, as a histogram does"
    yield _together("partition", says, entries)
    yield _together("l2_squared", says, rooted)


def _celled(spec: _Spec, at: int, mechanism: Tree) -> Entry | None:
    """A mechanism made to read the cells of a partition; None where it reads blocks already."""
    reads = str(mechanism["reads"])
    if reads.endswith(".*"):
        return None
    name = spec.free(f"{mechanism['name']}_cells")
    split: Value = {"from": reads, "partition": {"by": "value", "blocks": Number("2")}}
    puts = Put(("datasets", name), split), Put(("mechanisms", at, "reads"), f"{name}.*")
    write = (
        f"{name}: {{from: {reads}, partition: {{by: value, blocks: …}}}} under `datasets`, and "
        f"reads: {name}.*"
    )
    return Entry(("mechanisms", at), write, puts)


def _units(spec: _Spec) -> Iterator[Candidate]:
    """What the rows of one privacy unit touch, below a cap."""
    if spec.kind is not RelationKind.USER:
        return
    capped = [
        name
        for name in spec.datasets
        if spec.part(name, "partition")
        and any(spec.part(each, "map").get("kind") == "cap" for each in spec.above(name))
    ]
    for key, condition in (
        ("max_rows_per_block", "no two rows of one unit are in the same block of {}"),
        ("max_blocks_per_unit", "all rows of one unit are in the same block of {}"),
    ):
        names = [name for name in capped if key not in spec.part(name, "partition")]
        yield Candidate(
            key,
            condition,
            tuple(
                Entry(
                    ("datasets", name),
                    f"{key}: 1",
                    (_inside(spec, name, "partition", {key: Number("1")}),),
                )
                for name in names
            ),
            tuple(names),
        )


def _drops(spec: _Spec) -> Iterator[Candidate]:
    """Rows that are left out: to a statement above, a row that comes is one that is replaced."""
    if not any("stated_on" in each for _, each in spec.mechanisms):
        return
    entries: list[tuple[Entry, str]] = []
    for name in spec.datasets:
        for key, kinds in (("map", ("filter", "flatten", "join-public")), ("partition", None)):
            part = spec.part(name, key)
            if not part or "drops" in part or (kinds and part.get("kind") not in kinds):
                continue
            entry = Entry(
                ("datasets", name), "drops: true", (_inside(spec, name, key, {"drops": True}),)
            )
            entries.append((entry, name))
    yield _together("drops", "some row of the table above gives nothing to {}", entries)


def _keeps(spec: _Spec) -> Iterator[Candidate]:
    """Columns that a map leaves as they are, and that something below it goes by."""
    entries: list[tuple[Entry, str]] = []
    for name in spec.datasets:
        part = spec.part(name, "map")
        if part.get("kind") not in ("row", "flatten"):
            continue
        kept = part.get("keeps")
        known = [each for each in kept if isinstance(each, str)] if isinstance(kept, list) else []
        more = [each for each in _columns(spec, name) if each not in known]
        if not more:
            continue
        columns: list[Value] = [*known, *more]
        text = f"keeps: [{', '.join(map(str, columns))}]"
        entries.append(
            (
                Entry(("datasets", name), text, (_inside(spec, name, "map", {"keeps": columns}),)),
                name,
            )
        )
    yield _together("keeps", "the map of {} leaves these columns of every row as they are", entries)


def _columns(spec: _Spec, name: str) -> Iterator[str]:
    """The columns that a unit is told by, and that datasets below `name` go by, each once."""
    found: dict[str, None] = {}
    *_, root = spec.above(name)
    below = [each for each in spec.datasets if name in spec.above(each) and each != name]
    asked = [spec.datasets[root].get("unit")]
    asked += [spec.part(each, "partition").get("column") for each in below]
    asked += [spec.part(each, "map").get(key) for each in below for key in ("by", "per")]
    for each in asked:
        if isinstance(each, str):
            found[each] = None
    return iter(found)


def _samples(spec: _Spec) -> Iterator[Candidate]:
    """A draw of its own for each release that reads a sample."""
    for name in spec.datasets:
        part = spec.part(name, "map")
        if part.get("kind") != "sample":
            continue
        if part.get("draws") == "one":
            rest = {key: each for key, each in part.items() if key != "draws"}
            put = Put(("datasets", name, "map"), rest)
            entry = Entry(("datasets", name), "no `draws: one`", (put,))
            yield Candidate("draws", "every copy that reads {} draws afresh", (entry,), (name,))
        readers = [(at, each) for at, each in spec.mechanisms if each["reads"] == name]
        if len(readers) > 1:
            puts: list[Put] = []
            for at, each in readers[1:]:
                own = spec.free(f"{name}_{each['name']}")
                puts += [
                    Put(("datasets", own), spec.datasets[name]),
                    Put(("mechanisms", at, "reads"), own),
                ]
            write = f"a sample like `{name}` for each mechanism that reads it"
            entry = Entry(("datasets", name), write, tuple(puts))
            names = listing(str(each["name"]) for _, each in readers)
            yield Candidate("samples", f"each of {names} draws a sample of its own", (entry,))


def _named(spec: _Spec) -> Iterator[Candidate]:
    """The noise by its name, where only a guarantee is stated."""
    stated: dict[Notion, list[tuple[int, Tree, Statement]]] = {}
    for at, each in spec.mechanisms:
        meant = spec.meant.get(str(each["name"]))
        plain = not each.keys() & {"mechanism", "guarantees", "stated_on"}
        varies = any(isinstance(each.get(key), dict) for key in _STATED)
        if not plain or varies or meant is None or len(meant.statements) != 1:
            continue
        [statement] = meant.statements
        kind, value = statement.relation.kind, statement.guarantee.value
        if value and kind in (RelationKind.UNBOUNDED, RelationKind.BOUNDED):
            stated.setdefault(statement.guarantee.notion, []).append((at, each, statement))
    for notion, name, condition in (
        (Notion.PURE, "laplace", "the noise of {} is Laplace noise of this scale"),
        (Notion.ZCDP, "gaussian", "the noise of {} is Gaussian, of this σ"),
        (
            Notion.ZCDP,
            "discrete-gaussian",
            "the noise of {} is discrete Gaussian, of this σ, on the counts of a histogram, with "
            "each row in one cell",
        ),
    ):
        entries: list[tuple[Entry, str]] = []
        for at, each, statement in stated.get(notion, ()):
            entry = _as_noise(spec, at, each, statement, name)
            if entry is not None:
                entries.append((entry, _name(each)))
        yield _together(f"mechanism: {name}", condition, entries)


#: Keys of a stated guarantee, which its noise replaces.
_STATED = ("notion", "epsilon", "rho", "mu", "relation")


def _as_noise(
    spec: _Spec, at: int, mechanism: Tree, statement: Statement, name: str
) -> Entry | None:
    """The noise with the guarantee that is stated, for a sensitivity of 1, in place of it."""
    value = statement.guarantee.value
    replaced = statement.relation.kind is RelationKind.BOUNDED
    puts: list[Put] = []
    lead = ""
    sensitivity: Value = Number("1")
    celled: Entry | None = None
    if name == "laplace":
        noise = 1 / value
    elif name == "gaussian":
        noise = sqrt_up(1 / (2 * value))
    else:
        # One row replaced leaves a cell and enters another: ρ twice.
        celled = _celled(spec, at, mechanism)
        if celled is None:
            return None
        noise = sqrt_up(1 / value) if replaced else sqrt_up(1 / (2 * value))
        puts += celled.puts
        lead = f"{celled.write}, "
    told = "1"
    if celled is not None and replaced:
        sensitivity, told = (
            {"unbounded": Number("1"), "bounded": Number("0")},
            "{unbounded: 1, bounded: 0}",
        )
    elif replaced:
        sensitivity, told = {"bounded": Number("1")}, "{bounded: 1}"
    key = FORMS[name].key.name
    text = number_text(noise, True, False)
    puts += [Put(("mechanisms", at, each), None) for each in _STATED if each in mechanism]
    puts += [
        Put(("mechanisms", at, "mechanism"), name),
        Put(("mechanisms", at, key), Number(text)),
        Put(("mechanisms", at, "sensitivity"), sensitivity),
    ]
    says = f"{lead}mechanism: {name}, {key}: {text}, sensitivity: {told}"
    return Entry(("mechanisms", at), says, tuple(puts))


def _above(spec: _Spec) -> Iterator[Candidate]:
    """A statement that is meant of a dataset above the one that is read."""
    places: dict[str, list[tuple[Entry, str]]] = {}
    for at, each in spec.mechanisms:
        if "mechanism" in each or "guarantees" in each or "stated_on" in each:
            continue
        reads = str(each["reads"])
        skipped = 0 if "." in reads else 1
        for name in [*spec.above(reads)][skipped:]:
            if "partition" in spec.datasets[name]:
                continue  # no dataset, but a row of them
            put = Put(("mechanisms", at, "stated_on"), name)
            entry = Entry(("mechanisms", at), f"stated_on: {name}", (put,))
            places.setdefault(name, []).append((entry, _name(each)))
    for name, entries in places.items():
        yield _together(
            "stated_on",
            f"the guarantee of {{}} was proved for neighbours of {listing([name])}",
            entries,
        )


def _name(mechanism: Tree) -> str:
    return str(mechanism["name"])


def _together(key: str, condition: str, entries: list[tuple[Entry, str]]) -> Candidate:
    return Candidate(
        key,
        condition,
        tuple(entry for entry, _ in entries),
        tuple(name for _, name in entries),
    )


def changed(source: Source, candidate: Candidate) -> Source:
    """The spec with what a candidate says, its places those of the spec as it is."""
    tree: Value = _apart(source.value)
    for entry in candidate.entries:
        for put in entry.puts:
            _put(tree, put)
    return replace(source, value=tree)


def _apart(value: Value) -> Value:
    """The mappings and lists that candidates change, of the tree itself."""
    assert isinstance(value, dict)
    found: Tree = dict(value)
    datasets, mechanisms = value["datasets"], value["mechanisms"]
    assert isinstance(datasets, dict) and isinstance(mechanisms, list)
    found["datasets"] = {
        name: dict(each) if isinstance(each, dict) else each for name, each in datasets.items()
    }
    found["mechanisms"] = [dict(each) if isinstance(each, dict) else each for each in mechanisms]
    return found


def _put(tree: Value, put: Put) -> None:
    *above, last = put.path
    for step in above:
        if isinstance(tree, dict):
            tree = tree[str(step)]
        else:
            assert isinstance(tree, list) and isinstance(step, int)
            tree = tree[step]
    assert isinstance(tree, dict)
    if put.value is None:
        del tree[str(last)]
    else:
        tree[str(last)] = put.value
