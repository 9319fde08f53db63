"""Between exact fractions, numbers of mpmath and doubles, with the direction of rounding stated."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

#: The unit in the last place, which is the relative error of one correctly rounded operation, and
#: twice that.
UNIT, EPS = 2.0**-53, 2.0**-52
#: The relative error that is allowed for an evaluation in mpmath with so many digits.
MARGIN, WORKING_DIGITS = Fraction(1, 10**30), 40
#: The same for a single formula in 60 digits.
FORMULA_MARGIN = Fraction(1, 10**40)
#: The relative error that is allowed for what takes some hundred operations in doubles.
ROUNDING = 1e-13
#: The same for sums and searches of some thousand such numbers.
SUM_ROUNDING = 5e-13
#: The same for a chance that is a product of up to a million numbers.
PRODUCT_ROUNDING = 1e-9
#: Results of floating-point sums are rounded up to so many significant digits, so that all machines
#: give the same.
DIGITS = 11
#: What is raised where numbers leave the range of doubles; the route then has no bound.
BEYOND_DOUBLES = (OverflowError, FloatingPointError, ZeroDivisionError)
#: Results are rounded to this many significant bits.
BITS = 160
#: Parameters of losses and chances below this are raised to it, so that no product of two
#: underflows; and no grid is finer.
LEAST = 1e-150
#: A chance that is set aside for what is left out of a law, and counts as giving everything away.
OUTSIDE = Fraction(1, 10**20)
#: Numbers with denominators of more bits than this are rounded to some BITS bits, and those of less
#: than 2 to minus four times this to that or to 0: longer fractions would fill the memory.
MAX_BITS = 8192


def digits_of(x: Fraction) -> int:
    """Returns about log10(x) for x > 0, rounded away from zero."""
    bits = x.numerator.bit_length() - x.denominator.bit_length()
    return int(bits * 0.30103) + (1 if bits > 0 else -1)


def log_of(x: Fraction) -> float:
    """Returns ln x for x > 0 of any size, to double precision."""
    if Fraction(1, 2) < x < 2:
        return math.log1p(float(x - 1))
    return math.log(x.numerator) - math.log(x.denominator)


def float_of(x: Fraction) -> float:
    """Returns `x` as a double, 0 where it is below the least; raises OverflowError above the
    largest."""
    return x.numerator / x.denominator


def mpf_of(x: Fraction) -> Any:
    """Returns `x` as a number of mpmath, in its working precision."""
    from mpmath import mpf

    return mpf(x.numerator) / x.denominator


def exact_of(x: Any) -> Fraction:
    """Returns the exact fraction that a number of mpmath stands for."""
    sign, mantissa, exponent, _ = x._mpf_
    value = Fraction(int(mantissa))
    value = value * (1 << int(exponent)) if exponent >= 0 else value / (1 << -int(exponent))
    return -value if sign else value


def up(x: Any, margin: Fraction) -> Fraction:
    """Returns x·(1 + `margin`) for a number of mpmath above 0, rounded up to few bits."""
    if _is_faint(x):
        return Fraction(1, 1 << 4 * MAX_BITS)
    return shorten(exact_of(x) * (1 + margin), up=True)


def down(x: Any, margin: Fraction) -> Fraction:
    """Returns x·(1 - `margin`) for a number of mpmath, rounded down to few bits; never below 0."""
    if _is_faint(x):
        return Fraction(0)
    return max(Fraction(0), shorten(exact_of(x) * (1 - margin), up=False))


def _is_faint(x: Any) -> bool:
    """Returns whether twice the number is still below the least positive number that is
    reported."""
    _, mantissa, exponent, bits = x._mpf_
    return bool(mantissa) and exponent + bits < -4 * MAX_BITS


def shorten(x: Fraction, *, up: bool) -> Fraction:
    """Returns `x` with `BITS` significant bits, rounded up where `up`, else down."""
    shift = BITS - (abs(x.numerator).bit_length() - x.denominator.bit_length())
    scaled = x * (1 << shift) if shift >= 0 else x / (1 << -shift)
    whole = math.ceil(scaled) if up else math.floor(scaled)
    return Fraction(whole, 1 << shift) if shift >= 0 else Fraction(whole * (1 << -shift))
