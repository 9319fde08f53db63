"""Samples that are drawn from groups of rows in turn, and banded matrices that read them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from asked import numbers, spec
from reference.finite_laws import worse

import dpcompose

F = Fraction


AT = "report: {delta: 1e-6, epsilon: [1/5, 1]}"


def groups(
    mechanism: str, keys: str = "poisson: 1/10, cycle: 40", protect: str = "zero-out", at: str = AT
) -> str:
    """A mechanism on samples of groups in turn."""
    made = f"batch: {{from: rows, map: {{kind: sample, {keys}}}}}"
    return spec(mechanism, protect=protect, datasets=made, more=at)


def test_a_row_meets_one_step_of_each_round() -> None:
    gaussian = "mechanism: gaussian, sigma: 3/2, sensitivity: 1"
    plain = numbers(groups(f"{gaussian}, count: 25", "poisson: 1/10"))
    assert numbers(groups(f"{gaussian}, count: 1000")) == plain
    assert numbers(groups(f"{gaussian}, count: 961")) == plain  # a round that is begun counts
    assert numbers(groups(f"{gaussian}, count: 960")) != plain
    matrix = "mechanism: matrix, sigma: 3/2, column_norm: 1, participations: 25, bands: 40"
    assert numbers(groups(matrix)) == plain
    assert numbers(groups(matrix, protect="unbounded")) == plain


@pytest.mark.parametrize(
    ("epsilon", "either"),
    [("1/20", (0.0261436629589, 0.0105725813538)), ("1/5", (0.00988931448519, 0.0))],
)
def test_one_round_of_a_gaussian(epsilon: str, either: tuple[float, float]) -> None:
    """δ in both orders, by the closed form: the larger one is the bound."""
    matrix = "mechanism: matrix, sigma: 1, column_norm: 1, participations: 1, bands: 2"
    [found] = map(float, numbers(groups(matrix, at=f"report: {{epsilon: {epsilon}}}")))
    assert found == pytest.approx(max(either), rel=1e-5)
    assert found * (1 + 1e-11) >= max(either)


def test_all_outcomes_of_two_rounds() -> None:
    """Each step tells one bit; the row of its group, if drawn, moves its odds by e."""
    rate, high = 0.3, math.e / (1 + math.e)
    absent = np.array([high, 1 - high])
    drawn = rate * absent[::-1] + (1 - rate) * absent
    at = (0.0, 0.2, 0.5)
    text = groups(
        "notion: pure, epsilon: 1, count: 4",
        "poisson: 3/10, cycle: 2",
        "unbounded",
        f"report: {{epsilon: {list(at)}}}",
    )
    # The steps of the row's group are two.
    one, other = (np.outer(law, law).ravel() for law in (drawn, absent))
    for epsilon, delta in zip(at, numbers(text), strict=True):
        assert worse(one, other, epsilon) <= float(delta) * (1 + 1e-9) + 1e-12


def test_a_cycle_is_declared_and_shown() -> None:
    found = dpcompose.analyze(groups("mechanism: gaussian, sigma: 2, sensitivity: 1, count: 80"))
    assert any("40 groups by a rule on the row alone" in each.says for each in found.assumptions)
    assert not found.findings
