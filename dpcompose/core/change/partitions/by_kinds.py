"""Partitions by kinds: each row is of one kind, which names its blocks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dpcompose.core.change.kind_form import Declared, Form, Refusal
from dpcompose.core.change.partitions.partition_kind import Assignment, PartitionKind, Undivided
from dpcompose.core.change.partitions.whereabouts import InSets, Whereabouts
from dpcompose.core.numbers.form_keys import FormKey, Sort


@dataclass(frozen=True, slots=True)
class ByKinds(PartitionKind):
    """Every row is of one kind, which determines its blocks; `kinds`: their numbers."""

    kinds: Mapping[str, tuple[int, ...]] = field(hash=False)

    def where(self, kept: Collection[str]) -> Whereabouts:
        """Returns the sets of blocks of the kinds: a row is in all blocks of one of them."""
        return InSets(tuple(self.kinds.values()))

    def assignment(self) -> Assignment:
        return Assignment(shifts=False, determined=True, padding=True)

    def by_names(self, blocks: Sequence[str]) -> object:
        return {kind: frozenset(blocks[i] for i in fed) for kind, fed in self.kinds.items()}

    def leaves_out(self, block: int, blocks: int) -> bool:
        """Returns whether some kind does not feed the block."""
        return any(block not in fed for fed in self.kinds.values())

    def refused(self, whole: Undivided) -> Iterator[Refusal]:
        """Yields the errors where the kinds contradict other declarations."""
        fed_by_all = set.intersection(*(set(fed) for fed in self.kinds.values()))
        if whole.drops and fed_by_all:
            name = whole.quoted(min(str(whole.blocks[i]) for i in fed_by_all))
            says = f"every kind feeds {name}, so that no row gives nothing to it"
            hint = "leave out `drops`, or add a kind without blocks: `other: []`"
            yield Refusal("DPC157", ("drops",), says, hint)
        most = whole.max_blocks_per_unit
        kind, fed = max(self.kinds.items(), key=lambda pair: len(pair[1]))
        if most is not None and len(fed) > most:
            says = (
                f"a row of kind {whole.quoted(kind)} is in {len(fed)} blocks, "
                "more than its unit may be in"
            )
            hint = f"write `max_blocks_per_unit: {len(fed)}` or more, or leave it out"
            yield Refusal("DPC157", ("max_blocks_per_unit",), says, hint)

    def declares(self, name: str) -> Declared:
        return f"each row is of one of the kinds of `{name}`, which names its blocks", ()

    def describe(self) -> str:
        return "by kinds"


FORM = Form(
    "kinds",
    ByKinds,
    "Every row is of one kind, which says what blocks it is in.",
    (
        FormKey(
            "kinds",
            Sort.FEEDS,
            "For each kind of row the blocks that it is in; `other: []` for rows of none.",
        ),
    ),
    elsewhere=(
        ("blocks", "the blocks are those of `kinds`"),
        ("other", "rows of no block are a kind as well: `kinds: {…, other: []}`"),
    ),
)
