"""Relations, mechanisms and budgets as they are written."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag, WithJsonSchema

from dpcompose.core.relation import RelationKind
from dpcompose.spec.fields import (
    Model,
    Name,
    Optional,
    Parameter,
    Probability,
    ProbabilityParameter,
    Reference,
    Scalar,
    Whole,
)

# --- relations -----------------------------------------------------------------------------------


_BUILT_IN = [kind.value for kind in RelationKind if kind is not RelationKind.DECLARED]
RelationName = Annotated[
    str, WithJsonSchema({"anyOf": [{"enum": _BUILT_IN}, {"type": ["string", "number"]}]})
]


class LongRelation(Model):
    """A relation, and the columns that a replacement keeps."""

    what = "a relation"
    relation: RelationName = Field(description="The name of a neighbouring relation.")
    keeps: list[Name] = Field(
        default=[],
        description="With `bounded`: columns that a replacement leaves as they are (public).",
    )


class Protected(LongRelation):
    """The relation to protect, for groups and for replacements that keep columns."""

    what = "the relation to protect"
    distance: Whole = Field(default=1, description="Protect this many steps at once.")


class Declared(Model):
    """A relation of your own: its neighbours are at most `distance` steps of `within` apart."""

    what = "a declared relation"
    within: RelationName = Field(description="A built-in relation.")
    distance: Whole = Field(description="How many steps of it at most.")


def _relation_tag(value: object) -> str | None:
    if isinstance(value, str):
        return "<relation>"
    return "<long relation>" if isinstance(value, dict) else None


def _protected_tag(value: object) -> str | None:
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


# --- mechanisms ----------------------------------------------------------------------------------


class Stated(Model):
    """What every stated guarantee may say."""

    relation: Optional[Relation] = Field(
        default=None, description="What its neighbours are; default: the relation protected."
    )
    stated_on: Optional[Reference] = Field(
        default=None, description="The dataset whose neighbours are meant; default: the one read."
    )


class Pure(Stated):
    """ε-differential privacy."""

    what = "a guarantee of notion `pure`"
    notion: Literal["pure"]
    epsilon: Parameter = Field(description="ε of one step of the relation.")


class Approx(Stated):
    """(ε, δ)-differential privacy."""

    what = "a guarantee of notion `approx`"
    notion: Literal["approx"]
    epsilon: Parameter = Field(description="ε of one step of the relation.")
    delta: ProbabilityParameter = Field(description="δ of one step of the relation, below 1.")


class Zcdp(Stated):
    """Zero-concentrated differential privacy."""

    what = "a guarantee of notion `zcdp`"
    notion: Literal["zcdp"]
    rho: Parameter = Field(description="ρ of one step of the relation.")


class Gdp(Stated):
    """Gaussian differential privacy."""

    what = "a guarantee of notion `gdp`"
    notion: Literal["gdp"]
    mu: Parameter = Field(description="μ of one step of the relation.")


def _guarantee_tag(value: object) -> str | None:
    if not isinstance(value, dict):
        return None
    notion = value.get("notion")
    return f"<{notion}>" if isinstance(notion, str) and notion in NOTIONS else "?notion"


Guarantee = Annotated[
    Annotated[Pure, Tag("<pure>")]
    | Annotated[Approx, Tag("<approx>")]
    | Annotated[Zcdp, Tag("<zcdp>")]
    | Annotated[Gdp, Tag("<gdp>")],
    Discriminator(_guarantee_tag),
]


class Reading(Model):
    """What every mechanism that reads a dataset has."""

    name: Name = Field(description="A name of its own.")
    reads: Reference = Field(
        description="A dataset, a block `name.block`, or `name.*`: a copy on each."
    )
    count: Whole = Field(default=1, description="How many independent copies are released.")


class PureMechanism(Pure, Reading):
    """A mechanism that is ε-differentially private."""

    what = "a mechanism of notion `pure`"


class ApproxMechanism(Approx, Reading):
    """A mechanism that is (ε, δ)-differentially private."""

    what = "a mechanism of notion `approx`"


class ZcdpMechanism(Zcdp, Reading):
    """A mechanism that is ρ-zCDP."""

    what = "a mechanism of notion `zcdp`"


class GdpMechanism(Gdp, Reading):
    """A mechanism that is μ-GDP."""

    what = "a mechanism of notion `gdp`"


class SeveralMechanism(Reading):
    """A mechanism with several guarantees."""

    what = "a mechanism with several guarantees"
    guarantees: list[Guarantee] = Field(min_length=1, description="All of them hold.")


class PostProcessing(Model):
    """Something computed from released outputs alone; it costs nothing."""

    what = "a mechanism that post-processes"
    name: Name = Field(description="A name of its own.")
    post_processes: list[Name] = Field(
        min_length=1, description="The mechanisms whose outputs it uses."
    )


def _mechanism_tag(value: object) -> str | None:
    if not isinstance(value, dict):
        return None
    notion = value.get("notion")
    if "post_processes" in value:
        return "<post-processing>"
    if "guarantees" in value:
        return "<several>"
    if isinstance(notion, str) and notion in NOTIONS:
        return NOTIONS[notion]
    return "?mechanism" if "mechanism" in value and notion is None else "?notion"


Mechanism = Annotated[
    Annotated[PureMechanism, Tag("<pure mechanism>")]
    | Annotated[ApproxMechanism, Tag("<approx mechanism>")]
    | Annotated[ZcdpMechanism, Tag("<zcdp mechanism>")]
    | Annotated[GdpMechanism, Tag("<gdp mechanism>")]
    | Annotated[SeveralMechanism, Tag("<several>")]
    | Annotated[PostProcessing, Tag("<post-processing>")],
    Discriminator(_mechanism_tag),
]


# --- budget --------------------------------------------------------------------------------------


class PureBudget(Model):
    """A budget in ε."""

    what = "a budget in ε"
    epsilon: Scalar = Field(description="The largest ε allowed.")


class ApproxBudget(Model):
    """A budget in (ε, δ)."""

    what = "a budget in (ε, δ)"
    epsilon: Scalar = Field(description="The largest ε allowed.")
    delta: Probability = Field(description="The δ at which ε is compared, below 1.")


class ZcdpBudget(Model):
    """A budget in ρ."""

    what = "a budget in ρ"
    rho: Scalar = Field(description="The largest ρ allowed.")


class GdpBudget(Model):
    """A budget in μ."""

    what = "a budget in μ"
    mu: Scalar = Field(description="The largest μ allowed.")


def _budget_tag(value: object) -> str | None:
    if not isinstance(value, dict):
        return None
    for key, tag in _BUDGETS.items():
        if key in value:
            return tag
    return "?budget"


_BUDGETS = {
    "delta": "<approx budget>",
    "epsilon": "<pure budget>",
    "rho": "<zcdp budget>",
    "mu": "<gdp budget>",
}

Budget = Annotated[
    Annotated[PureBudget, Tag("<pure budget>")]
    | Annotated[ApproxBudget, Tag("<approx budget>")]
    | Annotated[ZcdpBudget, Tag("<zcdp budget>")]
    | Annotated[GdpBudget, Tag("<gdp budget>")],
    Discriminator(_budget_tag),
]


NOTIONS = {each: f"<{each} mechanism>" for each in ("pure", "approx", "zcdp", "gdp")}
