"""How one changed row spreads over the blocks of a partition (theory, section 5), in plain numbers.

Every function takes, for each class of equal blocks, the loss of a block that one row enters or
leaves (`once`) and of a block in which a row is replaced (`both`), with the number of blocks in the
class (`sizes`), and returns the worst total with the blocks that attain it. If entering a block may
lose less than leaving it (below a Poisson sample), `new` is for blocks that a row enters, and
`once` for those that it leaves; else `new` is None.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from dpcompose.core.notions.notion import Amount

ZERO = Fraction(0)


class Hit(NamedTuple):
    """Blocks that a changed row is in: `blocks` blocks of the class `where`.

    The row is added to or removed from each of them, or (`both`) replaced in it. `new`: it is the
    new row of a replacement, if the loss of entering a block is given separately.
    """

    where: int
    blocks: int
    both: bool
    new: bool = False


Allocation = tuple[Amount, tuple[Hit, ...]]


def _worst_allocation(found: Iterable[Allocation]) -> Allocation:
    return max(found, key=lambda each: each[0], default=(ZERO, ()))


def one_block(losses: Sequence[Amount], both: bool) -> Allocation:
    """Returns the worst loss where exactly one block changes; `losses`: of a block of each class.

    `both`: a row is replaced in the block; else it is added or removed.
    """
    return _worst_allocation((loss, (Hit(i, 1, both),)) for i, loss in enumerate(losses))


def value_single(once: Sequence[Amount]) -> Allocation:
    """Returns the worst loss of a row added to or removed from disjoint blocks (GMPS24 V.4).

    `once`: the loss of a block of each class that the row enters or leaves.
    """
    return one_block(once, both=False)


def value_pair(
    once: Sequence[Amount],
    both: Sequence[Amount],
    sizes: Sequence[int],
    new: Sequence[Amount] | None = None,
) -> Allocation:
    """Returns the worst loss of a row replaced within a block, or by one in another block or
    outside (IV.13).

    Parameters: see the module; `sizes`: the number of blocks in each class.
    """
    if new is not None:
        return _worst_allocation([*_moves(once, new, sizes), one_block(both, both=True)])
    order = sorted(range(len(once)), key=lambda i: once[i], reverse=True)[:2]
    two: list[Allocation] = []
    if order:
        first = order[0]
        if sizes[first] > 1:
            two.append((once[first] * 2, (Hit(first, 2, False),)))
        elif len(order) > 1:
            total = once[first] + once[order[1]]
            two.append((total, (Hit(first, 1, False), Hit(order[1], 1, False))))
    # In a tie the change between two blocks is shown first, a change within one last.
    return _worst_allocation([*two, one_block(once, both=False), one_block(both, both=True)])


def _moves(
    once: Sequence[Amount], new: Sequence[Amount], sizes: Sequence[int]
) -> Iterator[Allocation]:
    """Yields the worst moves of a row from each block to another one, and from or to outside.

    `once`: the losses of leaving a block, `new`: of entering one; `sizes`: the number of blocks in
    each class.
    """
    entered = sorted(range(len(new)), key=lambda i: new[i], reverse=True)[:2]
    for i, loss in enumerate(once):
        for j in entered:
            if j != i:
                yield loss + new[j], (Hit(i, 1, False), Hit(j, 1, False, True))
        if sizes[i] > 1:
            yield loss + new[i], (Hit(i, 1, False), Hit(i, 1, False, True))
    yield one_block(once, both=False)
    entering, hits = one_block(new, both=False)
    yield entering, tuple(hit._replace(new=True) for hit in hits)


def _take(runs: Sequence[tuple[Amount, int, Hit]], capacity: int) -> tuple[Amount, list[Hit]]:
    """Returns the total and the hits of the first `capacity` blocks of `runs`.

    A run: (loss of a block, how many blocks, the hit of one).
    """
    total: Amount = ZERO
    hits: list[Hit] = []
    for amount, many, hit in runs:
        used = min(many, capacity)
        if used <= 0 or amount <= 0:
            break
        total = total + amount * used
        hits.append(hit._replace(blocks=used))
        capacity -= used
    return total, hits


def membership_single(once: Sequence[Amount], sizes: Sequence[int], most: int) -> Allocation:
    """Returns the worst loss of a row in at most `most` blocks: the sum of the `most` largest
    losses.

    `once`: the loss of a block of each class; `sizes`: the number of blocks in each class.
    """
    order = sorted(range(len(once)), key=lambda i: once[i], reverse=True)
    total, hits = _take([(once[i], sizes[i], Hit(i, 1, False)) for i in order], most)
    return total, tuple(hits)


def membership_pair(
    once: Sequence[Amount],
    both: Sequence[Amount],
    sizes: Sequence[int],
    most: int,
    new: Sequence[Amount] | None = None,
) -> Allocation:
    """Returns the worst loss of a replaced row, in at most `most` blocks before and `most` after.

    Parameters: see the module. A block that only the old or only the new row is in loses `once`,
    one that both are in `both`; rows are in blocks 2·`most` times in all. If both ≤ 2·once, the
    second row adds at most as much as the first, so that taking the largest gains is optimal. If
    both > 2·once, each row is charged both/2, which is too much where one is alone in a block: in
    at most one block, and in none if all blocks are of this sort. With `new`: either row alone is
    in at most `most` blocks; if both ≤ once + new, its losses there give a bound, and `new` is
    raised until this holds.
    """
    if new is not None:
        worse = [max(pair) for pair in zip(once, new, strict=True)]
        found = membership_pair(worse, both, sizes, most)
        left, hits = membership_single(once, sizes, most)
        if left < math.inf:
            raised = [max(y, b - x) for b, x, y in zip(both, once, new, strict=True)]
            entered, others = membership_single(raised, sizes, most)
            if left + entered < found[0]:
                return left + entered, (*hits, *(each._replace(new=True) for each in others))
        return found
    unbounded = [
        (math.inf, (Hit(i, 1, second),))
        for second, losses in ((False, once), (True, both))
        for i, loss in enumerate(losses)
        if loss == math.inf
    ]
    if unbounded:
        return unbounded[0]
    gains: list[tuple[Amount, int, Hit]] = []
    for i, n in enumerate(sizes):
        if both[i] > 2 * once[i]:
            gains.append((both[i] / 2, 2 * n, Hit(i, 1, True)))
        else:
            gains += [(once[i], n, Hit(i, 1, False)), (both[i] - once[i], n, Hit(i, 1, True))]
    gains.sort(key=lambda gain: (-gain[0], gain[2].both))
    total, taken = _take(gains, 2 * most)
    return total, tuple(_blocks_of(taken))


def _blocks_of(gains: Sequence[Hit]) -> Iterator[Hit]:
    """Yields the blocks that one row or both rows are in, from the gains taken in them.

    A class has a gain of first rows, and perhaps one of second rows (`both`); or one of both.
    """
    firsts = {hit.where: hit.blocks for hit in gains if not hit.both}
    seconds = {hit.where: hit.blocks for hit in gains if hit.both}
    for where in dict.fromkeys(hit.where for hit in gains):
        rows = firsts.get(where, 0) + seconds.get(where, 0)
        twice = seconds.get(where, 0) if where in firsts else rows // 2
        if rows > 2 * twice:
            yield Hit(where, rows - 2 * twice, False)
        if twice:
            yield Hit(where, twice, True)


#: Pairs of kinds are bounded, not listed, if kinds times blocks fed exceeds this.
MANY_KINDS = 4_000_000


def kinds_single(once: Sequence[Amount], kinds: Sequence[Sequence[int]]) -> Allocation:
    """Returns the worst loss of an added or removed row of one kind, in all blocks that the kind
    feeds.

    `once`: the loss of each block; `kinds`: the blocks of each kind.
    """
    return _worst_allocation(
        (sum((once[i] for i in fed), ZERO), tuple(Hit(i, 1, False) for i in fed)) for fed in kinds
    )


def kinds_pair(
    once: Sequence[Amount],
    both: Sequence[Amount],
    kinds: Sequence[Sequence[int]],
    new: Sequence[Amount] | None = None,
) -> Allocation:
    """Returns the worst loss of a replaced row, of any kind before and after.

    `once`, `both`, `new`: the losses of each block (see the module); `kinds`: the blocks of each
    kind.
    """
    entered = once if new is None else new
    size = sum(len(fed) for fed in kinds)
    if size * len(kinds) > MANY_KINDS:
        # Each end is charged for its blocks; a block of both ends max(once, both/2) twice.
        ends = [max(once[i], entered[i], both[i] / 2) for i in range(len(once))]
        total, hits = kinds_single(ends, kinds)
        return total * 2, hits
    sets = [frozenset(fed) for fed in kinds]

    def pair(before: frozenset[int], after: frozenset[int]) -> Allocation:
        """Returns the loss, with the blocks, of a row in all blocks `before`, replaced by one in
        all of `after`."""
        hits = [
            Hit(i, 1, i in before and i in after, new is not None and i not in before)
            for i in sorted(before | after)
        ]
        losses = ((both if hit.both else entered if hit.new else once)[hit.where] for hit in hits)
        return sum(losses, ZERO), tuple(hits)

    return _worst_allocation(
        pair(before, after)
        for n, before in enumerate(sets)
        for after in (sets[n:] if new is None else sets)
    )


class Filled(NamedTuple):
    """`blocks` blocks of class `where` with `rows` row changes in each."""

    where: int
    blocks: int
    rows: int


def fill(
    once: Sequence[Amount], sizes: Sequence[int], rows: int, per_block: int, blocks: int, power: int
) -> tuple[Amount, tuple[Filled, ...]]:
    """Returns a bound on the loss of `rows` row changes, with the blocks filled, the largest loss
    first.

    At most `per_block` changes are in one block, in at most `blocks` blocks. For each class of
    blocks, `once`: the loss of one change; `sizes`: the number of blocks. A block with t row
    changes loses at most t^`power` times as much as with one. The total is convex in these numbers,
    so the worst fills the blocks of the largest loss, and one more with what is left.
    """
    order = sorted(range(len(once)), key=lambda i: once[i], reverse=True)
    per_block = max(1, min(per_block, rows))
    total: Amount = ZERO
    filled: list[Filled] = []
    for i in order:
        if rows <= 0 or blocks <= 0:
            break
        full = min(sizes[i], blocks, rows // per_block)
        if full:
            total = total + once[i] * full * per_block**power
            filled.append(Filled(i, full, per_block))
            rows -= full * per_block
            blocks -= full
        if rows and blocks and full < sizes[i] and rows < per_block:
            total = total + once[i] * rows**power
            filled.append(Filled(i, 1, rows))
            rows = 0
    return total, tuple(filled)


def worst_distribution(
    losses: Sequence[Sequence[Amount]], sizes: Sequence[int], rows: int, blocks: int
) -> Amount:
    """Returns the exact largest loss of at most `rows` row changes in at most `blocks` blocks.

    `losses[i][t]` is the loss of a block of class i with t row changes (index 0: zero), up to the
    most that one block can take; `sizes[i]`: the number of such blocks.
    """
    best: list[list[Amount]] = [[ZERO] * (rows + 1) for _ in range(blocks + 1)]
    for column, many in zip(losses, sizes, strict=True):
        for _ in range(min(many, blocks, rows)):
            for used in range(blocks, 0, -1):
                before, row = best[used - 1], best[used]
                for total in range(rows, 0, -1):
                    top = min(total, len(column) - 1)
                    reach = max(
                        (before[total - t] + column[t] for t in range(1, top + 1)), default=ZERO
                    )
                    row[total] = max(row[total], reach)
    return max(best[used][rows] for used in range(blocks + 1))
