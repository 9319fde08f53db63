"""The theorems on samples by what they say: chances are added up in 40 digits."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from core.theorems.for_readers import renyi_at_delta
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


# --- conversions at a δ --------------------------------------------------------------------------


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
    assert float(mp.log(ratio)) == pytest.approx(float(poisson_replaced(u, b, q)), rel=1e-9)


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
