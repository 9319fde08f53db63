"""The problem to solve: datasets, mechanisms with their guarantees, and what is protected.

A problem is a forest. Each root holds sensitive data; below it hang datasets made by a map and
partitions into blocks. Blocks with identical content are one `BlockClass` with a multiplicity, so
5 000 equal hospitals take the room of one. Places in the spec are `Path`s, never line numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

from dpcompose.core.change.maps.kind import Map
from dpcompose.core.change.neighbouring import Relation, RelationKind
from dpcompose.core.change.partitions import overlapping
from dpcompose.core.change.partitions.partition_kind import PartitionKind
from dpcompose.core.change.row_facts import Shape, Traits
from dpcompose.core.notions.guarantee import Guarantee
from dpcompose.core.notions.notion import Notion

Path = tuple[str | int, ...]


class Domain(StrEnum):
    """The kinds of a root dataset."""

    TABLE = "table"
    FIXED_SIZE = "fixed-size-table"
    ORDERED = "ordered-table"
    GRAPH = "graph"


def traits_of_root(
    domain: Domain,
    unit: str | None,
    degree: int | None,
    size: int | None,
    columns: Collection[str] | None = None,
    nulls: bool = False,
) -> Traits:
    """Returns the traits of a root dataset, given its public facts.

    `unit`: the column of the privacy unit; `degree`: the largest of a graph; `size`: the public
    number of rows; `columns`: all columns of its rows, None if not given. `nulls`: its rows may be
    nulls, and only their number with these is public.
    """
    graph = domain is Domain.GRAPH
    return Traits(
        shape=Shape.GRAPH if graph else Shape.TABLE,
        unit=unit,
        degree=degree if graph else None,
        ordered=domain is Domain.ORDERED,
        fixed=(domain is Domain.FIXED_SIZE or size is not None) and not nulls,
        size=None if nulls else size,
        most=size,
        columns=None if columns is None else frozenset(columns),
        free=domain is Domain.TABLE and size is None and unit is None and not nulls,
        nulls=nulls and not graph,
    )


class Statement(NamedTuple):
    """One guarantee that a spec states of a mechanism.

    `up`: how many datasets above the dataset read lies the one on which it is stated (0: the
    dataset read itself). Every map and every block is one step up. `guarantee` is per step of
    `relation`; for the Euclidean relation per unit of distance. `relation_given`: whether the spec
    names the relation; else it is the protected one by default. `implied`: it follows from a
    stronger guarantee of the same mechanism.
    """

    relation: Relation
    up: int
    guarantee: Guarantee
    path: Path
    relation_given: bool = True
    implied: bool = False

    @property
    def content(self) -> tuple[Relation, int, Guarantee, bool]:
        """Returns what decides about losses; the place in the spec is for words alone."""
        return self.relation, self.up, self.guarantee, self.implied


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A mechanism that reads one dataset; `count` independent copies of it are released.

    `statements`: its stated guarantees. `name` is unique in the spec; the copies on the blocks of a
    partition share name and path. `group`: the name under which reports sum its cost with those of
    others. `interactive`: it answers several questions, and others may be asked in between.
    """

    name: str
    statements: tuple[Statement, ...]
    count: int
    path: Path
    group: str | None = None
    interactive: bool = False

    @property
    def stated_in(self) -> frozenset[Notion]:
        """Returns the notions in which its guarantees are stated."""
        return frozenset(each.guarantee.notion for each in self.statements)


@dataclass(slots=True, eq=False)
class Dataset:
    """One dataset, with its mechanisms and all datasets made from it.

    `name` is what a reader knows it by: `adults`, `district.north`, or, where it stands for
    several blocks, `district.*`. `made_by` is None for roots and blocks.
    """

    name: str
    path: Path
    made_by: Map | None = None
    mechanisms: list[Mechanism] = field(default_factory=list)
    derived: list[Dataset] = field(default_factory=list)
    partitions: list[Partition] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class BlockClass:
    """Blocks of one partition with the same content.

    `names`: all their names (a `range` for numbered blocks). `dataset.name` is the full name of
    the block when there is one, else `partition.*`.
    """

    names: Sequence[str | int]
    dataset: Dataset

    @property
    def multiplicity(self) -> int:
        """Returns how many blocks there are in the class."""
        return len(self.names)


@dataclass(slots=True, eq=False)
class Partition:
    """A split of a dataset into blocks.

    `drops`: declared, some row of the parent is in none of the blocks read. Per privacy unit, after
    a cap: `max_blocks_per_unit`, `max_rows_per_block`.
    Blocks that no mechanism reads are in a class of their own with an empty dataset.
    """

    name: str
    path: Path
    kind: PartitionKind
    classes: list[BlockClass]
    drops: bool = False
    max_blocks_per_unit: int | None = None
    max_rows_per_block: int | None = None
    _size: int | None = field(default=None, init=False, repr=False)

    @property
    def size(self) -> int:
        """Returns the number of blocks; call it only once the classes are complete."""
        if self._size is None:
            self._size = sum(each.multiplicity for each in self.classes)
        return self._size


@dataclass(slots=True, eq=False)
class Root:
    """A dataset that holds sensitive data, with what is public about it.

    `columns`: all columns of its rows, in the order of the spec; None if not given. `nulls`: a row
    that goes leaves a null. `max_rows_per_unit`: the most rows of one privacy unit, None if not
    declared.
    """

    dataset: Dataset
    domain: Domain = Domain.TABLE
    unit: str | None = None
    max_degree: int | None = None
    size: int | None = None
    columns: tuple[str, ...] | None = None
    nulls: bool = False
    max_rows_per_unit: int | None = None


class Goal(NamedTuple):
    """What is to be protected: tables that are at most `distance` steps of a neighbouring relation
    apart.

    `given`: whether the spec names the relation.
    """

    relation: Relation
    distance: int = 1
    given: bool = True


class ColumnQuestion(NamedTuple):
    """A question of a spec about some columns: the loss for rows replaced in these columns only."""

    name: str
    changes: tuple[str, ...]

    def goal(self, protected: Goal) -> Goal | None:
        """Returns the relation to protect: as many rows as in `protected`, replaced in these
        columns only.

        None where the protected relation is not about rows.
        """
        if protected.relation.kind not in (RelationKind.BOUNDED, RelationKind.UNBOUNDED):
            return None
        relation = Relation(RelationKind.BOUNDED, changes=frozenset(self.changes))
        return Goal(relation, protected.distance)


class Derived(NamedTuple):
    """A result computed from released outputs alone (post-processing); `inputs`: their names."""

    name: str
    inputs: tuple[str, ...]
    path: Path


@dataclass(slots=True, eq=False)
class Problem:
    """The datasets and mechanisms whose privacy loss is asked for, and what is protected.

    `adaptive`: whether a mechanism may use earlier outputs. `apart`: disjoint sets of roots, by
    number, such that nobody is in two roots of a set (declared): one step changes one root of each.
    """

    goal: Goal
    roots: list[Root]
    adaptive: bool = True
    apart: tuple[frozenset[int], ...] = ()
    post_processing: tuple[Derived, ...] = ()

    @property
    def interactive(self) -> dict[str, Path]:
        """Returns the interactive mechanisms: their names, with their paths in the spec."""
        return {each.name: each.path for each in self.mechanisms() if each.interactive}

    def below_blocks(self) -> Iterator[Mechanism]:
        """Yields the mechanisms below partitions of which more blocks are read than one row can be
        in, so that the worst blocks count and not all."""
        order, read = list(self.datasets()), set[int]()
        for dataset in reversed(order):
            blocks = (each.dataset for part in dataset.partitions for each in part.classes)
            if dataset.mechanisms or any(id(e) in read for e in (*dataset.derived, *blocks)):
                read.add(id(dataset))
        inside: set[int] = set()
        for dataset in order:
            if id(dataset) in inside:
                yield from dataset.mechanisms
                inside.update(map(id, dataset.derived))
            for part in dataset.partitions:
                blocks_read = sum(e.multiplicity for e in part.classes if id(e.dataset) in read)
                if id(dataset) in inside or blocks_read > part.kind.where(()).most_blocks:
                    inside.update(id(each.dataset) for each in part.classes)

    @property
    def roots_disjoint(self) -> bool:
        """Returns whether it is declared that nobody is in two roots."""
        return any(len(each) == len(self.roots) for each in self.apart)

    def datasets(self) -> Iterator[Dataset]:
        """Yields every dataset once, parents before children, in the order of the spec."""
        return _below([root.dataset for root in self.roots])

    def mechanisms(self) -> Iterator[Mechanism]:
        """Yields every mechanism of every block class once."""
        for dataset in self.datasets():
            yield from dataset.mechanisms

    def without(self, names: Collection[str]) -> Problem:
        """Returns the problem without the mechanisms of these names, whatever they read.

        Roots that no mechanism reads any more are left out.
        """
        read = [
            number
            for number, root in enumerate(self.roots)
            if any(
                each.name not in names
                for dataset in _below([root.dataset])
                for each in dataset.mechanisms
            )
        ]
        roots = [self.roots[number] for number in read]
        places = {number: place for place, number in enumerate(read)}
        return replace(
            self,
            roots=_copies(roots, lambda mechanism: mechanism.name not in names),
            apart=tuple(
                frozenset(places[each] for each in apart if each in places) for apart in self.apart
            ),
        )

    def with_rows_in_all_blocks(self) -> Problem:
        """Returns the problem in which a row may be in every block of a partition at once."""

        def split(old: Partition) -> Partition:
            return replace(old, kind=overlapping(old.size), max_blocks_per_unit=None)

        return replace(self, roots=_copies(self.roots, split=split))


def _copies(
    roots: Sequence[Root],
    keep: Callable[[Mechanism], bool] = lambda _: True,
    split: Callable[[Partition], Partition] = lambda partition: partition,
) -> list[Root]:
    """Returns copies of roots and of all datasets below, with the mechanisms that `keep` holds for,
    and partitions as `split` changes them."""
    copies: dict[int, Dataset] = {}
    # Children before their parents.
    for dataset in reversed(list(_below([root.dataset for root in roots]))):
        partitions = [
            replace(
                split(partition),
                classes=[
                    BlockClass(each.names, copies[id(each.dataset)]) for each in partition.classes
                ],
            )
            for partition in dataset.partitions
        ]
        copies[id(dataset)] = replace(
            dataset,
            mechanisms=[each for each in dataset.mechanisms if keep(each)],
            derived=[copies[id(each)] for each in dataset.derived],
            partitions=partitions,
        )
    return [replace(root, dataset=copies[id(root.dataset)]) for root in roots]


def _below(datasets: Sequence[Dataset]) -> Iterator[Dataset]:
    """Yields the datasets and all that are derived from them or are blocks of them, parents
    first."""
    stack = list(reversed(datasets))
    while stack:
        dataset = stack.pop()
        yield dataset
        below = list(dataset.derived)
        for partition in dataset.partitions:
            below.extend(each.dataset for each in partition.classes)
        stack.extend(reversed(below))
