"""Maps of declared stability."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpcompose.core.change.effects import MapOutcome, one, user_rows
from dpcompose.core.change.kind_form import Declared, Form, Refusal
from dpcompose.core.change.maps.kind import Above, Map, MapTraits, Readers
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import SINGLE, ChangeUnit, Kind
from dpcompose.core.numbers.form_keys import FormKey, Sort
from dpcompose.curves.rounding import plural


@dataclass(frozen=True, slots=True)
class Stable(Map):
    """A map of which one added row of the table read changes at most `stability` rows (symmetric
    difference)."""

    stability: int

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome]:
        """Returns `stability` single rows for each row that comes or goes; a replaced row counts as
        two rows."""
        if leaf.kind is Kind.PAIR:
            return [
                MapOutcome(
                    ((SINGLE, self.stability), (ChangeUnit(Kind.SINGLE, (1,)), self.stability))
                )
            ]
        if leaf.kind is Kind.USER:
            return [user_rows(leaf._replace(directed=False), self.stability)]
        return [one(SINGLE, self.stability)]

    def traits_after(self, traits: Traits) -> Traits:
        """Returns the traits of rows of which nothing is known."""
        columns, others = traits.columns_of_new()
        return Traits(columns=columns, others=others)

    def conduct(self) -> MapTraits:
        return MapTraits(may_drop=False, determined=False, several=True)

    def refused(self, above: Above) -> Iterator[Refusal]:
        """Yields an error if no row can be added."""
        if above.traits.fixed:
            what = "`stability` counts the rows that change for one row added or removed"
            hint = "make it of `row`, of a `flatten` with `max_rows`, or of what has no public size"
            yield Refusal("DPC140", ("stability",), f"{what}, and {above.public}", hint)

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        yield f"one row changes at most {plural(self.stability, 'row')} of `{name}`", ()

    def describe(self) -> str:
        return f"a map of stability {self.stability}"


FORM = Form(
    "stable",
    Stable,
    "A map under which one added row changes at most `stability` rows.",
    (
        FormKey(
            "stability",
            Sort.WHOLE,
            "Rows changed by one added or removed row.",
            weaker=("larger",),
        ),
    ),
)
