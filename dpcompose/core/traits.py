"""What is known of the rows of a dataset, by the maps that it was made by."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import assert_never

from dpcompose.core.problem import (
    Cap,
    Edges,
    Filter,
    Flatten,
    Group,
    Limit,
    Map,
    Nodes,
    Opaque,
    RowMap,
    Sample,
    Stable,
    Value,
)


@dataclass(frozen=True, slots=True)
class Traits:
    """What is known of a dataset by its place in the tree.

    `unit`: the column of the privacy unit while rows still carry it. `rows_are_units`: one row for
    each unit. `edge_rows`: the rows are edges of a graph, whose largest degree is `degree`.
    `diameter`: of a value's space, None if unknown. `ordered`: rows have positions, at which what
    reads them may look.
    """

    unit: str | None = None
    rows_are_units: bool = False
    edge_rows: bool = False
    degree: int | None = None
    diameter: Fraction | None = None
    ordered: bool = False


def traits_after(made_by: Map, traits: Traits) -> Traits:
    """The traits of a dataset made by a map from one with `traits`."""
    unit = traits.unit
    match made_by:
        case Filter() | Sample():
            return traits
        case Cap():
            return replace(traits, ordered=False)
        case RowMap(keeps) | Flatten(keeps=keeps):
            one_each = isinstance(made_by, RowMap)
            alive = unit if unit in keeps else None
            units = traits.rows_are_units and one_each and alive is not None
            return Traits(alive, units, ordered=traits.ordered)
        case Group(by):
            return Traits(unit, True) if by == unit and unit is not None else Traits()
        case Limit():
            return Traits(unit, traits.rows_are_units, traits.edge_rows, traits.degree)
        case Edges():
            return Traits(edge_rows=True, degree=traits.degree)
        case Value(diameter=diameter):
            return Traits(diameter=diameter)
        case Stable() | Nodes() | Opaque():
            return Traits()
        case _:
            assert_never(made_by)
