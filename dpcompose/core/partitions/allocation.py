"""How one changed row spreads over the blocks of a partition (theory, section 5), in plain numbers.

Every function takes, for each class of equal blocks, the loss of a block that one row enters or
leaves (`once`) and of a block in which a row is replaced (`both`), with the number of blocks in the
class (`sizes`), and returns the worst total with the blocks that attain it. If entering a block may
lose less than leaving it (below a Poisson sample), `new` is for blocks that a row enters, and
`once` for those that it leaves; else `new` is None.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, takewhile
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

    Parameters: see the module. A block that only the old or only the new row is in weighs 1 and
    loses `once`, one that both are in weighs 2 and loses `both`; the total weight is at most
    2·`most`. If both ≤ 2·once, the gain of the second row is at most that of the first, so taking
    the largest gains is optimal. If both > 2·once (steep), one block with both rows is worse than
    two such blocks with one of them, so that at most one of them has one. With `new`: either row
    alone is in at most `most` blocks; if both ≤ once + new, its losses there give a bound, and
    `new` is raised until this holds.
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
    steep = [i for i in range(len(once)) if both[i] > 2 * once[i]]
    flat = [i for i in range(len(once)) if both[i] <= 2 * once[i]]
    gains = [(once[i], sizes[i], Hit(i, 1, False)) for i in flat]
    gains += [(both[i] - once[i], sizes[i], Hit(i, 1, True)) for i in flat]
    gains.sort(key=lambda gain: (-gain[0], gain[2].both))
    doubles = sorted(((both[i], sizes[i], Hit(i, 1, True)) for i in steep), key=lambda run: -run[0])
    totals = _Totals(gains, doubles, once, sizes, most)
    twice = max(_turning_points(gains, doubles, most), key=totals.at)
    return _mixed(gains, doubles, once, sizes, most, twice)


def _turning_points(
    gains: Sequence[tuple[Amount, int, Hit]],
    doubles: Sequence[tuple[Amount, int, Hit]],
    most: int,
) -> list[int]:
    """Returns the corners of the total loss as a (concave) function of the number of blocks with
    both rows.

    `gains`, `doubles`: runs (see `_take`) of what one more row adds in a block, and of steep
    blocks.
    """
    available = min(most, sum(run[1] for run in doubles))
    points = {0, available}
    passed = 0
    for _, many, _ in doubles:
        passed += many
        points |= {passed, passed - 1}
    passed = 0
    for _, many, _ in gains:
        passed += many
        for spare in (0, 1):
            left = 2 * most - passed - spare
            points |= {left // 2, left // 2 + 1}
    return sorted(point for point in points if 0 <= point <= available)


class _RunSums:
    """The totals of `_take` from the same runs for any capacity, from sums of whole runs."""

    def __init__(self, runs: Sequence[tuple[Amount, int, Hit]]) -> None:
        lasting = list(takewhile(lambda run: run[0] > 0, runs))
        self._amounts = [amount for amount, _, _ in lasting]
        self.ends = list(accumulate((many for _, many, _ in lasting), initial=0))
        self._totals = list(accumulate((a * many for a, many, _ in lasting), initial=ZERO))

    def whole_runs(self, capacity: int) -> int:
        """Returns how many runs are taken completely for this capacity."""
        return bisect_right(self.ends, capacity) - 1

    def at(self, capacity: int) -> Amount:
        """Returns the total of `_take` for this capacity."""
        if capacity <= 0:
            return ZERO
        whole = self.whole_runs(capacity)
        total = self._totals[whole]
        left = capacity - self.ends[whole]
        if left and whole < len(self._amounts):
            total = total + self._amounts[whole] * left
        return total


class _Totals:
    """The total of `_mixed` for any number of steep blocks that both rows are in, without the
    hits."""

    def __init__(
        self,
        gains: Sequence[tuple[Amount, int, Hit]],
        doubles: Sequence[tuple[Amount, int, Hit]],
        once: Sequence[Amount],
        sizes: Sequence[int],
        most: int,
    ) -> None:
        self._gains, self._doubles, self._most = _RunSums(gains), _RunSums(doubles), most
        # `_free[i]`: the largest `once` from run i on; `_exchanged[i]`: the least gain of a
        # second end up to run i.
        single = [once[run[2].where] for run in doubles]
        self._free = list(accumulate(reversed(single), max))[::-1]
        self._exchanged = list(
            accumulate((run[0] - loss for run, loss in zip(doubles, single, strict=True)), min)
        )

    def at(self, twice: int) -> Amount:
        """Returns the total with both rows in `twice` steep blocks."""
        capacity = 2 * self._most - 2 * twice
        total = self._doubles.at(twice)
        best = total + self._gains.at(capacity)
        whole = self._doubles.whole_runs(twice)
        if capacity < 1 or whole >= len(self._free):
            return best
        rest = self._gains.at(capacity - 1)
        longer = self._doubles.at(twice + 1) - self._exchanged[whole]
        return max(best, total + self._free[whole] + rest, longer + rest)


def _mixed(
    gains: Sequence[tuple[Amount, int, Hit]],
    doubles: Sequence[tuple[Amount, int, Hit]],
    once: Sequence[Amount],
    sizes: Sequence[int],
    most: int,
    twice: int,
) -> Allocation:
    """Returns the worst loss with both rows in `twice` steep blocks, and one row in at most one
    more.

    `gains`, `doubles`: see `_turning_points`; `once`, `sizes`, `most`: see `membership_pair`.
    """
    total, hits = _take(doubles, twice)
    capacity = 2 * most - 2 * twice
    rest, more = _take(gains, capacity)
    best: Allocation = (total + rest, tuple(_merge_hits(hits, more)))
    if capacity < 1 or not doubles:
        return best
    # One steep block changed once: one not changed twice, or one exchanged for the next.
    used = {hit.where: hit.blocks for hit in hits}
    free = [run[2].where for run in doubles if used.get(run[2].where, 0) < sizes[run[2].where]]
    rest, more = _take(gains, capacity - 1)
    found = [best]
    if free:
        single = max(free, key=lambda i: once[i])
        found.append(
            (total + once[single] + rest, tuple(_merge_hits([*hits, Hit(single, 1, False)], more)))
        )
        longer, others = _take(doubles, twice + 1)
        both_of = {run[2].where: run[0] for run in doubles}
        swapped = min(others, key=lambda hit: both_of[hit.where] - once[hit.where]).where
        kept = [hit._replace(blocks=hit.blocks - (hit.where == swapped)) for hit in others]
        found.append(
            (
                longer - both_of[swapped] + once[swapped] + rest,
                tuple(_merge_hits([*kept, Hit(swapped, 1, False)], more)),
            )
        )
    return _worst_allocation(found)


def _merge_hits(hits: Sequence[Hit], gains: Sequence[Hit]) -> list[Hit]:
    """Returns the hits and the gains together; two gains of one block become one hit with both
    rows."""
    once = {hit.where: hit.blocks for hit in gains if not hit.both}
    twice = {hit.where: hit.blocks for hit in gains if hit.both}
    joined = [hit for hit in hits if hit.blocks]
    for index, blocks in once.items():
        doubled = min(blocks, twice.get(index, 0))
        if blocks - doubled:
            joined.append(Hit(index, blocks - doubled, False))
        if doubled:
            joined.append(Hit(index, doubled, True))
    return joined


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
