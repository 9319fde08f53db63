"""Mechanisms as they are written: concrete ones, with what is drawn and how far one row moves it,
stated ones, and what is computed from outputs."""

from functools import cache
from types import new_class
from typing import Annotated, Any

from pydantic import Field

from dpcompose.core.mechanisms import FORMS
from dpcompose.core.mechanisms.family import FamilyForm
from dpcompose.core.numbers.form_keys import Sort
from dpcompose.spec.asked import Relation
from dpcompose.spec.fields import (
    Because,
    Model,
    Name,
    OneOf,
    Optional,
    Parameter,
    Reference,
    Scalar,
    Several,
    WeakerIf,
    Whole,
    by_shape,
    kind_at,
    model_of,
)
from dpcompose.spec.guarantees import NOTIONS, Guarantee, Pure


class ReadingEntry(Model):
    __doc__ = "What every mechanism that reads a dataset has."

    what = "a mechanism"
    name: Name = Field(description="A name of its own.")
    reads: Reference = Field(
        description="A dataset, a block `name.block`, or `name.*`: a copy on each."
    )
    count: Whole = Field(default=1, description="How many independent copies are released.")
    because: Because
    group: Optional[Name] = Field(
        default=None, description="What it is part of: reports sum the costs of a group."
    )
    tags: Optional[Name] = Field(default=None, description="Another word for `group`.")
    interactive: bool = Field(
        default=False,
        description="It answers questions that are chosen on the way, while others are open; its "
        "guarantee holds against such an analyst.",
    )
    uses: Annotated[Optional[list[Name]], WeakerIf("absent")] = Field(
        default=None,
        description="The columns of what it reads on which it depends alone: as if it read "
        "`map: {kind: columns, only: [...]}` of it.",
    )


# --- how far one row moves what is released ------------------------------------------------------


class Normed(Model):
    __doc__ = """\
    How far one row moves what is released, in a norm that is named; all that is said holds.

    A plain number is in L1 for Laplace, geometric and Skellam noise, in L2 for Gaussian and
    discrete Gaussian noise.
    """

    what = "a sensitivity in a norm"
    l1: Optional[Scalar] = Field(default=None, description="In L1: the sum over the coordinates.")
    l2: Optional[Scalar] = Field(default=None, description="In L2, as Euclid measures.")
    l2_squared: Optional[Scalar] = Field(
        default=None, description="The square of L2: the sum of the squares of the coordinates."
    )
    one_hot: Optional[Scalar] = Field(
        default=None,
        description="Each row adds a number from 0 to this to one coordinate of a vector, and "
        "nothing to the others, as in a histogram: for rows that come, go or are replaced.",
    )
    dimension: Optional[Whole] = Field(
        default=None, description="How many coordinates one row moves at most."
    )


#: The most mechanisms of which one run consists.
MOST_TOGETHER = 100
#: A sensitivity for one kind of change, as it is read.
AnyMoved = str | dict[str, str] | Normed
#: The keys of a sensitivity in a norm.
NORM_KEYS = tuple(Normed.model_fields)
#: The changes of rows for each of which a sensitivity may be stated.
ROW_CHANGES = ("unbounded", "bounded")


def _sensitivity_type(value: object) -> type:
    """Returns the type of one sensitivity: a number, one in named norms, or one by block."""
    if not isinstance(value, dict):
        return str
    return Normed if value and value.keys() <= {*NORM_KEYS} else dict


#: A sensitivity for one kind of change: in the norm of the mechanism, for each block, or in one
#: that is named.
Moved = Annotated[Scalar | dict[str, Scalar] | Normed, OneOf(_sensitivity_type, str, dict, Normed)]


class Sensitivities(Model):
    __doc__ = "How far one row moves what is released, for each kind of row change."

    what = "a sensitivity"
    unbounded: Optional[Moved] = Field(default=None, description="For one row added or removed.")
    bounded: Optional[Moved] = Field(default=None, description="For one row replaced.")


def _sensitivity(value: object) -> type:
    """Returns the type of a sensitivity: a number, in named norms, or by kind of row change."""
    if not isinstance(value, dict):
        return str
    return Normed if value and value.keys() & {*NORM_KEYS} else Sensitivities


Sensitivity = Annotated[
    Scalar | Normed | Sensitivities, OneOf(_sensitivity, str, Normed, Sensitivities)
]


# --- concrete mechanisms --------------------------------------------------------------------------

#: What moves by no more than a number moves by no more than a larger one.
_FURTHER = WeakerIf("larger")
#: What the key `sensitivity` says.
SENSITIVITY = (
    "How far one row moves it: a number (for one row added or removed, where rows come and go), or "
    "`{unbounded: …, bounded: …}`."
)
#: What the key `mechanism` says.
MECHANISM = "What is drawn: the family of the noise, of the choice or of the answers."


class Concrete(Model):
    __doc__ = "What every concrete mechanism with a sensitivity says."

    what = "a concrete mechanism"
    mechanism: str = Field(description=MECHANISM)
    sensitivity: Annotated[Sensitivity, _FURTHER] = Field(description=SENSITIVITY)
    relation: Optional[Relation] = Field(
        default=None, description="With a number for sensitivity: the change that it is for."
    )


class ByRows(Model):
    __doc__ = (
        "What every concrete mechanism says that has no sensitivity: each row answers by itself."
    )

    what = "a concrete mechanism"
    mechanism: str = Field(description=MECHANISM)


class BySteps(Model):
    __doc__ = "What every concrete mechanism says that is stated for one step of a relation."

    what = "a concrete mechanism"
    mechanism: str = Field(description=MECHANISM)
    relation: Optional[Relation] = Field(
        default=None, description="What its neighbours are; default: the relation protected."
    )


class Selection(Model):
    __doc__ = "The best of several runs, whose guarantee says for which relation it is."

    what = "a selection"


#: A concrete mechanism as it is read: `run_model` makes a model of its own for each family.
AnyConcrete = Concrete | ByRows | BySteps
#: What stands at a key of each sort.
_TYPES: dict[Sort, Any] = {
    Sort.NUMBER: Parameter,
    Sort.WHOLE: Whole,
    Sort.SEVERAL: Several,
    Sort.FLAG: bool,
}


@cache
def run_model(kind: str) -> type[Model]:
    """Returns the model of a mechanism family or a notion without a name, as the runs of `select`
    are."""
    if kind in NOTIONS:
        return NOTIONS[kind]
    form = FORMS[kind]
    base: type[Model] = ByRows if form.sensitivity is None else Concrete
    if form.by_steps:
        base = Selection if kind == "select" else BySteps  # the runs have the relation
    more = {}
    if form.moved is not None:
        about = f"{SENSITIVITY} Default: {form.moved}."
        held = Annotated[Sensitivity, _FURTHER]
        more["sensitivity"] = (held, Field(default=form.moved, description=about))
    elif form.relative:  # it says which weights are drawn from, and so has no weaker direction
        more["sensitivity"] = (Sensitivity, Field(description=SENSITIVITY))
    what, tag = f"`mechanism: {kind}`", ("mechanism", MECHANISM)
    model: type[Model] = model_of(form, base, _title(kind), what, tag, _TYPES, **more)
    return model


def _title(name: str) -> str:
    return name.title().replace("-", "")


#: The families of which the runs of a selection can be.
_RUNS = tuple(name for name in FORMS if name != "select")


def _run(value: object) -> str | None:
    """Returns the kind or the notion of one run; a tag with `?` for one that no model fits, None if
    it is no mapping."""
    if not isinstance(value, dict):
        return None
    if value.get("mechanism") is not None:
        return value["mechanism"] if value["mechanism"] in _RUNS else "?mechanism"
    return kind_at("notion", value, NOTIONS)


#: One run of a selection: a concrete mechanism or a stated guarantee, without a name.
_Run = Annotated[Model, OneOf(_run, *NOTIONS, *_RUNS, model=run_model)]


class NegativeBinomial(Model):
    __doc__ = "The truncated negative binomial law."

    what = "`negative_binomial`"
    shape: Scalar = Field(description="η: 1 is the geometric law, 0 the logarithmic one.")
    mean: Scalar = Field(description="The mean number of runs.")


class Binomial(Model):
    __doc__ = "The binomial law."

    what = "`binomial`"
    trials: Whole = Field(description="The most runs that there can be.")
    mean: Scalar = Field(description="The mean number of runs.")


class UntilThreshold(Model):
    __doc__ = "Runs until the first whose score is high enough."

    what = "`until_threshold`"
    stop: Scalar = Field(description="The chance to give up after each failure.")


class Runs(Model):
    __doc__ = "The law of a number of runs: one of the keys."

    what = "a law of a number of runs"
    geometric: Optional[Scalar] = Field(
        default=None, description="The mean of a geometric law, which starts at 1."
    )
    logarithmic: Optional[Scalar] = Field(
        default=None, description="The mean of a logarithmic law, which starts at 1."
    )
    negative_binomial: Optional[NegativeBinomial] = Field(
        default=None, description="The truncated negative binomial law: `{shape: η, mean: m}`."
    )
    poisson: Optional[Scalar] = Field(
        default=None, description="The mean of a Poisson law; with no run nothing is released."
    )
    binomial: Optional[Binomial] = Field(
        default=None, description="The binomial law: `{trials: n, mean: m}`."
    )
    fixed: Optional[Whole] = Field(
        default=None, description="A fixed number of runs, which cost as much as all of them."
    )
    until_threshold: Optional[UntilThreshold] = Field(
        default=None,
        description="Until the first score in a fixed set: `{stop: γ}` gives up after each failure "
        "with chance γ.",
    )


_TYPES |= {
    Sort.RUN: Annotated[
        _Run | Annotated[list[_Run], Field(min_length=1, max_length=MOST_TOGETHER)],
        by_shape(object, list),
    ],
    Sort.RUNS: Runs,
}


def kind_of(model: type[Model]) -> str | None:
    """Returns the name of the family that a model is of, as an entry or as a run; None for other
    models."""
    return model.form.name if isinstance(model.form, FamilyForm) else None


#: Keys that only concrete mechanisms have; ε and δ are also of stated guarantees, and people write
#: `noise` for `mechanism`, `steps` for `count`.
NOISE_KEYS = frozenset({key.name for form in FORMS.values() for key in form.keys}) - {
    "epsilon",
    "delta",
    "noise",
    "steps",
    "of",
} | {"sensitivity"}


def noise_keys(kind: str) -> list[str]:
    """Returns the keys that are parameters of the noise of a kind of concrete mechanism."""
    form = FORMS[kind]
    own = [key.name for key in form.keys]
    return own if form.sensitivity is None else [*own, "sensitivity"]


# --- entries under `mechanisms` -------------------------------------------------------------------


class PureMechanism(Pure, ReadingEntry):
    __doc__ = "A mechanism that is ε-differentially private."

    what = "a mechanism of notion `pure`"
    local: bool = Field(
        default=False,
        description="Every row randomizes a report of its own, for `shuffle`: ε is of one report.",
    )


#: What a mechanism of each notion is.
_STATED = {
    "pure": "A mechanism that is ε-differentially private.",
    "approx": "A mechanism that is (ε, δ)-differentially private.",
    "zcdp": "A mechanism that is ρ-zCDP.",
    "gdp": "A mechanism that is μ-GDP.",
    "rdp": "A mechanism with Rényi differential privacy.",
    "profile": "A mechanism that is (ε, δ)-differentially private for several pairs.",
}


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


@cache
def mechanism_model(kind: str) -> type[Model]:
    """Returns the model of an entry of a spec: of a family, a notion, or a key that tells what it
    is."""
    match kind:
        case "post_processes":
            return PostProcessing
        case "guarantees":
            return SeveralMechanism
        case "pure":
            return PureMechanism
    what, about = f"`mechanism: {kind}`", FORMS[kind].about if kind in FORMS else _STATED[kind]
    if kind in NOTIONS:
        what = f"a mechanism of notion `{kind}`"
    space = {"__module__": __name__, "__doc__": about, "what": what}
    bases = (run_model(kind), ReadingEntry)
    return new_class(f"{_title(kind)}Mechanism", bases, exec_body=lambda own: own.update(space))


def _mechanism(value: object) -> str | None:
    """Returns the tag by which a mechanism's entry in a spec is read: its notion or family,
    `guarantees` or `post_processes`; one with `?` if no model fits, None if it is no mapping."""
    if not isinstance(value, dict):
        return None
    for key in ("post_processes", "guarantees"):
        if key in value:
            return key
    # With both, what else is there tells which was meant.
    if "mechanism" in value and ("notion" not in value or not NOISE_KEYS.isdisjoint(value)):
        return kind_at("mechanism", value, FORMS)
    return kind_at("notion", value, NOTIONS)


_KINDS = (*NOTIONS, *FORMS, "guarantees", "post_processes")
Mechanism = Annotated[
    ReadingEntry | PostProcessing, OneOf(_mechanism, *_KINDS, model=mechanism_model)
]
