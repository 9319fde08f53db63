"""Shuffles of local reports: who sent which report is hidden."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpcompose.core.change.effects import MapOutcome, anything
from dpcompose.core.change.kind_form import Declared, Refusal
from dpcompose.core.change.maps.kind import Above, MapForm, MapTraits, Readers, Together, together
from dpcompose.core.change.row_facts import Shape, Traits
from dpcompose.core.change.units import ChangeUnit
from dpcompose.core.mechanisms.family import FormKey, Sort
from dpcompose.curves.rounding import plural


@dataclass(frozen=True, slots=True)
class Shuffle(Together):
    """The rows in a secret random order, each of which sends one randomized report.

    `reports`: how many there are at least. What reads it is bounded on the rows, in their order.
    """

    reports: int

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome]:
        """Returns an arbitrary change: only what is known on the rows bounds what reads it."""
        return [anything(leaf)]

    def traits_after(self, traits: Traits) -> Traits:
        """Returns the same traits."""
        return traits._replace(nulls=False)

    def conduct(self) -> MapTraits:
        """Returns the traits of a map to all rows; what reads it draws an order of its own."""
        return together(may_drop=False, random=None, determined=True)

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
        """Yields what the author declares: the secret order, and the number of reports."""
        reports = plural(self.reports, "report")
        yield (
            f"`{name}` has at least {reports} of honest rows, each time in a new order, uniform "
            "and secret; nothing in a report tells who sent it",
            ("reports",),
        )

    def describe(self) -> str:
        """Returns `a shuffle of 10 000 reports`."""
        return f"a shuffle of {plural(self.reports, 'report')}"


FORM = MapForm(
    "shuffle",
    Shuffle,
    "The rows in a secret random order, each of which sends one randomized report.",
    Shape.TABLE,
    (FormKey("reports", Sort.WHOLE, "How many rows send a report, at least."),),
    Shuffle,
)
