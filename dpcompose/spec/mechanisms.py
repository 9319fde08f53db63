"""Mechanisms as they are written."""

from typing import Annotated

from pydantic import Field, Tag

from dpcompose.spec.concrete import (
    CONCRETE,
    NOISE_KEYS,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    RandomizedResponse,
)
from dpcompose.spec.entry import Reading
from dpcompose.spec.fields import Because, Name
from dpcompose.spec.guarantees import (
    NOTIONS,
    Approx,
    Gdp,
    Guarantee,
    Profile,
    Pure,
    Rdp,
    Zcdp,
)
from dpcompose.spec.lazily import Lazily
from dpcompose.spec.models import Model


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


class RdpMechanism(Rdp, Reading):
    """A mechanism with Rényi differential privacy."""

    what = "a mechanism of notion `rdp`"


class ProfileMechanism(Profile, Reading):
    """A mechanism that is (ε, δ)-differentially private for several pairs."""

    what = "a mechanism of notion `profile`"


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
    because: Because


AnyStated = (
    PureMechanism | ApproxMechanism | ZcdpMechanism | GdpMechanism | RdpMechanism | ProfileMechanism
)


def _mechanism_tag(value: object) -> str | None:
    if not isinstance(value, dict):
        return None
    notion, mechanism = value.get("notion"), value.get("mechanism")
    if "post_processes" in value:
        return "<post-processing>"
    if "guarantees" in value:
        return "<several>"
    # With both, what else is there tells which was meant.
    if "mechanism" in value and ("notion" not in value or not NOISE_KEYS.isdisjoint(value)):
        known = isinstance(mechanism, str) and mechanism in CONCRETE
        return f"<{mechanism} noise>" if known else "?mechanism"
    if isinstance(notion, str) and notion in NOTIONS:
        return f"<{notion} mechanism>"
    return "?notion"


Mechanism = Annotated[
    Annotated[PureMechanism, Tag("<pure mechanism>")]
    | Annotated[ApproxMechanism, Tag("<approx mechanism>")]
    | Annotated[ZcdpMechanism, Tag("<zcdp mechanism>")]
    | Annotated[GdpMechanism, Tag("<gdp mechanism>")]
    | Annotated[RdpMechanism, Tag("<rdp mechanism>")]
    | Annotated[ProfileMechanism, Tag("<profile mechanism>")]
    | Annotated[Laplace, Tag("<laplace noise>")]
    | Annotated[Gaussian, Tag("<gaussian noise>")]
    | Annotated[Geometric, Tag("<geometric noise>")]
    | Annotated[DiscreteGaussian, Tag("<discrete-gaussian noise>")]
    | Annotated[Exponential, Tag("<exponential noise>")]
    | Annotated[RandomizedResponse, Tag("<randomized-response noise>")]
    | Annotated[SeveralMechanism, Tag("<several>")]
    | Annotated[PostProcessing, Tag("<post-processing>")],
    Lazily(_mechanism_tag),
]
