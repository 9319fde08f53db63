"""The Rényi route: its curves against sums and integrals, its conversion by printed numbers."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import pytest
from mpmath import mp, mpf
from reference import curves, lattice
from volume import thinned

from dpcompose.curves.backends.renyi import renyi_curves as renyi
from dpcompose.curves.curve import (
    Concentrated,
    Curve,
    Grouped,
    Part,
    Points,
    Renyi,
    Response,
    Sampled,
)
from dpcompose.curves.families.discrete_gaussian_loss import DiscreteGaussianLoss
from dpcompose.curves.families.exponential_loss import BoundedRange
from dpcompose.curves.families.geometric_loss import GeometricLoss
from dpcompose.curves.families.laplace_loss import LaplaceLoss
from dpcompose.curves.families.randomized_response_loss import KaryResponse

ORDERS = ["1.000001", "1.01", "1.3", "2", "3.7", "20", "150", "3000"]


@pytest.fixture(autouse=True)
def digits() -> Iterator[None]:
    with mp.workdps(50):
        yield


def f(text: str) -> Fraction:
    return Fraction(text)


def one(part: Part, count: int = 1) -> Curve:
    return Curve(((part, count),))


def divergence(law: lattice.Law, alpha: Any) -> Any:
    """D_α by its definition."""
    s = alpha - 1
    sums = (mass * mp.exp(s * lattice.exact(loss)) for loss, mass in law.atoms.items())
    return mp.log(mp.fsum(sums) / lattice.ONE) / s


def laplace_divergence(shift: Fraction, alpha: Any) -> Any:
    with mp.workdps(40):
        a, s = lattice.exact(shift), alpha - 1
        inside = mp.quad(lambda x: mp.exp(-x + s * (a - 2 * x)) / 2, [0, a / 2, a])
        return mp.log(mp.exp(s * a) / 2 + mp.exp(-alpha * a) / 2 + inside) / s


LAWS: dict[Part, lattice.Law] = {
    Response(f("0.001")): lattice.response(f("0.001")),
    Response(f("0.3")): lattice.response(f("0.3")),
    Response(f("12")): lattice.response(f("12")),
    KaryResponse(2, f("0.3")): lattice.kary(2, f("0.3")),
    KaryResponse(50, f("1.5")): lattice.kary(50, f("1.5")),
    GeometricLoss(1, f("3")): lattice.geometric(1, f("3")),
    GeometricLoss(4, f("3")): lattice.geometric(4, f("3")),
    GeometricLoss(7, f("50")): lattice.geometric(7, f("50")),
}


class TestCurves:
    @pytest.mark.parametrize("order", ORDERS)
    @pytest.mark.parametrize("part", LAWS, ids=str)
    def test_finite_laws(self, part: Part, order: str) -> None:
        with mp.workdps(200):
            truth = divergence(LAWS[part], mpf(order))
        found = renyi.curve(one(part), f(order))
        assert truth <= found <= truth * (1 + mpf(10) ** -12)

    @pytest.mark.parametrize("order", ORDERS[1:])
    @pytest.mark.parametrize("shift", ["0.001", "0.1", "1", "9"])
    def test_laplace(self, shift: str, order: str) -> None:
        truth = laplace_divergence(f(shift), mpf(order))
        found = renyi.curve(one(LaplaceLoss(f(shift))), f(order))
        assert truth <= found <= truth * (1 + mpf(10) ** -12)

    @pytest.mark.slow
    @pytest.mark.parametrize("order", ["1.01", "1.5", "4", "40", "1000"])
    @pytest.mark.parametrize("eta", ["0.01", "0.5", "2", "15"])
    def test_bounded_range_is_the_worst_pair(self, eta: str, order: str) -> None:
        found = renyi.curve(one(BoundedRange(f(eta))), f(order))
        with mp.workdps(200):

            def at(t: Fraction) -> Any:
                return divergence(lattice.bounded_range(f(eta), t), mpf(order))

            # Concave in t.
            low, high = Fraction(0), f(eta)
            while high - low > f(eta) / 10**9:
                left, right = (2 * low + high) / 3, (low + 2 * high) / 3
                low, high = (low, right) if at(left) >= at(right) else (left, high)
            truth = at((low + high) / 2)
        assert truth <= found <= truth * (1 + mpf(10) ** -9)
        assert found <= float(f(order) * f(eta) ** 2 / 8) * (1 + 1e-12)
        assert found <= renyi.curve(one(Response(f(eta))), f(order))

    def test_exact_quadratic_curves(self) -> None:
        every = Curve(
            ((DiscreteGaussianLoss(3, f("7")), 2), (Concentrated(f("0.1")), 5)), gaussian=f("0.25")
        )
        rho = Fraction(9, 14) * 2 + Fraction(1, 2) + Fraction(1, 8)
        assert renyi.curve(every, f("3")) == pytest.approx(float(3 * rho), rel=1e-12)
        assert renyi.curve(every, f("3")) >= 3 * rho

    def test_discrete_gaussian_is_below_its_curve(self) -> None:
        law = lattice.discrete_gaussian(2, f("1.5"))
        for order in ("1.1", "2", "9"):
            found = renyi.curve(one(DiscreteGaussianLoss(2, f("1.5"))), f(order))
            with mp.workdps(200):
                assert divergence(law, mpf(order)) <= found

    def test_parts_add(self) -> None:
        parts = ((Response(f("0.3")), 7), (LaplaceLoss(f("0.5")), 3))
        mixed = Curve(parts, gaussian=f("0.2"))
        apart = 7 * renyi.curve(one(Response(f("0.3"))), 5.5)
        apart += 3 * renyi.curve(one(LaplaceLoss(f("0.5"))), 5.5) + 5.5 * 0.1
        assert renyi.curve(mixed, 5.5) == pytest.approx(apart, rel=1e-11)

    def test_stated_orders(self) -> None:
        # K = (α-1)ε: 0.5 at 2, 21 at 8, 60 at 31; the chord from 2 to 31 is above 21 at 8 no more
        # than the chords through it.
        part = Renyi(((f("2"), f("0.5")), (f("8"), f("3")), (f("31"), f("2"))))
        assert renyi.curve(one(part), f("1.5")) == pytest.approx(0.5)
        assert renyi.curve(one(part), f("2")) == pytest.approx(0.5)
        # Convex: at 8 below the chord from (1, 0.5) to (30, 60), although 3 was stated.
        assert renyi.curve(one(part), f("8")) == pytest.approx((0.5 + 59.5 * 6 / 29) / 7)
        assert renyi.curve(one(part), f("31")) == pytest.approx(2)
        assert renyi.curve(one(part), f("31.5")) == math.inf
        more = Renyi(part.points, f("0.25"))
        assert renyi.curve(one(more), f("4")) == pytest.approx(renyi.curve(one(part), 4.0) + 1)

    @pytest.mark.slow
    @pytest.mark.parametrize("order", [2, 3, 11, 2.4, 1.2])
    @pytest.mark.parametrize(("rate", "mu"), [("0.01", "1"), ("0.3", "0.5"), ("1", "2")])
    def test_sampled_gaussian_covers_both_orders(self, rate: str, mu: str, order: float) -> None:
        base = Curve(gaussian=f(mu) ** 2)
        found = renyi.curve(one(Sampled(f(rate), base)), order)
        with mp.workdps(30):
            q, m = lattice.exact(f(rate)), lattice.exact(f(mu))

            def ratio(x: Any) -> Any:
                return 1 + q * mp.expm1(m * x - m * m / 2)

            points = [-15, -5, 0, 5, 10, 15, 20, 25 + 11 * m, 40 + 11 * m]
            ahead = mp.quad(lambda x: mp.npdf(x) * ratio(x) ** order, points)
            back = mp.quad(lambda x: mp.npdf(x) * ratio(x) ** (1 - order), points)
            truth = mp.log(max(ahead, back)) / (mpf(order) - 1)
        assert truth <= found * (1 + mpf(10) ** -12)
        if order == int(order):
            assert found <= truth * (1 + mpf(10) ** -10)

    @pytest.mark.parametrize(
        "part",
        [
            Points(((f("1"), f("0.1")),)),
            Grouped(one(Response(f("1"))), 2),
            Sampled(f("0.1"), one(Response(f("1")))),
            Sampled(f("0.1"), Curve(gaussian=f("1")), replace=True),
            Sampled(f("0.1"), Curve(gaussian=f("1"), no_failure=f("0.9"))),
        ],
    )
    def test_unknown_divergences(self, part: Part) -> None:
        assert renyi.curve(one(part), 2.0) == math.inf
        assert renyi.epsilon_at(one(part), f("1e-6")) is None
        assert renyi.delta_at(one(part), f("100")) == 1

    def test_points_with_a_pure_one(self) -> None:
        points = Points(((f("0.5"), f("0.1")), (f("2"), f("0")), (f("3"), f("0"))))
        assert renyi.curve(one(points), 4.0) == renyi.curve(one(Response(f("2"))), 4.0)


class TestConversion:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("rho", "delta"),
        [
            ("293764/114921", "1e-10"),
            ("2", "1e-6"),
            ("2", "1e-30"),
            ("320", "1e-20"),
            ("1e-8", "1e-6"),
            ("0.02", "0.01"),
        ],
    )
    def test_zcdp_by_direct_search(self, rho: str, delta: str) -> None:
        for composition in (one(Concentrated(f(rho))), Curve(gaussian=2 * f(rho))):
            found = renyi.epsilon_at(composition, f(delta))
            assert found is not None
            truth = curves.zcdp(f(rho))(f(delta))
            assert abs(lattice.exact(found) - truth) <= truth * mpf(10) ** -24
            assert float(found) == pytest.approx(float(truth), rel=1e-12)

    @pytest.mark.parametrize("order", ["1.5", "9"])
    def test_evaluates_upwards(self, order: str) -> None:
        # Of a single order the bound is a formula.
        part, delta = Renyi(((f(order), f("0.7")),)), f("1e-7")
        found = renyi.epsilon_at(one(part), delta)
        assert found is not None
        s = lattice.exact(f(order) - 1)
        log = -mp.log(lattice.exact(delta)) - mp.log1p(s)
        truth = mpf("0.7") + log / s - mp.log1p(1 / s)
        assert truth <= lattice.exact(found) <= truth * (1 + mpf(10) ** -12)

    @pytest.mark.parametrize(
        ("count", "epsilon"), [(10, 0.999370905721758725), (100, 5.073), (1000, 20.450)]
    )
    def test_responses(self, count: int, epsilon: float) -> None:
        # Exact for few; +6.25 % and +5.72 % above the optimum for many.
        found = renyi.epsilon_at(one(Response(f("0.1")), count), f("1e-6"))
        assert found == pytest.approx(epsilon, rel=1e-12 if count == 10 else 1e-4)

    def test_never_below_the_optimum(self) -> None:
        rng = random.Random(3)
        for _ in range(60):
            epsilons = [Fraction(rng.randint(1, 300), 100) for _ in range(rng.randint(1, 4))]
            delta = Fraction(10) ** -rng.randint(1, 25)
            law = lattice.Law()
            for epsilon in epsilons:
                law = law * lattice.response(epsilon)
            composition = Curve(tuple((Response(each), 1) for each in epsilons))
            found = renyi.epsilon_at(composition, delta)
            assert found is not None
            assert lattice.exact(found) >= law.epsilon(delta)
            at = Fraction(rng.randint(0, 500), 100)
            assert lattice.exact(renyi.delta_at(composition, at)) >= law.delta(at)

    @pytest.mark.parametrize("delta", ["0.3", "1e-3", "1e-9", "1e-30", "1e-200", "1e-400"])
    def test_there_and_back(self, delta: str) -> None:
        composition = Curve(
            ((Response(f("0.1")), 30), (LaplaceLoss(f("0.2")), 9)), f("0.3"), f("1")
        )
        epsilon = renyi.epsilon_at(composition, f(delta))
        assert epsilon is not None
        assert renyi.delta_at(composition, epsilon) == pytest.approx(f(delta), rel=1e-9)

    def test_what_stay_leaves_out(self) -> None:
        pure = one(Response(f("0.1")), 100)
        leaking = Curve(pure.parts, no_failure=(1 - f("1e-9")) ** 100)
        left = 1 - (1 - f("1e-6")) / leaking.no_failure
        assert renyi.epsilon_at(leaking, f("1e-6")) == renyi.epsilon_at(pure, left)
        assert renyi.epsilon_at(leaking, f("1e-8")) is None
        assert renyi.delta_at(leaking, f("20")) >= 1 - leaking.no_failure

    def test_extremes(self) -> None:
        assert renyi.epsilon_at(Curve(), f("1e-6")) == 0
        assert renyi.epsilon_at(one(Response(f("1"))), f("1")) == 0
        assert renyi.epsilon_at(one(Response(f("1"))), f("0")) is None
        assert renyi.epsilon_at(one(Response(f("1e400"))), f("1e-6")) is None
        assert renyi.epsilon_at(one(Response(f("1e-400"))), f("1e-6")) == 0
        large = renyi.epsilon_at(one(Response(f("1e6")), 10**9), f("1e-30"))
        assert large == pytest.approx(1e15, rel=1e-9)
        far = renyi.delta_at(one(Concentrated(f("1"))), f("1e6"))
        assert 0 < far < f("1e-4000")
        assert renyi.delta_at(one(Concentrated(f("1"))), f("1e400")) > 0

    @pytest.mark.slow
    def test_many_unequal_ones(self) -> None:
        parts = tuple((Response(Fraction(n, 10**6)), 1) for n in range(1, 5001))
        few = tuple((Response(Fraction(n, 10**6)), 1) for n in range(1, 1501))
        found = renyi.epsilon_at(Curve(parts), f("1e-6"))
        assert found is not None
        rho = sum((renyi.zcdp_of(part) or Fraction(0) for part, _ in parts), Fraction(0))
        least = renyi.epsilon_at(one(Concentrated(rho)), f("1e-6"))
        assert found == pytest.approx(least, rel=3e-3)
        assert renyi.epsilon_at(Curve(few), f("1e-6")) is not None


class TestRho:
    @pytest.mark.parametrize("size", ["0.0001", "0.01", "0.5", "1", "3", "20"])
    @pytest.mark.parametrize("kind", [Response, LaplaceLoss, BoundedRange])
    def test_is_the_largest_divergence_over_order(self, kind: Any, size: str) -> None:
        part = kind(f(size))
        rho = renyi.zcdp_of(part)
        assert rho is not None
        ratios = [
            renyi.curve(one(part), 1 + 10**u) / (1 + 10**u) for u in (-6, -4, -2, -1, 0, 1, 2, 5)
        ]
        assert all(float(rho) >= ratio * (1 - 1e-6) for ratio in ratios)
        assert float(rho) == pytest.approx(ratios[0], rel=1e-4)
        # It falls with the order.
        assert all(a >= b * (1 - 1e-6) for a, b in pairwise(ratios))

    def test_values(self) -> None:
        assert renyi.zcdp_of(LaplaceLoss(f("1"))) == pytest.approx(math.exp(-1), rel=1e-12)
        assert renyi.zcdp_of(DiscreteGaussianLoss(2, f("8"))) == Fraction(1, 4)
        assert renyi.zcdp_of(Concentrated(f("0.3"))) == f("0.3")
        response = renyi.zcdp_of(KaryResponse(3, f("1")))
        assert response == pytest.approx((math.e - 1) / (math.e + 2), rel=1e-12)
        geometric, ratio = renyi.zcdp_of(GeometricLoss(2, f("4"))), math.exp(-0.25)
        assert geometric == pytest.approx((1 - ratio / (1 + ratio) * (1 + ratio)) / 2, rel=1e-12)
        assert renyi.zcdp_of(Points(((f("1"), f("0.1")),))) is None
        little = renyi.zcdp_of(BoundedRange(f("1e-4")))
        assert little is not None and f("0.99999999") < little * 8 * 10**8 <= 1
        assert renyi.zcdp_of(BoundedRange(f("1"))) < Fraction(1, 8)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("rho", "short_of_one"),
    thinned(product(["1e-30", "1", "1e40"], ["1e-3", "1e-20", "1e-100", "1e-46"]), 5),
)
def test_a_conversion_next_to_all_of_the_delta(rho: str, short_of_one: str) -> None:
    """There ln(1+s) of a minute s = α-1 decides: against the formula in 300 digits at many s."""
    found = renyi.epsilon_at(Curve(((Concentrated(Fraction(rho)), 1),)), 1 - Fraction(short_of_one))
    assert found is not None
    with mp.workdps(300):
        wanted = -mp.log1p(-mpf(short_of_one))

        def converted(log_s: Any) -> Any:
            s = mp.exp(log_s)
            return ((1 + s) * s * mpf(rho) + wanted - mp.log1p(s)) / s - mp.log1p(1 / s)

        near = min((mpf(n) / 2 for n in range(-260, 261)), key=converted)
        least = max(min(converted(near + mpf(n) / 1000) for n in range(-500, 501)), 0)
        value = mpf(found.numerator) / found.denominator
        assert least * (1 - mpf("1e-5")) <= value <= least * (1 + mpf("1e-20"))
