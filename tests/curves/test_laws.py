"""Laws of single losses on a grid: never below the profile they stand for, and close to it.

The truth is summed, integrated or taken from scipy's normal law.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from dpcompose.curves.backends.lattice import closed_laws
from dpcompose.curves.backends.lattice import profiles as curves
from dpcompose.curves.backends.lattice.closed_laws import slope
from dpcompose.curves.backends.lattice.law import Law, delta_of
from dpcompose.curves.backends.lattice.loss_distribution import masses
from dpcompose.curves.backends.lattice.masses import Masses, profile
from dpcompose.curves.backends.lattice.sampled_gaussian import revealing
from dpcompose.curves.curve import (
    Curve,
    PoissonReplaceOne,
    Response,
)

F = Fraction
Profile = Callable[[float], float]
EPSILONS = [0.0, 0.1, 0.37, 0.8, 1.3, 2.5]
ONE = Response(F(1))
BASE = Curve(((ONE, 1),))


def covers(law: Masses, truth: Profile, close: float) -> None:
    """The law is above the truth everywhere, and no further than `close`."""
    for epsilon in EPSILONS:
        found, true = profile(law, epsilon), max(0.0, truth(epsilon))
        assert true - 1e-15 <= found <= true + close, epsilon


def response(size: float) -> Profile:
    return lambda e: (math.exp(size) - math.exp(e)) / (1 + math.exp(size)) if e < size else 0.0


# --- discrete losses -----------------------------------------------------------------------------


@pytest.mark.parametrize("step", [F(1), F(1, 7)])
def test_randomized_response(step: Fraction) -> None:
    covers(closed_laws.response(F(1), step), response(1), 1e-12 if step == 1 else 0.03)


def test_two_stated_pairs_hold_both() -> None:
    points = ((F(0), F(3, 10)), (F(1), F(1, 100)))
    law = closed_laws.stated(points, F(1, 64))
    for epsilon, delta in points:
        assert profile(law, float(epsilon)) == pytest.approx(float(delta), abs=1e-9)
    # Convex in e^ε between them: below the chord, and not below the truth of one pair alone.
    middle = math.log((1 + math.e) / 2)
    assert profile(law, middle) <= (0.3 + 0.01) / 2 + 1e-9


def test_atoms_off_the_grid_are_split_upwards() -> None:
    """A loss of 1/2 and of -1/2 on a grid of 1/3: the curve of the chord above it."""
    p = np.array([1.0, math.e**0.5]) / (1 + math.e**0.5)
    on = closed_laws.on_lattice(np.array([-1, 1]), F(1, 2), p, F(1, 2))
    off = closed_laws.on_lattice(np.array([-1, 1]), F(1, 2), p, F(1, 3))
    covers(on, response(0.5), 1e-12)
    covers(off, response(0.5), 0.1)


# --- densities -----------------------------------------------------------------------------------


def test_an_exponential_density_by_integration() -> None:
    top, height = 0.9, 0.25

    def truth(epsilon: float) -> float:
        def term(loss: float) -> float:
            return (1 - math.exp(epsilon - loss)) * height * math.exp(-(top - loss) / 2)

        return float(quad(term, epsilon, top)[0]) if epsilon < top else 0.0

    covers(slope(F(9, 10), height, F(1, 200)), truth, 1e-5)


def test_a_sample_that_tells_everything() -> None:
    law = revealing(F(1, 4), F(1, 50), False)
    assert profile(law, 0.0) == pytest.approx(0.25, abs=1e-9)
    assert profile(law, 3.0) == pytest.approx(0.25, abs=1e-9)  # only one table has these outcomes
    assert 0.25 - 1e-12 <= profile(revealing(F(1, 4), F(1, 50), True), 0.0) < 0.26


# --- curves --------------------------------------------------------------------------------------


def test_a_law_and_its_curve_are_one() -> None:
    law = closed_laws.response(F(1), F(1, 10))
    points = curves.curve(law)
    losses = law.losses()
    for at in (0, len(losses) // 2, len(losses) - 2):
        assert points[at] == pytest.approx(profile(law, float(losses[at])), rel=1e-9)
    upward = curves.upward(law, 12)
    assert list(upward) == pytest.approx([profile(law, n / 10) for n in range(12)], abs=1e-9)
    covers(curves.from_profile(F(1, 10), upward), response(1), 1e-9)


def test_the_greatest_of_two_laws_is_above_both() -> None:
    one, other = (
        closed_laws.response(F(1), F(1, 10)),
        closed_laws.stated(((F(0), F(1, 5)),), F(1, 10)),
    )
    found = curves.greatest(one, other)
    for epsilon in EPSILONS:
        worst = max(profile(one, epsilon), profile(other, epsilon))
        assert worst - 1e-12 <= profile(found, epsilon) <= worst + 1e-3


def test_a_mirrored_law_is_the_same_in_both_orders() -> None:
    positive = np.array([0.0, math.e / (1 + math.e)])
    covers(curves.mirrored(F(1), positive, 0.0, 0.0), response(1), 1e-12)


# --- samples and groups --------------------------------------------------------------------------


def test_a_replaced_row_through_a_sample_by_enumeration() -> None:
    """Without the row, with the old one and with the new one: each response ε from its neighbours.

    P and Q are the mixtures with and without the row; the law is above all that these can do.
    """
    rate = 0.25
    part = PoissonReplaceOne(F(1, 4), BASE, Curve(((Response(F(2)), 1),)))
    law = masses(part, F(1, 200))
    p = math.e / (1 + math.e)
    none = np.array([0.5, 0.5])
    for old in (np.array([x, 1 - x]) for x in (p, 0.6, 0.5)):
        for new in (np.array([x, 1 - x]) for x in (1 - p, 0.4, 0.5)):
            pairs = ((1 - rate) * none + rate * old, (1 - rate) * none + rate * new)
            for first, second in (pairs, pairs[::-1]):
                for epsilon in EPSILONS:
                    true = np.maximum(first - math.exp(epsilon) * second, 0).sum()
                    assert profile(law, epsilon) >= true - 1e-15
    assert profile(law, 0.0) <= 1.01 * rate * response(2)(0.0) + 1e-6


@pytest.mark.parametrize("theta", [0.0, 0.002, 0.02, 0.6])
def test_a_law_beside_a_wide_gaussian(theta: float) -> None:
    mu, step, random = 200.0, 0.01, np.random.default_rng(7)
    x = np.arange(-40_000, 40_000) * step
    p = np.exp(-((x / 150) ** 2) / 2) * random.random(len(x)) ** 4
    p /= p.sum()
    mass = float((p * np.exp(theta * x)).sum())
    tilted = p * np.exp(theta * x) / mass
    law = Law(F(0), x, tilted, theta, math.log(mass), 0.0, 0.0, 0.0, 0.0, 0.0, mu**2)
    for epsilon in (0.0, 100.0, 900.0, 1900.0):
        z = (epsilon - x) / mu
        # By logarithms: e^(ε-l) alone is beyond doubles.
        log_far = (epsilon - x) + norm.logsf(z + mu / 2)
        weights = np.maximum(norm.sf(z - mu / 2) - np.exp(np.minimum(log_far, 0.0)), 0.0)
        truth = math.log(float((p * weights).sum()))
        found = delta_of(law, F(epsilon))
        assert truth - 1e-11 <= found.log_upper <= truth + 1e-6
        assert found.log_lower <= found.log_upper
