"""Maps as they are written: a model for each kind, made of its keys."""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from dpcompose.core.change.maps import MAPS
from dpcompose.spec.fields import ReadAfter
from dpcompose.spec.kind_models import model_of, union_of
from dpcompose.spec.models import Model


class AnyMap(Model):
    __doc__ = "What every map says; each kind has a model of its own."

    what = "a map"
    kind: str = Field(description="The kind of the map.")


#: The model of each kind by its name.
MAP_KINDS: dict[str, type[AnyMap]] = {
    name: model_of(
        form, AnyMap, name.title().replace("-", ""), f"a map of kind `{name}`", tag="kind"
    )
    for name, form in MAPS.items()
}


def _as_mapping(value: object) -> object:
    return {"kind": value} if isinstance(value, str) else value


if TYPE_CHECKING:
    Map = AnyMap
else:
    Map = Annotated[union_of(MAP_KINDS, "kind"), ReadAfter(_as_mapping)]
