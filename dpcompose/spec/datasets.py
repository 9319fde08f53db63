"""Datasets as they are written: roots, what is made by a map, and partitions.

Each kind of map and of partition has a model of its own, made of the keys of its form.
"""

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from dpcompose.core.change.maps import MAPS
from dpcompose.core.change.partitions import PARTITIONS
from dpcompose.core.numbers.form_keys import Sort
from dpcompose.spec.fields import (
    Because,
    Model,
    Name,
    OneOf,
    Optional,
    Reference,
    Scalar,
    WeakerIf,
    Whole,
    by_key,
    by_shape,
    model_of,
)


class Sensitivity(Model):
    __doc__ = "How far a value moves, for each kind of row change."

    what = "a sensitivity"
    unbounded: Optional[Scalar] = Field(default=None, description="For one row added or removed.")
    bounded: Optional[Scalar] = Field(default=None, description="For one row replaced.")


#: The most that there is of something: any larger number claims less, and so does none.
Limit = Annotated[Whole, WeakerIf("larger", "absent")]
#: What stands at a key of each sort.
_TYPES: dict[Sort, Any] = {
    Sort.WHOLE: Whole,
    Sort.NAME: Name,
    Sort.COLUMN: Name,
    Sort.COLUMNS: list[Name],
    Sort.FLAG: bool,
    Sort.NUMBER: Scalar,
    Sort.MOVES: Annotated[Scalar | Sensitivity, by_shape(object, dict)],
    Sort.BLOCKS: Annotated[
        Whole | Annotated[list[Name], Field(min_length=1)], by_shape(object, list)
    ],
    Sort.FEEDS: Annotated[dict[str, list[Name]], Field(min_length=1)],
}


# --- maps and partitions -------------------------------------------------------------------------


class AnyMap(Model):
    __doc__ = "What every map says; each kind has a model of its own."

    what = "a map"
    kind: str = Field(description="The kind of the map.")


@cache
def map_model(kind: str) -> type[AnyMap]:
    """Returns the model of a kind of map."""
    model: type[AnyMap] = model_of(
        MAPS[kind],
        AnyMap,
        kind.title().replace("-", ""),
        f"a map of kind `{kind}`",
        ("kind", "The kind of the map."),
        _TYPES,
    )
    return model


Map = Annotated[
    AnyMap,
    by_key("kind", MAPS, map_model),
    BeforeValidator(lambda value: {"kind": value} if isinstance(value, str) else value),
]


class AnyPartition(Model):
    __doc__ = "What every partition says; each kind has a model of its own."

    what = "any `partition`"

    drops: Annotated[bool, WeakerIf("absent")] = Field(
        default=False, description="Declares that some row is in none of the blocks that are read."
    )
    max_blocks_per_unit: Optional[Limit] = Field(
        default=None, description="How many blocks the rows of one privacy unit touch at most."
    )
    max_rows_per_block: Optional[Limit] = Field(
        default=None, description="How many rows of one privacy unit are in one block at most."
    )
    because: Because
    by: str = Field(description="What rows are assigned to blocks by.")


@cache
def partition_model(by: str) -> type[AnyPartition]:
    """Returns the model of a kind of partition."""
    model: type[AnyPartition] = model_of(
        PARTITIONS[by],
        AnyPartition,
        f"By{by.title()}",
        f"a partition by {by}",
        ("by", "What rows are assigned to blocks by."),
        _TYPES,
    )
    return model


Partition = Annotated[AnyPartition, by_key("by", PARTITIONS, partition_model)]


# --- datasets ------------------------------------------------------------------------------------

#: What a root may be.
DOMAINS = {
    "table": "a multiset of rows, of any number",
    "fixed-size-table": "a table whose number of rows is public",
    "ordered-table": "a table whose rows have positions",
    "graph": "a graph with public vertices and sensitive edges",
}


class WrittenJoint(Model):
    __doc__ = "A bound on how far several values move together."

    what = "a joint bound"
    datasets: list[Reference] = Field(
        min_length=1, description="Values that are made straight from this root."
    )
    l1: Annotated[Scalar, WeakerIf("larger")] = Field(
        description="How far one row of the root, or all rows of one unit, move all of them in "
        "sum, in L1."
    )


class Table(Model):
    __doc__ = "A root: a table of sensitive rows."

    what = "a root"
    domain: Literal["table", "fixed-size-table", "ordered-table"] = Field(
        default="table",
        description="What the root is: "
        + "; ".join(f"`{name}`, {says}" for name, says in DOMAINS.items() if name != "graph")
        + ".",
    )
    unit: Optional[Name] = Field(default=None, description="The column of the privacy unit.")
    max_rows_per_unit: Optional[Limit] = Field(
        default=None, description="The most rows that one privacy unit has here."
    )
    columns: Optional[Annotated[list[Name], Field(min_length=1)]] = Field(
        default=None, description="All columns that a row has; names of others are then faults."
    )
    size: Optional[Whole] = Field(default=None, description="The public number of rows.")
    joint: Annotated[Optional[WrittenJoint], WeakerIf("absent")] = Field(
        default=None,
        description="A bound on several values together: `{datasets: [a, b], l1: 65536}`.",
    )
    because: Because


class Graph(Model):
    __doc__ = "A root: a graph with public vertices and sensitive edges."

    what = "a graph"
    domain: Literal["graph"] = Field(description="What the root is: a graph.")
    max_degree: Optional[Limit] = Field(
        default=None, description="The largest degree of a vertex, in every graph of the domain."
    )
    because: Because


class Mapped(Model):
    __doc__ = "A dataset made by a map; `from: name.*` makes one for every block."

    what = "a derived dataset"
    from_: Reference = Field(
        alias="from", description="A dataset, a block `name.block`, or `name.*`."
    )
    map: Map = Field(description="The map: a kind, or a mapping with `kind`.")
    because: Because


class Split(Model):
    __doc__ = "A partition of a dataset into blocks."

    what = "a partition"
    from_: Reference = Field(
        alias="from", description="A dataset, a block `name.block`, or `name.*`."
    )
    partition: Partition = Field(description="How rows are assigned to blocks.")
    because: Because


def _dataset(value: object) -> type[Model] | str | None:
    """Returns the model for a dataset; a tag with `?` for one that no model fits, None if it is no
    mapping."""
    if not isinstance(value, dict):
        return None
    match "map" in value, "partition" in value:
        case True, True:
            return "?both"
        case True, False:
            return Mapped
        case False, True:
            return Split
    if "from" in value:
        return "?neither"
    domain = value.get("domain", "table")
    if domain == "graph":
        return Graph
    return "?domain" if isinstance(domain, str) and domain not in DOMAINS else Table


Dataset = Annotated[Table | Graph | Mapped | Split, OneOf(_dataset, Table, Graph, Mapped, Split)]
