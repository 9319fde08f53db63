"""Power functions of tests, and several rows through one sample: by mixtures of few outcomes."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpcompose.curves.backends.lattice.loss_distribution import masses
from dpcompose.curves.backends.lattice.masses import profile
from dpcompose.curves.backends.lattice.powers import Power, mixed, path, symmetric
from dpcompose.curves.curve import Curve, PoissonGroup, Response

F = Fraction
EPSILONS = [0.0, 0.1, 0.4, 0.9]
WIDTH = 1 / 256


def delta(size: float, epsilon: float) -> float:
    """Of a randomized response."""
    return max(0.0, (math.exp(size) - math.exp(epsilon)) / (1 + math.exp(size)))


def response(size: float) -> Power:
    places = round(size / WIDTH) + 2
    return symmetric(WIDTH, np.array([delta(size, n * WIDTH) for n in range(places)]))


def at(power: Power, epsilon: float) -> float:
    return float(power.at(np.array([epsilon]))[0])


def test_a_profile_and_its_reverse() -> None:
    power = response(1.0)
    for epsilon in EPSILONS:
        true = delta(1.0, epsilon)
        assert true - 1e-12 <= at(power, epsilon) <= true + 1e-3
        assert at(power.reversed(), epsilon) == pytest.approx(at(power, epsilon), abs=1e-9)
    assert 0.99 <= power.top <= 1.02


@pytest.mark.parametrize("rate", [0.5, 0.1])
def test_a_mixture_with_what_it_is_told_from(rate: float) -> None:
    """δ at ln(1 + q(e^ε - 1)) is q·δ(ε)."""
    power = mixed([1 - rate, rate], [response(1.0)])
    for inside in (0.2, 0.5, 0.9):
        true = rate * delta(1.0, inside)
        epsilon = math.log1p(rate * math.expm1(inside))
        assert true - 1e-12 <= at(power, epsilon) <= true + 2e-3


def test_a_path_of_two_steps_puts_powers_into_each_other() -> None:
    """β(x) = min(e·x, 1 - (1-x)/e) of a step; the advantage of two is the largest β(β(x)) - x."""

    def beta(x: np.ndarray) -> np.ndarray:
        found: np.ndarray = np.minimum(math.e * x, 1 - (1 - x) / math.e)
        return found

    levels = np.linspace(0, 1, 100_001)
    true = float((beta(beta(levels)) - levels).max())
    found = at(path(response(1.0), response(1.0)), 0.0)
    assert true - 1e-9 <= found <= true + 5e-3


def test_two_rows_through_a_sample_by_enumeration() -> None:
    """Both rows are in one table: none, one or both are drawn, each moving a response by one step.

    The laws of j rows are geometric: e^j more likely at the one end, so that one event is the
    best for all of them.
    """
    rate = F(1, 4)
    bases = tuple(Curve(((Response(F(n)), 1),)) for n in (1, 2))
    law = masses(PoissonGroup(rate, bases, one_sided=True), F(1, 256))
    q = float(rate)
    for epsilon in EPSILONS:
        # Of all laws of two outcomes that keep to what is known of one row and of two.
        worst = 0.0
        for none in np.linspace(0.02, 0.98, 49):
            one = min(math.e * none, 1 - (1 - none) / math.e)
            two = min(math.e * one, 1 - (1 - one) / math.e)
            p = (1 - q) ** 2 * none + 2 * q * (1 - q) * one + q * q * two
            less = math.exp(epsilon)
            worst = max(worst, p - less * none, (1 - none) - less * (1 - p))
        assert profile(law, epsilon) >= worst - 1e-12
    sure = profile(law, 0.0)
    most = 2 * q * (1 - q) * delta(1.0, 0.0) + q * q * delta(2.0, 0.0)
    assert sure <= most + 5e-3
