"""How a change at a root moves along maps (theory, section 4).

A change of a dataset is a multiset of units. A unit is one row added or removed (`SINGLE`), one
row replaced (`PAIR`, with an old and a new end), all rows of one privacy unit (`USER`), one step of
a graph relation, or something unknown (`ANY`). A path of neighbouring tables applies the units one
by one, so every loss along it is a chain over units.

Statements on ancestors need the history: which rows of the ancestor reach the dataset, with which
ends. So a unit of an ancestor that some statement speaks of is kept as an `Item` around the units
that it became; `tags` say from which end (side 0 or 1) of the item each end of a unit comes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import NamedTuple, assert_never

from dpcompose.core.problem import (
    Cap,
    Edges,
    Filter,
    Flatten,
    Group,
    Limit,
    Map,
    Nodes,
    Opaque,
    RowMap,
    Stable,
    Value,
)


class Kind(StrEnum):
    """What one unit of change is."""

    SINGLE = "single"
    PAIR = "pair"
    USER = "user"
    EDGE = "edge"
    NODE = "node"
    NODE_REWIRED = "node-rewired"
    DECLARED = "declared"
    METRIC = "metric"
    ANY = "any"


class Leaf(NamedTuple):
    """One unit of change.

    `tags`: for each end, the side of the enclosing item that it comes from; of a pair the old end
    first. `kept`: the columns that a replacement is known to keep (of a displacing row: the
    limit's key). `size`: rows of a user (None: unknown), or a distance (METRIC; None: unbounded).
    `displaced`: an added row that pushes another out of a "first m" below, and so looks like a
    replacement there. `sign`: 0 for a removed row, 1 for an added one; only whether two singles
    have the same sign matters, since one removed and one added row make a replaced one.
    """

    kind: Kind
    tags: tuple[int, ...] = (0,)
    kept: tuple[str, ...] = ()
    size: int | Fraction | None = None
    displaced: bool = False
    sign: int = 0


class Item(NamedTuple):
    """A unit, and what has become of it further down (empty at the dataset itself)."""

    leaf: Leaf
    below: State


#: A change: items with how often each occurs, in a canonical order.
State = tuple[tuple[Item, int], ...]

SINGLE = Leaf(Kind.SINGLE)
PAIR = Leaf(Kind.PAIR, (0, 1))
ANY = Leaf(Kind.ANY)
OLD_END = Leaf(Kind.SINGLE, (0,))
NEW_END = Leaf(Kind.SINGLE, (1,), sign=1)


@dataclass(frozen=True, slots=True)
class Traits:
    """What is known of a dataset by its place in the tree.

    `unit`: the column of the privacy unit while rows still carry it. `rows_are_units`: one row for
    each unit. `edge_rows`: the rows are edges of a graph, whose largest degree is `degree`.
    `diameter`: of a value's space, None if unknown.
    """

    unit: str | None = None
    rows_are_units: bool = False
    edge_rows: bool = False
    degree: int | None = None
    diameter: Fraction | None = None


def traits_after(made_by: Map, traits: Traits) -> Traits:
    """The traits of a dataset made by a map from one with `traits`."""
    unit = traits.unit
    match made_by:
        case Filter() | Cap():
            return traits
        case RowMap(keeps) | Flatten(keeps=keeps):
            one_each = isinstance(made_by, RowMap)
            alive = unit if unit in keeps else None
            return Traits(alive, traits.rows_are_units and one_each and alive is not None)
        case Group(by):
            return Traits(unit, True) if by == unit and unit is not None else Traits()
        case Limit():
            return Traits(unit, traits.rows_are_units, traits.edge_rows, traits.degree)
        case Edges():
            return Traits(edge_rows=True, degree=traits.degree)
        case Value(diameter=diameter):
            return Traits(diameter=diameter)
        case Stable() | Nodes() | Opaque():
            return Traits()
        case _:
            assert_never(made_by)


# ---------------------------------------------------------------------------------------------
# States


def state_of(items: Iterable[tuple[Item, int]]) -> State:
    """The canonical form: equal items counted together, in a fixed order."""
    counted: Counter[Item] = Counter()
    for item, count in items:
        counted[item] += count
    if len(counted) == 1:
        return tuple(counted.items())
    return tuple(sorted(counted.items(), key=repr))


def leaf_item(leaf: Leaf) -> Item:
    """A unit at the dataset itself."""
    return Item(leaf, ())


def wrap(leaf: Leaf, below: State) -> Item:
    """An item around what reaches further down; how its two sides are numbered is free."""
    if len(leaf.tags) == 2 and below:
        swapped = Item(leaf._replace(tags=leaf.tags[::-1]), _other_sides(below))
        return min(Item(leaf, below), swapped, key=repr)
    return Item(leaf, below)


def _other_sides(below: State) -> State:
    """What an item holds, when its sides 0 and 1 change their numbers."""
    return state_of(
        (_retagged(item, tuple(1 - tag for tag in item.leaf.tags)), n) for item, n in below
    )


def _retagged(item: Item, tags: tuple[int, ...]) -> Item:
    return item._replace(leaf=item.leaf._replace(tags=tags))


def _mirrored(state: State) -> State:
    """The same change read backwards: what was removed is added."""
    items: list[tuple[Item, int]] = []
    for item, count in state:
        leaf = item.leaf
        if item.below:
            items.append((wrap(leaf, _mirrored(item.below)), count))
        elif leaf.kind is Kind.PAIR:
            items.append((leaf_item(leaf._replace(tags=leaf.tags[::-1])), count))
        else:
            items.append((leaf_item(leaf._replace(sign=1 - leaf.sign)), count))
    return state_of(items)


def outermost(leaf: Leaf) -> Leaf:
    """The leaf with the tags of a unit that no item encloses."""
    return leaf._replace(tags=(0, 1) if len(leaf.tags) == 2 else (0,))


def sides(item: Item) -> int:
    """How many ends of the unit reach the dataset at hand: 1 or 2."""
    return len(_reached(item))


def _reached(item: Item) -> set[int]:
    """The sides of a unit from which something reaches the dataset at hand."""
    if not item.below:
        return set(range(len(item.leaf.tags)))
    return {
        inner.leaf.tags[side] if side < len(inner.leaf.tags) else inner.leaf.tags[0]
        for inner, _ in item.below
        for side in _reached(inner)
    }


def leaves(item: Item) -> Iterator[tuple[Leaf, int]]:
    """The units at the dataset at hand inside an item, with how often each occurs."""
    if not item.below:
        yield item.leaf, 1
        return
    for inner, count in item.below:
        for leaf, times in leaves(inner):
            yield leaf, times * count


def all_leaves(state: State) -> Counter[Leaf]:
    """The units at the dataset at hand, whatever they come from."""
    found: Counter[Leaf] = Counter()
    for item, count in state:
        for leaf, times in leaves(item):
            found[leaf] += times * count
    return found


def drop_level(state: State, depth: int) -> State:
    """Forget the items at `depth` (0: outermost); what they hold moves up into their place."""
    if depth:
        return state_of(
            (wrap(item.leaf, drop_level(item.below, depth - 1)), count) for item, count in state
        )
    moved: list[tuple[Item, int]] = []
    for item, count in state:
        outer = item.leaf.tags
        for inner, times in item.below:
            tags = tuple(outer[tag if len(outer) == 2 else 0] for tag in inner.leaf.tags)
            moved.append((Item(inner.leaf._replace(tags=tags), inner.below), times * count))
    return state_of(moved)


def top_level(state: State) -> State:
    """The state with canonical tags on the units that nothing encloses."""
    plain = state_of((_untagged(item), count) for item, count in state)
    signs = {leaf.sign for leaf in all_leaves(plain) if leaf.kind is Kind.SINGLE}
    if signs != {1}:
        return plain
    mirrored = _mirrored(plain)
    return state_of((_untagged(item), count) for item, count in mirrored)


def _untagged(item: Item) -> Item:
    wrapped = wrap(item.leaf, item.below)
    return _retagged(wrapped, (0, 1) if len(wrapped.leaf.tags) == 2 else (0,))


# ---------------------------------------------------------------------------------------------
# What a unit may become along a map


class Fate(NamedTuple):
    """What one unit becomes: units with counts, tags relative to its own sides."""

    units: tuple[tuple[Leaf, int], ...]
    displaces: str | None = None


def _one(leaf: Leaf, count: int = 1) -> Fate:
    return Fate(((leaf, count),))


def _single(leaf: Leaf) -> Leaf:
    """A row removed or added, as `leaf` is."""
    return Leaf(Kind.SINGLE, sign=leaf.sign)


def _anything(leaf: Leaf) -> Fate:
    return _one(ANY._replace(tags=tuple(range(len(leaf.tags)))))


#: Above this many rows only the two extremes of a flattened replacement are listed.
MANY = 24


def _two_sided(rows: int, exact: bool) -> list[Fate] | None:
    """A replaced row of which each end gives at most `rows` rows; None if too many to list.

    With p rows out and q in, min(p, q) are replacements; only max(p, q) = `rows` matters.
    """
    if exact:
        return [_one(PAIR, rows)]
    if rows > MANY:
        return None
    return [
        Fate(tuple((leaf, n) for leaf, n in ((PAIR, rows - i), (SINGLE, i)) if n))
        for i in range(rows + 1)
    ]


def _per_key(leaf: Leaf, column: str, displaces: bool) -> list[Fate]:
    """A row change where every value of `column` contributes rows of its own.

    Each end touches one key: its row comes or goes, or a row of that key is replaced.
    """
    inside = Leaf(Kind.PAIR, (0, 0), (column,))
    if leaf.kind is Kind.SINGLE:
        return [_one(_single(leaf)), Fate(((inside, 1),), column if displaces else None)]
    if column in leaf.kept:
        return [_one(Leaf(Kind.PAIR, (0, 1), (column,)))]
    other = Leaf(Kind.PAIR, (1, 1), (column,))
    return [Fate(((inside, 1), (other, 1))), Fate(((inside, 1), (NEW_END, 1)))]


def _user_rows(leaf: Leaf, times: int = 1) -> Fate:
    """The rows of a user as single row changes, `times` for each."""
    if leaf.size is None:
        return _anything(leaf)
    return _one(SINGLE, int(leaf.size) * times)


def _spread(fate: Fate, count: int) -> list[Fate]:
    """`count` rows, each of which stays a single change or becomes one within its key."""
    if len(fate.units) != 1 or fate.units[0][0].kind is Kind.ANY:
        return [fate]
    rows = fate.units[0][1]
    if rows > MANY:
        return [_one(SINGLE, rows), _one(Leaf(Kind.PAIR, (0, 0)), rows)]
    inside = Leaf(Kind.PAIR, (0, 0))
    return [
        Fate(tuple((leaf, n) for leaf, n in ((SINGLE, rows - i), (inside, i)) if n))
        for i in range(0, rows + 1, count)
    ]


def fates(made_by: Map, leaf: Leaf, traits: Traits) -> list[Fate] | None:
    """Everything that one unit may become, without what something else in the list dominates.

    `traits` are those of the dataset that the map reads. None: too many to list; the caller then
    bounds the unit by its parts.
    """
    kind = leaf.kind
    if kind is Kind.ANY:
        if isinstance(made_by, Value):
            return [_one(Leaf(Kind.METRIC, tuple(range(len(leaf.tags))), (), made_by.diameter))]
        return [_anything(leaf)]
    match made_by:
        case Filter():
            if kind is Kind.PAIR:
                return [_one(Leaf(Kind.PAIR, (0, 1), leaf.kept)), _one(OLD_END), _one(NEW_END)]
            return [_one(leaf._replace(tags=(0,), displaced=False, kept=()))]
        case RowMap(keeps):
            if kind is Kind.PAIR:
                kept = tuple(column for column in leaf.kept if column in keeps)
                return [_one(Leaf(Kind.PAIR, (0, 1), kept))]
            if kind is Kind.USER:
                keeps_unit = traits.unit is not None and traits.unit in keeps
                return [_one(leaf) if keeps_unit else _user_rows(leaf)]
            return [_one(_single(leaf))]
        case Flatten(max_rows=rows, exact=exact, keeps=keeps):
            if kind is Kind.PAIR:
                return _two_sided(rows, exact)
            if kind is Kind.USER:
                if traits.unit is None or traits.unit not in keeps:
                    return [_user_rows(leaf, rows)]
                size = None if leaf.size is None else int(leaf.size) * rows
                return [_one(leaf._replace(size=size))]
            return [_one(_single(leaf), rows)]
        case Group(by):
            if kind is Kind.USER:
                if by == traits.unit:
                    return [_one(SINGLE)]
                return _spread(_user_rows(leaf), 1)
            return _per_key(leaf, by, displaces=False)
        case Limit(per, rows, keep):
            if kind is Kind.USER:
                if per == traits.unit:
                    return [_capped(leaf, rows)]
                return _spread(_user_rows(leaf), 1)
            return _per_key(leaf, per, displaces=keep == "first")
        case Cap(rows, keep):
            if kind is Kind.USER:
                return [_capped(leaf, rows)]
            return _per_key(leaf, traits.unit or "the privacy unit", displaces=keep == "first")
        case Stable(stability):
            if kind is Kind.PAIR:
                return [Fate(((SINGLE, stability), (Leaf(Kind.SINGLE, (1,)), stability)))]
            if kind is Kind.USER:
                return [_user_rows(leaf, stability)]
            return [_one(SINGLE, stability)]
        case Value():
            return [
                _one(Leaf(Kind.METRIC, tuple(range(len(leaf.tags))), (), _moves(made_by, leaf)))
            ]
        case Edges():
            return _edges(leaf, traits.degree)
        case Nodes():
            rows_changed = {Kind.EDGE: 2, Kind.NODE: 1, Kind.NODE_REWIRED: 1}[kind]
            if kind is not Kind.EDGE:
                if traits.degree is None:
                    return [_anything(leaf)]
                rows_changed += traits.degree * (1 if kind is Kind.NODE else 2)
            return [_one(Leaf(Kind.PAIR, (0, 0)), rows_changed)]
        case Opaque():
            return [_anything(leaf)]
        case _:
            assert_never(made_by)


def _capped(leaf: Leaf, rows: int) -> Fate:
    size = rows if leaf.size is None else min(int(leaf.size), rows)
    return _one(leaf._replace(size=size))


def _edges(leaf: Leaf, degree: int | None) -> list[Fate] | None:
    if leaf.kind is Kind.EDGE:
        return [_one(SINGLE)]
    if degree is None:
        return [_anything(leaf)]
    if leaf.kind is Kind.NODE:
        return [_one(SINGLE, degree)]
    # A rewired vertex has one side; old and new edges both come from it.
    listed = _two_sided(degree, exact=False)
    if listed is None:
        return None
    inside = Leaf(Kind.PAIR, (0, 0))
    return [
        Fate(tuple((inside if unit.kind is Kind.PAIR else unit, n) for unit, n in fate.units))
        for fate in listed
    ]


def extremes(made_by: Map, leaf: Leaf, traits: Traits) -> list[tuple[Leaf, int]]:
    """Units whose losses bound a fate that is too long to list: (unit, how many at most)."""
    rows = made_by.max_rows if isinstance(made_by, Flatten) else (traits.degree or 0)
    if leaf.kind is Kind.PAIR:
        return [(PAIR, rows), (SINGLE, rows)]
    return [(Leaf(Kind.PAIR, (0, 0)), rows), (SINGLE, rows)]


def _moves(value: Value, leaf: Leaf) -> Fraction | None:
    """How far the value moves for one unit; None if nothing bounds it but the diameter."""
    moved: Fraction | None
    if leaf.kind is Kind.PAIR:
        ways = [value.bounded] if value.bounded is not None else []
        if value.unbounded is not None:
            ways.append(2 * value.unbounded)
        moved = min(ways) if ways else None
    elif leaf.kind is Kind.USER and leaf.size is None:
        moved = None
    else:
        moved = value.unbounded
        if leaf.kind is Kind.USER and moved is not None:
            moved *= int(leaf.size or 0)
    if value.diameter is None:
        return moved
    return value.diameter if moved is None else min(moved, value.diameter)


# ---------------------------------------------------------------------------------------------
# Moving whole states

#: A joint choice of fates is listed only while there are at most this many.
LIMIT = 4000


def moved(state: State, made_by: Map, traits: Traits, push: bool) -> list[State] | None:
    """Every state that a map may turn `state` into; None if there are too many to list.

    `push`: statements below speak of the dataset that the map reads, so its units stay as items.
    """
    signs = {leaf.sign for leaf in all_leaves(state) if leaf.kind is Kind.SINGLE}
    how = _Along(made_by, traits, push, len(signs) > 1)
    listed = _moved(state, how)
    return None if listed is None else list({top_level(each): None for each in listed})


class _Along(NamedTuple):
    """A map that a state moves along.

    `mixed`: rows are removed and added, so that a row that vanishes may make things worse, since
    it is then not there to be joined with another to a replaced row.
    """

    made_by: Map
    traits: Traits
    push: bool
    mixed: bool


def _moved(state: State, how: _Along) -> list[State] | None:
    options: list[list[tuple[tuple[Item, int], ...]]] = []
    total = 1
    for item, count in state:
        ways = _item_moved(item, how)
        if ways is None:
            return None
        if len(ways) == 1:
            options.append([tuple((inner, n * count) for inner, n in ways[0])])
            continue
        size = 1
        for i in range(count):
            size = size * (len(ways) + i) // (i + 1)
            if size * total > LIMIT:
                return None
        total *= size
        options.append(
            [
                tuple(pair for way in chosen for pair in way)
                for chosen in combinations_with_replacement(ways, count)
            ]
        )
    joint: list[tuple[tuple[Item, int], ...]] = [()]
    for choices in options:
        joint = [before + choice for before in joint for choice in choices]
    return list({state_of(each): None for each in joint})


def _item_moved(item: Item, how: _Along) -> list[tuple[tuple[Item, int], ...]] | None:
    if item.below:
        inner = _moved(item.below, how)
        if inner is None:
            return None
        return [((wrap(item.leaf, each), 1),) if each else () for each in inner]
    listed = fates(how.made_by, item.leaf, how.traits)
    if listed is None:
        return None
    if how.mixed and item.leaf.kind is Kind.SINGLE and isinstance(how.made_by, _MAY_DROP):
        listed = [*listed, Fate(())]
    ways: list[tuple[tuple[Item, int], ...]] = []
    for fate in listed:
        if how.push:
            leaf = item.leaf
            if fate.displaces is not None:
                leaf = leaf._replace(displaced=True, kept=(fate.displaces,))
            below = state_of((leaf_item(unit), n) for unit, n in fate.units)
            ways.append(((wrap(leaf, below), 1),) if below else ())
        else:
            ways.append(tuple((leaf_item(_retag(unit, item.leaf)), n) for unit, n in fate.units))
    return ways


#: Maps in which a row may leave no trace.
_MAY_DROP = (Filter, Flatten, Group, Limit, Cap)


def _retag(unit: Leaf, parent: Leaf) -> Leaf:
    """The unit with tags relative to what encloses its parent."""
    outer = parent.tags
    return unit._replace(tags=tuple(outer[tag if len(outer) == 2 else 0] for tag in unit.tags))


def one_below(state: State, push: bool, become: Callable[[Leaf], Leaf | None]) -> State:
    """The state one dataset further down, where every unit becomes one unit or vanishes.

    `become` gives it with tags relative to the sides of the unit that it is given.
    """
    return top_level(_one_below(state, push, become))


def _one_below(state: State, push: bool, become: Callable[[Leaf], Leaf | None]) -> State:
    items: list[tuple[Item, int]] = []
    for item, count in state:
        if item.below:
            inner = _one_below(item.below, push, become)
            if inner:
                items.append((wrap(item.leaf, inner), count))
        else:
            leaf = become(item.leaf)
            if leaf is not None:
                items.append((_placed(item.leaf, leaf, push), count))
    return state_of(items)


def assigned(state: State, given: Iterator[Leaf | None], push: bool) -> State:
    """The state one dataset further down, where each unit in turn becomes the next of `given`."""
    return top_level(_assigned(state, given, push))


def _assigned(state: State, given: Iterator[Leaf | None], push: bool) -> State:
    items: list[tuple[Item, int]] = []
    for item, count in state:
        for _ in range(count):
            if item.below:
                inner = _assigned(item.below, given, push)
                if inner:
                    items.append((wrap(item.leaf, inner), 1))
                continue
            leaf = next(given)
            if leaf is not None:
                items.append((_placed(item.leaf, leaf, push), 1))
    return state_of(items)


def _placed(parent: Leaf, leaf: Leaf, push: bool) -> Item:
    if push:
        return wrap(parent, ((leaf_item(leaf), 1),))
    return leaf_item(_retag(leaf, parent))


def occurrences(state: State) -> Iterator[Leaf]:
    """The units one by one, in the order in which `assigned` meets them."""
    for item, count in state:
        for _ in range(count):
            if item.below:
                yield from occurrences(item.below)
            else:
                yield item.leaf


def single_units(state: State) -> list[tuple[State, int]]:
    """The state taken apart into units that can be followed one at a time, with counts."""
    merged: dict[State, int] = {}
    for unit, count in _single_units(state):
        alone = top_level(unit)
        merged[alone] = merged.get(alone, 0) + count
    return list(merged.items())


def _single_units(state: State) -> Iterator[tuple[State, int]]:
    for item, count in state:
        if not item.below:
            yield ((item, 1),), count
            continue
        for inner, times in _single_units(item.below):
            yield state_of([(wrap(item.leaf, inner), 1)]), times * count
