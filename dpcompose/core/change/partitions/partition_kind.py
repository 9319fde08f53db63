"""What a kind of partition must answer: where a row can be, what blocks are, how it is told.

Each kind has one file here, and one line in `dpcompose.core.change.partitions`. Whoever needs to
know something of a partition asks its kind; one that leaves something out cannot be made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dpcompose.core.change.kind_form import Declared, Form, Refusal
from dpcompose.core.change.partitions.whereabouts import Whereabouts
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.mechanisms.family import FormKey, Sort


class Assignment(NamedTuple):
    """How rows are assigned to blocks: what is decided without following a change.

    `shifts`: a row that comes or goes may move others from block to block. `by_value`: the value of
    a row alone decides in which of disjoint blocks it is. `padding`: whether a row can be put in
    the place of another and be in no block, as the padding lemma needs it, further down too.
    `determined`: two specs that declare it alike, under one name, speak of the same blocks.
    """

    shifts: bool
    by_value: bool
    padding: bool
    determined: bool


class Undivided(NamedTuple):
    """The dataset to be partitioned, with what its author must know of it.

    `no_positions`: why its rows have none, and what to do about it. `blocks`: their names, which
    `quoted` puts between backquotes.
    """

    traits: Traits
    no_positions: Callable[[], tuple[str, str]]
    blocks: Sequence[str | int]
    quoted: Callable[[str], str]
    drops: bool
    max_blocks_per_unit: int | None


class PartitionKind(ABC):
    """How the rows of a dataset are assigned to blocks."""

    __slots__ = ()

    @abstractmethod
    def where(self, kept: Collection[str]) -> Whereabouts:
        """Returns where one row can be: in which blocks one row can be.

        `kept`: the columns in which a row put in its place is known to agree with it.
        """

    @abstractmethod
    def assignment(self) -> Assignment:
        """Returns what decides the block of a row: how rows are assigned to blocks."""

    @abstractmethod
    def leaves_out(self, block: int, blocks: int) -> bool:
        """Whether some possible row is known not to be in this block of so many."""

    @abstractmethod
    def blocks_of_unit(self, unit: str | None) -> int | None:
        """Returns in how many blocks the rows of one privacy unit can be; None if nothing bounds
        that.

        `unit`: the column of the privacy unit, while rows carry it.
        """

    @abstractmethod
    def traits_of_blocks(self, blocks: int, traits: Traits) -> Traits:
        """Returns the traits of each block: what is known of each of so many blocks of a dataset
        with `traits`."""

    @abstractmethod
    def refused(self, whole: Undivided) -> Iterator[Refusal]:
        """Yields why it has no meaning on a table."""

    @abstractmethod
    def rows_needed(self, below: Iterable[tuple[int, int]]) -> int:
        """Returns how many rows the table must have: how many rows there must be for so many to be
        in each of so many blocks."""

    @abstractmethod
    def declares(self, name: str) -> Declared:
        """Yields what the author declares: what the author declares of the blocks of `name`, and
        nobody can check."""

    @abstractmethod
    def describe(self) -> str:
        """Returns how rows are told apart, in words: `by value`."""

    @abstractmethod
    def declares_left_out(self, name: str, parent: str) -> str | None:
        """Yields what the author declares of rows left out: that each block leaves out some row,
        where that is no more than declared so."""


class EachRow(PartitionKind):
    """A kind that looks at each row by itself, so that any number of rows may be in a block."""

    __slots__ = ()

    def blocks_of_unit(self, unit: str | None) -> int | None:
        """Returns rows of one unit may be anywhere."""
        return None

    def traits_of_blocks(self, blocks: int, traits: Traits) -> Traits:
        """Returns the traits of each block: all but the number of rows."""
        return traits._replace(fixed=False, size=None)

    def refused(self, whole: Undivided) -> Iterator[Refusal]:
        """Never."""
        yield from ()

    def rows_needed(self, below: Iterable[tuple[int, int]]) -> int:
        """Returns how many rows the table must have: none is known to be needed."""
        return 0

    def declares_left_out(self, name: str, parent: str) -> str | None:
        """Yields what the author declares of rows left out: nothing."""
        return None


@dataclass(frozen=True, slots=True, eq=False)
class PartitionForm(Form[PartitionKind]):
    """How a kind of partition is written."""


BLOCKS = FormKey("blocks", Sort.BLOCKS, "How many blocks (then named 0, 1, …), or their names.")
