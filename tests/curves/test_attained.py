"""What Gaussian mechanisms attain behind samples without replacement, against sums on a plane."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from asked import spec
from scipy.stats import norm
from volume import thinned

import dpcompose
from dpcompose.curves import Curve, Sampled, attained_by_samples
from dpcompose.curves.routes import Point

F = Fraction


def drawn(rate: str, mu: str, count: int, gaussian: str = "0") -> Curve:
    return Curve(((Sampled(F(rate), Curve((), F(mu) ** 2), True), count),), F(gaussian))


def of_two_draws(q: float, mu: float, epsilon: float) -> float:
    """The greatest δ of two draws where the old row, or the new one, is far from all others, or
    both are, on opposite sides."""
    axis = np.arange(-8, 8 + mu, 0.02) + 0.01
    none = norm.pdf(axis) * 0.02
    found = []
    for ends in ((mu, 0.0), (0.0, mu), (mu / 2, -mu / 2)):
        p, other = ((1 - q) * none + q * norm.pdf(axis - end) * 0.02 for end in ends)
        both = np.multiply.outer(p, p) - math.exp(epsilon) * np.multiply.outer(other, other)
        found.append(float(both[both > 0].sum()))
    return max(found)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
@pytest.mark.parametrize(("rate", "mu"), [("1/10", "1"), ("1/2", "2"), ("1/100", "3")])
def test_two_draws(rate: str, mu: str, epsilon: float) -> None:
    curve = drawn(rate, mu, 2)
    truth = of_two_draws(float(F(rate)), float(mu), epsilon)
    found = attained_by_samples(curve, Point(epsilon=F(str(epsilon))), F(1))
    assert found is not None and truth * (1 - 5e-3) <= found <= truth * (1 + 1e-4)
    assert found <= curve.delta(epsilon=str(epsilon)).upper
    back = attained_by_samples(curve, Point(delta=found), F(str(epsilon)))
    assert back is not None and float(back) == pytest.approx(epsilon, rel=2e-2, abs=2e-3)


def test_one_draw_is_known_from_both_sides() -> None:
    for delta in ("1e-9", "1e-3"):
        upper = drawn("1/10", "2", 1).epsilon(delta=delta)
        assert upper is not None
        lower = attained_by_samples(drawn("1/10", "2", 1), Point(delta=F(delta)), upper.upper)
        assert lower is not None and 0 < upper.upper - lower < F(1, 1000) * upper.upper


@pytest.mark.parametrize("count", thinned([3, 30]))
@pytest.mark.parametrize("rate", ["1/3", "1/1000"])
def test_the_bound_from_below_is_below_that_from_above(rate: str, count: int) -> None:
    for mu, delta in itertools.product(("1/5", "4"), ("1e-10", "1e-4")):
        curve = drawn(rate, mu, count, "1/9")
        upper = curve.epsilon(delta=delta)
        assert upper is not None
        lower = attained_by_samples(curve, Point(delta=F(delta)), upper.upper)
        assert lower is not None and 0 <= lower <= upper.upper


def test_nothing_is_said_of_other_curves_and_of_many_questions() -> None:
    poisson = Curve(((Sampled(F(1, 10), Curve((), F(1))), 2),))
    assert attained_by_samples(poisson, Point(delta=F(1, 1000)), F(1)) is None
    assert attained_by_samples(Curve((), F(1)), Point(delta=F(1, 1000)), F(1)) is None
    many = Point(delta=F(1, 1000), many=True)
    assert attained_by_samples(drawn("1/10", "1", 2), many, F(1)) is None


def test_a_report_has_the_bound_from_below_where_the_mechanism_is_known() -> None:
    def report(mechanism: str, protect: str = "bounded") -> dpcompose.Report:
        return dpcompose.analyze(
            spec(
                mechanism,
                protect=protect,
                root="{domain: fixed-size-table, size: 100}",
                datasets="bins: {from: rows, map: {kind: sample, size: 10, of: 100}}",
                more="report: {delta: 0.1}",
            )
        )

    noise = "mechanism: gaussian, sigma: 0.7, sensitivity: {bounded: 1}, count: 3"
    [at] = report(noise).at_delta
    assert at.lower is not None and at.value is not None
    assert 0.0327 < at.lower < 0.0330 and at.value < 0.085
    assert report(noise, "{relation: bounded, distance: 2}").at_delta[0].lower is None
    stated = "notion: zcdp, rho: 1, relation: bounded, count: 3"
    assert report(stated).at_delta[0].lower is None
