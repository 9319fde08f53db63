"""The values of scalars by the core schema of YAML 1.2, and the check of keys."""

import re
from collections.abc import Callable

from dpcompose.source.limits import MAX_NAME


class Number(str):
    """A plain scalar that YAML 1.2 reads as a number, kept as its source text.

    Forms such as `010`, `0x10` and `.inf` are numbers here too: `core.numbers.expressions`
    makes a fraction of the text, or says what was probably meant.
    """

    __slots__ = ()


Value = None | bool | str | list["Value"] | dict[str, "Value"]
"""A tree of a spec. Parts that an alias repeats are shared: do not change it."""

_CONSTANTS: dict[str, Value] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER = re.compile(
    r"[-+]?(?:(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|\.(?:inf|Inf|INF))"
    r"|0x[0-9a-fA-F]+|0o[0-7]+|\.(?:nan|NaN|NAN)"
)
_NUMBER_START = frozenset("+-.0123456789")
_SURROGATE = re.compile("[\ud800-\udfff]")


class PlainScalars(dict[str, Value]):
    """The value of each plain scalar by the core schema of YAML 1.2, computed when first met."""

    __slots__ = ("_too_long",)
    _MOST_KEPT = 1_000_000

    def __init__(self, too_long: Callable[[], None]) -> None:
        super().__init__(_CONSTANTS)
        self._too_long = too_long

    def __missing__(self, text: str) -> Value:
        if len(text) > MAX_NAME:
            self._too_long()
            return text
        if len(self) > self._MOST_KEPT:
            self.clear()
            self.update(_CONSTANTS)
        number = text[0] in _NUMBER_START and _NUMBER.fullmatch(text)
        value = self[text] = Number(text) if number else text
        return value


def is_fine_key(text: str) -> bool:
    """Returns whether a text without a tag can be a key; others are looked at more closely."""
    return text not in {"", "<<"} and len(text) <= MAX_NAME and encodable(text)


def encodable(text: str) -> bool:
    r"""Returns whether an output can hold `text`: PyYAML's parser lets `"\uD800"` through."""
    return text.isascii() or not _SURROGATE.search(text)


STR_TAG = "tag:yaml.org,2002:str"
SEQ_TAG = "tag:yaml.org,2002:seq"
MAP_TAG = "tag:yaml.org,2002:map"
SCALAR_TAGS: dict[str, Callable[[Value], bool]] = {
    STR_TAG: lambda value: True,
    "tag:yaml.org,2002:null": lambda value: value is None,
    "tag:yaml.org,2002:bool": lambda value: isinstance(value, bool),
    "tag:yaml.org,2002:int": lambda value: isinstance(value, Number) and "." not in value,
    "tag:yaml.org,2002:float": lambda value: isinstance(value, Number),
}
