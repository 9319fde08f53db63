"""The parts of a change that a random sample may contain, with their chances.

A unit of change here is a row that is in one of the two tables only, or all rows of a user whose
number is known; each end of a replaced row is such a row. A Poisson sample draws each row
independently; a sample without replacement gives the chance of each number of drawn rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product

from dpcompose.core.change.units import (
    NEW_END,
    OLD_END,
    Kind,
    State,
    TracedUnit,
    all_leaves,
    leaf_item,
    rows_that_change_alike,
    state_of,
    with_alike,
    wrap,
)
from dpcompose.curves.rounding import ONE, ZERO, chances, distinct_numbers

#: The most parts of a change, and the most ways of dividing it between the two tables.
MOST_PARTS, MOST_WAYS = 120, 60
#: Numbers of equal drawn rows are exact up to `_EACH` and rounded up to few numbers above; without
#: replacement, more than `_MOST_COUNTED` rows are taken as all drawn.
_EACH, _MOST_COUNTED = 8, 1_000

#: Parts of a change with chances that sum to 1; the empty part: no changed row is drawn.
DrawnRows = Sequence[tuple[State, Fraction]]
#: Items with their counts.
_Some = tuple[tuple[TracedUnit, int], ...]


def draws_of(state: State, rate: Fraction) -> DrawnRows | None:
    """Returns the parts of a change that a Poisson sample of this rate may hold, each with its
    chance.

    None if there are too many, or if a number of rows is not known. A part may be replaced by a
    larger one that contains it.
    """
    rows, units = rows_that_change_alike(state), all_leaves(state)
    if rows is not None and (units.total() == 1 or not any(u.kind is Kind.USER for u in units)):
        numbers = distinct_numbers(rows, rate, True)
        parts = [(), *(with_alike(state, n) for n in numbers)]
        return tuple(zip(parts, chances(rows, rate, numbers), strict=True))
    found: list[tuple[_Some, Fraction]] = [((), ONE)]
    for item, count in state:
        ways = _parts_of_equal(item, count, rate)
        if ways is None or len(found) * len(ways) > MOST_PARTS:
            return None
        found = [(some + more, v * w) for (some, v), (more, w) in product(found, ways)]
    merged: dict[State, Fraction] = {}
    for some, chance in found:
        part = state_of(some)
        merged[part] = merged.get(part, ZERO) + chance
    return tuple(merged.items())


def _parts_of_equal(
    item: TracedUnit, count: int, rate: Fraction
) -> list[tuple[_Some, Fraction]] | None:
    """Returns the parts of `count` equal items that a sample may hold, with chances; None if too
    many."""
    one = _parts_of_one(item, rate)
    if one is None:
        return None
    if math.comb(count + len(one) - 1, count) > MOST_PARTS:
        # Bound: an item is drawn as a whole or not at all.
        some = sum((chance for each, chance in one if each), ZERO)
        one = [(None, 1 - some), (item, some)]
    found: list[tuple[_Some, Fraction]] = []
    (nothing, _), (whole, rate) = one[0], one[-1]
    if len(one) == 2 and nothing is None and whole is not None:
        for n, chance in how_many(count, rate):
            found.append((((whole, n),) if n else (), chance))
        return found
    for chosen in combinations_with_replacement(one, count):
        times = Counter(each for each, _ in chosen)
        orders = math.factorial(count)
        for n in times.values():
            orders //= math.factorial(n)
        chance = orders * math.prod((w for _, w in chosen), start=ONE)
        found.append((tuple((each, n) for each, n in times.items() if each), chance))
    return found


def _parts_of_one(
    item: TracedUnit, rate: Fraction
) -> list[tuple[TracedUnit | None, Fraction]] | None:
    """Returns the parts of one item that a sample may hold, with chances, the empty part (None)
    first.

    Returns None for a user with an unknown number of rows, of which some are drawn with any chance.
    """
    found: list[tuple[TracedUnit | None, Fraction]]
    leaf = item.leaf
    if item.below:
        inner = draws_of(item.below, rate)
        if inner is None:
            return None
        found = [(wrap(leaf, part) if part else None, chance) for part, chance in inner]
    elif leaf.kind is Kind.USER:
        if leaf.size is None:
            return None
        rows = how_many(int(leaf.size), rate)
        found = [(leaf_item(leaf._replace(size=n)) if n else None, w) for n, w in rows]
    else:
        found = [(None, 1 - rate), (item, rate)]
    return found


def how_many(rows: int, rate: Fraction) -> list[tuple[int, Fraction]]:
    """Returns how many of `rows` rows a Poisson sample holds: numbers with chances.

    `rate`: the chance of one row. Some numbers are rounded up to larger ones.
    """
    ends = _ends(rows)
    return list(zip(ends, chances(rows, rate, ends[1:]), strict=True))


def how_many_of(rows: int, size: int, of: int) -> list[tuple[int, Fraction]]:
    """Returns how many of `rows` rows a sample without replacement holds: numbers with chances.

    The sample is of `size` of `of` rows, or of a larger table: then fewer of the rows are drawn,
    since each row drawn, one after the other, is one of them with a smaller chance.
    """
    most = min(rows, size)
    if rows >= of or most > _MOST_COUNTED:
        return [(0, ZERO), (most, ONE)]
    ways = [math.comb(rows, n) * math.comb(of - rows, size - n) for n in range(most + 1)]
    ends, whole = _ends(most), math.comb(of, size)
    starts = [0, *(end + 1 for end in ends)]
    return [
        (end, Fraction(sum(ways[start : end + 1]), whole))
        for start, end in zip(starts, ends, strict=False)
    ]


def _ends(most: int) -> list[int]:
    """Returns the numbers of rows, from 0 to `most`, that are told apart: all small ones, and some
    of the others.

    A number between two of them is counted as the next larger one.
    """
    ends = list(range(min(most, _EACH) + 1))
    while ends[-1] < most:
        ends.append(min(most, 2 * ends[-1]))
    return ends


def any_drawn(rows: int, rate: Fraction) -> Fraction:
    """Returns the chance that a Poisson sample holds at least one of `rows` rows; rounded up for
    many rows."""
    return 1 - how_many(rows, rate)[0][1]


def shared_out(state: State) -> list[tuple[State, State]] | None:
    """Returns all ways of dividing the changed rows between the two tables, as pairs of changes.

    The rows of a user are all in one table; a replaced row has one end in each. None if there are
    too many ways.
    """
    found: list[tuple[_Some, _Some]] = [((), ())]
    for item, count in state:
        ways = _ways_of(item, count)
        if ways is None or len(found) * len(ways) > MOST_WAYS:
            return None
        found = [(a + c, b + d) for (a, b), (c, d) in product(found, ways)]
    made = ((state_of(some), state_of(rest)) for some, rest in found)
    return list(dict.fromkeys(made))


def _ways_of(item: TracedUnit, count: int) -> list[tuple[_Some, _Some]] | None:
    """Returns the ways of giving each of `count` copies of `item` to one of the two tables, as
    pairs (what the first gets, what the second gets); None if there are more than `MOST_WAYS`."""
    once: list[tuple[TracedUnit | None, TracedUnit | None]]
    leaf = item.leaf
    if item.below:
        inner = shared_out(item.below)
        if inner is None:
            return None
        once = [
            (wrap(leaf, some) if some else None, wrap(leaf, rest) if rest else None)
            for some, rest in inner
        ]
    elif leaf.kind is Kind.PAIR:
        old, new = OLD_END._replace(ends=leaf.ends[:1]), NEW_END._replace(ends=leaf.ends[1:])
        once = [(leaf_item(old), leaf_item(new)), (leaf_item(new), leaf_item(old))]
    else:
        once = [(item, None), (None, item)]
    if math.comb(count + len(once) - 1, len(once) - 1) > MOST_WAYS:
        return None
    chosen = combinations_with_replacement(once, count)
    return [(_counted(a for a, _ in way), _counted(b for _, b in way)) for way in chosen]


def _counted(items: Iterator[TracedUnit | None]) -> _Some:
    return tuple(Counter(each for each in items if each is not None).items())
