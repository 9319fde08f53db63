"""Filters: the rows that pass a predicate on the row alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpcompose.core.change.effects import MapOutcome, agrees, one, same
from dpcompose.core.change.kind_form import Declared, Form
from dpcompose.core.change.maps.kind import (
    DROPS,
    Gives,
    MapTraits,
    Readers,
    RowByRow,
    columns_named,
    declared_uses,
    uses,
)
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import NEW_END, OLD_END, ChangeUnit, Kind


@dataclass(frozen=True, slots=True)
class Filter(RowByRow):
    """A map that keeps the rows that pass a predicate on the row alone.

    `uses`: the only columns on which the predicate depends; None: not declared. `drops`: it is
    declared that some possible row does not pass.
    """

    drops: bool = False
    uses: frozenset[str] | None = None

    def keeps_column(self, column: str) -> bool:
        """Returns True: rows stay unchanged."""
        return True

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome]:
        """Returns the same unit of change; of a replaced row both ends may pass, or one of them.

        Both if it agrees in the columns that the predicate uses.
        """
        if leaf.kind is Kind.PAIR and not agrees(leaf, self.uses):
            return [same(leaf), one(OLD_END), one(NEW_END)]
        return [same(leaf)]

    def traits_after(self, traits: Traits) -> Traits:
        """Returns the same traits without the number of rows."""
        return traits._replace(fixed=False, size=None, nulls=False)

    def conduct(self) -> MapTraits:
        return MapTraits(may_drop=True, determined=True, gives=Gives.ONE, drops=self.drops)

    def rows_needed(self, below: int) -> int:
        """Returns 0: rows that do not pass need not be there."""
        return 0

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        yield f"the filter `{name}` looks at each row by itself", ()
        yield from declared_uses(f"which rows pass the filter `{name}`", self.uses)

    def describe(self) -> str:
        return "a filter" if self.uses is None else f"a filter by {columns_named(self.uses)}"


FORM = Form(
    "filter",
    Filter,
    "Keeps the rows that pass a predicate on the row alone.",
    (DROPS, uses("whether a row passes")),
)
