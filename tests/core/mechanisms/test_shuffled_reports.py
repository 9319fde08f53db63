"""Shuffled reports: against the contract's numbers and against all outcomes of small cases."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from asked import bound, numbers, spec
from scipy.stats import binom

from dpcompose.core.mechanisms.shuffled_reports import ShuffledReports
from dpcompose.curves import Curve

F = Fraction
ONE = F(1)

Law = dict[tuple[int, ...], float]


def shuffled_spec(mechanism: str, more: str = "") -> str:
    """A mechanism on a thousand shuffled reports."""
    datasets = "s: {from: rows, map: {kind: shuffle, reports: 1000}}"
    return spec(mechanism, protect="bounded", datasets=datasets, more=more)


def delta(n: int, each: str, at: str, by_response: bool = False) -> float:
    loss = ShuffledReports(F(each), n, by_response).loss(ONE)
    return float(loss.delta(epsilon=F(at)).upper)


# --- numbers computed elsewhere, as sums over all numbers of clones -------------------------------


# --- all outcomes ---------------------------------------------------------------------------------


def shuffled(reports: list[list[float]]) -> Law:
    """The law of how often each output occurs."""
    found: Law = {}
    for outputs in itertools.product(range(len(reports[0])), repeat=len(reports)):
        counts = Counter(outputs)
        key = tuple(counts[each] for each in range(len(reports[0])))
        chance = math.prod(law[output] for law, output in zip(reports, outputs, strict=True))
        found[key] = found.get(key, 0) + chance
    return found


def hockey_stick(one: Law, other: Law, at: float) -> float:
    return sum(max(0.0, p - math.exp(at) * other[key]) for key, p in one.items())


def randomizer(rng: random.Random, inputs: int, outputs: int, each: float) -> list[list[float]]:
    """The laws of an ε-DP randomizer: the least ratio of two chances is e^-ε at most."""
    while True:
        laws = []
        for _ in range(inputs):
            weights = [
                math.exp(rng.choice((0.0, each, rng.uniform(0, each)))) for _ in range(outputs)
            ]
            laws.append([weight / sum(weights) for weight in weights])
        worst = max(
            abs(math.log(one / other))
            for a in laws
            for b in laws
            for one, other in zip(a, b, strict=True)
        )
        if worst <= each:
            return laws


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_no_bound_is_below_any_local_randomizer(n: int) -> None:
    rng, closest = random.Random(n), 0.0
    for each in ("1/2", "1", "2"):
        for _ in range(8):
            laws = randomizer(rng, 3, rng.choice((2, 3)), float(F(each)))
            rest = [rng.choice(laws) for _ in range(n - 1)]
            one, other = shuffled([laws[0], *rest]), shuffled([laws[1], *rest])
            for at in ("0", "1/4", "1/2", "1"):
                truth = hockey_stick(one, other, float(F(at)))
                bound = delta(n, each, at)
                assert truth <= bound * (1 + 1e-9) + 1e-12
                closest = max(closest, truth / bound if bound else 0.0)
    assert closest > 0.5


@pytest.mark.parametrize("k", [2, 3, 4])
def test_no_bound_is_below_randomized_response(k: int) -> None:
    closest = 0.0
    for each, n in itertools.product(("1/2", "1", "3"), (2, 3, 4)):
        odds = math.exp(float(F(each)))
        laws = [[(odds if y == x else 1) / (odds + k - 1) for y in range(k)] for x in range(k)]
        for rest in itertools.combinations_with_replacement(laws, n - 1):
            one, other = shuffled([laws[0], *rest]), shuffled([laws[1], *rest])
            for at in ("0", "1/5", "1/2", "1"):
                truth = hockey_stick(one, other, float(F(at)))
                bound = delta(n, each, at, by_response=True)
                assert truth <= bound * (1 + 1e-8) + 1e-12
                closest = max(closest, truth / bound if bound else 0.0)
    assert closest > (0.999999 if k == 2 else 0.5)  # two values, two reports: attained


def test_two_rows_replaced() -> None:
    """Randomized response over two values, two of three rows replaced, along all paths."""
    odds = math.e
    laws = [[odds / (odds + 1), 1 / (odds + 1)], [1 / (odds + 1), odds / (odds + 1)]]
    loss = ShuffledReports(ONE, 3, True).loss(F(2))
    for rest in laws:
        for a, b in itertools.product(itertools.product(laws, repeat=2), repeat=2):
            one, other = shuffled([*a, rest]), shuffled([*b, rest])
            for at in ("0", "1/2", "1", "3/2"):
                truth = hockey_stick(one, other, float(F(at)))
                assert truth <= float(loss.delta(epsilon=F(at)).upper) * (1 + 1e-9) + 1e-12


# --- laws -----------------------------------------------------------------------------------------


def test_more_reports_cost_less_and_none_more_than_one_alone() -> None:
    for by_response in (False, True):
        costs = [delta(n, "1", "1/10", by_response) for n in (1, 2, 10, 100, 1000)]
        assert costs == sorted(costs, reverse=True)
        alone = spec("notion: pure, epsilon: 1", protect="bounded", more="report: {epsilon: 1/10}")
        assert costs[0] <= float(numbers(alone)[0]) * (1 + 1e-8)
    assert all(delta(50, "1", at, True) <= delta(50, "1", at) for at in ("0", "1/10", "1/2"))


def test_many_reports_and_extreme_losses() -> None:
    for each, n, least, most in (
        ("1", 10**9, 5e-5, 1e-4),
        ("1/1000", 10, 0, 1e-3),
        ("1e-400", 9, 0, 0),
        ("29", 10**6, 0, 29),
        ("40", 10**9, 0, 40),
        ("8", 10**6, 0, 8),
    ):
        found = ShuffledReports(F(each), n, False).loss(ONE).epsilon(delta=F(1, 10**6))
        assert found is not None and found.upper <= F(each)
        assert least <= float(found.upper) <= most


def test_a_spec_with_shuffled_reports() -> None:
    at = "report: {delta: 1e-6}"
    alone = shuffled_spec("mechanism: randomized-response, epsilon: 1, k: 9", at)
    assert bound(alone) == 1
    assert float(numbers(alone)[0]) == pytest.approx(0.148670616355, rel=1e-4)
    stated = "notion: pure, epsilon: 1, local: true, relation: bounded, count: 4"
    local = shuffled_spec(stated, at)
    assert bound(local) == 4
    assert 0.182 * 1.5 < float(numbers(local)[0]) < 0.182 * 4


def test_a_sample_of_fixed_size_is_shuffled() -> None:
    text = spec(
        "mechanism: randomized-response, epsilon: 1",
        protect="bounded",
        root="{domain: fixed-size-table, size: 9000}",
        datasets="""some: {from: rows, map: {kind: sample, size: 1000, of: 9000}}
        s: {from: some, map: {kind: shuffle, reports: 1000}}""",
        more="report: {delta: 1e-6}",
    )
    assert float(bound(text)) == pytest.approx(math.log1p(math.expm1(1) / 9), rel=1e-9)
    assert float(numbers(text)[0]) < 0.15 / 5


def exact_of_two(each: float, n: int, rows: int, at: float) -> float:
    """δ of n shuffled answers of two values: how often the first one was given, for all tables."""
    p = 1 / (1 + math.exp(-each))
    laws = [
        np.convolve(
            binom(true, p).pmf(range(true + 1)), binom(n - true, 1 - p).pmf(range(n - true + 1))
        )
        for true in range(n + 1)
    ]
    return max(
        float(np.maximum(here - math.exp(at) * there, 0).sum())
        for i, here in enumerate(laws)
        for j, there in enumerate(laws)
        if 0 < abs(i - j) <= rows
    )


def counted(each: Fraction, n: int, rows: int) -> Curve:
    [found] = ShuffledReports(each, n, True, True).bounds(F(rows))
    return found


@pytest.mark.parametrize(("each", "n"), [("1", 2), ("1/2", 9), ("1", 40), ("3", 12), ("1/20", 25)])
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_two_answers_are_counted_exactly(each: str, n: int, rows: int) -> None:
    if rows > n:
        return
    found = counted(F(each), n, rows)
    for share in (F(0), F(1, 10), F(1, 3), F(3, 4)):
        at = float(F(each) * rows * share)
        true = exact_of_two(float(F(each)), n, rows, at)
        bound_there = float(found.delta(epsilon=at).upper)
        assert true * (1 - 1e-12) <= bound_there <= true * (1 + 5e-3) + 1e-8
        rough = ShuffledReports(F(each), n, True).loss(F(rows))
        assert bound_there <= float(rough.delta(epsilon=at).upper) * (1 + 1e-3) + 1e-9


def test_values_of_two_answers() -> None:
    """50 reports of ε₀ = 1, where two or five rows are replaced."""
    two, five = counted(ONE, 50, 2), counted(ONE, 50, 5)
    for found, at, value in (
        (two, "1e-3", 0.8393056),
        (two, "0.1", 0.0444400),
        (five, "1e-3", 2.5174862),
    ):
        epsilon = found.epsilon(delta=at)
        assert epsilon is not None
        assert value - 1e-6 <= float(epsilon.upper) <= value * (1 + 1e-3)


def test_more_answers_cost_less_and_more_rows_more() -> None:
    rng = random.Random(45)
    for _ in range(8):
        n, rows, each = rng.randint(6, 60), rng.randint(1, 5), F(rng.randint(1, 24), 8)
        at = float(each) * rng.uniform(0, rows)
        here = counted(each, n, rows).delta(epsilon=at).upper
        assert here <= counted(each, n, rows + 1).delta(epsilon=at).upper * (1 + F(1, 1000))
        more = counted(each, n + rng.randint(1, 9), rows).delta(epsilon=at).upper
        assert more <= here * (1 + F(1, 1000)) + F(1, 10**9)
        worse = counted(each + F(1, 8), n, rows).delta(epsilon=at).upper
        assert here <= worse * (1 + F(1, 1000)) + F(1, 10**9)


def test_many_answers_are_as_many_as_are_counted() -> None:
    """Beyond those the clones are known as well, and both hold."""
    clones, some = ShuffledReports(ONE, 5000, True, True).bounds(F(2))
    [few] = ShuffledReports(ONE, 300, True, True).bounds(F(2))
    assert some == few
    assert clones.delta(epsilon=0).upper < some.delta(epsilon=0).upper
