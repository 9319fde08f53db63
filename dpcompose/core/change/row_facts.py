"""Facts about a dataset that follow from the maps above it, whatever the change."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple


class Shape(StrEnum):
    """The shape of a dataset: a table, a graph or a value."""

    TABLE = "a table"
    GRAPH = "a graph"
    VALUE = "a point in a metric space"


class Traits(NamedTuple):
    """The facts about a dataset that hold for every table, and follow from its place in the tree.

    `unit`: the column of the privacy unit while rows still carry it. `rows_are_units`: one row for
    each unit. `edge_rows`: the rows are edges of a graph, whose largest degree is `degree`.
    `diameter`: of a value's space, None if unknown; `metric`: its distance. `ordered`: rows have
    positions, which maps and partitions may use. `fixed`: the number of rows is public; `size`:
    that number, if the spec states it; `most`: a public upper bound of the number of rows.
    `columns`: the columns of the root that rows still have unchanged, None if the root does not
    name them; `others`: rows may have further columns. `nulls`: a row that goes leaves a null in
    its place, so that no other row moves. `free`: any row may be added to any table, and no row
    above is drawn at random.
    """

    shape: Shape = Shape.TABLE
    unit: str | None = None
    rows_are_units: bool = False
    edge_rows: bool = False
    degree: int | None = None
    diameter: Fraction | None = None
    ordered: bool = False
    fixed: bool = False
    size: int | None = None
    most: int | None = None
    columns: frozenset[str] | None = None
    others: bool = False
    free: bool = False
    nulls: bool = False
    metric: str = "euclidean"

    def columns_of_new(self, keeps: Collection[str] = ()) -> tuple[frozenset[str] | None, bool]:
        """Returns the traits `columns` and `others` of new rows that copy, of these rows, only the
        columns `keeps`."""
        if self.columns is None:
            return None, False
        return self.columns.intersection(keeps), True
