"""The datasets of a spec as they are written: what is made from what, and what names refer to.

A partition is here once, with the content that all its blocks have (`star`) and the content that
only single blocks have (`named`), however many blocks there are. Nothing recurses.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dpcompose.core.change.maps import form_of
from dpcompose.core.change.maps.allocate import Allocate
from dpcompose.core.change.maps.batches import Batches
from dpcompose.core.change.maps.columns import Columns
from dpcompose.core.change.maps.kind import Map
from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.partitions.partition_kind import PartitionKind
from dpcompose.core.change.row_facts import Shape, Traits
from dpcompose.core.model.problem import Mechanism, Path
from dpcompose.core.numbers.form_keys import FormKey, Sort
from dpcompose.errors import quoted
from dpcompose.faults import Faults
from dpcompose.source.rewriting import is_plain
from dpcompose.spec.datasets import AnyPartition

#: The name of a block, or its number.
Block = str | int
#: The blocks of a partition: their names, or their numbers.
Blocks = range | tuple[str, ...]
#: A mechanism; or, where its parameters differ between blocks, the mechanism on each block, the
#: same object wherever it is the same.
BoundMechanism = Mechanism | dict[Block, Mechanism]

# --- places ---------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class SpecPlace:
    """Something that a mechanism of the spec can read: a dataset, all blocks of a partition, or one
    block.

    `traits`: what is known of its rows by the way it is made. `sound`: no error here or above; else
    errors of what is below are not reported. `scope`: the nearest partition of which each block has
    a copy of this place; None if there is none. `split`: the partition whose block, or blocks, it
    is. `children` and `mechanisms`: those of this place, with their numbers in the spec. `dealt`:
    the samples, batches and allocations that it is, or is made from, nearest first.
    """

    name: str
    path: Path
    index: int
    parent: SpecPlace | None
    traits: Traits
    sound: bool = True
    scope: Splitting | None = None
    made_by: Map | None = None
    split: Splitting | None = None
    children: list[SpecPlace | Splitting] = field(default_factory=list)
    mechanisms: list[tuple[int, BoundMechanism]] = field(default_factory=list)
    depth: int = field(init=False, default=0)
    dealt: tuple[SpecPlace, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        if self.parent is not None:
            self.depth, self.dealt = self.parent.depth + 1, self.parent.dealt
        if isinstance(self.made_by, Sample | Batches | Allocate):
            self.dealt = (self, *self.dealt)

    def lineage(self) -> Iterator[SpecPlace]:
        """Yields the place and the datasets that it is made from, nearest first."""
        at: SpecPlace | None = self
        while at is not None:
            yield at
            at = at.parent

    @property
    def root(self) -> SpecPlace:
        """Returns the root that it is made from."""
        *_, root = self.lineage()
        return root

    def upwards(self) -> Iterator[tuple[str, Map | None]]:
        """Yields the place and its ancestors by quoted name, each with its map (None: a root or a
        block)."""
        return ((quoted(each.name), each.made_by) for each in self.lineage())


#: The names of blocks with equal content, and the place of a block that has its own, else None.
BlocksAlike = tuple[Sequence[Block], SpecPlace | None]


@dataclass(slots=True, eq=False)
class Splitting:
    """A partition of the spec: the names or the numbers of its blocks, the mechanisms that differ
    between blocks (`varied`), and the classes of blocks with equal content (`classes`), which are
    known once all mechanisms are bound."""

    name: str
    path: Path
    index: int
    kind: PartitionKind
    written: AnyPartition
    blocks: Blocks
    parent: SpecPlace
    star: SpecPlace
    named: dict[Block, SpecPlace] = field(default_factory=dict)
    varied: list[dict[Block, Mechanism]] = field(default_factory=list)
    classes: list[BlocksAlike] = field(default_factory=list)
    _names: frozenset[Block] = field(init=False)

    def __post_init__(self) -> None:
        self._names = frozenset(() if isinstance(self.blocks, range) else self.blocks)

    def find(self, text: str) -> Block | None:
        """Returns the block that `text` names, or None."""
        if not isinstance(self.blocks, range):
            return text if text in self._names else None
        # Only the usual spelling of a number, so that a block has one name.
        if not (text.isascii() and text.isdigit()) or len(text) > 10 or text != str(int(text)):
            return None
        return int(text) if int(text) < len(self.blocks) else None

    def block(self, block: Block) -> SpecPlace:
        """Returns the place of one block."""
        place = self.named.get(block)
        if place is None:
            star, parent = self.star, self.parent
            place = self.named[block] = SpecPlace(
                f"{self.name}.{block}",
                star.path,
                star.index,
                parent,
                star.traits,
                star.sound,
                parent.scope,
                split=self,
            )
        return place


class Names:
    """Resolves references to datasets, partitions and blocks.

    `declared`: all names that the spec declares, None if they cannot be known. Datasets with errors
    are not among `nodes`, and references to them are not reported again.
    """

    def __init__(self, declared: Collection[str] | None, faults: Faults) -> None:
        self.nodes: dict[str, SpecPlace | Splitting] = {}
        self.declared = declared
        self._faults = faults

    def find(self, text: str, path: Path) -> SpecPlace | Splitting | None:
        """Returns the dataset, block or partition that the reference `text` names; None if there is
        none, which is then reported at `path`."""
        name, dot, block = text.partition(".")
        node = self.nodes.get(name)
        if node is None:
            if self.declared is not None and name not in self.declared:
                message = f"unknown dataset {quoted(name)}"
                self._faults.add("DPC121", path, message, wrong=name, legal=self.declared)
            return None
        if not dot:
            return node
        if isinstance(node, SpecPlace):
            self._no_blocks(node, block, path)
            return None
        if block == "*":
            return node.star
        found = node.find(block)
        if found is None:
            no_block(node, block, path, self._faults)
            return None
        return node.block(found)

    def place(self, text: str, path: Path) -> SpecPlace | None:
        """Returns the dataset or block that a mechanism reads by the reference `text`; None if
        there is none, which is then reported at `path`."""
        node = self.find(text, path)
        if not isinstance(node, Splitting):
            return node
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
    names = split.blocks
    if isinstance(names, range):
        hint = f"its blocks are 0 to {len(names) - 1}" if len(names) > 1 else "its only block is 0"
        faults.add("DPC122", path, message, hint, key=key)
    else:
        faults.add("DPC122", path, message, wrong=block, legal=names, key=key)


# --- what is known of a place, in words ----------------------------------------------------------


def no_positions(place: SpecPlace) -> tuple[str, str]:
    """Returns why the rows of a dataset have no positions, and a hint."""
    lost = (
        each
        for each in place.lineage()
        if each.made_by is not None
        and each.parent is not None
        and each.parent.traits.ordered
        and not each.traits.ordered
    )
    lost_by = next(lost, place.root)
    by = "" if lost_by is place else f": {quoted(lost_by.name)} has none"
    why = f"rows of {quoted(place.name)} have no positions{by}"
    name = quoted(lost_by.name)
    if lost_by.parent is None:
        return why, f"write `domain: ordered-table` at {name}, or partition by value"
    return why, f"partition above {name}, which forgets the order of rows"


def no_unit(place: SpecPlace) -> tuple[str, str]:
    """Returns why the rows of a dataset have no privacy unit, and a hint."""
    root = place.root
    if root.traits.shape is Shape.GRAPH:
        return "a graph has no privacy unit", "on graphs: `edge`, `node` or `node-rewired`"
    for each in place.lineage():
        parent = each.parent
        if each.made_by is None or parent is None or parent.traits.unit is None:
            continue
        if each.traits.unit is None:
            lost_by, column = quoted(each.name), quoted(parent.traits.unit)
            why = f"the rows of {lost_by} do not tell whose they are"
            if form_of(each.made_by).has("keeps"):
                return why, f"let {lost_by} list {column} in `keeps`, if it leaves that as it is"
            return why, f"only maps above {lost_by} still know {column}"
    why = f"the root {quoted(root.name)} names no privacy unit"
    example = f"`{root.name}: {{unit: user_id}}`" if is_plain(root.name) else "`unit: user_id`"
    return why, f"name the column that says whose row it is, for example {example}"


def columns_missing(
    keys: Iterable[FormKey], given: object, path: Path, place: SpecPlace, faults: Faults
) -> bool:
    """Returns whether a map or partition names columns that its dataset lacks, which is reported.

    Every name is legal if the root does not name its columns. Below a map that makes new columns a
    name may be one of these, except for columns that must be known to be unchanged.
    """
    fine = True
    for key in keys:
        value = getattr(given, key.name, None)
        if key.sort is Sort.COLUMN and value is not None:
            fine &= has_column(value, (*path, key.name), place, faults)
        elif key.sort is Sort.COLUMNS and value is not None:
            if not value and key.name == "only":
                hint = "name at least one column"
                faults.add("DPC108", (*path, key.name), "no column is selected", hint)
                fine = False
            for i, name in enumerate(value):
                at = (*path, key.name, i)
                fine &= has_column(name, at, place, faults, as_it_is=key.name == "uses")
    return not fine


def has_column(
    name: str, at: Path, place: SpecPlace, faults: Faults, *, as_it_is: bool = False
) -> bool:
    """Returns whether rows of a dataset may have a column; if not, reports an error.

    `as_it_is`: the column must be unchanged from the root, unless it is a new one with a new name.
    """
    traits = place.traits
    if not place.sound or traits.columns is None or name in traits.columns:
        return True
    lost_by = _lost_by(name, place)
    if traits.others and (lost_by is None or not as_it_is):
        return True
    if lost_by is None:
        message = f"{quoted(name)} is no column of {quoted(place.name)}"
        faults.add("DPC131", at, message, wrong=name, legal=sorted(traits.columns))
        return False
    by = quoted(lost_by.name)
    made_by = lost_by.made_by
    assert made_by is not None
    message = f"{quoted(name)} is not there any more: {by} does not keep it"
    hint = f"use it above {by}"
    if isinstance(made_by, Columns):
        hint = f"list it in `only` of {by}, or use it above {by}"
    elif form_of(made_by).has("keeps"):
        hint = (
            f"let {by} list it in `keeps`, if it leaves it as it is; "
            "a column that a map makes anew needs a name of its own"
        )
    faults.add("DPC131", at, message, hint, related=((lost_by.path, True, "here"),))
    return False


def named_by_roots(
    names: Sequence[str], at: Path, roots: Sequence[SpecPlace], changes: bool, faults: Faults
) -> bool:
    """Returns whether each name is a column of a root; if not, reports an error.

    `changes`: only these columns change, so that some root has to name all of its own. A root that
    names no columns may have any.
    """
    tables = [root for root in roots if root.traits.shape is Shape.TABLE]
    if not names:
        return True
    known = [root.traits.columns for root in tables]
    named = [each for each in known if each is not None]
    if changes and tables and not named:
        name = quoted(tables[0].name)
        message = f"all other columns are kept, and {name} does not say which these are"
        hint = f"list all of its columns: `{tables[0].name}: {{columns: […]}}`"
        faults.add("DPC159", at, message, hint, related=((tables[0].path, True, "here"),))
        return False
    if not named or (not changes and len(named) < len(known)):
        return True
    legal = sorted(frozenset().union(*named))
    fine = True
    for i, name in enumerate(names):
        if name not in legal:
            whose = f"{quoted(tables[0].name)}" if len(tables) == 1 else "a root"
            message = f"{quoted(name)} is no column of {whose}"
            faults.add("DPC131", (*at, i), message, wrong=name, legal=legal)
            fine = False
    return fine


def _lost_by(name: str, place: SpecPlace) -> SpecPlace | None:
    """Returns the dataset that first lacks a column of the root; None if the root has no such
    column."""
    below, at = place, place.parent
    while at is not None:
        columns = at.traits.columns
        if columns is not None and name in columns:
            return below
        below, at = at, at.parent
    return None


def cycles(following: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Yields one cycle for each connected part of a graph that has a cycle; never recurses.

    `following`: the names that each name leads to.
    """
    done: set[str] = set()
    for start in following:
        trail: dict[str, Iterator[str]] = {}
        at: str | None = start if start not in done else None
        while at is not None:
            below = trail.setdefault(at, iter(following[at]))
            further = next((x for x in below if x in following and x not in done), None)
            if further is None:
                done.add(at)
                trail.pop(at)
                at = next(reversed(trail), None)
            elif further in trail:
                names = list(trail)
                yield names[names.index(further) :]
                done.update(names)
                at = None
            else:
                at = further
