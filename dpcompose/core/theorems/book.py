"""The book: theorems that compute a bound or are cited, with look-ups by role and by subject.

Entries that are there for readers alone are data of the handbook.
"""

from __future__ import annotations

from functools import cache

from dpcompose.core import mechanisms  # noqa: F401  (each file enters its theorems)
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import ENTERED, Role, Subject, Theorem, Use
from dpcompose.core.theorems import (  # noqa: F401
    above,
    at_delta,
    composition,
    composition_approx,
    composition_gdp,
    composition_profile,
    composition_zcdp,
    concurrent,
    conversion,
    disjoint,
    filtering,
    group_privacy,
    hypotheses_mixed,
    joint_values,
    kept_columns,
    post_processing,
    sampling,
    stability,
    two_hypotheses,
)

_SECTIONS = ("I", "II", "III", "IV", "V", "VI", "VII")
#: For the appendix: the last number of each group of results, and the (section, number) before it.
_APPENDIX = ((3, (3, 8)), (8, (4, 15)), (10, (5, 6)), (13, (6, 8)), (15, (6, 16)), (18, (6, 26)))

#: The results on adversaries, in the order of HBW22.
_ADVERSARIES = ("1", "mixture", "3", "6", "7", "coupling", "A3", "likelihoods")


def _position(identifier: str) -> tuple[int, int, int]:
    """Returns the sort key of an id: its place in the paper, then others, adversaries last."""
    section, _, number = identifier.partition(".")
    if section in _SECTIONS:
        return (_SECTIONS.index(section) + 1, int(number), 0)
    if section == "A":
        after = next(place for last, place in _APPENDIX if int(number) <= last)
        return (*after, int(number))
    if section == "HBW":
        return (len(_SECTIONS) + 2, _ADVERSARIES.index(number), 0)
    return (len(_SECTIONS) + 1, 0, 0)


def _order(entry: Theorem) -> tuple[tuple[int, int, int], str]:
    """Returns the sort key of an entry: its place in the paper, then its module."""
    return _position(entry.id), entry.module


#: Every theorem that computes or selects by id, in the order of the paper.
BOOK: dict[str, Theorem] = {each.id: each for each in sorted(ENTERED.values(), key=_order)}

_RANK = {role: rank for rank, role in enumerate(Role)}


@cache
def uses_on(subject: Subject) -> tuple[tuple[Theorem, Use], ...]:
    """Returns every use on a kind of subject with its theorem, the most special first.

    Uses are ordered by role; within a role a theorem comes before those that it is a case of.
    """
    found = [(entry, use) for entry in BOOK.values() for use in entry.uses if use.on == subject]
    return tuple(sorted(found, key=lambda each: (_RANK[each[1].role], -_depth(each[0]))))


def _depth(entry: Theorem) -> int:
    """Returns the length of the longest chain of more general theorems above an entry."""
    return 1 + max((_depth(BOOK[other]) for other in entry.specialises), default=-1)


@cache
def in_role(role: Role, notion: Notion | None = None, adaptive: bool = True) -> Theorem:
    """Returns the first entry with a role, for a notion and adaptive or independent mechanisms.

    Raises LookupError if there is none.
    """
    for entry in BOOK.values():
        of_kind = entry.notion in (None, notion) and entry.adaptive in (None, adaptive)
        if of_kind and any(use.role is role for use in entry.uses):
            return entry
    raise LookupError(f"no theorem for {role.value}")


@cache
def behind(route: str) -> Theorem | None:
    """Returns the theorem behind a route to an ε at a chosen δ; None if no single one is."""
    return next((entry for entry in BOOK.values() if route in entry.routes), None)


def general(notion: Notion, adaptive: bool) -> Theorem:
    """Returns the general composition theorem of a notion."""
    return in_role(Role.GENERAL, notion, adaptive)
