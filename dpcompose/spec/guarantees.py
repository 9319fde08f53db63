"""Stated guarantees as they are written."""

from typing import Annotated, Literal

from pydantic import Field

from dpcompose.spec.asked import Relation
from dpcompose.spec.fields import (
    PAIR_SCHEMA,
    KeysAreNumbers,
    Model,
    Optional,
    Parameter,
    Probability,
    ProbabilityParameter,
    ReadBy,
    Reference,
    Scalar,
    WeakerIf,
    by_key,
    by_shape,
    expected,
)

#: The most points of a guarantee.
MOST_POINTS = 1000
#: A loss that is stated: whoever loses no more loses no more than a larger one.
_LOSS = WeakerIf("larger")
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
    epsilon: Annotated[Parameter, _LOSS] = Field(description="ε of one step of the relation.")


class Approx(Stated):
    __doc__ = "(ε, δ)-differential privacy."

    what = "a guarantee of notion `approx`"
    notion: Literal["approx"] = Field(description=NOTION)
    epsilon: Annotated[Parameter, _LOSS] = Field(description="ε of one step of the relation.")
    delta: Annotated[ProbabilityParameter, _LOSS] = Field(
        description="δ of one step of the relation, below 1."
    )


class Zcdp(Stated):
    __doc__ = "Zero-concentrated differential privacy."

    what = "a guarantee of notion `zcdp`"
    notion: Literal["zcdp"] = Field(description=NOTION)
    rho: Annotated[Parameter, _LOSS] = Field(description="ρ of one step of the relation.")


class Gdp(Stated):
    __doc__ = "Gaussian differential privacy."

    what = "a guarantee of notion `gdp`"
    notion: Literal["gdp"] = Field(description=NOTION)
    mu: Annotated[Parameter, _LOSS] = Field(description="μ of one step of the relation.")


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
    """Returns the two expressions of a point that is a list of two texts, such as `[2, 0.1]`, not
    parsed yet; raises the error of the field for another value."""
    if isinstance(value, list) and len(value) == 2:
        first, second = value
        if isinstance(first, str) and isinstance(second, str):
            return first, second
    raise expected("two numbers", "a point is a pair of numbers, such as `[2, 0.1]`")


Pair = Annotated[tuple[Scalar, Scalar], ReadBy(_pair, PAIR_SCHEMA)]


#: A point of either notion, as it is read.
AnyPoint = tuple[str, str] | RdpPoint | ProfilePoint


RdpPoints = Annotated[
    Annotated[
        list[Annotated[Pair | RdpPoint, by_shape(list, dict)]],
        Field(min_length=1, max_length=MOST_POINTS),
    ]
    | Annotated[dict[str, Scalar], KeysAreNumbers(), Field(min_length=1, max_length=MOST_POINTS)],
    by_shape(list, dict),
]
ProfilePoints = Annotated[
    Annotated[
        list[Annotated[Pair | ProfilePoint, by_shape(list, dict)]],
        Field(min_length=1, max_length=MOST_POINTS),
    ]
    | Annotated[
        dict[str, Probability], KeysAreNumbers(), Field(min_length=1, max_length=MOST_POINTS)
    ],
    by_shape(list, dict),
]


class Rdp(Stated):
    __doc__ = "Rényi differential privacy at some orders."

    what = "a guarantee of notion `rdp`"
    notion: Literal["rdp"] = Field(description=NOTION)
    points: Optional[RdpPoints] = Field(
        default=None, description="Pairs [α, ε] of one step of the relation, each α above 1."
    )
    alpha: Optional[Parameter] = Field(default=None, description="With one order only: α, above 1.")
    epsilon: Optional[Annotated[Parameter, _LOSS]] = Field(
        default=None, description="With one order only: ε at this α."
    )


class Profile(Stated):
    __doc__ = "(ε, δ)-differential privacy for several pairs at once."

    what = "a guarantee of notion `profile`"
    notion: Literal["profile"] = Field(description=NOTION)
    points: ProfilePoints = Field(
        description="Pairs [ε, δ] of one step of the relation, all of which hold."
    )


#: The model of each notion by its name.
NOTIONS: dict[str, type[Stated]] = {
    "pure": Pure,
    "approx": Approx,
    "zcdp": Zcdp,
    "gdp": Gdp,
    "rdp": Rdp,
    "profile": Profile,
}
Guarantee = Annotated[
    Pure | Approx | Zcdp | Gdp | Rdp | Profile, by_key("notion", NOTIONS, NOTIONS.__getitem__)
]
