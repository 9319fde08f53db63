"""Randomized response: its least ρ and μ against 50 digits, for few values and for many."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from mpmath import mp
from reference import orders

import dpcompose
from dpcompose.core.mechanisms.randomized_response import RandomizedResponse
from dpcompose.curves.families.randomized_response_loss import KaryResponse
from dpcompose.report import Report

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
    assert noise.mu(Fraction(9)) == 3 * one.mu()


def answered(more: str) -> Report:
    return dpcompose.analyze(
        "dpcompose: 1\nprotect: bounded\ndatasets: {rows: {}}\nmechanisms:\n"
        f"  - {{name: a, reads: rows, mechanism: randomized-response, {more}}}\n"
    )


@pytest.mark.parametrize(("k", "lie"), [(2, "1/2"), (4, "1/5"), (10, "1/100"), (3, "1")])
def test_a_chance_to_lie_gives_the_odds(k: int, lie: str) -> None:
    found = answered(f"k: {k}, lie: {lie}")
    uniform = float(Fraction(lie)) / k
    odds = (1 - float(Fraction(lie)) + uniform) / uniform
    assert found.bound is not None
    assert float(found.bound.value) == pytest.approx(math.log(odds), rel=1e-12)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("k: 2", "needs `epsilon` or `lie`"),
        ("k: 2, lie: 0", "`lie` must be above 0"),
        ("k: 2, lie: 3/2", "at most 1"),
        ("k: 2, lie: 1/2, epsilon: 1", "exclude each other"),
    ],
)
def test_what_is_no_answer_is_refused(more: str, says: str) -> None:
    found = answered(more)
    assert found.status == "invalid"
    (fault,) = [each for each in found.findings if each.level == "error"]
    assert says in fault.message and fault.span is not None and fault.span.line == 5
