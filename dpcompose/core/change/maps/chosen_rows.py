"""What limits and caps have in common: they keep some rows, the first or random ones."""

from __future__ import annotations

from typing import Literal

from dpcompose.core.change.kind_form import Contradiction, Refusal
from dpcompose.core.change.maps.kind import MapTraits, RowSelection, together
from dpcompose.core.mechanisms.family import FormKey, Sort

Keep = Literal["first", "random"]

KEEP = FormKey(
    "keep",
    Sort.CHOICE,
    "`first` in one fixed order of the rows, or a fresh uniform `random` choice.",
    choices=("first", "random"),
)
ORDER = FormKey(
    "order",
    Sort.NAME,
    "With `keep: first`: what orders the rows (fixed, and not by other rows).",
    None,
)


def check_order(keep: Keep, order: str | None) -> None:
    """Raises `Contradiction` if random rows are given an order."""
    if order is not None and keep == "random":
        says = "`order` and `keep: random` exclude each other"
        hint = "remove `order`, or write `keep: first`"
        raise Contradiction(Refusal("DPC105", ("order",), says, hint))


def chosen(what: str, rows: int, keep: Keep) -> MapTraits:
    """Returns the `conduct` of a map that keeps `rows` of the rows that compete for places."""
    if keep == "first":
        return together(may_drop=True, random=None, determined=True, picks=RowSelection.FIRST)
    picks = RowSelection.ONE if rows == 1 else RowSelection.RANDOM
    return together(may_drop=True, random=f"random {what}", determined=False, picks=picks)


def which(keep: Keep) -> str:
    """Returns `the first` or `a random`, to stand before a number of rows."""
    return "the first" if keep == "first" else "a random"


def declared(rows: int, keep: Keep) -> str:
    """Returns how rows are chosen, in words, for what the author declares."""
    if keep == "first":
        return "the first in an order that is fixed"
    # The theorem `random-limit` needs that nobody learns which one was drawn.
    return "drawn afresh; which one stays secret" if rows == 1 else "drawn afresh"
