"""Concrete mechanisms as they are written: what is drawn, and how far one row moves it."""

from types import new_class
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from dpcompose.core.mechanisms import FORMS
from dpcompose.core.mechanisms.family import FamilyForm
from dpcompose.spec.fields import Optional, Parameter, Scalar, Several
from dpcompose.spec.mechanism_entry import ReadingEntry
from dpcompose.spec.models import Model
from dpcompose.spec.relations import Relation


class Sensitivities(Model):
    """How far one row moves what is released, for each kind of row change."""

    what = "a sensitivity"
    unbounded: Optional[Parameter] = Field(
        default=None, description="For one row added or removed."
    )
    bounded: Optional[Parameter] = Field(default=None, description="For one row replaced.")


def _sensitivity_tag(value: object) -> str:
    return "<sensitivities>" if isinstance(value, dict) else "<number>"


Sensitivity = Annotated[
    Annotated[Scalar, Tag("<number>")] | Annotated[Sensitivities, Tag("<sensitivities>")],
    Discriminator(_sensitivity_tag),
]


#: What the key `mechanism` says.
MECHANISM = "What is drawn: the family of the noise, of the choice or of the answers."


class Concrete(ReadingEntry):
    """What every concrete mechanism with a sensitivity says."""

    what = "a concrete mechanism"
    mechanism: str = Field(description=MECHANISM)
    sensitivity: Sensitivity = Field(
        description="How far one row moves it: a number (for one row added or removed, "
        "where rows come and go), or `{unbounded: …, bounded: …}`."
    )
    relation: Optional[Relation] = Field(
        default=None, description="With a number for sensitivity: the change that it is for."
    )


class ByRows(ReadingEntry):
    """What every concrete mechanism says that has no sensitivity: each row answers by itself."""

    what = "a concrete mechanism"
    mechanism: str = Field(description=MECHANISM)


#: A concrete mechanism as it is read: `_model` makes a model of its own for each family.
AnyConcrete = Concrete | ByRows


def _model(form: FamilyForm) -> type[ReadingEntry]:
    """The model of a family: what is common to all of its sort, and its parameter."""
    base = ByRows if form.sensitivity is None else Concrete
    key = form.key
    space: dict[str, Any] = {
        "__module__": __name__,
        "__doc__": form.about,
        "__annotations__": {"mechanism": Literal[form.name], key.name: Parameter},
        "what": f"`mechanism: {form.name}`",
        "mechanism": Field(description=MECHANISM),
        key.name: Field(description=key.says),
    }
    if form.values:
        space["__annotations__"]["k"] = Several
        space["k"] = Field(default=2, description="How many values there are.")
    name = form.name.title().replace("-", "")
    return new_class(name, (base,), exec_body=lambda own: own.update(space))


#: The model of each family by its name.
CONCRETE: dict[str, type[ReadingEntry]] = {name: _model(form) for name, form in FORMS.items()}
#: Keys that only concrete mechanisms have; ε is also one of a stated guarantee.
NOISE_KEYS = frozenset({form.key.name for form in FORMS.values()} - {"epsilon"}) | {
    "sensitivity",
    "k",
}
