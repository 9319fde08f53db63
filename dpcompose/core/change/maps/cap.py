"""Caps: at most a given number of rows of each privacy unit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from dpcompose.core.change.effects import MapOutcome, capped, per_key
from dpcompose.core.change.kind_form import Declared, Form, Refusal
from dpcompose.core.change.maps.chosen_rows import KEEP, ORDER, ChosenRows, Keep
from dpcompose.core.change.maps.kind import Above, Readers
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import ChangeUnit, Kind
from dpcompose.core.numbers.form_keys import FormKey, Sort


@dataclass(frozen=True, slots=True)
class Cap(ChosenRows):
    """A map that keeps at most `rows` rows of each privacy unit."""

    rows: int
    keep: Keep
    order: str | None = None
    what: ClassVar[str] = "cap"

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome]:
        """Returns the user with at most `rows` rows, or a row that comes, goes or displaces another
        of its unit."""
        if leaf.kind is Kind.USER:
            return [capped(leaf, self.rows)]
        unit = traits.unit or "the privacy unit"
        return per_key(leaf, unit, self.keep == "first", traits.rows_are_units)

    def traits_after(self, traits: Traits) -> Traits:
        """Returns the traits of rows of the same units, without an order or a public number."""
        return traits._replace(
            edge_rows=False, ordered=False, fixed=False, size=None, free=False, nulls=False
        )

    def refused(self, above: Above) -> Iterator[Refusal]:
        """Yields an error if the rows have no known privacy unit."""
        if above.traits.unit is None:
            why, hint = above.no_unit()
            says = f"a cap is one per privacy unit: {why}"
            yield Refusal(
                "DPC142", (), says, f"{hint}; or limit the rows of another column: `kind: limit`"
            )

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        yield f"`{name}` {self.declaration('of each unit')}", ("rows",)

    def describe(self) -> str:
        return f"a cap at {self.which} for each unit"


FORM = Form(
    "cap",
    Cap,
    "At most `rows` rows of each privacy unit.",
    (FormKey("rows", Sort.WHOLE, "The most rows of one unit."), KEEP, ORDER),
    Cap.from_keys,
)
