"""Partitions by position: ranges of the positions of an ordered table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from dpcompose.core.change.kind_form import Declared, Refusal
from dpcompose.core.change.partitions.partition_kind import (
    BLOCKS,
    Assignment,
    PartitionForm,
    PartitionKind,
    Undivided,
)
from dpcompose.core.change.partitions.whereabouts import Fixed, Whereabouts
from dpcompose.core.change.row_facts import Shape, Traits


@dataclass(frozen=True, slots=True)
class ByPosition(PartitionKind):
    """Blocks are ranges of positions (GMPS24, Example IV.7): all are filled, and leave none out."""

    def where(self, kept: Collection[str]) -> Whereabouts:
        """Returns where one row can be: a row put in the place of another has its position."""
        return Fixed()

    def assignment(self) -> Assignment:
        """Returns what decides the block of a row: by the positions of all rows; which make a block
        may be drawn at random."""
        return Assignment(shifts=True, by_value=False, padding=False, determined=False)

    def leaves_out(self, block: int, blocks: int) -> bool:
        """Any row can be at any position."""
        return False

    def blocks_of_unit(self, unit: str | None) -> int | None:
        """Returns rows of one unit may be anywhere."""
        return None

    def traits_of_blocks(self, blocks: int, traits: Traits) -> Traits:
        """Returns the traits of each block: every position is in one block, and every block has
        some row."""
        most = None if traits.most is None else max(1, traits.most - (blocks - 1))
        return traits._replace(size=traits.size if blocks == 1 else None, most=most)

    def refused(self, whole: Undivided) -> Iterator[Refusal]:
        """Yields where rows have no positions."""
        if not whole.traits.ordered:
            why, hint = whole.no_positions()
            yield Refusal("DPC141", ("by",), why, hint)

    def rows_needed(self, below: Iterable[tuple[int, int]]) -> int:
        """Returns how many rows the table must have: all, and one at least in each block."""
        return sum(max(1, rows) * blocks for rows, blocks in below)

    def declares(self, name: str) -> Declared:
        """Yields what the author declares: that nothing else decides."""
        return f"the blocks of `{name}` depend on the positions of rows alone", ()

    def declares_left_out(self, name: str, parent: str) -> str | None:
        """Yields what the author declares of rows left out: nothing."""
        return None

    def describe(self) -> str:
        """`by position`."""
        return "by position"


FORM = PartitionForm(
    "position",
    ByPosition,
    "Blocks are ranges of the positions of an ordered table.",
    Shape.TABLE,
    (BLOCKS,),
    ByPosition,
)
