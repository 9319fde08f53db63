"""The model of what a form says: its keys as fields, with what stands at each.

Unions are told apart by functions, so that each part of a spec is held against one model only and
the faults speak of that model. Tags that start with `?` stand for "none of them".
"""

from collections.abc import Mapping
from functools import reduce
from operator import or_
from types import new_class
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Discriminator, Field, Tag

from dpcompose.core.change.kind_form import Form
from dpcompose.core.mechanisms.family import REQUIRED, FormKey, Sort
from dpcompose.spec.fields import Name, Optional, Scalar, Whole
from dpcompose.spec.models import Model


class Sensitivity(Model):
    __doc__ = "How far a value moves, for each kind of row change."

    what = "a sensitivity"
    unbounded: Optional[Scalar] = Field(default=None, description="For one row added or removed.")
    bounded: Optional[Scalar] = Field(default=None, description="For one row replaced.")


def _sensitivity_tag(value: object) -> str:
    return "<sensitivity>" if isinstance(value, dict) else "<number>"


def _blocks_tag(value: object) -> str:
    return "<names>" if isinstance(value, list) else "<count>"


#: What stands at a key of each sort.
_TYPES: dict[Sort, Any] = {
    Sort.WHOLE: Whole,
    Sort.NAME: Name,
    Sort.COLUMN: Name,
    Sort.COLUMNS: list[Name],
    Sort.FLAG: bool,
    Sort.NUMBER: Scalar,
    Sort.MOVES: Annotated[
        Annotated[Scalar, Tag("<number>")] | Annotated[Sensitivity, Tag("<sensitivity>")],
        Discriminator(_sensitivity_tag),
    ],
    Sort.BLOCKS: Annotated[
        Annotated[Whole, Tag("<count>")]
        | Annotated[list[Name], Tag("<names>"), Field(min_length=1)],
        Discriminator(_blocks_tag),
    ],
    Sort.FEEDS: Annotated[dict[str, list[Name]], Field(min_length=1)],
}


def _type(key: FormKey) -> Any:
    """Returns the type of the pydantic field for a key; it allows None if that is the default."""
    held: Any = Literal[key.choices] if key.sort is Sort.CHOICE else _TYPES[key.sort]
    may_be_left_out: Any = Optional
    return may_be_left_out[held] if key.default is None else held


def _field(key: FormKey) -> Any:
    """Returns the pydantic field for a key: required, or with its default."""
    if key.default is REQUIRED:
        return Field(description=key.says)
    default = list(key.default) if isinstance(key.default, tuple) else key.default
    return Field(default=default, description=key.says)


Base = TypeVar("Base", bound=Model)


def model_of(form: Form[Any], base: type[Base], name: str, what: str, tag: str) -> type[Base]:
    """Returns the pydantic model of a kind, derived from `base`; `tag`: the key that names the
    kind."""
    space: dict[str, Any] = {
        "__module__": base.__module__,
        "__doc__": form.about,
        "__annotations__": {
            tag: Literal[form.name],
            **{key.name: _type(key) for key in form.keys},
        },
        "what": what,
        tag: Field(description=base.model_fields[tag].description),
        **{key.name: _field(key) for key in form.keys},
    }
    return new_class(name, (base,), exec_body=lambda own: own.update(space))


def union_of(models: Mapping[str, type[Model]], key: str, prefix: str = "") -> Any:
    """Returns the union type of the models, chosen by the value at `key`.

    `prefix`: what the tags have before the name of a kind.
    """

    def tag(value: object) -> str | None:
        """Returns the tag of the model for a value; `?key` if its kind is unknown, None if it is no
        mapping."""
        if not isinstance(value, dict):
            return None
        kind = value.get(key)
        known = isinstance(kind, str) and kind in models
        return f"<{prefix}{kind}>" if known else f"?{key}"

    members = (Annotated[model, Tag(f"<{prefix}{name}>")] for name, model in models.items())
    return Annotated[reduce(or_, members), Discriminator(tag)]
