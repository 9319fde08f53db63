"""The table of the vertices of a graph."""

from __future__ import annotations

from dataclasses import dataclass

from dpcompose.core.change.effects import MapOutcome, anything, one
from dpcompose.core.change.kind_form import Form
from dpcompose.core.change.maps.kind import Map, MapTraits
from dpcompose.core.change.row_facts import Shape, Traits
from dpcompose.core.change.units import ChangeUnit, Kind


@dataclass(frozen=True, slots=True)
class Nodes(Map):
    """A map from a graph to one row for each vertex, which depends on the vertex's own edges."""

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome]:
        """Returns the rows replaced where an edge or a vertex changes: both ends of it, or it and
        all its neighbours."""
        rows = {Kind.EDGE: 2, Kind.NODE: 1, Kind.NODE_REWIRED: 1}[leaf.kind]
        if leaf.kind is not Kind.EDGE:
            if traits.degree is None:
                return [anything(leaf)]
            rows += traits.degree * (1 if leaf.kind is Kind.NODE else 2)
        return [one(ChangeUnit(Kind.PAIR, (0, 0)), rows)]

    def traits_after(self, traits: Traits) -> Traits:
        """Returns the traits of one row for each vertex, whose number is public."""
        return Traits(fixed=True, unit=traits.unit, most=traits.most)

    def conduct(self) -> MapTraits:
        return MapTraits(may_drop=False, determined=True)

    def describe(self) -> str:
        return "one row for each vertex"


FORM = Form(
    "nodes",
    Nodes,
    "One row for each vertex of a graph, which depends on the vertex's own edges.",
    reads=Shape.GRAPH,
)
