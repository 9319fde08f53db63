"""The theorems on profiles, conversions at a δ and samples, against what they say, by definition.

Nothing here uses the tool's own arithmetic: chances are added up in 40 digits.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from core.theorems.for_readers import (
    bounded_range,
    dominating_pairs,
    gaussian_curve,
    optimal_composition,
    profile_on_disjoint,
    renyi_at_delta,
    zcdp_at_delta,
)
from dpcompose.core.theorems.sampling import (
    amplified,
    poisson_replaced,
    sample_without_replacement,
)

F = Fraction
Law = Sequence[Any]
#: What twelve printed digits, rounded up, may add.
DIGITS = mp.mpf(10) ** -10

rates = st.fractions(min_value=F(1, 100), max_value=1, max_denominator=100)
epsilons = st.fractions(min_value=0, max_value=4, max_denominator=20)
deltas = st.fractions(min_value=0, max_value=F(1, 2), max_denominator=50)


@pytest.fixture(autouse=True)
def forty_digits() -> Iterable[None]:
    with mp.workdps(40):
        yield


def real(value: Fraction) -> Any:
    return mp.mpf(value.numerator) / value.denominator


def delta_of(first: Law, second: Law, epsilon: Any) -> Any:
    """The largest P(S) - e^ε·Q(S), outcome by outcome."""
    factor = mp.exp(epsilon)
    return mp.fsum(max(mp.mpf(0), p - factor * q) for p, q in zip(first, second, strict=True))


def worst_delta(first: Law, second: Law, epsilon: Any) -> Any:
    return max(delta_of(first, second, epsilon), delta_of(second, first, epsilon))


def answer(epsilon: Fraction, delta: Fraction) -> tuple[Law, Law]:
    """The worst (ε, δ)-DP mechanism: gives all away with chance δ, else answers one bit."""
    e, d = real(epsilon), real(delta)
    truth = 1 / (1 + mp.exp(-e))
    one = [d, (1 - d) * truth, (1 - d) * (1 - truth), mp.mpf(0)]
    return one, one[::-1]


def product(laws: Iterable[Law]) -> Law:
    return [mp.fprod(each) for each in itertools.product(*laws)]


# --- composition ---------------------------------------------------------------------------------


@pytest.mark.slow
@given(st.lists(st.tuples(epsilons, deltas), min_size=1, max_size=4), deltas)
@settings(max_examples=60, deadline=None)
def test_optimal_composition_is_that_of_the_worst_mechanisms(
    stated: list[tuple[Fraction, Fraction]], delta: Fraction
) -> None:
    found = optimal_composition(stated, delta)
    laws = [answer(*each) for each in stated]
    first, second = product(one for one, _ in laws), product(other for _, other in laws)
    if found is None:
        assert delta_of(first, second, 1000) > real(delta)
        return
    assert delta_of(first, second, real(found)) <= real(delta) + mp.mpf(10) ** -35
    if found > F(1, 10**6):
        assert delta_of(first, second, real(found) * (1 - DIGITS)) > real(delta)


def test_optimal_composition_of_the_deployments() -> None:
    assert optimal_composition([(F("0.05"), F(0))] * 20, F("1e-3")) == pytest.approx(
        F("0.497986408125"), rel=1e-11
    )
    assert optimal_composition([(F(1), F(0))] * 2, F("0.1")) == F("1.7928412378")
    assert optimal_composition([(F(0), F("0.1"))] * 2, F("0.18")) is None
    assert optimal_composition([(F(0), F("0.1"))] * 2, F("0.19")) == 0
    four = [(F("1.2"), F("1e-10"))] * 4
    assert optimal_composition(four, 1 - (1 - F("1e-10")) ** 4) == F("4.8")


@pytest.mark.slow
@given(st.lists(st.fractions(F(1, 20), F(19, 20), max_denominator=20), max_size=4), epsilons)
def test_dominating_pairs_multiply(truths: list[Fraction], epsilon: Fraction) -> None:
    parts = [((p, 1 - p), (1 - p, p)) for p in truths]
    factor = 1 + epsilon
    first = product([[real(p), real(1 - p)] for p in truths])
    second = product([[real(1 - p), real(p)] for p in truths])
    exact = dominating_pairs(parts, factor)
    assert abs(real(exact) - delta_of(first, second, mp.log(real(factor)))) < mp.mpf(10) ** -35


def test_an_adaptive_mechanism_is_dominated_by_the_product() -> None:
    """The second mechanism is chosen by the output of the first, each dominated by one pair."""
    pair = ((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4)))
    first = ((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4)))
    after = {0: ((F(1, 4), F(3, 4)), (F(3, 4), F(1, 4))), 1: ((F(1, 2), F(1, 2)),) * 2}
    joint = [(p * x, q * y) for i, (p, q) in enumerate(first) for x, y in after[i]]
    for factor in (F(1), F(2), F(3), F(5), F(9)):
        together = dominating_pairs((pair, pair), factor)
        assert dominating_pairs((joint,), factor) <= together


def test_the_profile_of_disjoint_blocks_is_the_largest() -> None:
    north, south = ((F(0), F("0.1")), (F(1), F("0.01"))), ((F(1, 2), F("0.05")), (F(2), F(0)))
    found = profile_on_disjoint((north, south))
    assert found == ((F(1, 2), F("0.1")), (F(1), F("0.05")), (F(2), F("0.01")))
    assert profile_on_disjoint((north,)) == north


# --- conversions at a δ --------------------------------------------------------------------------


def gaussian_delta(mu: Any, epsilon: Any) -> Any:
    with mp.workdps(60):
        return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


def by_definition(mu: Any, epsilon: Any) -> Any:
    """The integral of the positive part of N(μ, 1) - e^ε·N(0, 1)."""
    start = epsilon / mu + mu / 2
    return mp.quad(
        lambda x: mp.npdf(x, mu) - mp.exp(epsilon) * mp.npdf(x), [start, start + 3, start + 12]
    )


@pytest.mark.slow
@pytest.mark.parametrize("mu_squared", ["0.01", "0.25", "4"])
@pytest.mark.parametrize("delta", ["0.01", "1e-6", "1e-30"])
def test_gaussian_curve(mu_squared: str, delta: str) -> None:
    found = gaussian_curve(F(mu_squared), F(delta))
    assert found is not None
    mu, wanted = mp.sqrt(real(F(mu_squared))), real(F(delta))
    assert gaussian_delta(mu, real(found)) <= wanted
    if found:
        assert gaussian_delta(mu, real(found) * (1 - DIGITS)) > wanted
    near = real(found) + mp.mpf("0.1")
    assert by_definition(mu, near) == pytest.approx(gaussian_delta(mu, near), rel=1e-6)


@pytest.mark.parametrize("rho", ["0.001", "0.5", "30"])
@pytest.mark.parametrize("delta", ["0.01", "1e-6", "1e-20"])
def test_zcdp_at_delta_is_the_best_order(rho: str, delta: str) -> None:
    found = zcdp_at_delta(F(rho), F(delta))
    assert found is not None
    r, wanted = real(F(rho)), real(F(delta))

    def at(order: Any) -> Any:
        return order * r + mp.log(1 - 1 / order) - mp.log(order * wanted) / (order - 1)

    orders = [1 + mp.mpf(10) ** (mp.mpf(i) / 50) for i in range(-150, 250)]
    best = min(at(order) for order in orders)
    assert real(found) <= max(best, 0) * (1 + DIGITS)
    assert real(found) >= max(best, 0) * (1 - mp.mpf("0.01")) - mp.mpf(10) ** -12
    # Gaussian noise with this ρ has this much at least.
    assert gaussian_delta(mp.sqrt(2 * r), real(found)) <= wanted


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(2, 200), epsilons), min_size=1, max_size=5, unique_by=id))
@settings(deadline=None)
def test_renyi_at_delta_is_the_best_of_the_orders_or_better(
    points: list[tuple[int, Fraction]],
) -> None:
    curve = [(F(order), epsilon) for order, epsilon in dict(points).items()]
    found = renyi_at_delta(curve, F("1e-6"))
    assert found is not None
    at = [
        real(e) + mp.log(1 - 1 / real(a)) - mp.log(real(a) * mp.mpf("1e-6")) / (real(a) - 1)
        for a, e in curve
    ]
    assert real(found) <= max(min(at), 0) * (1 + DIGITS)


@pytest.mark.parametrize("order", ["1.1", "2", "7.5", "100"])
def test_the_inequality_behind_the_conversion(order: str) -> None:
    """max(0, 1 - e^(ε-L)) ≤ e^((α-1)(L-ε))/(α-1)·(1-1/α)^α, with equality at one point."""
    a = mp.mpf(order)
    closest = mp.inf
    for i in range(-400, 400):
        x = mp.mpf(i) / 50 + mp.log(a / (a - 1))
        bound = mp.exp((a - 1) * x) / (a - 1) * (1 - 1 / a) ** a
        closest = min(closest, bound - max(mp.mpf(0), 1 - mp.exp(-x)))
    assert abs(closest) < mp.mpf(10) ** -30


@pytest.mark.parametrize("eta", ["0.1", "1", "5"])
def test_bounded_range(eta: str) -> None:
    """Two outcomes with losses t and t - η; more outcomes are mixtures of such."""
    n, rho = real(F(eta)), real(bounded_range(F(eta)))
    grid = [n * i / 40 for i in range(1, 40)]
    reached = dict.fromkeys((mp.mpf(0), n / 3, -n / 2), mp.mpf(0))
    for t in grid:
        chance = (mp.exp(n) - mp.exp(t)) / (mp.exp(n) - 1)
        p, losses = [chance, 1 - chance], [t, t - n]
        q = [x * mp.exp(-loss) for x, loss in zip(p, losses, strict=True)]
        assert abs(mp.fsum(q) - 1) < mp.mpf(10) ** -35
        for order in (mp.mpf("1.01"), mp.mpf(2), mp.mpf(10), mp.mpf(80)):
            moment = mp.fsum(x**order * y ** (1 - order) for x, y in zip(p, q, strict=True))
            assert mp.log(moment) / (order - 1) <= rho * order * (1 + DIGITS)
        for epsilon in reached:
            reached[epsilon] = max(reached[epsilon], delta_of(p, q, epsilon))
    for epsilon, found in reached.items():
        formula = (mp.exp(n / 2) - mp.exp(epsilon / 2)) ** 2 / (mp.exp(n) - 1)
        assert found <= formula * (1 + DIGITS)
        assert found >= formula * mp.mpf("0.98")


# --- samples -------------------------------------------------------------------------------------


def mixed(rate: Any, drawn: Law, rest: Law) -> Law:
    return [(1 - rate) * p + rate * q for p, q in zip(rest, drawn, strict=True)]


@pytest.mark.slow
@given(epsilons, deltas, rates)
@settings(max_examples=60, deadline=None)
def test_poisson_sample(epsilon: Fraction, delta: Fraction, rate: Fraction) -> None:
    """One row, which the worst (ε, δ)-DP mechanism sees or does not see; the bound is attained."""
    without, drawn = answer(epsilon, delta)
    release = mixed(real(rate), drawn, without)
    less_epsilon, less_delta = amplified((epsilon, delta), rate)
    found = worst_delta(release, without, real(less_epsilon))
    assert found <= real(less_delta) + mp.mpf(10) ** -35
    assert found >= real(less_delta) * (1 - DIGITS) - DIGITS * delta_of(drawn, without, 0)
    assert less_epsilon <= epsilon or less_epsilon == pytest.approx(float(epsilon), rel=1e-11)


def test_two_on_one_sample_are_amplified_once() -> None:
    q = F("0.1")
    once = amplified((F(2), F(0)), q)[0]
    assert once == pytest.approx(0.494029, abs=1e-6)
    one = amplified((F(1), F(0)), q)[0]
    assert one == pytest.approx(0.158565, abs=1e-6)
    drawn, without = (product([each, each]) for each in answer(F(1), F(0)))
    release = mixed(real(q), drawn, without)
    # Two times the amplified loss is not true of two mechanisms that share a sample.
    assert delta_of(release, without, real(2 * one)) > mp.mpf("0.01")
    assert delta_of(release, without, real(once)) < mp.mpf(10) ** -30


@pytest.mark.slow
@given(
    st.lists(st.tuples(*[st.integers(1, 30)] * 3), min_size=2, max_size=4),
    rates,
)
@settings(max_examples=80, deadline=None)
def test_poisson_replaced(weights: list[tuple[int, int, int]], rate: Fraction) -> None:
    """Any three laws: without the row, with it, with its replacement."""
    totals = [sum(column) for column in zip(*weights, strict=True)]
    laws = [[mp.mpf(row[i]) / totals[i] for row in weights] for i in range(3)]
    without, old, new = laws

    def loss(first: Law, second: Law) -> Any:
        return max(abs(mp.log(p / q)) for p, q in zip(first, second, strict=True))

    def up(value: Any) -> Fraction:
        return F(mp.nstr(value, 30)) + F(1, 10**25)

    single, both = up(max(loss(old, without), loss(new, without))), up(loss(old, new))
    found = poisson_replaced(single, both, rate)
    q = real(rate)
    assert loss(mixed(q, old, without), mixed(q, new, without)) <= real(found)
    assert found <= both
    assert found <= 2 * amplified((single, F(0)), rate)[0]


def test_poisson_replaced_is_attained() -> None:
    """A rare outcome where the two rows pull in opposite ways as far as they may."""
    u, b, q, rare = F(1), F("1.5"), F("0.2"), mp.mpf(10) ** -9
    without = [rare, 1 - rare]
    old, new = ([rare * mp.exp(x), 1 - rare * mp.exp(x)] for x in (real(u), real(u - b)))
    q_ = real(q)
    ratio = mixed(q_, old, without)[0] / mixed(q_, new, without)[0]
    assert mp.log(ratio) == pytest.approx(poisson_replaced(u, b, q), rel=1e-9)


def subsets(rows: Sequence[int], size: int) -> list[tuple[int, ...]]:
    return list(itertools.combinations(rows, size))


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("epsilon", ["0.5", "2"])
@pytest.mark.parametrize("delta", ["0", "0.1"])
def test_sample_without_replacement(size: int, epsilon: str, delta: str) -> None:
    """Whether a certain row is in the sample, told by the worst (ε, δ)-DP answer; attained."""
    e, d = F(epsilon), F(delta)
    away, there = answer(e, d)

    def release(table: Sequence[int]) -> Law:
        drawn = subsets(table, size)
        laws = [there if 1 in each else away for each in drawn]
        return [mp.fsum(column) / len(drawn) for column in zip(*laws, strict=True)]

    less_epsilon, less_delta = sample_without_replacement((e, d), size, 4)
    first, second = release([1, 0, 0, 0]), release([0, 0, 0, 0])
    found = worst_delta(first, second, real(less_epsilon))
    assert found <= real(less_delta) + mp.mpf(10) ** -35
    assert found >= real(less_delta) - DIGITS
    # A lower bound of the number of rows gives more, never less.
    assert sample_without_replacement((e, d), size, 8)[0] < less_epsilon


def test_a_sum_over_a_sample_without_replacement() -> None:
    """Geometric noise on the sum of the drawn rows: not the worst mechanism, so strictly less."""
    scale, reach = mp.mpf(1), 40

    def noisy(total: int) -> Law:
        weights = [mp.exp(-abs(n - total) / scale) for n in range(-reach, reach)]
        return [each / mp.fsum(weights) for each in weights]

    def release(table: Sequence[int]) -> Law:
        laws = [noisy(sum(each)) for each in subsets(table, 2)]
        return [mp.fsum(column) / len(laws) for column in zip(*laws, strict=True)]

    bound = real(sample_without_replacement((F(1), F(0)), 2, 4)[0])
    for others in itertools.product((0, 1), repeat=3):
        assert worst_delta(release([1, *others]), release([0, *others]), bound) < mp.mpf(10) ** -12


def test_bounds_are_monotone() -> None:
    checks: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = [
        (gaussian_curve, [(F(1), F("1e-6")), (F(1), F("1e-9")), (F(2), F("1e-9"))]),
        (zcdp_at_delta, [(F(1), F("1e-6")), (F(1), F("1e-9")), (F(2), F("1e-9"))]),
        (lambda q: amplified((F(1), F(0)), q)[0], [(F("0.1"),), (F("0.2"),), (F(1),)]),
    ]
    for bound, arguments in checks:
        values = [bound(*each) for each in arguments]
        assert values == sorted(set(values))
    for none in (gaussian_curve(F(1), F(0)), zcdp_at_delta(F(1), F(0))):
        assert none is None
