"""Trees and matrix mechanisms: their sensitivities against all ways of taking part."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations, pairwise

import pytest
from asked import bound, numbers, spec

from dpcompose.core.mechanisms import matrix
from dpcompose.core.mechanisms.matrix import Matrix, squares_in_tree

F = Fraction


def all_ways(steps: int, participations: int, separation: int, trees: int = 1) -> int:
    """The largest sum of squares of the participations in dyadic intervals that end by `steps`, of
    each of so many trees in a row."""
    nodes = [
        (begin + (place << height), begin + (place + 1 << height))
        for begin in range(0, trees * steps, steps)
        for height in range(steps.bit_length())
        for place in range(steps >> height)
    ]
    return max(
        sum(sum(low <= each < high for each in taken) ** 2 for low, high in nodes)
        for count in range(1, participations + 1)
        for taken in combinations(range(trees * steps), count)
        if all(two - one >= separation for one, two in pairwise(taken))
    )


@pytest.mark.parametrize("steps", range(1, 13))
@pytest.mark.parametrize("participations", [1, 2, 3, 4])
@pytest.mark.parametrize("separation", [1, 2, 3, 5])
def test_a_tree_against_all_ways_of_taking_part(
    steps: int, participations: int, separation: int
) -> None:
    found = squares_in_tree(steps, participations, separation, 1)
    assert found == all_ways(steps, participations, separation)


@pytest.mark.parametrize("separation", [4, 5, 7, 9])
def test_places_that_are_not_told_apart_give_no_less(
    separation: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrix, "_MOST_PLACES", 4)
    for steps in (7, 12, 15, 16, 21):
        for participations in (1, 2, 3):
            # Not through the memory of what was found with other settings.
            found = squares_in_tree.__wrapped__(steps, participations, separation, 1)
            wanted = all_ways(steps, participations, separation)
            assert wanted <= found <= wanted * 1.5


@pytest.mark.parametrize(
    ("steps", "participations", "separation", "squares"),
    [(5, 2, 5, 3), (9, 3, 5, 10), (6, 3, 3, 8), (5, 10**9, 10**9, 3), (64, 10**9, 1, 8128)],
)
def test_no_more_participations_count_than_fit(
    steps: int, participations: int, separation: int, squares: int
) -> None:
    assert squares_in_tree(steps, participations, separation, 1) == squares


@pytest.mark.parametrize("steps", [2, 3, 5])
def test_a_second_tree_is_as_if_the_steps_had_no_common_node(steps: int) -> None:
    for taken in (1, 2, 3, 4):
        alone = [squares_in_tree(steps, each, 1, 1) if each else 0 for each in range(taken + 1)]
        wanted = max(alone[each] + alone[taken - each] for each in range(taken + 1))
        assert squares_in_tree(steps, taken, 1, 2) == wanted


@pytest.mark.parametrize("trees", [2, 3])
@pytest.mark.parametrize("separation", [1, 2, 3, 5, 7, 8, 13, 20])
def test_the_separation_holds_across_trees(
    trees: int, separation: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for steps in range(1, 8):
        for participations in (1, 2, 3, 4):
            found = squares_in_tree(steps, participations, separation, trees)
            assert found == all_ways(steps, participations, separation, trees)
            with monkeypatch.context() as patched:
                patched.setattr(matrix, "_MOST_JOINED", 1)
                apart = squares_in_tree.__wrapped__(steps, participations, separation, trees)
            assert found <= apart <= found * 2
    # Two of three participations fit, the first and the last step: 3 nodes and 1.
    assert squares_in_tree(7, 3, 20, 3) == 4


def test_values_with_restarts() -> None:
    """Of two participations five steps apart the second one is the last step of the last tree."""
    for taken in (2, 3, 4):
        assert squares_in_tree(3, taken, 5, 2) == 3
    assert squares_in_tree(5, 4, 3, 2) == 12


@pytest.mark.parametrize("steps", [201, 255, 256, 365])
def test_every_step_is_exact(steps: int) -> None:
    """Of a row that takes part in every step, each complete node has as many as it has steps."""
    nodes = [(steps >> height, 1 << height) for height in range(steps.bit_length())]
    assert squares_in_tree(steps, steps, 1, 1) == sum(n * size**2 for n, size in nodes)


@pytest.mark.slow
def test_more_of_anything_costs_no_less() -> None:
    draw = random.Random(45)
    for _ in range(60):
        steps, trees = draw.randint(1, 90), draw.randint(1, 20)
        taken, apart = draw.randint(1, 250), draw.randint(1, 40)
        here = squares_in_tree(steps, taken, apart, trees)
        assert here <= squares_in_tree(steps, taken + draw.randint(0, 60), apart, trees)
        assert here >= squares_in_tree(steps, taken, apart + draw.randint(0, 9), trees)


def test_many_participations_are_bounded_without_a_search() -> None:
    searched = squares_in_tree(4096, 200, 1, 1)
    assert searched <= squares_in_tree(4096, 201, 1, 1) <= searched * 1.1
    assert squares_in_tree(10**9, 10**9, 1, 10**9) >= 10**18


def test_values_of_the_contract() -> None:
    assert [squares_in_tree(1000, each, 1, 1) for each in (1, 2)] == [10, 38]


def test_columns_that_overlap_add_up_without_signs() -> None:
    """C = I - shift/2, 3 steps, all three: |CᵀC| gives √5.5, and the bound is 3·√1.25."""
    bound = Matrix(F(1), F(11180339888, 10**10), 3, 1, 2)
    rows = [[1 if i == j else -0.5 if i == j + 1 else 0 for j in range(3)] for i in range(3)]
    products = [sum(abs(sum(row[s] * row[t] for row in rows)) for t in range(3)) for s in range(3)]
    assert math.sqrt(sum(products)) == pytest.approx(2.34520787991)
    assert float(bound.mu(F(1))) >= 2.34520787991


def test_columns_of_separate_bands_add_their_squares() -> None:
    """Bands (1, 1/2), two participations two steps apart: √2.5, as by all signs of the vectors."""
    rows = [[1 if i == j else 0.5 if i == j + 1 else 0 for j in range(4)] for i in range(5)]
    worst = max(
        math.hypot(*(row[0] * one + row[2] * other for row in rows))
        for one in (-1, 1)
        for other in (-1, 1)
    )
    found = Matrix(F(1), F(11180339888, 10**10), 2, 2, 2)
    assert worst == pytest.approx(1.58113883008)
    assert float(found.mu(F(1))) == pytest.approx(worst, rel=1e-9)
    overlapping = Matrix(F(1), F(1), 2, 1, 2), Matrix(F(1), F(1), 2, 9)
    assert all(each.mu_squared(F(1)) == 4 for each in overlapping)


@pytest.mark.parametrize("protect", ["unbounded", "bounded", "{relation: unbounded, distance: 3}"])
def test_it_is_gaussian_noise_of_the_sensitivity_in_all(protect: str) -> None:
    for more, plain in (
        ("mechanism: tree, steps: 1023, sigma: 5, sensitivity: 3", "sensitivity: {l2_squared: 90}"),
        ("mechanism: tree, steps: 8, participations: 2, sigma: 5, sensitivity: {l2: 1}", "14"),
        ("mechanism: tree, steps: 8, restarts: 1, participations: 2, sigma: 5, sensitivity: 1", ""),
        ("mechanism: matrix, column_norm: 2, sigma: 5", "sensitivity: 2"),
        ("mechanism: matrix, column_norm: 1, participations: 3, sigma: 5", "sensitivity: 3"),
    ):
        stated = plain if plain.startswith("sens") else "sensitivity: {l2_squared: 14}"
        found, other = (
            spec(each, protect=protect, more="report: {delta: 1e-6}")
            for each in (more, f"mechanism: gaussian, sigma: 5, {stated}")
        )
        assert bound(found) == bound(other)
        assert numbers(found) == numbers(other)
