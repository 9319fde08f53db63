"""Batches of epochs: every row is in one batch of each epoch, in a fixed or a shuffled order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpcompose.core.change.effects import MapOutcome, anything, same
from dpcompose.core.change.kind_form import Declared, Form, Refusal
from dpcompose.core.change.maps.kind import Above, Map, MapTraits, Readers
from dpcompose.core.change.maps.sample import drawn_afresh
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import ChangeUnit, Kind
from dpcompose.core.numbers.form_keys import FormKey, Sort
from dpcompose.curves.rounding import plural


@dataclass(frozen=True, slots=True)
class Batches(Map):
    """A map from a table to one batch of an epoch; what reads it is released on every batch of
    every epoch.

    A row replaced changes one batch of each epoch, so that it meets `epochs` copies of what reads
    them. With `shuffled` (`order`) the order of the rows is drawn anew in each epoch: given the
    orders it is fixed, and hockey-stick divergences are jointly convex (Chua et al. 2024).
    """

    epochs: int
    order: str = "shuffled"

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome]:
        """Returns the same replaced row, in its batch, or the same row that comes or goes where it
        leaves a null; else anything, since other rows move to other batches."""
        in_its_place = leaf.kind is Kind.PAIR or (leaf.kind is Kind.SINGLE and traits.nulls)
        return [same(leaf) if in_its_place and not leaf.displaced else anything(leaf)]

    def traits_after(self, traits: Traits) -> Traits:
        """Returns the same traits, without the number of rows and their order."""
        return traits._replace(size=None, ordered=False, free=False)

    def refused(self, above: Above) -> Iterator[Refusal]:
        """Yields an error where each copy of a mechanism has its own sample, not one in batches."""
        way_out = ", or draw the sample of each batch"
        yield from drawn_afresh(above, "epochs", "and batches are of one table", way_out)

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        times = plural(self.epochs, "epoch")
        how = "in an order drawn anew each time" if self.order == "shuffled" else "in one order"
        yield (
            f"each row is in one batch of `{name}` in each of {times}, {how}, which depends "
            "neither on what is in the row nor on other rows; sums are divided by constants",
            ("epochs",),
        )

    def conduct(self) -> MapTraits:
        return MapTraits(may_drop=False, determined=True)

    def describe(self) -> str:
        return f"{self.order} batches of {plural(self.epochs, 'epoch')}"


FORM = Form(
    "batches",
    Batches,
    "Batches of epochs: what reads it is released on each, and every row is in one of each epoch.",
    (
        FormKey("epochs", Sort.WHOLE, "How often each row is in a batch."),
        FormKey(
            "order",
            Sort.CHOICE,
            "Whether rows are shuffled anew for each epoch; it costs the same.",
            "shuffled",
            ("fixed", "shuffled"),
        ),
    ),
)
