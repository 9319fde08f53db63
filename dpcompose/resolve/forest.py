"""The datasets of a spec as they are written: what is made from what, and what names refer to.

A partition is here once, with the content that all its blocks have (`star`) and the content that
only single blocks have (`named`), however many blocks there are. Nothing recurses.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dpcompose.core.change.maps.kind import Map
from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.partitions.partition_kind import PartitionKind
from dpcompose.core.model.problem import Mechanism, Path
from dpcompose.errors import quoted
from dpcompose.faults import Faults
from dpcompose.resolve.facts import Facts
from dpcompose.resolve.statements import Block, Varied
from dpcompose.spec.datasets import AnyPartition


class Blocks:
    """The names of the blocks of a partition: texts, or the numbers of a range."""

    __slots__ = ("_index", "names")

    def __init__(self, names: range | tuple[str, ...]) -> None:
        self.names: Sequence[Block] = names
        self._index = None if isinstance(names, range) else dict(zip(names, names, strict=True))

    def __len__(self) -> int:
        return len(self.names)

    def find(self, text: str) -> Block | None:
        """Returns the block that `text` names, or None."""
        if self._index is not None:
            return self._index.get(text)
        # Only the usual spelling of a number, so that a block has one name.
        if not (text.isascii() and text.isdigit()) or len(text) > 10 or text != str(int(text)):
            return None
        return int(text) if int(text) < len(self.names) else None


@dataclass(slots=True, eq=False)
class SpecPlace:
    """A place of the spec that a mechanism can read: a dataset, all blocks of a partition, or one
    block.

    `scope`: the nearest partition of which each block has a copy of this place; None if there is
    none. `children` and `mechanisms`: those of this place, with their numbers in the spec. `enter`,
    `leave`: numbers of a depth-first walk (see `number`); the places below are those whose `enter`
    lies between the two.
    """

    name: str
    path: Path
    index: int
    parent: SpecPlace | None
    depth: int
    facts: Facts
    scope: Splitting | None
    made_by: Map | None = None
    children: list[SpecPlace | Splitting] = field(default_factory=list)
    mechanisms: list[tuple[int, Mechanism | Varied]] = field(default_factory=list)
    enter: int = 0
    leave: int = 0

    @property
    def is_root(self) -> bool:
        """Returns whether the place is a root dataset."""
        return self.parent is None


@dataclass(slots=True, eq=False)
class Splitting:
    """A partition; `varied` are the mechanisms with a parameter for each of its blocks."""

    name: str
    path: Path
    index: int
    kind: PartitionKind
    written: AnyPartition
    blocks: Blocks
    parent: SpecPlace
    star: SpecPlace
    named: dict[Block, SpecPlace] = field(default_factory=dict)
    varied: list[Varied] = field(default_factory=list)
    enter: int = 0
    leave: int = 0

    def block(self, block: Block) -> SpecPlace:
        """Returns the place of one block."""
        place = self.named.get(block)
        if place is None:
            star, parent = self.star, self.parent
            name = f"{self.name}.{block}"
            place = self.named[block] = SpecPlace(
                name, star.path, star.index, parent, star.depth, star.facts, parent.scope
            )
            place.enter = place.leave = self.enter  # until walked: below nothing but the partition
        return place


class Reference(NamedTuple):
    """What a text refers to: a dataset, or a partition with `*`, one block, or nothing."""

    node: SpecPlace | Splitting
    block: Block | None = None
    star: bool = False


class Names:
    """Resolves references to datasets, partitions and blocks.

    `declared`: all names that the spec declares, None if they cannot be known. Datasets with errors
    are not among `nodes`, and references to them are not reported again.
    """

    def __init__(self, declared: Collection[str] | None, faults: Faults) -> None:
        self.nodes: dict[str, SpecPlace | Splitting] = {}
        self.declared = declared
        self._faults = faults

    def find(self, text: str, path: Path) -> Reference | None:
        """Returns what `text` refers to; None if that is nothing, which is then reported."""
        name, dot, block = text.partition(".")
        node = self.nodes.get(name)
        if node is None:
            if self.declared is not None and name not in self.declared:
                message = f"unknown dataset {quoted(name)}"
                self._faults.add("DPC121", path, message, wrong=name, legal=self.declared)
            return None
        if not dot:
            return Reference(node)
        if isinstance(node, SpecPlace):
            self._no_blocks(node, block, path)
            return None
        if block == "*":
            return Reference(node, star=True)
        found = node.blocks.find(block)
        if found is None:
            no_block(node, block, path, self._faults)
            return None
        return Reference(node, found)

    def place(self, text: str, path: Path) -> SpecPlace | None:
        """Returns what `text` reads; None if nothing, which is then reported."""
        reference = self.find(text, path)
        if reference is None:
            return None
        node = reference.node
        if isinstance(node, SpecPlace):
            return node
        if reference.star:
            return node.star
        if reference.block is not None:
            return node.block(reference.block)
        message = f"{quoted(node.name)} is a partition, not a dataset"
        hint = (
            f"write {quoted(node.name + '.*')} for every block, "
            f"or {quoted(node.parent.name)} for the whole"
        )
        self._faults.add("DPC123", path, message, hint)
        return None

    def _no_blocks(self, place: SpecPlace, block: str, path: Path) -> None:
        """Reports a reference `name.block` to a dataset that is not a partition."""
        message = f"{quoted(place.name)} is not a partition: it has no blocks"
        if place.scope is None:
            hint = f"write {quoted(place.name)} for the whole dataset"
        elif block == "*":
            hint = f"write {quoted(place.name)}: it stands for all its copies"
        else:
            hint = f"derive a dataset of its own `from: {place.scope.name}.{block}`"
        self._faults.add("DPC125", path, message, hint)


def no_block(split: Splitting, block: str, path: Path, faults: Faults, key: bool = False) -> None:
    """Reports that a partition has no block of this name."""
    message = f"{quoted(split.name)} has no block {quoted(block)}"
    names = split.blocks.names
    if isinstance(names, range):
        hint = f"its blocks are 0 to {len(names) - 1}" if len(names) > 1 else "its only block is 0"
        faults.add("DPC122", path, message, hint, key=key)
    else:
        faults.add("DPC122", path, message, wrong=block, legal=names, key=key)


def number(roots: Sequence[SpecPlace]) -> None:
    """Sets the numbers `enter` and `leave` of the roots and of everything below, in depth-first
    order."""
    clock = 0
    stack: list[tuple[SpecPlace | Splitting, Iterator[SpecPlace | Splitting]]] = []

    def enter(node: SpecPlace | Splitting) -> None:
        """Numbers a node on entry and pushes it with its children."""
        nonlocal clock
        clock += 1
        node.enter = clock
        below = node.children if isinstance(node, SpecPlace) else [node.star, *node.named.values()]
        stack.append((node, iter(below)))

    for root in roots:
        enter(root)
        while stack:
            node, below = stack[-1]
            child = next(below, None)
            if child is not None:
                enter(child)
            else:
                node.leave = clock + 1
                stack.pop()


def is_above(upper: SpecPlace | Splitting, place: SpecPlace) -> bool:
    """Returns whether `upper` is `place` itself, or an ancestor of it."""
    return upper is place or upper.enter <= place.enter < upper.leave


def lineage(place: SpecPlace) -> Iterator[SpecPlace]:
    """Yields a place and the datasets that it is made from, nearest first."""
    at: SpecPlace | None = place
    while at is not None:
        yield at
        at = at.parent


def sample_of(place: SpecPlace) -> tuple[SpecPlace, Sample] | None:
    """Returns the nearest dataset that is a sample, of a place and those that it is made from, with
    its map; None if nothing is drawn."""
    for each in lineage(place):
        if isinstance(each.made_by, Sample):
            return each, each.made_by
    return None


def ancestors(place: SpecPlace) -> Iterator[str]:
    """Yields the name of a place and those of the datasets that it is made from, nearest first."""
    return (each.name for each in lineage(place))
