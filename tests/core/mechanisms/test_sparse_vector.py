"""Sparse vector: its ε against exact laws of the answers, and where it is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from asked import bound, numbers, report, spec

from dpcompose.core.mechanisms.sparse_vector import SparseVector

F = Fraction
THRESHOLD, ANSWER = F(3, 5), F(4, 5)


def answers(queries: tuple[int, ...], most: int, half: bool) -> dict[tuple[bool, ...], float]:
    """The chance of each answer, with geometric noise and thresholds of 0; ends after `most`."""
    each = (1 if half else 2) * most / float(ANSWER)
    ratio, wide = math.exp(-1 / each), math.exp(-float(THRESHOLD))

    def above(place: int) -> float:
        if place > 0:
            return ratio**place / (1 + ratio)
        return 1 - ratio ** (1 - place) / (1 + ratio)

    found: dict[tuple[bool, ...], float] = {}
    for every in product((False, True), repeat=len(queries)):
        ends = [i + 1 for i in range(len(every)) if sum(every[: i + 1]) == most]
        told = every[: ends[0]] if ends else every
        if sum(told) > most or told in found:
            continue
        chance = 0.0
        for noise in range(-250, 251):
            one = (1 - wide) / (1 + wide) * wide ** abs(noise)
            for query, said in zip(queries, told, strict=False):
                high = above(noise - query)
                one *= high if said else 1 - high
            chance += one
        found[told] = chance
    return found


@pytest.mark.parametrize(
    ("queries", "moves", "half", "attained"),
    [
        ((20, 20, 20, -20), (1, 1, 1, -1), False, 1.398),
        ((20, 20, 20, -20), (-1, -1, -1, 1), False, 1.3),
        ((20, 20, 20, -20), (1, 1, 1, 0), True, 1.39),
        ((3, -2, 0, 1), (1, -1, 0, 1), False, 0.1),
        ((3, -2, 0, 1), (1, 1, 0, 1), True, 0.1),
    ],
)
@pytest.mark.parametrize("most", [1, 2])
def test_no_answer_is_likelier_than_e_to_the_epsilon(
    queries: tuple[int, ...], moves: tuple[int, ...], half: bool, attained: float, most: int
) -> None:
    one = answers(queries, most, half)
    other = answers(tuple(a + b for a, b in zip(queries, moves, strict=True)), most, half)
    assert sum(one.values()) == pytest.approx(1, abs=1e-12)
    loss = max(abs(math.log(one[told] / other[told])) for told in one)
    epsilon = SparseVector(THRESHOLD, ANSWER, F(0), most, half).epsilon(F(1))
    assert epsilon == THRESHOLD + ANSWER
    assert loss <= float(epsilon) * (1 + 1e-12)
    assert loss >= attained or most > 1


def test_half_of_the_noise_is_not_enough_where_queries_move_both_ways() -> None:
    queries, moves = (20, 20, 20, -20), (1, 1, 1, -1)
    one = answers(queries, 1, True)
    other = answers(tuple(a + b for a, b in zip(queries, moves, strict=True)), 1, True)
    assert max(abs(math.log(one[told] / other[told])) for told in one) > 2.19


STATED = "mechanism: sparse-vector, threshold_epsilon: 3/5, answer_epsilon: 4/5, positives: 3"


@pytest.mark.parametrize(
    ("protect", "more"),
    [
        ("unbounded", "monotone: true"),
        ("{relation: unbounded, distance: 3}", "monotone: true"),
        ("bounded", "monotone: false"),
        ("bounded", "monotone: true, relation: unbounded"),
    ],
)
@pytest.mark.parametrize("budget", ["epsilon: 9", "rho: 9", "mu: 9", "epsilon: 9, delta: 1e-3"])
def test_it_costs_what_pure_dp_costs(protect: str, more: str, budget: str) -> None:
    keys = f"budget: {{{budget}}}\nreport: {{delta: [1e-3, 1e-6]}}"
    relation = ", relation: unbounded" if "relation" in more else ""
    found, plain = (
        spec(each, protect=protect, more=keys)
        for each in (f"{STATED}, {more}", f"notion: pure, epsilon: 7/5{relation}")
    )
    assert bound(found) == pytest.approx(bound(plain), rel=1e-9)
    assert numbers(found) == pytest.approx(numbers(plain), rel=1e-6)


def test_values_of_the_answers_above_are_added() -> None:
    text = spec(f"{STATED}, value_epsilon: 1/10")
    assert bound(text) == F(3, 2) and report(text).theorem == "sparse-vector"
