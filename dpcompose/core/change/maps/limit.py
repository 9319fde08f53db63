"""Limits: at most a given number of rows for each value of a column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpcompose.core.change.effects import MapOutcome, capped, per_key, spread, user_rows
from dpcompose.core.change.kind_form import Declared, Refusal
from dpcompose.core.change.maps.chosen_rows import (
    KEEP,
    ORDER,
    Keep,
    check_order,
    chosen,
    declared,
    which,
)
from dpcompose.core.change.maps.kind import Above, MapForm, MapTraits, Readers, Together
from dpcompose.core.change.row_facts import Shape, Traits
from dpcompose.core.change.units import ChangeUnit, Kind
from dpcompose.core.mechanisms.family import FormKey, Sort
from dpcompose.curves.rounding import plural


@dataclass(frozen=True, slots=True)
class RowLimit(Together):
    """At most `rows` rows for each value of the column `per`."""

    per: str
    rows: int
    keep: Keep

    def single_key(self) -> str | None:
        """Returns the column if only the first row of each value is kept, else None."""
        return self.per if self.rows == 1 and self.keep == "first" else None

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome]:
        """Returns the outcomes within the row's value: a row comes, goes or displaces another."""
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

    def conduct(self) -> MapTraits:
        """Returns the traits of a map under which rows of one value displace each other."""
        return chosen("limit", self.rows, self.keep)

    def refused(self, above: Above) -> Iterator[Refusal]:
        """Yields nothing: the map is valid on every table."""
        yield from ()

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        """Yields what the author declares: how many rows of each value are kept, and which."""
        rows, how = plural(self.rows, "row"), declared(self.rows, self.keep)
        yield f"`{name}` keeps at most {rows} for each `{self.per}`, {how}", ("rows",)

    def describe(self) -> str:
        """Returns `` a limit to the first 3 rows for each `day` ``."""
        return f"a limit to {which(self.keep)} {plural(self.rows, 'row')} for each `{self.per}`"


def _limit_from_keys(per: str, rows: int, keep: Keep, order: str | None) -> RowLimit:
    """Returns the limit that the keys of a map declare; `Contradiction` if random rows have an
    order."""
    check_order(keep, order)
    return RowLimit(per, rows, keep)


FORM = MapForm(
    "limit",
    RowLimit,
    "At most `rows` rows for each value of a column.",
    Shape.TABLE,
    (
        FormKey("per", Sort.COLUMN, "The column."),
        FormKey("rows", Sort.WHOLE, "The most rows for one value."),
        KEEP,
        ORDER,
    ),
    _limit_from_keys,
)
