"""Partitions by value: disjoint sets of row values."""

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
from dpcompose.core.change.partitions.whereabouts import InOne, Whereabouts
from dpcompose.core.change.row_facts import Shape


@dataclass(frozen=True, slots=True)
class ByValue(EachRow):
    """Blocks are disjoint sets of row values (GMPS24, Example IV.4)."""

    def where(self, kept: Collection[str]) -> Whereabouts:
        """The value may change in any column."""
        return InOne()

    def assignment(self) -> Assignment:
        """By the row alone."""
        return Assignment(shifts=False, by_value=True, padding=True, determined=True)

    def leaves_out(self, block: int, blocks: int) -> bool:
        """The values of other blocks."""
        return blocks > 1

    def declares(self, name: str) -> Declared:
        """That no value is in two blocks."""
        return f"the blocks of `{name}` are disjoint sets of row values", ()

    def declares_left_out(self, name: str, parent: str) -> str | None:
        """That each set of values is not all."""
        return f"every block of `{name}` leaves out some possible row of `{parent}`"

    def says(self) -> str:
        """`by value`."""
        return "by value"


FORM = PartitionForm(
    "value", ByValue, "Blocks are disjoint sets of row values.", Shape.TABLE, (BLOCKS,), ByValue
)
