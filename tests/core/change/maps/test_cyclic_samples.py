"""Samples that are drawn from groups of rows in turn, and banded matrices that read them."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

import dpcompose

F = Fraction


def spec(mechanism: str, keys: str = "poisson: 1/10, cycle: 40", protect: str = "zero-out") -> str:
    return (
        f"dpcompose: 1\nprotect: {protect}\ndatasets:\n  rows: {{}}\n"
        f"  batch: {{from: rows, map: {{kind: sample, {keys}}}}}\n"
        f"mechanisms:\n  - {{name: a, reads: batch, {mechanism}}}\n"
        "report: {delta: 1e-6, epsilon: [1/5, 1]}\n"
    )


def numbers(text: str) -> list[Fraction | None]:
    found = dpcompose.analyze(text)
    assert found.status == "ok"
    return [each.value for each in (*found.at_delta, *found.at_epsilon)]


def test_a_row_meets_one_step_of_each_round() -> None:
    gaussian = "mechanism: gaussian, sigma: 3/2, sensitivity: 1"
    plain = numbers(spec(f"{gaussian}, count: 25", "poisson: 1/10"))
    assert numbers(spec(f"{gaussian}, count: 1000")) == plain
    assert numbers(spec(f"{gaussian}, count: 961")) == plain  # a round that is begun counts
    assert numbers(spec(f"{gaussian}, count: 960")) != plain
    matrix = "mechanism: matrix, sigma: 3/2, column_norm: 1, participations: 25, bands: 40"
    assert numbers(spec(matrix)) == plain
    assert numbers(spec(matrix, protect="unbounded")) == plain


@pytest.mark.parametrize(
    ("epsilon", "either"),
    [("1/20", (0.0261436629589, 0.0105725813538)), ("1/5", (0.00988931448519, 0.0))],
)
def test_one_round_of_a_gaussian(epsilon: str, either: tuple[float, float]) -> None:
    """δ in both orders, by the closed form: the larger one is the bound."""
    text = spec("mechanism: matrix, sigma: 1, column_norm: 1, participations: 1, bands: 2")
    text = text.replace("epsilon: [1/5, 1]", f"epsilon: {epsilon}")
    (found,) = dpcompose.analyze(text).at_epsilon
    assert found.value is not None
    assert float(found.value) == pytest.approx(max(either), rel=1e-5)
    assert float(found.value) * (1 + 1e-11) >= max(either)


def test_all_outcomes_of_two_rounds() -> None:
    """Each step tells one bit; the row of its group, if drawn, moves its odds by e."""
    rate, high = 0.3, math.e / (1 + math.e)
    drawn = {1: rate * high + (1 - rate) * (1 - high)}
    drawn[0] = 1 - drawn[1]
    absent = {0: high, 1: 1 - high}
    text = spec("notion: pure, epsilon: 1, count: 4", "poisson: 3/10, cycle: 2", "unbounded")
    text = text.replace("epsilon: [1/5, 1]", "epsilon: [0, 1/5, 1/2]")
    bounds = {float(each.given): each.value for each in dpcompose.analyze(text).at_epsilon}
    for (one, other), (at, bound) in itertools.product(
        ((drawn, absent), (absent, drawn)), bounds.items()
    ):
        truth = sum(
            max(
                0.0,
                math.prod(one[bit] for bit in bits)
                - math.exp(at) * math.prod(other[bit] for bit in bits),
            )
            for bits in itertools.product((0, 1), repeat=2)  # the steps of the row's group
        )
        assert bound is not None and truth <= float(bound) * (1 + 1e-9) + 1e-12


def test_a_cycle_is_declared_and_shown() -> None:
    found = dpcompose.analyze(spec("mechanism: gaussian, sigma: 2, sensitivity: 1, count: 80"))
    assert any("40 groups by a rule on the row alone" in each.says for each in found.assumptions)
    assert not found.findings
