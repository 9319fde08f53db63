"""Stated guarantees as they are written."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from dpcompose.spec.fields import (
    PAIR_SCHEMA,
    Optional,
    Parameter,
    Probability,
    ProbabilityParameter,
    ReadBy,
    Reference,
    Scalar,
    expected,
)
from dpcompose.spec.models import Model
from dpcompose.spec.relations import Relation

#: The most points of a guarantee.
MOST_POINTS = 1000
#: What the key `notion` says.
NOTION = "The privacy notion in which the guarantee is stated."


class Stated(Model):
    __doc__ = "What every stated guarantee may say."

    what = "a stated guarantee"
    relation: Optional[Relation] = Field(
        default=None, description="What its neighbours are; default: the relation protected."
    )
    stated_on: Optional[Reference] = Field(
        default=None, description="The dataset whose neighbours are meant; default: the one read."
    )


class Pure(Stated):
    __doc__ = "ε-differential privacy."

    what = "a guarantee of notion `pure`"
    notion: Literal["pure"] = Field(description=NOTION)
    epsilon: Parameter = Field(description="ε of one step of the relation.")


class Approx(Stated):
    __doc__ = "(ε, δ)-differential privacy."

    what = "a guarantee of notion `approx`"
    notion: Literal["approx"] = Field(description=NOTION)
    epsilon: Parameter = Field(description="ε of one step of the relation.")
    delta: ProbabilityParameter = Field(description="δ of one step of the relation, below 1.")


class Zcdp(Stated):
    __doc__ = "Zero-concentrated differential privacy."

    what = "a guarantee of notion `zcdp`"
    notion: Literal["zcdp"] = Field(description=NOTION)
    rho: Parameter = Field(description="ρ of one step of the relation.")


class Gdp(Stated):
    __doc__ = "Gaussian differential privacy."

    what = "a guarantee of notion `gdp`"
    notion: Literal["gdp"] = Field(description=NOTION)
    mu: Parameter = Field(description="μ of one step of the relation.")


# --- guarantees with several numbers -------------------------------------------------------------


class RdpPoint(Model):
    __doc__ = "A divergence at one order."

    what = "a point of notion `rdp`"
    alpha: Scalar = Field(description="The order α, above 1.")
    epsilon: Scalar = Field(description="The Rényi divergence of this order.")


class ProfilePoint(Model):
    __doc__ = "An ε with its δ."

    what = "a point of notion `profile`"
    epsilon: Scalar = Field(description="ε of one step of the relation.")
    delta: Probability = Field(description="δ at this ε, below 1.")


def _pair(value: object) -> tuple[str, str]:
    """Returns the two texts of a pair; raises the error of the field for another value."""
    if isinstance(value, list) and len(value) == 2:
        first, second = value
        if isinstance(first, str) and isinstance(second, str):
            return first, second
    raise expected("two numbers", "a point is a pair of numbers, such as `[2, 0.1]`")


Pair = Annotated[tuple[str, str], ReadBy(_pair, PAIR_SCHEMA)]


#: A point of either notion, as it is read.
AnyPoint = tuple[str, str] | RdpPoint | ProfilePoint


def _points_tag(value: object) -> str | None:
    """Returns the tag of the model for points: a list, or a mapping; None for another type."""
    if isinstance(value, list):
        return "<points>"
    return "<curve>" if isinstance(value, dict) else None


def _rdp_point_tag(value: object) -> str | None:
    """Returns the tag of the model for a point of a Rényi curve; None for a value of a wrong
    type."""
    if isinstance(value, list):
        return "<pair>"
    return "<rdp point>" if isinstance(value, dict) else None


def _profile_point_tag(value: object) -> str | None:
    """Returns the tag of the model for a point of a profile; None for a value of a wrong type."""
    if isinstance(value, list):
        return "<pair>"
    return "<profile point>" if isinstance(value, dict) else None


RdpPoints = Annotated[
    Annotated[
        list[
            Annotated[
                Annotated[Pair, Tag("<pair>")] | Annotated[RdpPoint, Tag("<rdp point>")],
                Discriminator(_rdp_point_tag),
            ]
        ],
        Tag("<points>"),
        Field(min_length=1, max_length=MOST_POINTS),
    ]
    | Annotated[dict[str, Scalar], Tag("<curve>"), Field(min_length=1, max_length=MOST_POINTS)],
    Discriminator(_points_tag),
]
ProfilePoints = Annotated[
    Annotated[
        list[
            Annotated[
                Annotated[Pair, Tag("<pair>")] | Annotated[ProfilePoint, Tag("<profile point>")],
                Discriminator(_profile_point_tag),
            ]
        ],
        Tag("<points>"),
        Field(min_length=1, max_length=MOST_POINTS),
    ]
    | Annotated[
        dict[str, Probability], Tag("<curve>"), Field(min_length=1, max_length=MOST_POINTS)
    ],
    Discriminator(_points_tag),
]


class Rdp(Stated):
    __doc__ = "Rényi differential privacy at some orders."

    what = "a guarantee of notion `rdp`"
    notion: Literal["rdp"] = Field(description=NOTION)
    points: Optional[RdpPoints] = Field(
        default=None, description="Pairs [α, ε] of one step of the relation, each α above 1."
    )
    alpha: Optional[Parameter] = Field(default=None, description="With one order only: α, above 1.")
    epsilon: Optional[Parameter] = Field(
        default=None, description="With one order only: ε at this α."
    )


class Profile(Stated):
    __doc__ = "(ε, δ)-differential privacy for several pairs at once."

    what = "a guarantee of notion `profile`"
    notion: Literal["profile"] = Field(description=NOTION)
    points: ProfilePoints = Field(
        description="Pairs [ε, δ] of one step of the relation, all of which hold."
    )


def _guarantee_tag(value: object) -> str | None:
    """Returns the tag of the model for a guarantee; `?notion` if its notion is unknown, None if no
    mapping."""
    if not isinstance(value, dict):
        return None
    notion = value.get("notion")
    return f"<{notion}>" if isinstance(notion, str) and notion in NOTIONS else "?notion"


Guarantee = Annotated[
    Annotated[Pure, Tag("<pure>")]
    | Annotated[Approx, Tag("<approx>")]
    | Annotated[Zcdp, Tag("<zcdp>")]
    | Annotated[Gdp, Tag("<gdp>")]
    | Annotated[Rdp, Tag("<rdp>")]
    | Annotated[Profile, Tag("<profile>")],
    Discriminator(_guarantee_tag),
]

NOTIONS: dict[str, type[Stated]] = {
    "pure": Pure,
    "approx": Approx,
    "zcdp": Zcdp,
    "gdp": Gdp,
    "rdp": Rdp,
    "profile": Profile,
}
