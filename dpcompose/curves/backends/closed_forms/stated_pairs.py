"""Closed forms for composing stated (ε, δ): not the best, but those that people know.

Each takes (ε_i, δ_i, how often) and a total δ, and gives a valid ε, rounded up, or None where δ
leaves nothing. A mechanism with (ε_i, δ_i) gives all away with chance at most δ_i and is ε_i-DP
otherwise (Kairouz, Oh and Viswanath 2015), so that of δ there remains
δ' = 1 - (1-δ)/Π(1-δ_i) for the ε_i.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction

from dpcompose.curves.rounding.exact import (
    MAX_EXPONENT,
    ONE,
    UP,
    capped,
    capped_down,
    exp_up,
    log_inverse_up,
    power_down,
    sqrt_up,
    summed,
    tanh_up,
)

#: ε, δ, and how often.
Stated = tuple[Fraction, Fraction, int]


def basic(stated: Sequence[Stated], delta: Fraction) -> Fraction | None:
    """Returns Σ ε_i, where Σ δ_i or 1 - Π(1-δ_i) is within `delta` (GMPS24, V.5); else None."""
    added = summed(d * count for _, d, count in stated if d)
    return (
        _total(stated) if added <= delta or 1 - _no_failure_probability(stated) <= delta else None
    )


def advanced(stated: Sequence[Stated], delta: Fraction) -> Fraction | None:
    """Returns Σ ε_i(e^ε_i - 1) + sqrt(2·ln(1/δ')·Σ ε_i²) (Dwork, Rothblum and Vadhan 2010, III.3,
    in its form for unequal ε_i).

    None where δ leaves nothing, or where some e^ε_i is too large to be of use.
    """
    left = remaining(stated, delta)
    if left <= 0 or any(epsilon > MAX_EXPONENT for epsilon, _, _ in stated):
        return None
    drift = summed(count * _times_growth(epsilon) for epsilon, _, count in stated if epsilon)
    return capped(drift + _spread(_squares(stated), log_inverse_up(min(left, Fraction(1)))))


def closed_form(stated: Sequence[Stated], delta: Fraction) -> Fraction | None:
    """Returns the least of three bounds (Kairouz, Oh and Viswanath 2015, Theorem 3.5); None where δ
    leaves nothing.

    They are Σ ε_i; and T + sqrt(2·Σε_i²·x) with T = Σ ε_i·tanh(ε_i/2) and either x = ln(1/δ') or x
    = ln(e + sqrt(Σε_i²)/δ').
    """
    left, total = remaining(stated, delta), basic(stated, delta)
    if left <= 0 or total is None:
        return total
    drift = _sum_up((each * tanh_up(each / 2), count) for each, _, count in stated if each)
    squares = _squares(stated)
    ratio = capped(sqrt_up(squares) / left)
    logs = log_inverse_up(min(left, Fraction(1))), log_inverse_up(1 / (exp_up(ONE) + ratio))
    return min(total, *(capped(drift + _spread(squares, each)) for each in logs))


def remaining(stated: Sequence[Stated], delta: Fraction) -> Fraction:
    """Returns δ' = 1 - (1-δ)/Π(1-δ_i), what the stated δ_i leave of `delta`, rounded down; 0 or
    less where nothing is left."""
    kept = _no_failure_probability(stated)
    return 1 - (1 - delta) / kept if kept > 0 else Fraction(-1)


def _no_failure_probability(stated: Sequence[Stated]) -> Fraction:
    """Returns Π(1-δ_i), exactly where that is short, else rounded down."""
    product = ONE
    for _, d, count in stated:
        product = capped_down(product * power_down(1 - d, count))
    return product


def _total(stated: Sequence[Stated]) -> Fraction:
    return capped(summed(epsilon * count for epsilon, _, count in stated))


def _sum_up(terms: Iterable[tuple[Fraction, int]]) -> Fraction:
    """Returns Σ term·count in 50 digits, each step rounded up."""
    total = Decimal(0)
    for term, count in terms:
        each = UP.divide(Decimal(term.numerator * count), Decimal(term.denominator))
        total = UP.add(total, each)
    return Fraction(total)


def _squares(stated: Sequence[Stated]) -> Fraction:
    return capped(summed(epsilon * epsilon * count for epsilon, _, count in stated))


def _times_growth(epsilon: Fraction) -> Fraction:
    """Returns ε(e^ε - 1), rounded up."""
    if epsilon < Fraction(1, 10**6):
        return epsilon * epsilon * (1 + epsilon)
    return epsilon * (exp_up(epsilon) - 1)


def _spread(squares: Fraction, logarithm: Fraction) -> Fraction:
    """Returns sqrt(2·squares·logarithm), rounded up."""
    return sqrt_up(capped(2 * squares * logarithm))
