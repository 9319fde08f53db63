"""Partitions by key: sets of values of an identifying column."""

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
from dpcompose.core.change.partitions.whereabouts import Whereabouts, in_one
from dpcompose.core.change.row_facts import Shape
from dpcompose.core.mechanisms.family import FormKey, Sort


@dataclass(frozen=True, slots=True)
class ByKey(EachRow):
    """Blocks are sets of values of one identifying column."""

    column: str

    def where(self, kept: Collection[str]) -> Whereabouts:
        """Returns the block of the row: the same for a row that replaces it if the column is
        kept."""
        return in_one((self.column,), kept)

    def assignment(self) -> Assignment:
        """Returns the assignment by key, which rows that replace each other may share."""
        return Assignment(shifts=False, by_value=False, padding=False, determined=True)

    def leaves_out(self, block: int, blocks: int) -> bool:
        """Returns False: no row with the same key is known to be outside the block."""
        return False

    def blocks_of_unit(self, unit: str | None) -> int | None:
        """Returns 1 if the key is the privacy unit, else None."""
        return 1 if self.column == unit else None

    def declares(self, name: str) -> Declared:
        """Returns what the author declares: that the column decides."""
        return f"each value of `{self.column}` is in at most one block of `{name}`", ()

    def describe(self) -> str:
        """Returns `by key`."""
        return "by key"


FORM = PartitionForm(
    "key",
    ByKey,
    "Blocks are sets of values of one identifying column.",
    Shape.TABLE,
    (FormKey("column", Sort.COLUMN, "The identifying column."), BLOCKS),
    ByKey,
)
