"""How one changed row spreads over the blocks of a partition, in patterns.

The counterpart of `allocation` (theory, section 5): for each class of equal blocks, `once` are the
patterns of a block that a row enters or leaves, and `both` of a block in which a row is replaced.
If a row may lose less in a block that it enters than in one that it leaves, `new` are those of the
former. Ways that are too many to list are bounded by a pattern that dominates them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise, product

from dpcompose.core.change.partitions.whereabouts import (
    Fixed,
    InOne,
    InSets,
    InSome,
    Whereabouts,
)
from dpcompose.core.loss.dominance import covering, dominates
from dpcompose.core.loss.pattern import LossMultiset, UndominatedLosses, size, together
from dpcompose.core.loss.pattern_algebra import Patterns
from dpcompose.core.loss.pattern_options import is_one_loss

#: The most ways of changing the blocks that are listed.
MOST_WAYS = 3_000
#: The same if a row may lose less in a block that it enters than in one that it leaves.
MOST_DIRECTED = 400
#: The most blocks of which all pairs are tried.
MOST_PARTNERS = 60
#: The most intervals in which numbers of blocks changed by both ends are bounded,
MOST_INTERVALS = 100
#: and if blocks may have several losses, which take long to compose.
FEW_INTERVALS = 4


def spread(
    algebra: Patterns,
    where: Whereabouts,
    pair: bool,
    sizes: Sequence[int],
    once: Sequence[UndominatedLosses],
    both: Sequence[UndominatedLosses],
    new: Sequence[UndominatedLosses] | None = None,
) -> UndominatedLosses:
    """Returns the patterns of the worst ways in which one changed row can be in the blocks.

    `where`: the sets of blocks that it can be in; `pair`: the row is replaced; `sizes`: the number
    of blocks in each class; the losses: see the module.
    """
    if isinstance(where, Fixed):
        return algebra.worst_case(both)
    if any(not loss for loss in once) or (pair and any(not loss for loss in both)):
        return algebra.none
    if new is not None and _ways_to_move(where, sizes) > MOST_DIRECTED:
        once, new = list(map(_either_way, once, new)), None
    if isinstance(where, InSets):
        return _sets(algebra, where.fed, pair, once, both, new)
    if not pair:
        return algebra.undominated(_largest(algebra, once, sizes, where.most_blocks))
    if isinstance(where, InOne):
        return _two_of(algebra, once, both, sizes, new)
    if new is not None:
        return algebra.worst_case(
            algebra.add(algebra.times(loss, n) for loss, n in way if n)
            for way in _directed(once, new, both, sizes, where.most_blocks)
        )
    return algebra.undominated(_membership_pair(algebra, once, both, sizes, where.most_blocks))


def covers(over: UndominatedLosses, under: UndominatedLosses) -> bool:
    """Returns whether every pattern in `under` is dominated by some pattern in `over`."""
    return all(any(dominates(a, b) for a in over) for b in under)


def _by_size(losses: Sequence[UndominatedLosses]) -> list[int]:
    """Returns the numbers of the losses, the largest by estimated size first."""
    sizes = [max(size(pattern) for pattern in loss) for loss in losses]
    return sorted(range(len(losses)), key=lambda i: sizes[i], reverse=True)


def _is_ordered(losses: Sequence[UndominatedLosses], order: Sequence[int]) -> bool:
    """Returns whether each loss dominates the next one in this order."""
    return all(covers(losses[a], losses[b]) for a, b in pairwise(order))


def _largest(
    algebra: Patterns, losses: Sequence[UndominatedLosses], sizes: Sequence[int], most: int
) -> Iterator[LossMultiset]:
    """Yields the multisets of losses that are worst for one row, which is in at most `most` blocks
    of a partition.

    `losses`: of a block of each class that the row enters or leaves; `sizes`: the number of blocks
    in each class.
    """
    if most == 1:
        yield from algebra.worst_case(losses)
        return
    order = _by_size(losses)
    if most >= sum(sizes) or _is_ordered(losses, order):
        yield from _compose_first(algebra, losses, sizes, order, most)
        return
    counts = [range(min(n, most) + 1) for n in sizes]
    if math.prod(len(each) for each in counts) <= MOST_WAYS:
        full = min(most, sum(sizes))
        for taken in product(*counts):
            if sum(taken) == full:
                yield from algebra.add(
                    algebra.times(losses[i], n) for i, n in enumerate(taken) if n
                )
        return
    yield _Covers(algebra, losses, sizes, most).of(most)


def _compose_first(
    algebra: Patterns,
    losses: Sequence[UndominatedLosses],
    sizes: Sequence[int],
    order: Sequence[int],
    most: int,
) -> UndominatedLosses:
    """Returns the composed loss of the first `most` blocks, one class after the other as in
    `order`.

    `losses`: of a block of each class; `sizes`: the number of blocks in each class.
    """
    parts: list[UndominatedLosses] = []
    for i in order:
        used = min(most, sizes[i])
        if used:
            parts.append(algebra.times(losses[i], used))
        most -= used
    return algebra.add(parts)


class _Covers:
    """Patterns that together dominate the losses of every choice of a number of blocks.

    In a fixed order of all blocks, the i-th block chosen is one of those that come i-th or later.
    """

    def __init__(
        self,
        algebra: Patterns,
        losses: Sequence[UndominatedLosses],
        sizes: Sequence[int],
        most: int,
        order: Sequence[int] | None = None,
    ) -> None:
        order = order or _by_size(losses)
        self.behind = algebra.behind([(losses[i], sizes[i]) for i in order], most)

    def of(self, most: int) -> LossMultiset:
        """Returns the pattern that dominates every choice of `most` blocks, a row entering or
        leaving each."""
        taken: list[LossMultiset] = []
        for pattern, many in self.behind:
            used = min(most, many)
            if not used:
                break
            taken.append(pattern.times(used))
            most -= used
        joint = together(taken)
        return LossMultiset(joint.atoms, True, False, joint.trace)


def _two_of(
    algebra: Patterns,
    once: Sequence[UndominatedLosses],
    both: Sequence[UndominatedLosses],
    sizes: Sequence[int],
    new: Sequence[UndominatedLosses] | None,
) -> UndominatedLosses:
    """Returns the loss of a row replaced within a block, by one in another block, or by one
    outside.

    Parameters: see the module; `sizes`: the number of blocks in each class.
    """
    entered = once if new is None else new
    order = _by_size(once)
    partners: list[int] = []
    for i in order:
        better = sum(
            min(sizes[j], 2)
            for j in partners
            if covers(once[j], once[i]) and (new is None or covers(new[j], new[i]))
        )
        if better < 2:
            partners.append(i)
        if len(partners) > MOST_PARTNERS:
            moves = algebra.add([(covering_all(once),), (covering_all(entered),)])
            return algebra.worst_case([moves, *both])
    found = [*both]
    for n, i in enumerate(partners):
        if sizes[i] > 1:
            found.append(algebra.add([once[i], entered[i]]))
        others = partners[n + 1 :] if new is None else [j for j in partners if j != i]
        found += [algebra.add([once[i], entered[j]]) for j in others]
    if not any(size > 1 for size in sizes) and len(partners) == 1:
        found += [each[partners[0]] for each in (once, entered)]
    return algebra.worst_case(found)


def covering_all(losses: Sequence[UndominatedLosses]) -> LossMultiset:
    """Returns one pattern that dominates all patterns of several losses."""
    return covering([pattern for loss in losses for pattern in loss])


def _membership_pair(
    algebra: Patterns,
    once: Sequence[UndominatedLosses],
    both: Sequence[UndominatedLosses],
    sizes: Sequence[int],
    most: int,
) -> Iterator[LossMultiset]:
    """Yields the worst patterns of a replaced row, in at most `most` blocks before and after.

    `once`, `both`: see the module; `sizes`: the number of blocks in each class. If a block with
    both the old and the new row is at least as bad as two with one of them, the worst way has both
    in the `most` first blocks; if it is no worse than one with one of them, the worst way has one
    row in each of 2·`most` blocks.
    """
    blocks = sum(sizes)
    order = _by_size(once)
    if all(covers(once[i], both[i]) for i in order):
        yield from _largest(algebra, once, sizes, 2 * most)
        return
    twice = [algebra.add([loss, loss]) for loss in once]
    steep = all(covers(both[i], twice[i]) for i in order)
    if steep and _is_ordered(once, order) and _is_ordered(both, order):
        yield from _compose_first(algebra, both, sizes, order, most)
        return
    ways = math.prod(math.comb(n + 2, 2) for n in sizes) if blocks <= 40 else math.inf
    if ways <= MOST_WAYS or len(sizes) == 1:
        yield from _block_counts(algebra, once, both, sizes, most)
        return
    order = _by_size(both)
    doubles = _Covers(algebra, both, sizes, most, order)
    singles = _Covers(algebra, once, sizes, 2 * most, order)
    alike = all(is_one_loss(pattern) for pattern, _ in (*doubles.behind, *singles.behind))
    if alike and all(
        dominates(double, single.times(2))
        for (double, _), (single, _) in zip(doubles.behind, singles.behind, strict=False)
    ):
        # Two blocks changed once lose no more than the earlier of them changed twice.
        yield doubles.of(most)
        return
    step = -(-(most + 1) // (MOST_INTERVALS if alike else FEW_INTERVALS))
    for fewest in range(0, most + 1, step):
        parts = [doubles.of(min(most, fewest + step - 1)), singles.of(2 * (most - fewest))]
        joint = together(parts)
        yield LossMultiset(joint.atoms, True, False, joint.trace)


def _ways_to_move(where: Whereabouts, sizes: Sequence[int]) -> int:
    """Returns about how many ways a replaced row has of leaving blocks and entering others.

    `sizes`: the number of blocks in each class.
    """
    match where:
        case InSets(fed):
            return len(fed) ** 2
        case InSome(most):
            return math.prod(math.comb(min(n, 2 * most) + 3, 3) for n in sizes)
        case _:
            return len(sizes) ** 2


def _either_way(left: UndominatedLosses, entered: UndominatedLosses) -> UndominatedLosses:
    """Returns a loss that dominates both that of leaving a block and that of entering it."""
    if len(left) == len(entered):
        return tuple(covering(pair) for pair in zip(left, entered, strict=True))
    return (covering([*left, *entered]),)


def _directed(
    once: Sequence[UndominatedLosses],
    new: Sequence[UndominatedLosses],
    both: Sequence[UndominatedLosses],
    sizes: Sequence[int],
    most: int,
) -> Iterator[list[tuple[UndominatedLosses, int]]]:
    """Returns every way in which a row leaves, enters and stays in blocks, as losses with their
    counts.

    The losses are `once` of leaving, `new` of entering, `both` of staying; `sizes`: the number of
    blocks in each class. The row is in `most` blocks before and `most` after, unless every block is
    used.
    """
    ways: list[tuple[list[tuple[UndominatedLosses, int]], int, int, int]] = [([], most, most, 0)]
    for i, n in enumerate(sizes):
        ways = [
            (
                [*way, (once[i], left), (new[i], entered), (both[i], kept)],
                before - left - kept,
                after - entered - kept,
                alone + n - left - entered - kept,
            )
            for way, before, after, alone in ways
            for kept in range(min(n, before, after) + 1)
            for left in range(min(n, before) - kept + 1)
            for entered in range(min(n - left, after) - kept + 1)
        ]
    return (way for way, before, after, alone in ways if not alone or not (before or after))


def _block_counts(
    algebra: Patterns,
    once: Sequence[UndominatedLosses],
    both: Sequence[UndominatedLosses],
    sizes: Sequence[int],
    most: int,
) -> Iterator[LossMultiset]:
    """Yields the patterns of a replaced row, in `most` blocks before and after, for all numbers of
    blocks.

    In each class, of a size in `sizes`, a number of blocks has the old or the new row (`once`), and
    a number both (`both`).
    """

    def ways(index: int, left: int) -> Iterator[tuple[tuple[int, int], ...]]:
        """Yields (blocks with one row, blocks with both) for each class from `index` on, for `left`
        places.

        All `left` places are used up as far as the blocks allow.
        """
        if index == len(sizes):
            yield ()
            return
        for doubled in range(min(sizes[index], left // 2) + 1):
            rest = left - 2 * doubled
            singles = range(min(sizes[index] - doubled, rest) + 1)
            if index == len(sizes) - 1:
                singles = singles[-1:]
            for single in singles:
                for others in ways(index + 1, rest - single):
                    yield ((single, doubled), *others)

    for way in ways(0, 2 * most):
        parts: list[UndominatedLosses] = []
        for i, (single, doubled) in enumerate(way):
            if single:
                parts.append(algebra.times(once[i], single))
            if doubled:
                parts.append(algebra.times(both[i], doubled))
        yield from algebra.add(parts)


def _sets(
    algebra: Patterns,
    kinds: Sequence[Sequence[int]],
    pair: bool,
    once: Sequence[UndominatedLosses],
    both: Sequence[UndominatedLosses],
    new: Sequence[UndominatedLosses] | None,
) -> UndominatedLosses:
    """Returns the loss of a row that is in all blocks of one of the sets, or replaced by one in
    another set.

    `kinds`: the sets; `pair`: the row is replaced; the losses: see the module.
    """
    if not pair:
        return algebra.worst_case(algebra.add(once[i] for i in fed) for fed in kinds)
    entered = once if new is None else new
    sets = list(dict.fromkeys(map(frozenset, kinds)))
    width = max((len(fed) for fed in sets), default=1)
    if len(sets) * (len(sets) + 1) // 2 * max(1, width) > 8 * MOST_WAYS:
        ends = [(covering_all([a, b]),) for a, b in zip(once, both, strict=True)]
        first = algebra.worst_case(algebra.add(ends[i] for i in sorted(fed)) for fed in sets)
        second = algebra.worst_case(algebra.add(entered[i] for i in sorted(fed)) for fed in sets)
        return algebra.from_above(algebra.add([first, second]))
    found: list[UndominatedLosses] = []
    for n, before in enumerate(sets):
        for after in sets[n:] if new is None else sets:
            found.append(
                algebra.add(
                    both[i] if i in before and i in after else (once if i in before else entered)[i]
                    for i in sorted(before | after)
                )
            )
    return algebra.worst_case(found)


#: The number of blocks, for each class of blocks and number of rows in the block.
Spread = tuple[tuple[tuple[int, int], int], ...]


def spreads(sizes: Sequence[int], hits: int, per_block: int, most: int) -> list[Spread] | None:
    """Returns every way of putting as many as possible of `hits` row changes into the blocks.

    `sizes`: the number of blocks in each class. At most `per_block` are in a block, in at most
    `most` blocks; None if there are too many ways.
    """
    kinds = [(i, rows) for i in range(len(sizes)) for rows in range(per_block, 0, -1)]
    full = min(hits, per_block * min(most, sum(sizes)))
    found: list[Spread] = []
    stack: list[tuple[int, Spread, int, int, int]] = [(0, (), full, most, sizes[0] if sizes else 0)]
    tried = 0
    while stack:
        at, way, left, blocks, room = stack.pop()
        tried += 1
        if tried > 20 * MOST_WAYS or len(found) > MOST_WAYS:
            return None
        if not left:
            found.append(way)
            continue
        if at == len(kinds) or not blocks:
            continue
        index, rows = kinds[at]
        if rows == per_block:
            room = sizes[index]
        for n in range(min(room, blocks, left // rows) + 1):
            more = (*way, ((index, rows), n)) if n else way
            stack.append((at + 1, more, left - n * rows, blocks - n, room - n))
    return found or None
