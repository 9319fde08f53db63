"""Partitions by value: disjoint sets of row values."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from dpcompose.core.change.kind_form import Declared, Form
from dpcompose.core.change.partitions.partition_kind import BLOCKS, Assignment, PartitionKind
from dpcompose.core.change.partitions.whereabouts import Whereabouts, in_one
from dpcompose.core.numbers.form_keys import FormKey, Sort
from dpcompose.curves.rounding import listing


@dataclass(frozen=True, slots=True)
class ByValue(PartitionKind):
    """Blocks are disjoint sets of row values (GMPS24, Example IV.4).

    `uses`: the only columns that decide the block of a row; None: the whole row may.
    """

    uses: frozenset[str] | None = None

    def where(self, kept: Collection[str]) -> Whereabouts:
        """Returns the sets of blocks that a row can be in: one or none, the same for its
        replacement if `uses` is kept."""
        return in_one(self.uses, kept)

    def assignment(self) -> Assignment:
        return Assignment(shifts=False, determined=True, by_value=True, padding=True)

    def leaves_out(self, block: int, blocks: int) -> bool:
        """Returns whether there are other blocks, whose values are left out."""
        return blocks > 1

    def blocks_of_unit(self, unit: str | None) -> int | None:
        """Returns 1 if the unit alone decides the block, else None."""
        if unit is None or self.uses is None:
            return None
        return 1 if self.uses <= {unit} else None

    def declares(self, name: str) -> Declared:
        if self.uses is None:
            return f"the blocks of `{name}` are disjoint sets of row values", ()
        named = listing(sorted(self.uses)) if self.uses else "nothing"
        return f"the blocks of `{name}` are disjoint sets of values of {named}", ("uses",)

    def declares_left_out(self, name: str, parent: str) -> str | None:
        return f"every block of `{name}` leaves out some possible row of `{parent}`"

    def describe(self) -> str:
        return "by value"


FORM = Form(
    "value",
    ByValue,
    "Blocks are disjoint sets of row values.",
    (
        BLOCKS,
        FormKey(
            "uses",
            Sort.COLUMNS,
            "The columns that alone decide in which block a row is.",
            None,
            weaker=("absent",),
        ),
    ),
    elsewhere=(
        (
            "column",
            "write `uses: […]`, the columns that alone decide in which block a row is; "
            "or `by: key`, where the column tells who a row is about",
        ),
    ),
)
