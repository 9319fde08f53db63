"""What fields of a spec hold: names, whole numbers, exact numbers and parameters.

A scalar keeps its source text, so that a number stays exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any, TypeVar

from pydantic import Discriminator, Field, GetCoreSchemaHandler, Tag, WithJsonSchema
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from dpcompose.core.numbers.expressions import ExpressionError, number_hint, parse
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


def expected(
    what: str, hint: str | None = None, code: str = "DPC103", write: str | None = None
) -> PydanticCustomError:
    """Returns the error of pydantic for a value that is not `what`.

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
    """Says to pydantic that a function reads the value, and what the JSON Schema of it is.

    What `PlainValidator` and `WithJsonSchema` say, but that these also build, for each field anew,
    what would write the value: a third of the time in which the spec language is built.
    """

    def __init__(self, read: Callable[[object], object], schema: dict[str, Any]) -> None:
        self._read = read
        self._schema = schema

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._read)

    def __get_pydantic_json_schema__(self, _: CoreSchema, handler: object) -> dict[str, Any]:
        return self._schema.copy()


class ReadAfter:
    """Says to pydantic that a function looks at the value first, as `BeforeValidator` does."""

    def __init__(self, look: Callable[[object], object]) -> None:
        self._look = look

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._look, handler(source))


#: A name: any text; a number counts as its text.
Name = Annotated[str, WithJsonSchema(_NAME_SCHEMA)]
#: A dataset, one block of a partition, or every block: `name`, `name.block`, `name.*`.
Reference = Annotated[str, WithJsonSchema(_REFERENCE_SCHEMA)]
#: A whole number from 1 to MAX_WHOLE, written in digits.
Whole = Annotated[int, ReadBy(_whole_number, _whole_schema(1))]
#: The same, from 2 on.
Several = Annotated[int, ReadBy(_at_least_two, _whole_schema(2))]
#: The source text of an exact number or expression.
Scalar = Annotated[str, ReadBy(_scalar, _number_schema())]
#: The same, for a number below 1.
Probability = Annotated[str, ReadBy(_scalar, _number_schema(exclusiveMaximum=1))]
#: A key that may be left out, but not left without a value.
Optional = Annotated[_T | None, ReadAfter(_not_null)]


def _parameter_tag(value: object) -> str:
    return "<by block>" if isinstance(value, dict) else "<number>"


#: A parameter of a mechanism: one number for all blocks, or one for each.
Parameter = Annotated[
    Annotated[Scalar, Tag("<number>")] | Annotated[dict[str, Scalar], Tag("<by block>")],
    Discriminator(_parameter_tag),
]
#: The same, for numbers below 1.
ProbabilityParameter = Annotated[
    Annotated[Probability, Tag("<number>")] | Annotated[dict[str, Probability], Tag("<by block>")],
    Discriminator(_parameter_tag),
]


#: Why something declared is true; the optional key `because`.
Because = Annotated[
    Optional[Name], Field(default=None, description="Why this is true, for the report.")
]
