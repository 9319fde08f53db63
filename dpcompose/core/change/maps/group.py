"""Groups: one row for each value of a column."""

from __future__ import annotations

from dataclasses import dataclass

from dpcompose.core.change.effects import MapOutcome, one, per_key, single, spread, user_rows
from dpcompose.core.change.kind_form import Form
from dpcompose.core.change.maps.kind import Map, MapTraits
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import BOTH, ChangeUnit, Kind
from dpcompose.core.numbers.form_keys import FormKey, Sort


@dataclass(frozen=True, slots=True)
class Group(Map):
    """A map that makes one row for each value of the column `by` that occurs."""

    by: str

    def single_key(self) -> str | None:
        return self.by

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome]:
        """Returns what the row of the changed row's value of `by` may do: it comes, goes or is
        replaced."""
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
        return MapTraits(may_drop=True, determined=True, by_key=True)

    def describe(self) -> str:
        return f"a grouping by `{self.by}`"


FORM = Form(
    "group",
    Group,
    "One row for each value of a column.",
    (FormKey("by", Sort.COLUMN, "The column."),),
)
