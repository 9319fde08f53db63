"""From the datasets as written to the forest: parents found, maps and partitions checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from dpcompose.core.change.kind_form import Contradiction, Refusal
from dpcompose.core.change.maps import MAPS, form_of
from dpcompose.core.change.maps.allocate import Allocate
from dpcompose.core.change.maps.batches import Batches
from dpcompose.core.change.maps.kind import Above, Map
from dpcompose.core.change.maps.sample import AllRows, Sample
from dpcompose.core.change.maps.value import Joint, Value
from dpcompose.core.change.partitions import PARTITIONS
from dpcompose.core.change.partitions.partition_kind import PartitionKind, Undivided
from dpcompose.core.change.row_facts import Shape
from dpcompose.core.model.problem import Dataset, Domain, Path, Root, traits_of_root
from dpcompose.core.numbers.form_keys import Need, Sort
from dpcompose.curves.rounding import listing
from dpcompose.errors import quoted
from dpcompose.faults import Faults, plural
from dpcompose.resolve.forest import (
    Blocks,
    Names,
    SpecPlace,
    Splitting,
    columns_missing,
    cycles,
    has_column,
    no_positions,
    no_unit,
)
from dpcompose.resolve.parameters import Numbers
from dpcompose.spec import datasets as written
from dpcompose.spec.model import Spec

_CYCLE_SHOWN = 10


class Datasets:
    """Builds the forest of datasets and partitions.

    `roots`: the place of each root, and the root of the problem, whose dataset has no content yet.
    `order`: all places and partitions, parents first.
    """

    def __init__(
        self, spec: Spec, names: Names, numbers: Numbers, faults: Faults, nulls: bool = False
    ) -> None:
        """Sets up the forest; `nulls`: a row that goes leaves a null in its place."""
        self.names = names
        self.roots: list[tuple[SpecPlace, Root]] = []
        self.order: list[SpecPlace | Splitting] = []
        self._spec = spec
        self._numbers = numbers
        self._faults = faults
        self._nulls = nulls
        self._index = {name: index for index, name in enumerate(spec.datasets)}
        self._joints: dict[str, Joint] = {}

    def build(self) -> None:
        """Adds every dataset that `from` connects to a root; reports all others as errors."""
        waiting: dict[str, list[str]] = {}
        for name, dataset in self._spec.datasets.items():
            if not self._named_well(name):
                continue
            if isinstance(dataset, written.Table | written.Graph):
                self._root(name, dataset)
            else:
                waiting.setdefault(dataset.from_.partition(".")[0], []).append(name)
        made = [place.name for place, _ in self.roots]
        for parent in made:
            made.extend(name for name in waiting.pop(parent, ()) if self._derive(name))
        if waiting:
            self._refuse_rest(waiting)
        for place, _ in self.roots:
            dataset = self._spec.datasets[place.name]
            if isinstance(dataset, written.Table) and dataset.joint is not None:
                self._check_joint(place, dataset.joint.datasets)
        if any(place.traits.ordered for place, _ in self.roots):
            _rows_missing(self.order, self._faults)

    def _named_well(self, name: str) -> bool:
        """Returns whether a text is legal as the name of a dataset; if not, reports an error."""
        if name.strip() and "." not in name:
            return True
        message = f"{quoted(name)} cannot be the name of a dataset"
        hint = "a dot stands before the name of a block: use another character"
        path = ("datasets", name)
        self._faults.add("DPC109", path, message, hint if "." in name else None, key=True)
        return False

    # roots

    def _root(self, name: str, dataset: written.Table | written.Graph) -> None:
        """Adds the place of a root dataset to the names, the roots and the order; reports errors in
        it."""
        path: Path = ("datasets", name)
        domain = Domain(dataset.domain)
        unit = size = degree = columns = most = None
        if isinstance(dataset, written.Graph):
            degree = dataset.max_degree
        else:
            unit, size, most = dataset.unit, dataset.size, dataset.max_rows_per_unit
            if dataset.columns is not None:
                columns = self._columns(dataset.columns, (*path, "columns"))
        if size is not None and domain is Domain.TABLE:
            message = "`size` says that the number of rows is public"
            hint = "write `domain: fixed-size-table`"
            self._faults.add("DPC105", (*path, "size"), message, hint, key=True)
        if most is not None and unit is None:
            message = f"{quoted(name)} does not say which column names the privacy unit"
            hint = "add `unit: user_id`, or leave `max_rows_per_unit` out"
            self._faults.add("DPC142", (*path, "max_rows_per_unit"), message, hint, key=True)
        public = None if domain is Domain.TABLE else size
        traits = traits_of_root(domain, unit, None, public, columns, self._nulls)
        place = SpecPlace(name, path, self._index[name], None, traits)
        self.names.nodes[name] = place
        if unit is not None:
            has_column(unit, (*path, "unit"), place, self._faults)
        empty = Dataset(name, path)
        root = Root(empty, domain, unit, degree, size, columns, self._nulls, most)
        self.roots.append((place, root))
        self.order.append(place)
        if isinstance(dataset, written.Table) and dataset.joint is not None:
            l1 = self._numbers.parameter(dataset.joint.l1, (*path, "joint", "l1"), safe="up")
            if l1 is not None:
                self._joints[name] = Joint(tuple(dataset.joint.datasets), l1)

    def _check_joint(self, root: SpecPlace, names: list[str]) -> None:
        """Reports datasets among `names` for which the joint bound of a root cannot hold."""
        name = root.name
        path: Path = ("datasets", name, "joint")
        if root.traits.fixed:
            message = "a joint bound is for one row added or removed, and the size of "
            hint = "leave `joint` out, and give each value its `sensitivity: {bounded: …}`"
            message += f"{quoted(name)} is public (Example III.4)"
            self._faults.add("DPC140", (*path, "l1"), message, hint)
        for i, other in enumerate(names):
            at = (*path, "datasets", i)
            if other in names[:i]:
                message = f"{quoted(other)} is named twice"
                self._faults.add("DPC120", at, message, "remove one of them")
                continue
            place = self.names.find(other, at)
            if place is None:
                continue
            if not (
                isinstance(place, SpecPlace)
                and place.parent is root
                and isinstance(place.made_by, Value)
            ):
                message = f"{quoted(other)} is no value made straight from {quoted(name)}"
                hint = f"write `{{from: {name}, map: {{kind: value, metric: l1}}}}`"
                self._faults.add("DPC132", at, message, hint)

    def _columns(self, names: list[str], path: Path) -> tuple[str, ...]:
        """Returns the columns of a root; reports a column that is named twice, or has no name."""
        found: set[str] = set()
        for i, name in enumerate(names):
            if name in found or not name.strip():
                twice = f"the column {quoted(name)} is named twice"
                empty = "a column cannot have an empty name"
                code, message = ("DPC120", twice) if name in found else ("DPC109", empty)
                self._faults.add(code, (*path, i), message, "remove it")
            found.add(name)
        return tuple(names)

    # derived

    def _derive(self, name: str) -> bool:
        """Adds a derived dataset, whose parent is added already; returns False after an error."""
        dataset = self._spec.datasets[name]
        assert isinstance(dataset, written.Mapped | written.Split)
        parent = self.names.place(dataset.from_, ("datasets", name, "from"))
        if parent is None:
            return False
        if isinstance(dataset, written.Mapped):
            return self._map(name, dataset, parent)
        return self._split(name, dataset, parent)

    def _map(self, name: str, dataset: written.Mapped, parent: SpecPlace) -> bool:
        """Adds the place of a derived dataset below `parent`; returns False, after an error, if the
        map is not valid."""
        path: Path = ("datasets", name)
        given, at = dataset.map, (*path, "map")
        made_by = self._map_made(given, at)
        if made_by is None:
            return False
        joint = self._joints.get(parent.name)
        if isinstance(made_by, Value) and joint is not None and name in joint.datasets:
            made_by = replace(made_by, joint=joint)
        sound, traits = parent.sound, parent.traits
        if sound:
            sound = not _map_refused(made_by, parent, at, self._faults)
            traits = made_by.traits_after(traits)
        if columns_missing(MAPS[given.kind].keys, given, at, parent, self._faults):
            sound = False
        place = SpecPlace(
            name, path, self._index[name], parent, traits, sound, parent.scope, made_by
        )
        parent.children.append(place)
        self.names.nodes[name] = place
        self.order.append(place)
        return True

    def _map_made(self, given: written.AnyMap, path: Path) -> Map | None:
        """Returns the map at `path`, its numbers evaluated and its columns as sets; None after an
        error."""
        form = MAPS[given.kind]
        values: list[object] = []
        for key in form.keys:
            value, at = getattr(given, key.name), (*path, key.name)
            if value is not None and key.sort is Sort.COLUMNS:
                value = frozenset(value)
            elif value is not None and key.sort in (Sort.NUMBER, Sort.MOVES):
                numbers = self._numbers_of(value, at, key.need)
                if numbers is None:
                    return None
                value = numbers[0] if key.sort is Sort.NUMBER else numbers
            values.append(value)
        try:
            return form.made(*values)
        except Contradiction as error:
            why = error.why
            self._faults.add(why.code, (*path, *why.at), why.says, why.hint, key=error.of_key)
            return None

    def _numbers_of(
        self, value: str | written.Sensitivity, path: Path, need: Need
    ) -> tuple[Fraction | None, Fraction | None] | None:
        """Returns how far a row added or removed moves a value, and a row replaced (None: not
        given); of a single number that and None. None after an error."""
        if isinstance(value, written.Sensitivity):
            texts = [(value.unbounded, (*path, "unbounded")), (value.bounded, (*path, "bounded"))]
        else:
            texts = [(value, path), (None, path)]
        found: list[Fraction | None] = []
        for text, at in texts:
            number = None
            if text is not None:
                number = self._numbers.parameter(text, at, need, safe="up")
                if number is None:
                    return None
            found.append(number)
        return found[0], found[1]

    # partitions

    def _split(self, name: str, dataset: written.Split, parent: SpecPlace) -> bool:
        """Adds a partition of `parent`, and the place of its blocks; returns False, after an error,
        if it is not valid."""
        path: Path = ("datasets", name)
        partition, at = dataset.partition, (*path, "partition")
        made = _partition_made(partition, at, self._faults)
        if made is None:
            return False
        kind, blocks = made
        traits, index = kind.traits_of_blocks(len(blocks), parent.traits), self._index[name]
        star = SpecPlace(f"{name}.*", path, index, parent, traits, parent.sound)
        split = Splitting(name, path, index, kind, partition, blocks, parent, star)
        star.scope = star.split = split
        if parent.sound:
            keys = PARTITIONS[partition.by].keys
            refused = columns_missing(keys, partition, at, parent, self._faults)
            refused = _partition_refused(split, self._faults) or refused
            star.sound = not refused
        parent.children.append(split)
        self.names.nodes[name] = split
        self.order.append(split)
        return True

    # what is left

    def _refuse_rest(self, waiting: dict[str, list[str]]) -> None:
        """Reports the datasets `waiting` for a parent that no path connects to a root: those with
        unknown parents, and cycles."""
        left = {name: parent for parent, names in waiting.items() for name in names}
        for name, parent in left.items():
            if self.names.declared is not None and parent not in self.names.declared:
                dataset = self._spec.datasets[name]
                assert isinstance(dataset, written.Mapped | written.Split)
                self.names.find(dataset.from_, ("datasets", name, "from"))
        names = sorted(left, key=self._index.__getitem__)
        for found in cycles({name: (left[name],) for name in names}):
            first = min(range(len(found)), key=lambda i: self._index[found[i]])
            cycle = found[first:] + found[:first]
            shown = [*cycle[:_CYCLE_SHOWN], *(["…"] if len(cycle) > _CYCLE_SHOWN else []), cycle[0]]
            around = " from ".join("…" if each == "…" else quoted(each) for each in shown)
            message = f"{quoted(cycle[0])} is made from itself: {around}"
            hint = "make one of them `from` a root, or say that it is one: `{}`"
            related = tuple(
                (("datasets", name, "from"), False, "") for name in cycle[1:_CYCLE_SHOWN]
            )
            path = ("datasets", cycle[0], "from")
            self._faults.add("DPC124", path, message, hint, related=related)


# --- blocks ---------------------------------------------------------------------------------------


def _partition_made(
    given: written.AnyPartition, path: Path, faults: Faults
) -> tuple[PartitionKind, Blocks] | None:
    """Returns the kind and the blocks of a partition; None after an error in the blocks."""
    form = PARTITIONS[given.by]
    blocks: Blocks | None = None
    made: list[object] = []
    for key in form.keys:
        value, at = getattr(given, key.name), (*path, key.name)
        match key.sort:
            case Sort.BLOCKS:
                blocks = _blocks(value, at, faults)
            case Sort.FEEDS:
                blocks = _blocks_of_kinds(value, at, faults)
                made.append({} if blocks is None else _numbers(value, blocks))
            case Sort.COLUMNS:
                made.append(None if value is None else frozenset(value))
                if value == []:
                    hint = "name the columns that decide in which block a row is"
                    faults.add("DPC108", at, "nothing decides in which block a row is", hint)
            case _:
                made.append(value)
    return None if blocks is None else (form.made(*made), blocks)


def _blocks(given: int | list[str], path: Path, faults: Faults) -> Blocks | None:
    """Returns the blocks by their names, or by their number; None after an error."""
    if isinstance(given, int):
        return range(given)
    return tuple(given) if _are_distinct(given, path, faults) else None


def _blocks_of_kinds(kinds: dict[str, list[str]], path: Path, faults: Faults) -> Blocks | None:
    """Returns all blocks that some kind of rows feeds; None after an error."""
    fine = [_are_distinct(fed, (*path, kind), faults) for kind, fed in kinds.items()]
    names = tuple(dict.fromkeys(name for fed in kinds.values() for name in fed))
    if not names:
        faults.add("DPC108", path, "no kind feeds a block", "name at least one block")
        return None
    return names if all(fine) else None


def _numbers(kinds: dict[str, list[str]], blocks: Blocks) -> dict[str, tuple[int, ...]]:
    """Returns for each kind of rows the indices of the blocks that it feeds."""
    number = {block: i for i, block in enumerate(blocks)}
    return {kind: tuple(number[name] for name in fed) for kind, fed in kinds.items()}


def _are_distinct(names: list[str], path: Path, faults: Faults) -> bool:
    """Returns whether names of blocks are legal and differ from each other; if not, reports an
    error."""
    first: dict[str, int] = {}
    fine = True
    for i, name in enumerate(names):
        if not name.strip() or name == "*":
            message = f"{quoted(name)} cannot be the name of a block"
            faults.add("DPC109", (*path, i), message, "`*` stands for every block")
        elif first.setdefault(name, i) != i:
            message = f"the block {quoted(name)} is named twice"
            faults.add("DPC120", (*path, i), message, "remove one of them")
        else:
            continue
        fine = False
    return fine


# --- what cannot be read --------------------------------------------------------------------------


def _maps_of_graphs() -> str:
    """Returns the names of the kinds of maps that read a graph."""
    return listing(form.name for form in MAPS.values() if form.reads is Shape.GRAPH)


def _map_refused(made_by: Map, parent: SpecPlace, path: Path, faults: Faults) -> bool:
    """Returns whether a map cannot read its parent, which is then reported."""
    shape, source = parent.traits.shape, quoted(parent.name)
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
        message = f"{source} is a graph: only {_maps_of_graphs()} can read it"
        hint = "make a table of it first: `map: edges` or `map: nodes`"
        faults.add("DPC144", path, message, hint)
    else:
        message = f"{_maps_of_graphs()} need a graph, and {source} is {shape}"
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
    root, is_root = quoted(parent.root.name), parent.parent is None
    name, traits = quoted(parent.name), parent.traits
    return Above(name, traits, root, is_root, lambda: no_unit(parent), parent.upwards)


def _partition_refused(split: Splitting, faults: Faults) -> bool:
    """Returns whether a partition cannot be one of its parent, which is then reported."""
    partition, parent = split.written, split.parent
    traits, path = parent.traits, (*split.path, "partition")
    source = quoted(parent.name)
    if traits.shape is not Shape.TABLE:
        code = "DPC144" if traits.shape is Shape.GRAPH else "DPC145"
        message = f"{source} is {traits.shape}: it has no rows to partition"
        hint = (
            "make a table of it first: `map: edges` or `map: nodes`"
            if traits.shape is Shape.GRAPH
            else f"partition {quoted(_above(parent))} instead"
        )
        faults.add(code, path, message, hint)
        return True
    whole = Undivided(
        traits,
        lambda: no_positions(parent),
        split.blocks,
        quoted,
        partition.drops,
        partition.max_blocks_per_unit,
    )
    reasons = list(split.kind.refused(whole))
    for each in reasons:
        faults.add(each.code, (*path, *each.at), each.says, each.hint)
    refused = bool(reasons)
    for key in ("max_blocks_per_unit", "max_rows_per_block"):
        if getattr(partition, key) is not None and traits.unit is None:
            why, hint = no_unit(parent)
            message = f"`{key}` speaks of a privacy unit: {why}"
            hint = f"{hint}; or remove `{key}`"
            faults.add("DPC142", (*path, key), message, hint, key=True)
            refused = True
    return refused


def _rows_missing(order: Sequence[SpecPlace | Splitting], faults: Faults) -> None:
    """Reports tables with positions whose samples, in blocks, need more rows than the table has.

    `order`: all datasets and partitions of the forest, parents before children.
    """
    needed: dict[int, int] = {}

    def rows_of(place: SpecPlace) -> int:
        """Returns the least number of rows that a place must have for what is made from it."""
        return max((needed[id(child)] for child in place.children), default=0)

    for node in reversed(order):
        if isinstance(node, SpecPlace):
            made_by = node.made_by if node.sound else None
            needed[id(node)] = 0 if made_by is None else made_by.rows_needed(rows_of(node))
            continue
        every = rows_of(node.star)
        alone = [(max(every, rows_of(place)), 1) for place in node.named.values()]
        total = node.kind.rows_needed([(every, len(node.blocks) - len(alone)), *alone])
        needed[id(node)] = total
        traits = node.parent.traits
        if total > max(len(node.blocks), total if traits.most is None else traits.most):
            message = f"what is drawn from the blocks of {quoted(node.name)} needs {total} rows"
            has = "has" if traits.size is not None else "has at most"
            rows_there = plural(traits.most or 0, "row")
            hint = "the numbers in `of` cannot all be right: together they are at most that many"
            message = f"{message}, and {quoted(node.parent.name)} {has} {rows_there}"
            faults.add("DPC157", node.path, message, hint, key=True)
            needed[id(node)] = 0


def _above(place: SpecPlace) -> str:
    return place.parent.name if place.parent is not None else place.name
