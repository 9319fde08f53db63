"""The theorem book. Importing this package enters every theorem, in the order of the paper."""

from __future__ import annotations

from dpcompose.core import mechanisms as _mechanisms  # noqa: F401  (their entries)
from dpcompose.core.theorem import BOOK
from dpcompose.core.theorems import (
    at_delta,
    composition,
    composition_approx,
    composition_gdp,
    composition_profile,
    composition_zcdp,
    conversion,
    disjoint,
    hypotheses,
    hypotheses_mixed,
    sampling,
    stability,
)

__all__ = [
    "at_delta",
    "composition",
    "composition_approx",
    "composition_gdp",
    "composition_profile",
    "composition_zcdp",
    "conversion",
    "disjoint",
    "hypotheses",
    "hypotheses_mixed",
    "sampling",
    "stability",
]

_SECTIONS = ("I", "II", "III", "IV", "V", "VI", "VII")
#: Results of the appendix up to each number, and the (section, number) that they come after.
_APPENDIX = ((3, (3, 8)), (8, (4, 15)), (10, (5, 6)), (13, (6, 8)), (15, (6, 16)), (18, (6, 26)))


def _position(identifier: str) -> tuple[int, int, int]:
    """Where an entry stands in the paper; what is not from it comes after, adversaries last."""
    section, _, number = identifier.partition(".")
    if section in _SECTIONS:
        return (_SECTIONS.index(section) + 1, int(number), 0)
    if section == "A":
        after = next(place for last, place in _APPENDIX if int(number) <= last)
        return (*after, int(number))
    return (len(_SECTIONS) + (2 if section == "HBW" else 1), 0, 0)


def _sort() -> None:
    entries = sorted(BOOK.items(), key=lambda entry: _position(entry[0]))
    BOOK.clear()
    BOOK.update(entries)


_sort()
