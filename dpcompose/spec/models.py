"""Mappings with a fixed set of keys, as classes that pydantic validates.

A spec uses few of the many models, and pydantic takes its time for each class: a model is handed
to it when the first value of its kind comes.
"""

from __future__ import annotations

from types import new_class
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema

_CONFIG = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)

if TYPE_CHECKING:

    class Model(BaseModel):
        """A mapping with a fixed set of keys; `what` is what messages call it."""

        model_config = _CONFIG
        what: ClassVar[str] = "a mapping"
        _defaults: ClassVar[dict[str, Any]]

else:

    class Model:
        """A mapping with a fixed set of keys; `what` is what messages call it.

        Subclasses are written like models of pydantic. `built` makes the model, of which all values
        are: a subclass of the class as written.
        """

        what = "a mapping"

        def __init_subclass__(cls) -> None:
            if not issubclass(cls, BaseModel):
                fields = cls.__annotations__
                cls._defaults = {k: v for k, v in list(vars(cls).items()) if k in fields}
                for name in cls._defaults:  # left there, each would hide a field of the model
                    delattr(cls, name)

        @classmethod
        def __get_pydantic_core_schema__(
            cls, source: Any, handler: GetCoreSchemaHandler
        ) -> CoreSchema:
            return handler(built(cls))


_M = TypeVar("_M", bound=Model)


class _Built(BaseModel):
    """What all models have in common; ahead of `Model`, so that its methods are those used."""

    model_config = _CONFIG


_built: dict[type[Model], Any] = {}


def built(model: type[_M]) -> type[_M]:
    """The model of pydantic for a class that is written as one."""
    found = _built.get(model)
    if found is None:
        fields: dict[str, Any] = {}
        defaults: dict[str, Any] = {}
        for each in reversed(model.__mro__):
            if issubclass(each, Model) and each is not Model:
                fields |= each.__annotations__
                defaults |= each._defaults
        space = {
            "__module__": model.__module__,
            "__qualname__": model.__qualname__,
            "__doc__": model.__doc__,
            "__annotations__": fields,
            **defaults,
        }
        bases = (_Built, model)
        found = new_class(model.__name__, bases, exec_body=lambda own: own.update(space))
        _built[model] = found
    return found
