"""Laws of losses that are known in closed form: responses and stated points, losses on a lattice,
exponential densities, Rényi divergences.

Densities are those of Laplace noise and of a bounded range. Of Rényi divergences and zCDP the
profile is bounded first: δ(ε) = E (1-e^(ε-L))₊ ≤ c·e^((α-1)(R(α)-ε)) with c = (α-1)^(α-1)/α^α at
every order α > 1 and every real ε, since 1-e^(-x) ≤ c·e^((α-1)x) (Canonne, Kamath and Steinke 2020,
Proposition 12). Any order is valid: the best is only searched roughly, and the evaluation is
rounded up.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpcompose.curves.backends.lattice.from_points import atoms
from dpcompose.curves.backends.lattice.masses import (
    Floats,
    Masses,
    bounded,
    gather,
    on_grid,
    scatter,
    split,
    spread,
)
from dpcompose.curves.backends.lattice.profiles import from_profile
from dpcompose.curves.backends.lattice.tuning import (
    FEW,
    MAX_POINTS,
    MOST_LOG,
    MOST_POINTS,
    TAIL,
)
from dpcompose.curves.rounding.doubles import EPS, LEAST
from dpcompose.curves.rounding.exact import FURTHEST, float_up


def response(epsilon: Fraction, step: Fraction) -> Masses:
    """Returns the privacy loss distribution of binary randomized response: +ε with chance
    e^ε/(1+e^ε), else -ε."""
    return kary_response(2, epsilon, step)


def kary_response(k: int, epsilon: Fraction, step: Fraction) -> Masses:
    """Returns the privacy loss distribution of randomized response over `k` values: +ε, -ε or,
    where another value comes out, 0.

    In terms of e^(-ε), so that nothing overflows; the profile falls as `k` grows.
    """
    others = float(min(k, 1 / LEAST) - 1)
    if epsilon > MOST_LOG:
        return gather(split(epsilon, 1.0, step), step, others * math.exp(-MOST_LOG))
    small = math.exp(-float(epsilon))
    total = (1 + others * small) * (1 - 8 * EPS)
    entries = split(epsilon, 1 / total, step) + split(-epsilon, small / total, step)
    if k > 2:
        entries.append((0, (others - 1) * small / total))
    return gather(entries, step)


def stated(points: tuple[tuple[Fraction, Fraction], ...], step: Fraction) -> Masses:
    """Returns the privacy loss distribution that dominates every mechanism which is (ε, δ)-DP for
    each pair of `points`."""
    found, infinite = atoms(points)
    entries = [entry for loss, p in found for entry in split(loss, p, step)]
    return gather(entries or [(0, 0.0)], step, infinite)


def on_lattice(
    multiples: NDArray[np.int64], unit: Fraction, p: Floats, step: Fraction, infinite: float = 0.0
) -> Masses:
    """Returns the law with the losses multiples·unit, which all are odd or all even multiples, and
    their chances `p`; kept exactly where they lie on the grid of `step`, else split over it.

    `infinite`: the chance of an infinite loss.
    """
    if multiples[0] % 2 == 0:
        multiples, unit = multiples // 2, unit * 2
    ratio = unit / step
    if ratio.denominator == 1 and ratio.numerator * int(np.abs(multiples).max()) < 1 << 53:
        return on_grid(multiples.astype(np.float64) * ratio.numerator, p, step, infinite)
    losses: Floats = multiples.astype(np.float64) * float(unit)
    return scatter(losses, p, step, infinite)


def slope(top: Fraction, height: float, step: Fraction) -> Masses:
    """Returns the law with the density height·e^(-(top-l)/2) under P on -top ≤ l ≤ top, each bin of
    the grid split over its two ends.

    With density f·e^(u/2) at u above the lower end, [w, v] within a bin of width h leaves
    f·8·sinh((v+w)/4)·sinh((v-w)/4)/(1-e^(-h)) on the upper end; the lower end is its mirror.
    Differences are taken between exact fractions, so that each entry is right in relative terms.
    """
    last, lowest = math.floor(top / step), math.floor(-top / step)
    width = float(step)
    # The density falls as e^(l/2) below the greatest loss.
    first = max(lowest, last - min(MAX_POINTS, math.ceil(-2 * math.log(TAIL) / width) + 1))
    over = top - last * step
    below = np.arange(last - first, -1, -1, dtype=np.float64) * width + float(over)
    density = height * np.exp(-below / 2) * (1 + (below + 64) * EPS)
    p = np.zeros(len(density) + 1)
    upper, lower = _ends(Fraction(0), step, step)
    high, low = density * upper, density * lower
    high[-1], low[-1] = (density[-1] * share for share in _ends(Fraction(0), over, step))
    if first == lowest:
        end = over if last == first else step
        high[0], low[0] = (density[0] * share for share in _ends(-top - first * step, end, step))
    else:
        low[0] += 2 * density[0]
    p[1:] += high
    p[:-1] += low
    return Masses(step, first, p, 0.0)


def _ends(start: Fraction, end: Fraction, step: Fraction) -> tuple[float, float]:
    """Returns the masses that the part [start, end] of a bin leaves on its upper and its lower end,
    for the density e^(u/2); `start` and `end` count from the lower end."""
    whole = -math.expm1(-float(step)) / 8
    across = math.sinh(float(end - start) / 4) / whole
    upper = math.sinh(float(end + start) / 4) * across
    lower = math.exp(-float(step) / 2) * math.sinh(float(2 * step - end - start) / 4) * across
    return upper, lower


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
            least = 1 / FURTHEST
            s = np.geomspace(max(start, least), end, 2 * FEW) if end > least else np.array([end])
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
        if max(corner) > FURTHEST:
            break
        while len(curve) > 1 and _steepness(curve[-2], curve[-1]) >= _steepness(curve[-1], corner):
            curve.pop()
        curve.append(corner)
    return [(float_up(s), float_up(value)) for s, value in curve]


def _steepness(left: tuple[Fraction, Fraction], right: tuple[Fraction, Fraction]) -> Fraction:
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
