"""Several guarantees of one mechanism, for one step and for several, against power functions."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import pytest
from asked import numbers, spec
from mpmath import mp, mpf
from reference import lattice, powers
from volume import thinned

import dpcompose
from dpcompose.curves import curve_of
from dpcompose.curves.answers import delta_at
from dpcompose.curves.both_hold import least_curve, of_several_kinds, over_steps
from dpcompose.curves.curve import Curve, Response

F = Fraction
PURE, PAIR, OTHER = (F("1.5"), F(0)), (F("0.8"), F("1e-3")), (F("0.3"), F("0.05"))


def known(epsilon: Fraction, delta: Fraction) -> Curve:
    return curve_of(Response(epsilon), F(0), 1 - delta)


@pytest.mark.parametrize("steps", thinned([3, 1, 2, 5]))
@pytest.mark.parametrize("said", [(PURE, PAIR), (PURE, OTHER), (PURE, PAIR, OTHER)])
def test_all_hold_at_each_step(said: tuple[tuple[Fraction, Fraction], ...], steps: int) -> None:
    options = [known(*each) for each in said]
    found = least_curve(options) if steps == 1 else over_steps(options, steps)
    assert of_several_kinds(options) and found is not None and found.part is not None
    one = Curve(((found.part, 1),))
    with mp.workdps(lattice.DIGITS):
        each = powers.step(*said[0])
        for other in said[1:]:
            each = powers.least(each, powers.step(*other))
        truth = powers.path([each] * steps).law()
        for n in range(12):
            at = said[0][0] * steps * n / 11
            least, told = truth.delta(at), lattice.exact(delta_at(one, at).upper)
            assert least <= told <= least * (1 + mpf("1e-3")) + mpf("1e-15")


def profile(epsilon: float) -> float:
    """The least convex curve below those of 1-DP and of ½-GDP: where it leaves the latter for the
    chord to (1, 0), the tangent at y = e^ε has the slope -Φ(-μ/2 - ε/μ)."""

    def normal(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    def gaussian(at: float) -> tuple[float, float]:
        slope = -normal(-0.25 - at / 0.5)
        return normal(0.25 - at / 0.5) + math.exp(at) * slope, slope

    low, high = 0.0, 1.0
    for _ in range(100):
        at = (low + high) / 2
        height, slope = gaussian(at)
        low, high = (at, high) if height + slope * (math.e - math.exp(at)) < 0 else (low, at)
    if epsilon <= low:
        return gaussian(epsilon)[0]
    height, _ = gaussian(low)
    return height * (math.e - math.exp(epsilon)) / (math.e - math.exp(low))


@pytest.mark.slow
def test_pure_and_gaussian() -> None:
    (curve,) = [least_curve([curve_of(Response(F(1))), curve_of(None, F(1, 4))])]
    assert curve is not None and curve.part is not None
    one = Curve(((curve.part, 1),))
    for n in range(40):
        at = F(n, 40)
        found = float(delta_at(one, at).upper)
        assert profile(float(at)) * (1 - 1e-12) <= found <= profile(float(at)) * 1.0005 + 1e-15


@cache
def told(guarantees: str, distance: int, delta: str, count: int = 1) -> float:
    protect = f"{{relation: unbounded, distance: {distance}}}"
    text = spec(f"count: {count}, guarantees: [{guarantees}]", protect=protect)
    value = dpcompose.analyze(text, deltas=[F(delta)]).at_delta[0].value
    return math.inf if value is None else float(value)


PURE_1, MU, RHO = (
    "{notion: pure, epsilon: 1}",
    "{notion: gdp, mu: 0.5}",
    "{notion: zcdp, rho: 0.05}",
)
RENYI = "{notion: rdp, points: [[2, 0.1], [8, 0.4], [32, 2]]}"
WITH_DELTA = "{notion: approx, epsilon: 0.5, delta: 1e-3}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "several", [(PURE_1, RENYI), (WITH_DELTA, RHO), (PURE_1, MU, WITH_DELTA), (MU, RENYI, RHO)]
)
@pytest.mark.parametrize(
    ("distance", "delta"),
    [
        *((1, delta) for delta in ("1e-4", "0.02", "0.15")),
        (3, "0.02"),
        *(pytest.param(3, delta, marks=pytest.mark.long) for delta in ("1e-4", "0.15")),
    ],
)
def test_no_more_than_each_alone(several: tuple[str, ...], distance: int, delta: str) -> None:
    together = told(", ".join(several), distance, delta)
    assert together <= min(told(each, distance, delta) for each in several) * (1 + 1e-9)


@pytest.mark.slow
def test_what_is_less_together() -> None:
    assert told(f"{PURE_1}, {MU}", 1, "0.01") == pytest.approx(0.886588, abs=1e-6)
    # At distance 3 in the least of both at each step, by numerical integration 2.16034.
    assert 2.1602 < told(f"{PURE_1}, {MU}", 3, "0.1") < 2.1606
    assert told(f"{PURE_1}, {MU}", 3, "0.1", count=2) < 2 * 2.1606


def test_a_guarantee_for_fewer_changes_does_not_hold_at_each_step() -> None:
    """Two rows that keep `a` are two steps of the first guarantee, and none of the second one."""
    kept = "relation: {{relation: bounded, keeps: [{}]}}"
    first = f"{{notion: pure, epsilon: 2, {kept.format('a')}}}"
    second = f"{{notion: approx, epsilon: 0.1, delta: 0.01, {kept.format('a, b')}}}"
    alone, both = (
        numbers(
            spec(
                f"guarantees: [{said}]",
                protect="{relation: bounded, keeps: [a], distance: 2}",
                root="{columns: [a, b]}",
                more="report: {delta: 0.1}",
            )
        )
        for said in (first, f"{first}, {second}")
    )
    assert both == alone
