"""One row replaced below a Poisson sample: against the truth for noise, and for random tables."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from reference.finite_laws import points, stick, weights
from volume import thinned

from dpcompose.curves.answers import delta_at, epsilon_at
from dpcompose.curves.backends.lattice.loss_distribution import masses
from dpcompose.curves.backends.lattice.masses import profile
from dpcompose.curves.curve import Curve, PoissonReplaceOne, Response, Sampled
from dpcompose.curves.families.laplace_loss import LaplaceLoss

Density = Callable[[np.ndarray], np.ndarray]
EPSILONS = [0.0, 0.003, 0.05, 0.3, 0.7, 1.1, 2.0, 3.5]


def mixtures(rate: float, none: np.ndarray, old: np.ndarray, new: np.ndarray) -> list[np.ndarray]:
    return [(1 - rate) * none + rate * old, (1 - rate) * none + rate * new]


# --- noise ---------------------------------------------------------------------------------------


def normal(x: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return found


def laplace(x: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.exp(-np.abs(x)) / 2
    return found


def gaussian(square: Fraction) -> Curve:
    return Curve((), square)


def moved(shift: Fraction) -> Curve:
    return Curve(((LaplaceLoss(shift), 1),))


@pytest.mark.slow
@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(1, 5), Fraction(9, 10), Fraction(1)])
@pytest.mark.parametrize("shift", [Fraction(1, 2), Fraction(2)])
@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize("known", [True, False])
def test_noise_moved_either_way(rate: Fraction, shift: Fraction, kind: str, known: bool) -> None:
    """The rows move the noise by 1 and by -1, so that a replaced one moves it by 2."""
    x, width = np.linspace(-30, 30, 120_001, retstep=True)
    density: Density = normal if kind == "gaussian" else laplace
    none, old, new = (density(x - s * float(shift)) * width for s in (0, 1, -1))
    p, q = mixtures(float(rate), none, old, new)
    if kind == "gaussian":
        once, both = gaussian(shift**2), gaussian((2 * shift) ** 2)
    else:
        once, both = moved(shift), moved(2 * shift)
    law = masses(PoissonReplaceOne(rate, once, both if known else None), Fraction(1, 4096))
    for epsilon in EPSILONS:
        truth = stick(p, q, epsilon)
        found = profile(law, epsilon)
        assert found >= truth * (1 - 1e-6) - 1e-12, epsilon
        if known and rate < 1:
            assert found <= truth * 1.08 + 1e-9, epsilon


@pytest.mark.slow
def test_noise_in_two_dimensions() -> None:
    """Rows that pull at right angles: a replaced one moves the mean by √2."""
    x, width = np.linspace(-9, 9, 1801, retstep=True)
    across, down = np.meshgrid(x, x)
    none, old, new = (
        normal(across - a) * normal(down - b) * width**2 for a, b in ((0, 0), (1, 0), (0, 1))
    )
    for rate in (Fraction(1, 20), Fraction(1, 2)):
        p, q = mixtures(float(rate), none, old, new)
        part = PoissonReplaceOne(rate, gaussian(Fraction(1)), gaussian(Fraction(2)))
        law = masses(part, Fraction(1, 4096))
        for epsilon in EPSILONS:
            assert profile(law, epsilon) >= stick(p, q, epsilon) * (1 - 1e-6) - 1e-12


# --- any tables ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_random_laws(seed: int) -> None:
    rng = random.Random(seed)
    none, old, new = weights(rng), weights(rng), weights(rng)
    if seed % 2:  # near each other
        old, new = 0.8 * none + 0.2 * old, 0.7 * none + 0.3 * new
    rate = Fraction(rng.choice(["1/50", "1/7", "1/2", "4/5", "1"]))
    p, q = mixtures(float(rate), none, old, new)
    once, both = points((none, old), (none, new)), points((old, new))
    for known in (both, None):
        law = masses(PoissonReplaceOne(rate, once, known), Fraction(1, 512))
        for epsilon, (a, b) in product(EPSILONS, ((p, q), (q, p))):
            assert profile(law, epsilon) >= stick(a, b, epsilon) * (1 - 1e-9) - 1e-14


# --- what it is made for -------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "sigma", "rounds", "delta", "truth"),
    [
        # The two mixtures of normal laws, composed by a Fourier transform on a grid of 1e-4.
        ("1/100", "11/10", 1000, "1/100000", 2.4777995),
        ("1/5", "1", 1, "1/1000000", 3.1910868),
        ("1/100", "11/10", 1, "1/100000", 0.1521204),
    ],
)
def test_noisy_sums_of_samples(
    rate: str, sigma: str, rounds: int, delta: str, truth: float
) -> None:
    square = 1 / Fraction(sigma) ** 2
    part = PoissonReplaceOne(Fraction(rate), gaussian(square), gaussian(4 * square))
    found = epsilon_at(Curve(((part, rounds),)), Fraction(delta))
    assert found is not None
    assert truth * (1 - 1e-5) <= found.upper <= truth * 1.0005


def test_a_pure_loss_has_the_exact_formula() -> None:
    """ln[(1-q+q·e^u)/(1-q+q·e^(-u))] for u = 1 and q = 1/5 is the ε at a δ of next to nothing."""
    part = PoissonReplaceOne(Fraction(1, 5), Curve(((Response(Fraction(1)), 1),)), None)
    found = epsilon_at(Curve(((part, 1),)), Fraction(1, 10**40))
    formula = math.log((0.8 + 0.2 * math.e) / (0.8 + 0.2 / math.e))
    assert found is not None
    assert formula <= found.upper <= formula * (1 + 1e-4)


def test_no_worse_than_two_steps_and_than_a_coupled_row() -> None:
    for rate, epsilon in product((Fraction(1, 10), Fraction(2, 3)), (Fraction(1, 3), Fraction(2))):
        base = Curve(((LaplaceLoss(epsilon), 1),))
        part = Curve(((PoissonReplaceOne(rate, base, None), 1),))
        one = Curve(((Sampled(rate, base, side="both"), 1),))
        for at in (Fraction(1, 5), Fraction(1)):
            step = delta_at(one, at / 2).upper
            assert delta_at(part, at).upper <= step * (1 + Fraction(math.exp(at / 2))) * (
                1 + Fraction(1, 100)
            )


def test_rows_that_lose_nothing() -> None:
    nothing = Curve()
    law = masses(PoissonReplaceOne(Fraction(1, 3), nothing, None), Fraction(1, 64))
    assert profile(law, 0.0) <= 1e-9


@pytest.mark.slow
def test_a_base_of_great_losses_is_not_taken_as_over() -> None:
    """Half of the pairs lose what the base does: some 9,000,081 with a chance of 1/2."""
    base = Curve(((LaplaceLoss(Fraction(10)), 10**6),))
    part = Curve(((PoissonReplaceOne(Fraction(1, 2), base, None), 1),))
    assert delta_at(part, Fraction(8_000_000)).upper >= Fraction(49, 100)
    found = epsilon_at(part, Fraction(1, 10**6))
    assert found is None or found.upper >= 9_000_000


@pytest.mark.parametrize("rate", [Fraction(1, 10**6), Fraction(1, 10**9)])
@pytest.mark.parametrize("rounds", thinned([1, 1000]))
def test_rates_next_to_nothing(rate: Fraction, rounds: int) -> None:
    """δ at 0 of one draw is the chance of the row times the total variation at twice its shift."""
    part = PoissonReplaceOne(rate, gaussian(Fraction(1)), gaussian(Fraction(4)))
    one = float(rate) * math.erf(1 / math.sqrt(2))
    at_zero = float(delta_at(Curve(((part, rounds),)), Fraction(0)).upper)
    assert one * (1 - 1e-9) <= at_zero <= one * rounds * 1.03
    found = epsilon_at(Curve(((part, rounds),)), Fraction(1, 1000))
    assert found is not None and found.upper <= (0 if one * rounds <= 1e-3 else 1e-2)


# The two mixtures of normal laws that are moved by 1 and by -1, composed by a Fourier transform on
# grids of 1e-5 and 4e-6, rounded up and down: truth lies between.
RARE = [
    ("1/1000", 3, "1/1000", 0.000682, 0.000743),
    ("1/1000", 3, "1/1000000", 0.0323244, 0.0323845),
    ("1/1000", 3, "1/1000000000", 0.1539474, 0.1540075),
    ("1/500", 3, "1/1000000", 0.0751670, 0.0781671),
    ("1/100000", 3, "1/1000", 0.0, 0.0),
    ("1/100000", 3, "1/1000000", 6.24024e-5, 7.44026e-5),
    ("1/100000", 3, "1/1000000000", 0.00059352, 0.00060553),
]


@pytest.mark.parametrize(("rate", "rounds", "delta", "least", "most"), RARE)
def test_rare_large_losses(rate: str, rounds: int, delta: str, least: float, most: float) -> None:
    """A coarse grid has not the rare losses that a steep tilt makes likely on a finer one."""
    part = PoissonReplaceOne(Fraction(rate), gaussian(Fraction(1)), gaussian(Fraction(4)))
    curve = Curve(((part, rounds),))
    found = epsilon_at(curve, Fraction(delta))
    assert found is not None
    assert least <= found.upper <= most
    back = delta_at(curve, found.upper)
    assert back.upper <= Fraction(delta) * (1 + Fraction(1, 1000))


def test_a_window_of_too_many_points_is_put_on_a_wider_grid() -> None:
    """Truth lies between sums on a grid that are rounded up and down."""
    square = 1 / Fraction("1.82") ** 2
    part = PoissonReplaceOne(Fraction("0.000134"), gaussian(square), gaussian(4 * square))
    found = epsilon_at(Curve(((part, 5),)), Fraction("3.3e-7"))
    assert found is not None
    assert 0.0009853 <= found.upper <= 0.0010202


def test_a_smaller_rate_never_costs_more() -> None:
    losses = []
    for thousandths in (2, 1, Fraction(1, 2), Fraction(1, 10)):
        part = PoissonReplaceOne(
            Fraction(thousandths) / 1000, gaussian(Fraction(1)), gaussian(Fraction(4))
        )
        found = epsilon_at(Curve(((part, 3),)), Fraction(1, 10**6))
        assert found is not None
        losses.append(found.upper)
    assert losses == sorted(losses, reverse=True)
