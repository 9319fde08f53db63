"""What the author of a spec might say of it, if it is true, that could make its bound less.

Whether it saves anything is found by analysing the changed spec: nothing here looks at numbers, but
for the noise of what is stated.
"""

from __future__ import annotations

from collections.abc import Iterator

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.model.problem import Problem
from dpcompose.errors import Path
from dpcompose.planning.candidate import Candidate, Entry, SpecParts, at_mechanism, inside
from dpcompose.planning.declarable_noise import above, add_noise, cells, replaced
from dpcompose.planning.what_if import Put
from dpcompose.report.wording import listing
from dpcompose.source import Number, Source, Value


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
        *replaced(spec),
        *cells(spec),
        *add_noise(spec),
        *_drops(spec),
        *_keeps(spec),
        *above(spec),
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
    """Yields the candidate `max_blocks: 1`: each row is in at most one block of a partition by
    membership."""
    entries = tuple(
        inside(spec, name, "partition", {"max_blocks": Number("1")}, "max_blocks: 1")
        for name in spec.datasets
        if spec.part(name, "partition").get("by") == "membership"
        and spec.part(name, "partition").get("max_blocks") != "1"
    )
    yield Candidate("max_blocks", "each row is in at most one block of {}", entries)


def _units(spec: SpecParts) -> Iterator[Candidate]:
    """Yields candidates on the rows of one privacy unit in the blocks of a partition below a
    cap."""
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
            inside(spec, name, "partition", {key: Number("1")}, f"{key}: 1")
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
            entries.append(at_mechanism(at, mechanism, {"reads": parent}, f"reads: {parent}"))
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
        inside(spec, name, key, {"drops": True}, "drops: true")
        for name in spec.datasets
        for key, kinds in (("map", ("filter", "flatten", "join-public")), ("partition", ()))
        if (part := spec.part(name, key)) and "drops" not in part
        if not kinds or part.get("kind") in kinds
    )
    yield Candidate("drops", "some row of the table above gives nothing to {}", entries)


def _keeps(spec: SpecParts) -> Iterator[Candidate]:
    """Yields the candidate `keeps`: columns that a map leaves unchanged, of those that datasets
    below use."""
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
        text = f"keeps: [{', '.join(map(str, columns))}]"
        entries.append(inside(spec, name, "map", {"keeps": columns}, text))
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
    """Yields the candidates that each copy, or each mechanism, that reads a sample draws its
    own."""
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
