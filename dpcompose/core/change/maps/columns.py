"""Selections of columns: of each row some columns, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpcompose.core.change.effects import MapOutcome
from dpcompose.core.change.kind_form import Declared
from dpcompose.core.change.maps.kind import (
    Gives,
    MapForm,
    MapTraits,
    Readers,
    RowByRow,
    row_by_row,
)
from dpcompose.core.change.maps.row import RowMap
from dpcompose.core.change.row_facts import Shape, Traits
from dpcompose.core.change.units import ChangeUnit
from dpcompose.core.mechanisms.family import FormKey, Sort
from dpcompose.curves.rounding import listing


@dataclass(frozen=True, slots=True)
class Columns(RowByRow):
    """The columns `only` of each row: the row map that uses and keeps just these."""

    only: frozenset[str]

    @property
    def _as_row_map(self) -> RowMap:
        return RowMap(self.only, self.only)

    def keeps_column(self, column: str) -> bool:
        """Whether a column is kept: those that it selects."""
        return column in self.only

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome]:
        """Returns what one unit becomes: nothing where these columns are kept; else a row with
        fewer of them."""
        return self._as_row_map.becomes(leaf, traits)

    def traits_after(self, traits: Traits) -> Traits:
        """Returns the traits of the output table: rows that have these columns and no other."""
        after = self._as_row_map.traits_after(traits)
        made = after.columns is not None and not self.only <= after.columns
        return after._replace(others=made)

    def conduct(self) -> MapTraits:
        """Returns the traits of the map: each row gives one row."""
        return row_by_row(Gives.ONE, may_drop=False, drops=False)

    def rows_needed(self, below: int) -> int:
        """Returns how many rows the table must have: as many."""
        return below

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        """Yields what the author declares: that there is nothing else."""
        yield f"of each row `{name}` has {listing(sorted(self.only))} and nothing else", ("only",)

    def describe(self) -> str:
        """`` the columns `state` and `race` ``."""
        named = listing(sorted(self.only))
        return f"the column{'s' if len(self.only) > 1 else ''} {named}"


FORM = MapForm(
    "columns",
    Columns,
    "Selects columns: a row map that uses and keeps just these.",
    Shape.TABLE,
    (FormKey("only", Sort.COLUMNS, "The columns that rows still have; all others are dropped."),),
    Columns,
    (("keeps", "the columns that it keeps are those of `only`"),),
)
