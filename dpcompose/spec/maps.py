"""Maps as they are written: a model for each kind, made of its keys.

Unions are told apart by functions, so that each part of a spec is held against one model only and
the faults speak of that model. Tags that start with `?` stand for "none of them".
"""

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated

from pydantic import BeforeValidator, Discriminator, Tag

from dpcompose.core.change.maps import MAPS
from dpcompose.spec.forms import model_of
from dpcompose.spec.models import Model


class AnyMap(Model):
    """What every map says; each kind has a model of its own."""

    kind: str


#: The model of each kind by its name.
MAP_KINDS: dict[str, type[AnyMap]] = {
    name: model_of(
        form, AnyMap, name.title().replace("-", ""), f"a map of kind `{name}`", tag="kind"
    )
    for name, form in MAPS.items()
}


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
