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
        """Returns where one row can be: a row with the same key is in the same block."""
        return in_one((self.column,), kept)

    def assignment(self) -> Assignment:
        """Returns what decides the block of a row: by the key alone, which rows that take each
        other's place may share."""
        return Assignment(shifts=False, by_value=False, padding=False, determined=True)

    def leaves_out(self, block: int, blocks: int) -> bool:
        """Not with the same key."""
        return False

    def blocks_of_unit(self, unit: str | None) -> int | None:
        """One, where the key is the unit."""
        return 1 if self.column == unit else None

    def declares(self, name: str) -> Declared:
        """Yields what the author declares: that the column decides."""
        return f"each value of `{self.column}` is in at most one block of `{name}`", ()

    def describe(self) -> str:
        """`by key`."""
        return "by key"


FORM = PartitionForm(
    "key",
    ByKey,
    "Blocks are sets of values of one identifying column.",
    Shape.TABLE,
    (FormKey("column", Sort.COLUMN, "The identifying column."), BLOCKS),
    ByKey,
)
