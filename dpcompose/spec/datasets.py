"""Datasets as they are written: roots, what is made by a map, and partitions."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from dpcompose.spec.fields import Because, Name, Optional, Reference, Whole
from dpcompose.spec.maps import Map
from dpcompose.spec.models import Model

# --- partitions ----------------------------------------------------------------------------------


def _blocks_tag(value: object) -> str:
    return "<names>" if isinstance(value, list) else "<count>"


Blocks = Annotated[
    Annotated[Whole, Tag("<count>")] | Annotated[list[Name], Tag("<names>"), Field(min_length=1)],
    Discriminator(_blocks_tag),
]
_BLOCKS = "How many blocks (then named 0, 1, …), or their names."


class WrittenPartition(Model):
    """What every partition has."""

    drops: bool = Field(
        default=False, description="Declares that some row is in none of the blocks that are read."
    )
    max_blocks_per_unit: Optional[Whole] = Field(
        default=None, description="How many blocks the rows of one privacy unit touch at most."
    )
    max_rows_per_block: Optional[Whole] = Field(
        default=None, description="How many rows of one privacy unit are in one block at most."
    )
    because: Because


class ByValue(WrittenPartition):
    """Blocks are disjoint sets of row values."""

    what = "a partition by value"
    by: Literal["value"]
    blocks: Blocks = Field(description=_BLOCKS)


class ByKey(WrittenPartition):
    """Blocks are sets of values of one identifying column."""

    what = "a partition by key"
    by: Literal["key"]
    column: Name = Field(description="The identifying column.")
    blocks: Blocks = Field(description=_BLOCKS)


class ByPosition(WrittenPartition):
    """Blocks are ranges of the positions of an ordered table."""

    what = "a partition by position"
    by: Literal["position"]
    blocks: Blocks = Field(description=_BLOCKS)


class ByMembership(WrittenPartition):
    """Blocks overlap: each row is in at most `max_blocks` of them."""

    what = "a partition by membership"
    by: Literal["membership"]
    blocks: Blocks = Field(description=_BLOCKS)
    max_blocks: Whole = Field(description="How many blocks one row is in at most.")


class ByKinds(WrittenPartition):
    """Every row is of one kind, which says what blocks it is in."""

    what = "a partition by kinds"
    by: Literal["kinds"]
    kinds: dict[str, list[Name]] = Field(
        min_length=1,
        description="For each kind of row the blocks that it is in; `other: []` for rows of none.",
    )


def _partition_tag(value: object) -> str | None:
    if not isinstance(value, dict):
        return None
    by = value.get("by")
    return f"<by {by}>" if isinstance(by, str) and by in PARTITION_KINDS else "?by"


AnyPartition = Annotated[
    Annotated[ByValue, Tag("<by value>")]
    | Annotated[ByKey, Tag("<by key>")]
    | Annotated[ByPosition, Tag("<by position>")]
    | Annotated[ByMembership, Tag("<by membership>")]
    | Annotated[ByKinds, Tag("<by kinds>")],
    Discriminator(_partition_tag),
]


# --- datasets ------------------------------------------------------------------------------------


class Table(Model):
    """A root: a table of sensitive rows."""

    what = "a root"
    domain: Literal["table", "fixed-size-table", "ordered-table"] = Field(
        default="table",
        description="Rows of any number, rows of a public number, or rows with positions.",
    )
    unit: Optional[Name] = Field(default=None, description="The column of the privacy unit.")
    size: Optional[Whole] = Field(default=None, description="The public number of rows.")
    because: Because


class Graph(Model):
    """A root: a graph with public vertices and sensitive edges."""

    what = "a graph"
    domain: Literal["graph"]
    max_degree: Optional[Whole] = Field(
        default=None, description="The largest degree of a vertex, in every graph of the domain."
    )
    because: Because


class Mapped(Model):
    """A dataset made by a map; `from: name.*` makes one for every block."""

    what = "a derived dataset"
    from_: Reference = Field(
        alias="from", description="A dataset, a block `name.block`, or `name.*`."
    )
    map: Map = Field(description="The map: a kind, or a mapping with `kind`.")
    because: Because


class Split(Model):
    """A partition of a dataset into blocks."""

    what = "a partition"
    from_: Reference = Field(
        alias="from", description="A dataset, a block `name.block`, or `name.*`."
    )
    partition: AnyPartition = Field(description="How rows are assigned to blocks.")
    because: Because


def _dataset_tag(value: object) -> str | None:
    if not isinstance(value, dict):
        return None
    match "map" in value, "partition" in value:
        case True, True:
            return "?both"
        case True, False:
            return "<mapped>"
        case False, True:
            return "<split>"
    if "from" in value:
        return "?neither"
    domain = value.get("domain", "table")
    if domain == "graph":
        return "<graph>"
    return "?domain" if isinstance(domain, str) and domain not in DOMAINS else "<table>"


Dataset = Annotated[
    Annotated[Table, Tag("<table>")]
    | Annotated[Graph, Tag("<graph>")]
    | Annotated[Mapped, Tag("<mapped>")]
    | Annotated[Split, Tag("<split>")],
    Discriminator(_dataset_tag),
]

PARTITION_KINDS: dict[str, type[Model]] = {
    "value": ByValue,
    "key": ByKey,
    "position": ByPosition,
    "membership": ByMembership,
    "kinds": ByKinds,
}
DOMAINS = ("table", "fixed-size-table", "ordered-table", "graph")
