"""Unions of many models, of which a spec uses few: a model is built when the first value of its
kind comes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, get_args

from pydantic import Discriminator, GetCoreSchemaHandler, GetJsonSchemaHandler, Tag, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema


class Lazily:
    """In place of `Discriminator`: the same union, its members built one by one when needed."""

    def __init__(self, tag_of: Callable[[object], str | None]) -> None:
        self._tag_of = tag_of
        self._union: Any = None
        self._members: dict[str, Any] = {}
        self._built: dict[str | None, Callable[[object], object]] = {}

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        self._union = source
        for member in get_args(source):
            (tag,) = (each.tag for each in member.__metadata__ if isinstance(each, Tag))
            self._members[tag] = member
        return core_schema.no_info_plain_validator_function(self._validated)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        whole: Any = Annotated[self._union, Discriminator(self._tag_of)]
        return handler(TypeAdapter(whole).core_schema)

    def _validated(self, value: object) -> object:
        tag = self._tag_of(value)
        validate = self._built.get(tag)
        if validate is None:
            validate = self._built[tag] = self._build(tag)
        return validate(value)

    def _build(self, tag: str | None) -> Callable[[object], object]:
        """The validator of one member; for a tag of no member one that says so."""
        member = self._members.get(tag or "", next(iter(self._members.values())))
        alone: Any = Annotated[member, Discriminator(lambda _value: tag)]
        return TypeAdapter(alone).validator.validate_python
