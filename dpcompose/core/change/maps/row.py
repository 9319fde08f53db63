"""Row maps: each row transformed by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpcompose.core.change.effects import MapOutcome, agrees, one, single, user_rows
from dpcompose.core.change.kind_form import Declared, Form
from dpcompose.core.change.maps.kind import (
    KEEPS,
    Readers,
    RowByRow,
    columns_named,
    declared_uses,
    uses,
)
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import ChangeUnit, Kind


@dataclass(frozen=True, slots=True)
class RowMap(RowByRow):
    """A map that transforms each row by itself; `keeps` names the columns that it leaves unchanged.

    `uses`: the only columns on which the rest of a new row depends; None: not declared.
    """

    keeps: frozenset[str] = frozenset()
    uses: frozenset[str] | None = None

    def keeps_column(self, column: str) -> bool:
        return column in self.keeps

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome]:
        """Returns the same unit of change, of a replaced row with those of its kept columns that
        the map keeps.

        None if a replaced row agrees in all columns that the map uses and keeps.
        """
        if leaf.kind is Kind.PAIR:
            if agrees(leaf, self.uses) and agrees(leaf, self.keeps):
                return [MapOutcome(())]
            kept = tuple(column for column in leaf.kept if column in self.keeps)
            return [one(ChangeUnit(Kind.PAIR, (0, 1), kept))]
        if leaf.kind is Kind.USER:
            keeps_unit = traits.unit is not None and traits.unit in self.keeps
            return [one(leaf) if keeps_unit else user_rows(leaf)]
        return [one(single(leaf))]

    def traits_after(self, traits: Traits) -> Traits:
        """Returns the traits of as many rows in the same order, with their unit if its column is
        kept."""
        unit = traits.unit if traits.unit in self.keeps else None
        columns, others = traits.columns_of_new(self.keeps)
        return traits._replace(
            unit=unit,
            rows_are_units=traits.rows_are_units and unit is not None,
            edge_rows=False,
            degree=None,
            columns=columns,
            others=others,
        )

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        yield f"`{name}` is computed row by row", ()
        for column in sorted(self.keeps):
            yield f"`{name}` leaves the column `{column}` as it is", ("keeps",)
        what = f"what `{name}` makes of a row" + (" beside that" if self.keeps else "")
        yield from declared_uses(what, self.uses)

    def describe(self) -> str:
        if self.uses is None:
            return "a row-by-row transform"
        return f"a row-by-row transform of {columns_named(self.uses | self.keeps)}"


FORM = Form(
    "row",
    RowMap,
    "Transforms each row by itself.",
    (KEEPS, uses("what it makes of a row, beside what it keeps,")),
)
