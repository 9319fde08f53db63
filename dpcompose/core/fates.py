"""What one unit of change may become along a map (theory, section 4)."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple, assert_never

from dpcompose.core.change import (
    ANY,
    BOTH,
    NEW_END,
    OLD_END,
    PAIR,
    SINGLE,
    Kind,
    Leaf,
)
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
    Sample,
    Stable,
    Value,
)
from dpcompose.core.traits import Traits


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
        # Both ends act on the same rows, one after the other.
        return [_one(Leaf(Kind.PAIR, (BOTH, BOTH), (column,)))]
    other = Leaf(Kind.PAIR, (1, 1), (column,))
    return [
        Fate(((before, 1), (after, 1)))
        for before in (inside, OLD_END)
        for after in (other, NEW_END)
    ]


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
        case Filter() | Sample():
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
                    return [_one(Leaf(Kind.SINGLE, (BOTH,), (), leaf.size))]
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
