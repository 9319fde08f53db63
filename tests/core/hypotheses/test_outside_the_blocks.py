"""Mechanisms outside the blocks: their loss is weighed with that of the blocks, for each set."""

from __future__ import annotations

import math
import random
from fractions import Fraction as F
from itertools import product

import pytest

from dpcompose.core.hypotheses.adversary_bounds import beside, tell_apart
from dpcompose.core.hypotheses.beliefs import Belief, Block, Exactly, Question

Weights = dict[frozenset[int], F]


def _question(first: Weights, second: Weights, losses: list[F], outside: F) -> Question:
    """The question with these chances of sets of blocks, and losses of blocks and outside them."""
    one, other = (
        Belief(tuple((Exactly(each), weight) for each, weight in sets.items()))
        for sets in (first, second)
    )
    blocks = tuple(Block(loss, F(0), 1) for loss in losses)
    return Question(blocks, one, other, (outside, F(0)))


def _most(first: Weights, second: Weights, losses: list[F], outside: F) -> float:
    """The largest likelihood ratio over all corners, each set with an outside factor of its own."""
    sets = sorted({*first, *second}, key=sorted)
    there = [each for each in sets if each]
    most = 0.0
    for corner in product((1, -1), repeat=len(losses)):
        for factors in product((1, -1), repeat=len(there)):
            likely = dict.fromkeys(sets, 1.0)
            for each, up in zip(there, factors, strict=True):
                inside = sum(float(losses[i]) * corner[i] for i in each)
                likely[each] = math.exp(inside + up * float(outside))
            one, other = (
                sum(float(weight) * likely[each] for each, weight in side.items())
                for side in (first, second)
            )
            most = max(most, abs(math.log(one / other)))
    return most


NONE, A, B, AB = frozenset[int](), frozenset({0}), frozenset({1}), frozenset({0, 1})


@pytest.mark.parametrize(
    "first, second, losses, outside, exact",
    [
        (
            {NONE: F(1, 6), A: F(2, 3), B: F(1, 6)},
            {NONE: F(1, 4), A: F(1, 4), B: F(1, 4), AB: F(1, 4)},
            [F(7, 10), F(8, 10)],
            F(1, 2),
            0.820751,
        ),
        (
            {AB: F(3, 8), A: F(1, 2), NONE: F(1, 8)},
            {AB: F(1, 2), A: F(1, 2)},
            [F(1, 10), F(4, 10)],
            F(1, 2),
            0.159046,
        ),
    ],
)
def test_known_values(
    first: Weights, second: Weights, losses: list[F], outside: F, exact: float
) -> None:
    found = tell_apart(_question(first, second, losses, outside))[0]
    assert float(found.epsilon) == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("seed", range(25))
def test_against_every_corner(seed: int) -> None:
    draw = random.Random(seed)
    losses = [F(draw.randint(1, 12), 10) for _ in range(draw.randint(1, 3))]
    sets = [
        frozenset(i for i in range(len(losses)) if code >> i & 1)
        for code in range(1 << len(losses))
    ]

    def weights() -> Weights:
        some = draw.sample(sets, draw.randint(2, len(sets)))
        drawn = [draw.randint(1, 9) for _ in some]
        return {each: F(n, sum(drawn)) for each, n in zip(some, drawn, strict=True)}

    first, second, outside = weights(), weights(), F(draw.randint(1, 10), 10)
    question = _question(first, second, losses, outside)
    found = tell_apart(question)
    truth = _most(first, second, losses, outside)
    [corners] = [each for each in found if each.rule == "every outcome"]
    assert truth - 1e-9 <= float(corners.epsilon) <= truth + 1e-9
    assert found[0].epsilon <= corners.epsilon
    # What is inside the blocks alone, with the rest added, is never less.
    alone = tell_apart(_question(first, second, losses, F(0)))
    [inside] = [each for each in alone if each.rule == "every outcome"]
    assert corners.epsilon <= inside.epsilon + beside(question)[0] + F(1, 10**9)
