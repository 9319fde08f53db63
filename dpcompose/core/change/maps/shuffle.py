"""Shuffles of local reports: who sent which report is hidden."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpcompose.core.change.effects import MapOutcome, anything
from dpcompose.core.change.kind_form import Declared, Form, Refusal
from dpcompose.core.change.maps.kind import Above, Map, MapTraits, Readers
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import ChangeUnit
from dpcompose.core.numbers.form_keys import FormKey, Sort
from dpcompose.curves.rounding import plural


@dataclass(frozen=True, slots=True)
class Shuffle(Map):
    """A map that puts the rows in a secret random order, each of which sends one randomized report.

    `reports`: how many there are at least. What reads it is bounded on the rows, in their order.
    """

    reports: int

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome]:
        """Returns an arbitrary change: only what is known on the rows bounds what reads it."""
        return [anything(leaf)]

    def traits_after(self, traits: Traits) -> Traits:
        return traits._replace(nulls=False)

    def refused(self, above: Above) -> Iterator[Refusal]:
        """Yields an error for more reports than there are rows."""
        says = above.too_few("reports", self.reports)
        if says is not None:
            hint = f"each row sends one: `reports: {above.traits.most}`"
            yield Refusal("DPC155", ("reports",), says, hint)

    def rows_needed(self, below: int) -> int:
        """Returns the number of reports: each row sends one."""
        return self.reports

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        reports = plural(self.reports, "report")
        yield (
            f"`{name}` has at least {reports} of honest rows, each time in a new order, uniform "
            "and secret; nothing in a report tells who sent it",
            ("reports",),
        )

    def conduct(self) -> MapTraits:
        return MapTraits(may_drop=False, determined=True)

    def describe(self) -> str:
        return f"a shuffle of {plural(self.reports, 'report')}"


FORM = Form(
    "shuffle",
    Shuffle,
    "The rows in a secret random order, each of which sends one randomized report.",
    (FormKey("reports", Sort.WHOLE, "How many rows send a report, at least."),),
)
