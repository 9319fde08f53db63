"""Selections of columns: each row reduced to some of its columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpcompose.core.change.effects import MapOutcome
from dpcompose.core.change.kind_form import Declared, Form
from dpcompose.core.change.maps.kind import Readers, RowByRow
from dpcompose.core.change.maps.row import RowMap
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import ChangeUnit
from dpcompose.core.numbers.form_keys import FormKey, Sort
from dpcompose.curves.rounding import listing


@dataclass(frozen=True, slots=True)
class Columns(RowByRow):
    """A map that keeps only the columns `only` of each row."""

    only: frozenset[str]

    @property
    def _as_row_map(self) -> RowMap:
        return RowMap(self.only, self.only)

    def keeps_column(self, column: str) -> bool:
        return column in self.only

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome]:
        """Returns the same unit of change; no unit if a replaced row keeps all columns `only`."""
        return self._as_row_map.becomes(leaf, traits)

    def traits_after(self, traits: Traits) -> Traits:
        """Returns the traits of rows that have only these columns."""
        after = self._as_row_map.traits_after(traits)
        made = after.columns is not None and not self.only <= after.columns
        return after._replace(others=made)

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        yield f"of each row `{name}` has {listing(sorted(self.only))} and nothing else", ("only",)

    def describe(self) -> str:
        named = listing(sorted(self.only))
        return f"the column{'s' if len(self.only) > 1 else ''} {named}"


FORM = Form(
    "columns",
    Columns,
    "Selects columns: a row map that uses and keeps just these.",
    (FormKey("only", Sort.COLUMNS, "The columns that rows still have; all others are dropped."),),
    elsewhere=(("keeps", "the columns that it keeps are those of `only`"),),
)
