"""Printed figures, and the same figures by a second way."""

from __future__ import annotations

import math
import random
import time
from fractions import Fraction
from itertools import permutations

import pytest

from dpcompose.core.hypotheses.adversary_at_delta import by_halves, least_epsilon, outcomes
from dpcompose.core.hypotheses.adversary_bounds import (
    against_point,
    best,
    coupled,
    in_order,
    tell_apart,
)
from dpcompose.core.hypotheses.beliefs import NONE, Belief, Between, Block, Exactly, Question

F = Fraction


def uniform(low: int, high: int) -> Belief:
    return Belief(((Between(low, high), F(1)),))


def against_all(*blocks: Block) -> tuple[Fraction, Fraction]:
    size = sum(block.count for block in blocks)
    found = against_point(Question(blocks, NONE, uniform(1, size)))
    assert found is not None
    return found.epsilon, found.delta


@pytest.mark.parametrize("k", range(1, 41))
@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "2"])
def test_corollary_7(k: int, epsilon: str) -> None:
    delta = F(1, 10**6)
    value, mass = against_all(Block(F(epsilon), delta, k))
    printed = math.log(((1 + math.exp(float(epsilon))) ** k - 1) / (2**k - 1))
    assert math.isclose(value, printed, rel_tol=1e-9)
    assert mass == F(2 ** (k - 1) * k, 2**k - 1) * delta


def test_at_most_two_of_four() -> None:
    found = against_point(Question((Block(F(3, 10), count=4),), NONE, uniform(1, 2)))
    assert found is not None and round(float(found.epsilon), 6) == 0.490550


@pytest.mark.parametrize("seed", range(20))
def test_samples_of_one_half_give_the_same_for_pure_mechanisms(seed: int) -> None:
    """Theorem 3: group the sets by their first block, the later ones being sampled."""
    rng = random.Random(seed)
    epsilons = [F(rng.randint(0, 300), 100) for _ in range(rng.randint(1, 12))]
    value, _ = against_all(*(Block(epsilon) for epsilon in epsilons))
    k = len(epsilons)
    total = 0.0
    for i, first in enumerate(epsilons, 1):
        sampled = sum(math.log1p((math.exp(later) - 1) / 2) for later in epsilons[i:])
        total += 2 ** (k - i) * math.exp(float(first) + sampled)
    assert math.isclose(value, math.log(total / (2**k - 1)), rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_samples_of_one_half_give_the_same_at_a_delta(seed: int) -> None:
    """The identity with Poisson samples, composed by the profile engine, against all outcomes."""
    rng = random.Random(seed)
    blocks = tuple(
        Block(F(rng.randint(1, 60), 100), F(rng.choice([0, 1, 5]), 10**5), rng.randint(5, 9))
        for _ in range(rng.randint(1, 2))
    )
    size = sum(block.count for block in blocks)
    delta = F(rng.choice([1, 3, 10]), 10**3)
    every = outcomes(blocks, uniform(1, size))
    assert every is not None
    exact = least_epsilon(every, delta)
    most, _ = against_all(*blocks)
    found = by_halves(blocks, delta, most)
    if found is not None:
        assert exact is not None
        assert exact * (1 - F(1, 10**9)) <= found
        if size >= 12:
            assert found <= exact * F(103, 100) + F(1, 100)


def test_huge_losses_stay_finite() -> None:
    value, _ = against_all(Block(F(10**12)), Block(F(1, 10)))
    assert value == F(10**12) + F(1, 10)
    value, _ = against_all(Block(F(800)), Block(F(0), count=4))
    assert math.isclose(value, 800 + math.log(16 / 31), rel_tol=1e-12)


def test_tiny_losses_are_not_rounded_beyond_themselves() -> None:
    value, _ = against_all(Block(F(1, 10**60), count=4))
    assert value <= F(4, 10**60)


def test_many_blocks() -> None:
    value, delta = against_all(Block(F(1, 100), F(1, 10**9), 10**6))
    assert math.isclose(value, 10**6 * math.log((1 + math.exp(0.01)) / 2), rel_tol=1e-9)
    assert math.isclose(delta, 10**6 / 2 * 1e-9, rel_tol=1e-9)


# --- couplings -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_the_best_coupling_of_equal_weights_is_the_best_matching(seed: int) -> None:
    rng = random.Random(seed)
    n = rng.randint(1, 5)
    costs = {
        (i, j): (F(rng.randint(0, 6)), F(rng.randint(0, 9), 100))
        for i in range(n)
        for j in range(n)
    }
    weights = [F(1, n)] * n

    def cost(i: int, j: int) -> tuple[Fraction, Fraction]:
        return costs[i, j]

    # The corners of the transport polytope with equal weights are the matchings (Birkhoff).
    matchings = [
        coupled([(i, j, F(1, n)) for i, j in enumerate(order)], cost)
        for order in permutations(range(n))
    ]
    loss = min(each.loss for each in matchings)
    delta = min(each.delta for each in matchings if each.loss == loss)
    found = best(weights, weights, cost)
    assert (found.loss, found.delta) == (loss, delta)
    other = in_order(weights, weights, cost)
    assert (other.loss, other.delta) >= (loss, delta)


@pytest.mark.parametrize("seed", range(60))
def test_couplings_carry_all_weight(seed: int) -> None:
    rng = random.Random(seed)

    def weights() -> list[Fraction]:
        shares = [rng.randint(1, 9) for _ in range(rng.randint(1, 6))]
        return [F(share, sum(shares)) for share in shares]

    first, second = weights(), weights()
    costs = [[(F(rng.randint(0, 5)), F(rng.randint(0, 3), 10)) for _ in second] for _ in first]
    exact = best(first, second, lambda i, j: costs[i][j])
    listed = in_order(first, second, lambda i, j: costs[i][j])
    for found in (exact, listed):
        for i, weight in enumerate(first):
            assert sum(w for a, _, w in found.pairs if a == i) == weight
        for j, weight in enumerate(second):
            assert sum(w for _, b, w in found.pairs if b == j) == weight
    assert (exact.loss, exact.delta) <= (listed.loss, listed.delta)
    assert len(listed.pairs) <= len(first) + len(second) - 1


def test_many_sets_fall_back_to_algorithm_3() -> None:
    blocks = tuple(Block(F(i + 1, 10), F(1, 10**6)) for i in range(10))
    sizes = Belief(((Between(0, 3), F(1, 2)), (Exactly(frozenset({9})), F(1, 2))))
    other = Belief(((Between(1, 3), F(1, 2)), (Exactly(frozenset({8})), F(1, 2))))
    rules = {each.rule for each in tell_apart(Question(blocks, sizes, other))}
    assert "Algorithm 3" in rules and "exact transport" not in rules


def test_the_same_hypothesis_twice_is_not_told_apart() -> None:
    blocks = (Block(F(1)), Block(F(2)), Block(F(3)))
    belief = Belief(((Exactly(frozenset({0})), F(1, 3)), (Exactly(frozenset({1, 2})), F(2, 3))))
    assert min(each.epsilon for each in tell_apart(Question(blocks, belief, belief))) == 0


def test_what_is_beside_the_blocks_is_added_to_every_case() -> None:
    blocks = (Block(F(3, 10), F(1, 1000), 4),)
    alone = against_point(Question(blocks, NONE, uniform(1, 4)))
    beside = against_point(Question(blocks, NONE, uniform(1, 4), (F(1, 10), F(1, 100))))
    assert alone is not None and beside is not None
    assert beside.epsilon == alone.epsilon + F(1, 10)
    assert beside.delta == alone.delta + F(1, 100)
    # Between two cases in which the person is there the row may differ: two steps.
    question = Question(blocks, uniform(1, 2), uniform(3, 4), (F(1, 10), F(0)))
    without = Question(blocks, uniform(1, 2), uniform(3, 4))
    more = {each.rule: each.epsilon for each in tell_apart(question)}
    for each in tell_apart(without):
        assert more[each.rule] == each.epsilon + F(2, 10)


def test_something_always_holds_of_two_mixtures() -> None:
    blocks = (Block(F(1, 10), F(1, 10**9), 3000), Block(F(1, 5), F(0), 2000))
    question = Question(blocks, uniform(0, 2), uniform(1, 600), (F(1), F(1, 10**9)))
    (found,) = tell_apart(question)
    assert found.rule == "differential privacy"
    assert found.epsilon == F(602, 5) + 2
    assert found.delta >= F(602, 10**9) + F(1, 10**9)


@pytest.mark.parametrize("seed", range(40))
def test_more_loss_never_tells_less(seed: int) -> None:
    rng = random.Random(seed)
    k = rng.randint(1, 7)
    blocks = [Block(F(rng.randint(0, 30), 10)) for _ in range(k)]
    low, high = sorted((rng.randint(1, k), rng.randint(1, k)))
    first = uniform(0, low - 1) if rng.random() < 0.5 else NONE
    before = tell_apart(Question(tuple(blocks), first, uniform(low, high)))[0]
    i = rng.randrange(k)
    blocks[i] = Block(blocks[i].epsilon + F(rng.randint(1, 9), 10))
    after = tell_apart(Question(tuple(blocks), first, uniform(low, high)))[0]
    assert after.epsilon >= before.epsilon * (1 - F(1, 10**30))


@pytest.mark.parametrize("second", [uniform(1, 10**9), uniform(1, 5), uniform(10**8, 10**9)])
@pytest.mark.parametrize("first", [NONE, uniform(0, 2)])
def test_beyond_counting_the_worst_case_holds(first: Belief, second: Belief) -> None:
    blocks = (Block(F(1, 10**9), F(1, 10**15), 10**9),)
    found = tell_apart(Question(blocks, first, second))
    assert found and found[0].epsilon <= 1 and found[0].delta <= F(1, 10**6)


def test_the_best_coupling_of_many_sets_takes_no_time() -> None:
    rng = random.Random(1)
    costs = [[(F(rng.randint(0, 99), 10), F(rng.randint(0, 99), 10**9)) for _ in range(30)]] * 30
    shares = [F(rng.randint(1, 99)) for _ in range(30)]
    weights = [share / sum(shares) for share in shares]
    start = time.process_time()
    best(weights, weights[::-1], lambda i, j: costs[i][j])
    assert time.process_time() - start < 20
