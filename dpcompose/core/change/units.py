"""Changes of datasets as multisets of units, with the origin of each unit, in canonical form.

A change of a dataset is a multiset of units. A unit is one row added or removed (`SINGLE`), one row
replaced (`PAIR`, with an old and a new end), all rows of one privacy unit (`USER`), one step of a
graph relation, or something unknown (`ANY`). A path of neighbouring tables applies the units one by
one, and the losses of its steps combine as in group privacy.

Statements on ancestors need the history: which rows of the ancestor reach the dataset, with which
ends. So a unit of an ancestor that some statement speaks of is stored as a `TracedUnit` around the
units that it became; `ends` says from which end (side 0 or 1) of it each end of a unit comes.
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
    """The kinds of a unit of change."""

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
    """One unit of change.

    `ends`: for each end, the side of the enclosing item that it comes from (`BOTH`: any row of the
    item may have a part in it); of a pair the old end first. `kept`: the columns that a replacement
    is known to keep (of a displacing row: the limit's key). `size`: the number of rows of a user
    (None: unknown; also for one row computed from all of them), a distance (METRIC; None:
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
    """A unit, and the units that it became further down (none at the dataset itself)."""

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
    """Returns the state of these items: equal items counted together, in canonical order."""
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
    """Returns a unit of the dataset at hand as an item, with nothing below it."""
    return TracedUnit(leaf, ())


@lru_cache(maxsize=4096)  # few arguments repeat often, and sort keys are slow
def wrap(leaf: ChangeUnit, below: State) -> TracedUnit:
    """Returns the item of a unit with the units below it, its two sides numbered canonically."""
    if len(leaf.ends) == 2 and below:
        swapped = TracedUnit(leaf._replace(ends=leaf.ends[::-1]), _other_sides(below))
        return min(TracedUnit(leaf, below), swapped, key=_order)
    return TracedUnit(leaf, below)


_OTHER = (1, 0, BOTH)


def _other_sides(below: State) -> State:
    """Returns the units inside of an item with its sides 0 and 1 exchanged."""
    return state_of(
        (_retagged(item, tuple(_OTHER[tag] for tag in item.leaf.ends)), n) for item, n in below
    )


def _retagged(item: TracedUnit, ends: tuple[int, ...]) -> TracedUnit:
    return item._replace(leaf=item.leaf._replace(ends=ends))


def _mirrored(state: State) -> State:
    """Returns the change read backwards: what was removed is added."""
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
    """Returns the leaf with the tags of a unit that no item encloses."""
    return leaf._replace(ends=(0, 1) if len(leaf.ends) == 2 else (0,))


def sides(item: TracedUnit) -> int:
    """Returns how many ends of the unit reach the dataset at hand (1 or 2)."""
    return len(_reached(item))


def _reached(item: TracedUnit) -> set[int]:
    """Returns the sides of a unit from which something reaches the dataset at hand."""
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
    """Yields the units at the dataset at hand inside an item, with their counts."""
    if not item.below:
        yield item.leaf, 1
        return
    for inner, count in item.below:
        for leaf, times in leaves(inner):
            yield leaf, times * count


def all_leaves(state: State) -> Counter[ChangeUnit]:
    """Returns the units at the dataset at hand with their counts, whatever they come from."""
    found: Counter[ChangeUnit] = Counter()
    for item, count in state:
        for leaf, times in leaves(item):
            found[leaf] += times * count
    return found


def seen_through(leaf: ChangeUnit, ends: tuple[int, ...]) -> tuple[int, ...]:
    """Returns tags `ends` relative to a unit as tags relative to the item that encloses the
    unit."""
    outer = leaf.ends
    # What depends on all rows of a user does so further out as well.
    both = outer[0] if len(outer) == 2 and outer[0] == outer[1] else BOTH
    return tuple(both if tag == BOTH else outer[min(tag, len(outer) - 1)] for tag in ends)


def drop_level(state: State, depth: int) -> State:
    """Returns the state without the items at `depth` (0: outermost), replaced by what they hold."""
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
    """Returns the state with canonical tags on the outermost units, and in canonical direction.

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
    """Returns the change directed, with all outermost rows removed (`sign` 0) or added (1)."""
    return state_of(
        (item._replace(leaf=item.leaf._replace(directed=True, sign=sign)), n) for item, n in state
    )


def undirected(state: State) -> State:
    """Returns the change undirected: its loss is that of both orders of the tables."""
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
    """Yields the units one by one, in the order in which `assigned` visits them."""
    for item, count in state:
        for _ in range(count):
            if item.below:
                yield from occurrences(item.below)
            else:
                yield item.leaf


def only_rows(state: State) -> bool:
    """Returns whether all units, at every level, are single or replaced rows, none displacing
    another.

    Such units may be applied in any order.
    """
    return all(
        item.leaf.kind in (Kind.SINGLE, Kind.PAIR)
        and not item.leaf.displaced
        and only_rows(item.below)
        for item, _ in state
    )


def equal_rows(state: State) -> int | None:
    """Returns the number of added or removed rows, if the change is equal rows of one item, else
    None."""
    if len(state) != 1:
        return None
    item, count = state[0]
    if item.below:
        return equal_rows(item.below) if count == 1 else None
    return count if item.leaf.kind is Kind.SINGLE else None


def with_rows(state: State, rows: int) -> State:
    """Returns a change of equal rows (see `equal_rows`) with `rows` rows instead."""
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
    """Returns a change of rows alike (`rows_that_change_alike`) with `rows` rows, or users,
    instead."""
    item, count = state[0]
    if item.below and count == 1:
        return ((TracedUnit(item.leaf, with_alike(item.below, rows)), 1),)
    if item.leaf.kind is Kind.USER and count == 1:
        return ((item._replace(leaf=item.leaf._replace(size=rows)), 1),)
    return ((item, rows),)


def single_units(state: State) -> list[tuple[State, int]]:
    """Returns the single units of a change, each as a state of one unit, with counts."""
    return _counted(_single_units(state))


def _counted(units: Iterable[tuple[State, int]]) -> list[tuple[State, int]]:
    """Returns units by themselves, with counts; equal ones together."""
    merged: dict[State, int] = {}
    for unit, count in units:
        alone = top_level(unit)
        merged[alone] = merged.get(alone, 0) + count
    return list(merged.items())


def _single_units(state: State) -> Iterator[tuple[State, int]]:
    """Yields the single units of a change, each as a state, with counts; equal ones may come
    apart."""
    for item, count in state:
        if not item.below:
            yield ((item, 1),), count
            continue
        for inner, times in _single_units(item.below):
            yield state_of([(wrap(item.leaf, inner), 1)]), times * count


def outermost_units(state: State) -> list[tuple[State, int]]:
    """Returns the units at the outermost level that has several, each as a state, with counts."""
    if len(state) == 1 and state[0][1] == 1 and state[0][0].below:
        leaf, below = state[0][0]
        inner = outermost_units(below)
        return [(top_level(state_of([(wrap(leaf, each), 1)])), n) for each, n in inner]
    return _counted((((item, 1),), count) for item, count in state)
