"""In which blocks of a partition a row can be, and which rule of `allocate` that makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Literal

from dpcompose.core.change.units import NEW_END, OLD_END, Kind, Leaf
from dpcompose.core.model.problem import Partition, PartitionKind
from dpcompose.core.notions.notion import Amount
from dpcompose.core.partitions import allocation
from dpcompose.core.partitions.allocation import Allocation


def placements(
    partition: Partition, leaf: Leaf, instances: Sequence[int], limit: int
) -> list[tuple[Leaf | None, ...]]:
    """Every way in which one unit can be in the blocks: for each block what it is there."""
    count = len(instances)
    stays = Leaf(Kind.PAIR, (0, 1), leaf.kept)
    pair = leaf.kind is Kind.PAIR
    together = partition.kind is PartitionKind.POSITION or (
        partition.kind is PartitionKind.KEY and partition.column in leaf.kept
    )
    if together:
        whole = stays if pair else Leaf(Kind.SINGLE, sign=leaf.sign)
        return [tuple(whole if j == i else None for j in range(count)) for i in range(count)]
    sets = _block_sets(partition, instances, limit)
    if not pair:
        here = Leaf(Kind.SINGLE, sign=leaf.sign)
        return [tuple(here if i in chosen else None for i in range(count)) for chosen in sets]
    if len(sets) ** 2 > limit:
        return []
    ways: list[tuple[Leaf | None, ...]] = []
    for before in sets:
        for after in sets:
            way = tuple(
                stays
                if i in before and i in after
                else OLD_END
                if i in before
                else NEW_END
                if i in after
                else None
                for i in range(count)
            )
            if any(way):
                ways.append(way)
    return ways


def _block_sets(partition: Partition, instances: Sequence[int], limit: int) -> list[frozenset[int]]:
    """The sets of blocks in which one row can be."""
    everywhere = range(len(instances))
    if partition.kind is PartitionKind.KINDS:
        assert partition.kinds is not None
        first = {index: position for position, index in reversed(list(enumerate(instances)))}
        return list({frozenset(first[i] for i in fed): None for fed in partition.kinds.values()})
    most = 1
    if partition.kind is PartitionKind.MEMBERSHIP:
        most = min(partition.max_blocks or 1, len(instances))
    sets = (
        frozenset(chosen) for size in range(most + 1) for chosen in combinations(everywhere, size)
    )
    return list(islice(sets, limit + 1))


@dataclass(frozen=True, slots=True)
class SpreadRule:
    """In which blocks one row can be, for one way in which it changes.

    `kind`: "block", exactly one block, hit by the whole change; "value", at most one block for
    each end; "membership", at most `most`; "kinds", one of the sets in `kinds`. `pair`: a replaced
    row, with two ends. `sizes`: how many blocks each class has.
    """

    kind: Literal["block", "value", "membership", "kinds"]
    pair: bool
    sizes: Sequence[int]
    most: int = 1
    kinds: Sequence[Sequence[int]] = ()

    def __call__(self, once: Sequence[Amount], both: Sequence[Amount]) -> Allocation:
        """The worst total in numbers, from the losses of blocks hit once and by both ends."""
        match self.kind, self.pair:
            case "block", _:
                return allocation.one_block(both, both=True)
            case "value", True:
                return allocation.value_pair(once, both, self.sizes)
            case "value", False:
                return allocation.value_single(once)
            case "membership", True:
                return allocation.membership_pair(once, both, self.sizes, self.most)
            case "membership", False:
                return allocation.membership_single(once, self.sizes, self.most)
            case "kinds", True:
                return allocation.kinds_pair(once, both, self.kinds)
            case _:
                return allocation.kinds_single(once, self.kinds)


def rule_for(partition: Partition, leaf: Leaf, sizes: Sequence[int]) -> SpreadRule:
    """The rule for one row, added, removed or replaced."""
    pair = leaf.kind is Kind.PAIR
    match partition.kind:
        case PartitionKind.POSITION:
            return SpreadRule("block", pair, sizes)
        case PartitionKind.KEY if pair and partition.column in leaf.kept:
            return SpreadRule("block", pair, sizes)
        case PartitionKind.VALUE | PartitionKind.KEY:
            return SpreadRule("value", pair, sizes)
        case PartitionKind.MEMBERSHIP:
            return SpreadRule("membership", pair, sizes, partition.max_blocks or 1)
        case PartitionKind.KINDS:
            assert partition.kinds is not None
            return SpreadRule("kinds", pair, sizes, kinds=list(partition.kinds.values()))


def largest(sizes: Sequence[int], blocks: int) -> SpreadRule:
    """Any `blocks` blocks are hit."""
    return SpreadRule("membership", False, sizes, blocks)


def copies_of_a_row(partition: Partition) -> int:
    """In how many blocks one row can be at most."""
    if partition.kind is PartitionKind.MEMBERSHIP:
        return min(partition.max_blocks or 1, partition.size)
    if partition.kind is PartitionKind.KINDS and partition.kinds is not None:
        return max((len(fed) for fed in partition.kinds.values()), default=0)
    return 1
