"""Changes of datasets as multisets of units, with the origin of each unit, in canonical form.

A change (`State`) is the difference of two tables, as a multiset of units. A unit is one row added
or removed (`SINGLE`), one row replaced (`PAIR`, with an old and a new end), all rows of one privacy
unit (`USER`), one step of a graph relation, or something unknown (`ANY`). A path of neighbouring
tables applies the units one by one, and the losses of its steps combine as in group privacy.

Guarantees stated on ancestors need the history: which rows of the ancestor reach the dataset, with
which ends. So a unit of an ancestor that some guarantee is about is stored as a `TracedUnit` around
the units that it became; `ends` says from which end (side 0 or 1) of it each end of a unit comes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from dpcompose.curves import rank


class Kind(StrEnum):
    """The kinds of a unit of change: a row (`SINGLE`, `PAIR`), all rows of a user, an edge, a
    vertex, …"""

    SINGLE = "single"
    PAIR = "pair"
    USER = "user"
    EDGE = "edge"
    NODE = "node"
    NODE_REWIRED = "node-rewired"
    DECLARED = "declared"
    METRIC = "metric"
    ANY = "any"


class ChangeUnit(NamedTuple):
    """One unit of the difference of two neighbouring tables: a row added, removed or replaced, a
    user, ….

    `ends`: the tags of its ends, the old one first (a replaced row has two, its old and its new
    row): for each the side, 0 or 1, of the enclosing unit of an ancestor (`TracedUnit`) that it
    comes from, or `BOTH` where any row of that may have a part in it. `kept`: the columns that a
    replacement is known to keep (of a displacing row: the limit's key). `size`: the number of rows
    of a user (None: unknown; also for one row computed from all of them), a distance (METRIC; None:
    unbounded), or the public size of the table (ANY). `displaced`: an added row that displaces
    another in a map below that keeps the first m rows, where it looks like a replacement. `sign`: 0
    for a removed row, 1 for an added one; only whether two singles have the same sign matters,
    since one removed and one added row make a replaced one. `directed`: the loss is that of the
    table before against the one after, with the sign as given; else the loss is that of both orders
    of the tables. Either all single rows of a change, and all rows of units, are directed or none
    is.
    """

    kind: Kind
    ends: tuple[int, ...] = (0,)
    kept: tuple[str, ...] = ()
    size: int | Fraction | None = None
    displaced: bool = False
    sign: int = 0
    directed: bool = False


class TracedUnit(NamedTuple):
    """An item of a change: a unit of an ancestor, and the units that it became further down.

    A unit of the dataset at hand has none further down.
    """

    leaf: ChangeUnit
    below: State


#: A change: items with their counts, in a canonical order.
State = tuple[tuple[TracedUnit, int], ...]

#: The tag of an end that depends on all rows of the enclosing item.
BOTH = 2

SINGLE = ChangeUnit(Kind.SINGLE)
PAIR = ChangeUnit(Kind.PAIR, (0, 1))
ANY = ChangeUnit(Kind.ANY)
OLD_END = ChangeUnit(Kind.SINGLE, (0,))
NEW_END = ChangeUnit(Kind.SINGLE, (1,), sign=1)


def state_of(items: Iterable[tuple[TracedUnit, int]]) -> State:
    """Returns the change made of these items with counts: equal ones counted together, in canonical
    order."""
    counted: Counter[TracedUnit] = Counter()
    for item, count in items:
        counted[item] += count
    if len(counted) == 1:
        return tuple(counted.items())
    return tuple(sorted(counted.items(), key=lambda each: (_order(each[0]), each[1])))


@lru_cache(maxsize=1 << 14)
def _order(item: TracedUnit) -> tuple[object, ...]:
    return rank(item)


def leaf_item(leaf: ChangeUnit) -> TracedUnit:
    """Returns a unit of the dataset at hand as an item of a change, without history."""
    return TracedUnit(leaf, ())


@lru_cache(maxsize=4096)  # few arguments repeat often, and sort keys are slow
def wrap(leaf: ChangeUnit, below: State) -> TracedUnit:
    """Returns a unit of an ancestor, with the units that it became (`below`), in canonical form.

    Of the two ways to number the sides of a replaced row the first in order is taken.
    """
    if len(leaf.ends) == 2 and below:
        swapped = TracedUnit(leaf._replace(ends=leaf.ends[::-1]), _other_sides(below))
        return min(TracedUnit(leaf, below), swapped, key=_order)
    return TracedUnit(leaf, below)


_OTHER = (1, 0, BOTH)


def _other_sides(below: State) -> State:
    """Returns what a unit became, `below`, with the sides 0 and 1 of the unit exchanged."""
    return state_of(
        (_retagged(item, tuple(_OTHER[tag] for tag in item.leaf.ends)), n) for item, n in below
    )


def _retagged(item: TracedUnit, ends: tuple[int, ...]) -> TracedUnit:
    return item._replace(leaf=item.leaf._replace(ends=ends))


def _mirrored(state: State) -> State:
    """Returns the change from the second table to the first: what was removed is added."""
    items: list[tuple[TracedUnit, int]] = []
    for item, count in state:
        leaf = item.leaf
        if item.below:
            items.append((wrap(leaf, _mirrored(item.below)), count))
        elif leaf.kind is Kind.PAIR:
            items.append((leaf_item(leaf._replace(ends=leaf.ends[::-1])), count))
        else:
            items.append((leaf_item(leaf._replace(sign=1 - leaf.sign)), count))
    return state_of(items)


def outermost(leaf: ChangeUnit) -> ChangeUnit:
    """Returns the unit with the tags of one that no other unit encloses."""
    return leaf._replace(ends=(0, 1) if len(leaf.ends) == 2 else (0,))


def sides(item: TracedUnit) -> int:
    """Returns how many ends of the unit of an ancestor reach the dataset at hand (1 or 2)."""
    return len(_reached(item))


def _reached(item: TracedUnit) -> set[int]:
    """Returns the ends (0, 1) of a unit of an ancestor from which something reaches the dataset at
    hand."""
    every = set(range(len(item.leaf.ends)))
    if not item.below:
        return every
    found = {
        tag
        for inner, _ in item.below
        for side in _reached(inner)
        for tag in (inner.leaf.ends[min(side, len(inner.leaf.ends) - 1)],)
    }
    return every if BOTH in found else found


def leaves(item: TracedUnit) -> Iterator[tuple[ChangeUnit, int]]:
    """Yields the units of the dataset at hand that an item holds, with their counts."""
    if not item.below:
        yield item.leaf, 1
        return
    for inner, count in item.below:
        for leaf, times in leaves(inner):
            yield leaf, times * count


def all_leaves(state: State) -> Counter[ChangeUnit]:
    """Returns the units of change of the dataset at hand with their counts, whatever they come
    from."""
    found: Counter[ChangeUnit] = Counter()
    for item, count in state:
        for leaf, times in leaves(item):
            found[leaf] += times * count
    return found


def seen_through(leaf: ChangeUnit, ends: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the tags `ends`, which name sides of the unit `leaf`, as tags that name sides of what
    encloses it."""
    outer = leaf.ends
    # What depends on all rows of a user does so further out as well.
    both = outer[0] if len(outer) == 2 and outer[0] == outer[1] else BOTH
    return tuple(both if tag == BOTH else outer[min(tag, len(outer) - 1)] for tag in ends)


def drop_level(state: State, depth: int) -> State:
    """Returns the change without the units of the ancestor at level `depth` (0: outermost).

    They are replaced by what they became.
    """
    if depth:
        return state_of(
            (wrap(item.leaf, drop_level(item.below, depth - 1)), count) for item, count in state
        )
    moved: list[tuple[TracedUnit, int]] = []
    for item, count in state:
        for inner, times in item.below:
            ends = seen_through(item.leaf, inner.leaf.ends)
            moved.append((TracedUnit(inner.leaf._replace(ends=ends), inner.below), times * count))
    return state_of(moved)


def top_level(state: State) -> State:
    """Returns the change in canonical form: tags and direction.

    An undirected change whose single rows are all added is read backwards; a change that is
    directed in part becomes undirected.
    """
    plain = state_of((_untagged(item), count) for item, count in state)
    found = all_leaves(plain)
    oneway = {leaf.directed for leaf in found if leaf.kind in (Kind.SINGLE, Kind.USER)}
    if True in oneway:
        return plain if oneway == {True} else undirected(plain)
    if {leaf.sign for leaf in found if leaf.kind is Kind.SINGLE} != {1}:
        return plain
    mirrored = _mirrored(plain)
    return state_of((_untagged(item), count) for item, count in mirrored)


def directed(state: State, sign: int = 0) -> State:
    """Returns the change as one from the first table to the second: all outermost rows are removed,
    or added.

    `sign`: 0 for removed, 1 for added.
    """
    return state_of(
        (item._replace(leaf=item.leaf._replace(directed=True, sign=sign)), n) for item, n in state
    )


def undirected(state: State) -> State:
    """Returns the change as one whose loss is that of both orders of the tables."""
    return top_level(_undirected(state))


def _undirected(state: State) -> State:
    """Returns the change with all units undirected, at every level of history."""
    return state_of(
        (wrap(item.leaf._replace(directed=False), _undirected(item.below)), count)
        for item, count in state
    )


def _untagged(item: TracedUnit) -> TracedUnit:
    wrapped = wrap(item.leaf, item.below)
    return _retagged(wrapped, (0, 1) if len(wrapped.leaf.ends) == 2 else (0,))


def occurrences(state: State) -> Iterator[ChangeUnit]:
    """Yields the units of the dataset at hand one by one, in the order in which `assigned` visits
    them."""
    for item, count in state:
        for _ in range(count):
            if item.below:
                yield from occurrences(item.below)
            else:
                yield item.leaf


@lru_cache(maxsize=4096)  # many mechanisms meet one change
def only_rows(state: State) -> bool:
    """Returns whether all units, also those of ancestors, are single or replaced rows, none
    displacing another.

    Such units may be applied in any order.
    """
    return all(
        item.leaf.kind in (Kind.SINGLE, Kind.PAIR)
        and not item.leaf.displaced
        and only_rows(item.below)
        for item, _ in state
    )


def equal_rows(state: State) -> int | None:
    """Returns the number of rows, if the change is that of equal rows all added or all removed,
    else None.

    With history, they must have come from one unit of each ancestor.
    """
    if len(state) != 1:
        return None
    item, count = state[0]
    if item.below:
        return equal_rows(item.below) if count == 1 else None
    return count if item.leaf.kind is Kind.SINGLE else None


def with_rows(state: State, rows: int) -> State:
    """Returns the change with `rows` equal rows in place of its own (see `equal_rows`)."""
    item, _ = state[0]
    if item.below:
        return ((TracedUnit(item.leaf, with_rows(item.below, rows)), 1),)
    return ((item, rows),)


def rows_that_change_alike(state: State) -> int | None:
    """Returns the number of changed rows if all change in the same way, or of users if several do.

    In the same way: all replaced, all in one of the tables alone, or all of one user. None for
    other changes.
    """
    if len(state) != 1:
        return None
    item, count = state[0]
    if item.below:
        inner = rows_that_change_alike(item.below)
        return None if inner is None or (inner > 1 and count > 1) else inner * count
    if item.leaf.kind is Kind.USER:
        size = item.leaf.size
        return None if size is None else int(size) if count == 1 else count
    return count if item.leaf.kind in (Kind.SINGLE, Kind.PAIR) else None


def with_alike(state: State, rows: int) -> State:
    """Returns the change with `rows` rows, or users, in place of its own (see
    `rows_that_change_alike`)."""
    item, count = state[0]
    if item.below and count == 1:
        return ((TracedUnit(item.leaf, with_alike(item.below, rows)), 1),)
    if item.leaf.kind is Kind.USER and count == 1:
        return ((item._replace(leaf=item.leaf._replace(size=rows)), 1),)
    return ((item, rows),)


def single_units(state: State) -> list[tuple[State, int]]:
    """Returns the single units of a change of the dataset at hand, each as a change by itself, with
    counts."""
    return _counted(_single_units(state))


def _counted(units: Iterable[tuple[State, int]]) -> list[tuple[State, int]]:
    """Returns changes of one unit in canonical form, with counts; equal ones together."""
    merged: dict[State, int] = {}
    for unit, count in units:
        alone = top_level(unit)
        merged[alone] = merged.get(alone, 0) + count
    return list(merged.items())


def _single_units(state: State) -> Iterator[tuple[State, int]]:
    """Yields the single units of a change, each as a change by itself, with counts; equal ones may
    come apart."""
    for item, count in state:
        if not item.below:
            yield ((item, 1),), count
            continue
        for inner, times in _single_units(item.below):
            yield state_of([(wrap(item.leaf, inner), 1)]), times * count


def outermost_units(state: State) -> list[tuple[State, int]]:
    """Returns the units at the outermost level that has several, each as a change by itself, with
    counts."""
    if len(state) == 1 and state[0][1] == 1 and state[0][0].below:
        leaf, below = state[0][0]
        inner = outermost_units(below)
        return [(top_level(state_of([(wrap(leaf, each), 1)])), n) for each, n in inner]
    return _counted((((item, 1),), count) for item, count in state)
