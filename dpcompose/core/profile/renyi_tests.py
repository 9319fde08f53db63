"""What a Rényi curve says of tests, without the way through (ε, δ).

A test makes of each table a coin: "in" with the chance of a hit β, or with that of a false alarm α.
By data processing its two coins are no further apart than the tables, at every order λ > 1 and in
both directions: D_λ(β‖α) ≤ R(λ) and D_λ(α‖β) ≤ R(λ) (van Erven and Harremoës 2014, Theorem 9;
Balle, Barthe, Gaboardi, Hsu and Sato 2020). Every order gives a valid bound: the best is searched,
and its evaluation is rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dpcompose.core.profile.valley import valley

#: R(λ), an upper bound of the divergences in both directions; infinite where none is known.
Curve = Callable[[float], float]

#: ln(λ - 1) stays within these.
_LOWEST, _HIGHEST = -9.0, 9.0
#: More false alarms than this are read as all.
_NEARLY_ALL = 1 - 1e-12
#: A chance is told as so much larger, relatively, than where the divergence is surely too large.
_STEP = 1e-9
#: What a divergence times λ - 1 in doubles may be off by, beside its own size.
_MARGIN = 1e-11


def most_hits(curve: Curve, rate: float) -> float:
    """The most hits at a `rate` of false alarms, 0 < rate < 1; rounded up."""
    if rate > _NEARLY_ALL:
        return 1.0
    return _least(curve, lambda order: _hits(order, curve(order), rate))


def most_advantage(curve: Curve) -> float:
    """The most that hits are above false alarms, rounded up.

    Divergences are jointly quasi-convex (van Erven and Harremoës 2014, Theorem 13), so that the
    (α, β) within R(λ) in both directions are a convex set. It is its own mirror image under
    (α, β) → (1-β, 1-α), which keeps β - α: so the largest β - α is one with β = 1 - α.
    """
    return _least(curve, lambda order: _advantage(order, curve(order)))


def _least(curve: Curve, bound: Callable[[float], float]) -> float:
    at = valley(lambda s: bound(1 + math.exp(s)), 0.0, _LOWEST, _HIGHEST)
    return min(1.0, bound(1 + math.exp(at)))


def _hits(order: float, most: float, rate: float) -> float:
    def too_far(hits: float) -> bool:
        return _apart(order, hits, rate, most) or _apart(order, rate, hits, most)

    return _first(too_far, rate)


def _advantage(order: float, most: float) -> float:
    def too_far(hits: float) -> bool:
        return _apart(order, hits, 1 - hits, most)

    found = _first(too_far, 0.5)
    return 1.0 if found >= 1 else 2 * found - 1 + 4 * _STEP


def _first(too_far: Callable[[float], bool], least: float) -> float:
    """A chance above `least` that is surely too large; 1 where none is."""
    low, high = least, 1.0
    if not too_far(1 - 1e-15):
        return 1.0
    for _ in range(45):
        middle = (low + high) / 2
        low, high = (low, middle) if too_far(middle) else (middle, high)
    high = min(high * (1 + _STEP), 1.0)
    return high if too_far(high) or high == 1 else 1.0


def _apart(order: float, one: float, other: float, most: float) -> bool:
    """Whether the divergence of two coins is surely above `most`."""
    if most == math.inf:
        return False
    if not (0 < one < 1 and 0 < other < 1):
        return one != other
    terms = [
        order * math.log(p) - (order - 1) * math.log(q)
        for p, q in ((one, other), (1 - one, 1 - other))
    ]
    size = order * max(abs(math.log(each)) for each in (one, other, 1 - one, 1 - other))
    top = max(terms)
    value = top + math.log(sum(math.exp(each - top) for each in terms))
    return value > (order - 1) * most * (1 + _MARGIN) + _MARGIN * (1 + size)
