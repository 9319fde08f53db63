"""Responses added one after the other: against all their outcomes, written out, and transforms."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpcompose.core.profile import lattice
from dpcompose.core.profile.parts import Composition, Response
from dpcompose.core.profile.shifted_sums import NOTHING_ADDED, Row
from dpcompose.core.profile.solve import delta_at, epsilon_at

F = Fraction
ROWS = [Row(3, 0.75, 0.25, 0.0), Row(5, 0.5, 0.25, 0.25, 2), Row(8, 0.625, 0.0, 0.375)]


def test_every_outcome_has_the_product_of_its_chances() -> None:
    found = NOTHING_ADDED.plus(ROWS)
    every = [row for row in ROWS for _ in range(row.count)]
    expected: dict[int, Fraction] = {}
    for choice in product(range(3), repeat=len(every)):
        down, chance = 0, F(1)
        for row, which in zip(every, choice, strict=True):
            down += (0, row.down, row.down - 1)[which]
            chance *= F((row.top, row.under, row.over)[which])
        expected[down] = expected.get(down, F(0)) + chance
    assert found.lost == 0
    for i, p in enumerate(found.p.tolist()):
        assert p == pytest.approx(float(expected.get(found.first + i, F(0))), rel=1e-15, abs=0)
    # Upwards from 7 steps below the greatest sum.
    window = found.within(-7, 10)
    below = [float(expected.get(7 - j, F(0))) for j in range(10)]
    np.testing.assert_allclose(window, below, rtol=1e-15)


def test_what_is_left_out_is_counted() -> None:
    rows = [Row(50 + i, 0.5, 0.5, 0.0) for i in range(200)]
    found = NOTHING_ADDED.plus(rows)
    assert len(found.p) < sum(row.down for row in rows)
    assert 0 < found.lost < 1e-18
    assert math.fsum(found.p.tolist()) + found.lost == pytest.approx(1, abs=1e-13)


def true_delta(every: list[Fraction], epsilon: float) -> float:
    """δ at an ε, of all outcomes of some responses."""
    total = 0.0
    for signs in product((1, -1), repeat=len(every)):
        pairs = list(zip(signs, every, strict=True))
        loss = float(sum(s * e for s, e in pairs))
        if loss > epsilon:
            chance = math.prod(1 / (1 + math.exp(-s * float(e))) for s, e in pairs)
            total += chance * -math.expm1(epsilon - loss)
    return total


@pytest.mark.slow
@pytest.mark.parametrize(
    "every",
    [
        [F(100 + i, 1003) for i in range(14)],
        [F(1, i + 7) for i in range(14)],
        [F(2), *(F(10 + i, 97) for i in range(12))],
    ],
)
def test_compositions_are_those_of_all_outcomes(
    every: list[Fraction], monkeypatch: pytest.MonkeyPatch
) -> None:
    composition = Composition(tuple((Response(epsilon), 1) for epsilon in every))
    at = sum(every, F(0)) / 3
    found = delta_at(composition, at)
    truth = true_delta(every, float(at))
    assert truth * (1 - 1e-12) <= float(found.upper) <= truth * (1 + 1e-6)
    one = epsilon_at(composition, F(1, 10**6))
    monkeypatch.setattr(lattice, "_SHIFTS", 0)
    other = epsilon_at(composition, F(1, 10**6))
    assert one is not None and other is not None
    assert float(one.upper) == pytest.approx(float(other.upper), rel=1e-11)


@pytest.mark.parametrize("gaussian", [F(0), F(1, 50)])
def test_many_are_the_same_by_transforms(
    gaussian: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    responses = tuple((Response(F(1000 + i, 100003)), 1 + i % 3) for i in range(60))
    composition = Composition(responses, gaussian)
    one = epsilon_at(composition, F(1, 10**6))
    monkeypatch.setattr(lattice, "_SHIFTS", 0)
    other = epsilon_at(composition, F(1, 10**6))
    assert one is not None and other is not None
    assert float(one.upper) == pytest.approx(float(other.upper), rel=1e-11)
    assert one.lower is not None and one.lower <= other.upper
    assert other.lower is not None and other.lower <= one.upper
