"""Laws with few outcomes, and what holds of any two of them."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np

from dpcompose.curves.curve import Curve, Points

Law = np.ndarray | list[float]


def stick(p: Law, q: Law, epsilon: float) -> float:
    """The hockey-stick divergence of two laws at an ε."""
    return float(np.maximum(np.asarray(p) - math.exp(epsilon) * np.asarray(q), 0.0).sum())


def worse(p: Law, q: Law, epsilon: float) -> float:
    """The larger divergence of both orders."""
    return max(stick(p, q, epsilon), stick(q, p, epsilon))


def best_test(p: np.ndarray, q: np.ndarray, rate: float) -> float:
    """The power of the best test of q against p, with as many false alarms; p, q > 0."""
    order = np.argsort(-(np.log(p) - np.log(q)), kind="stable")
    hits = np.concatenate([[0.0], np.cumsum(p[order])])
    alarms = np.concatenate([[0.0], np.cumsum(q[order])])
    return float(np.interp(rate, alarms, hits))


def normal(at: float) -> np.ndarray:
    """Normal noise of variance 1 around a place, on a fine grid."""
    x, width = np.linspace(-40, 40, 160_001, retstep=True)
    found: np.ndarray = np.exp(-((x - at) ** 2) / 2) / math.sqrt(2 * math.pi) * width
    return found


def weights(rng: random.Random) -> np.ndarray:
    """A law of five outcomes, some of them rare or impossible."""
    raw = [rng.choice([0.0, 1.0, rng.expovariate(1), rng.expovariate(1) ** 4]) for _ in range(5)]
    raw[rng.randrange(5)] += 0.01
    return np.array(raw) / sum(raw)


def points(*pairs: tuple[np.ndarray, np.ndarray]) -> Curve:
    """What holds of these pairs of laws, in both orders, at some ε."""
    found = []
    for epsilon in (Fraction(n, 8) for n in range(0, 41, 2)):
        delta = max(worse(p, q, float(epsilon)) for p, q in pairs)
        if delta < 1:
            found.append((epsilon, Fraction(delta * (1 + 1e-12))))
    return Curve(((Points(tuple(found)), 1),)) if found else Curve((), no_failure=Fraction(0))
