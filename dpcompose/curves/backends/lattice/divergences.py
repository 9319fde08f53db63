"""Rényi divergences and zCDP as privacy profiles, and these as laws.

δ(ε) = E (1-e^(ε-L))₊ ≤ c·e^((α-1)(R(α)-ε)) with c = (α-1)^(α-1)/α^α at every order α > 1 and every
real ε, since 1-e^(-x) ≤ c·e^((α-1)x) (Canonne, Kamath and Steinke 2020, Proposition 12). Any
order is valid: the best is only searched roughly, and the evaluation is rounded up.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dpcompose.curves.backends.lattice.masses import Floats, Masses, bounded, spread
from dpcompose.curves.backends.lattice.profiles import from_profile
from dpcompose.curves.backends.lattice.settings import FEW, MAX_POINTS, MOST_POINTS, TAIL
from dpcompose.curves.rounding.doubles import EPS
from dpcompose.curves.rounding.exact import FURTHEST, float_up

#: The least and the greatest order less 1 that are looked at.
_LEAST, _MOST = 1e-12, 1e12


def divergence(
    points: tuple[tuple[Fraction, Fraction], ...], rho: Fraction, step: Fraction
) -> Masses:
    """Returns a privacy loss distribution that dominates every mechanism whose Rényi divergence of
    order α is at most ε + α·rho, for each (α, ε) of `points`."""
    corners = _corners(points)
    orders, slopes = [], []
    rough = max(bounded(rho, 1e100), 1e-200)
    for i, (start, value) in enumerate(corners):
        if i + 1 < len(corners):
            end, high = corners[i + 1]
            s = np.geomspace(max(start, _LEAST), end, 2 * FEW) if end > _LEAST else np.array([end])
            slopes.append(np.full(len(s), (high - value) / (end - start)))
        elif points:
            break
        else:
            s = np.geomspace(1e-6, 1e6, 4 * FEW) / math.sqrt(rough)
            slopes.append(np.zeros(len(s)))
        orders.append(s)
    if not orders or rho > FURTHEST:
        return Masses(step, 0, np.zeros(1), 1.0)
    every = np.concatenate(orders)
    # The ε at which each order is the best one; it grows with the order.
    best = np.concatenate(slopes) + (2 * every + 1) * rough - np.log1p(1 / every)
    epsilon, times = _grid(every, corners, rough, float(step))
    order = np.exp(np.interp(epsilon, np.maximum.accumulate(best), np.log(every)))
    order = np.clip(order, every[0], every[-1])
    delta = np.exp(np.minimum(_log_delta(order, epsilon, corners, rough), 0.0))
    return spread(from_profile(step * times, delta), times)


def _corners(points: tuple[tuple[Fraction, Fraction], ...]) -> list[tuple[float, float]]:
    """Returns the corners of the least convex curve below the given points (α-1, (α-1)·ε), from (0,
    0) on, rounded up.

    (α-1)·R(α) is convex and 0 at α = 1, so that it lies below every chord.
    """
    curve = [(Fraction(0), Fraction(0))]
    for alpha, epsilon in points:
        corner = (alpha - 1, (alpha - 1) * epsilon)
        if corner[0] > _MOST or corner[1] > FURTHEST:
            break
        while len(curve) > 1 and _slope(curve[-2], curve[-1]) >= _slope(curve[-1], corner):
            curve.pop()
        curve.append(corner)
    return [(float_up(s), float_up(value)) for s, value in curve]


def _slope(left: tuple[Fraction, Fraction], right: tuple[Fraction, Fraction]) -> Fraction:
    """Returns the slope of the line from one point to another."""
    return (right[1] - left[1]) / (right[0] - left[0])


def _log_delta(
    s: Floats, epsilon: Floats, corners: list[tuple[float, float]], rho: float
) -> Floats:
    """Returns ln of the bound on δ(ε) by the order α = 1+s, rounded up.

    `corners`: of (α-1)·R(α) without `rho`, which adds α·rho to R(α).
    """
    places = np.array([place for place, _ in corners])
    values = np.array([value for _, value in corners])
    divergence = np.interp(s, places, values) if len(corners) > 1 else np.zeros(len(s))
    terms = (divergence, s * (1 + s) * rho, -s * epsilon, s * np.log(s), -(1 + s) * np.log1p(s))
    total: Floats = sum(terms, np.zeros(len(s)))
    size: Floats = sum((np.abs(term) for term in terms), np.zeros(len(s)))
    return total + 16 * EPS * size


def _grid(
    s: Floats, corners: list[tuple[float, float]], rho: float, step: float
) -> tuple[Floats, int]:
    """Returns a grid of ε from 0 up to where δ is negligible, or as far as is affordable; and how
    many `step` apart its points are.

    `s`: the orders α-1 to try; `corners`, `rho`: as for `_log_delta`.
    """
    zero = np.zeros(len(s))
    # ln δ + s·ε is free of ε.
    reach = float(np.min((_log_delta(s, zero, corners, rho) - math.log(TAIL)) / s))
    points = int(min(max(reach / step, 0.0) + 2, MAX_POINTS / 2))
    times = -(-points // MOST_POINTS)
    return np.arange(points // times + 1, dtype=np.float64) * (step * times), times
