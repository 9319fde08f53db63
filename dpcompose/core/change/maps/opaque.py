"""Maps of which nothing is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpcompose.core.change.effects import Fate, anything
from dpcompose.core.change.kind_form import Declared, Refusal
from dpcompose.core.change.maps.kind import Above, Conduct, MapForm, Readers, Together, together
from dpcompose.core.change.row_facts import Shape, Traits
from dpcompose.core.change.units import Leaf


@dataclass(frozen=True, slots=True)
class Opaque(Together):
    """A map of unknown stability."""

    def becomes(self, leaf: Leaf, traits: Traits) -> list[Fate]:
        """Anything."""
        return [anything(leaf)]

    def traits_after(self, traits: Traits) -> Traits:
        """Nothing."""
        columns, others = traits.columns_of_new()
        return Traits(columns=columns, others=others)

    def conduct(self) -> Conduct:
        """Rows may be anything."""
        return together(may_drop=False, random=None, determined=False)

    def refused(self, above: Above) -> Iterator[Refusal]:
        """Never."""
        yield from ()

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        """Nothing."""
        yield from ()

    def describe(self) -> str:
        """`an opaque map`."""
        return "an opaque map"


FORM = MapForm("opaque", Opaque, "A map of unknown stability.", Shape.TABLE, (), Opaque)
