"""Numbers and counts for sentences: exact where that is short, else rounded up."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from dpcompose.curves.rounding.exact import decimal_up

#: How many names are written out before "and n more".
NAMES = 6


def number(value: Fraction) -> str:
    """Returns a fraction as text for a sentence: short decimals exactly, others rounded up."""
    exact = decimal_up(value, 12)
    if value.numerator.bit_length() <= 8192 and Fraction(exact) == value:
        return exact
    short = value.denominator < 10_000 and value.numerator.bit_length() <= 64
    return f"{value}" if short else decimal_up(value, 7)


def number_below(value: Fraction) -> str:
    """Returns a fraction as text for a sentence: short decimals exactly, others rounded down."""
    said = number(value)
    if "/" in said or Fraction(said) == value:
        return said
    context = Context(prec=7, rounding=ROUND_FLOOR, Emax=MAX_EMAX, Emin=MIN_EMIN)
    return decimal_up(Fraction(context.divide(value.numerator, value.denominator)), 7)


def chance(text: str) -> str:
    """Returns the text of a decimal in the usual form of small chances: `1e-5` for `0.00001`."""
    return f"{Decimal(text).normalize():e}" if text.startswith("0.000") else text


def count_text(count: int) -> str:
    """Returns a count as text; one of more than 20 digits is rounded up."""
    return str(count) if count.bit_length() <= 64 else decimal_up(Fraction(count), 4)


def plural(count: int, noun: str) -> str:
    """Returns a count with its noun: `1 row`, `2 rows`."""
    return f"{count_text(count)} {noun}" if count == 1 else f"{count_text(count)} {noun}s"


def listing(names: Iterable[str], most: int = NAMES) -> str:
    """Returns names as text, `a`, `b` and `c`; of more than `most` names the rest is only
    counted."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) > most:
        return f"{', '.join(quoted[:most])} and {len(quoted) - most} more"
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"
