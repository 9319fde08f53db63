"""Interval arithmetic for numbers of at least 0: decimal bounds, rounded outwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TypeVar

_DIGITS = 60
#: The bits to which whole numbers are rounded: more than the digits of decimals.
_BITS = 2048
_DOWN = Context(prec=_DIGITS, rounding=ROUND_FLOOR, Emax=MAX_EMAX, Emin=MIN_EMIN)
_UP = Context(prec=_DIGITS, rounding=ROUND_CEILING, Emax=MAX_EMAX, Emin=MIN_EMIN)
#: A relative margin above the rounding errors of `exp` and `ln`, and of their argument.
_LOOSE = Decimal("1e-40")
_ONE = Decimal(1)


@dataclass(frozen=True, slots=True)
class Interval:
    """A number ≥ 0 that is between `low` and `high`."""

    low: Decimal
    high: Decimal

    def __add__(self, other: Interval) -> Interval:
        return Interval(_DOWN.add(self.low, other.low), _UP.add(self.high, other.high))

    def __mul__(self, other: Interval) -> Interval:
        return Interval(_DOWN.multiply(self.low, other.low), _UP.multiply(self.high, other.high))

    def __truediv__(self, other: Interval) -> Interval:
        return Interval(_DOWN.divide(self.low, other.high), _UP.divide(self.high, other.low))

    def less_one(self) -> Interval:
        """Returns the number minus one, or 0 if that is negative."""
        zero = Decimal(0)
        return Interval(
            max(zero, _DOWN.subtract(self.low, _ONE)), max(zero, _UP.subtract(self.high, _ONE))
        )

    def power(self, exponent: int) -> Interval:
        """Returns the number to a whole power ≥ 0."""
        return power(self, exponent, Interval.__mul__) if exponent else ONE

    def at_least(self, other: Interval) -> Interval:
        """Returns the number, with the lower end of `other` as a further lower bound."""
        return Interval(max(self.low, other.low), self.high)

    @property
    def ceiling(self) -> Fraction:
        """Returns the upper end, as a fraction."""
        return Fraction(self.high)


_Factor = TypeVar("_Factor")


def power(base: _Factor, exponent: int, times: Callable[[_Factor, _Factor], _Factor]) -> _Factor:
    """Returns the product of `exponent` ≥ 1 factors `base`, by repeated squaring; `times`
    multiplies two."""
    result: _Factor | None = None
    while exponent:
        if exponent & 1:
            result = base if result is None else times(result, base)
        exponent >>= 1
        if exponent:
            base = times(base, base)
    assert result is not None
    return result


ZERO = Interval(Decimal(0), Decimal(0))
ONE = Interval(_ONE, _ONE)
TWO = Interval(Decimal(2), Decimal(2))


def exactly(x: Fraction | int) -> Interval:
    """Returns a rational ≥ 0 as an interval, as narrow as the digits allow."""
    return _integer_interval(x.numerator) / _integer_interval(x.denominator)


def _integer_interval(n: int) -> Interval:
    """Returns a whole number as an interval, exact up to 2048 bits."""
    spare = n.bit_length() - _BITS
    if spare <= 0:
        return Interval(Decimal(n), Decimal(n))
    leading = n >> spare
    return Interval(Decimal(leading), Decimal(leading + 1)) * TWO.power(spare)


def exponential(x: Fraction) -> Interval:
    """Returns e^x, for |x| up to 10^15."""
    if x == 0:
        return ONE
    # |x| < 10^15 has an error below 10^-44, and so has the exponent.
    value = _DOWN.exp(_DOWN.divide(Decimal(x.numerator), Decimal(x.denominator)))
    return Interval(
        _DOWN.multiply(value, _DOWN.subtract(_ONE, _LOOSE)), _UP.multiply(value, _ONE + _LOOSE)
    )


def logarithm_up(x: Interval) -> Fraction:
    """Returns ln of the upper end, rounded up; 0 if the upper end is below 1."""
    if x.high <= 1:
        return Fraction(0)
    return Fraction(_UP.add(_UP.ln(x.high), _LOOSE))
