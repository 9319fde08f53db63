"""Partitions by key: sets of values of an identifying column."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from dpcompose.core.change.kind_form import Declared, Form
from dpcompose.core.change.partitions.partition_kind import BLOCKS, Assignment, PartitionKind
from dpcompose.core.change.partitions.whereabouts import Whereabouts, in_one
from dpcompose.core.numbers.form_keys import FormKey, Sort


@dataclass(frozen=True, slots=True)
class ByKey(PartitionKind):
    """Blocks are sets of values of one identifying column."""

    column: str

    def where(self, kept: Collection[str]) -> Whereabouts:
        """Returns the sets of blocks that a row can be in: one or none, the same for its
        replacement if `column` is kept."""
        return in_one((self.column,), kept)

    def assignment(self) -> Assignment:
        return Assignment(shifts=False, determined=True)

    def blocks_of_unit(self, unit: str | None) -> int | None:
        return 1 if self.column == unit else None

    def declares(self, name: str) -> Declared:
        return f"each value of `{self.column}` is in at most one block of `{name}`", ()

    def describe(self) -> str:
        return "by key"


FORM = Form(
    "key",
    ByKey,
    "Blocks are sets of values of one identifying column.",
    (FormKey("column", Sort.COLUMN, "The identifying column."), BLOCKS),
)
