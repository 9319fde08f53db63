"""Values: points of a metric space, and the distance that a change moves them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from dpcompose.core.change.effects import MapOutcome, all_tags, one
from dpcompose.core.change.kind_form import Contradiction, Declared, Refusal
from dpcompose.core.change.maps.kind import Above, MapForm, MapTraits, Readers, Together, together
from dpcompose.core.change.row_facts import Shape, Traits
from dpcompose.core.change.units import ChangeUnit, Kind
from dpcompose.core.mechanisms.family import FormKey, Sort
from dpcompose.curves.rounding import number


@dataclass(frozen=True, slots=True)
class Value(Together):
    """A point of a Euclidean space, with its sensitivity to one added or removed row (`unbounded`),
    to one replaced row (`bounded`), and the diameter of the space."""

    unbounded: Fraction | None = None
    bounded: Fraction | None = None
    diameter: Fraction | None = None

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome]:
        """Returns the distance that the value moves, never above the diameter."""
        return [one(ChangeUnit(Kind.METRIC, all_tags(leaf), (), self._moves(leaf)))]

    def of_anything(self, leaf: ChangeUnit) -> MapOutcome:
        """Returns the diameter as the distance, which bounds every change."""
        return one(ChangeUnit(Kind.METRIC, all_tags(leaf), (), self.diameter))

    def _moves(self, leaf: ChangeUnit) -> Fraction | None:
        """Returns the distance that one unit moves the value, at most the diameter; None if
        unbounded."""
        moved: Fraction | None
        if leaf.kind is Kind.PAIR:
            ways = [self.bounded] if self.bounded is not None else []
            if self.unbounded is not None:
                ways.append(2 * self.unbounded)
            moved = min(ways) if ways else None
        elif leaf.kind is Kind.USER and leaf.size is None:
            moved = None
        else:
            moved = self.unbounded
            if leaf.kind is Kind.USER and moved is not None:
                moved *= int(leaf.size or 0)
        if self.diameter is None:
            return moved
        return self.diameter if moved is None else min(moved, self.diameter)

    def traits_after(self, traits: Traits) -> Traits:
        """Returns the traits of a value with this diameter."""
        return Traits(shape=Shape.VALUE, diameter=self.diameter)

    def conduct(self) -> MapTraits:
        """Returns the traits of a map that makes one point of all rows."""
        return together(may_drop=False, random=None, determined=False)

    def refused(self, above: Above) -> Iterator[Refusal]:
        """Yields an error if the sensitivity is to an added row, but no row can be added."""
        if self.unbounded is not None and above.traits.fixed:
            what = "this sensitivity is for one row added or removed"
            hint = "write `sensitivity: {bounded: …}`: how far one row replaced moves it"
            yield Refusal("DPC140", ("sensitivity",), f"{what}, and {above.public}", hint)

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        """Yields what the author declares: the sensitivities and the diameter."""
        if self.unbounded is not None:
            yield f"one row added or removed moves `{name}` by at most {number(self.unbounded)}", ()
        if self.bounded is not None:
            yield f"one row replaced moves `{name}` by at most {number(self.bounded)}", ()
        if self.diameter is not None:
            yield f"`{name}` never moves by more than {number(self.diameter)}", ("diameter",)

    def describe(self) -> str:
        """Returns `a point of a Euclidean space`."""
        return "a point of a Euclidean space"


def _value_from_keys(
    metric: Literal["euclidean"],
    sensitivity: tuple[Fraction | None, Fraction | None] | None,
    diameter: Fraction | None,
) -> Value:
    """Returns the value that the keys of a map declare; `Contradiction` if it has no sensitivity
    and no diameter."""
    assert metric == "euclidean"  # the only metric
    if sensitivity is None and diameter is None:
        says = "a map of kind `value` needs `sensitivity` or `diameter`"
        hint = "how far one row moves the value, or how far apart any two values are"
        raise Contradiction(Refusal("DPC102", (), says, hint))
    unbounded, bounded = (None, None) if sensitivity is None else sensitivity
    if sensitivity is not None and unbounded is None and bounded is None:
        says = "a sensitivity needs `unbounded` or `bounded`"
        raise Contradiction(Refusal("DPC102", ("sensitivity",), says, "or both"))
    return Value(unbounded, bounded, diameter)


FORM = MapForm(
    "value",
    Value,
    "A point of a metric space, such as a mean or a location.",
    Shape.TABLE,
    (
        FormKey("metric", Sort.CHOICE, "The metric.", "euclidean", ("euclidean",)),
        FormKey(
            "sensitivity",
            Sort.MOVES,
            "How far one row moves it; a number: one row added.",
            None,
        ),
        FormKey("diameter", Sort.NUMBER, "How far apart any two values are.", None),
    ),
    _value_from_keys,
)
