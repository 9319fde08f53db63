"""How one changed row spreads over the blocks of a partition, in patterns.

The counterpart of `allocation` (theory, section 5): for each class of equal blocks, `once` are the
patterns of a block that a row enters or leaves, and `both` of a block in which a row is replaced.
If a row may lose less in a block that it enters than in one that it leaves, `new` are those of the
former. Ways that are too many to list are bounded by a pattern that dominates them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from dpcompose.core.change.partitions.whereabouts import (
    Fixed,
    InSets,
    Whereabouts,
)
from dpcompose.core.loss.dominance import covering, dominates
from dpcompose.core.loss.pattern import LossMultiset, UndominatedLosses, size, together
from dpcompose.core.loss.pattern_algebra import Patterns
from dpcompose.core.loss.pattern_options import from_above, is_one_loss

#: The most ways of changing the blocks that are listed,
MOST_WAYS = 3_000
#: and if a row may lose less in a block that it enters than in one that it leaves.
MOST_DIRECTED = 400
#: The most blocks of which all pairs are tried.
MOST_PARTNERS = 60
#: The most intervals in which numbers of blocks changed by both ends are bounded,
MOST_INTERVALS = 100
#: and if blocks may have several losses, which take long to compose.
FEW_INTERVALS = 4


#: Losses of blocks, with the number of blocks that have each.
Way = tuple[tuple[UndominatedLosses, int], ...]


class BlockUse(NamedTuple):
    """How a block may change: `losses`, of a block of each class, and the `places` that this takes.

    There are several sorts of places, such as blocks that a row leaves, and that it enters.
    """

    losses: Sequence[UndominatedLosses]
    places: tuple[int, ...]


def worst_patterns(
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
    if isinstance(where, InSets):
        return _sets(algebra, where.fed, pair, once, both, new)
    if any(not loss for loss in once) or (pair and any(not loss for loss in both)):
        return algebra.none
    most = where.most_blocks
    if not pair:
        return algebra.undominated(_patterns_of_added(algebra, once, sizes, most))
    if new is not None:
        uses = BlockUse(both, (1, 1)), BlockUse(once, (1, 0)), BlockUse(new, (0, 1))
        listed = _patterns_of_ways(algebra, uses, sizes, (most, most))
        if listed is not None:
            return algebra.undominated(listed)
        once = list(map(_either_way, once, new))
    return algebra.undominated(_patterns_of_replaced(algebra, once, both, sizes, most))


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


def _patterns_of_added(
    algebra: Patterns, losses: Sequence[UndominatedLosses], sizes: Sequence[int], most: int
) -> Sequence[LossMultiset]:
    """Returns the multisets of losses that are worst for one row, which is in at most `most` blocks
    of a partition.

    `losses`: of a block of each class that the row enters or leaves; `sizes`: the number of blocks
    in each class.
    """
    if most == 1:
        return algebra.worst_case(losses)
    order = _by_size(losses)
    if most >= sum(sizes) or _is_ordered(losses, order):
        return _compose_first(algebra, losses, sizes, order, most)
    listed = _patterns_of_ways(algebra, [BlockUse(losses, (1,))], sizes, (most,))
    if listed is not None:
        return listed
    return [_any_blocks(algebra.behind([(losses[i], sizes[i]) for i in order], most), most)]


def _patterns_of_ways(
    algebra: Patterns, uses: Sequence[BlockUse], sizes: Sequence[int], places: tuple[int, ...]
) -> list[LossMultiset] | None:
    """Returns the patterns of all ways in which blocks may change; None if there are too many.

    `uses`: how a block may change; `sizes`: the number of blocks in each class; `places`: how many
    there are of each sort. Blocks that lose no more than enough others are left out.
    """
    number, all_places = len(uses), sum(places)
    limit = MOST_WAYS if number < 3 else MOST_DIRECTED
    if len(sizes) > 1 and (number == 1 or all_places > 2):
        classes = (math.comb(min(n, all_places) + number, number) for n in sizes)
        if math.prod(classes) > limit:
            return None
    kept: list[int] = []
    for i in _by_size(uses[-1].losses):
        worse = (j for j in kept if all(covers(use.losses[j], use.losses[i]) for use in uses))
        if sum(sizes[j] for j in worse) < all_places:
            kept.append(i)
        if len(kept) > MOST_PARTNERS:
            return None
    used = [BlockUse([use.losses[i] for i in kept], use.places) for use in uses]
    ways = _ways(used, [sizes[i] for i in kept], places, limit)
    if ways is None:
        return None
    added = (algebra.add(algebra.times(loss, n) for loss, n in way) for way in ways)
    return [pattern for loss in added for pattern in loss]


def _ways(
    uses: Sequence[BlockUse], sizes: Sequence[int], places: tuple[int, ...], limit: int
) -> list[Way] | None:
    """Returns the ways in which blocks may change such that no more can; None if there are more
    than `limit`.

    Parameters: see `_patterns_of_ways`.
    """
    reach = [max(each) for each in zip(*(use.places for use in uses), strict=True)]
    found: list[tuple[Way, tuple[int, ...], int]] = [((), places, 0)]
    for at, blocks in enumerate(sizes):
        if min(blocks, *places) > 4 * limit:
            return None
        behind = sum(sizes[at + 1 :])
        # The way, the places left, the blocks of this class left, and those left before it.
        here = [(way, left, blocks, idle) for way, left, idle in found]
        for losses, taken in uses:
            filled = not behind and losses is uses[-1].losses
            here = [
                (
                    (*way, (losses[at], n)) if n else way,
                    tuple(place - n * each for place, each in zip(left, taken, strict=True)),
                    free - n,
                    idle,
                )
                for way, left, free, idle in here
                for n in _numbers(left, taken, free, filled)
            ]
            if len(here) > 4 * limit:
                return None
        found = [
            (way, left, idle + free)
            for way, left, free, idle in here
            if not (idle + free)
            or all(place <= behind * most for place, most in zip(left, reach, strict=True))
        ]
        if len(found) > limit:
            return None
    return [way for way, _, _ in found]


def _numbers(left: Sequence[int], taken: Sequence[int], free: int, filled: bool) -> range:
    """Returns how many of `free` blocks may change in one way; `filled`: only the most that may.

    `left`: the places left; `taken`: those that one block takes.
    """
    most = min(free, *(place // n for place, n in zip(left, taken, strict=True) if n))
    return range(most if filled else 0, most + 1)


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


def _any_blocks(behind: Sequence[tuple[LossMultiset, int]], most: int) -> LossMultiset:
    """Returns a pattern that dominates the losses of every choice of `most` blocks.

    `behind`: for each of all blocks in some order, with counts, a pattern that dominates its losses
    and those of all later ones (`Patterns.behind`): of the blocks chosen, the i-th is one of those
    that come i-th or later.
    """
    taken: list[LossMultiset] = []
    for pattern, many in behind:
        used = min(most, many)
        if not used:
            break
        taken.append(pattern.times(used))
        most -= used
    return from_above(together(taken))


def covering_all(losses: Sequence[UndominatedLosses]) -> LossMultiset:
    """Returns one pattern that dominates all patterns of several losses."""
    return covering([pattern for loss in losses for pattern in loss])


def _patterns_of_replaced(
    algebra: Patterns,
    once: Sequence[UndominatedLosses],
    both: Sequence[UndominatedLosses],
    sizes: Sequence[int],
    most: int,
) -> Sequence[LossMultiset]:
    """Returns the worst patterns of a replaced row, in at most `most` blocks before and after.

    `once`, `both`: see the module; `sizes`: the number of blocks in each class. If a block with
    both the old and the new row is at least as bad as two with one of them, the worst way has both
    in the `most` first blocks; if it is no worse than one with one of them, the worst way has one
    row in each of 2·`most` blocks.
    """
    order = _by_size(once)
    if all(covers(once[i], both[i]) for i in order):
        return _patterns_of_added(algebra, once, sizes, 2 * most)
    twice = [algebra.add([loss, loss]) for loss in once]
    steep = all(covers(both[i], twice[i]) for i in order)
    if steep and _is_ordered(once, order) and _is_ordered(both, order):
        return _compose_first(algebra, both, sizes, order, most)
    listed = _patterns_of_ways(
        algebra, [BlockUse(both, (2,)), BlockUse(once, (1,))], sizes, (2 * most,)
    )
    return (
        list(_patterns_by_intervals(algebra, once, both, sizes, most)) if listed is None else listed
    )


def _patterns_by_intervals(
    algebra: Patterns,
    once: Sequence[UndominatedLosses],
    both: Sequence[UndominatedLosses],
    sizes: Sequence[int],
    most: int,
) -> Iterator[LossMultiset]:
    """Yields patterns that dominate all ways of a replaced row, by the number of blocks with both
    rows.

    Parameters: see `_patterns_of_replaced`.
    """
    order = _by_size(both)
    doubles = algebra.behind([(both[i], sizes[i]) for i in order], most)
    singles = algebra.behind([(once[i], sizes[i]) for i in order], 2 * most)
    alike = all(is_one_loss(pattern) for pattern, _ in (*doubles, *singles))
    if alike and all(
        dominates(double, single.times(2))
        for (double, _), (single, _) in zip(doubles, singles, strict=False)
    ):
        # Two blocks changed once lose no more than the earlier of them changed twice.
        yield _any_blocks(doubles, most)
        return
    step = -(-(most + 1) // (MOST_INTERVALS if alike else FEW_INTERVALS))
    for fewest in range(0, most + 1, step):
        both_rows = _any_blocks(doubles, min(most, fewest + step - 1))
        one_row = _any_blocks(singles, 2 * (most - fewest))
        yield from_above(together([both_rows, one_row]))


def _either_way(left: UndominatedLosses, entered: UndominatedLosses) -> UndominatedLosses:
    """Returns a loss that dominates both that of leaving a block and that of entering it."""
    if len(left) == len(entered):
        return tuple(covering(pair) for pair in zip(left, entered, strict=True))
    return (covering([*left, *entered]),)


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
    sets = list(dict.fromkeys(map(frozenset, kinds)))
    width = max((len(fed) for fed in sets), default=1)
    many = len(sets) * (len(sets) + 1) // 2 * max(1, width) > 8 * MOST_WAYS
    directed = new is not None and len(sets) ** 2 > MOST_DIRECTED
    if (many or directed) and not all((*once, *both, *(new or ()))):
        return algebra.none
    if new is not None and directed:
        once, new = list(map(_either_way, once, new)), None
    entered = once if new is None else new
    if many:
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
