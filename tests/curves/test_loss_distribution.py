"""Every part as a law on a grid: above its profile everywhere, and close to it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from reference import curves, lattice
from volume import thinned

from dpcompose.curves.backends.lattice.lattice import composed
from dpcompose.curves.backends.lattice.loss_distribution import masses
from dpcompose.curves.backends.lattice.masses import Masses, profile
from dpcompose.curves.backends.lattice.sizes import natural_step, scale
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

F = Fraction
ZERO = F(0)
Profile = Callable[[Any], Any]


#: Where a law is held against the truth; all of them with --long.
POINTS, ALL_POINTS = 28, 60


@pytest.fixture(autouse=True)
def _digits(long: bool, monkeypatch: pytest.MonkeyPatch) -> Any:
    if long:
        monkeypatch.setattr(f"{__name__}.POINTS", ALL_POINTS)
    with mp.workdps(60):
        yield


def gaussian(mu: Any) -> Profile:
    return curves.gaussian(F(mu) ** 2)


def laplace(a: Fraction) -> Profile:
    return curves.laplaces([a])


def stated(epsilon: Fraction, delta: Fraction = ZERO) -> Profile:
    return lattice.response(epsilon, delta).delta


def removed(base: Profile, rate: Fraction) -> Profile:
    q = lattice.exact(rate)

    def delta(e: Any) -> Any:
        odds = (mp.expm1(e) + q) / q
        return q * base(mp.log(odds)) if odds > 0 else -mp.expm1(e)

    return delta


def added(base: Profile, rate: Fraction) -> Profile:
    q = lattice.exact(rate)

    def delta(e: Any) -> Any:
        left = 1 - mp.exp(e) * (1 - q)
        return left * base(mp.log(q * mp.exp(e) / left)) if left > 0 else mpf(0)

    return delta


def symmetric(curve: Profile) -> Profile:
    return lambda e: curve(e) if e >= 0 else 1 - mp.exp(e) * (1 - curve(-e))


def excess(law: Masses, truth: Profile, low: float, high: float, least: float = 1e-50) -> float:
    """Holds the law against the truth at and between grid points; the largest relative excess at
    grid points, where `truth` is at least `least`."""
    generator = random.Random(f"{law.step}{law.first}{low}")
    worst = 0.0
    for i in range(POINTS):
        place = generator.randint(math.ceil(low / law.step), math.floor(high / law.step))
        epsilon = (place + (F(0) if i % 2 else F(generator.randint(1, 99), 100))) * law.step
        wanted, found = truth(lattice.exact(epsilon)), profile(law, float(epsilon))
        # The float nearest to ε, and the sum that evaluates the law, are a rounding off.
        assert found >= wanted * (1 - mpf(10) ** -12) - least * mpf(10) ** -6, float(epsilon)
        if i % 2 and wanted > least:
            worst = max(worst, float(found / wanted - 1))
    total = float(law.p.sum()) + law.infinite
    assert 1 - 1e-15 <= total < 1 + 1e-9
    assert (law.p >= 0).all()
    return worst


STEPS = [F(1, 1000), F(3, 7001)]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("shift", thinned([F(1), F(1, 10), F(7, 3), F(50), F(3000)], 5))
def test_laplace(shift: Fraction, step: Fraction) -> None:
    law = masses(LaplaceLoss(shift), step)
    low, high = max(-1.1 * float(shift), float(shift) - 100), float(shift) * 1.05
    truth = laplace(shift)
    on_grid = (shift / step).denominator == 1
    # Off the grid the atom at the top is split: a curve that meets the axis at an angle.
    assert excess(law, truth, low, high - min(0.3 * float(shift), 20) * (not on_grid)) < 1e-5
    if on_grid:
        assert excess(law, truth, low, high) < 1e-11


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("eta", thinned([F(1), F(1, 10), F(5), F(40)], 4))
def test_bounded_range(eta: Fraction, step: Fraction) -> None:
    def truth(e: Any) -> Any:
        top = lattice.exact(eta)
        if abs(e) >= top:
            return mpf(0) if e > 0 else 1 - mp.exp(e)
        return (mp.exp(top / 2) - mp.exp(e / 2)) ** 2 / mp.expm1(top)

    law = masses(BoundedRange(eta), step)
    assert excess(law, truth, -1.1 * float(eta), 0.9 * float(eta)) < 1e-3
    # No choice of t is above the law: losses t and t-η with P and Q summing to 1.
    for t in np.linspace(0, float(eta), 7)[1:-1]:
        pair = lattice.bounded_range(eta, F(t)).delta
        for e in np.linspace(-float(eta), float(eta), 11):
            assert profile(law, float(e)) >= pair(mpf(e)) * (1 - mpf(10) ** -12)


@pytest.mark.parametrize(
    ("mu2", "rate", "step"),
    thinned(
        [
            (F(1), F(1, 100), F(1, 1000)),
            (F(100, 121), F(256, 60000), F(1, 10000)),
            (F(1), F(1), F(1, 100)),
            (F(25), F(1, 2), F(1, 100)),
            (F(1, 100), F(1, 10), F(1, 10000)),
            (F(2500), F(1, 10), F(1, 10)),
            (F(10000), F(1), F(1, 10)),
            (F(1), F(999999, 1000000), F(1, 100)),
        ],
        4,
    ),
)
@pytest.mark.parametrize("side", ["removed", "added"])
def test_sampled_gaussian(mu2: Fraction, rate: Fraction, step: Fraction, side: str) -> None:
    part = Sampled(rate, Curve((), mu2), side=side)
    law = masses(part, step)
    truth = (removed if side == "removed" else added)(curves.gaussian(mu2), rate)
    losses = law.losses()
    assert excess(law, truth, float(losses[0]) - 1, float(losses[-1]) * 0.98) < 2e-8
    turned = masses(part, step, "added")
    other = masses(Sampled(rate, part.base, side="added" if side == "removed" else "removed"), step)
    assert turned.first == other.first and (turned.p == other.p).all()


@pytest.mark.slow
def test_a_sampled_gaussian_by_quadrature() -> None:
    """The two densities integrated, not the formula that transforms a profile."""
    mu, q = mpf(3) / 2, mpf(1) / 20
    law = masses(Sampled(F(1, 20), Curve((), F(9, 4)), side="removed"), F(1, 500))

    def density(x: Any) -> Any:
        return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)

    for epsilon in (F(-1, 100), F(1, 10), F(2), F(8), F(12)):
        e = lattice.exact(epsilon)
        edge = (mp.log1p(mp.expm1(e) / q)) / mu + mu / 2

        def above(x: Any, e: Any = e) -> Any:
            return (1 - q) * density(x) + q * density(x - mu) - mp.exp(e) * density(x)

        truth = mp.quad(above, [edge, edge + 1, edge + 3, edge + 8, edge + 20])
        assert truth * (1 - mpf(10) ** -12) <= profile(law, float(epsilon)) <= truth * (1 + 1e-10)


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize(("shift", "noise"), [(1, F(10)), (3, F(5, 2)), (4, F(1)), (2, F(1, 3))])
def test_geometric(shift: int, noise: Fraction, own: bool) -> None:
    part = GeometricLoss(shift, noise)
    truth = lattice.geometric(shift, noise).delta
    step = natural_step(part) if own else F(1, 1000)
    assert step
    law = masses(part, step)
    top = float(shift / noise)
    assert excess(law, truth, -top - 3 * float(step), top * 0.99) < 1e-11
    assert law.losses()[-1] == pytest.approx(top) and np.count_nonzero(law.p) <= (
        shift + 1 if own else 2 * shift + 2
    )


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize(("shift", "variance"), thinned([(1, F(1)), (3, F(25, 4)), (2, F(1, 3))]))
def test_discrete_gaussian(shift: int, variance: Fraction, own: bool) -> None:
    part, truth = DiscreteGaussianLoss(shift, variance), lattice.discrete_gaussian(shift, variance)
    step = natural_step(part) if own else F(1, 1000)
    assert step
    spread = shift / math.sqrt(variance)
    assert excess(masses(part, step), truth.delta, -5 * spread, 12 * spread, 1e-40) < 1e-11


def test_a_wide_discrete_gaussian_falls_back_on_zcdp() -> None:
    part = DiscreteGaussianLoss(1, F(10) ** 14)
    step = F(scale(part)) / 100
    assert natural_step(part) is None
    law, other = masses(part, step), masses(Concentrated(F(1, 2 * 10**14)), step)
    assert (law.p == other.p).all() and law.infinite == other.infinite


@pytest.mark.parametrize("k", [2, 3, 10, 10**400])
def test_kary_response(k: int) -> None:
    truth = lattice.kary(k, F(2)).delta
    assert excess(masses(KaryResponse(k, F(2)), F(2)), truth, -6, 6) < 1e-13
    assert excess(masses(KaryResponse(k, F(2)), F(1, 137)), truth, -3, 1.9) < 1e-11


def test_points() -> None:
    points = ((F(0), F(1, 10)), (F(1, 2), F(1, 100)), (F(1), F(1, 10**9)), (F(3, 2), F(1, 5)))
    part = Points(points)
    assert natural_step(part) == F(1, 2)
    law = masses(part, F(1, 2))
    for epsilon, delta in points[:3]:
        assert float(delta) <= profile(law, float(epsilon)) <= float(delta) * (1 + 1e-12)
    # Never above what one point says alone, and above it nowhere by more than a rounding.
    for e in np.linspace(-2, 2, 81):
        least = min(stated(*point)(mpf(e)) for point in points)
        assert profile(law, float(e)) <= least * (1 + mpf(10) ** -12)
    alone = Points(((F(1), F(1, 1000)),))
    assert excess(masses(alone, F(1, 1000)), stated(F(1), F(1, 1000)), -2, 2) < 1e-12


def conversion(divergence: Profile, most: float) -> Profile:
    """The least bound over orders, by golden section on ln(α-1)."""

    def delta(e: Any) -> Any:
        def log_bound(t: Any) -> Any:
            s = mp.exp(t)
            return s * (divergence(1 + s) - e) + s * t - (1 + s) * mp.log1p(s)

        low, high, ratio = mpf(-15), mp.log(most), (mp.sqrt(5) - 1) / 2
        for _ in range(70):
            left, right = high - ratio * (high - low), low + ratio * (high - low)
            if log_bound(left) < log_bound(right):
                high = right
            else:
                low = left
        return mp.exp(min(log_bound((low + high) / 2), log_bound(mp.log(most))))

    return delta


@pytest.mark.parametrize("rho", thinned([F(1, 2), F(1, 100), F(15)]))
def test_zcdp(rho: Fraction) -> None:
    spread = math.sqrt(2 * rho)
    step = F(spread) / 500
    law = masses(Concentrated(rho), step)
    truth = conversion(lambda a: a * lattice.exact(rho), 1e6)
    # Where the bound is convex in e^ε the law is the bound; elsewhere it is below it.
    low, high = float(rho) + 2 * spread, float(rho) + 12 * spread
    for e in np.linspace(low, high, 12):
        place = round(e / float(step)) * step
        assert profile(law, float(place)) == pytest.approx(
            float(truth(lattice.exact(place))), rel=1e-8
        )
    # A Gaussian with this ρ has a smaller profile everywhere.
    curve = curves.gaussian(2 * rho)
    for e in np.linspace(-3 * spread, high, 30):
        assert profile(law, float(e)) > curve(mpf(e))


def _plus(known: Profile, rho: Any, order: Any) -> Any:
    return known(order) + order * rho


def test_divergences_at_some_orders() -> None:
    points = ((F(2), F(1, 10)), (F(4), F(1, 4)), (F(8), F(6, 10)), (F(32), F(3)))
    corners = [(mpf(0), mpf(0))] + [
        (lattice.exact(a - 1), lattice.exact((a - 1) * e)) for a, e in points
    ]

    def known(order: Any) -> Any:
        for (a, u), (b, v) in pairwise(corners):
            if order - 1 <= b:
                return (u + (v - u) * (order - 1 - a) / (b - a)) / (order - 1)
        raise AssertionError

    for rho in (F(0), F(1, 10)):
        law = masses(Renyi(points, rho), F(1, 1000))
        truth = conversion(partial(_plus, known, lattice.exact(rho)), 31 - 1e-20)
        for e in (1.2, 2.0, 3.7, 6.0):
            assert profile(law, e) == pytest.approx(float(truth(mpf(e))), rel=1e-6)
            assert profile(law, e) >= truth(mpf(e)) * (1 - mpf(10) ** -12)


BASES = [
    (Curve(((Response(F(1)), 1),)), stated(F(1))),
    (Curve(((Response(F(1)), 1),), no_failure=F(999, 1000)), stated(F(1), F(1, 1000))),
    (Curve(((LaplaceLoss(F(1)), 1),)), laplace(F(1))),
    (
        Curve((), F(1), F(99, 100)),
        lambda e: mpf(1) / 100 + mpf(99) / 100 * gaussian(1)(e),
    ),
]


@pytest.mark.parametrize(("base", "curve"), thinned(BASES, 4))
@pytest.mark.parametrize("side", ["removed", "added", "both"])
def test_poisson_samples(base: Curve, curve: Profile, side: str) -> None:
    rate = F(1, 10)
    law = masses(Sampled(rate, base, side=side), F(1, 10000))
    one, other = removed(curve, rate), added(curve, rate)
    truth = {
        "removed": one,
        "added": other,
        "both": lambda e: max(one(e), other(e)),
    }[side]
    assert excess(law, truth, -0.3, 0.15) < 1e-6
    flipped = masses(Sampled(rate, base, side=side), F(1, 10000), "added")
    turned = {"removed": other, "added": one, "both": truth}[side]
    assert excess(flipped, turned, -0.3, 0.08) < 1e-6


@pytest.mark.parametrize(("base", "curve"), thinned(BASES, 4))
def test_samples_without_replacement(base: Curve, curve: Profile) -> None:
    law = masses(Sampled(F(1, 10), base, replace=True), F(1, 10000))
    truth = symmetric(lambda e: curve(mp.log1p(10 * mp.expm1(e))) / 10)
    assert excess(law, truth, -0.3, 0.15) < 1e-6


@pytest.mark.slow
def test_a_sample_of_a_composition() -> None:
    """Two Laplace and a Gaussian read one sample; their profile by quadrature."""
    base = Curve(((LaplaceLoss(F(1)), 2),), F(1))
    law = masses(Sampled(F(1, 10), base, side="removed"), F(1, 2000))

    def composed(e: Any) -> Any:
        # The loss of one LaplaceLoss: atoms at 1 and -1, density between.
        def one(inner: Profile) -> Profile:
            def result(x: Any) -> Any:
                between = mp.quad(
                    lambda u: mp.exp((u - 1) / 2) / 4 * inner(x - u), [-1, 1], maxdegree=3
                )
                return inner(x - 1) / 2 + mp.exp(-1) / 2 * inner(x + 1) + between

            return result

        return one(one(gaussian(1)))(e)

    with mp.workdps(25):
        truth = removed(composed, F(1, 10))
        for e in (F(1), F(8)):
            wanted = truth(lattice.exact(e))
            found = profile(law, float(e))
            assert wanted * (1 - mpf(10) ** -12) <= found <= wanted * (1 + mpf(10) ** -4)


@pytest.mark.slow
def test_group_distance() -> None:
    """Not above the formula at any ε, and not below the mechanism moved as far."""
    law = masses(Grouped(Curve(((LaplaceLoss(F(1)), 1),)), 3), F(1, 1000))
    moved = laplace(F(3))
    for e in np.linspace(-4, 3.5, 60):
        assert profile(law, float(e)) >= moved(mpf(e)) * (1 - mpf(10) ** -12)
    for e in (F(3, 2), F(2), F(14, 5)):
        formula = (
            laplace(F(1))(lattice.exact(e) / 3)
            * mp.expm1(lattice.exact(e))
            / mp.expm1(lattice.exact(e) / 3)
        )
        assert profile(law, float(e)) <= min(formula, stated(F(3))(lattice.exact(e))) * (1 + 1e-5)
    # ε-DP at each of three steps: geometric noise moved by three.
    pure = masses(Grouped(Curve(((Response(F(1)), 1),)), 3), F(1, 1000))
    worst = masses(GeometricLoss(3, F(1)), F(1))
    for e in np.linspace(0, 3.5, 60):
        truth = profile(worst, float(e))
        assert truth * (1 - 1e-12) <= profile(pure, float(e)) <= truth * (1 + 1e-9) + 1e-12
    # Gaussian noise is moved by the sum, whatever the steps.
    for steps in (2, 5, 64):
        far = masses(Grouped(Curve((), F(1, 4) / steps**2), steps), F(1, 1000))
        for e in (F(0), F(1, 3), F(1), F(2)):
            truth = gaussian(F(1, 2))(lattice.exact(e))
            assert truth * (1 - mpf(10) ** -12) <= profile(far, float(e)) <= truth * (1 + 1e-4)
    # Further it is the formula.
    far = masses(Grouped(Curve((), F(1, 10**6)), 65), F(1, 1000))
    for e in (F(1, 10), F(1, 5)):
        each = gaussian(F(1, 1000))(lattice.exact(e) / 65)
        formula = each * mp.expm1(lattice.exact(e)) / mp.expm1(lattice.exact(e) / 65)
        assert gaussian(F(65, 1000))(lattice.exact(e)) < profile(far, float(e)) <= formula * 1.00001


def test_sums_far_into_the_upper_tail() -> None:
    """Binomial chances down to 10^-45 by tilted transforms, each rounded up and close."""
    n = 2**12
    total = composed([(Masses(F(1), -1, np.array([0.25, 0.0, 0.75]), 0.0), n)])
    for ones in range(3 * n // 4, n + 1, 37):
        place = 2 * ones - n - total.first
        wanted = mp.binomial(n, ones) * mpf(3) ** ones / mpf(4) ** n
        if wanted > mpf(10) ** -45:
            assert wanted <= total.p[place] <= wanted * (1 + mpf(10) ** -6)


SYMMETRIC: list[Part] = [
    LaplaceLoss(F(1)),
    BoundedRange(F(1)),
    KaryResponse(4, F(1)),
    GeometricLoss(3, F(2)),
    DiscreteGaussianLoss(2, F(5)),
    Points(((F(1, 2), F(1, 10)), (F(1), F(1, 1000)))),
    Concentrated(F(1, 4)),
    Renyi(((F(2), F(1, 10)), (F(4), F(1, 4)))),
    Sampled(F(1, 10), Curve((), F(1))),
    Sampled(F(1, 10), Curve((), F(1)), replace=True),
    Grouped(Curve((), F(1, 4)), 2),
]


@pytest.mark.parametrize("part", SYMMETRIC, ids=lambda part: type(part).__name__)
def test_both_orders_of_the_tables(part: Part) -> None:
    law = masses(part, F(1, 100))
    for e in np.linspace(0, 2, 21):
        there, back = profile(law, float(e)), profile(law, -float(e))
        assert back == pytest.approx(1 - math.exp(-e) * (1 - there), rel=1e-9)


HOSTILE: list[Part] = [
    Response(F(10**6)),
    LaplaceLoss(F(10**400)),
    LaplaceLoss(F(1, 10**300)),
    BoundedRange(F(1, 10**310)),
    KaryResponse(10**400, F(10**5)),
    GeometricLoss(10**9, F(10**7)),
    GeometricLoss(1, F(1, 10**400)),
    DiscreteGaussianLoss(10**30, F(5)),
    DiscreteGaussianLoss(1, F(1, 10**5)),
    Points(((F(10**6), F(1, 10)),)),
    Points(((F(0), F(0)),)),
    Points(((F(0), F(1)),)),
    Points(((F(1), F(1, 10)), (1 + F(1, 10**50), F(1, 20)))),
    Concentrated(F(1, 10**400)),
    Renyi(((F(10**13), F(1, 10)),)),
    Renyi(((F(2), F(1)), (F(3), F(1, 2)))),
    Sampled(F(1, 10**6), Curve((), F(1)), replace=True),
    Sampled(F(1, 2), Curve((), F(10**10)), side="removed"),
    Sampled(F(1, 2), Curve((), F(1, 10**300)), side="added"),
    Sampled(F(1, 10**9), Curve(((Response(F(10**5)), 1),)), side="removed"),
    Sampled(F(1, 10), Curve()),
    Sampled(F(0), Curve((), F(1))),
    Sampled(F(1, 10), Curve((), F(0), F(9, 10)), side="added"),
    Grouped(Curve(((LaplaceLoss(F(10)), 1),)), 10**30),
    Grouped(Curve((), F(0), F(9, 10)), 3),
    Sampled(F(1, 10), Curve(((LaplaceLoss(F(1, 10**5)), 10**9), (Response(F(1)), 3)), F(1))),
]


@pytest.mark.slow
@pytest.mark.parametrize("part", HOSTILE, ids=lambda part: type(part).__name__)
@pytest.mark.parametrize("step", [F(1, 1000), F(10), F(10**6)])
@pytest.mark.filterwarnings("error")
def test_any_part_on_any_grid(part: Part, step: Fraction) -> None:
    law = masses(part, step)
    assert np.isfinite(law.p).all() and (law.p >= 0).all() and 0 <= law.infinite <= 1 + 1e-12
    assert 1 - 1e-15 <= law.p.sum() + law.infinite < 1 + 1e-5
    assert math.isfinite(scale(part))
