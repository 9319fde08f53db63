"""Independent computations in 50 digits: the largest D_α/α over a dense set of orders, quantiles.

A sampled maximum is below the truth, a certified bound above it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from mpmath import mp, mpf

DIGITS = 50
ORDERS = [mpf(10) ** (mpf(step) / 40) for step in range(-320, 161)]


def number(x: Fraction | int) -> Any:
    return mpf(Fraction(x).numerator) / Fraction(x).denominator


def largest_ratio(log_moment: Callable[[Any], Any]) -> Any:
    """max D_α/α, from ln Σ P^α Q^(1-α) as a function of α."""

    def ratio(s: Any) -> Any:
        return log_moment(1 + s) / (s * (1 + s))

    best = max(ORDERS, key=ratio)
    # Orders are 6 % apart: closer around the best one.
    return max(ratio(best * mpf(10) ** (mpf(step) / 4000)) for step in range(-100, 101))


def quantile(tail: Any) -> Any:
    """Φ⁻¹(1 - tail)."""
    return mp.sqrt(2) * mp.erfinv(1 - 2 * tail)


def largest_mu(errors: Iterable[tuple[Any, Any]]) -> Any:
    """The least μ of a trade-off function with these points: both kinds of error."""
    return max(quantile(first) + quantile(second) for first, second in errors)


def excess(bound: Fraction, truth: Any) -> float:
    """How far a bound is above the truth, relatively."""
    return float(number(bound) / truth - 1)
