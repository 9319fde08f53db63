"""What the author of a spec might say of it, if it is true, that could make its bound less.

Whether it saves anything is found by analysing the changed spec: nothing here looks at numbers, but
for the noise of what is stated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.mechanisms import FORMS
from dpcompose.core.model.problem import Mechanism, Problem, Statement
from dpcompose.core.notions.notion import Notion
from dpcompose.errors import Path
from dpcompose.planning.scaling import number_text
from dpcompose.planning.what_if import Put
from dpcompose.report.declared_assumptions import flow
from dpcompose.report.wording import listing
from dpcompose.source import Number, Source, Value

#: What stands at a key of a spec.
Tree = dict[str, Value]


@dataclass(frozen=True, slots=True)
class Entry:
    """A text to write at the entry of a spec at `path`, and the values that it changes.

    `of`: the name for which `Candidate.condition` has a placeholder; empty where it needs none.
    """

    path: Path
    write: str
    puts: tuple[Put, ...]
    of: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Entries of one kind that the author could write, if a condition is true.

    `condition`: a sentence, with `{}` for the names of the entries.
    """

    key: str
    condition: str
    entries: Sequence[Entry]

    @property
    def puts(self) -> tuple[Put, ...]:
        """Returns the values that all entries change."""
        return tuple(put for entry in self.entries for put in entry.puts)

    @property
    def sentence(self) -> str:
        """Returns the condition as a sentence, with the names of the entries."""
        return self.condition.replace("{}", listing(each.of for each in self.entries))


class SpecParts:
    """The parts of a spec from which candidates are made."""

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
        """Yields the dataset that `reference` names and its ancestors, nearest first."""
        name: Value = reference
        while isinstance(name, str):
            name = name.split(".")[0]
            if name not in self.datasets:
                return
            yield name
            name = self.datasets[name].get("from")

    def free(self, name: str) -> str:
        """Returns a name for a new dataset, similar to `name` and not used in the spec."""
        name = re.sub(r"\W+", "_", name).strip("_")
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def part(self, name: str, key: str) -> Tree:
        """Returns the map or the partition of a dataset, as a mapping; empty where it has none."""
        found = self.datasets[name].get(key)
        if isinstance(found, str):
            return {"kind" if key == "map" else "by": found}
        return found if isinstance(found, dict) else {}


def _inside(spec: SpecParts, name: str, key: str, says: Mapping[str, Value]) -> Entry:
    """Returns the entry that adds keys to the map or the partition (`key`) of a dataset."""
    put = Put(("datasets", name, key), {**spec.part(name, key), **says})
    return Entry(("datasets", name), flow(says)[1:-1], (put,), name)


def _at_mechanism(
    at: int, mechanism: Tree, says: Mapping[str, Value], first: Entry | None = None
) -> Entry:
    """Returns the entry that adds the keys `says` to the mechanism number `at`, or removes those
    that are None, after what another entry changes."""
    puts = [] if first is None else [*first.puts]
    puts += [Put(("mechanisms", at, key), value) for key, value in says.items()]
    new = {key: value for key, value in says.items() if value is not None}
    write = flow(new)[1:-1] if first is None else f"{first.write}, {flow(new)[1:-1]}"
    return Entry(("mechanisms", at), write, tuple(puts), str(mechanism["name"]))


# ---------------------------------------------------------------------------------------------
# Datasets


def candidates(source: Source, problem: Problem) -> list[Candidate]:
    """Returns what the author could declare beyond the spec, the simplest declarations first."""
    tree = source.value
    assert isinstance(tree, dict)
    spec = SpecParts(tree, problem)
    found = [
        *_disjoint(spec),
        *_once(spec),
        *_units(spec),
        *_levels(spec),
        *_samples(spec),
        *_replaced(spec),
        *_cells(spec),
        *_add_noise(spec),
        *_drops(spec),
        *_keeps(spec),
        *_above(spec),
    ]
    return [each for each in found if each.entries]


def _disjoint(spec: SpecParts) -> Iterator[Candidate]:
    """Yields the candidate `roots: disjoint`: nobody is in two roots."""
    roots = [name for name, each in spec.datasets.items() if "from" not in each]
    if len(roots) > 1 and "roots" not in spec.tree:
        put = Put(("roots",), "disjoint")
        path: Path = ("datasets", roots[0])
        entry = Entry(path, "roots: disjoint", (put,))
        yield Candidate("roots", f"nobody is in two of {listing(roots)}", (entry,))


def _once(spec: SpecParts) -> Iterator[Candidate]:
    """Yields the candidate `max_blocks: 1`: each row is in at most one block."""
    entries = tuple(
        _inside(spec, name, "partition", {"max_blocks": Number("1")})
        for name in spec.datasets
        if spec.part(name, "partition").get("by") == "membership"
        and spec.part(name, "partition").get("max_blocks") != "1"
    )
    yield Candidate("max_blocks", "each row is in at most one block of {}", entries)


def _units(spec: SpecParts) -> Iterator[Candidate]:
    """Yields the candidates `max_rows_per_block: 1` and `max_blocks_per_unit: 1` for partitions of
    datasets in which the number of rows of a unit is limited by a cap."""
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
        entries = tuple(
            _inside(spec, name, "partition", {key: Number("1")})
            for name in capped
            if key not in spec.part(name, "partition")
        )
        yield Candidate(key, condition, entries)


def _levels(spec: SpecParts) -> Iterator[Candidate]:
    """Yields the candidate that a guarantee stated for each block holds for all blocks together."""
    entries: list[Entry] = []
    for at, mechanism in spec.mechanisms:
        block, _, rest = str(mechanism["reads"]).partition(".")
        parent = spec.datasets.get(block, {}).get("from")
        if rest == "*" and "notion" in mechanism and isinstance(parent, str):
            entries.append(_at_mechanism(at, mechanism, {"reads": parent}))
    condition = "the guarantee of {} is for all blocks together, not for each of them"
    yield Candidate("level", condition, entries)


def _drops(spec: SpecParts) -> Iterator[Candidate]:
    """Yields the candidate `drops: true`: some row of the table gives nothing to a map or a
    partition.

    A statement on a table above then covers an added row as a replaced one (padding lemma).
    """
    if not any("stated_on" in each for _, each in spec.mechanisms):
        return
    entries = tuple(
        _inside(spec, name, key, {"drops": True})
        for name in spec.datasets
        for key, kinds in (("map", ("filter", "flatten", "join-public")), ("partition", ()))
        if (part := spec.part(name, key)) and "drops" not in part
        if not kinds or part.get("kind") in kinds
    )
    yield Candidate("drops", "some row of the table above gives nothing to {}", entries)


def _keeps(spec: SpecParts) -> Iterator[Candidate]:
    """Yields the candidate `keeps`: unchanged columns that datasets below use."""
    entries: list[Entry] = []
    columns_below = _columns(spec)
    for name in spec.datasets:
        part = spec.part(name, "map")
        if part.get("kind") not in ("row", "flatten"):
            continue
        kept = part.get("keeps")
        known = [each for each in kept if isinstance(each, str)] if isinstance(kept, list) else []
        more = [each for each in columns_below.get(name, ()) if each not in known]
        if not more:
            continue
        columns: list[Value] = [*known, *more]
        entries.append(_inside(spec, name, "map", {"keeps": columns}))
    says = "the map of {} leaves these columns of every row as they are"
    yield Candidate("keeps", says, entries)


def _columns(spec: SpecParts) -> dict[str, dict[str, None]]:
    """Returns for each dataset, by name, the unit of its root and the columns that datasets below
    use.

    The columns are the keys of a mapping with values None, which keeps their order.
    """
    found: dict[str, dict[str, None]] = {}
    for name in spec.datasets:
        *_, root = spec.above(name)
        unit = spec.datasets[root].get("unit")
        found[name] = {unit: None} if isinstance(unit, str) else {}
    for part, keys in (("partition", ("column",)), ("map", ("by", "per"))):
        for name in spec.datasets:
            columns = [spec.part(name, part).get(key) for key in keys]
            asked = {each: None for each in columns if isinstance(each, str)}
            for each in [*spec.above(name)][1:] if asked else ():
                found[each].update(asked)
    return found


def _samples(spec: SpecParts) -> Iterator[Candidate]:
    """Yields the candidates that each copy, or each mechanism, draws a sample of its own."""
    for name in spec.datasets:
        part = spec.part(name, "map")
        if part.get("kind") != "sample":
            continue
        if part.get("draws") == "one":
            rest = {key: each for key, each in part.items() if key != "draws"}
            put = Put(("datasets", name, "map"), rest)
            entry = Entry(("datasets", name), "no `draws: one`", (put,), name)
            yield Candidate("draws", "every copy that reads {} draws afresh", (entry,))
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


# ---------------------------------------------------------------------------------------------
# Mechanisms


def _replaced(spec: SpecParts) -> Iterator[Candidate]:
    """Yields the candidate of a sensitivity to one row replaced, where that counts as two rows."""
    displaced = any(
        spec.part(name, "map").get("kind") in ("limit", "cap", "sample") for name in spec.datasets
    )
    if spec.kind in (RelationKind.UNBOUNDED, RelationKind.USER) and not displaced:
        return
    entries: list[Entry] = []
    for at, each in spec.mechanisms:
        given = each.get("sensitivity")
        plain = given.get("unbounded") if isinstance(given, dict) else given
        if not isinstance(plain, str) or "relation" in each:
            continue
        if isinstance(given, dict) and given.keys() != {"unbounded"}:
            continue
        both: Value = {"unbounded": plain, "bounded": plain}
        entries.append(_at_mechanism(at, each, {"sensitivity": both}))
    yield Candidate(
        "bounded",
        "one row replaced moves {} no further than one row added does, as it is with counts and "
        "with sums of values from 0 on",
        entries,
    )


def _cells(spec: SpecParts) -> Iterator[Candidate]:
    """Yields candidates for histograms, of which one row replaced changes two cells."""
    if spec.kind is not RelationKind.BOUNDED:
        return
    entries: list[Entry] = []
    rooted: list[Entry] = []
    for at, each in spec.mechanisms:
        form = FORMS.get(str(each.get("mechanism")))
        given = each.get("sensitivity")
        if form is None or form.norm is None or not isinstance(given, str) or "relation" in each:
            continue
        if form.norm == "L2":
            rooted.append(_at_mechanism(at, each, {"sensitivity": {"one_hot": given}}))
            continue
        celled = _entry_with_cells(spec, at, each)
        if celled is not None:
            moved: Value = {"unbounded": given, "bounded": Number("0")}
            entries.append(_at_mechanism(at, each, {"sensitivity": moved}, celled))
    says = "each row counts in one cell of {}, as in a histogram"
    yield Candidate("partition", says, entries)
    yield Candidate("one_hot", says, rooted)


def _entry_with_cells(spec: SpecParts, at: int, mechanism: Tree) -> Entry | None:
    """Returns the entry to read each cell of a new partition; None if blocks are read."""
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


def _add_noise(spec: SpecParts) -> Iterator[Candidate]:
    """Yields the candidates that a stated guarantee is that of noise of some family."""
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
        tried = (_as_noise(spec, *each, name) for each in stated.get(notion, ()))
        entries = [each for each in tried if each is not None]
        yield Candidate(f"mechanism: {name}", condition, entries)


#: Keys of a stated guarantee, which its noise replaces.
_STATED = ("notion", "epsilon", "rho", "mu", "relation")


def _as_noise(
    spec: SpecParts, at: int, mechanism: Tree, statement: Statement, name: str
) -> Entry | None:
    """Returns the entry that replaces a stated guarantee by noise that has it, at a sensitivity of
    1.

    None if the noise is on whole numbers, and the mechanism reads blocks already.
    """
    form, stated = FORMS[name], statement.guarantee
    replaced = statement.relation.kind is RelationKind.BOUNDED
    celled: Entry | None = None
    sensitivity: Value = Number("1")
    if form.whole:
        celled = _entry_with_cells(spec, at, mechanism)
        if celled is None:
            return None
        if replaced:  # one row replaced leaves a cell and enters another: ρ twice
            stated = stated._replace(value=stated.value / 2)
            sensitivity = {"unbounded": Number("1"), "bounded": Number("0")}
    elif replaced:
        sensitivity = {"bounded": Number("1")}
    assert form.giving is not None
    noise = Number(number_text(form.giving(stated), True, False))
    meant: dict[str, Value] = {each: None for each in _STATED if each in mechanism}
    meant |= {"mechanism": name, form.key.name: noise, "sensitivity": sensitivity}
    return _at_mechanism(at, mechanism, meant, celled)


def _above(spec: SpecParts) -> Iterator[Candidate]:
    """Yields the candidates `stated_on`: a guarantee holds for neighbours further up."""
    places: dict[str, list[Entry]] = {}
    for at, each in spec.mechanisms:
        if "mechanism" in each or "guarantees" in each or "stated_on" in each:
            continue
        reads = str(each["reads"])
        skipped = 0 if "." in reads else 1
        for name in [*spec.above(reads)][skipped:]:
            if "partition" in spec.datasets[name]:
                continue  # no dataset, but a row of them
            places.setdefault(name, []).append(_at_mechanism(at, each, {"stated_on": name}))
    for name, entries in places.items():
        yield Candidate(
            "stated_on",
            f"the guarantee of {{}} was proved for neighbours of {listing([name])}",
            entries,
        )
