"""What limits and caps have in common: they keep some rows, the first or random ones."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

from dpcompose.core.change.kind_form import Contradiction
from dpcompose.core.change.maps.kind import Map, MapTraits, RowSelection
from dpcompose.core.numbers.form_keys import FormKey, Sort
from dpcompose.curves.rounding import plural

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


class ChosenRows(Map):
    """A map that keeps at most `rows` of the rows that compete for places, the first or random ones
    (`keep`).

    `what`: the name of the map in words. `order`: what orders the rows, None if not given; maps of
    different orders keep different rows.
    """

    __slots__ = ()
    what: ClassVar[str]
    rows: int
    keep: Keep
    order: str | None

    @classmethod
    def from_keys(cls, *values: Any) -> Self:
        """Returns the map that the keys declare; `Contradiction` if random rows are given an
        order."""
        made = cls(*values)
        if made.order is not None and made.keep == "random":
            says = "`order` and `keep: random` exclude each other"
            raise Contradiction("DPC105", "order", says, "remove `order`, or write `keep: first`")
        return made

    def conduct(self) -> MapTraits:
        if self.keep == "first":
            return MapTraits(True, True, picks=RowSelection.FIRST, by_key=True)
        picks = RowSelection.ONE if self.rows == 1 else RowSelection.RANDOM
        return MapTraits(True, False, random=f"random {self.what}", picks=picks)

    @property
    def which(self) -> str:
        """Returns `the first 3 rows`, or `a random 3 rows`."""
        return f"{'the first' if self.keep == 'first' else 'a random'} {plural(self.rows, 'row')}"

    def declaration(self, of: str) -> str:
        """Returns the declaration of how many rows are kept `of` what competes (in words), and
        which."""
        how = "the first in an order that is fixed"
        if self.keep == "random":
            # The theorem `random-limit` needs that nobody learns which one was drawn.
            how = "drawn afresh" + ("; which one stays secret" if self.rows == 1 else "")
        return f"keeps at most {plural(self.rows, 'row')} {of}, {how}"
