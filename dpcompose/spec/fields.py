"""Mappings with a fixed set of keys, and what stands at the keys: names, numbers, parameters.

A scalar keeps its source text, so that a number stays exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from fractions import Fraction
from functools import partial
from types import new_class
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from dpcompose.core.numbers.expressions import ExpressionError, number_hint, parse
from dpcompose.core.numbers.form_keys import REQUIRED, Sort, Weaker
from dpcompose.source import Number

#: The largest whole number in a spec.
MAX_WHOLE = 10**9

_T = TypeVar("_T")
_WHOLE = re.compile("[1-9][0-9]*")
#: A whole number with a unit, as in `5 rows` and `10k`.
_COUNTED = re.compile(r"([1-9][0-9]{0,8})(?: +[a-z]+|([kKmM]))")
#: A product of whole numbers, as in `30 * 2350`.
_PRODUCT = re.compile(r"[1-9][0-9]{0,8}(?: *[*] *[1-9][0-9]{0,8})+")
_NAMES = re.compile("[A-Za-z_]")
#: Other forms of a whole number that mean one thing alone.
_UNMISTAKABLE = re.compile("[1-9][0-9]*(?:[.]0*)?(?:[eE][+]?[0-9]+)?|[1-9][0-9]{0,2}(?:_[0-9]{3})+")


class Model(BaseModel):
    """A mapping with a fixed set of keys; `what` is what messages call it.

    The schema tells `__doc__` of each model: it is assigned, since Python can be run without
    docstrings. `form`: that of a kind, whose keys it has.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)
    what: ClassVar[str] = "a mapping"
    form: ClassVar[Any] = None


def expected(
    what: str, hint: str | None = None, code: str = "DPC103", write: str | None = None
) -> PydanticCustomError:
    """Returns the error of pydantic for a value that is not `what`, with the code of the finding.

    `write`: the text to write instead, where that is certain.
    """
    context = {"what": what, "hint": hint, "code": code, "write": write}
    return PydanticCustomError("expected", "{what}", context)


def _whole_number(value: object, least: int = 1) -> int:
    """Returns a whole number, written as such or as a product; raises the error of the field
    otherwise."""
    if isinstance(value, Number) and _WHOLE.fullmatch(value) and len(value) <= 10:
        number = int(value)
        if least <= number <= MAX_WHOLE:
            return number
    meant = _whole_meant(value, least)
    if meant is not None and isinstance(value, str) and _PRODUCT.fullmatch(value):
        return int(meant)
    hint = None if meant is None else f"write `{meant}`"
    if isinstance(value, str) and _NAMES.search(value) and any(each in value for each in "*/+-"):
        hint = "constants do not stand here: write the number, or a product such as `60 * 235`"
    certain = isinstance(value, str) and bool(_UNMISTAKABLE.fullmatch(value))
    what = f"a whole number from {least} to {MAX_WHOLE}"
    raise expected(what, hint, "DPC106", meant if certain else None)


def _at_least_two(value: object) -> int:
    return _whole_number(value, 2)


def _whole_meant(value: object, least: int) -> str | None:
    """Returns the legal whole number, as text, that a value probably stands for; None if that is
    unclear."""
    if not isinstance(value, str) or len(value) > 20:
        return None
    if counted := _COUNTED.fullmatch(value):
        number, unit = int(counted[1]), (counted[2] or "").lower()
        scaled = number * {"k": 10**3, "m": 10**6}.get(unit, 1)
        return str(scaled) if least <= scaled <= MAX_WHOLE else None
    text = value.replace("_", "")
    try:
        meant = parse(text, {})
    except ExpressionError:
        digits = text.lstrip("0")
        meant = Fraction(int(digits) if digits.isdecimal() else 0)
    return str(meant) if meant.denominator == 1 and least <= meant <= MAX_WHOLE else None


def _scalar(value: object) -> str:
    """Returns the text of a number or expression; raises the error of the field for another
    value."""
    if isinstance(value, str):
        return value
    raise expected("a number or an expression", number_hint(value))


def _not_null(value: object) -> object:
    """Returns the value; raises the error of the field for null."""
    if value is None:
        raise PydanticCustomError("no_value", "no value")
    return value


def _number_schema(**limits: float) -> dict[str, Any]:
    # An expression: numbers and constants, joined by + - * / and brackets.
    expression = {"type": "string", "pattern": r"^[-+*/().\s\w]*[\w.)][-+*/().\s\w]*$"}
    return {"anyOf": [{"type": "number", "minimum": 0, **limits}, expression]}


_NAME_SCHEMA: dict[str, Any] = {"type": ["string", "number"]}
_REFERENCE_SCHEMA: dict[str, Any] = {**_NAME_SCHEMA, "pattern": r"^[^.]+(\..+)?$"}
#: Of a pair of numbers.
PAIR_SCHEMA: dict[str, Any] = {
    "type": "array",
    "items": _number_schema(),
    "minItems": 2,
    "maxItems": 2,
}


def _whole_schema(least: int) -> dict[str, Any]:
    product = {"type": "string", "pattern": f"^{_PRODUCT.pattern}$"}
    return {"anyOf": [{"type": "integer", "minimum": least, "maximum": MAX_WHOLE}, product]}


class ReadBy:
    """Tells pydantic that a function reads the value, and what the JSON Schema of it is.

    `PlainValidator` with `WithJsonSchema` would do as well, but also build a serializer for each
    field, in a third of all the time in which the models are built.
    """

    def __init__(self, read: Callable[[object], object], schema: dict[str, Any]) -> None:
        self._read = read
        self._schema = schema

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._read)

    def __get_pydantic_json_schema__(self, _: CoreSchema, handler: object) -> dict[str, Any]:
        return self._schema.copy()


class ReadNumber(ReadBy):
    """Tells that a value is the text of a number or an expression, beside what `ReadBy` tells."""


class WeakerIf:
    """Tells which changes of a value claim no more than the value does; any other is a new claim.

    It is also said of all that stands below the value, unless a key there says otherwise.
    """

    def __init__(self, *ways: Weaker) -> None:
        self.ways = ways


class KeysAreNumbers:
    """Tells that the keys of a mapping are numbers too, or expressions."""


class WhenMet:
    """Tells pydantic to read the value by a model that is built only when the first such value is
    met: a spec has few of the kinds of the language.
    """

    def __init__(self, model: Callable[[], type[Model]]) -> None:
        self._model = model

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._read)

    def _read(self, value: object) -> Model:
        """Returns the validated model that is made of `value`; raises the validation errors of the
        model."""
        return self._model().model_validate(value)

    def __get_pydantic_json_schema__(
        self, _: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        model = self._model()
        model.model_rebuild()
        return handler(core_schema.chain_schema([model.__pydantic_core_schema__]))


class OneOf:
    """Tells pydantic which member of a union reads a value: the one whose tag `choose` returns.

    So each part of a spec is held against one model only, and its faults speak of that model.
    `choose` returns None for a value of a wrong type, and a tag that starts with `?` for a mapping
    that no member fits. `tags`: those of the members, in their order; a type stands for its name.
    `model`: returns the model of a tag, which is made when it is met; without it the members are
    those of the union.
    """

    def __init__(
        self,
        choose: Callable[[object], str | type | None],
        *tags: str | type,
        model: Callable[[str], type[Model]] | None = None,
    ) -> None:
        self._choose = choose
        self._tags = tuple(map(_tag, tags))
        self._model = model

    def chosen(self, union: Any, value: object) -> Any:
        """Returns the member of a union that reads a value; None if none does."""
        tag = _tag(self._choose(value))
        return self.member(union, tag) if tag in self._tags else None

    def member(self, union: Any, tag: str) -> Any:
        """Returns the member of a union with this tag."""
        if self._model is not None:
            return self._model(tag)
        return get_args(union)[self._tags.index(tag)]

    def members(self, union: Any) -> list[Any]:
        """Returns all members of a union."""
        return [self.member(union, tag) for tag in self._tags]

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        choices = {}
        for tag in self._tags:
            held = None if self._model is not None else self.member(source, tag)
            if held is None or (isinstance(held, type) and issubclass(held, Model)):
                held = Annotated[Any, WhenMet(partial(self.member, source, tag))]
            choices[tag] = handler.generate_schema(held)
        return core_schema.tagged_union_schema(choices, lambda value: _tag(self._choose(value)))


def _tag(choice: Any) -> Any:
    """Returns a tag, which can be given by a type that has its name."""
    return choice.__name__ if isinstance(choice, type) else choice


def by_shape(*shapes: type) -> OneOf:
    """Returns the choice by the type of a value: the last of the members' that it has."""

    def choose(value: object) -> type | None:
        """Returns the type; None if the value has none of them."""
        return next((each for each in shapes[::-1] if isinstance(value, each)), None)

    return OneOf(choose, *shapes)


def by_key(key: str, kinds: Collection[str], model: Callable[[str], type[Model]]) -> OneOf:
    """Returns the choice by the text at a key; `?key` stands for a kind that is unknown.

    `model`: returns the model of a kind.
    """

    def choose(value: object) -> str | None:
        """Returns the kind of a mapping; None for another value."""
        return kind_at(key, value, kinds) if isinstance(value, dict) else None

    return OneOf(choose, *kinds, model=model)


def kind_at(key: str, value: dict[str, object], kinds: Collection[str]) -> str:
    """Returns the kind of a mapping, the text at `key`; `?key` for one that is unknown."""
    kind = value.get(key)
    return kind if isinstance(kind, str) and kind in kinds else f"?{key}"


#: A name: any text; a number counts as its text.
Name = Annotated[str, WithJsonSchema(_NAME_SCHEMA)]
#: A dataset, one block of a partition, or every block: `name`, `name.block`, `name.*`.
Reference = Annotated[str, WithJsonSchema(_REFERENCE_SCHEMA)]
#: A whole number from 1 to MAX_WHOLE, written in digits.
Whole = Annotated[int, ReadNumber(_whole_number, _whole_schema(1))]
#: The same, from 2 on.
Several = Annotated[int, ReadNumber(_at_least_two, _whole_schema(2))]
#: The source text of an exact number or expression.
Scalar = Annotated[str, ReadNumber(_scalar, _number_schema())]
#: The same, for a number below 1.
Probability = Annotated[str, ReadNumber(_scalar, _number_schema(exclusiveMaximum=1))]
#: A key that may be left out, but not left without a value.
Optional = Annotated[_T | None, BeforeValidator(_not_null)]


#: A parameter of a mechanism: one number for all blocks, or one for each.
Parameter = Annotated[Scalar | dict[str, Scalar], by_shape(object, dict)]
#: The same, for numbers below 1.
ProbabilityParameter = Annotated[Probability | dict[str, Probability], by_shape(object, dict)]


#: Why something declared is true; the optional key `because`.
Because = Annotated[
    Optional[Name], Field(default=None, description="Why this is true, for the report.")
]


# --- models of kinds ------------------------------------------------------------------------------


def model_of(
    form: Any,
    base: type[Model],
    name: str,
    what: str,
    tag: tuple[str, str],
    types: Mapping[Sort, Any],
    **more: tuple[Any, Any],
) -> Any:
    """Returns the model of a kind of map, partition or mechanism, with the keys of its form.

    `tag`: the key that names the kind, and its description; `types`: what stands at a key of each
    sort; `more`: further keys, each with its type and its field.
    """
    fields: dict[str, tuple[Any, Any]] = {tag[0]: (Literal[form.name], Field(description=tag[1]))}
    may_be_left_out: Any = Optional
    for key in form.keys:
        held = Literal[key.choices] if key.sort is Sort.CHOICE else types[key.sort]
        if ways := form.weaker(key):
            held = Annotated[held, WeakerIf(*ways)]
        default = list(key.default) if isinstance(key.default, tuple) else key.default
        fields[key.name] = (
            may_be_left_out[held] if default is None else held,
            Field(... if default is REQUIRED else default, description=key.says),
        )
    fields |= more
    space = {
        "__module__": base.__module__,
        "__doc__": form.about,
        "__annotations__": {key: held for key, (held, _) in fields.items()},
        "what": what,
        "form": form,
        **{key: field for key, (_, field) in fields.items()},
    }
    return new_class(name, (base,), exec_body=lambda own: own.update(space))
