"""Samples of tiny rates, whose losses are split by size: exact sums, values found elsewhere, and
that no more privacy ever costs less."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from volume import seeds, thinned

from dpcompose import curves
from dpcompose.curves.backends.lattice import rare_losses
from dpcompose.curves.backends.lattice.masses import Losses
from dpcompose.curves.curve import Curve

F = Fraction


def training(rate: float, sigma: float, steps: int) -> Curve:
    return curves.gaussian(sigma=sigma).sample(poisson=rate).repeat(steps)


# By contours in the complex plane, at two resolutions, and by a line on the law without its tail:
# neither by a grid, and neither rounded, so that they are right to the digits given.
EPSILONS = [
    (1e-5, 1, 1000, 1e-6, 0.0011182),
    (1e-5, 1, 10**5, 1e-6, 0.0131215),
    (1e-6, 1, 10**6, 1e-5, 0.0026810),
    (1e-6, 1, 10**6, 1e-10, 0.0065020),
    (1e-4, 1, 10**4, 1e-10, 0.0798200),
    (1e-9, 0.25, 10**6, 1e-8, 3.68379),
    (1e-7, 0.4, 10**4, 1e-9, 0.172905),
    (5.9e-8, 1.5, 250, 1.8e-7, 2.31350e-7),
]


@pytest.mark.parametrize(("rate", "sigma", "steps", "delta", "truth"), thinned(EPSILONS))
def test_epsilon_at_a_tiny_rate(
    rate: float, sigma: float, steps: int, delta: float, truth: float
) -> None:
    found = training(rate, sigma, steps).epsilon(delta=delta)
    assert found is not None
    assert truth <= float(found) <= truth * 1.001


@pytest.mark.parametrize(
    ("rate", "sigma", "steps", "epsilon", "truth"),
    [
        (1e-5, 0.5, 10**4, 1, 6.78532e-9),
        (1e-8, 0.3, 10**6, 0.3, 9.03818e-7),
        (1e-6, 0.4, 10**4, 0.3, 2.140877e-7),
    ],
)
def test_delta_at_a_tiny_rate(
    rate: float, sigma: float, steps: int, epsilon: float, truth: float
) -> None:
    found = training(rate, sigma, steps).delta(epsilon=epsilon)
    assert truth <= float(found) <= truth * 1.001


def test_next_to_no_chance_of_being_drawn_costs_nothing() -> None:
    found = training(1e-9, 1, 10**6).epsilon(delta=1e-6)
    assert found is not None
    assert found.upper == 0


def draw(rng: random.Random) -> Losses:
    """A law of few losses: most are tiny, some large, and now and then one is infinite."""
    small = [rng.uniform(-1e-3, 1e-3) for _ in range(3)]
    large = [rng.uniform(0.05, 2) for _ in range(2)]
    rare = [10 ** rng.uniform(-6, -3) for _ in large]
    infinite = rng.choice([0.0, 1e-9])
    shares = [rng.uniform(0.1, 1) for _ in small]
    rest = 1 - sum(rare) - infinite
    p = [rest * share / sum(shares) for share in shares]
    return Losses(np.array(small + large), np.array(p + rare), infinite)


def exact_delta(law: Losses, count: int, epsilon: float) -> float:
    """δ of so many draws, by all ways in which they come out."""
    ways = product(zip(law.losses.tolist(), law.p.tolist(), strict=True), repeat=count)
    finite = math.fsum(
        math.prod(p for _, p in way) * max(-math.expm1(epsilon - sum(x for x, _ in way)), 0.0)
        for way in ways
    )
    return finite - math.expm1(count * math.log1p(-law.infinite))


@pytest.mark.parametrize("seed", range(8))
def test_few_draws_against_all_their_outcomes(seed: int) -> None:
    rng = random.Random(seed)
    law, count = draw(rng), rng.choice([1, 2, 4])
    answered = 0
    for epsilon in (0.0, 5e-4, 0.01, 0.4):
        exact = exact_delta(law, count, epsilon)
        found = rare_losses.BySize([(law, count)], []).log_delta(epsilon, -math.inf)
        if found is None:  # left to one grid for all losses
            continue
        answered += 1
        assert exact * (1 - 1e-12) <= math.exp(found.upper)
        # Of a few single losses δ bends, and what a grid spreads is seen there.
        assert math.exp(found.upper) <= exact * 1.5 + 1e-12
    assert answered >= 3


@pytest.mark.parametrize("seed", range(6))
def test_a_draw_is_no_worse_than_its_small_and_its_large_loss(seed: int) -> None:
    law = draw(random.Random(100 + seed))
    small, large = rare_losses._split(law, 0.01)
    assert large.losses[0] == 0
    for epsilon in (-2e-3, -1e-4, 0.0, 1e-4, 5e-4, 0.1, 1.0):
        both = large.infinite * float(small.p.sum())
        for (x, p), (y, q) in product(
            zip(small.losses, small.p, strict=True), zip(large.losses, large.p, strict=True)
        ):
            both += float(p * q) * max(-math.expm1(epsilon - float(x + y)), 0.0)
        assert exact_delta(law, 1, epsilon) <= both * (1 + 1e-12)


def grown(rng: random.Random, point: dict[str, float]) -> dict[str, float]:
    """The same question with one number changed so that ε cannot be less."""
    key, by = rng.choice(list(point)), rng.choice([1.01, 1.5, 4.0])
    change = 1 / by if key in ("sigma", "delta") else by
    changed = point[key] * change
    return {**point, key: math.ceil(changed) if key == "steps" else changed}


def epsilon_of(point: dict[str, float]) -> float:
    whole = training(
        float(f"{point['rate']:.6g}"), float(f"{point['sigma']:.6g}"), int(point["steps"])
    )
    found = whole.epsilon(delta=float(f"{point['delta']:.6g}"))
    return math.inf if found is None else float(found)


@pytest.mark.parametrize("seed", seeds(4, range(4), quick=1))
def test_more_is_never_less(seed: int) -> None:
    rng = random.Random(seed)
    point = {
        "rate": 10 ** rng.uniform(-9, -3),
        "sigma": math.exp(rng.uniform(-0.7, 1.6)),
        "steps": round(10 ** rng.uniform(2, 6)),
        "delta": 10 ** rng.uniform(-10, -5),
    }
    # Grids differ, and with them what they add, which is far below this.
    assert epsilon_of(grown(rng, point)) >= epsilon_of(point) * (1 - 3e-4)


def test_a_hundred_unlike_laplace_mechanisms_grow_by_next_to_nothing() -> None:
    whole = curves.compose(*(curves.laplace(scale=10 + F(n, 7)) for n in range(100)))
    found = whole.epsilon(delta="1e-6")
    assert found is not None
    # 2.8762928 on grids, from above.
    assert 2.87629 <= float(found) <= 2.8762928426 * (1 + 3e-7)


@pytest.mark.slow
def test_a_sample_without_large_losses_beside_one_that_has_them() -> None:
    """Both are split, and of one nothing is large: it adds next to nothing to the other's ε."""
    rare, other = training(5e-6, 0.5, 469), training(3.7e-7, 1, 31905)
    alone = rare.epsilon(delta=1e-6)
    together = rare.compose(other).epsilon(delta=1e-6)
    assert alone is not None and together is not None
    assert float(alone) <= float(together) <= 0.0164
