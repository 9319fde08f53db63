"""What one unit of change becomes along a map: the outcomes that all kinds share (theory, section
4)."""

from __future__ import annotations

from typing import NamedTuple

from dpcompose.core.change.units import ANY, BOTH, NEW_END, OLD_END, PAIR, SINGLE, ChangeUnit, Kind


class MapOutcome(NamedTuple):
    """One possible outcome of a map for one unit of change: the units that it becomes, with counts.

    Their tags name its ends. `displaces`: the column within whose values an added row displaces
    another, else None.
    """

    units: tuple[tuple[ChangeUnit, int], ...]
    displaces: str | None = None


class TooMany(NamedTuple):
    """A bound on what a map may make of one changed unit, where its outcomes are too many to list.

    Each outcome loses no more than one of `units` does along a path of as many steps as its count.
    """

    units: tuple[tuple[ChangeUnit, int], ...]


#: Of more rows than this only the extreme outcomes are given.
MANY = 24


def one(leaf: ChangeUnit, count: int = 1) -> MapOutcome:
    """Returns the outcome that the unit becomes `count` units equal to `leaf`."""
    return MapOutcome(((leaf, count),))


def same(leaf: ChangeUnit) -> MapOutcome:
    """Returns the outcome that the unit of change stays as it is, displacing no other row."""
    if leaf.kind is Kind.PAIR:
        return one(ChangeUnit(Kind.PAIR, (0, 1), leaf.kept))
    return one(leaf._replace(ends=(0,), displaced=False, kept=()))


def single(leaf: ChangeUnit) -> ChangeUnit:
    """Returns the change of one row, added or removed as the unit `leaf` is, with its direction."""
    return ChangeUnit(Kind.SINGLE, sign=leaf.sign, directed=leaf.directed)


def agrees(leaf: ChangeUnit, columns: frozenset[str] | None) -> bool:
    """Returns whether the old and the new row of a replacement agree in `columns`; False if unknown
    (None)."""
    return columns is not None and columns.issubset(leaf.kept)


def anything(leaf: ChangeUnit) -> MapOutcome:
    """Returns the outcome that a unit becomes an arbitrary change (`ANY`)."""
    return one(ANY._replace(ends=all_tags(leaf)))


def all_tags(leaf: ChangeUnit) -> tuple[int, ...]:
    """Returns the tags (`ends`) of a unit that depends on every end of `leaf`: (0,), or (0, 1) for
    two ends."""
    return tuple(range(len(leaf.ends)))


def two_sided(rows: int, pair: ChangeUnit = PAIR) -> list[MapOutcome] | TooMany:
    """Returns the outcomes of a replaced row, if the old and the new one give at most `rows` rows
    each.

    With p rows removed and q added, min(p, q) are replacements (`pair`); only max(p, q) = `rows`
    matters.
    """
    if rows > MANY:
        return TooMany(((pair, rows), (SINGLE, rows)))
    return _either(pair, SINGLE, rows)


def _either(one: ChangeUnit, other: ChangeUnit, rows: int) -> list[MapOutcome]:
    """Returns the outcomes that are `rows` units, each of which is `one` or `other`."""
    return [
        MapOutcome(tuple((leaf, n) for leaf, n in ((one, rows - i), (other, i)) if n))
        for i in range(rows + 1)
    ]


def per_key(
    leaf: ChangeUnit, column: str, displaces: bool, alone: bool = False, one_end: bool = False
) -> list[MapOutcome]:
    """Returns the outcomes of a row that changes, along a map that uses the rows of each key by
    themselves.

    The key of a row is its value in `column`. Each end of the change affects one key: its row comes
    or goes, or a row of that key is replaced. `displaces`: an added row may displace one of its
    key. `alone`: each key has at most one row, before and after (of several units, removed rows go
    first and added ones come last). `one_end`: only the first row of each key stays, and any row
    may be added. Of two rows with one key the later one is hidden by the other, so that one row
    added, or one removed, has the effect of one replaced.
    """
    if alone and leaf.kind is Kind.SINGLE:
        return [one(single(leaf))]
    if alone and column in leaf.kept:
        return [one(ChangeUnit(Kind.PAIR, (0, 1), (column,)))]
    inside = ChangeUnit(Kind.PAIR, (0, 0), (column,))
    if leaf.kind is Kind.SINGLE:
        return [one(single(leaf)), MapOutcome(((inside, 1),), column if displaces else None)]
    if column in leaf.kept:
        # Both ends act on the same rows, one after the other.
        return [one(inside if one_end else ChangeUnit(Kind.PAIR, (BOTH, BOTH), (column,)))]
    other = ChangeUnit(Kind.PAIR, (1, 1), (column,))
    return [
        MapOutcome(((before, 1), (after, 1)))
        for before in (inside, OLD_END)
        for after in (other, NEW_END)
    ]


def user_rows(leaf: ChangeUnit, times: int = 1) -> MapOutcome:
    """Returns the outcome that each row of a user becomes `times` single rows; `ANY` if their
    number is unknown."""
    if leaf.size is None:
        return anything(leaf)
    return one(single(leaf), int(leaf.size) * times)


def spread(fate: MapOutcome) -> list[MapOutcome]:
    """Returns the outcomes in which each single row of `fate` is one, or instead replaces a row of
    its key.

    If there are too many, two outcomes that cover them: all single, or all replaced.
    """
    if len(fate.units) != 1 or fate.units[0][0].kind is Kind.ANY:
        return [fate]
    rows = fate.units[0][1]
    inside = ChangeUnit(Kind.PAIR, (0, 0))
    if rows > MANY:
        return [one(SINGLE, rows), one(inside, rows)]
    return _either(SINGLE, inside, rows)


def capped(leaf: ChangeUnit, rows: int) -> MapOutcome:
    """Returns the outcome that all rows of a user become at most `rows` rows of that user."""
    size = rows if leaf.size is None else min(int(leaf.size), rows)
    return one(leaf._replace(size=size))


def with_unit(leaf: ChangeUnit, rows: int) -> MapOutcome:
    """Returns the outcome that each row of a user becomes at most `rows` rows of that user."""
    size = None if leaf.size is None else int(leaf.size) * rows
    return one(leaf._replace(size=size))
