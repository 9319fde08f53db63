"""What cannot be read: maps and partitions that have no meaning on their parent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpcompose.core.change.kind_form import Refusal
from dpcompose.core.change.maps import MAPS, form_of
from dpcompose.core.change.maps.allocate import Allocate
from dpcompose.core.change.maps.batches import Batches
from dpcompose.core.change.maps.kind import Above, Map
from dpcompose.core.change.maps.sample import AllRows, Sample
from dpcompose.core.change.partitions.partition_kind import Undivided
from dpcompose.core.change.row_facts import Shape
from dpcompose.curves.rounding import listing
from dpcompose.errors import quoted
from dpcompose.faults import Faults, plural
from dpcompose.resolve.facts import no_positions, no_unit
from dpcompose.resolve.forest import SpecPlace, Splitting

_OF_GRAPHS = listing(form.name for form in MAPS.values() if form.reads is Shape.GRAPH)


def map_refused(name: str, made_by: Map, parent: SpecPlace, faults: Faults) -> bool:
    """Returns whether a map cannot read its parent, which is then reported."""
    facts, path = parent.facts, ("datasets", name, "map")
    shape, source = facts.traits.shape, quoted(parent.name)
    if shape is form_of(made_by).reads:
        above = _above_map(parent)
        reasons = [*made_by.refused(above), *_drawn_for_all_batches(made_by, above)]
        for why in reasons:
            faults.add(why.code, (*path, *why.at), why.says, why.hint)
        return bool(reasons)
    if shape is Shape.VALUE:
        message = f"{source} is {shape}: no map can read it"
        hint = f"derive it from {quoted(_above(parent))}, the table that the value is made from"
        faults.add("DPC145", path, message, hint)
    elif shape is Shape.GRAPH:
        message = f"{source} is a graph: only {_OF_GRAPHS} can read it"
        hint = "make a table of it first: `map: edges` or `map: nodes`"
        faults.add("DPC144", path, message, hint)
    else:
        message = f"{_OF_GRAPHS} need a graph, and {source} is {shape}"
        hint = "a graph is a root with `domain: graph`"
        faults.add("DPC143", path, message, hint)
    return True


def _drawn_for_all_batches(made_by: Map, above: Above) -> Iterator[Refusal]:
    """Yields an error for one draw of a random map below batches, or draws of all rows, each of
    which has its own."""
    drawn = made_by.conduct().random
    if drawn is None or (isinstance(made_by, Sample) and not made_by.shared):
        return
    for name, other in above.upwards():
        again = isinstance(other, Allocate) and other.shared and other.epochs > 1
        if again or isinstance(other, Batches | AllRows):
            what = "draw" if isinstance(other, AllRows) else "batch"
            says = f"a {drawn} of {name} is drawn anew for each {what}, and here it is one draw"
            hint = f"draw it above {name}, or write `keep: first`"
            if isinstance(made_by, Sample):
                hint = f"leave `draws: one` out: each {what} then has a sample of its own"
            yield Refusal("DPC156", (), says, hint)
            return


def _above_map(parent: SpecPlace) -> Above:
    """Returns the dataset that a map is to read, as an `Above` with its words for errors."""
    facts = parent.facts
    return Above(
        quoted(parent.name),
        facts.traits,
        quoted(facts.root),
        parent.name == facts.root,
        lambda: no_unit(facts),
        lambda: _upwards(parent),
    )


def _upwards(parent: SpecPlace) -> Iterator[tuple[str, Map | None]]:
    """Yields a dataset and its ancestors by quoted name, each with its map (None: a root or a
    block)."""
    place: SpecPlace | None = parent
    while place is not None:
        yield quoted(place.name), place.made_by
        place = place.parent


def partition_refused(split: Splitting, faults: Faults) -> bool:
    """Returns whether a partition cannot be one of its parent, which is then reported."""
    partition, parent = split.written, split.parent
    facts, path = parent.facts, (*split.path, "partition")
    source = quoted(parent.name)
    if facts.traits.shape is not Shape.TABLE:
        code = "DPC144" if facts.traits.shape is Shape.GRAPH else "DPC145"
        message = f"{source} is {facts.traits.shape}: it has no rows to partition"
        hint = (
            "make a table of it first: `map: edges` or `map: nodes`"
            if facts.traits.shape is Shape.GRAPH
            else f"partition {quoted(_above(parent))} instead"
        )
        faults.add(code, path, message, hint)
        return True
    whole = Undivided(
        facts.traits,
        lambda: no_positions(facts, parent.name),
        split.blocks.names,
        quoted,
        partition.drops,
        partition.max_blocks_per_unit,
    )
    reasons = list(split.kind.refused(whole))
    for each in reasons:
        faults.add(each.code, (*path, *each.at), each.says, each.hint)
    refused = bool(reasons)
    for key in ("max_blocks_per_unit", "max_rows_per_block"):
        if getattr(partition, key) is not None and facts.traits.unit is None:
            why, hint = no_unit(facts)
            message = f"`{key}` speaks of a privacy unit: {why}"
            hint = f"{hint}; or remove `{key}`"
            faults.add("DPC142", (*path, key), message, hint, key=True)
            refused = True
    return refused


def rows_missing(order: Iterable[SpecPlace | Splitting], faults: Faults) -> None:
    """Reports tables with positions whose samples, in blocks, need more rows than the table has.

    `order`: all datasets and partitions of the forest, children before parents.
    """
    needed: dict[int, int] = {}
    for node in order:
        if isinstance(node, SpecPlace):
            below = [_needed_above(child, needed) for child in node.children]
            needed[id(node)] = max(below, default=0)
            continue
        every = needed[id(node.star)]
        alone = [(max(every, needed[id(place)]), 1) for place in node.named.values()]
        total = node.kind.rows_needed([(every, len(node.blocks) - len(alone)), *alone])
        needed[id(node)] = total
        facts = node.parent.facts
        if total > max(len(node.blocks), total if facts.traits.most is None else facts.traits.most):
            message = f"what is drawn from the blocks of {quoted(node.name)} needs {total} rows"
            has = "has" if facts.traits.size is not None else "has at most"
            rows = plural(facts.traits.most or 0, "row")
            hint = "the numbers in `of` cannot all be right: together they are at most that many"
            message = f"{message}, and {quoted(node.parent.name)} {has} {rows}"
            faults.add("DPC157", node.path, message, hint, key=True)
            needed[id(node)] = 0


def _needed_above(node: SpecPlace | Splitting, needed: dict[int, int]) -> int:
    """Returns the least number of rows that the parent of a node must have, by the rows `needed` in
    it."""
    if isinstance(node, Splitting):
        return needed.get(id(node), 0)
    if node.made_by is None or not node.facts.sound:
        return 0
    return node.made_by.rows_needed(needed[id(node)])


def _above(place: SpecPlace) -> str:
    return place.parent.name if place.parent is not None else place.name
