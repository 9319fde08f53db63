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

from dpcompose.curves.backends.renyi.valley import LOG_ORDERS, valley
from dpcompose.curves.rounding.doubles import EPS, ROUNDING

#: R(λ), an upper bound of the divergences in both directions; infinite where none is known.
RenyiCurve = Callable[[float], float]


def most_hits(curve: RenyiCurve, rate: float) -> float:
    """Returns the highest hit rate of a test with a `rate` of false alarms, 0 < rate < 1, that a
    Rényi curve allows; rounded up."""
    return _least_power(curve, lambda order: _hits(order, curve(order), rate))


def most_advantage(curve: RenyiCurve) -> float:
    """Returns by how much the hit rate of a test can at most exceed its rate of false alarms,
    rounded up.

    Divergences are jointly quasi-convex (van Erven and Harremoës 2014, Theorem 13), so that the (α,
    β) within R(λ) in both directions are a convex set. It is its own mirror image under (α, β) →
    (1-β, 1-α), which keeps β - α: so the largest β - α is one with β = 1 - α.
    """
    return _least_power(curve, lambda order: _advantage(order, curve(order)))


def _least_power(curve: RenyiCurve, bound: Callable[[float], float]) -> float:
    """Returns the least bound over all orders of the curve; `bound` gives it at one order."""
    at = valley(lambda s: bound(1 + math.exp(s)), 0.0, -LOG_ORDERS, LOG_ORDERS)
    return min(1.0, bound(1 + math.exp(at)))


def _hits(order: float, most: float, rate: float) -> float:
    """Returns the bound on the hit rate at one `order`, whose divergence is at most `most`."""
    return _first(lambda hits: _excess(order, hits, rate, most), rate)


def _advantage(order: float, most: float) -> float:
    """Returns the bound on the advantage at one `order`, whose divergence is at most `most`."""
    return 2 * _first(lambda hits: _excess(order, hits, 1 - hits, most), 0.5) - 1


def _first(excess: Callable[[float], float], least: float) -> float:
    """Returns a chance above `least` that is surely too large, since `excess` > 0 there; 1 where
    none is. By bisection of its logarithm."""
    high = 1 - EPS
    if least >= high or excess(high) <= 0:
        return 1.0
    low = least
    for _ in range(60):
        middle = math.sqrt(low) * math.sqrt(high)
        if excess(middle) > 0:
            high = middle
        else:
            low = middle
    return high


def _excess(order: float, one: float, other: float, most: float) -> float:
    """Returns by how much the divergence of one coin from another, with these chances, is surely
    above `most`, times λ - 1 where λ is `order`."""
    if most == math.inf:
        return -math.inf
    if not (0 < one < 1 and 0 < other < 1):
        return math.inf if one != other else -math.inf
    logs = p, q, not_p, not_q = tuple(map(math.log, (one, other, 1 - one, 1 - other)))
    less = order - 1
    both = (
        (order * p - less * q, order * not_p - less * not_q),
        (order * q - less * p, order * not_q - less * not_p),
    )
    value = max(max(each) + math.log1p(math.exp(-abs(each[0] - each[1]))) for each in both)
    # Some ten roundings of numbers up to λ times the largest logarithm.
    return value - less * most * (1 + ROUNDING) - ROUNDING * (1 + order * -min(logs))
