"""Partitions by membership: overlapping blocks, with at most so many for each row."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from dpcompose.core.change.kind_form import Declared
from dpcompose.core.change.partitions.partition_kind import (
    BLOCKS,
    Assignment,
    EachRow,
    PartitionForm,
)
from dpcompose.core.change.partitions.whereabouts import InSome, Whereabouts
from dpcompose.core.change.row_facts import Shape
from dpcompose.core.mechanisms.family import FormKey, Sort
from dpcompose.curves.rounding import plural


@dataclass(frozen=True, slots=True)
class ByMembership(EachRow):
    """Blocks overlap: each row is in at most `max_blocks` of them."""

    max_blocks: int

    def where(self, kept: Collection[str]) -> Whereabouts:
        """Returns the sets of at most `max_blocks` blocks."""
        return InSome(self.max_blocks)

    def assignment(self) -> Assignment:
        """Returns the assignment by the row alone."""
        return Assignment(shifts=False, by_value=False, padding=True, determined=True)

    def leaves_out(self, block: int, blocks: int) -> bool:
        """Returns False: every row may be in the block."""
        return False

    def declares(self, name: str) -> Declared:
        """Returns what the author declares: the number of blocks that a row is in."""
        blocks = plural(self.max_blocks, "block")
        return f"each row is in at most {blocks} of `{name}`", ("max_blocks",)

    def describe(self) -> str:
        """Returns `by membership`."""
        return "by membership"


FORM = PartitionForm(
    "membership",
    ByMembership,
    "Blocks overlap: each row is in at most `max_blocks` of them.",
    Shape.TABLE,
    (BLOCKS, FormKey("max_blocks", Sort.WHOLE, "How many blocks one row is in at most.")),
    ByMembership,
)
