"""Maps of which nothing is known."""

from __future__ import annotations

from dataclasses import dataclass

from dpcompose.core.change.effects import MapOutcome, anything
from dpcompose.core.change.kind_form import Form
from dpcompose.core.change.maps.kind import Map, MapTraits
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import ChangeUnit


@dataclass(frozen=True, slots=True)
class Opaque(Map):
    """A map of which nothing is known: any change may become any other one."""

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome]:
        return [anything(leaf)]

    def traits_after(self, traits: Traits) -> Traits:
        columns, others = traits.columns_of_new()
        return Traits(columns=columns, others=others)

    def conduct(self) -> MapTraits:
        return MapTraits(may_drop=False, determined=False)

    def describe(self) -> str:
        return "an opaque map"


FORM = Form("opaque", Opaque, "A map of unknown stability.")
