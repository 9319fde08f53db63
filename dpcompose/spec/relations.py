"""Neighbouring relations as they are written."""

from typing import Annotated

from pydantic import Discriminator, Field, Tag, WithJsonSchema

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.spec.fields import Name, Optional, Whole
from dpcompose.spec.models import Model

#: What one step of each built-in relation is.
RELATIONS: dict[str, str] = {
    RelationKind.UNBOUNDED: "one row is added or removed",
    RelationKind.BOUNDED: "one row is replaced",
    "zero-out": "one row becomes a null, which counts for nothing; the number of rows is public",
    RelationKind.USER: "all rows of one privacy unit are added or removed",
    RelationKind.EDGE: "one edge of a graph is added or removed",
    RelationKind.NODE: "all edges of one vertex are added or removed, the vertices being public",
    RelationKind.NODE_REWIRED: "the edges of one vertex become any others",
    RelationKind.FREE_LUNCH: "everything may change",
    RelationKind.EUCLIDEAN: "a value moves; ε is for each unit of the distance",
    "l1": "a value of metric `l1` moves; ε is for each unit of the distance in L1",
}
RelationName = Annotated[
    str,
    WithJsonSchema({"anyOf": [{"enum": [*map(str, RELATIONS)]}, {"type": ["string", "number"]}]}),
]


class LongRelation(Model):
    __doc__ = (
        "A relation, and the columns that a replacement keeps, or those that alone it changes."
    )

    what = "a relation"
    relation: RelationName = Field(description="The name of a neighbouring relation.")
    keeps: list[Name] = Field(
        default=[],
        description="With `bounded`: columns that a replacement leaves as they are (public).",
    )
    changes: Optional[Annotated[list[Name], Field(min_length=1)]] = Field(
        default=None,
        description="With `bounded`: the only columns that a replacement may change, of a root "
        "that names its `columns`; excludes `keeps`.",
    )


class Protected(LongRelation):
    __doc__ = "The relation to protect, for groups and for replacements that keep columns."

    what = "the relation to protect"
    distance: Whole = Field(default=1, description="Protect this many steps at once.")


class Declared(Model):
    __doc__ = (
        "A relation of your own: its neighbours are at most `distance` steps of `within` apart."
    )

    what = "a declared relation"
    within: RelationName = Field(description="A built-in relation.")
    distance: Whole = Field(description="How many steps of it at most.")


def _relation_tag(value: object) -> str | None:
    """Returns the tag of the model for a relation; None for a value of a wrong type."""
    if isinstance(value, str):
        return "<relation>"
    return "<long relation>" if isinstance(value, dict) else None


def _protected_tag(value: object) -> str | None:
    """Returns the tag of the model for the relation to protect; None for a value of a wrong
    type."""
    if isinstance(value, str):
        return "<relation>"
    return "<protected>" if isinstance(value, dict) else None


Relation = Annotated[
    Annotated[RelationName, Tag("<relation>")] | Annotated[LongRelation, Tag("<long relation>")],
    Discriminator(_relation_tag),
]
Protect = Annotated[
    Annotated[RelationName, Tag("<relation>")] | Annotated[Protected, Tag("<protected>")],
    Discriminator(_protected_tag),
]
