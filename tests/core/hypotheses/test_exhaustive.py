"""Against every outcome of the worst mechanisms: never below the truth, equal where it is known."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest
from oracle.beliefs import (
    NOBODY,
    Weights,
    answers,
    both_ways,
    delta_of,
    epsilon_at,
    greatest_loss,
    subsets,
    uniform,
)

from dpcompose.core.hypotheses.adversary_at_delta import at_delta, least_epsilon, outcomes, sharper
from dpcompose.core.hypotheses.adversary_bounds import against_point, tell_apart
from dpcompose.core.hypotheses.beliefs import (
    NONE,
    Belief,
    Between,
    Block,
    Exactly,
    Found,
    Part,
    Question,
)

NEAR = 1e-9


def only(part: Part) -> Belief:
    return Belief(((part, Fraction(1)),))


def random_blocks(rng: random.Random, k: int, delta: bool) -> tuple[Block, ...]:
    def block() -> Block:
        epsilon = Fraction(rng.choice([0, 1, 5, 20, 30, 70, 150, 300]), 100)
        mass = Fraction(rng.choice([0, 1, 10, 100, 300]), 1000) if delta else Fraction(0)
        return Block(epsilon, mass)

    blocks = [block() for _ in range(k)]
    if rng.random() < 0.3:
        blocks = [blocks[0]] * k
    return tuple(blocks)


def plain(blocks: tuple[Block, ...]) -> list[tuple[float, float]]:
    return [(float(block.epsilon), float(block.delta)) for block in blocks]


def random_belief(rng: random.Random, k: int, explicit: bool) -> tuple[Belief, Weights]:
    """A belief for the package and for the reference."""
    parts: list[tuple[Part, Fraction]] = []
    weights: dict[frozenset[int], float] = {}
    number = rng.randint(1, 3)
    shares = [rng.randint(1, 9) for _ in range(number)]
    for share in shares:
        weight = Fraction(share, sum(shares))
        if explicit or rng.random() < 0.4:
            members = frozenset(i for i in range(k) if rng.random() < 0.5)
            parts.append((Exactly(members), weight))
            sets = [members]
        else:
            low = rng.randint(0, k)
            high = rng.randint(low, k)
            parts.append((Between(low, high), weight))
            sets = subsets(k, low, high)
        for each in sets:
            weights[each] = weights.get(each, 0.0) + float(weight) / len(sets)
    return Belief(tuple(parts)), weights


def holds(found: Found, blocks: tuple[Block, ...], first: Weights, second: Weights) -> None:
    needed = max(delta_of(plain(blocks), first, second, float(found.epsilon)))
    assert needed <= found.delta + NEAR


@pytest.mark.parametrize("seed", range(60))
def test_none_against_uniform_is_exact_for_pure_mechanisms(seed: int) -> None:
    rng = random.Random(seed)
    k = rng.randint(1, 4)
    low = rng.randint(1, k)
    high = rng.randint(low, k)
    blocks = random_blocks(rng, k, delta=False)
    found = against_point(Question(blocks, NONE, only(Between(low, high))))
    assert found is not None and found.delta == 0
    truth = greatest_loss(plain(blocks), {NOBODY: 1.0}, uniform(subsets(k, low, high)))
    assert math.isclose(found.epsilon, truth, rel_tol=NEAR, abs_tol=NEAR)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(120))
def test_none_against_uniform_with_delta_is_never_below_the_truth(seed: int) -> None:
    rng = random.Random(seed)
    k = rng.randint(1, 4)
    low = rng.randint(1, k)
    high = rng.randint(low, k)
    blocks = random_blocks(rng, k, delta=True)
    belief = only(Between(low, high))
    found = against_point(Question(blocks, NONE, belief))
    first, second = {NOBODY: 1.0}, uniform(subsets(k, low, high))
    if found is not None:
        holds(found, blocks, first, second)
    every = outcomes(blocks, belief)
    assert every is not None
    for delta in (Fraction(1, 10**6), *(Fraction(n, 10**4) for n in (117, 2137, 6173))):
        best = least_epsilon(every, delta)
        truth = epsilon_at(plain(blocks), first, second, float(delta))
        assert (best is None) == (truth == math.inf)
        if best is not None:
            assert truth - NEAR <= best <= truth + NEAR


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(150))
@pytest.mark.parametrize("delta", [False, True])
def test_any_two_beliefs_are_never_below_the_truth(seed: int, delta: bool) -> None:
    rng = random.Random(1000 + seed)
    k = rng.randint(1, 4)
    blocks = random_blocks(rng, k, delta)
    explicit = rng.random() < 0.5
    first, one = random_belief(rng, k, explicit)
    second, other = random_belief(rng, k, explicit)
    found = tell_apart(Question(blocks, first, second))
    if not delta:
        truth = greatest_loss(plain(blocks), one, other)
        assert found
        for each in found:
            assert each.epsilon >= truth - NEAR
            if each.attained:
                assert math.isclose(each.epsilon, truth, rel_tol=NEAR, abs_tol=NEAR)
        assert found[0].epsilon <= truth + NEAR or found[0].rule == "through nobody"
    for each in found:
        holds(each, blocks, one, other)


@pytest.mark.parametrize("seed", range(40))
def test_ordered_sizes_are_exact_for_pure_mechanisms(seed: int) -> None:
    rng = random.Random(2000 + seed)
    k = rng.randint(2, 4)
    cuts = sorted(rng.choices(range(k + 1), k=4))
    if cuts[1] == cuts[2]:
        cuts[1:3] = [cuts[1] - 1, cuts[2]] if cuts[1] > cuts[0] else [cuts[1], cuts[2] + 1]
    a, b, c, d = cuts[0], cuts[1], cuts[2], max(cuts[2], cuts[3])
    if d > k:
        pytest.skip("no such sizes")
    blocks = random_blocks(rng, k, delta=False)
    found = tell_apart(Question(blocks, only(Between(a, b)), only(Between(c, d))))
    truth = greatest_loss(plain(blocks), uniform(subsets(k, a, b)), uniform(subsets(k, c, d)))
    assert math.isclose(found[0].epsilon, truth, rel_tol=NEAR, abs_tol=NEAR)


def test_the_formula_of_the_paper_is_below_the_truth_for_two_mixtures() -> None:
    blocks = (Block(Fraction(1)), Block(Fraction(3)))
    first, second, both = frozenset({0}), frozenset({1}), NOBODY
    half = Fraction(1, 2)
    p0 = Belief(((Exactly(first), half), (Exactly(second), half)))
    p1 = Belief(((Exactly(both), half), (Exactly(second), half)))
    printed = math.log((math.exp(1) + 1) / 2)
    truth = greatest_loss(plain(blocks), {first: 0.5, second: 0.5}, {both: 0.5, second: 0.5})
    found = {each.rule: each.epsilon for each in tell_apart(Question(blocks, p0, p1))}
    assert round(printed, 4) == 0.6201 and round(truth, 4) == 0.9696
    assert found["exact transport"] == 1
    assert math.isclose(found["every outcome"], truth, rel_tol=NEAR)


def test_the_delta_of_the_paper_is_below_the_truth_for_unequal_mechanisms() -> None:
    blocks = (Block(Fraction(3)), Block(Fraction(1, 10), Fraction(1, 10)))
    found = against_point(Question(blocks, NONE, only(Between(1, 2))))
    assert found is not None and round(float(found.epsilon), 4) == 2.6716
    printed = 2 * 0.1 / 3
    there, back = delta_of(
        plain(blocks), {NOBODY: 1.0}, uniform(subsets(2, 1, 2)), float(found.epsilon)
    )
    assert round(there, 4) == 0.0724 and round(back, 4) == 0.0667
    assert printed < there < found.delta < 0.0951


def with_outsider(
    blocks: tuple[Block, ...], belief: Weights, beside: tuple[float, float], by_row: bool
) -> list[float]:
    """The law of every outcome with a mechanism that sees whether the person is there.

    `by_row`: it also sees which row the person has, which depends on the blocks.
    """
    epsilon, delta = beside
    chances: list[float] = [0.0] * 4 ** (len(blocks) + 1)
    for members, weight in belief.items():
        outside = answers(epsilon, delta, bool(members))
        if by_row:
            tilt = min(math.exp(epsilon) / 2, 1 - math.exp(-epsilon) / 2)
            odd = (sum(members) + len(members)) % 2
            says = (tilt if odd else 1 - tilt) if members else 0.5
            outside = [0.0, (1 - delta) * says, (1 - delta) * (1 - says), delta]
            if not members:
                outside = [delta, *outside[1:3], 0.0]
        rows = [answers(*block, i in members) for i, block in enumerate(plain(blocks))]
        for n, each in enumerate(itertools.product(outside, *rows)):
            chances[n] += weight * math.prod(each)
    return chances


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(120))
def test_what_sees_the_person_elsewhere_is_covered(seed: int) -> None:
    rng = random.Random(3000 + seed)
    k = rng.randint(1, 3)
    delta = rng.random() < 0.5
    blocks = random_blocks(rng, k, delta)
    first, one = random_belief(rng, k, rng.random() < 0.5)
    if rng.random() < 0.4:
        first, one = NONE, {NOBODY: 1.0}
    second, other = random_belief(rng, k, rng.random() < 0.5)
    beside = (Fraction(rng.choice([0, 10, 50]), 100), Fraction(rng.choice([0, 20]), 1000) * delta)
    question = Question(blocks, first, second, beside)
    known = tell_apart(question)
    chosen = Fraction(137, 1000)
    sharp = [sharper(question, each) for each in known]
    found = [*known, *(each for each in sharp if each), *at_delta(question, chosen, known, None)]
    numbers = (float(beside[0]), float(beside[1]))
    for by_row in (False, True):
        laws = [with_outsider(blocks, each, numbers, by_row) for each in (one, other)]
        for each in found:
            assert max(both_ways(laws[0], laws[1], float(each.epsilon))) <= each.delta + NEAR
