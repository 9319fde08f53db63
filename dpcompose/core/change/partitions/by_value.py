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
from dpcompose.core.change.partitions.whereabouts import Whereabouts, in_one
from dpcompose.core.change.row_facts import Shape
from dpcompose.core.mechanisms.family import FormKey, Sort
from dpcompose.curves.rounding import listing


@dataclass(frozen=True, slots=True)
class ByValue(EachRow):
    """Blocks are disjoint sets of row values (GMPS24, Example IV.4).

    `uses`: the columns that alone decide in which block a row is; None: the whole row may.
    """

    uses: frozenset[str] | None = None

    def where(self, kept: Collection[str]) -> Whereabouts:
        """Returns where one row can be: in the same one, with the same values of what decides."""
        return in_one(self.uses, kept)

    def assignment(self) -> Assignment:
        """Returns what decides the block of a row: by the row alone."""
        return Assignment(shifts=False, by_value=True, padding=True, determined=True)

    def leaves_out(self, block: int, blocks: int) -> bool:
        """Returns the values of other blocks."""
        return blocks > 1

    def blocks_of_unit(self, unit: str | None) -> int | None:
        """One, where nothing but the unit decides."""
        if unit is None or self.uses is None:
            return None
        return 1 if self.uses <= {unit} else None

    def declares(self, name: str) -> Declared:
        """Yields what the author declares: that no value is in two blocks, and what decides."""
        if self.uses is None:
            return f"the blocks of `{name}` are disjoint sets of row values", ()
        named = listing(sorted(self.uses)) if self.uses else "nothing"
        return f"the blocks of `{name}` are disjoint sets of values of {named}", ("uses",)

    def declares_left_out(self, name: str, parent: str) -> str | None:
        """Yields what the author declares of rows left out: that each set of values is not all."""
        return f"every block of `{name}` leaves out some possible row of `{parent}`"

    def describe(self) -> str:
        """`by value`."""
        return "by value"


FORM = PartitionForm(
    "value",
    ByValue,
    "Blocks are disjoint sets of row values.",
    Shape.TABLE,
    (
        BLOCKS,
        FormKey(
            "uses", Sort.COLUMNS, "The columns that alone decide in which block a row is.", None
        ),
    ),
    ByValue,
    elsewhere=(
        (
            "column",
            "write `uses: […]`, the columns that alone decide in which block a row is; "
            "or `by: key`, where the column tells who a row is about",
        ),
    ),
)
