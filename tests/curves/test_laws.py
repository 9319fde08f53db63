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

from dpcompose.curves.backends.lattice import closed_laws, samples
from dpcompose.curves.backends.lattice import profiles as curves
from dpcompose.curves.backends.lattice.closed_laws import slope
from dpcompose.curves.backends.lattice.from_points import atoms
from dpcompose.curves.backends.lattice.law import Law, delta_of
from dpcompose.curves.backends.lattice.loss_distribution import base_law, masses
from dpcompose.curves.backends.lattice.masses import Masses, profile
from dpcompose.curves.backends.lattice.sampled_gaussian import revealing, sampled_gaussian
from dpcompose.curves.curve import (
    Curve,
    Grouped,
    MixtureOfDraws,
    PoissonReplaceOne,
    Response,
    Sampled,
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


def gaussian(mu: float) -> Profile:
    return lambda e: float(norm.cdf(mu / 2 - e / mu) - math.exp(e) * norm.cdf(-mu / 2 - e / mu))


def inner(epsilon: float, rate: float) -> float:
    """The ε of which a sample makes `epsilon`."""
    return math.log1p((math.exp(epsilon) - 1) / rate)


# --- discrete losses -----------------------------------------------------------------------------


@pytest.mark.parametrize("step", [F(1), F(1, 7)])
def test_randomized_response(step: Fraction) -> None:
    covers(closed_laws.response(F(1), step), response(1), 1e-12 if step == 1 else 0.03)


@pytest.mark.parametrize("k", [2, 5])
def test_randomized_response_over_several_values(k: int) -> None:
    whole = math.e + k - 1
    covers(
        closed_laws.kary_response(k, F(1), F(1)), lambda e: (math.e - math.exp(e)) / whole, 1e-12
    )


def test_one_stated_pair_is_the_worst_mechanism_with_it() -> None:
    law = closed_laws.stated(((F(1), F(1, 100)),), F(1, 64))
    covers(law, lambda e: 0.01 + 0.99 * response(1)(e), 1e-9)
    found, infinite = atoms(((F(1), F(1, 100)),))
    assert 0.01 <= infinite <= 0.01 + 1e-12
    assert {loss for loss, _ in found} == {1, -1}
    assert dict(found)[F(1)] == pytest.approx(0.99 * math.e / (1 + math.e), abs=1e-12)


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


@pytest.mark.parametrize("mu", [0.5, 2.0])
def test_gaussian_noise(mu: float) -> None:
    law = sampled_gaussian(F(mu) ** 2, F(1), F(1, 100), False)
    covers(law, gaussian(mu), 1e-4)


@pytest.mark.parametrize("rate", [0.5, 0.125])
def test_gaussian_noise_through_a_sample_in_both_orders(rate: float) -> None:
    """δ of ((1-q)Q+qP, Q) at ε is q·δ at the ε inside."""
    removed = sampled_gaussian(F(1), F(rate), F(1, 200), False)
    covers(removed, lambda e: rate * gaussian(1)(inner(e, rate)), 1e-4)
    added = sampled_gaussian(F(1), F(rate), F(1, 200), True)

    def other(epsilon: float) -> float:
        """P - e^ε((1-q)P + qQ), which is above 0 from some x on."""
        less = math.exp(epsilon)
        of_p, of_q = 1 - less * (1 - rate), less * rate
        if of_p <= 0:
            return 0.0
        x = math.log(of_q / of_p) + 0.5
        return float(of_p * norm.sf(x - 1) - of_q * norm.sf(x))

    covers(added, other, 1e-4)


def test_a_sample_that_tells_everything() -> None:
    law = revealing(F(1, 4), F(1, 50), False)
    assert profile(law, 0.0) == pytest.approx(0.25, abs=1e-9)
    assert profile(law, 3.0) == pytest.approx(0.25, abs=1e-9)  # only one table has these outcomes
    assert 0.25 - 1e-12 <= profile(revealing(F(1, 4), F(1, 50), True), 0.0) < 0.26


def test_concentrated_dp_is_above_gaussian_noise_and_below_its_bound() -> None:
    """N(0, 1) and N(μ, 1) are ρ-zCDP with ρ = μ²/2, which is (ρ + 2√(ρ·ln(1/δ)), δ)-DP."""
    rho = 0.125
    law = closed_laws.divergence((), F(1, 8), F(1, 200))
    for epsilon in EPSILONS:
        assert profile(law, epsilon) >= gaussian(0.5)(epsilon)
    for delta in (1e-2, 1e-4):
        bound = rho + 2 * math.sqrt(rho * math.log(1 / delta))
        assert profile(law, bound) <= delta


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


@pytest.mark.parametrize("rate", [F(1, 2), F(1, 10)])
def test_a_sampled_response_by_its_formula(rate: Fraction) -> None:
    q = float(rate)
    removed = samples.sampled(Sampled(rate, BASE, side="removed"), F(1, 500), "removed", base_law)
    covers(removed, lambda e: q * response(1)(inner(e, q)), 2e-3)
    drawn = samples.law_of_draws(MixtureOfDraws(((rate, BASE),)), F(1, 500), "removed", base_law)
    covers(drawn, lambda e: q * response(1)(e), 2e-3)


def test_group_privacy_of_a_curve_by_its_formula() -> None:
    """(nε, δ(ε)·(e^nε - 1)/(e^ε - 1)), the least over ε for each."""
    law = masses(Grouped(BASE, 3), F(1, 200))
    for epsilon in (0.5, 1.0, 2.0, 2.9):
        third = epsilon / 3
        bound = response(1)(third) * math.expm1(epsilon) / math.expm1(third)
        assert profile(law, epsilon) <= min(1.0, bound) + 5e-3
    # Geometric noise moved by three steps is 1-DP at each.
    assert profile(law, 0.0) >= 1 - 2 * math.exp(-2) / (1 + math.exp(-1)) - 1e-9
    assert samples.both_orders(BASE, "removed") == ("removed",)
    skewed = Curve(((Sampled(F(1, 2), BASE, side="removed"), 1),))
    assert set(samples.both_orders(skewed, "added")) == {"added", "removed"}
    assert samples.base_grid(BASE, 0.013) > 0


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
