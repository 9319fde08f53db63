"""From the datasets as written to the forest: parents found, maps and partitions checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dpcompose.core.change.maps import MAPS
from dpcompose.core.change.maps.kind import Map
from dpcompose.core.change.maps.value import Joint, Value
from dpcompose.core.change.partitions import PARTITIONS
from dpcompose.core.model.problem import Dataset as Resolved
from dpcompose.core.model.problem import Domain, Path, Root
from dpcompose.errors import quoted
from dpcompose.faults import Faults
from dpcompose.resolve.bind_maps import Maps
from dpcompose.resolve.bind_partitions import partition_made
from dpcompose.resolve.facts import Facts, facts_after_map, facts_of_blocks, facts_of_root
from dpcompose.resolve.forest import Names, SpecPlace, Splitting, number
from dpcompose.resolve.named_columns import columns_missing, has_column
from dpcompose.resolve.readable import map_refused, partition_refused, rows_missing
from dpcompose.spec import datasets as written
from dpcompose.spec.model import Spec

_CYCLE_SHOWN = 10


@dataclass(slots=True, eq=False)
class RootPlace:
    """A root with what is public about it."""

    place: SpecPlace
    domain: Domain
    unit: str | None
    max_degree: int | None
    size: int | None
    columns: tuple[str, ...] | None
    nulls: bool
    max_rows_per_unit: int | None

    def filled(self, dataset: Resolved) -> Root:
        """Returns the root of a problem, with the resolved dataset."""
        return Root(
            dataset,
            self.domain,
            self.unit,
            self.max_degree,
            self.size,
            self.columns,
            self.nulls,
            self.max_rows_per_unit,
        )


class Datasets:
    """Builds the forest of datasets and partitions; `order` lists all of them, parents first."""

    def __init__(
        self, spec: Spec, names: Names, maps: Maps, faults: Faults, nulls: bool = False
    ) -> None:
        """Sets up the forest; `nulls`: a row that goes leaves a null in its place."""
        self.names = names
        self.roots: list[RootPlace] = []
        self.order: list[SpecPlace | Splitting] = []
        self._spec = spec
        self._maps = maps
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
        made = [root.place.name for root in self.roots]
        for parent in made:
            made.extend(name for name in waiting.pop(parent, ()) if self._derive(name))
        self._refuse_rest(waiting)
        for root in self.roots:
            self._check_joint(root)
        self._sort_children()
        rows_missing(self._children_first(), self._faults)
        number([root.place for root in self.roots])

    def _sort_children(self) -> None:
        """Sorts the children of every place by their order in the spec."""
        for node in self._children_first():
            if isinstance(node, SpecPlace):
                node.children.sort(key=lambda child: child.index)

    def _children_first(self) -> Iterator[SpecPlace | Splitting]:
        """Yields all places and partitions of the forest, children before parents."""
        for node in reversed(self.order):
            if isinstance(node, Splitting):
                yield from (node.star, *node.named.values())
            yield node

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
        facts = facts_of_root(name, domain, unit, public, columns, self._nulls)
        place = SpecPlace(name, path, self._index[name], None, 0, facts, None)
        self.names.nodes[name] = place
        if unit is not None:
            has_column(unit, (*path, "unit"), place, self._faults)
        root = RootPlace(place, domain, unit, degree, size, columns, self._nulls, most)
        self.roots.append(root)
        self.order.append(place)
        if isinstance(dataset, written.Table) and dataset.joint is not None:
            l1 = self._maps.bound(dataset.joint.l1, (*path, "joint", "l1"))
            if l1 is not None:
                self._joints[name] = Joint(tuple(dataset.joint.datasets), l1)

    def _check_joint(self, root: RootPlace) -> None:
        """Reports datasets that the joint bound of a root names and cannot hold for."""
        name = root.place.name
        dataset = self._spec.datasets[name]
        given = dataset.joint if isinstance(dataset, written.Table) else None
        if given is None:
            return
        path: Path = ("datasets", name, "joint")
        if root.place.facts.traits.fixed:
            message = "a joint bound is for one row added or removed, and the size of "
            hint = "leave `joint` out, and give each value its `sensitivity: {bounded: …}`"
            message += f"{quoted(name)} is public (Example III.4)"
            self._faults.add("DPC140", (*path, "l1"), message, hint)
        for i, other in enumerate(given.datasets):
            at = (*path, "datasets", i)
            if other in given.datasets[:i]:
                message = f"{quoted(other)} is named twice"
                self._faults.add("DPC120", at, message, "remove one of them")
                continue
            found = self.names.find(other, at)
            if found is None:
                continue
            place = found.node
            if not (
                isinstance(place, SpecPlace)
                and place.parent is root.place
                and isinstance(place.made_by, Value)
            ):
                message = f"{quoted(other)} is no value made straight from {quoted(name)}"
                hint = f"write `{{from: {name}, map: {{kind: value, metric: l1}}}}`"
                self._faults.add("DPC132", at, message, hint)

    def _columns(self, names: list[str] | None, path: Path) -> tuple[str, ...] | None:
        """Returns the columns of a root, None if not given; reports a column that is named
        twice."""
        found: set[str] = set()
        for i, name in enumerate(names or ()):
            if name in found or not name.strip():
                twice = f"the column {quoted(name)} is named twice"
                empty = "a column cannot have an empty name"
                code, message = ("DPC120", twice) if name in found else ("DPC109", empty)
                self._faults.add(code, (*path, i), message, "remove it")
            found.add(name)
        return None if names is None else tuple(names)

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
        made_by = self._maps.made(dataset.map, (*path, "map"))
        if made_by is None:
            return False
        joint = self._joints.get(parent.name)
        if isinstance(made_by, Value) and joint is not None and name in joint.datasets:
            made_by = replace(made_by, joint=joint)
        facts = self._after(name, made_by, parent)
        given = dataset.map
        if columns_missing(MAPS[given.kind].keys, given, (*path, "map"), parent, self._faults):
            facts = facts._replace(sound=False)
        place = SpecPlace(
            name, path, self._index[name], parent, parent.depth + 1, facts, parent.scope, made_by
        )
        parent.children.append(place)
        self.names.nodes[name] = place
        self.order.append(place)
        return True

    def _after(self, name: str, made_by: Map, parent: SpecPlace) -> Facts:
        """Returns the facts of a dataset made by a map; unsound, after an error, if the map cannot
        read its parent."""
        facts = parent.facts
        if not facts.sound:
            return facts
        refused = map_refused(name, made_by, parent, self._faults)
        after = facts_after_map(name, made_by, facts)
        return after._replace(sound=not refused)

    # partitions

    def _split(self, name: str, dataset: written.Split, parent: SpecPlace) -> bool:
        """Adds a partition of `parent`, and the place of its blocks; returns False, after an error,
        if it is not valid."""
        path: Path = ("datasets", name)
        partition = dataset.partition
        made = partition_made(partition, (*path, "partition"), self._faults)
        if made is None:
            return False
        kind, blocks = made
        facts = facts_of_blocks(kind, len(blocks), parent.facts)
        index = self._index[name]
        star = SpecPlace(f"{name}.*", path, index, parent, parent.depth + 1, facts, None)
        split = Splitting(name, path, index, kind, partition, blocks, parent, star)
        star.scope = split
        if facts.sound:
            keys, at = PARTITIONS[partition.by].keys, (*path, "partition")
            refused = columns_missing(keys, partition, at, parent, self._faults)
            refused = partition_refused(split, self._faults) or refused
            star.facts = facts._replace(sound=not refused)
        parent.children.append(split)
        self.names.nodes[name] = split
        self.order.append(split)
        return True

    # what is left

    def _refuse_rest(self, waiting: dict[str, list[str]]) -> None:
        """Reports datasets that no path connects to a root: those with unknown parents, and
        cycles."""
        left = {name: parent for parent, names in waiting.items() for name in names}
        for name, parent in left.items():
            if self.names.declared is not None and parent not in self.names.declared:
                dataset = self._spec.datasets[name]
                assert isinstance(dataset, written.Mapped | written.Split)
                self.names.find(dataset.from_, ("datasets", name, "from"))
        for cycle in _cycles(left, self._index):
            shown = [*cycle[:_CYCLE_SHOWN], *(["…"] if len(cycle) > _CYCLE_SHOWN else []), cycle[0]]
            around = " from ".join("…" if each == "…" else quoted(each) for each in shown)
            message = f"{quoted(cycle[0])} is made from itself: {around}"
            hint = "make one of them `from` a root, or say that it is one: `{}`"
            related = tuple(
                (("datasets", name, "from"), False, "") for name in cycle[1:_CYCLE_SHOWN]
            )
            path = ("datasets", cycle[0], "from")
            self._faults.add("DPC124", path, message, hint, related=related)


def _cycles(parents: dict[str, str], index: dict[str, int]) -> Iterator[list[str]]:
    """Yields each cycle once, from its first dataset on; `parents` has the one parent of each
    dataset."""
    seen: set[str] = set()
    for start in sorted(parents, key=index.__getitem__):
        trail: dict[str, int] = {}
        name = start
        while name in parents and name not in seen:
            seen.add(name)
            trail[name] = len(trail)
            name = parents[name]
        if name in trail:
            cycle = list(trail)[trail[name] :]
            first = min(range(len(cycle)), key=lambda i: index[cycle[i]])
            yield cycle[first:] + cycle[:first]
