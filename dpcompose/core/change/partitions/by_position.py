"""Partitions by position: ranges of the positions of an ordered table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from dpcompose.core.change.kind_form import Declared, Form, Refusal
from dpcompose.core.change.partitions.partition_kind import (
    BLOCKS,
    Assignment,
    PartitionKind,
    Undivided,
)
from dpcompose.core.change.partitions.whereabouts import Fixed, Whereabouts
from dpcompose.core.change.row_facts import Traits


@dataclass(frozen=True, slots=True)
class ByPosition(PartitionKind):
    """Blocks are ranges of positions (GMPS24, Example IV.7): none is empty, and every row is in
    one."""

    def where(self, kept: Collection[str]) -> Whereabouts:
        """Returns the sets of blocks that a row can be in: the one of its position, as for its
        replacement."""
        return Fixed()

    def assignment(self) -> Assignment:
        return Assignment(shifts=True, determined=False)

    def traits_of_blocks(self, blocks: int, traits: Traits) -> Traits:
        """Returns the traits of each block: each has at least one row, and each row is in one
        block."""
        most = None if traits.most is None else max(1, traits.most - (blocks - 1))
        return traits._replace(size=traits.size if blocks == 1 else None, most=most, nulls=False)

    def refused(self, whole: Undivided) -> Iterator[Refusal]:
        """Yields an error if the rows have no positions."""
        if not whole.traits.ordered:
            why, hint = whole.no_positions()
            yield Refusal("DPC141", ("by",), why, hint)

    def rows_needed(self, below: Iterable[tuple[int, int]]) -> int:
        """Returns how many rows the table must have: all rows of the blocks, with one or more in
        each."""
        return sum(max(1, rows) * blocks for rows, blocks in below)

    def declares(self, name: str) -> Declared:
        return f"the blocks of `{name}` depend on the positions of rows alone", ()

    def describe(self) -> str:
        return "by position"


FORM = Form(
    "position", ByPosition, "Blocks are ranges of the positions of an ordered table.", (BLOCKS,)
)
