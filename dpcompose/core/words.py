"""Numbers and counts for sentences: exact where that is short, else rounded up."""

from __future__ import annotations

from fractions import Fraction

from dpcompose.core.exact import decimal_up


def number(value: Fraction) -> str:
    """A fraction for a sentence: short decimals as they are, others rounded up."""
    exact = decimal_up(value, 12)
    if value.numerator.bit_length() <= 8192 and Fraction(exact) == value:
        return exact
    short = value.denominator < 10_000 and value.numerator.bit_length() <= 64
    return f"{value}" if short else decimal_up(value, 7)


def whole(count: int) -> str:
    """A count; one of more than 20 digits is rounded up."""
    return str(count) if count.bit_length() <= 64 else decimal_up(Fraction(count), 4)


def plural(count: int, noun: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{whole(count)} {noun}" if count == 1 else f"{whole(count)} {noun}s"
