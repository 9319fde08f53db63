"""What each family of mechanisms loses, by its own formula: ε, ρ, μ and the curve of a law."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist

import pytest

from dpcompose.core.mechanisms.discrete_gaussian import DiscreteGaussian
from dpcompose.core.mechanisms.gaussian import Gaussian
from dpcompose.core.mechanisms.geometric import Geometric
from dpcompose.core.mechanisms.laplace import Laplace
from dpcompose.core.mechanisms.one_hot import OneHot
from dpcompose.core.mechanisms.randomized_response import RandomizedResponse
from dpcompose.core.mechanisms.skellam import Skellam
from dpcompose.core.notions.concrete_mechanism import Family
from dpcompose.curves.backends.lattice.masses import profile
from dpcompose.curves.curve import MechanismLoss
from dpcompose.curves.families.exponential_loss import (
    BoundedRange,
    bounded_range_mu,
    bounded_range_rho,
)
from dpcompose.curves.families.geometric_loss import GeometricLoss, geometric_mu
from dpcompose.curves.families.laplace_loss import LaplaceLoss, laplace_mu, laplace_rho
from dpcompose.curves.families.randomized_response_loss import KaryResponse
from dpcompose.curves.rounding.exact import gaussian_mean_up

F = Fraction
quantile = NormalDist().inv_cdf


def of_laplace(shift: float) -> Callable[[float], float]:
    return lambda epsilon: max(0.0, -math.expm1((epsilon - shift) / 2))


def of_range(eta: float) -> Callable[[float], float]:
    return lambda epsilon: (math.exp(eta / 2) - math.exp(epsilon / 2)) ** 2 / math.expm1(eta)


def of_values(k: int, epsilon: float) -> Callable[[float], float]:
    whole = math.exp(epsilon) + k - 1
    return lambda at: (math.exp(epsilon) - math.exp(at)) / whole


def of_steps(shift: int, scale: float) -> Callable[[float], float]:
    ratio = math.exp(-1 / scale)
    norm = (1 - ratio) / (1 + ratio)

    def delta(epsilon: float) -> float:
        pairs = ((ratio ** abs(n), ratio ** abs(n - shift)) for n in range(-90, 91 + shift))
        return norm * sum(max(0.0, a - math.exp(epsilon) * b) for a, b in pairs)

    return delta


def of_skellam(shift: int, variance: float) -> Callable[[float], float]:
    # I_n by its series; e^-v·I_n(v) is the chance of n.
    def chance(n: int) -> float:
        terms = (
            math.exp(
                (2 * k + abs(n)) * math.log(variance / 2)
                - math.lgamma(k + 1)
                - math.lgamma(k + abs(n) + 1)
                - variance
            )
            for k in range(80)
        )
        return math.fsum(terms)

    chances = {n: chance(n) for n in range(-40, 41)}

    def delta(epsilon: float) -> float:
        shared = (n for n in chances if n - shift in chances)
        return sum(max(0.0, chances[n - shift] - math.exp(epsilon) * chances[n]) for n in shared)

    return delta


@pytest.mark.parametrize(
    ("loss", "truth"),
    [
        (LaplaceLoss(F(1)), of_laplace(1)),
        (LaplaceLoss(F(5, 2)), of_laplace(2.5)),
        (BoundedRange(F(2)), of_range(2)),
        (KaryResponse(2, F(2)), of_values(2, 2)),
        (KaryResponse(5, F(2)), of_values(5, 2)),
        (GeometricLoss(1, F(1)), of_steps(1, 1)),
        (GeometricLoss(2, F(1)), of_steps(2, 1)),
        (GeometricLoss(3, F(3, 2)), of_steps(3, 1.5)),
        (Skellam(F(4)).loss(F(1)).parts[0][0], of_skellam(1, 4)),
        (Skellam(F(4)).loss(F(3)).parts[0][0], of_skellam(3, 4)),
    ],
)
def test_the_curve_of_a_law(loss: MechanismLoss, truth: Callable[[float], float]) -> None:
    law = loss.masses(F(1, 512))
    for n in range(0, 900, 60):
        epsilon = n / 512
        exact = truth(epsilon)
        assert exact * (1 - 1e-9) - 1e-14 <= profile(law, epsilon) <= exact * (1 + 1e-3) + 1e-5


def test_the_mass_of_a_law_is_one() -> None:
    """An atom that is left out is seen by no δ alone, but by what is composed with it."""
    for loss in (
        *(LaplaceLoss(F(1)), BoundedRange(F(2)), KaryResponse(5, F(2)), GeometricLoss(3, F(1))),
        Skellam(F(4)).loss(F(2)).parts[0][0],
        DiscreteGaussian(F(2)).loss(F(1)).parts[0][0],
    ):
        for step in (F(1, 64), F(3)):
            law = loss.masses(step)  # type: ignore[union-attr]
            assert 1 - 1e-12 <= float(law.p.sum()) + law.infinite <= 1 + 1e-6


def mean_of_steps(shift: int, scale: float) -> float:
    """ρ is the mean loss: λ(E|N-s| - E|N|)."""
    ratio = math.exp(-1 / scale)
    norm = (1 - ratio) / (1 + ratio)
    places = range(-400, 401 + shift)
    return sum(norm * ratio ** abs(n) * (abs(n - shift) - abs(n)) for n in places) / scale


@pytest.mark.parametrize(
    ("noise", "shift", "epsilon", "rho", "mu"),
    [
        (Laplace(F(2)), 3, 1.5, 1.5 + math.expm1(-1.5), -2 * quantile(math.exp(-0.75) / 2)),
        (Gaussian(F(2)), 3, None, 9 / 8, 1.5),
        (Gaussian(F(2), F(2)), 3, None, 9 / 4, 1.5 * math.sqrt(2)),
        (Geometric(F(2)), 3, 1.5, mean_of_steps(3, 2), None),
        (Geometric(F(2)), 2.5, None, mean_of_steps(3, 2), None),
        (Geometric(F(1)), 4, 4, mean_of_steps(4, 1), None),
        (DiscreteGaussian(F(2)), 3, None, 9 / 8, None),
        (DiscreteGaussian(F(2), "L2", F(2)), 3, None, 9 / 4, None),
        (RandomizedResponse(3, F(1)), 2, 2, 2 * math.expm1(1) / (math.e + 2), None),
        (RandomizedResponse(2, F(1)), 3, 3, 3 * math.tanh(0.5), None),
        (OneHot(Laplace(F(1))), 2, 2, 2 * math.exp(-1), None),
        (OneHot(Laplace(F(1)), F(1), F(1)), 4, 3, 2 + math.expm1(-2) + math.exp(-1), None),
    ],
)
def test_numbers(
    noise: Family, shift: float, epsilon: float | None, rho: float, mu: float | None
) -> None:
    moved = F(shift)
    if epsilon is not None:
        assert float(noise.epsilon(moved) or 0) == pytest.approx(epsilon, rel=1e-12)
    assert float(noise.rho(moved) or 0) == pytest.approx(rho, rel=1e-9)
    if mu is not None:
        assert float(noise.mu(moved) or 0) == pytest.approx(mu, rel=1e-7)


def test_numbers_are_rounded_up() -> None:
    from mpmath import mp, mpf

    with mp.workdps(60):
        for shift in (F(1), F(7, 3), F(1, 1000)):
            a = mpf(shift.numerator) / shift.denominator
            found = laplace_rho(shift)
            assert mpf(found.numerator) / found.denominator >= a + mp.expm1(-a)
        one = LaplaceLoss(F(1)).least_epsilon(F(1, 10))
        assert mpf(one.upper.numerator) / one.upper.denominator >= 1 + 2 * mp.log(mpf(9) / 10)
        assert one.upper - (one.lower or 0) < F(1, 10**30)
        eta = bounded_range_rho(F(1))
        half = mpf(1) / 2
        value = mp.log(mp.sinh(half) / half) + half * mp.coth(half) - 1
        assert value <= mpf(eta.numerator) / eta.denominator <= value * (1 + mpf(10) ** -30)


@pytest.mark.parametrize("shift", [1, 2, 3, 4, 5])
def test_divergences_of_geometric_noise(shift: int) -> None:
    """ln E e^(sL) of the loss, at some orders, by the sum over all outcomes."""
    ratio = math.exp(-0.5)
    norm = (1 - ratio) / (1 + ratio)
    cumulant = GeometricLoss(shift, F(2)).cumulant()
    for s in (0.5, 2.0, 7.0):
        exact = math.log(
            math.fsum(
                norm * ratio ** abs(n) * math.exp(s * (abs(n - shift) - abs(n)) / 2)
                for n in range(-200, 201)
            )
        )
        assert exact * (1 - 1e-9) <= cumulant.of(s) <= exact * (1 + 1e-6)


def test_mu_of_a_half() -> None:
    assert float(bounded_range_mu(F(1))) == pytest.approx(
        2 * quantile(math.exp(0.5) / (1 + math.exp(0.5))), rel=1e-7
    )
    ratio = math.exp(-1)
    tails = [ratio**n / (1 + ratio) for n in (1, 2)]
    assert float(geometric_mu(2, F(1))) == pytest.approx(-sum(quantile(each) for each in tails))
    # 2Φ⁻¹(1 - e^(-a/2)/2) of a far shift is that of a pure ε of a/2 + ln 2, not of a/2.
    far = F(30_000)
    assert laplace_mu(far) >= gaussian_mean_up(far / 2 + F(6931, 10_000))


@pytest.mark.parametrize(("rows", "count"), [(1, 1), (2, 2), (F(5, 2), 3)])
def test_every_row_answers_by_itself(rows: Fraction, count: int) -> None:
    [(_, times)] = RandomizedResponse(3, F(1)).loss(F(rows)).parts
    assert times == count


def test_a_shift_in_l2_is_never_told_to_be_one_coordinate() -> None:
    for shift in (2, 3, 4):
        [(part, _)] = DiscreteGaussian(F(1), "L2").loss(F(shift)).parts
        assert not isinstance(part, MechanismLoss)
