"""The least ρ and μ of noise, ranges and responses, by their definitions in 50 digits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import pytest
from mpmath import mp
from reference import orders
from volume import thinned

from dpcompose.core.mechanisms.geometric import Geometric
from dpcompose.core.mechanisms.laplace import Laplace
from dpcompose.curves.families.exponential_loss import BoundedRange
from dpcompose.curves.families.geometric_loss import GeometricLoss
from dpcompose.curves.families.laplace_loss import LaplaceLoss
from dpcompose.curves.families.randomized_response_loss import KaryResponse

F = Fraction
#: ln Σ P^α Q^(1-α) of an order, and both errors of each test that matters.
Truth = tuple[Callable[[Any], Any], Iterable[tuple[Any, Any]]]


def laplace(a: Any) -> Truth:
    def log_moment(order: Any) -> Any:
        ends = order * mp.exp((order - 1) * a) + (order - 1) * mp.exp(-order * a)
        return mp.log(ends / (2 * order - 1))

    cuts = [a * n / 100 for n in range(101)]
    return log_moment, [(mp.exp(-x) / 2, mp.exp(x - a) / 2) for x in cuts]


def bounded_range(eta: Any) -> Truth:
    def psi(y: Any) -> Any:
        return mp.log(mp.sinh(y / 2) / (y / 2))

    def log_moment(order: Any) -> Any:
        return order * psi(order * eta) - (order - 1) * psi((order - 1) * eta) - psi(eta)

    def error(t: Any) -> Any:
        return (mp.exp(-t) - mp.exp(-eta)) / (1 - mp.exp(-eta))

    cuts = [eta * n / 100 for n in range(1, 100)]
    return log_moment, [(error(t), error(eta - t)) for t in cuts]


def geometric(shift: Any, scale: Any) -> Truth:
    rate, places = 1 / scale, range(1, int(shift) + 1)
    ratio = mp.exp(-rate)

    def log_moment(order: Any) -> Any:
        ends = mp.exp(rate * shift * (order - 1)) + mp.exp(-rate * shift * order)
        inside = mp.fsum(
            mp.exp(-rate * (order * n + (1 - order) * (shift - n))) for n in places[:-1]
        )
        return mp.log((ends + (1 - ratio) * inside) / (1 + ratio))

    tails = [ratio**n / (1 + ratio) for n in places]
    return log_moment, zip(tails, tails[::-1], strict=True)


def responses(k: Any, epsilon: Any) -> Truth:
    whole = mp.exp(epsilon) + k - 1

    def log_moment(order: Any) -> Any:
        gain = mp.expm1((order - 1) * epsilon) * -mp.expm1(-order * epsilon)
        return mp.log1p(gain * mp.exp(epsilon) / whole)

    return log_moment, [(1 / whole, 1 - mp.exp(epsilon) / whole)]


#: A kind of loss, its truth, and what both are told.
CASES: list[tuple[Any, Callable[..., Truth], tuple[Fraction | int, ...]]] = [
    *((LaplaceLoss, laplace, (F(a),)) for a in ("0.5", "0.0001", "0.01", "1", "3", "20")),
    *((BoundedRange, bounded_range, (F(eta),)) for eta in ("0.001", "0.1", "1", "4", "30")),
    *(
        (GeometricLoss, geometric, (shift, F(scale)))
        for shift, scale in ((1, "1"), (2, "1"), (3, "0.3"), (7, "5"), (40, "100"))
    ),
    *(
        (KaryResponse, responses, (k, F(epsilon)))
        for k, epsilon in (
            *((2, "1"), (3, "1"), (4, "1"), (10, "1")),
            *((50, "1.5"), (1000, "0.01"), (10**6, "3")),
        )
    ),
]


@pytest.mark.parametrize(("loss", "truth", "told"), thinned(CASES))
def test_rho_is_the_largest_divergence_over_order(
    loss: Any, truth: Callable[..., Truth], told: tuple[Fraction | int, ...]
) -> None:
    with mp.workdps(orders.DIGITS):
        log_moment, _ = truth(*map(orders.number, told))
        near = 2e-6 if loss is KaryResponse else 1e-6
        assert 0 <= orders.excess(loss(*told).rho(), orders.largest_ratio(log_moment)) < near


@pytest.mark.parametrize(("loss", "truth", "told"), thinned(CASES))
def test_mu_lies_below_every_test(
    loss: Any, truth: Callable[..., Truth], told: tuple[Fraction | int, ...]
) -> None:
    with mp.workdps(orders.DIGITS):
        _, errors = truth(*map(orders.number, told))
        near = 1e-24 if loss is KaryResponse else 1e-30
        assert 0 <= orders.excess(loss(*told).mu(), orders.largest_mu(errors)) < near


def test_extreme_noise() -> None:
    for a in (F(1, 10**300), F(10**6)):
        loss = LaplaceLoss(a)
        assert 0 < loss.rho() <= min(a, a * a / 2)
        assert 0 < loss.mu() <= F("1.2534") * a
    for shift, scale in ((10**9, "10000000"), (1, "1e-400"), (10**30, "1e29"), (3, "1e40")):
        noise = Geometric(F(scale))
        epsilon = noise.epsilon(F(shift))
        assert 0 < noise.rho(F(shift)) <= min(epsilon, epsilon * epsilon / 2)
        assert (noise.mu(F(shift)) or 0) > 0
    for still in (Laplace(F(1)), Geometric(F(1))):
        assert still.rho(F(0)) == still.mu(F(0)) == 0
    for eta in ("0.001", "1", "30"):
        assert BoundedRange(F(eta)).rho() <= F(eta) ** 2 / 8
