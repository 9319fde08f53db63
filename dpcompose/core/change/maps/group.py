"""Groups: one row for each value of a column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpcompose.core.change.effects import MapOutcome, one, per_key, single, spread, user_rows
from dpcompose.core.change.kind_form import Declared, Refusal
from dpcompose.core.change.maps.kind import Above, MapForm, MapTraits, Readers, Together, together
from dpcompose.core.change.row_facts import Shape, Traits
from dpcompose.core.change.units import BOTH, ChangeUnit, Kind
from dpcompose.core.mechanisms.family import FormKey, Sort


@dataclass(frozen=True, slots=True)
class Group(Together):
    """One row for each value of the column `by` that occurs."""

    by: str

    def single_key(self) -> str | None:
        """Returns the column `by`."""
        return self.by

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome]:
        """Returns the outcomes for the row of the value: it comes, goes or is replaced."""
        if leaf.kind is Kind.USER:
            if self.by == traits.unit:
                return [one(single(leaf)._replace(ends=(BOTH,), size=leaf.size))]
            return spread(user_rows(leaf))
        alone = traits.rows_are_units and self.by == traits.unit
        return per_key(leaf, self.by, False, alone)

    def traits_after(self, traits: Traits) -> Traits:
        """Returns the traits of one row for each value, without an order or a public number."""
        by_unit = traits.unit is not None and self.by == traits.unit
        columns, others = traits.columns_of_new((self.by,))
        return Traits(
            unit=traits.unit if by_unit else None,
            rows_are_units=by_unit,
            most=traits.most,
            columns=columns,
            others=others,
        )

    def conduct(self) -> MapTraits:
        """Returns the traits of a map that makes one row of all rows of one value."""
        return together(may_drop=True, random=None, determined=True)

    def refused(self, above: Above) -> Iterator[Refusal]:
        """Yields nothing: the map is valid on every table."""
        yield from ()

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        """Yields nothing: nothing is declared."""
        yield from ()

    def describe(self) -> str:
        """Returns `` a grouping by `id` ``."""
        return f"a grouping by `{self.by}`"


FORM = MapForm(
    "group",
    Group,
    "One row for each value of a column.",
    Shape.TABLE,
    (FormKey("by", Sort.COLUMN, "The column."),),
    Group,
)
