"""What might be said of mechanisms: how far replaced rows move them, their noise, their tables."""

from __future__ import annotations

from collections.abc import Iterator

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.mechanisms import FORMS
from dpcompose.core.model.problem import Statement
from dpcompose.core.notions.notion import Notion
from dpcompose.planning.candidate import Candidate, Entry, SpecParts, Tree, at_mechanism
from dpcompose.planning.scaling import number_text
from dpcompose.planning.what_if import Put
from dpcompose.report.wording import listing
from dpcompose.source import Number, Value


def replaced(spec: SpecParts) -> Iterator[Candidate]:
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
        says = f"sensitivity: {{unbounded: {plain}, bounded: {plain}}}"
        both: Value = {"unbounded": plain, "bounded": plain}
        entries.append(at_mechanism(at, each, {"sensitivity": both}, says))
    yield Candidate(
        "bounded",
        "one row replaced moves {} no further than one row added does, as it is with counts and "
        "with sums of values from 0 on",
        entries,
    )


def cells(spec: SpecParts) -> Iterator[Candidate]:
    """Yields candidates for numbers that are a histogram, of which one row replaced changes two
    cells."""
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
            hot: Value = {"one_hot": given}
            write = f"sensitivity: {{one_hot: {given}}}"
            rooted.append(at_mechanism(at, each, {"sensitivity": hot}, write))
            continue
        celled = _entry_with_cells(spec, at, each)
        if celled is not None:
            moved: Value = {"unbounded": given, "bounded": Number("0")}
            write = f"{celled.write}, sensitivity: {{unbounded: {given}, bounded: 0}}"
            entries.append(at_mechanism(at, each, {"sensitivity": moved}, write, celled.puts))
    says = "each row counts in one cell of {}, as in a histogram"
    yield Candidate("partition", says, entries)
    yield Candidate("one_hot", says, rooted)


def _entry_with_cells(spec: SpecParts, at: int, mechanism: Tree) -> Entry | None:
    """Returns the entry by which a mechanism reads each cell of a new partition; None if it reads
    blocks."""
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


def add_noise(spec: SpecParts) -> Iterator[Candidate]:
    """Yields the candidates that a mechanism with only a stated guarantee adds noise of some
    family."""
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
    lead = ""
    celled: Entry | None = None
    if form.whole:
        celled = _entry_with_cells(spec, at, mechanism)
        if celled is None:
            return None
        if replaced:  # one row replaced leaves a cell and enters another: ρ twice
            stated = stated._replace(value=stated.value / 2)
        lead = f"{celled.write}, "
    given = {"bounded": "1"} if replaced else {}
    if celled is not None and replaced:
        given = {"unbounded": "1", "bounded": "0"}
    sensitivity: Value = Number("1")
    told = "1"
    if given:
        sensitivity = {key: Number(each) for key, each in given.items()}
        told = f"{{{', '.join(f'{key}: {each}' for key, each in given.items())}}}"
    assert form.giving is not None
    key = form.key.name
    text = number_text(form.giving(stated), True, False)
    says = f"{lead}mechanism: {name}, {key}: {text}, sensitivity: {told}"
    meant: dict[str, Value] = {each: None for each in _STATED if each in mechanism}
    meant |= {"mechanism": name, key: Number(text), "sensitivity": sensitivity}
    return at_mechanism(at, mechanism, meant, says, () if celled is None else celled.puts)


def above(spec: SpecParts) -> Iterator[Candidate]:
    """Yields the candidates `stated_on`: a guarantee holds for neighbours of a dataset above the
    one read."""
    places: dict[str, list[Entry]] = {}
    for at, each in spec.mechanisms:
        if "mechanism" in each or "guarantees" in each or "stated_on" in each:
            continue
        reads = str(each["reads"])
        skipped = 0 if "." in reads else 1
        for name in [*spec.above(reads)][skipped:]:
            if "partition" in spec.datasets[name]:
                continue  # no dataset, but a row of them
            entry = at_mechanism(at, each, {"stated_on": name}, f"stated_on: {name}")
            places.setdefault(name, []).append(entry)
    for name, entries in places.items():
        yield Candidate(
            "stated_on",
            f"the guarantee of {{}} was proved for neighbours of {listing([name])}",
            entries,
        )
