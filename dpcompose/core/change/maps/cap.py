"""Caps: at most a given number of rows of each privacy unit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpcompose.core.change.effects import MapOutcome, capped, per_key
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
class Cap(Together):
    """At most `rows` rows of each privacy unit."""

    rows: int
    keep: Keep

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome]:
        """Returns the user with fewer rows, or a row that comes, goes or displaces another of its
        unit."""
        if leaf.kind is Kind.USER:
            return [capped(leaf, self.rows)]
        unit = traits.unit or "the privacy unit"
        return per_key(leaf, unit, self.keep == "first", traits.rows_are_units)

    def traits_after(self, traits: Traits) -> Traits:
        """Returns the traits of rows of the same units, without an order or a public number."""
        return traits._replace(
            edge_rows=False, ordered=False, fixed=False, size=None, free=False, nulls=False
        )

    def conduct(self) -> MapTraits:
        """Returns the traits of a map under which rows of one unit displace each other."""
        return chosen("cap", self.rows, self.keep)

    def refused(self, above: Above) -> Iterator[Refusal]:
        """Yields an error if the rows have no known privacy unit."""
        if above.traits.unit is None:
            why, hint = above.no_unit()
            says = f"a cap is one per privacy unit: {why}"
            yield Refusal(
                "DPC142", (), says, f"{hint}; or limit the rows of another column: `kind: limit`"
            )

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        """Yields what the author declares: how many rows of each unit are kept, and which."""
        rows, how = plural(self.rows, "row"), declared(self.rows, self.keep)
        yield f"`{name}` keeps at most {rows} of each unit, {how}", ("rows",)

    def describe(self) -> str:
        """Returns `a cap at the first 3 rows for each unit`."""
        return f"a cap at {which(self.keep)} {plural(self.rows, 'row')} for each unit"


def _cap_from_keys(rows: int, keep: Keep, order: str | None) -> Cap:
    """Returns the cap that the keys of a map declare; `Contradiction` if random rows are given an
    order."""
    check_order(keep, order)
    return Cap(rows, keep)


FORM = MapForm(
    "cap",
    Cap,
    "At most `rows` rows of each privacy unit.",
    Shape.TABLE,
    (FormKey("rows", Sort.WHOLE, "The most rows of one unit."), KEEP, ORDER),
    _cap_from_keys,
)
