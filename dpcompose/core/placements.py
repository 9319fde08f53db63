"""In which blocks of a partition a row can be, and which rule of `allocate` that makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, islice

from dpcompose.core import allocate
from dpcompose.core.allocate import Allocation
from dpcompose.core.change import NEW_END, OLD_END, Kind, Leaf
from dpcompose.core.guarantee import Amount
from dpcompose.core.problem import Partition, PartitionKind


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


def rule_for(
    partition: Partition, leaf: Leaf, sizes: Sequence[int]
) -> Callable[[Sequence[Amount], Sequence[Amount]], Allocation]:
    """The allocation rule for one row, added, removed or replaced."""
    pair = leaf.kind is Kind.PAIR
    match partition.kind:
        case PartitionKind.POSITION:
            return lambda _, both: allocate.one_block(both, both=True)
        case PartitionKind.KEY if pair and partition.column in leaf.kept:
            return lambda _, both: allocate.one_block(both, both=True)
        case PartitionKind.VALUE | PartitionKind.KEY:
            if pair:
                return lambda once, both: allocate.value_pair(once, both, sizes)
            return lambda once, _: allocate.value_single(once)
        case PartitionKind.MEMBERSHIP:
            most = partition.max_blocks or 1
            if pair:
                return lambda once, both: allocate.membership_pair(once, both, sizes, most)
            return lambda once, _: allocate.membership_single(once, sizes, most)
        case PartitionKind.KINDS:
            assert partition.kinds is not None
            kinds = list(partition.kinds.values())
            if pair:
                return lambda once, both: allocate.kinds_pair(once, both, kinds)
            return lambda once, _: allocate.kinds_single(once, kinds)


def numbers(
    rule: Callable[[Sequence[Amount]], Allocation],
) -> Callable[[Sequence[Amount], Sequence[Amount]], Allocation]:
    return lambda once, _: rule(once)


def copies_of_a_row(partition: Partition) -> int:
    """In how many blocks one row can be at most."""
    if partition.kind is PartitionKind.MEMBERSHIP:
        return min(partition.max_blocks or 1, partition.size)
    if partition.kind is PartitionKind.KINDS and partition.kinds is not None:
        return max((len(fed) for fed in partition.kinds.values()), default=0)
    return 1
