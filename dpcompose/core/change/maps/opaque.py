"""Maps of which nothing is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpcompose.core.change.effects import MapOutcome, anything
from dpcompose.core.change.kind_form import Declared, Refusal
from dpcompose.core.change.maps.kind import Above, MapForm, MapTraits, Readers, Together, together
from dpcompose.core.change.row_facts import Shape, Traits
from dpcompose.core.change.units import ChangeUnit


@dataclass(frozen=True, slots=True)
class Opaque(Together):
    """A map of unknown stability."""

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome]:
        """Returns an arbitrary change."""
        return [anything(leaf)]

    def traits_after(self, traits: Traits) -> Traits:
        """Returns the traits of rows of which nothing is known."""
        columns, others = traits.columns_of_new()
        return Traits(columns=columns, others=others)

    def conduct(self) -> MapTraits:
        """Returns the traits of a map to arbitrary rows."""
        return together(may_drop=False, random=None, determined=False)

    def refused(self, above: Above) -> Iterator[Refusal]:
        """Yields nothing: the map is valid on every table."""
        yield from ()

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        """Yields nothing: nothing is declared."""
        yield from ()

    def describe(self) -> str:
        """Returns `an opaque map`."""
        return "an opaque map"


FORM = MapForm("opaque", Opaque, "A map of unknown stability.", Shape.TABLE, (), Opaque)
