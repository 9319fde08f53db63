"""The worst privacy loss of a mechanism known by some (ε, δ): a few possible losses, found
exactly."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

from dpcompose.curves.rounding.doubles import WORKING_DIGITS
from dpcompose.curves.rounding.exact import FURTHEST

Pairs = tuple[tuple[Fraction, Fraction], ...]


@lru_cache(maxsize=256)  # a law is put on several grids
def atoms(points: Pairs) -> tuple[tuple[tuple[Fraction, float], ...], float]:
    """Returns the losses of a dominating pair with their chances under P, and the chance of an
    infinite loss, all rounded up; `points`: the (ε, δ) that hold.

    A profile is convex in y = e^ε, 1 at y = 0, and δ(-ε) = 1-e^(-ε)(1-δ(ε)) from the other order of
    the tables. So it lies below the least convex curve through (0, 1) and the points given, on both
    sides of y = 1; where that curve bends lie the losses, each bend being a Q-chance. Points beyond
    all decimal numbers are left out, which dominates.
    """
    near = tuple(each for each in points if each[0] <= FURTHEST)
    if not near:
        return (), 1.0
    with localcontext(Context(prec=WORKING_DIGITS + _lost(near), Emax=MAX_EMAX, Emin=MIN_EMIN)):
        return _atoms(near)


def _atoms(points: Pairs) -> tuple[tuple[tuple[Fraction, float], ...], float]:
    """Returns `atoms` of points that are not too far for decimal numbers."""
    zero, one = Decimal(0), Decimal(1)
    least: dict[Fraction, Decimal] = {}
    bends: dict[Fraction, Decimal] = {}
    for epsilon, delta in points:
        y, height = _decimal(epsilon).exp(), _decimal(delta)
        mirrored = one - (one - height) / y
        for loss, bend, at_most in ((epsilon, y, height), (-epsilon, one / y, mirrored)):
            bends[loss] = bend
            least[loss] = min(at_most, least.get(loss, one))
    corners: list[Any] = [(None, zero, one)]
    nearly = [*(-epsilon for epsilon, _ in reversed(points)), *(epsilon for epsilon, _ in points)]
    corners += [(loss, bends[loss], least[loss]) for loss in sorted(dict.fromkeys(nearly))]
    # Of each corner that is kept also the fall to it from the one before.
    curve: list[Any] = []
    falls: list[Any] = []
    for corner in corners:
        fall = _fall(curve[-1], corner) if curve else None
        while len(curve) > 1 and falls[-1] <= fall:
            curve.pop()
            falls.pop()
            fall = _fall(curve[-1], corner)
        if not curve or corner[2] < curve[-1][2]:
            curve.append(corner)
            falls.append(fall)
    falls = [*falls[1:], zero]
    found = tuple(
        (loss, _up(y * (falls[i] - falls[i + 1]))) for i, (loss, y, _) in enumerate(curve[1:])
    )
    return found, _up(curve[-1][2])


def _decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / x.denominator


def _lost(points: Pairs) -> int:
    """Returns how many digits are lost in the differences of neighbouring corners, and of 1 and
    e^(-ε)."""
    gaps = [points[0][0] * 2] + [b[0] - a[0] for a, b in pairwise(points)]
    least = min((gap for gap in gaps if gap > 0), default=Fraction(1))
    largest = points[-1][0]
    return max(0, least.denominator.bit_length() - least.numerator.bit_length()) // 3 + (
        int(largest) if largest < 1000 else 1000
    )


def _fall(left: Any, right: Any) -> Any:
    return (left[2] - right[2]) / (right[1] - left[1])


def _up(x: Any) -> float:
    value: float = max(float(x), 0.0) * (1 + 2.0**-50)
    return max(value, 1e-300) if x > 0 else value
