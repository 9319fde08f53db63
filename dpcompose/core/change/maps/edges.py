"""The table of the edges of a graph."""

from __future__ import annotations

from dataclasses import dataclass

from dpcompose.core.change.effects import MapOutcome, TooMany, anything, one, two_sided
from dpcompose.core.change.kind_form import Form
from dpcompose.core.change.maps.kind import Map, MapTraits
from dpcompose.core.change.row_facts import Shape, Traits
from dpcompose.core.change.units import SINGLE, ChangeUnit, Kind


@dataclass(frozen=True, slots=True)
class Edges(Map):
    """A map from a graph to the table of its edges."""

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome] | TooMany:
        """Returns what an edge or a vertex that changes becomes: one row; as many rows as the
        largest degree.

        `ANY` where that degree is unknown.
        """
        if leaf.kind is Kind.EDGE:
            return [one(SINGLE)]
        if traits.degree is None:
            return [anything(leaf)]
        if leaf.kind is Kind.NODE:
            return [one(SINGLE, traits.degree)]
        # A rewired vertex has one side; old and new edges both come from it.
        return two_sided(traits.degree, ChangeUnit(Kind.PAIR, (0, 0)))

    def traits_after(self, traits: Traits) -> Traits:
        return Traits(edge_rows=True, degree=traits.degree, unit=traits.unit, most=traits.most)

    def conduct(self) -> MapTraits:
        return MapTraits(may_drop=False, determined=True)

    def describe(self) -> str:
        return "the table of edges"


FORM = Form("edges", Edges, "The table of the edges of a graph.", reads=Shape.GRAPH)
