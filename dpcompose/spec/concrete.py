"""Concrete mechanisms as they are written: what is drawn, and how far one row moves it."""

from types import new_class
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from dpcompose.core.mechanisms import FORMS
from dpcompose.core.mechanisms.family import REQUIRED, FamilyForm, Sort
from dpcompose.spec.fields import Optional, Parameter, Scalar, Several, Whole
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


class Concrete(ReadingEntry):
    __doc__ = "What every concrete mechanism with a sensitivity says."

    what = "a concrete mechanism"
    mechanism: str = Field(description=MECHANISM)
    sensitivity: Sensitivity = Field(description=SENSITIVITY)
    relation: Optional[Relation] = Field(
        default=None, description="With a number for sensitivity: the change that it is for."
    )


class ByRows(ReadingEntry):
    __doc__ = (
        "What every concrete mechanism says that has no sensitivity: each row answers by itself."
    )

    what = "a concrete mechanism"
    mechanism: str = Field(description=MECHANISM)


class BySteps(ReadingEntry):
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


def _model(form: FamilyForm) -> type[ReadingEntry]:
    """Returns the pydantic model of a mechanism family, with the keys of its form."""
    base = BySteps if form.by_steps else ByRows if form.sensitivity is None else Concrete
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
    name = form.name.title().replace("-", "")
    return new_class(name, (base,), exec_body=lambda own: own.update(space))


#: The model of each family by its name.
CONCRETE: dict[str, type[ReadingEntry]] = {name: _model(form) for name, form in FORMS.items()}
#: Keys that only concrete mechanisms have; ε and δ are also of stated guarantees, and people write
#: `noise` for `mechanism`, `steps` for `count`.
NOISE_KEYS = frozenset({key.name for form in FORMS.values() for key in form.keys}) - {
    "epsilon",
    "delta",
    "noise",
    "steps",
} | {"sensitivity"}


def noise_keys(kind: str) -> list[str]:
    """Returns the keys that are parameters of the noise of a kind of concrete mechanism."""
    model = CONCRETE[kind]
    own = [key.name for key in FORMS[kind].keys]
    return [*own, "sensitivity"] if issubclass(model, Concrete) else own
