"""Values of files and objects from elsewhere, each with the path by which messages name it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any, NamedTuple, NoReturn

from dpcompose.core.numbers.expressions import ExpressionError, parse
from dpcompose.errors import DpcomposeError, printable, quoted
from dpcompose.source.scalars import Number

#: Lists and mappings are nested so deep at most; so many parts are read at most.
MOST_NESTED, MOST_PARTS = 100, 100_000
_MISSING = object()


class Unconvertible(DpcomposeError, ValueError):
    """Something that no spec can be made of.

    `where`: the path in the file, or its line and column; empty where it is the whole. `hint`: what
    to do instead.
    """

    def __init__(self, where: str, message: str, hint: str | None = None) -> None:
        super().__init__(where, message)
        self.where, self.message, self.hint = where, message, hint

    def __str__(self) -> str:
        return self.about("")

    def about(self, file: str) -> str:
        """Returns the message with the name of a file, where there is one, and the hint on a line
        of its own."""
        place = ": ".join(each for each in (file, self.where, self.message) if each)
        return printable(place) + (f"\n    hint: {printable(self.hint)}" if self.hint else "")


class Item(NamedTuple):
    """A value with the path that leads to it; the methods raise Unconvertible for a wrong type.

    Numbers of JSON files are `Number`, the text as it is written.
    """

    value: Any
    path: str = ""

    def fail(self, message: str, hint: str | None = None) -> NoReturn:
        """Raises Unconvertible with a message, a hint and the path of this value in the file."""
        raise Unconvertible(self.path, message, hint)

    def below(self, key: str) -> str:
        """Returns the path of an entry."""
        return f"{self.path}.{key}" if self.path else key

    def find(self, key: str) -> Item | None:
        """Returns the entry of a mapping or the attribute of an object; None if there is none."""
        if isinstance(self.value, Mapping):
            found = self.value.get(key, _MISSING)
        else:
            found = getattr(self.value, key, _MISSING)
        return None if found is _MISSING else Item(found, self.below(key))

    def at(self, key: str) -> Item:
        """Returns the entry of a mapping or the attribute of an object."""
        found = self.find(key)
        return self.fail(f"{quoted(key)} is missing") if found is None else found

    def items(self) -> list[Item]:
        """Returns the items of a list or a tuple."""
        if not isinstance(self.value, Sequence) or isinstance(self.value, str | bytes):
            self.fail(f"a list is due, not {kind(self.value)}")
        if len(self.value) > MOST_PARTS:
            self.fail(f"the list is longer than {MOST_PARTS}")
        return [Item(each, f"{self.path}[{at}]") for at, each in enumerate(self.value)]

    def text(self) -> str:
        """Returns a text."""
        if not isinstance(self.value, str) or isinstance(self.value, Number):
            self.fail(f"a text is due, not {kind(self.value)}")
        return self.value

    def number(self) -> str:
        """Returns a number of at least 0 as a spec writes it: the decimal that the file has, or
        that Python shows."""
        text = self._decimal()
        if exact(text) < 0:
            self.fail(f"a number of at least 0 is due, not {quoted(text)}")
        return text

    def signed(self) -> Fraction:
        """Returns a number of any sign."""
        return exact(self._decimal())

    def _decimal(self) -> str:
        """Returns a finite number as a text that has a value."""
        value = self.value
        if not isinstance(value, str | bool) and callable(getattr(value, "item", None)):
            value = value.item()  # a number of numpy or jax
        if isinstance(value, bool) or not isinstance(value, Number | Real | Decimal):
            self.fail(f"a number is due, not {kind(value)}")
        text = str(value)
        if text.lower().lstrip("+-") in ("nan", "inf", "infinity"):
            self.fail(f"a finite number is due, not {text}")
        try:
            exact(text)
        except ExpressionError as error:
            self.fail(f"{quoted(text)} is no number that can be used: {error.message}")
        return text

    def positive(self, why: str) -> str:
        """Returns a number above 0; `why`: what 0 would mean."""
        text = self.number()
        return text if exact(text) else self.fail(f"it is 0: {why}")

    def integer(self) -> int:
        """Returns a whole number of at least 0."""
        value = exact(self.number())
        if value.denominator > 1:
            self.fail(f"a whole number is due, not {quoted(self.number())}")
        return int(value)


def exact(text: str) -> Fraction:
    """Returns the value of a number as a spec writes it, or of a negative one."""
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    return sign * parse(digits, {})


def kind(value: object) -> str:
    """Returns what a value is, in words for a message."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case Number():
            return f"the number {quoted(value)}"
        case str():
            return f"the text {quoted(value)}"
        case Mapping():
            return "a mapping"
        case list() | tuple():
            return "a list"
    return f"an object of type {quoted(type(value).__name__)}"


def from_json(text: str) -> Any:
    """Returns the value of a JSON text, with each number as its text; raises Unconvertible."""

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Returns a mapping, in which no key may be given twice."""
        found = dict(pairs)
        if len(found) < len(pairs):
            (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
            raise Unconvertible("", f"the key {quoted(twice)} is given twice in one mapping")
        return found

    reader = json.JSONDecoder(
        object_pairs_hook=mapping, parse_float=Number, parse_int=Number, parse_constant=Number
    )
    try:
        return reader.decode(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise Unconvertible(where, f"this is no JSON: {error.msg}") from None
    except RecursionError:
        raise Unconvertible("", "lists and mappings are nested too deep") from None
