"""Random allocation (balls in bins): each row takes part in one step, drawn by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from dpcompose.core.change.kind_form import Declared, Form, Refusal
from dpcompose.core.change.maps.kind import Above, Map, Readers
from dpcompose.core.change.maps.sample import Sample, drawn_afresh
from dpcompose.core.numbers.form_keys import FormKey, Sort
from dpcompose.curves.rounding import count_text, plural


@dataclass(frozen=True, slots=True)
class Allocate(Sample):
    """The rows of one of `steps` steps of an epoch: each row is in one, drawn uniformly and by
    itself.

    `epochs`: how often all steps are gone through. What reads it is released in each step.
    `shared`: the same rows in each epoch; else copy i of what reads it is all steps of epoch i,
    drawn anew.
    """

    steps: int = 1
    epochs: int = 1

    @property
    def plain(self) -> bool:
        """Returns False: one of several releases has the row, and no one release may lack it."""
        return False

    def then(self, after: Map) -> Map | None:
        """Returns None: what follows an allocation cannot be merged with it into one map."""
        return None

    def refused(self, above: Above) -> Iterator[Refusal]:
        """Yields an error where the table is itself drawn afresh for each copy."""
        way_out = ", or draw all steps from the rows themselves"
        yield from drawn_afresh(above, "steps", "and bins are of one table", way_out)

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        steps, times = count_text(self.steps), plural(self.epochs, "epoch")
        anew = "once for all" if self.shared else "anew in each"
        yield (
            f"each row is in one of {steps} steps of `{name}`, drawn uniformly, in secret and "
            f"independently of all other rows, {anew} of {times}; what reads it is released in "
            "every step, and sums are divided by constants",
            ("steps",),
        )

    def describe(self) -> str:
        same = ", the same ones" if self.shared and self.epochs > 1 else ""
        epochs = f" of {plural(self.epochs, 'epoch')}{same}" if self.epochs > 1 else ""
        return f"rows in one of {count_text(self.steps)} steps{epochs}"


def _allocation(steps: int, epochs: int, bins: Literal["fresh", "same"]) -> Allocate:
    shared = bins == "same" or epochs == 1
    return Allocate(Fraction(1, steps), shared=shared, steps=steps, epochs=epochs)


FORM = Form(
    "allocate",
    Allocate,
    "Balls in bins: each row takes part in one step of each epoch, drawn uniformly and by itself.",
    (
        FormKey("steps", Sort.WHOLE, "How many steps an epoch has."),
        FormKey("epochs", Sort.WHOLE, "How often all steps are gone through.", 1),
        FormKey(
            "bins",
            Sort.CHOICE,
            "Whether each epoch draws anew which rows are in which step.",
            "fresh",
            ("fresh", "same"),
        ),
    ),
    _allocation,
    elsewhere=(("drops", "every row is in one of the steps"),),
)
