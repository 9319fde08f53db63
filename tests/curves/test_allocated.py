"""A row in one of several Gaussian steps: against integrals, and laws of a few outcomes."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import norm

from dpcompose import curves
from dpcompose.curves import Allocated, Curve
from dpcompose.curves.backends.lattice.allocated import _Ratios, _spread, _sum, allocated
from dpcompose.curves.backends.lattice.masses import profile
from dpcompose.curves.backends.lattice.tuning import MAX_POINTS

F = Fraction
#: σ, ε, δ with the row against without it, and the other way, to twelve digits.
TWO_STEPS = [
    ("1", 0.5, 0.149177523136, 0.142686965824),
    ("1", 1.0, 0.0592065010859, 0.0501976623695),
    ("1/2", 2.0, 0.232321343459, 0.186449148388),
    ("1/2", 4.0, 0.0448251179110, 0.0166118602073),
]


def part(sigma: str, steps: int, side: str = "removed") -> Allocated:
    return Allocated(steps, 1 / F(sigma) ** 2, side)


def of_two_steps(mu: float, epsilon: float) -> tuple[float, float]:
    """δ of both orders for two steps, by one integral over the first of them."""
    limit = math.exp(epsilon)

    def above(other: float, most: float) -> float:
        """E(X - k)₊ of one log-normal X of mean 1, with k what the other one leaves of `most`."""
        k = 2 * most - other
        if k <= 0:
            return 1 - k
        z = -math.log(k) / mu + mu / 2
        return float(ndtr(z) - k * ndtr(z - mu))

    def mean(most: float) -> float:
        def inside(z: float) -> float:
            return float(norm.pdf(z)) * above(math.exp(mu * z - mu * mu / 2), most) / 2

        bend = (math.log(2 * most) + mu * mu / 2) / mu
        cuts = [-12.0, bend, 14.0]
        return math.fsum(
            quad(inside, a, b, epsabs=1e-14, limit=200)[0] for a, b in itertools.pairwise(cuts)
        )

    return mean(limit), limit * (mean(1 / limit) - 1 + 1 / limit)


@pytest.mark.parametrize(("sigma", "epsilon", "removed", "added"), TWO_STEPS)
def test_two_steps(sigma: str, epsilon: float, removed: float, added: float) -> None:
    assert of_two_steps(1 / float(F(sigma)), epsilon) == pytest.approx((removed, added), rel=2e-8)
    for side, truth in (("removed", removed), ("added", added)):
        found = profile(allocated(part(sigma, 2), F(1, 4096), side), epsilon)
        assert truth <= found <= truth * (1 + 1e-3)
    whole = curves.gaussian(sigma=sigma).allocate(2).delta(epsilon=str(epsilon))
    assert removed <= float(whole) <= removed * (1 + 1e-4)


@pytest.mark.parametrize(("sigma", "epsilon"), [("3", 0.1), ("3", 1.0), ("1/4", 6.0), ("2/3", 0.0)])
def test_two_steps_by_an_integral(sigma: str, epsilon: float) -> None:
    removed, added = of_two_steps(1 / float(F(sigma)), epsilon)
    for side, truth in (("removed", removed), ("added", added)):
        found = profile(allocated(part(sigma, 2), F(1, 8192), side), epsilon)
        assert truth * (1 - 1e-9) <= found <= truth * (1 + 5e-3)


def test_both_orders_at_once() -> None:
    both = allocated(part("1", 5, "both"), F(1, 512), "removed")
    for side, epsilon in itertools.product(("removed", "added"), (0.0, 0.3, 1.0, 2.0)):
        one = allocated(part("1", 5, side), F(1, 512), "removed")
        assert profile(one, epsilon) <= profile(both, epsilon) * (1 + 1e-9)
        other = "added" if side == "removed" else "removed"
        turned = allocated(part("1", 5, other), F(1, 512), "added")
        assert profile(one, epsilon) == profile(turned, epsilon)


@pytest.mark.parametrize(("sigma", "steps"), [(1.0, 10), (0.5, 100), (0.4, 1000), (2.0, 3)])
def test_no_test_of_the_largest_step_does_better(sigma: float, steps: int) -> None:
    """The chances of the event that some step is above a bar are known exactly."""
    mu = 1 / sigma
    curve = curves.gaussian(sigma=str(sigma)).allocate(steps)
    bars = np.linspace(-1, mu + 6, 4000)
    with_row = 1 - ndtr(bars) ** (steps - 1) * ndtr(bars - mu)
    without = -np.expm1(steps * np.log(ndtr(bars)))
    for epsilon in (0.0, 0.5, 1.0, 2.0, 4.0):
        found = float(curve.delta(epsilon=str(epsilon)))
        assert found >= float((with_row - math.exp(epsilon) * without).max())
        assert found <= float(curves.gaussian(sigma=str(sigma)).delta(epsilon=str(epsilon)))


def test_sums_of_few_outcomes() -> None:
    """Three numbers of a few values each: all sums, one by one."""
    values, chances = np.array([0.0, 0.1, 0.7, 2.2]), np.array([0.05, 0.4, 0.3, 0.25])
    chances = chances / chances.sum()
    one = _Ratios(values, chances, 0.0)
    three = _sum(_sum(one, one), one)
    for bar in np.linspace(0.05, 6.5, 40):
        over = under = 0.0
        for some in itertools.product(range(4), repeat=3):
            chance = math.prod(chances[i] for i in some)
            total = sum(values[i] for i in some)
            over += chance * max(total - bar, 0.0)
            under += chance * max(bar - total, 0.0)
        spread = three.chances
        found = float((np.maximum(three.values - bar, 0) * spread).sum()) + three.told
        assert over * (1 - 1e-12) <= found <= over + 1e-3
        found = float((np.maximum(bar - three.values, 0) * spread).sum())
        assert under * (1 - 1e-12) <= found <= under + 1e-3


def test_mass_is_spread_with_its_mean() -> None:
    grid = np.array([0.0, 1.0, 1.5, 4.0])
    values, chances = np.array([0.2, 1.5, 1.6, 6.0]), np.array([0.1, 0.2, 0.3, 0.4])
    found, cut = _spread(values, chances, grid)
    assert found.sum() == pytest.approx(1, abs=1e-15)
    assert (found * grid).sum() + cut == pytest.approx((values * chances).sum(), abs=1e-15)
    assert cut == pytest.approx(0.4 * 2)


@pytest.mark.slow
def test_epochs_compose() -> None:
    """Two epochs of two steps: what is told of them by the loss rounded to bins is less."""
    mu, edges = 1.0, np.linspace(-3.5, 5.5, 181)
    # The law of L in bins of ln L, by a grid of both steps: a coarser release.
    z = (np.arange(-1800, 2200) + 0.5) / 200
    mass = norm.pdf(z) / 200
    ratio = np.exp(mu * z - mu * mu / 2)
    mean = np.add.outer(ratio, ratio).ravel() / 2
    held = np.multiply.outer(mass, mass).ravel()
    place = np.searchsorted(np.exp(edges), mean)
    under = np.bincount(place, held, len(edges) + 1)
    with_row = np.bincount(place, held * mean, len(edges) + 1)
    once = curves.gaussian(sigma=1).allocate(2)
    two = np.multiply.outer(with_row, with_row), np.multiply.outer(under, under)
    for epsilon in (0.5, 1.0, 2.0, 3.0):
        found = float(once.repeat(2).delta(epsilon=str(epsilon)))
        truth = max(
            float(np.maximum(a - math.exp(epsilon) * b, 0).sum()) for a, b in (two, two[::-1])
        )
        assert truth * (1 - 1e-6) <= found <= truth * 1.01


@pytest.mark.slow
def test_more_steps_hide_more_and_composed_with_others() -> None:
    found = [float(curves.gaussian(sigma=1).allocate(t).delta(epsilon=1)) for t in (2, 3, 10, 100)]
    assert found == sorted(found, reverse=True)
    alone = curves.gaussian(sigma=1).allocate(10)
    more = alone.compose(curves.gaussian(sigma=3), curves.gaussian(sigma=2).sample(poisson="1/10"))
    assert float(more.delta(epsilon=1)) > float(alone.delta(epsilon=1))
    apart = more.at_distance(2).delta(epsilon=1)
    assert float(apart) > float(more.delta(epsilon=1))


@pytest.mark.slow
def test_known_ends() -> None:
    gaussian = curves.gaussian(sigma="1/3")
    assert gaussian.allocate(1) == gaussian and Curve().allocate(7) == Curve()
    far = curves.gaussian(sigma="1/50")
    assert far.allocate(3).delta(epsilon=2).upper >= far.delta(epsilon=2).upper * (1 - F(1, 10**9))
    for sigma in ("1e8", "1e12", "1e60"):
        least = curves.gaussian(sigma=sigma)
        assert (
            float(least.allocate(3).delta(epsilon=0))
            <= float(least.delta(epsilon=0)) * 1.01 + 1e-15
        )
        assert float(least.allocate(3).epsilon(delta="1e-6") or 1) <= 1e-6
    most = curves.gaussian(sigma=1).allocate(MAX_POINTS)
    more = curves.gaussian(sigma=1).allocate(MAX_POINTS * 1000)
    found = [float(each.delta(epsilon="1/100")) for each in (most, more)]
    assert found == pytest.approx([found[0]] * 2, rel=1e-4)
    for other in (curves.laplace(scale=1), curves.approx(0, "1/10")):
        with pytest.raises(ValueError, match="only Gaussian noise"):
            other.allocate(5)
    with pytest.raises(ValueError, match="steps"):
        gaussian.allocate(0)
