"""Noisy max, permute-and-flip and top-k: against exact laws of the names, and where refused."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from asked import bound, numbers, report, spec
from volume import thinned

from dpcompose.core.mechanisms.noisy_max import TopK

F = Fraction

Scores = tuple[int, ...]
Law = dict[tuple[int, ...], float]


def below(noise: str, x: float) -> float:
    """The chance that noise of scale 1 is at most x."""
    if noise == "exponential":
        return 1 - math.exp(-x) if x > 0 else 0.0
    return 1 - math.exp(-x) / 2 if x > 0 else math.exp(x) / 2


def largest(scores: Scores, noise: str, rate: float) -> Law:
    """The chance that each candidate is the largest, with noise of that rate."""
    if noise == "geometric":
        return largest_on_lattice(scores, rate)
    if noise == "gumbel":
        weights = [math.exp(rate * score) for score in scores]
        return {(one,): weight / sum(weights) for one, weight in enumerate(weights)}
    places = [rate * score for score in scores]
    knots = sorted({*places})
    ends = [*knots, *(knots[-1] + each for each in (3, 10, 40))]
    if noise == "laplace":
        ends = [*(knots[0] - each for each in (40, 10, 3)), *ends]
    found: Law = {(one,): 0.0 for one in range(len(places))}
    for low, high in itertools.pairwise(ends):
        # Simpson's rule, in open pieces: a density may jump at a knot.
        step = (high - low) / 600
        for number in range(601):
            x = min(max(low + number * step, low + 1e-12), high - 1e-12)
            weight = step / 3 * (1 if number in (0, 600) else 4 if number % 2 else 2)
            chances = [below(noise, x - place) for place in places]
            for one, place in enumerate(places):
                density = math.exp(-abs(x - place)) / 2
                if noise == "exponential":
                    density = 2 * density if x > place else 0.0
                others = math.prod(chances[:one]) * math.prod(chances[one + 1 :])
                found[one,] += weight * density * others
    return found


def largest_on_lattice(scores: Scores, rate: float) -> Law:
    """As `largest`, for geometric noise; the first of equal candidates is named."""
    ratio = math.exp(-rate)

    def at_most(x: int) -> float:
        return ratio**-x / (1 + ratio) if x < 0 else 1 - ratio ** (x + 1) / (1 + ratio)

    found: Law = {}
    for one, score in enumerate(scores):
        found[one,] = sum(
            (1 - ratio)
            / (1 + ratio)
            * ratio ** abs(x - score)
            * math.prod(
                at_most(x - other - (place < one))
                for place, other in enumerate(scores)
                if place != one
            )
            for x in range(-400, 401)
        )
    return found


def permuted_and_flipped(scores: Scores, rate: float) -> Law:
    """The law of permute-and-flip, by all orders and tosses of its coins."""
    best = max(scores)
    found: Law = {(each,): 0.0 for each in range(len(scores))}
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        passed = 1 / len(orders)
        for each in order:
            heads = math.exp(rate * (scores[each] - best))
            found[each,] += passed * heads
            passed *= 1 - heads
    return found


def peeled(scores: Scores, picks: int, law: Callable[[Scores], Law]) -> Law:
    """The law of an ordered choice, each from the candidates left."""
    if not picks:
        return {(): 1.0}
    found: Law = {}
    for (first,), chance in law(scores).items():
        rest = [each for each in range(len(scores)) if each != first]
        for names, more in peeled(tuple(scores[each] for each in rest), picks - 1, law).items():
            found[(first, *(rest[each] for each in names))] = chance * more
    return found


def stick(one: Law, other: Law, epsilon: float) -> float:
    """δ at ε: the largest P(S) - e^ε·P'(S) over sets S of outcomes, in the worse order."""
    raised = math.exp(epsilon)
    return max(
        sum(max(0.0, one[each] - raised * other[each]) for each in one),
        sum(max(0.0, other[each] - raised * one[each]) for each in one),
    )


DELTAS = ("1/3", "1/5", "1/20", "1/1000")


AT = f"report: {{delta: [{', '.join(DELTAS)}]}}"


def no_bound_is_below(laws: tuple[Law, Law], mechanism: str) -> None:
    """What is certified at each of DELTAS holds of the laws."""
    for delta, found in zip(DELTAS, numbers(spec(mechanism, more=AT)), strict=True):
        assert stick(*laws, float(found)) <= float(F(delta)) + 1e-9


#: Scores of neighbours one step apart: in any direction, or all in one.
MOVED: list[tuple[Scores, Scores, bool]] = [
    ((0, 0), (1, -1), False),
    ((2, 0, 1), (1, 1, 2), False),
    ((0, 3, 3, -1), (1, 2, 4, 0), False),
    ((0, 0), (1, 0), True),
    ((5, 5, 5, 4), (5, 6, 6, 5), True),
    ((2, 0, 1), (2, 1, 1), True),
]


@pytest.mark.parametrize("noise", ["laplace", "exponential", "gumbel", "geometric"])
@pytest.mark.parametrize("epsilon", [F(1, 2), F(2)])
@pytest.mark.parametrize(("one", "other", "monotone"), thinned(MOVED, 2))
def test_noisy_max_against_the_law_of_its_names(
    one: Scores, other: Scores, monotone: bool, epsilon: Fraction, noise: str
) -> None:
    rate = float(epsilon) / (1 if monotone else 2)
    laws = largest(one, noise, rate), largest(other, noise, rate)
    assert sum(laws[0].values()) == pytest.approx(1, abs=1e-9)
    stated = f"noise: {noise}, epsilon: {epsilon}, monotone: {str(monotone).lower()}"
    for mechanism in ("noisy-max", "top-k, k: 1"):
        no_bound_is_below(laws, f"mechanism: {mechanism}, {stated}")
    loss = max(abs(math.log(laws[0][each] / laws[1][each])) for each in laws[0])
    assert loss <= float(epsilon) + 1e-9


@pytest.mark.parametrize(("one", "other", "monotone"), MOVED)
def test_permute_and_flip_against_the_law_of_its_names(
    one: Scores, other: Scores, monotone: bool
) -> None:
    rate = 1.0 if monotone else 0.5
    laws = permuted_and_flipped(one, rate), permuted_and_flipped(other, rate)
    same = largest(one, "exponential", rate)
    assert laws[0] == pytest.approx(same, abs=1e-9)
    stated = f"epsilon: 1, monotone: {str(monotone).lower()}"
    no_bound_is_below(laws, f"mechanism: permute-and-flip, {stated}")


@pytest.mark.parametrize("noise", ["laplace", "gumbel", "geometric"])
@pytest.mark.parametrize(("one", "other", "monotone"), MOVED)
def test_peeling_against_the_law_of_its_names(
    one: Scores, other: Scores, monotone: bool, noise: str
) -> None:
    rate = 1.0 if monotone else 0.5

    def each(scores: Scores) -> Law:
        return largest(scores, noise, rate)

    laws = peeled(one, 2, each), peeled(other, 2, each)
    stated = f"noise: {noise}, epsilon: 1, monotone: {str(monotone).lower()}"
    peeling = f"mechanism: top-k, k: 2, {stated}, peeling: true"
    no_bound_is_below(laws, peeling)
    if noise == "gumbel":
        once = spec(peeling.replace("peeling: true", "peeling: false"), more=AT)
        assert numbers(once) == numbers(spec(peeling, more=AT))


def test_geometric_noise_added_once_needs_all_of_k_epsilon() -> None:
    ratio = math.exp(-0.3)

    def at_most(x: int) -> float:
        return ratio**-x / (1 + ratio) if x < 0 else 1 - ratio ** (x + 1) / (1 + ratio)

    def first_two_win(two: int, three: int) -> float:
        """The chance that both of score `two` are above all three of score `three`."""
        chances = (
            (x, at_most(x - three) ** 3 - at_most(x - 1 - three) ** 3) for x in range(-90, 91)
        )
        return sum(chance * (1 - at_most(x - two)) ** 2 for x, chance in chances)

    loss = math.log(first_two_win(1, 11) / first_two_win(0, 12))
    assert 1.19 < loss <= 1.2
    assert TopK(F(1), "gumbel", k=5).epsilon(F(1)) == 5
    found = TopK(F(3, 5), "geometric", k=2)
    assert found.epsilon(F(1)) == F(6, 5)
    assert float(found.rho(F(1))) == pytest.approx(1.2 * math.tanh(0.6), rel=1e-9)


@pytest.mark.parametrize(
    "mechanism", ["noisy-max", "permute-and-flip", "top-k, k: 2, noise: gumbel"]
)
@pytest.mark.parametrize("keys", ["", "\nbudget: {rho: 9}", "\nbudget: {mu: 9}"])
@pytest.mark.parametrize("distance", [1, 3])
def test_a_group_costs_as_noise_for_its_distance(mechanism: str, keys: str, distance: int) -> None:
    """Scores of a group of t rows move t times as far, which noise of t·ε gives as well."""
    far = f"{{relation: unbounded, distance: {distance}}}"
    one = spec(f"mechanism: {mechanism}, epsilon: 1/2", protect=far, more=AT + keys)
    other = spec(f"mechanism: {mechanism}, epsilon: {F(distance, 2)}", more=AT + keys)
    assert bound(one) == pytest.approx(bound(other), rel=1e-9)
    assert numbers(one) == pytest.approx(numbers(other), rel=1e-6)


@pytest.mark.parametrize("mechanism", ["noisy-max", "permute-and-flip", "top-k, k: 2"])
@pytest.mark.parametrize(("monotone", "epsilon"), [("false", "3/4"), ("true", "3/8")])
def test_a_scale_and_a_sensitivity_say_epsilon(mechanism: str, monotone: str, epsilon: str) -> None:
    more = f"mechanism: {mechanism}, monotone: {monotone}"
    found = spec(f"{more}, scale: 4, sensitivity: 3/2", more=AT)
    other = spec(f"{more}, epsilon: {epsilon}", more=AT)
    assert report(found).bound == report(other).bound
    assert numbers(found) == numbers(other)
