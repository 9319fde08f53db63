"""Tests by Rényi curves: never below the best test of laws with such a curve; coins reach it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.finite_laws import best_test
from scipy.stats import norm

from dpcompose.curves.backends.renyi.renyi_tests import RenyiCurve, most_advantage, most_hits


def divergence(p: np.ndarray, q: np.ndarray, order: float) -> float:
    logs = order * np.log(p) - (order - 1) * np.log(q)
    return float(np.logaddexp.reduce(logs) / (order - 1))


def curve_of(p: np.ndarray, q: np.ndarray) -> RenyiCurve:
    """The greater divergence of the two directions."""
    return lambda order: max(divergence(p, q, order), divergence(q, p, order), 0.0) + 1e-15


laws = st.integers(2, 6).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(1, 50), min_size=n, max_size=n)] * 2)
)


@pytest.mark.slow
@settings(max_examples=60)
@given(laws, st.integers(1, 99))
def test_no_test_of_any_laws_is_better(pair: tuple[list[int], list[int]], percent: int) -> None:
    p, q = (np.array(each, dtype=float) / sum(each) for each in pair)
    curve, rate = curve_of(p, q), percent / 100
    for one, other in ((p, q), (q, p)):
        assert best_test(one, other, rate) <= most_hits(curve, rate) * (1 + 1e-12)
    assert float(np.abs(p - q).sum() / 2) <= most_advantage(curve) * (1 + 1e-12)


def coins(*chances: float) -> Sequence[np.ndarray]:
    return [np.array([each, 1 - each]) for each in chances]


@pytest.mark.parametrize(("hits", "rate"), [(0.3, 0.1), (0.02, 0.001), (0.9, 0.5), (0.99, 0.9)])
def test_coins_reach_it(hits: float, rate: float) -> None:
    p, q = coins(hits, rate)
    found = most_hits(curve_of(p, q), rate)
    assert hits <= found * (1 + 1e-12) and found <= hits * (1 + 1e-4) + 1e-9
    one, other = coins(0.7, 0.3)
    assert most_advantage(curve_of(one, other)) == pytest.approx(0.4, rel=1e-5)


@pytest.mark.parametrize("rho", [1e-6, 0.005, 0.5, 2.5, 40.0])
def test_it_lies_between_gaussian_noise_and_pinsker(rho: float) -> None:
    mu = math.sqrt(2 * rho)
    curve: RenyiCurve = lambda order: order * rho  # noqa: E731
    gauss = 2 * norm.cdf(mu / 2) - 1
    assert gauss <= most_advantage(curve) <= min(1.0, math.sqrt(rho / 2) * 1.001)
    for rate in (1e-6, 0.01, 0.5, 0.99):
        assert norm.sf(norm.isf(rate) - mu) <= most_hits(curve, rate)


def test_what_is_not_known_says_nothing() -> None:
    assert most_hits(lambda order: math.inf, 0.1) == 1
    assert most_advantage(lambda order: math.inf) == 1
    assert most_hits(lambda order: 0.1, 1 - 1e-14) == 1
    # Curve up to an order alone.
    assert most_hits(lambda order: 0.1 if order <= 2 else math.inf, 0.1) < 0.3


@pytest.mark.slow
@pytest.mark.parametrize(("rho", "rate"), [(1e-8, 1e-9), (1e-4, 1e-9), (0.1, 1e-4), (0.5, 0.01)])
def test_few_evaluations_find_small_chances(rho: float, rate: float) -> None:
    """Against bisection with 50 digits, at each of many orders."""
    mpmath.mp.dps = 50
    alarms = mpmath.mpf(rate)

    def hits(order: float) -> mpmath.mpf:
        most = mpmath.exp((order - 1) * mpmath.mpf(rho) * order)
        low, high = alarms, mpmath.mpf(1)
        for _ in range(120):
            hit = (low + high) / 2
            apart = max(
                p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)
                for p, q in ((hit, alarms), (alarms, hit))
            )
            low, high = (low, hit) if apart > most else (hit, high)
        return high

    least = min(hits(mpmath.mpf(1) + mpmath.exp(s / 2)) for s in range(-18, 19))
    asked: list[float] = []

    def curve(order: float) -> float:
        asked.append(order)
        return rho * order

    found = most_hits(curve, rate)
    assert min(map(hits, asked)) <= found <= least * (1 + mpmath.mpf(3e-9))
    assert len(asked) <= 60
