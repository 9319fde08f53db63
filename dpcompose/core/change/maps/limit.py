"""Limits: at most a given number of rows for each value of a column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from dpcompose.core.change.effects import MapOutcome, capped, per_key, spread, user_rows
from dpcompose.core.change.kind_form import Declared, Form
from dpcompose.core.change.maps.chosen_rows import KEEP, ORDER, ChosenRows, Keep
from dpcompose.core.change.maps.kind import Readers
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import ChangeUnit, Kind
from dpcompose.core.numbers.form_keys import FormKey, Sort


@dataclass(frozen=True, slots=True)
class RowLimit(ChosenRows):
    """A map that keeps at most `rows` rows for each value of the column `per`."""

    per: str
    rows: int
    keep: Keep
    order: str | None = None
    what: ClassVar[str] = "limit"

    def single_key(self) -> str | None:
        """Returns the column if only the first row of each value is kept, else None."""
        return self.per if self.rows == 1 and self.keep == "first" else None

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome]:
        """Returns what a changed row may do among the rows of its value: come, go or displace
        another."""
        if leaf.kind is Kind.USER:
            if self.per == traits.unit:
                return [capped(leaf, self.rows)]
            return spread(user_rows(leaf))
        alone = traits.rows_are_units and self.per == traits.unit
        first = self.keep == "first"
        return per_key(leaf, self.per, first, alone, first and self.rows == 1 and traits.free)

    def traits_after(self, traits: Traits) -> Traits:
        """Returns the traits of rows of the same units, without an order or a public number."""
        return Traits(
            unit=traits.unit,
            rows_are_units=traits.rows_are_units,
            most=traits.most,
            columns=traits.columns,
            others=traits.others,
        )

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        yield f"`{name}` {self.declaration(f'for each `{self.per}`')}", ("rows",)

    def describe(self) -> str:
        return f"a limit to {self.which} for each `{self.per}`"


FORM = Form(
    "limit",
    RowLimit,
    "At most `rows` rows for each value of a column.",
    (
        FormKey("per", Sort.COLUMN, "The column."),
        FormKey("rows", Sort.WHOLE, "The most rows for one value."),
        KEEP,
        ORDER,
    ),
    RowLimit.from_keys,
)
