"""What cannot be read: maps and partitions that have no meaning on their parent."""

from __future__ import annotations

from collections.abc import Iterable

from dpcompose.core.problem import (
    Cap,
    Edges,
    Flatten,
    Map,
    Nodes,
    PartitionKind,
    RowMap,
    Sample,
    Stable,
    Value,
)
from dpcompose.errors import Path, quoted
from dpcompose.faults import Faults, plural
from dpcompose.resolve.facts import Shape, no_unit
from dpcompose.resolve.forest import Place, Split
from dpcompose.spec import datasets as written


def map_refused(name: str, made_by: Map, parent: Place, faults: Faults) -> bool:
    """Whether a map cannot read its parent, which is then reported."""
    facts, path = parent.facts, ("datasets", name, "map")
    on_graph = isinstance(made_by, Edges | Nodes)
    source = quoted(parent.name)
    if facts.shape is Shape.VALUE:
        message = f"{source} is {facts.shape}: no map can read it"
        hint = f"derive it from {quoted(_above(parent))}, the table that the value is made from"
        faults.add("DPC145", path, message, hint)
    elif facts.shape is Shape.GRAPH and not on_graph:
        message = f"{source} is a graph: only `edges` and `nodes` can read it"
        hint = "make a table of it first: `map: edges` or `map: nodes`"
        faults.add("DPC144", path, message, hint)
    elif facts.shape is not Shape.GRAPH and on_graph:
        message = f"`edges` and `nodes` need a graph, and {source} is {facts.shape}"
        hint = "a graph is a root with `domain: graph`"
        faults.add("DPC143", path, message, hint)
    elif isinstance(made_by, Cap) and facts.unit is None:
        why, hint = no_unit(facts)
        faults.add(
            "DPC142",
            path,
            f"a cap is one per privacy unit: {why}",
            f"{hint}; or limit the rows of another column: `kind: limit`",
        )
    elif isinstance(made_by, Sample):
        refused = _drawn_once_of_many(made_by, parent, path, faults)
        return _sample_refused(made_by, parent, path, faults) or refused
    elif isinstance(made_by, Stable) and facts.fixed:
        what = "`stability` counts the rows that change for one row added or removed"
        hint = "make it of `row`, of a `flatten` with `max_rows`, or of what has no public size"
        faults.add("DPC140", (*path, "stability"), f"{what}, and {_public(parent)}", hint)
    elif isinstance(made_by, Value) and made_by.unbounded is not None and facts.fixed:
        what = "this sensitivity is for one row added or removed"
        hint = "write `sensitivity: {bounded: …}`: how far one row replaced moves it"
        faults.add("DPC140", (*path, "sensitivity"), f"{what}, and {_public(parent)}", hint)
    else:
        return False
    return True


def _public(place: Place) -> str:
    return f"the size of {quoted(place.name)} is public (Example III.4)"


def _drawn_once_of_many(made_by: Sample, parent: Place, path: Path, faults: Faults) -> bool:
    """Whether one draw is asked for where there is another table for each copy (reported)."""
    above: Place | None = parent if made_by.shared else None
    while above is not None:
        if isinstance(above.made_by, Sample) and not above.made_by.shared:
            name = quoted(above.name)
            message = f"{name} is drawn afresh for each copy, so that this is not drawn once"
            hint = f"write `draws: one` at {name} too, or leave it out here"
            faults.add("DPC156", (*path, "draws"), message, hint)
            return True
        above = above.parent
    return False


def _sample_refused(made_by: Sample, parent: Place, path: Path, faults: Faults) -> bool:
    """Whether rows cannot be drawn without replacement, which is then reported."""
    facts, source = parent.facts, quoted(parent.name)
    if made_by.of is None:
        return False
    if not facts.fixed:
        message = f"`of` must be a public number of rows, and that of {source} is not public"
        hint = (
            "write `poisson: q`; or, if it is public, `domain: fixed-size-table` "
            f"at {quoted(facts.root)}"
            if parent.name == facts.root
            else "write `poisson: q`; or draw the sample above, from a table of public size"
        )
        faults.add("DPC155", (*path, "of"), message, hint)
        return True
    if facts.most is not None and made_by.of > facts.most:
        has = "has" if facts.size is not None else "has at most"
        message = f"`of` is {made_by.of}, and {source} {has} {plural(facts.most, 'row')}"
        hint = f"write `of: {facts.most}`, or a public lower bound"
        if facts.size is None:
            hint = "write a public lower bound of its number of rows"
        faults.add("DPC155", (*path, "of"), message, hint)
        return True
    return False


def partition_refused(
    name: str, partition: written.AnyPartition, parent: Place, faults: Faults
) -> bool:
    """Whether a partition cannot be one of its parent, which is then reported."""
    facts, path = parent.facts, ("datasets", name, "partition")
    source = quoted(parent.name)
    if facts.shape is not Shape.TABLE:
        code = "DPC144" if facts.shape is Shape.GRAPH else "DPC145"
        message = f"{source} is {facts.shape}: it has no rows to partition"
        hint = (
            "make a table of it first: `map: edges` or `map: nodes`"
            if facts.shape is Shape.GRAPH
            else f"partition {quoted(_above(parent))} instead"
        )
        faults.add(code, path, message, hint)
        return True
    refused = False
    if partition.by == "position" and not facts.ordered:
        lost_by = str(facts.unordered_by)
        why = "" if lost_by == parent.name else f": {quoted(lost_by)} has none"
        message = f"rows of {source} have no positions{why}"
        hint = (
            f"write `domain: ordered-table` at {quoted(lost_by)}, or partition by value"
            if lost_by == facts.root
            else f"partition above {quoted(lost_by)}, which forgets the order of rows"
        )
        faults.add("DPC141", (*path, "by"), message, hint)
        refused = True
    if isinstance(partition, written.ByKinds):
        refused |= _kinds_refused(partition, path, faults)
    for key in ("max_blocks_per_unit", "max_rows_per_block"):
        if getattr(partition, key) is not None and facts.unit is None:
            why, hint = no_unit(facts)
            message = f"`{key}` speaks of a privacy unit: {why}"
            hint = f"{hint}; or remove `{key}`"
            faults.add("DPC142", (*path, key), message, hint, key=True)
            refused = True
    return refused


def _kinds_refused(partition: written.ByKinds, path: Path, faults: Faults) -> bool:
    """Whether kinds contradict what else is declared of their partition (reported)."""
    refused = False
    fed_by_all = set.intersection(*(set(fed) for fed in partition.kinds.values()))
    if partition.drops and fed_by_all:
        name = quoted(min(fed_by_all))
        message = f"every kind feeds {name}, so that no row gives nothing to it"
        hint = "leave out `drops`, or add a kind without blocks: `other: []`"
        faults.add("DPC157", (*path, "drops"), message, hint)
        refused = True
    most = partition.max_blocks_per_unit
    kind, fed = max(partition.kinds.items(), key=lambda pair: len(pair[1]))
    if most is None or len(fed) <= most:
        return refused
    message = f"a row of kind {quoted(kind)} is in {len(fed)} blocks, more than its unit may be in"
    hint = f"write `max_blocks_per_unit: {len(fed)}` or more, or leave it out"
    faults.add("DPC157", (*path, "max_blocks_per_unit"), message, hint)
    return True


def rows_missing(order: Iterable[Place | Split], faults: Faults) -> None:
    """Report positions split into blocks of which samples need more rows than there are.

    `order`: everything in the forest, children before parents.
    """
    needed: dict[int, int] = {}
    for node in order:
        if isinstance(node, Place):
            below = [_needed_above(child, needed) for child in node.children]
            needed[id(node)] = max(below, default=0)
            continue
        if node.kind is not PartitionKind.POSITION:
            continue
        every = max(1, needed[id(node.star)])
        alone = [max(every, needed[id(place)]) for place in node.named.values()]
        total = needed[id(node)] = every * (len(node.blocks) - len(alone)) + sum(alone)
        facts = node.parent.facts
        if total > max(len(node.blocks), total if facts.most is None else facts.most):
            message = f"what is drawn from the blocks of {quoted(node.name)} needs {total} rows"
            has = "has" if facts.size is not None else "has at most"
            rows = plural(facts.most or 0, "row")
            hint = "the numbers in `of` cannot all be right: together they are at most that many"
            message = f"{message}, and {quoted(node.parent.name)} {has} {rows}"
            faults.add("DPC157", node.path, message, hint, key=True)
            needed[id(node)] = 0


def _needed_above(node: Place | Split, needed: dict[int, int]) -> int:
    """How many rows what is made from a dataset shows it to have."""
    if isinstance(node, Split):
        return needed.get(id(node), 0)
    match node.made_by:
        case Sample(of=of) if of is not None:
            return of if node.facts.sound else 0
        case Flatten(max_rows=rows, exact=True):
            return -(-needed[id(node)] // rows)
        case RowMap():
            return needed[id(node)]
        case _:
            return 0


def _above(place: Place) -> str:
    return place.parent.name if place.parent is not None else place.name
