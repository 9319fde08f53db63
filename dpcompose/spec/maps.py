"""Maps as they are written: a model for each kind, made of its keys.

Unions are told apart by functions, so that each part of a spec is held against one model only and
the faults speak of that model. Tags that start with `?` stand for "none of them".
"""

from functools import reduce
from operator import or_
from types import new_class
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from dpcompose.core.change.maps import MAPS
from dpcompose.core.change.maps.kind import REQUIRED, MapForm, MapKey, Sort
from dpcompose.spec.fields import Name, Optional, Scalar, Whole
from dpcompose.spec.models import Model


class Sensitivity(Model):
    """How far a value moves, for each kind of row change."""

    what = "a sensitivity"
    unbounded: Optional[Scalar] = Field(default=None, description="For one row added or removed.")
    bounded: Optional[Scalar] = Field(default=None, description="For one row replaced.")


def _sensitivity_tag(value: object) -> str:
    return "<sensitivity>" if isinstance(value, dict) else "<number>"


class AnyMap(Model):
    """What every map says; `_model` makes a model of its own for each kind."""

    kind: str


#: What stands at a key of each sort.
_TYPES: dict[Sort, Any] = {
    Sort.WHOLE: Whole,
    Sort.NAME: Name,
    Sort.NAMES: list[Name],
    Sort.FLAG: bool,
    Sort.NUMBER: Scalar,
    Sort.MOVES: Annotated[
        Annotated[Scalar, Tag("<number>")] | Annotated[Sensitivity, Tag("<sensitivity>")],
        Discriminator(_sensitivity_tag),
    ],
}


def _type(key: MapKey) -> Any:
    held: Any = Literal[key.choices] if key.sort is Sort.CHOICE else _TYPES[key.sort]
    may_be_left_out: Any = Optional
    return may_be_left_out[held] if key.default is None else held


def _field(key: MapKey) -> Any:
    if key.default is REQUIRED:
        return Field(description=key.says)
    default = [] if key.sort is Sort.NAMES else key.default
    return Field(default=default, description=key.says)


def _model(form: MapForm) -> type[AnyMap]:
    """The model of a kind."""
    space: dict[str, Any] = {
        "__module__": __name__,
        "__doc__": form.about,
        "__annotations__": {
            "kind": Literal[form.name],
            **{key.name: _type(key) for key in form.keys},
        },
        "what": f"a map of kind `{form.name}`",
        **{key.name: _field(key) for key in form.keys},
    }
    name = form.name.title().replace("-", "")
    return new_class(name, (AnyMap,), exec_body=lambda own: own.update(space))


#: The model of each kind by its name.
MAP_KINDS: dict[str, type[AnyMap]] = {name: _model(form) for name, form in MAPS.items()}


def _map_tag(value: object) -> str | None:
    if not isinstance(value, dict):
        return None
    kind = value.get("kind")
    return f"<{kind}>" if isinstance(kind, str) and kind in MAP_KINDS else "?kind"


def _as_mapping(value: object) -> object:
    return {"kind": value} if isinstance(value, str) else value


if TYPE_CHECKING:
    Map = AnyMap
else:
    Map = Annotated[
        reduce(or_, (Annotated[model, Tag(f"<{kind}>")] for kind, model in MAP_KINDS.items())),
        Discriminator(_map_tag),
        BeforeValidator(_as_mapping),
    ]
