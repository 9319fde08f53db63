"""The interface of the kinds of partitions: whereabouts of rows, traits of blocks, declarations.

Each kind has one file here, and one name in `dpcompose.core.change.partitions`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from dpcompose.core.change.kind_form import Declared, Refusal
from dpcompose.core.change.partitions.whereabouts import Whereabouts
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.numbers.form_keys import FormKey, Sort


class Assignment(NamedTuple):
    """How rows are assigned to blocks, whatever the change.

    `shifts`: a row that comes or goes may move others from block to block. `determined`: two specs
    that declare the assignment alike, under one name, mean the same blocks. `by_value`: the value
    of a row alone decides in which of disjoint blocks it is. `padding`: a row can be replaced by
    one that is in no block, as the padding lemma needs it, also further down.
    """

    shifts: bool
    determined: bool
    by_value: bool = False
    padding: bool = False


class Undivided(NamedTuple):
    """The dataset to be partitioned, with what errors about it must say.

    `no_positions`: returns why its rows have no positions, and a hint. `blocks`: their names, which
    `quoted` puts between backquotes.
    """

    traits: Traits
    no_positions: Callable[[], tuple[str, str]]
    blocks: Sequence[str | int]
    quoted: Callable[[str], str]
    drops: bool
    max_blocks_per_unit: int | None


class PartitionKind(ABC):
    """How the rows of a dataset are assigned to blocks.

    A kind says where a row can be, how rows are assigned, what is declared, and its name; of all
    else what differs where each row is assigned by itself, so that blocks may have any number.
    """

    __slots__ = ()

    @abstractmethod
    def where(self, kept: Collection[str]) -> Whereabouts:
        """Returns the sets of blocks that a row can be in.

        `kept`: the columns in which a row that replaces it is known to agree with it.
        """

    @abstractmethod
    def assignment(self) -> Assignment:
        """Returns how rows are assigned to blocks."""

    def by_names(self, blocks: Sequence[str]) -> object:
        """Returns what the kind declares, with the names of blocks for their numbers, to compare
        partitions that list their blocks in different orders."""
        return self

    @abstractmethod
    def declares(self, name: str) -> Declared:
        """Returns what the author declares of the blocks of `name`, which nobody can check."""

    @abstractmethod
    def describe(self) -> str:
        """Returns the kind in words: `by value`."""

    def leaves_out(self, block: int, blocks: int) -> bool:
        """Returns whether some possible row is known not to be in the block of number `block`, of
        `blocks` ones."""
        return False

    def blocks_of_unit(self, unit: str | None) -> int | None:
        """Returns the largest number of blocks with rows of one privacy unit; None if there is no
        bound.

        `unit`: the column of the privacy unit, while rows carry it.
        """
        return None

    def traits_of_blocks(self, blocks: int, traits: Traits) -> Traits:
        """Returns the traits of each of `blocks` blocks of a dataset with `traits`."""
        return traits._replace(fixed=False, size=None, nulls=False)

    def refused(self, whole: Undivided) -> Iterable[Refusal]:
        """Returns the errors of a partition of this kind on a table."""
        return ()

    def rows_needed(self, below: Iterable[tuple[int, int]]) -> int:
        """Returns how many rows the table must have at least.

        `below`: for each class of blocks the rows needed in a block, and the number of such blocks.
        """
        return 0

    def declares_left_out(self, name: str, parent: str) -> str | None:
        """Returns the declaration that each block leaves out some row; None if it is not
        declared."""
        return None


BLOCKS = FormKey("blocks", Sort.BLOCKS, "How many blocks (then named 0, 1, …), or their names.")
