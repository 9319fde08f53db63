"""Randomized response: its least ρ and μ against 50 digits, for few values and for many."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from asked import bound, report, spec
from mpmath import mp
from reference import orders
from reference.finite_laws import worse

from dpcompose.core.mechanisms import FORMS
from dpcompose.core.mechanisms.randomized_response import RandomizedResponse
from dpcompose.curves.families.randomized_response_loss import KaryResponse

F0 = Fraction(0)
CASES = [(2, "1"), (3, "1"), (4, "1"), (10, "1"), (50, "1.5"), (1000, "0.01"), (10**6, "3")]


@pytest.mark.slow
@pytest.mark.parametrize(("k", "epsilon"), CASES)
def test_rho_is_the_largest_divergence_over_order(k: int, epsilon: str) -> None:
    with mp.workdps(orders.DIGITS):
        x = orders.number(Fraction(epsilon))
        whole = mp.exp(x) + k - 1

        def log_moment(order: Any) -> Any:
            gain = mp.expm1((order - 1) * x) * -mp.expm1(-order * x)
            return mp.log1p(gain * mp.exp(x) / whole)

        truth = orders.largest_ratio(log_moment)
        assert 0 <= orders.excess(KaryResponse(k, Fraction(epsilon)).rho(), truth) < 2e-6


@pytest.mark.parametrize(("k", "epsilon"), CASES)
def test_mu_lies_below_both_breaks(k: int, epsilon: str) -> None:
    with mp.workdps(orders.DIGITS):
        x = orders.number(Fraction(epsilon))
        whole = mp.exp(x) + k - 1
        truth = orders.largest_mu([(1 / whole, 1 - mp.exp(x) / whole)])
        assert 0 <= orders.excess(KaryResponse(k, Fraction(epsilon)).mu(), truth) < 1e-24


def test_rows_answer_by_themselves() -> None:
    one = KaryResponse(4, Fraction(1))
    noise = RandomizedResponse(4, Fraction(1))
    assert noise.rho(Fraction(9)) == 9 * one.rho()
    assert mu_of(noise, 9) == 3 * one.mu()


@pytest.mark.parametrize(("p", "q"), [("3/4", "1/2"), ("1/4", "3/5"), ("0.9", "0.1")])
@pytest.mark.parametrize("answers", [1, 2, 3])
def test_two_answers_with_chances_of_their_own(p: str, q: str, answers: int) -> None:
    """Against all outcomes; one answer is exact."""
    noise = two_answers(p, q)
    one, other = (
        [
            math.prod(chance if bit else 1 - chance for bit in bits)
            for bits in itertools.product((0, 1), repeat=answers)
        ]
        for chance in (float(Fraction(p)), float(Fraction(q)))
    )
    for at in (0, Fraction(1, 5), Fraction(1, 2), Fraction(1)):
        truth = worse(np.array(one), np.array(other), float(at))
        found = float(noise.loss(Fraction(1)).repeat(answers).delta(epsilon=at).upper)
        assert truth <= found * (1 + 1e-9) + 1e-12
        if answers == 1:
            assert found == pytest.approx(truth, abs=1e-9)
    epsilon = max(abs(math.log(x / y)) for x, y in zip(one, other, strict=True)) / answers
    assert float(noise.epsilon(Fraction(1)) or 0) == pytest.approx(epsilon, rel=1e-12)


def mu_of(noise: RandomizedResponse, rows: int) -> Fraction:
    mu = noise.mu(Fraction(rows))
    assert mu is not None
    return mu


def two_answers(p: str, q: str) -> RandomizedResponse:
    found = FORMS["randomized-response"].made(
        {"epsilon": F0, "lie": F0, "k": 2, "p": Fraction(p), "q": Fraction(q)}
    )
    assert isinstance(found, RandomizedResponse)
    return found


@pytest.mark.parametrize(
    ("p", "q"),
    [("3/4", "1/2"), ("1/2", "3/4"), ("1e-6", "1e-9"), ("0.999", "1e-7"), ("0.51", "0.5")],
)
def test_chances_of_their_own_have_a_rho_and_a_mu_of_their_own(p: str, q: str) -> None:
    """Against both orders of the values at many orders, and the one break of the trade-off."""
    noise = two_answers(p, q)
    with mp.workdps(orders.DIGITS):
        one, other = orders.number(Fraction(p)), orders.number(Fraction(q))

        def log_moment(order: Any) -> Any:
            return max(
                mp.log(a**order * b ** (1 - order) + (1 - a) ** order * (1 - b) ** (1 - order))
                for a, b in ((one, other), (other, one))
            )

        truth = orders.largest_ratio(log_moment)
        assert 0 <= orders.excess(noise.rho(Fraction(1)), truth) < 2e-6
        truth = orders.largest_mu([(min(one, other), 1 - max(one, other))])
        assert 0 <= orders.excess(mu_of(noise, 1), truth) < 1e-24
    pure = RandomizedResponse(2, noise.odds)
    assert noise.rho(Fraction(1)) < pure.rho(Fraction(1))
    assert mu_of(noise, 1) < mu_of(pure, 1)
    assert noise.rho(Fraction(4)) == 4 * noise.rho(Fraction(1))
    assert mu_of(noise, 4) == 2 * mu_of(noise, 1)


def test_two_answers_of_equal_odds_are_plain_randomized_response() -> None:
    assert type(two_answers("9/10", "1/10")) is RandomizedResponse
    nearly = two_answers("9/10", "0.1000000001")
    assert float(mu_of(nearly, 1)) == pytest.approx(2.5631031310892, rel=1e-8)
    assert float(nearly.rho(Fraction(1))) == pytest.approx(1.7577796618690, rel=1e-6)


@pytest.mark.parametrize(
    ("p", "q"), [("1/2", "1/2"), ("1e-400", "1e-300"), ("1/2", "0.4999999999")]
)
def test_chances_at_the_edges_have_a_rho_and_a_mu(p: str, q: str) -> None:
    noise = two_answers(p, q)
    pure = RandomizedResponse(2, noise.odds)
    assert 0 <= noise.rho(Fraction(1)) <= pure.rho(Fraction(1))
    assert 0 <= mu_of(noise, 1) <= mu_of(pure, 1)


@pytest.mark.parametrize("budget", ["rho: 0.14557", "mu: 0.6745"])
def test_a_budget_in_another_notion_counts_both_chances(budget: str) -> None:
    """By the pure ε alone ρ would be 0.2310 and μ 0.8615."""
    one = "mechanism: randomized-response, k: 2, p: 3/4, q: 1/2"
    verdict = report(spec(one, protect="bounded", more=f"budget: {{{budget}}}")).verdict
    assert verdict is not None and verdict.ok
    assert verdict.slack is not None and verdict.slack < Fraction(1, 10**4)


@pytest.mark.parametrize(("k", "lie"), [(2, "1/2"), (4, "1/5"), (10, "1/100"), (3, "1")])
def test_a_chance_to_lie_gives_the_odds(k: int, lie: str) -> None:
    found = bound(spec(f"mechanism: randomized-response, k: {k}, lie: {lie}", protect="bounded"))
    uniform = float(Fraction(lie)) / k
    odds = (1 - float(Fraction(lie)) + uniform) / uniform
    assert float(found) == pytest.approx(math.log(odds), rel=1e-12)
