"""The closed forms for composing (ε, δ): printed numbers, and never below the optimum."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from mpmath import mp
from reference import lattice

from dpcompose.curves.backends.closed_forms.stated_pairs import (
    advanced,
    basic,
    closed_form,
    remaining,
)


def f(text: str) -> Fraction:
    return Fraction(text)


def test_printed_numbers() -> None:
    twenty = [(f("0.05"), f("0"), 20)]
    assert closed_form(twenty, f("1e-3")) == pytest.approx(0.7613352285668463, rel=1e-14)
    hundred = [(f("0.1"), f("0"), 100)]
    assert closed_form(hundred, f("1e-6")) == pytest.approx(5.756105519335732, rel=1e-14)
    assert advanced(hundred, f("1e-6")) == pytest.approx(4.77456758810799 * 1.32, rel=2e-3)
    assert basic(hundred, f("1e-6")) == 10
    # LinkedIn: (4.8, 4e-10).
    assert basic([(f("1.2"), f("1e-10"), 4)], f("4e-10")) == f("4.8")


def test_unequal_ones_by_their_formulas() -> None:
    stated = [(f("0.2"), f("0"), 30), (f("1"), f("0"), 2)]
    squares, delta = 30 * 0.04 + 2, 1e-5
    drift = 30 * 0.2 * math.tanh(0.1) + 2 * math.tanh(0.5)
    growth = 30 * 0.2 * math.expm1(0.2) + 2 * math.expm1(1)
    root = math.sqrt(2 * squares * math.log(1 / delta))
    third = math.sqrt(2 * squares * math.log(math.e + math.sqrt(squares) / delta))
    assert advanced(stated, f("1e-5")) == pytest.approx(growth + root, rel=1e-13)
    assert closed_form(stated, f("1e-5")) == pytest.approx(
        min(8, drift + root, drift + third), rel=1e-13
    )


def test_what_of_delta_remains() -> None:
    leaking = [(f("0.1"), f("0.01"), 3)]
    mass = 1 - f("0.99") ** 3
    assert basic(leaking, f("0.03")) == f("0.3")
    assert basic(leaking, mass) == f("0.3")
    assert basic(leaking, mass - f("1e-9")) is None
    assert advanced(leaking, mass) is None
    assert closed_form(leaking, mass) == f("0.3")
    assert closed_form(leaking, mass - f("1e-9")) is None
    left = remaining(leaking, f("0.5"))
    assert 1 - (1 - left) * f("0.99") ** 3 == f("0.5")


def test_many_leaks_are_rounded_down() -> None:
    # 10**6 of 1e-13 leave 9e-7 of 1e-6, up to the second order.
    left = remaining([(f("0.1"), f("1e-13"), 10**6)], f("1e-6"))
    exact = 1 - (1 - f("1e-6")) / (1 - f("1e-13")) ** 1
    assert left < exact
    # 10**6 times -ln(1-1e-13) is 1e-7 + 5e-21 + …
    by_logs = -math.expm1(math.log1p(-1e-6) + 1e-7)
    assert float(left) == pytest.approx(by_logs, rel=1e-9)
    assert remaining([(f("0.1"), f("0.5"), 10**6)], f("0.9")) < 0


def test_extremes() -> None:
    assert basic([], f("0")) == 0
    assert closed_form([], f("1e-6")) == 0
    assert advanced([(f("1"), f("0"), 30)], f("0")) is None
    assert closed_form([(f("1"), f("0"), 30)], f("0")) == 30
    assert advanced([(f("1e7"), f("0"), 30)], f("0.1")) is None
    assert closed_form([(f("1e7"), f("0"), 30)], f("0.1")) == 30 * 10**7
    tiny = closed_form([(f("1e-400"), f("0"), 1000)], f("1e-6"))
    assert tiny is not None
    assert 0 < tiny < f("1e-396")


def test_never_below_the_optimum() -> None:
    rng = random.Random(5)
    for _ in range(80):
        stated = [
            (Fraction(rng.randint(1, 200), 100), Fraction(rng.choice([0, 0, 1]), 10**4), 1)
            for _ in range(rng.randint(1, 6))
        ]
        delta = Fraction(1, 10 ** rng.randint(1, 12))
        law = lattice.Law()
        for epsilon, own, _ in stated:
            law = law * lattice.response(epsilon, own)
        optimum = law.epsilon(delta)
        for found in (basic(stated, delta), advanced(stated, delta), closed_form(stated, delta)):
            with mp.workdps(lattice.DIGITS):
                assert found is None or lattice.exact(found) >= optimum
        assert (basic(stated, delta) is None) == math.isinf(optimum)
