"""Datasets as they are written: roots, what is made by a map, and partitions."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from dpcompose.spec.fields import Because, Name, Optional, Reference, Scalar, Whole
from dpcompose.spec.maps import Map
from dpcompose.spec.models import Model
from dpcompose.spec.partitions import Partition

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
    l1: Scalar = Field(
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
    max_rows_per_unit: Optional[Whole] = Field(
        default=None, description="The most rows that one privacy unit has here."
    )
    columns: Optional[Annotated[list[Name], Field(min_length=1)]] = Field(
        default=None, description="All columns that a row has; names of others are then faults."
    )
    size: Optional[Whole] = Field(default=None, description="The public number of rows.")
    joint: Optional[WrittenJoint] = Field(
        default=None,
        description="A bound on several values together: `{datasets: [a, b], l1: 65536}`.",
    )
    because: Because


class Graph(Model):
    __doc__ = "A root: a graph with public vertices and sensitive edges."

    what = "a graph"
    domain: Literal["graph"] = Field(description="What the root is: a graph.")
    max_degree: Optional[Whole] = Field(
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


def _dataset_tag(value: object) -> str | None:
    """Returns the tag of the model for a dataset; a tag with `?` for one that no model fits, None
    if it is no mapping."""
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
