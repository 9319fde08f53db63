"""Numbers as callers of the library write them, made exact fractions."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

#: A fraction, a whole number, a text such as `"256/60000"`, or a decimal.
Number = Fraction | int | str | float | Decimal


def number_of(given: Number, name: str, most: int | None = None) -> Fraction:
    """Returns a number from a caller as an exact fraction, a float as the decimal that it prints
    as; `name` is what messages call it.

    Raises ValueError unless it is from 0 to `most`, and TypeError for what is no number.
    """
    if isinstance(given, bool) or not isinstance(given, Fraction | int | str | float | Decimal):
        raise TypeError(f"{name} is a number, not {type(given).__name__}")
    if isinstance(given, float | Decimal) and not math.isfinite(given):
        raise ValueError(f"{name} is finite, not {given}")
    value = Fraction(repr(given)) if isinstance(given, float) else Fraction(given)
    if value < 0 or (most is not None and value > most):
        raise ValueError(f"{name} is {'at least 0' if most is None else f'in [0, {most}]'}")
    return value


def count_of(given: int, name: str, least: int) -> int:
    """Returns a whole number of at least `least`; raises TypeError or ValueError, whose message
    calls it `name`."""
    if isinstance(given, bool) or not isinstance(given, int):
        raise TypeError(f"{name} is a whole number, not {type(given).__name__}")
    if given < least:
        raise ValueError(f"{name} is at least {least}")
    return given
