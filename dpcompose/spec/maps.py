"""Maps as they are written.

Unions are told apart by functions, so that each part of a spec is held against one model only and
the faults speak of that model. Tags that start with `?` stand for "none of them".
"""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from dpcompose.spec.fields import Name, Optional, Scalar, Whole
from dpcompose.spec.models import Model

DROPS = "Declares that some row of the parent gives nothing to this dataset."
_KEEPS = "Columns that every new row has as its source row."
_ORDER = "With `keep: first`: what orders the rows (fixed, and not by other rows)."
_KEEP = "`first` in one fixed order of the rows, or a fresh uniform `random` choice."
Keep = Literal["first", "random"]


class Filter(Model):
    """Keeps the rows that pass a predicate on the row alone."""

    what = "a map of kind `filter`"
    kind: Literal["filter"]
    drops: bool = Field(default=False, description=DROPS)


class Row(Model):
    """Transforms each row by itself."""

    what = "a map of kind `row`"
    kind: Literal["row"]
    keeps: list[Name] = Field(default=[], description=_KEEPS)


class Flatten(Model):
    """Makes at most `max_rows` rows of each row."""

    what = "a map of kind `flatten`"
    kind: Literal["flatten"]
    max_rows: Whole = Field(description="The most rows that one row gives.")
    exact: bool = Field(default=False, description="Every row gives exactly `max_rows` rows.")
    drops: bool = Field(default=False, description=DROPS)
    keeps: list[Name] = Field(default=[], description=_KEEPS)


class Group(Model):
    """One row for each value of a column."""

    what = "a map of kind `group`"
    kind: Literal["group"]
    by: Name = Field(description="The column.")


class Limit(Model):
    """At most `rows` rows for each value of a column."""

    what = "a map of kind `limit`"
    kind: Literal["limit"]
    per: Name = Field(description="The column.")
    rows: Whole = Field(description="The most rows for one value.")
    keep: Keep = Field(description=_KEEP)
    order: Optional[Name] = Field(default=None, description=_ORDER)


class Cap(Model):
    """At most `rows` rows of each privacy unit."""

    what = "a map of kind `cap`"
    kind: Literal["cap"]
    rows: Whole = Field(description="The most rows of one unit.")
    keep: Keep = Field(description=_KEEP)
    order: Optional[Name] = Field(default=None, description=_ORDER)


class Stable(Model):
    """A map under which one added row changes at most `stability` rows."""

    what = "a map of kind `stable`"
    kind: Literal["stable"]
    stability: Whole = Field(description="Rows changed by one added or removed row.")


class Sensitivity(Model):
    """How far a value moves, for each kind of row change."""

    what = "a sensitivity"
    unbounded: Optional[Scalar] = Field(default=None, description="For one row added or removed.")
    bounded: Optional[Scalar] = Field(default=None, description="For one row replaced.")


def _sensitivity_tag(value: object) -> str:
    return "<sensitivity>" if isinstance(value, dict) else "<number>"


class Value(Model):
    """A point of a metric space, such as a mean or a location."""

    what = "a map of kind `value`"
    kind: Literal["value"]
    metric: Literal["euclidean"] = Field(default="euclidean", description="The metric.")
    sensitivity: Optional[
        Annotated[
            Annotated[Scalar, Tag("<number>")] | Annotated[Sensitivity, Tag("<sensitivity>")],
            Discriminator(_sensitivity_tag),
        ]
    ] = Field(default=None, description="How far one row moves it; a number: one row added.")
    diameter: Optional[Scalar] = Field(
        default=None, description="How far apart any two values are."
    )


class Edges(Model):
    """The table of the edges of a graph."""

    what = "a map of kind `edges`"
    kind: Literal["edges"]


class Nodes(Model):
    """One row for each vertex of a graph, which depends on the vertex's own edges."""

    what = "a map of kind `nodes`"
    kind: Literal["nodes"]


class Sample(Model):
    """One secret random sample of the rows."""

    what = "a map of kind `sample`"
    kind: Literal["sample"]
    poisson: Optional[Scalar] = Field(
        default=None, description="Poisson sampling: the chance of each row, by itself."
    )
    size: Optional[Whole] = Field(
        default=None, description="Without replacement: how many rows are drawn."
    )
    of: Optional[Whole] = Field(
        default=None,
        description="With `size`: the public number of rows, or a public lower bound of it.",
    )
    draws: Literal["each", "one"] = Field(
        default="each",
        description="Whether each copy of a mechanism reads a fresh sample, "
        "or all copies read the same one.",
    )


class Opaque(Model):
    """A map of unknown stability."""

    what = "a map of kind `opaque`"
    kind: Literal["opaque"]


def _map_tag(value: object) -> str | None:
    if not isinstance(value, dict):
        return None
    kind = value.get("kind")
    return f"<{kind}>" if isinstance(kind, str) and kind in MAP_KINDS else "?kind"


def _as_mapping(value: object) -> object:
    return {"kind": value} if isinstance(value, str) else value


Map = Annotated[
    Annotated[Filter, Tag("<filter>")]
    | Annotated[Row, Tag("<row>")]
    | Annotated[Flatten, Tag("<flatten>")]
    | Annotated[Group, Tag("<group>")]
    | Annotated[Limit, Tag("<limit>")]
    | Annotated[Cap, Tag("<cap>")]
    | Annotated[Stable, Tag("<stable>")]
    | Annotated[Value, Tag("<value>")]
    | Annotated[Edges, Tag("<edges>")]
    | Annotated[Nodes, Tag("<nodes>")]
    | Annotated[Sample, Tag("<sample>")]
    | Annotated[Opaque, Tag("<opaque>")],
    Discriminator(_map_tag),
    BeforeValidator(_as_mapping),
]

MAP_KINDS: dict[str, type[Model]] = {
    "filter": Filter,
    "row": Row,
    "flatten": Flatten,
    "group": Group,
    "limit": Limit,
    "cap": Cap,
    "stable": Stable,
    "value": Value,
    "edges": Edges,
    "nodes": Nodes,
    "sample": Sample,
    "opaque": Opaque,
}
