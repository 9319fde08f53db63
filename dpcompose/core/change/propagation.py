"""What changes of several units become: along a map, and in one block of a partition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import NamedTuple

from dpcompose.core.change.effects import MapOutcome, TooMany
from dpcompose.core.change.maps.kind import Map, fates
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import (
    BOTH,
    ChangeUnit,
    Kind,
    State,
    TracedUnit,
    all_leaves,
    leaf_item,
    seen_through,
    state_of,
    top_level,
    wrap,
)

#: Joint outcomes of several units are listed if there are at most this many,
LIMIT = 500
#: and of at most this many units; larger changes are bounded by a path of single units.
UNITS = 8


@lru_cache(maxsize=4096)  # repeats along equal maps, and for each notion
def propagate(
    state: State, made_by: Map, traits: Traits, trace_here: bool, limit: int = LIMIT
) -> tuple[State, ...] | None:
    """Returns every change of the dataset below that a map may make of the change `state` above.

    `traits`: those of the dataset that the map reads. `trace_here`: guarantees below are stated on
    it, so that its units stay in the result as history. None if there are more than `limit`
    changes.
    """
    signs = {leaf.sign for leaf in all_leaves(state) if leaf.kind is Kind.SINGLE}
    how = _Along(made_by, traits, trace_here, len(signs) > 1, limit)
    listed = _propagate_units(state, how)
    if listed is not None and len(listed) > 1 and all_leaves(state).total() > UNITS:
        return None
    return None if listed is None else tuple(dict.fromkeys(map(top_level, listed)))


class _Along(NamedTuple):
    """The arguments of `propagate` apart from the state.

    `mixed`: rows are removed and added. A row that vanishes may then be worse, since it cannot be
    paired with another one to a replaced row.
    """

    made_by: Map
    traits: Traits
    trace_here: bool
    mixed: bool
    limit: int


def _propagate_units(state: State, how: _Along) -> list[State] | None:
    """Returns every change that `state` may become below a map; None if there are more than the
    limit."""
    options: list[list[tuple[tuple[TracedUnit, int], ...]]] = []
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
            if size * total > how.limit:
                return None
        total *= size
        options.append(
            [
                tuple(pair for way in chosen for pair in way)
                for chosen in combinations_with_replacement(ways, count)
            ]
        )
    joint: list[tuple[tuple[TracedUnit, int], ...]] = [()]
    for choices in options:
        joint = [before + choice for before in joint for choice in choices]
    return list({state_of(each): None for each in joint})


def _item_moved(item: TracedUnit, how: _Along) -> list[tuple[tuple[TracedUnit, int], ...]] | None:
    """Returns every list of items, with counts, that a map may make of one item; None if they are
    too many."""
    if item.below:
        inner = _propagate_units(item.below, how)
        if inner is None:
            return None
        return [((wrap(item.leaf, each), 1),) if each else () for each in inner]
    listed = fates(how.made_by, item.leaf, how.traits)
    if isinstance(listed, TooMany):
        return None
    if how.mixed and item.leaf.kind is Kind.SINGLE and how.made_by.conduct().may_drop:
        listed = [*listed, MapOutcome(())]
    ways: list[tuple[tuple[TracedUnit, int], ...]] = []
    for fate in listed:
        if how.trace_here:
            leaf = item.leaf
            if fate.displaces is not None:
                leaf = leaf._replace(displaced=True, kept=(fate.displaces,))
            below = state_of((leaf_item(unit), n) for unit, n in fate.units)
            ways.append(((wrap(leaf, below), 1),) if below else ())
        else:
            ways.append(tuple((leaf_item(_retag(unit, item.leaf)), n) for unit, n in fate.units))
    return ways


def _retag(unit: ChangeUnit, parent: ChangeUnit) -> ChangeUnit:
    """Returns a unit with tags that name the sides of `parent`, from which it came, as one without
    `parent`.

    Its tags then name the sides of what encloses `parent`.
    """
    ends = seen_through(parent, unit.ends)
    if BOTH in ends and unit.size is None and parent.kind in (Kind.SINGLE, Kind.PAIR):
        return unit._replace(ends=ends, size=parent.size)
    return unit._replace(ends=ends)


def one_below(
    state: State, trace_here: bool, become: Callable[[ChangeUnit], ChangeUnit | None]
) -> State:
    """Returns the change of the next dataset further down, where every unit becomes one unit or
    vanishes.

    `become` returns the new unit, with tags that name the ends of the given one; None if it
    vanishes. `trace_here`: the units of this dataset stay in the result as history.
    """
    return top_level(_one_below(state, trace_here, become, False))


def assigned(state: State, given: Iterator[ChangeUnit | None], trace_here: bool) -> State:
    """Returns the change of the next dataset further down, where each unit in turn becomes the next
    of `given`.

    None in `given`: the unit vanishes. `trace_here`: see `one_below`.
    """
    return top_level(_one_below(state, trace_here, lambda _: next(given), True))


def _one_below(
    state: State,
    trace_here: bool,
    become: Callable[[ChangeUnit], ChangeUnit | None],
    one_by_one: bool,
) -> State:
    """Returns the change of the dataset further down by applying `become` to each unit of `state`,
    equal units not yet joined.

    `one_by_one`: `become` is asked for each of several equal units, else once for all.
    """
    items: list[tuple[TracedUnit, int]] = []
    for item, count in state:
        times, each = (count, 1) if one_by_one else (1, count)
        for _ in range(times):
            if item.below:
                inner = _one_below(item.below, trace_here, become, one_by_one)
                if inner:
                    items.append((wrap(item.leaf, inner), each))
            elif (leaf := become(item.leaf)) is not None:
                items.append((_placed(item.leaf, leaf, trace_here), each))
    return state_of(items)


def _placed(parent: ChangeUnit, leaf: ChangeUnit, trace_here: bool) -> TracedUnit:
    """Returns the unit `leaf`, which `parent` became, as an item of a change; with `parent` as its
    history if `trace_here`."""
    if trace_here:
        return wrap(parent, ((leaf_item(leaf), 1),))
    return leaf_item(_retag(leaf, parent))


def become(unit: ChangeUnit) -> Callable[[ChangeUnit], ChangeUnit]:
    """Returns the function that turns every unit into `unit`, as `one_below` takes it."""
    return lambda _: unit


def as_it_is(leaf: ChangeUnit) -> ChangeUnit:
    """Returns the unit unchanged, with tags that name its own ends, as `one_below` takes it."""
    return leaf._replace(ends=tuple(range(len(leaf.ends))), displaced=False)
