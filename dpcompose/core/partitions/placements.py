"""The ways in which one row can be in the blocks of a partition, and the worst of them at once.

Both follow from the sets of blocks that the row can be in (`Whereabouts`): the list of all ways,
and the worst way, by `allocation` for amounts and by `pattern_spread` for patterns.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

from dpcompose.core.change.partitions.whereabouts import Fixed, InOne, InSets, InSome, Whereabouts
from dpcompose.core.change.units import NEW_END, OLD_END, ChangeUnit, Kind
from dpcompose.core.loss.pattern import UndominatedLosses
from dpcompose.core.loss.pattern_algebra import Patterns
from dpcompose.core.loss.proved import PairOf
from dpcompose.core.model.problem import Partition
from dpcompose.core.notions.notion import Amount
from dpcompose.core.partitions import allocation
from dpcompose.core.partitions.allocation import Allocation
from dpcompose.core.partitions.pattern_spread import worst_patterns
from dpcompose.core.theorem import Role

#: The most ways of being in blocks over which a formula is written out.
_MOST_TOLD = 64


def placements(
    where: Whereabouts, leaf: ChangeUnit, instances: Sequence[int], limit: int
) -> list[tuple[ChangeUnit | None, ...]]:
    """Returns every way in which a changed row can be in the blocks: for each block its change
    there.

    `where`: the sets of blocks that the row can be in; `leaf`: the row, added, removed or replaced;
    `instances`: the blocks, each by the number of its class. In each way a block has the row added
    or removed, replaced (if both ends are in it), or None. If there are more than `limit` ways, the
    list is empty, or longer than `limit` but not complete.
    """
    everywhere = range(len(instances))
    sets = list(islice(where.sets(instances), limit + 1))
    if leaf.kind is not Kind.PAIR:
        here = ChangeUnit(Kind.SINGLE, sign=leaf.sign, directed=leaf.directed)
        return [tuple(here if i in chosen else None for i in everywhere) for chosen in sets]
    stays = ChangeUnit(Kind.PAIR, (0, 1), leaf.kept)
    if where.stays:
        return [tuple(stays if i in chosen else None for i in everywhere) for chosen in sets]
    if len(sets) ** 2 > limit:
        return []
    ways: list[tuple[ChangeUnit | None, ...]] = []
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
                for i in everywhere
            )
            if any(way):
                ways.append(way)
    return ways


class SpreadRule(NamedTuple):
    """The rule for the worst total loss over the blocks that one changed row can be in.

    `where`: the sets of blocks that the row can be in; `pair`: the row is replaced, else it is
    added or removed; `sizes`: the number of blocks in each class.
    """

    where: Whereabouts
    pair: bool
    sizes: Sequence[int]

    def __call__(
        self, once: Sequence[Amount], both: Sequence[Amount], new: Sequence[Amount] | None = None
    ) -> Allocation:
        """Returns the worst total loss over blocks, and those blocks.

        For each class of blocks, `once`: the loss of a block that the row enters or leaves; `both`:
        of one in which it is replaced; `new`: if given, of one that it enters, where `once` is for
        those that it leaves.
        """
        match self.where:
            case Fixed():
                return allocation.one_block(both, both=True)
            case InOne():
                if self.pair:
                    return allocation.value_pair(once, both, self.sizes, new)
                return allocation.value_single(once)
            case InSome(limit):
                if self.pair:
                    return allocation.membership_pair(once, both, self.sizes, limit, new)
                return allocation.membership_single(once, self.sizes, limit)
            case InSets(fed):
                if self.pair:
                    return allocation.kinds_pair(once, both, fed, new)
                return allocation.kinds_single(once, fed)

    def told(
        self, once: Sequence[Any], both: Sequence[Any], new: Sequence[Any] | None = None
    ) -> tuple[Role, str | None, dict[str, Any]]:
        """Returns the theorem's role, its formula over all blocks, and what that is given; no
        formula where the worst way is found by a search.

        Parameters: see the call; here they are losses as the premises of a step.
        """
        ways: list[list[Any]]
        match self.where:
            case Fixed():
                return Role.WORST_BLOCK, "max(x)", {"x": list(both)}
            case InOne():
                if not self.pair:
                    return Role.WORST_BLOCK, "max(x)", {"x": list(once)}
                if new is None:
                    twice = [min(n, 2) for n in self.sizes]
                    ends = {"x": list(once), "n": twice, "y": list(both)}
                    return Role.TWO_BLOCKS, "max(largest(x, 2, n), max(y))", ends
                moves = [
                    [leaves, enters]
                    for i, leaves in enumerate(once)
                    for j, enters in enumerate(new)
                    if i != j or self.sizes[i] > 1
                ]
                ways = [*moves, *([each] for each in (*once, *new, *both))]
                if len(ways) <= _MOST_TOLD:
                    return Role.TWO_BLOCKS, *_largest_sum(ways)
            case InSome(limit):
                given: dict[str, Any] = {"x": list(once), "n": list(self.sizes), "m": limit}
                if not self.pair and limit == 1:
                    return Role.WORST_BLOCK, "max(x)", {"x": list(once)}
                if not self.pair:
                    return Role.GENERAL, "largest(x, m, n)", given
                if new is None and _is_multiple(both, once, 2):
                    return Role.GENERAL, "2 * largest(x, m, n)", given
                if new is None and _is_multiple(both, once, 1):
                    return Role.GENERAL, "largest(x, 2 * m, n)", given
            case InSets(fed):
                ways = [[once[i] for i in some] for some in fed]
                if self.pair and new is None and len(fed) ** 2 <= _MOST_TOLD:
                    sets = [set(some) for some in fed]
                    ways = [
                        [both[i] for i in sorted(a & b)] + [once[i] for i in sorted(a ^ b)]
                        for n, a in enumerate(sets)
                        for b in sets[n:]
                    ]
                if not self.pair or len(ways) > len(fed):
                    return Role.GENERAL, *_largest_sum(ways)
        given = {"x": list(once), "y": list(both)}
        return Role.GENERAL, None, given if new is None else {**given, "z": list(new)}

    def of_patterns(
        self,
        algebra: Patterns,
        once: Sequence[UndominatedLosses],
        both: Sequence[UndominatedLosses],
        new: Sequence[UndominatedLosses] | None = None,
    ) -> UndominatedLosses:
        """Returns the patterns of the worst ways; `once`, `both`, `new`: as for the call, in
        patterns."""
        return worst_patterns(algebra, self.where, self.pair, self.sizes, once, both, new)


def _largest_sum(ways: Sequence[list[Any]]) -> tuple[str, dict[str, Any]]:
    """Returns the formula of the largest of several sums, and what it is given."""
    sums = {f"x{n}": way for n, way in enumerate(ways) if way}
    return f"max({', '.join(f'sum({name})' for name in sums)})", sums


def _is_multiple(both: Sequence[Any], once: Sequence[Any], factor: int) -> bool:
    """Returns whether each of some losses is so many times the other, in ε and in δ."""

    def numbers(loss: Any) -> tuple[Any, ...]:
        return tuple(loss.pair) if isinstance(loss, PairOf) else (loss,)

    return all(
        numbers(two) == tuple(each * factor for each in numbers(one))
        for two, one in zip(both, once, strict=True)
    )


def rule_for(partition: Partition, leaf: ChangeUnit, sizes: Sequence[int]) -> SpreadRule:
    """Returns the rule for the row `leaf` (added, removed or replaced) over the blocks of a
    partition.

    `sizes`: the number of blocks in each class.
    """
    return SpreadRule(partition.kind.where(leaf.kept), leaf.kind is Kind.PAIR, sizes)


def any_blocks(sizes: Sequence[int], blocks: int) -> SpreadRule:
    """Returns the rule for the largest total loss of any `blocks` blocks, to each of which a row
    may come.

    `sizes`: the number of blocks in each class.
    """
    return SpreadRule(InSome(blocks), False, sizes)


def copies_of_a_row(partition: Partition) -> int:
    """Returns the largest number of blocks that one row can be in."""
    return min(partition.kind.where(()).most_blocks, partition.size)
