"""Values: points of a metric space, and the distance that a change moves them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from dpcompose.core.change.effects import MapOutcome, all_tags, one
from dpcompose.core.change.kind_form import Contradiction, Declared, Form, Refusal
from dpcompose.core.change.maps.kind import Above, Map, MapTraits, Readers
from dpcompose.core.change.row_facts import Shape, Traits
from dpcompose.core.change.units import ChangeUnit, Kind
from dpcompose.core.numbers.form_keys import FormKey, Sort
from dpcompose.curves.rounding import number

#: The spaces of values, by their metric.
SPACES = {"euclidean": "a Euclidean space", "l1": "a space with the distance L1"}


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """A bound on values together: one unit of their root moves all of them by at most `l1` in sum.

    A unit is all rows of one privacy unit where the root names its column, else a row. No two are
    equal: of two specs that are released together each keeps to its own.
    """

    datasets: tuple[str, ...]
    l1: Fraction

    def moves(self, leaf: ChangeUnit, traits: Traits) -> Fraction | None:
        """Returns how far one change of the root moves all values in sum; None if unbounded."""
        match leaf.kind:
            case Kind.USER:
                units = 1
            case Kind.SINGLE:
                # A unit with the row and without it: all its rows go, and those of the other come.
                units = 1 if traits.unit is None else 2
            case Kind.PAIR:
                units = 4 if traits.unit is not None and traits.unit not in leaf.kept else 2
            case _:
                return None
        return units * self.l1


@dataclass(frozen=True, slots=True)
class Value(Map):
    """A map from a table to a point of a metric space.

    Its sensitivities are the distances that one row added or removed (`unbounded`), or one row
    replaced (`bounded`), moves the point at most; `diameter`: that of the space; `metric`: the
    distance; `joint`: a bound on several values together.
    """

    unbounded: Fraction | None = None
    bounded: Fraction | None = None
    diameter: Fraction | None = None
    metric: str = "euclidean"
    joint: Joint | None = None

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome]:
        """Returns the distance that one unit of change moves the value, never above the
        diameter."""
        together = None if self.joint is None else self.joint.moves(leaf, traits)
        known = (self._moves(leaf), together)
        size = min((each for each in known if each is not None), default=None)
        return [one(ChangeUnit(Kind.METRIC, all_tags(leaf), (), size))]

    def of_anything(self, leaf: ChangeUnit) -> MapOutcome:
        """Returns the diameter as the distance that the value moves, which covers every change."""
        return one(ChangeUnit(Kind.METRIC, all_tags(leaf), (), self.diameter))

    def _moves(self, leaf: ChangeUnit) -> Fraction | None:
        """Returns the distance that one unit of change moves the value, at most the diameter; None
        if unbounded."""
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
        """Returns the traits of a value with this metric and diameter."""
        return Traits(shape=Shape.VALUE, diameter=self.diameter, metric=self.metric)

    def conduct(self) -> MapTraits:
        return MapTraits(may_drop=False, determined=False)

    def refused(self, above: Above) -> Iterator[Refusal]:
        """Yields an error if nothing bounds how far the value moves, or if the sensitivity is to an
        added row, but no row can be added."""
        if self == Value(metric=self.metric):
            says = "a map of kind `value` needs `sensitivity` or `diameter`"
            hint = "how far one row moves the value, or how far apart any two values are"
            yield Refusal("DPC102", (), says, hint)
        if self.unbounded is not None and above.traits.fixed:
            what = "this sensitivity is for one row added or removed"
            hint = "write `sensitivity: {bounded: …}`: how far one row replaced moves it"
            yield Refusal("DPC140", ("sensitivity",), f"{what}, and {above.public}", hint)

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        if self.unbounded is not None:
            yield f"one row added or removed moves `{name}` by at most {number(self.unbounded)}", ()
        if self.bounded is not None:
            yield f"one row replaced moves `{name}` by at most {number(self.bounded)}", ()
        if self.diameter is not None:
            yield f"`{name}` never moves by more than {number(self.diameter)}", ("diameter",)

    def describe(self) -> str:
        return f"a point of {SPACES[self.metric]}"


def _value_from_keys(
    metric: Literal["euclidean", "l1"],
    sensitivity: tuple[Fraction | None, Fraction | None] | None,
    diameter: Fraction | None,
) -> Value:
    """Returns the value that the keys of a map declare; `Contradiction` if its sensitivity is
    empty."""
    unbounded, bounded = (None, None) if sensitivity is None else sensitivity
    if sensitivity is not None and unbounded is None and bounded is None:
        says = "a sensitivity needs `unbounded` or `bounded`"
        raise Contradiction("DPC102", "sensitivity", says, "or both")
    return Value(unbounded, bounded, diameter, metric)


FORM = Form(
    "value",
    Value,
    "A point of a metric space, such as a mean or a location.",
    (
        FormKey("metric", Sort.CHOICE, "The metric.", "euclidean", tuple(SPACES)),
        FormKey(
            "sensitivity",
            Sort.MOVES,
            "How far one row moves it; a number: one row added.",
            None,
            weaker=("larger",),
        ),
        FormKey(
            "diameter",
            Sort.NUMBER,
            "How far apart any two values are.",
            None,
            weaker=("larger", "absent"),
        ),
    ),
    _value_from_keys,
)
