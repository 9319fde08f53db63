"""Concrete mechanisms as they are written: what is drawn, and how far one row moves it."""

from functools import reduce
from operator import or_
from types import new_class
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from dpcompose.core.mechanisms import FORMS
from dpcompose.core.mechanisms.family import REQUIRED, FamilyForm, Sort
from dpcompose.spec.fields import Optional, Parameter, Scalar, Several, Whole
from dpcompose.spec.guarantees import NOTIONS
from dpcompose.spec.mechanism_entry import ReadingEntry
from dpcompose.spec.models import Model
from dpcompose.spec.relations import Relation


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


def _moved_tag(value: object) -> str:
    """Returns the tag of the model for one sensitivity: a number, one in named norms, or one by
    block."""
    if not isinstance(value, dict):
        return "<number>"
    return "<normed>" if value and value.keys() <= {*NORM_KEYS} else "<by block>"


#: A sensitivity for one kind of change: in the norm of the mechanism, for each block, or in one
#: that is named.
Moved = Annotated[
    Annotated[Scalar, Tag("<number>")]
    | Annotated[dict[str, Scalar], Tag("<by block>")]
    | Annotated[Normed, Tag("<normed>")],
    Discriminator(_moved_tag),
]


class Sensitivities(Model):
    __doc__ = "How far one row moves what is released, for each kind of row change."

    what = "a sensitivity"
    unbounded: Optional[Moved] = Field(default=None, description="For one row added or removed.")
    bounded: Optional[Moved] = Field(default=None, description="For one row replaced.")


def _sensitivity_tag(value: object) -> str:
    """Returns the tag of the model for a sensitivity: a number, in named norms, or by kind of row
    change."""
    if not isinstance(value, dict):
        return "<number>"
    return "<normed>" if value and value.keys() & {*NORM_KEYS} else "<sensitivities>"


Sensitivity = Annotated[
    Annotated[Scalar, Tag("<number>")]
    | Annotated[Normed, Tag("<normed>")]
    | Annotated[Sensitivities, Tag("<sensitivities>")],
    Discriminator(_sensitivity_tag),
]


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
    sensitivity: Sensitivity = Field(description=SENSITIVITY)
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


#: A concrete mechanism as it is read: `_model` makes a model of its own for each family.
AnyConcrete = Concrete | ByRows | BySteps
#: What stands at a key of each sort.
_TYPES: dict[Sort, Any] = {
    Sort.NUMBER: Parameter,
    Sort.WHOLE: Whole,
    Sort.SEVERAL: Several,
    Sort.FLAG: bool,
}


def _model(form: FamilyForm) -> type[Model]:
    """Returns the pydantic model of a mechanism family, with the keys of its form, without a
    name."""
    base: type[Model] = ByRows if form.sensitivity is None else Concrete
    if form.by_steps:
        base = Model if form.name == "select" else BySteps  # the runs have the relation
    space: dict[str, Any] = {
        "__module__": __name__,
        "__doc__": form.about,
        "__annotations__": {"mechanism": Literal[form.name]},
        "what": f"`mechanism: {form.name}`",
        "mechanism": Field(description=MECHANISM),
    }
    may_be_left_out: Any = Optional
    for key in form.keys:
        held = Literal[key.choices] if key.sort is Sort.CHOICE else _TYPES[key.sort]
        default: Any = ... if key.default is REQUIRED else key.default
        space["__annotations__"][key.name] = may_be_left_out[held] if key.default is None else held
        space[key.name] = Field(default, description=key.says)
    if form.moved is not None:
        space["__annotations__"]["sensitivity"] = Sensitivity
        about = f"{SENSITIVITY} Default: {form.moved}."
        space["sensitivity"] = Field(default=form.moved, description=about)
    return new_class(_title(form), (base,), exec_body=lambda own: own.update(space))


def _title(form: FamilyForm) -> str:
    return form.name.title().replace("-", "")


def _entry(form: FamilyForm, model: type[Model]) -> type[ReadingEntry]:
    """Returns the pydantic model of a mechanism family as an entry of a spec, with a name."""
    space = {"__module__": __name__, "__doc__": form.about, "what": model.what}
    name = f"{_title(form)}Mechanism"
    return new_class(name, (model, ReadingEntry), exec_body=lambda own: own.update(space))


#: The model of each family without a name, by the name of the family, as the runs of `select` are.
RUNS_OF: dict[str, type[Model]] = {
    name: _model(form) for name, form in FORMS.items() if name != "select"
}


def _run_tag(value: object) -> str | None:
    """Returns the tag of the model for one run; a tag with `?` for one that no model fits, None if
    it is no mapping."""
    if not isinstance(value, dict):
        return None
    kind, notion = value.get("mechanism"), value.get("notion")
    if kind is not None:
        return f"<run of {kind}>" if isinstance(kind, str) and kind in RUNS_OF else "?mechanism"
    known = isinstance(notion, str) and notion in NOTIONS
    return f"<{notion}>" if known else "?notion"


_RUN_MODELS: dict[str, type[Model]] = {
    **{f"<{notion}>": model for notion, model in NOTIONS.items()},
    **{f"<run of {kind}>": model for kind, model in RUNS_OF.items()},
}
#: One run of a selection: a concrete mechanism or a stated guarantee, without a name.
if TYPE_CHECKING:
    _Run = Model
else:
    _Run = Annotated[
        reduce(or_, (Annotated[model, Tag(tag)] for tag, model in _RUN_MODELS.items())),
        Discriminator(_run_tag),
    ]


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


def _of_tag(value: object) -> str:
    return "<runs>" if isinstance(value, list) else "<run>"


_TYPES |= {
    Sort.RUN: Annotated[
        Annotated[_Run, Tag("<run>")]
        | Annotated[list[_Run], Tag("<runs>"), Field(min_length=1, max_length=MOST_TOGETHER)],
        Discriminator(_of_tag),
    ],
    Sort.RUNS: Runs,
}
#: The model of each family by its name, as an entry of a spec.
CONCRETE: dict[str, type[ReadingEntry]] = {
    name: _entry(form, RUNS_OF.get(name) or _model(form)) for name, form in FORMS.items()
}


def kind_of(model: type[Model]) -> str | None:
    """Returns the name of the family that a model is of, as an entry or as a run; None for other
    models."""
    return next((name for name, own in CONCRETE.items() if model in own.__mro__[:2]), None)


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
    own = [key.name for key in FORMS[kind].keys]
    return [*own, "sensitivity"] if issubclass(CONCRETE[kind], Concrete) else own
