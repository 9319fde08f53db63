"""The book: theorems that compute a bound or are cited, with look-ups by role and by subject.

What readers are told of them beside, and entries for readers alone, are data of the handbook.
"""

from __future__ import annotations

from functools import cache

from dpcompose.core import mechanisms  # noqa: F401  (each file enters its theorems)
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import ENTERED, Role, Subject, Theorem, Use
from dpcompose.core.theorems import (  # noqa: F401
    composition,
    conversion,
    filtering,
    one_mechanism,
    sampling,
    two_hypotheses,
)

#: Every theorem that computes or is cited, by id.
BOOK = ENTERED

_RANK = {role: rank for rank, role in enumerate(Role)}


@cache
def uses_on(subject: Subject) -> tuple[tuple[Theorem, Use], ...]:
    """Returns every use of a theorem on a kind of subject, with the theorem, the most special
    first.

    Uses are ordered by role; within a role a theorem comes before those that it is a case of.
    """
    found = [(entry, use) for entry in BOOK.values() for use in entry.uses if use.on == subject]
    return tuple(sorted(found, key=lambda each: (_RANK[each[1].role], -_depth(each[0]))))


def _depth(entry: Theorem) -> int:
    """Returns the length of the longest chain of more general theorems above a theorem."""
    return 1 + max((_depth(BOOK[other]) for other in entry.specialises), default=-1)


@cache
def in_role(role: Role, notion: Notion | None = None, adaptive: bool = True) -> Theorem:
    """Returns the first theorem with a role, for a notion and for adaptive or independent
    mechanisms.

    Raises LookupError if there is none.
    """
    for entry in BOOK.values():
        of_kind = entry.notion in (None, notion) and entry.adaptive in (None, adaptive)
        if of_kind and any(use.role is role for use in entry.uses):
            return entry
    raise LookupError(f"no theorem for {role.value}")


@cache
def behind(route: str) -> Theorem | None:
    """Returns the theorem behind a route to an ε at a chosen δ; None if no single theorem is."""
    return next((entry for entry in BOOK.values() if route in entry.routes), None)
