"""Partitions by membership: overlapping blocks, with at most so many for each row."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from dpcompose.core.change.kind_form import Declared, Form
from dpcompose.core.change.partitions.partition_kind import BLOCKS, Assignment, PartitionKind
from dpcompose.core.change.partitions.whereabouts import InSome, Whereabouts
from dpcompose.core.numbers.form_keys import FormKey, Sort
from dpcompose.curves.rounding import plural


@dataclass(frozen=True, slots=True)
class ByMembership(PartitionKind):
    """Blocks overlap: each row is in at most `max_blocks` of them."""

    max_blocks: int

    def where(self, kept: Collection[str]) -> Whereabouts:
        return InSome(self.max_blocks)

    def assignment(self) -> Assignment:
        return Assignment(shifts=False, determined=True, padding=True)

    def declares(self, name: str) -> Declared:
        blocks = plural(self.max_blocks, "block")
        return f"each row is in at most {blocks} of `{name}`", ("max_blocks",)

    def describe(self) -> str:
        return "by membership"


FORM = Form(
    "membership",
    ByMembership,
    "Blocks overlap: each row is in at most `max_blocks` of them.",
    (
        BLOCKS,
        FormKey(
            "max_blocks",
            Sort.WHOLE,
            "How many blocks one row is in at most.",
            weaker=("larger",),
        ),
    ),
)
