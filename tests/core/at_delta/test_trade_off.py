"""What an attacker gains, against scipy, against enumeration, and by its laws."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.finite_laws import best_test
from scipy.stats import binom, norm
from volume import thinned

import dpcompose
from dpcompose.core.at_delta.worst_trade_off import of_patterns, of_quantity
from dpcompose.core.loss.pattern import LossMultiset, one, together
from dpcompose.core.notions.guarantee import AskedRisk, Quantity
from dpcompose.core.notions.notion import Notion
from dpcompose.curves import curve_of
from dpcompose.curves.curve import Concentrated, Response, Sampled
from dpcompose.curves.families.laplace_loss import LaplaceLoss
from dpcompose.curves.trade_off import TradeOff

RATES = [Fraction(1, 10**6), Fraction(1, 100), Fraction(1, 20), Fraction(1, 2), Fraction(9, 10)]


def pure(*epsilons: Fraction | int) -> LossMultiset:
    return together(one(curve_of(Response(Fraction(each)))) for each in epsilons)


def gaussian(mu: Fraction) -> LossMultiset:
    return one(curve_of(None, mu * mu))


def within(found: Fraction, true: float, share: float = 1e-6) -> None:
    """At least the truth (up to what a double can tell), and next to it."""
    assert true * (1 - 1e-12) <= found <= true * (1 + share)


@pytest.mark.parametrize("mu", ["0.01", "0.3", "1", "2.5", "6"])
@pytest.mark.parametrize("rate", RATES)
def test_a_gaussian_is_exact(mu: str, rate: Fraction) -> None:
    for curve in (
        of_patterns((gaussian(Fraction(mu)),)),
        of_quantity(Quantity(Notion.GDP, Fraction(mu) ** 2)),
    ):
        within(curve.power(rate), norm.sf(norm.isf(float(rate)) - float(mu)))
        within(curve.advantage, 2 * norm.cdf(float(mu) / 2) - 1)


@pytest.mark.parametrize("epsilon", ["0.01", "1", "3", "20"])
@pytest.mark.parametrize("rate", RATES)
def test_a_pure_guarantee_is_exact(epsilon: str, rate: Fraction) -> None:
    e, a = float(Fraction(epsilon)), float(rate)
    for curve in (
        of_patterns((pure(Fraction(epsilon)),)),
        of_quantity(Quantity(Notion.PURE, Fraction(epsilon))),
    ):
        within(curve.power(rate), min(math.exp(e) * a, 1 - math.exp(-e) * (1 - a)))
        within(curve.advantage, math.tanh(e / 2))


def test_one_point_says_far_less() -> None:
    point = of_quantity(Quantity(Notion.APPROX, Fraction("4.7746"), Fraction(1, 10**6)))
    e, d, a = 4.7746, 1e-6, 0.01
    within(point.power(Fraction(1, 100)), 1 - math.exp(-e) * (1 - d - a))
    within(point.advantage, (math.exp(e) - 1 + 2 * d) / (math.exp(e) + 1))


@given(
    st.integers(1, 400),
    st.integers(0, 10**9),
    st.fractions(0, 1, max_denominator=997),
    st.integers(1, 997),
)
def test_a_point_is_the_formula_of_its_two_lines(
    e: int, d: int, share: Fraction, rate: int
) -> None:
    epsilon, delta, alpha = Fraction(e, 100), Fraction(d, 10**9) * share, Fraction(rate, 998)
    curve = of_quantity(Quantity(Notion.APPROX, epsilon, delta))
    x, y, a = float(epsilon), float(delta), float(alpha)
    within(curve.power(alpha), max(a, min(1, y + math.exp(x) * a, 1 - math.exp(-x) * (1 - y - a))))


def responses(epsilons: list[Fraction]) -> tuple[np.ndarray, np.ndarray]:
    """The laws of randomized responses, each outcome by itself."""
    p, q = np.ones(1), np.ones(1)
    for each in epsilons:
        likely = 1 / (1 + math.exp(-float(each)))
        p = np.outer(p, [likely, 1 - likely]).ravel()
        q = np.outer(q, [1 - likely, likely]).ravel()
    return p, q


@pytest.mark.slow
@settings(max_examples=15)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=7), st.integers(1, 199))
def test_different_responses_against_every_outcome(sizes: list[int], rate: int) -> None:
    epsilons = [Fraction(each, 10) for each in sizes]
    p, q = responses(epsilons)
    curve = of_patterns((pure(*epsilons),))
    within(curve.power(Fraction(rate, 200)), best_test(p, q, rate / 200), 1e-5)
    within(curve.advantage, float(np.abs(p - q).sum() / 2), 1e-5)


@pytest.mark.parametrize(("copies", "size"), [(3, "1"), (50, "0.2"), (1000, "0.03")])
@pytest.mark.parametrize("rate", RATES)
def test_equal_responses_against_binomial_tails(copies: int, size: str, rate: Fraction) -> None:
    likely = 1 / (1 + math.exp(-float(size)))
    k = np.arange(copies, -1, -1)
    hits = np.concatenate([[0.0], np.cumsum(binom.pmf(k, copies, likely))])
    alarms = np.concatenate([[0.0], np.cumsum(binom.pmf(k, copies, 1 - likely))])
    true = float(np.interp(float(rate), alarms, hits))
    curve = of_patterns((pure(Fraction(size)).times(copies),))
    assert true * (1 - 1e-9) <= curve.power(rate) <= true * (1 + 1e-5)


@pytest.mark.parametrize("rate", RATES)
def test_laplace_noise_against_its_known_curve(rate: Fraction) -> None:
    """Dong, Roth and Su 2022, Appendix: the worst test of Laplace noise is a threshold."""
    epsilon, a = 1.5, float(rate)
    if a < math.exp(-epsilon) / 2:
        true = math.exp(epsilon) * a
    elif a <= 0.5:
        true = 1 - math.exp(-epsilon) / (4 * a)
    else:
        true = 1 - math.exp(-epsilon) * (1 - a)
    curve = of_patterns((one(curve_of(LaplaceLoss(Fraction(3, 2)))),))
    within(curve.power(rate), true, 1e-5)


@pytest.mark.parametrize("rate", RATES)
def test_a_rho_says_more_by_its_divergences(rate: Fraction) -> None:
    rho = Fraction(1, 2)
    curve = of_quantity(Quantity(Notion.ZCDP, rho))
    same = of_patterns((one(curve_of(Concentrated(rho))),))
    assert curve.power(rate) == same.power(rate) and curve.advantage == same.advantage
    # Gaussian noise with μ = 1 is such a mechanism; the way through (ε, δ) says 0.5589.
    assert norm.sf(norm.isf(float(rate)) - 1) <= curve.power(rate) <= curve.advantage + rate
    assert 2 * norm.cdf(0.5) - 1 <= curve.advantage < Fraction("0.4792")
    leaking = of_patterns((one(curve_of(Concentrated(rho), no_failure=Fraction(9, 10))),))
    assert curve.power(rate) <= leaking.power(rate) <= curve.power(rate) + Fraction(1, 10)


# --- laws ----------------------------------------------------------------------------------------

PARTS = st.one_of(
    st.integers(1, 25).map(lambda n: pure(Fraction(n, 10))),
    st.integers(1, 25).map(lambda n: gaussian(Fraction(n, 10))),
)


@settings(max_examples=40)
@given(st.lists(PARTS, min_size=1, max_size=3), PARTS, st.integers(1, 99))
@pytest.mark.slow
def test_hits_lie_between_false_alarms_and_what_a_further_release_gives(
    patterns: list[LossMultiset], further: LossMultiset, percent: int
) -> None:
    rate = Fraction(percent, 100)
    curve = of_patterns((together(patterns),))
    more = of_patterns((together([*patterns, further]),))
    assert rate <= curve.power(rate) <= 1
    assert 0 <= curve.advantage <= 1
    # What an upper bound may be above the truth.
    assert curve.power(rate) <= more.power(rate) * (1 + Fraction(1, 10**5))
    assert curve.advantage <= more.advantage * (1 + Fraction(1, 10**5))
    assert curve.power(rate) - rate <= curve.advantage


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 99))
def test_more_loss_is_more_risk(one_size: int, other: int, percent: int) -> None:
    small, large = sorted((one_size, other))
    rate = Fraction(percent, 100)
    for made in (pure, gaussian):
        less, more = (of_patterns((made(Fraction(each, 10)),)) for each in (small, large))
        assert less.advantage <= more.advantage
        assert less.power(rate) <= more.power(rate) * (1 + Fraction(1, 10**6))


@pytest.mark.slow
def test_hits_grow_with_false_alarms_and_less_and_less() -> None:
    curve = of_patterns((together([gaussian(Fraction(1)), pure(1)]),))
    rates = [Fraction(each, 20) for each in range(1, 20)]
    hits = [curve.power(each) for each in rates]
    assert hits == sorted(hits)
    gains = [after - before for before, after in pairwise(hits)]
    assert all(later <= sooner + Fraction(1, 10**5) for sooner, later in pairwise(gains))


@settings(max_examples=20)
@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 99))
@pytest.mark.slow
def test_of_several_changes_the_hull_holds(size: int, mu: int, percent: int) -> None:
    """The curve of two changes is above both, and what the mean of two tests can reach."""
    rate = Fraction(percent, 100)
    pair = pure(Fraction(size, 10)), gaussian(Fraction(mu, 10))
    alone = [of_patterns((each,)) for each in pair]
    both = of_patterns(pair)
    for share, low in product((Fraction(1, 4), Fraction(1, 2)), (Fraction(1, 2), Fraction(9, 10))):
        # One person in `share` meets the first change, at a rate of its own.
        first = rate * low
        second = (rate - share * first) / (1 - share)
        if 0 < second < 1:
            reached = share * alone[0].power(first) + (1 - share) * alone[1].power(second)
            assert reached <= both.power(rate) * (1 + Fraction(1, 10**5))
    assert both.advantage == max(each.advantage for each in alone)


def test_rates_of_any_size() -> None:
    curve = of_patterns((gaussian(Fraction(1)),))
    tiny = [curve.power(Fraction(1, 10**n)) for n in (400, 250, 100, 30)]
    assert tiny == sorted(tiny) and all(0 < each < Fraction(1, 10**20) for each in tiny)
    assert 1 - Fraction(1, 10**20) <= curve.power(1 - Fraction(1, 10**20)) <= 1
    assert of_patterns((pure(10**6),)).power(Fraction(1, 100)) == 1
    assert of_patterns((LossMultiset({}),)).power(Fraction(1, 100)) == Fraction(1, 100)
    assert of_patterns((LossMultiset({}),)).advantage == 0


@pytest.mark.slow
def test_training_with_samples() -> None:
    """Both orders of the tables on finer and finer grids by an independent convolution, which come
    down to .0402047, .1424325 and .2244615; a published bound is .0402075, .1424387, .2244707."""
    from dpcompose.curves.curve import Curve

    rate, noise = Fraction(256, 60000), Curve((), Fraction(100, 121))
    sides = (curve_of(Sampled(rate, noise, side=each)) for each in ("removed", "added"))
    curve = of_patterns(tuple(one(each).times(14062) for each in sides))
    found = curve.power(Fraction(1, 100)), curve.power(Fraction(5, 100)), curve.advantage
    for each, least, most in zip(
        found, (0.0402047, 0.1424324, 0.2244614), (0.0402075, 0.1424387, 0.2244707), strict=True
    ):
        assert least <= each <= most


def test_the_greatest_of_several_changes_decides() -> None:
    # The second change is the worse one below ε = 1, the first one above it.
    curve = TradeOff(
        (
            lambda _, __: Fraction(1, 10),
            lambda epsilon, _: max(Fraction(0), (2 - epsilon) / 10),
        )
    )
    assert curve.delta(Fraction(0)) == curve.advantage == Fraction(1, 5)
    assert curve.delta(Fraction(3, 2)) == Fraction(1, 10)


# --- success from a baseline: the table with the row against the one without it -------------------


BASELINES = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))


def success(mechanism: str, rate: str, protect: str = "unbounded") -> list[float]:
    report = dpcompose.analyze(
        f"dpcompose: 1\nprotect: {protect}\ndatasets:\n  t: {{}}\n"
        f"  s: {{from: t, map: {{kind: sample, poisson: {rate}}}}}\n"
        f"mechanisms: [{{name: a, reads: s, {mechanism}}}]\n",
        risk=AskedRisk(BASELINES, ()),
    )
    assert report.risk is not None
    return [float(found) for _, found in report.risk.success]


@pytest.mark.parametrize(
    ("epsilon", "rate", "count"), thinned([(1, 0.3, 3), (1, 0.1, 1), (2, 0.5, 2), (3, 0.2, 4)], 4)
)
def test_success_below_a_sample_is_that_of_the_best_test(
    epsilon: int, rate: float, count: int
) -> None:
    high = 1 / (1 + math.exp(-epsilon))
    without = [1 - high, high]
    with_row = [rate * a + (1 - rate) * b for a, b in zip(without[::-1], without, strict=True)]
    p, q = (
        np.array([math.prod(each) for each in product(law, repeat=count)])
        for law in (with_row, without)
    )
    found = success(f"notion: pure, epsilon: {epsilon}, count: {count}", str(rate))
    for baseline, each in zip(BASELINES, found, strict=True):
        truth = best_test(p, q, float(baseline))
        assert truth * (1 - 1e-12) <= each <= truth * (1 + 2e-4)


@pytest.mark.parametrize(("sigma", "rate"), thinned([(1, 0.1), (0.6, 0.4), (2, 0.5)]))
def test_success_against_gaussian_noise_below_a_sample(sigma: float, rate: float) -> None:
    found = success(f"mechanism: gaussian, sigma: {sigma}, sensitivity: 1", str(rate))
    for baseline, each in zip(map(float, BASELINES), found, strict=True):
        truth = (1 - rate) * baseline + rate * norm.cdf(norm.ppf(baseline) + 1 / sigma)
        assert truth * (1 - 1e-12) <= each <= truth * (1 + 1e-5)


@pytest.mark.slow
def test_success_where_rows_are_replaced_has_no_order() -> None:
    stated = "guarantees: [{notion: pure, epsilon: 1, relation: unbounded}]"
    for baseline, each in zip(BASELINES, success(stated, "0.5", "bounded"), strict=True):
        # The worst pair of two rows is the same both ways.
        assert float(baseline) < each < 1
