"""Numbers in reports: exact where possible, otherwise rounded to the safe side.

A bound is rounded up and what is left of a budget is rounded down, so that no printed number
promises more than was certified.
"""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from dpcompose.core.notions.guarantee import LIMITS
from dpcompose.core.notions.notion import SIGNS
from dpcompose.curves.rounding import chance, decimal_up
from dpcompose.report import At, Bound

_DIGITS = 6  # of a rounded number in a report
_MOST_DIGITS = 40  # of a number that is slightly above a budget
_EXACT_DIGITS = 12  # a chosen number of so many digits is printed in full
_LONGEST_FRACTION = 24  # characters
_SAME = 1 + Fraction(1, 10_000)  # a smaller ratio is shown as "about the same"
_SMALL = Fraction(1, 1000)  # smaller numbers are shown as decimals
_MANY_BITS = 13_000  # about 4 000 digits: longer numbers are never written out


def bound_text(bound: Bound) -> str:
    """Returns a bound for people: `ε = 17/10 (1.7)`, `ε = 1, δ = 1e-6`, `μ ≤ 0.707107`."""
    return ", ".join(parameter_text(*each) for each in bound.parameters)


def amounts_text(bound: Bound) -> str:
    """Returns a bound without symbols, for tables: `17/10 (1.7)`, `≤ 0.707107`, `(6, 0.00006)`."""
    if bound.delta is None:
        return amount_text(bound.value, bound.exact)
    pair = [(bound.value, bound.exact), (bound.delta, bound.delta_exact)]
    decimals = [decimal_text(value, exact) for value, exact in pair]
    decimals[1] = _chance(decimals[1])
    short = "≤ " if any(each.startswith("≤") for each in decimals) else ""
    return f"{short}({', '.join(each.removeprefix('≤ ') for each in decimals)})"


def short_text(bound: Bound) -> str:
    """Returns a bound for a table, as decimals only: `ε = 1.7`, `μ ≤ 0.707107`."""
    return ", ".join(
        _signed(name, decimal_text(value, exact)) for name, value, exact in bound.parameters
    )


def short_amounts(bound: Bound) -> str:
    """Returns a bound as decimals without symbols: `1.7`, `(6, 0.00006)`."""
    if bound.delta is not None:
        return amounts_text(bound)
    return decimal_text(bound.value, bound.exact)


def _signed(name: str, text: str) -> str:
    """Returns a parameter's symbol and number as an equation; a δ in its usual form."""
    if name == "delta":
        text = _chance(text)
    return equation(name, text)


def equation(name: str, number: str) -> str:
    """Returns a parameter as an equation: `ε = 1.7`, or `ε ≤ 0.707107` if the number has a `≤`."""
    return f"{LIMITS.get(name, name)} {number if number.startswith('≤') else f'= {number}'}"


def _chance(text: str) -> str:
    """Returns a decimal in the usual form of small chances, such as `1e-6`, keeping a `≤`."""
    sign = "≤ " if text.startswith("≤ ") else ""
    return sign + chance(text.removeprefix(sign))


def chance_text(value: Fraction) -> str:
    """Returns a δ, or another number, as a decimal rounded up, a small one such as `1e-6`."""
    return chance(decimal_up(value, _DIGITS))


def parameter_text(name: str, value: Fraction, exact: bool = True) -> str:
    """Returns a parameter with its value: `ε = 17/10 (1.7)`, or `ε ≤ 0.707107` where the value is
    rounded up, so not `exact`."""
    return _signed(name, amount_text(value, exact))


def amount_text(value: Fraction, exact: bool = True) -> str:
    """Returns a number ≥ 0 as fraction and decimal, `17/10 (1.7)`; with `≤` where it is rounded up,
    so not `exact`.

    The fraction is left out if it is long, or says no more than the decimal (`1e-6`).
    """
    decimal = decimal_text(value, exact)
    fraction = fraction_text(value) if exact else None
    if fraction is None or len(fraction) > _LONGEST_FRACTION:
        return decimal
    full = not decimal.startswith("≤")
    if full and (value.denominator == 1 or value < _SMALL or len(fraction) > len(decimal) + 2):
        return decimal
    return f"{fraction} ({decimal})"


def decimal_text(value: Fraction, exact: bool = True, digits: int = _DIGITS) -> str:
    """Returns an upper bound ≥ 0 as a decimal of so many `digits`, rounded up: `1.7`, or with `≤`
    where this rounding, or one before (not `exact`), made it larger: `≤ 3.30761`."""
    decimal = decimal_up(value, digits)
    return decimal if exact and Fraction(decimal) == value else f"≤ {decimal}"


def given_text(at: At) -> str:
    """Returns a chosen δ or ε: `δ = 1e-6`, `ε = 1/3`; a long one rounded up.

    A bound at some number holds at any larger one.
    """
    symbol, value = SIGNS[at.wanted], at.given
    decimal = decimal_up(value, _EXACT_DIGITS)
    if at.wanted == "delta":
        decimal = chance(decimal)
    if Fraction(decimal) == value:
        return f"{symbol} = {decimal}"
    fraction = fraction_text(value)
    if fraction is not None and len(fraction) <= _LONGEST_FRACTION:
        return f"{symbol} = {fraction}"
    return f"{symbol} ≤ {decimal_up(value, _DIGITS)}"


def found_text(at: At) -> str:
    """Returns the number found at a chosen point: `ε ≤ 4.77457`, `no finite ε`, `no δ below 1`."""
    if at.value is None:
        return "no finite ε" if at.wanted == "delta" else "no δ below 1"
    return equation(other_parameter(at), decimal_text(at.value, at.exact))


def at_text(at: At) -> str:
    """Returns a number with the point at which it was found: `ε ≤ 4.77457 at δ = 1e-6`."""
    return f"{found_text(at)} at {given_text(at)}"


def other_parameter(at: At) -> str:
    """Returns "epsilon" for a number at a chosen δ, "delta" for one at a chosen ε."""
    return "epsilon" if at.wanted == "delta" else "delta"


def excess_over(value: Fraction, least: Fraction) -> str:
    """Returns by how much `value` exceeds `least`: `+21%`, `2.1×`; empty if not comparable."""
    if least <= 0 or value < least:
        return ""
    ratio = value / least
    if ratio < _SAME:
        return "the same" if value == least else "about the same"
    if ratio < 2:
        return f"+{decimal_up((ratio - 1) * 100, 2)}%"
    return "over 1000×" if ratio > 1000 else f"{decimal_up(ratio, 2)}×"


def left_text(value: Fraction) -> str:
    """Returns what is left of a budget, ≥ 0, as a decimal rounded down."""
    decimal = decimal_up(value, _DIGITS + 1)
    if Fraction(decimal) == value:
        return decimal
    context = Context(prec=_DIGITS, rounding=ROUND_FLOOR, Emax=MAX_EMAX, Emin=MIN_EMIN)
    below = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return decimal_up(Fraction(below), _DIGITS)


def excess_text(value: Fraction) -> str:
    """Returns by how much a budget is exceeded, > 0, as a decimal rounded up."""
    return decimal_up(value, _DIGITS)


def digits_of_excess(limit: Fraction, excess: Fraction) -> int | None:
    """Returns how many digits a limit, and what was spent of it, need to show an excess; None where
    the usual ones do, or where the excess is too small to be written out."""
    if not 0 < excess * 10**_DIGITS < limit:
        return None
    digits = len(str(limit // excess)) + 1
    return digits if digits <= _MOST_DIGITS else None


def fraction_text(value: Fraction) -> str | None:
    """Returns a fraction as text, `17/10`; None where it would have thousands of digits."""
    if value.numerator.bit_length() + value.denominator.bit_length() > _MANY_BITS:
        return None
    return str(value)


@lru_cache(maxsize=1024)  # a large spec repeats its numbers
def number_up(value: Fraction) -> float | None:
    """Returns the double that prints as the least decimal not below `value`; None if too large.

    17/10 gives 1.7: as printed it is not below the value, though the double that most programs read
    it as is 4·10⁻¹⁷ less, as any double closest to a decimal may be.
    """
    try:
        near = value.numerator / value.denominator
    except OverflowError:
        return None
    if Fraction(repr(near)) < value:
        near = math.nextafter(near, math.inf)
    return near if math.isfinite(near) else None


def number_down(value: Fraction) -> float | None:
    """Returns the double that prints as the largest decimal not above `value`, or None."""
    opposite = number_up(-value)
    return None if opposite is None else 0.0 - opposite


def percent(part: Fraction) -> str:
    """Returns a share in per cent, rounded up: `89 %`, `1417 %`."""
    return f"{decimal_up(Fraction(math.ceil(part * 100)), 15)} %"


def share_text(part: Fraction) -> str:
    """Returns a share to the nearest per cent; `< 1 %` for what would be none."""
    return "< 1 %" if 0 < part * 200 < 1 else f"{round(part * 100)} %"


def per_cent(rate: Fraction) -> str:
    """Returns a rate in per cent, rounded up: `9.24 %`."""
    return f"{decimal_up(rate * 100, 3)} %"
