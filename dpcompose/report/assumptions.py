"""The assumptions that a result rests on and the tool cannot check, with the author's reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpcompose.core.change.maps.columns import Columns
from dpcompose.core.change.maps.kind import Readers, columns_named
from dpcompose.core.change.maps.value import Value
from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.mechanisms import form_of
from dpcompose.core.mechanisms.private_selection import Selected
from dpcompose.core.model.problem import Dataset, Domain, Partition, Path, Problem, Root, Statement
from dpcompose.core.model.tree import Edge, Place, dropping_edges
from dpcompose.core.notions.notion import Notion
from dpcompose.report import Assumption
from dpcompose.report.wording import NAMES, listing, number, plural
from dpcompose.source import Source

#: The assumptions of every report where parameters are fixed in advance.
_STANDING = (
    Assumption(
        "every mechanism draws fresh noise, independent of everything but its inputs",
        None,
        "noise is fresh and independent; maps, blocks, parameters and their number are fixed "
        "before the first output",
    ),
    Assumption(
        "maps, partitions, parameters and the number of mechanisms are fixed before the first "
        "output",
        None,
        "",
    ),
)
#: The assumptions of every report of a ledger, in their place.
OF_FILTERS = (
    Assumption(
        "every mechanism draws fresh noise, given all that was released before",
        None,
        "noise is fresh, given the past; the budget and its notion were fixed before the first "
        "output; what would pass the budget is refused, and nothing else is released",
    ),
    Assumption(
        "the budget, and the notion in which it is counted, were fixed before the first output",
        None,
        "",
    ),
    Assumption(
        "every release is refused that would pass the budget; nothing is released that is not in "
        "the record",
        None,
        "",
    ),
)


def assumptions(
    problem: Problem, tops: list[tuple[Root, Place]], ledger: bool = False
) -> list[Assumption]:
    """Returns all assumptions of a problem once: the standing ones, then the declared ones.

    `ledger`: parameters are chosen along the way, under a filter.
    """
    facts = list(OF_FILTERS if ledger else _STANDING)
    goal = problem.goal.relation
    base = goal.within or goal
    if goal.keeps:
        columns = ", ".join(f"`{column}`" for column in sorted(goal.keeps))
        facts.append(
            Assumption(f"a replacement keeps {columns}: these columns are public", ("protect",))
        )
    if goal.changes is not None:
        columns = ", ".join(f"`{column}`" for column in sorted(goal.changes))
        says = f"a replacement changes {columns} alone: all other columns are taken as known"
        facts.append(Assumption(says, ("protect",)))
    if goal.leaves_nulls:
        says = (
            "the number of rows is public, and a row may be a null, which keeps its place and is "
            "otherwise as if absent: it adds nothing to any sum, count or choice"
        )
        facts.append(Assumption(says, ("protect",)))
    if goal.within is not None:
        facts.append(
            Assumption(
                f"`{goal.name}` neighbours are at most {goal.distance} {goal.within} steps apart",
                ("relations", str(goal)),
            )
        )
    if problem.roots_disjoint:
        facts.append(Assumption("nobody is in two of the roots", ("roots",)))
        if base.kind is RelationKind.BOUNDED:
            facts.append(Assumption("a replaced row stays in its root", ("roots",)))
    readers = _readers(problem)
    for root, top in tops:
        facts.extend(_of_root(problem, root))
        facts.extend(_of_tree(top, base.kind is RelationKind.BOUNDED, readers))
    of_blocks = list(meanwhile(problem))
    if problem.interactive:
        verb = "guarantees" if len(problem.interactive) == 1 else "guarantee"
        says = (
            f"what {listing(problem.interactive)} {verb} holds against an analyst who chooses each "
            "question after the answers so far"
        )
        if not any(each.path for each in of_blocks):
            says += "; the data stay the same meanwhile"
        facts.append(Assumption(says, next(iter(problem.interactive.values()))))
    facts.extend(of_blocks)
    facts.extend(_of_mechanisms(problem))
    for each in problem.post_processing:
        says = f"`{each.name}` is computed from released outputs alone: of {listing(each.inputs)}"
        facts.append(Assumption(says, (*each.path, "post_processes")))
    return list(dict.fromkeys(facts))


def meanwhile(problem: Problem) -> Iterator[Assumption]:
    """Yields what the data must not do between outputs where the worst blocks count alone.

    If the block of a changed row depends on what open mechanisms have said, the largest loss of one
    block bounds pure ε alone: open mechanisms of (ε, δ) on k blocks then have the δ 1 - (1 - δ)^k.
    """
    on_blocks = list(problem.below_blocks())
    kinds: dict[str, Path] = {}
    for mechanism in on_blocks:
        noise = [each.guarantee.noise for each in mechanism.statements]
        found = [each.stays_open for each in noise if each is not None and each.stays_open]
        if mechanism.interactive and not found:
            found.append("an interactive mechanism")
        for kind in found:
            kinds.setdefault(kind, mechanism.path)
    if kinds:
        *first, last = sorted(kinds)
        listed = f"{', '.join(first)} or {last}" if first else last
        says = (
            f"the data stay the same while {listed} on blocks is open: no row comes, goes or "
            "changes after its first output"
        )
        yield Assumption(says, next(iter(kinds.values())), kind="meanwhile")
    if problem.adaptive and on_blocks:
        says = "which rows there are does not depend on earlier outputs"
        yield Assumption(says, kind="meanwhile")


def _of_root(problem: Problem, root: Root) -> Iterator[Assumption]:
    """Yields what a root declares: public vertices, degrees, columns, the unit of each row."""
    path = root.dataset.path
    name = root.dataset.name
    if root.domain is Domain.GRAPH:
        yield Assumption(f"the vertices of `{name}` are public", path)
        if root.max_degree is not None:
            yield Assumption(
                f"no vertex of `{name}` ever has more than {root.max_degree} edges",
                (*path, "max_degree"),
            )
    if root.columns is not None and problem.goal.relation.changes is not None:
        columns = listing(sorted(root.columns))
        yield Assumption(f"a row of `{name}` has no columns but {columns}", (*path, "columns"))
    for made_by in (each.made_by for each in root.dataset.derived):
        if isinstance(made_by, Value) and made_by.joint is not None:
            who = "one row" if root.unit is None else f"one `{root.unit}`"
            says = f"{who} of `{name}` moves {listing(made_by.joint.datasets)} together by at most "
            yield Assumption(f"{says}{number(made_by.joint.l1)}, in L1", (*path, "joint"))
    if root.unit is not None and problem.goal.relation.kind is RelationKind.USER:
        yield Assumption(
            f"every row of `{name}` belongs to the unit in `{root.unit}`", (*path, "unit")
        )
        if root.max_rows_per_unit is not None:
            rows = plural(root.max_rows_per_unit, "row")
            says = f"no `{root.unit}` has more than {rows} in `{name}`"
            yield Assumption(says, (*path, "max_rows_per_unit"))


def _of_tree(top: Place, replaces: bool, readers: dict[int, Readers]) -> Iterator[Assumption]:
    """Yields what the maps and partitions that some mechanism reads declare, from a root down.

    `replaces`: the protected change replaces rows.
    """
    told: set[tuple[int, int]] = set()
    stack = [top]
    seen: set[int] = set()
    while stack:
        place = stack.pop()
        if id(place.dataset) in seen:
            # A later draw of a sample, or below one: its dataset was visited already.
            continue
        seen.add(id(place.dataset))
        for up in _padded(place, replaces):
            for edge in dropping_edges(place.ancestors(up)):
                key = (id(edge.parent), id(edge.partition or edge.made_by))
                if key not in told:
                    told.add(key)
                    yield from _drops(place, edge)
        below: list[Place] = []
        for child in place.derived:
            if child.read:
                assert child.edge is not None
                for dataset in (*child.edge.through, child.dataset):
                    yield from _of_map(dataset, readers)
                below.append(child)
        for partition, blocks in zip(place.dataset.partitions, place.blocks, strict=True):
            used = [block for block in blocks if block.read]
            if used:
                yield from _of_partition(partition)
                below.extend(used)
        stack.extend(reversed(below))


def _padded(place: Place, replaces: bool) -> set[int]:
    """Returns the distances, in edges up from a place, of the bounded statements of its mechanisms
    that hold there by the padding lemma.

    `replaces`: the protected change replaces rows of the root, so that statements on the root
    itself never meet an added row.
    """
    return {
        each.statement.up
        for _, placed in place.mechanisms
        for each in placed
        if each.padded
        and each.statement.relation.kind is RelationKind.BOUNDED
        and not (replaces and each.statement.up == place.depth)
    }


def _drops(place: Place, edge: Edge) -> Iterator[Assumption]:
    """Yields the fact that some row gives nothing beyond an edge, if the spec declares it."""
    partition = edge.partition
    if partition is not None and not partition.drops:
        says = partition.kind.declares_left_out(partition.name, edge.parent.dataset.name)
        if says is not None:
            yield Assumption(says, partition.path)
        return
    name = _child(place, edge.parent) if partition is None else partition.name
    path = ("datasets", name) if partition is None else partition.path
    owner = "map" if partition is None else "partition"
    yield Assumption(
        f"some possible row of `{edge.parent.dataset.name}` gives nothing to `{name}`",
        (*path, owner, "drops"),
    )


def _child(place: Place, parent: Place) -> str:
    """Returns the name of the dataset just below `parent` on the path to a place."""
    while place.edge is not None and place.edge.parent is not parent:
        place = place.edge.parent
    return place.dataset.name


def _of_map(dataset: Dataset, readers: dict[int, Readers]) -> Iterator[Assumption]:
    """Yields what the map that makes a dataset declares."""
    path = (*dataset.path, "map")
    assert dataset.made_by is not None
    if isinstance(dataset.made_by, Columns) and dataset.path[-1] == "uses":
        names = dict.fromkeys(each.name for each in dataset.mechanisms)
        verb = "depends" if len(names) == 1 else "depend"
        says = f"{listing(names)} {verb} on {columns_named(dataset.made_by.only)} of each row alone"
        yield Assumption(says, dataset.path)
        return
    of_it = readers.get(id(dataset), _NOBODY)
    for says, at in dataset.made_by.declares(dataset.name, of_it):
        yield Assumption(says, (*path, *at))


def _of_partition(partition: Partition) -> Iterator[Assumption]:
    """Yields what a partition declares: its kind, and its caps on blocks and rows of one unit."""
    name, path = f"`{partition.name}`", (*partition.path, "partition")
    says, at = partition.kind.declares(partition.name)
    yield Assumption(says, (*path, *at))
    if partition.max_blocks_per_unit is not None:
        yield Assumption(
            f"each unit is in at most {plural(partition.max_blocks_per_unit, 'block')} of {name}",
            (*path, "max_blocks_per_unit"),
        )
    if partition.max_rows_per_block is not None:
        yield Assumption(
            f"each unit has at most {plural(partition.max_rows_per_block, 'row')} in a block "
            f"of {name}",
            (*path, "max_rows_per_block"),
        )


# ---------------------------------------------------------------------------------------------
# Readers and mechanisms


#: The readers of a dataset for which none are recorded.
_NOBODY = Readers((), 0)


def _readers(problem: Problem) -> dict[int, Readers]:
    """Returns the mechanisms that read each dataset or what is below it, by the dataset's identity.

    Empty where nothing is random; of many names only the first few are kept.
    """
    found: dict[int, Readers] = {}
    datasets = list(problem.datasets())
    if not any(each.made_by is not None and each.made_by.conduct().random for each in datasets):
        return found
    for dataset in reversed(datasets):
        names = dict.fromkeys(mechanism.name for mechanism in dataset.mechanisms)
        copies = max((mechanism.count for mechanism in dataset.mechanisms), default=0)
        below = list(dataset.derived)
        for partition in dataset.partitions:
            below.extend(each.dataset for each in partition.classes)
        for readers in (found[id(each)] for each in below):
            names.update(dict.fromkeys(readers.names))
            copies = max(copies, readers.copies)
        found[id(dataset)] = Readers(tuple(names)[: NAMES + 1], copies)
    return found


def _of_mechanisms(problem: Problem) -> Iterator[Assumption]:
    """Yields what is assumed of noise, sensitivities and curves; one fact for all mechanisms of
    which the same is assumed.

    In few words, all sensitivities of a mechanism are one fact.
    """
    found: dict[Assumption, tuple[dict[str, None], Path]] = {}
    for mechanism in problem.mechanisms():
        for statement in mechanism.statements:
            if not statement.implied:
                for each in _trusted(statement):
                    names, _ = found.setdefault(each, ({}, statement.path))
                    names[mechanism.name] = None
    sensitivities: dict[tuple[str, ...], list[str]] = {}
    for each, (names, _) in found.items():
        if each.kind == "sensitivity":
            sensitivities.setdefault(tuple(names), []).append(each.shortly or "")
    for each, (names, path) in found.items():
        shortly = each.shortly
        if each.kind == "sensitivity":
            several = sensitivities.pop(tuple(names), [])
            shortly = f"sensitivities hold ({'; '.join(several)})" if several else ""
        yield each._replace(says=each.says.format(listing(names)), path=path, shortly=shortly)


def _trusted(statement: Statement) -> Iterator[Assumption]:
    """Yields what one statement of a mechanism assumes: its points, its noise, its sensitivity."""
    guarantee = statement.guarantee
    if guarantee.notion in (Notion.RDP, Notion.PROFILE):
        yield Assumption("the points stated for {} hold for every two neighbours, in both orders")
    if guarantee.noise is None:
        return
    form = form_of(guarantee.noise)
    yield form.trusted
    if isinstance(guarantee.noise, Selected):
        for run in guarantee.noise.of:
            yield from _trusted(statement._replace(guarantee=run))
    if form.sensitivity is None:
        return
    # A name may contain braces.
    neighbours = str(statement.relation).replace("{", "{{").replace("}", "}}")
    change = {
        RelationKind.UNBOUNDED: " (one row added or removed)",
        RelationKind.BOUNDED: " (one row replaced)",
    }.get(statement.relation.kind, "")
    if statement.relation.leaves_nulls:
        change = " (one row made null)"
    norm = form.norm
    if norm is not None and guarantee.shift > 1:  # for a whole-number step of 1 norms coincide
        norm = getattr(guarantee.noise, "norm", norm)
    of = "" if norm is None else f", in {norm},"
    yield Assumption(
        f"the sensitivities of {{}}{of} hold for every two {neighbours} neighbours{change}",
        shortly=f"{'' if norm is None else f'{norm}, '}{statement.relation}",
        kind="sensitivity",
    )


# ---------------------------------------------------------------------------------------------
# The reasons that the author gives


def reason(source: Source, path: Path) -> str | None:
    """Returns the reason given nearest to `path` within its entry; None without any."""
    entry = source.at(path[:2])
    if not isinstance(entry, dict):
        return None
    # A dataset with a partition can have a reason in either of the two mappings.
    inner = entry.get(str(path[2])) if len(path) > 2 else entry.get("partition")
    for each in (inner, entry):
        text = each.get("because") if isinstance(each, dict) else None
        if isinstance(text, str) and text.strip():
            return str(text)
    return None


def assumed(
    source: Source, facts: Iterable[Assumption], everything: bool = True
) -> tuple[Assumption, ...]:
    """Returns the assumptions: facts with position and reason, then other entries with a reason.

    What a mechanism guarantees is no fact of its own, so it is listed only where it has a reason.
    `everything`: whether other entries are wanted.
    """
    given = everything and "because" in source.lines.text
    found: list[Assumption] = []
    told: set[str | int] = set()  # names of the datasets that have a fact
    for fact in facts:
        path, why = fact.path, None
        if given and path and path[0] == "datasets":
            told.add(path[1])
            why = reason(source, path)
        span = None if path is None else source.span(path)
        found.append(fact._replace(span=span, because=why))
    if given:
        found += _others(source, told)
    return tuple(found)


def _others(source: Source, told: set[str | int]) -> Iterator[Assumption]:
    """Yields an assumption for each entry with a reason, except the datasets in `told`."""
    datasets, mechanisms = source.at(("datasets",)), source.at(("mechanisms",))
    entries: list[tuple[str, Path, str]] = []
    if isinstance(datasets, dict):
        entries += [(each, ("datasets", each), "declared") for each in datasets if each not in told]
    for at, entry in enumerate(mechanisms if isinstance(mechanisms, list) else ()):
        if isinstance(entry, dict):
            entries.append((str(entry.get("name")), ("mechanisms", at), "stated"))
    for name, path, verb in entries:
        why = reason(source, path)
        if why is not None:
            says = f"`{name}` is as it is {verb}"
            yield Assumption(says, path, kind="entry", span=source.span(path), because=why)
