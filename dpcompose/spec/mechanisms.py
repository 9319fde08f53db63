"""Mechanisms as they are written."""

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated

from pydantic import Discriminator, Field, Tag

from dpcompose.spec.concrete import CONCRETE, NOISE_KEYS
from dpcompose.spec.fields import Because, Name
from dpcompose.spec.guarantees import NOTIONS, Approx, Gdp, Guarantee, Profile, Pure, Rdp, Zcdp
from dpcompose.spec.mechanism_entry import ReadingEntry
from dpcompose.spec.models import Model


class PureMechanism(Pure, ReadingEntry):
    __doc__ = "A mechanism that is ε-differentially private."

    what = "a mechanism of notion `pure`"
    local: bool = Field(
        default=False,
        description="Every row randomizes a report of its own, for `shuffle`: ε is of one report.",
    )


class ApproxMechanism(Approx, ReadingEntry):
    __doc__ = "A mechanism that is (ε, δ)-differentially private."

    what = "a mechanism of notion `approx`"


class ZcdpMechanism(Zcdp, ReadingEntry):
    __doc__ = "A mechanism that is ρ-zCDP."

    what = "a mechanism of notion `zcdp`"


class GdpMechanism(Gdp, ReadingEntry):
    __doc__ = "A mechanism that is μ-GDP."

    what = "a mechanism of notion `gdp`"


class RdpMechanism(Rdp, ReadingEntry):
    __doc__ = "A mechanism with Rényi differential privacy."

    what = "a mechanism of notion `rdp`"


class ProfileMechanism(Profile, ReadingEntry):
    __doc__ = "A mechanism that is (ε, δ)-differentially private for several pairs."

    what = "a mechanism of notion `profile`"


class SeveralMechanism(ReadingEntry):
    __doc__ = "A mechanism with several guarantees."

    what = "a mechanism with several guarantees"
    guarantees: list[Guarantee] = Field(min_length=1, description="All of them hold.")


class PostProcessing(Model):
    __doc__ = "Something computed from released outputs alone; it costs nothing."

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
    """Returns the tag of the model for a mechanism; a tag with `?` for one that no model fits, None
    if it is no mapping."""
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


_STATED: dict[str, type[Model]] = {
    "pure": PureMechanism,
    "approx": ApproxMechanism,
    "zcdp": ZcdpMechanism,
    "gdp": GdpMechanism,
    "rdp": RdpMechanism,
    "profile": ProfileMechanism,
}
_MODELS: dict[str, type[Model]] = {
    **{f"<{notion} mechanism>": model for notion, model in _STATED.items()},
    **{f"<{kind} noise>": model for kind, model in CONCRETE.items()},
    "<several>": SeveralMechanism,
    "<post-processing>": PostProcessing,
}

if TYPE_CHECKING:
    Mechanism = ReadingEntry | PostProcessing
else:
    Mechanism = Annotated[
        reduce(or_, (Annotated[model, Tag(tag)] for tag, model in _MODELS.items())),
        Discriminator(_mechanism_tag),
    ]
