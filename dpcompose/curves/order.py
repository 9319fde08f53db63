"""One order for values of any kinds."""

from __future__ import annotations

import dataclasses
from enum import Enum
from fractions import Fraction
from functools import cache
from typing import Any


def rank(value: Any) -> tuple[Any, ...]:
    """Returns a key by which values of mixed kinds are sorted, the same in every run.

    For None, numbers, texts, enumerations, and tuples and dataclasses of these. Values are not
    turned into text, since numbers may be too long for that.
    """
    match value:
        case None:
            return (0,)
        case int() | Fraction():
            return (1, value.numerator, value.denominator)
        case str():
            return (2, str(value))
        case Enum():
            return (2, value.name)
        case tuple():
            return (3, *map(rank, value))
        case _:
            kind: type = type(value)
            return (4, kind.__name__, *(rank(getattr(value, name)) for name in _names(kind)))


@cache
def _names(kind: type) -> tuple[str, ...]:
    """Returns the names of the fields of a dataclass."""
    return tuple(each.name for each in dataclasses.fields(kind))
