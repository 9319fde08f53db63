"""Sensitivities in a norm that is named: what they say of each noise, and that it is sound."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from asked import written
from reference import curves
from tables import tables

from dpcompose.pipeline import analyze
from dpcompose.report import Report
from dpcompose.resolve.norms import Moves

TABLES = tables(__file__)

F = Fraction
LAPLACE, GEOMETRIC = "laplace, scale: 3", "geometric, scale: 3"
GAUSSIAN, DISCRETE = "gaussian, sigma: 3", "discrete-gaussian, sigma: 3"


def report(noise: str, sensitivity: str, protect: str = "unbounded", more: str = "") -> Report:
    released = f"reads: people, mechanism: {noise}, sensitivity: {sensitivity}"
    more += "" if "report" in more else "report: {delta: 1e-6}\n"
    return analyze(written("people: {}", released, protect=protect, more=more))


def numbers(found: Report) -> tuple[object, object]:
    assert found.status == "ok", found.findings
    return found.bound, [each.value for each in found.at_delta]


@pytest.mark.parametrize(
    ("noise", "named", "plain"), TABLES["a norm is turned into that of the noise"]
)
def test_a_norm_is_turned_into_that_of_the_noise(noise: str, named: str, plain: str) -> None:
    assert numbers(report(noise, named)) == numbers(report(noise, plain))
    both = report(noise, f"{{unbounded: {named}, bounded: {named}}}", "bounded")
    assert numbers(both) == numbers(
        report(noise, f"{{unbounded: {plain}, bounded: {plain}}}", "bounded")
    )


@pytest.mark.parametrize(
    ("noise", "removed", "replaced"),
    [
        (LAPLACE, "2.5", "5"),
        (GEOMETRIC, "2", "4"),
        (GAUSSIAN, "2.5", "{l2_squared: 12.5}"),
        (DISCRETE, "{l1: 2}", "{l1: 4, l2_squared: 8}"),
    ],
)
def test_one_coordinate_of_a_vector(noise: str, removed: str, replaced: str) -> None:
    """One row replaced leaves one coordinate and enters another."""
    size = "2" if noise in (GEOMETRIC, DISCRETE) else "2.5"
    for said in (f"{{one_hot: {size}}}", f"{{one_hot: {size}, dimension: 7}}"):
        one, other = report(noise, said), report(noise, removed)
        assert numbers(one) == numbers(other)
        one, other = (
            report(noise, said, "bounded"),
            report(noise, f"{{bounded: {replaced}}}", "bounded"),
        )
        assert one.bound == other.bound
        # In two coordinates noise hides more than in one, but Gaussian noise. At this δ two that
        # move by as much are the worst that is known of discrete Gaussian noise in L2, too.
        [told], [most] = one.at_delta, other.at_delta
        assert told.value is not None and most.value is not None
        equal = noise in (GAUSSIAN, DISCRETE)
        assert told.value == most.value if equal else told.value < most.value
        apart = report(noise, f"{{unbounded: {said}, bounded: {said}}}", "bounded")
        assert numbers(one) == numbers(apart)
    # No two rows, of all values in between, move it further.
    rows = [(place, F(value, 2)) for place in range(3) for value in range(6)]
    moves = [
        [(place == here) * value - (place == there) * other for place in range(3)]
        for here, value in rows
        for there, other in rows
    ]
    assert max(sum(map(abs, move)) for move in moves) == 5
    assert max(sum(each**2 for each in move) for move in moves) == F(25, 2)


def test_a_histogram_as_one_vector_costs_what_its_cells_cost() -> None:
    assert report("gaussian, sigma: 5", "{one_hot: 1}", "bounded", "budget: {rho: 0.04}\n").verdict
    found = report("discrete-gaussian, sigma: 5", "{one_hot: 1}", "bounded").bound
    assert found is not None and (found.value, found.exact) == (F(1, 25), True)
    twice = report("discrete-gaussian, sigma: 5", "1", "bounded").bound
    assert twice is not None and twice.value == F(2, 25)
    # Where the number of rows is public none comes or goes.
    fixed = "  - {name: a, reads: t, mechanism: gaussian, sigma: 5, sensitivity: {one_hot: 1}}\n"
    head = "dpcompose: 1\nprotect: bounded\ndatasets: {t: {domain: fixed-size-table}}\n"
    of_size = analyze(f"{head}mechanisms:\n{fixed}").bound
    assert of_size is not None and float(of_size.value) == pytest.approx(2**0.5 / 5, rel=1e-12)


def test_a_square_is_exact() -> None:
    found = report("discrete-gaussian, sigma: 1", "{l2_squared: 2}").bound
    assert found is not None and found.value == 1 and found.exact
    gaussian = report("gaussian, sigma: 1", "{l2_squared: 2}", more="budget: {rho: 1}\n")
    assert gaussian.verdict is not None and gaussian.verdict.ok and gaussian.verdict.slack == 0
    moved = report(
        "discrete-gaussian, sigma: 1", "{unbounded: 1, bounded: {l2_squared: 2}}", "bounded"
    ).bound
    assert moved is not None and moved.value == 1 and moved.exact


def test_a_distance_in_another_unit() -> None:
    # 3·√2 is 1.5·√8.
    assert Moves("L2", F(3), F(2)).inside(F(8)) == Moves("L2", F(3, 2), F(8))


def truth(coordinates: int, sigma: float, epsilon: float) -> float:
    """δ of discrete Gaussian noise where so many coordinates move by one, by convolution."""
    reach = math.ceil(14 * sigma)
    places = np.arange(-reach, reach + 1)
    chances = np.exp(-(places**2) / (2 * sigma**2))
    chances /= chances.sum()
    whole = chances
    for _ in range(coordinates - 1):
        whole = np.convolve(whole, chances)
    sums = np.arange(-reach * coordinates, reach * coordinates + 1)
    losses = (coordinates - 2 * sums) / (2 * sigma**2)
    return float((whole * np.maximum(-np.expm1(epsilon - losses), 0)).sum())


@pytest.mark.parametrize("coordinates", [1, 4, 9])
@pytest.mark.parametrize("epsilon", [2, 6, 12, 16])
def test_steps_in_many_coordinates_are_covered(coordinates: int, epsilon: int) -> None:
    root = math.isqrt(coordinates)
    for said in (str(root), f"{{l2: {root}}}", f"{{l1: {coordinates}}}"):
        found = analyze(
            "dpcompose: 1\nprotect: unbounded\ndatasets: {people: {}}\nmechanisms:\n"
            "  - {name: a, reads: people, mechanism: discrete-gaussian, sigma: 1, "
            f"sensitivity: {said}}}\nreport: {{epsilon: {epsilon}}}\n"
        )
        [at] = found.at_epsilon
        assert at.value is not None
        assert at.value >= Fraction(truth(coordinates, 1.0, epsilon)) * (1 - Fraction(1, 10**6))
    if coordinates == 4 and epsilon == 12:
        assert truth(4, 1.0, 12) == pytest.approx(3.7e-8, rel=0.02)


@pytest.mark.parametrize(
    ("noise", "sensitivity", "norm"),
    [
        (LAPLACE, "1", "L1"),
        (GAUSSIAN, "{l1: 1}", "L2"),
        (DISCRETE, "1", "L2"),
        (DISCRETE, "2", "L2"),
        (DISCRETE, "{l1: 2}", "L1"),
        (DISCRETE, "{l2_squared: 2}", "L2"),
    ],
)
def test_the_report_says_which_norm_is_vouched_for(noise: str, sensitivity: str, norm: str) -> None:
    says = " ".join(each.says for each in report(noise, sensitivity).assumptions)
    other = "L1" if norm == "L2" else "L2"
    assert f"in {norm}," in says and f"in {other}," not in says


def test_the_bounds_are_checked_again() -> None:
    for sensitivity in (
        "{l2_squared: 2}",
        "2",
        "{unbounded: 1, bounded: {l2_squared: 2}}",
        "{one_hot: 1}",
    ):
        text = (
            "dpcompose: 1\nprotect: bounded\ndatasets: {people: {}}\nmechanisms:\n"
            f"  - {{name: a, reads: people, mechanism: {DISCRETE}, sensitivity: {sensitivity}}}\n"
            f"  - {{name: b, reads: people, mechanism: {GAUSSIAN}, sensitivity: {sensitivity}}}\n"
        )
        assert analyze(text, recheck=True).rechecked


def curve_of(noise: str, moved: tuple[int, ...], epsilon: float) -> float:
    """δ of noise on a vector whose coordinates move by so much, by convolution."""
    if noise.startswith("laplace"):
        return float(curves.laplaces([F(abs(m), 3) for m in moved if m])(F(epsilon)))
    reach = 60 if noise.startswith("discrete") else 150
    places: Any = np.arange(-reach, reach + 1)
    square = 2 * 3.0**2
    logs = -(places**2) / square if noise.startswith("discrete") else -np.abs(places) / 3.0
    chances = np.exp(logs) / np.exp(logs).sum()
    losses: Any = np.zeros(1)
    weights: Any = np.ones(1)
    for m in moved:
        after = places + abs(m)
        if noise.startswith("discrete"):
            more = (after**2 - places**2) / square
        else:
            more = (np.abs(after) - np.abs(places)) / 3.0
        both = np.add.outer(losses, more).round(9).ravel()
        losses, index = np.unique(both, return_inverse=True)
        weights = np.bincount(index, weights=np.outer(weights, chances).ravel())
    return float((weights * np.maximum(-np.expm1(epsilon - losses), 0)).sum())


@pytest.mark.parametrize("squared", [2, 3, 4, 6, 9])
@pytest.mark.parametrize("epsilon", [0, 0.4, 2.5])
def test_the_law_of_whole_vectors_of_a_norm_in_l2(squared: int, epsilon: float) -> None:
    """The largest δ of all whole vectors, of at most as many coordinates as the square."""

    def within(left: int, most: int) -> list[tuple[int, ...]]:
        rest = range(1, min(most, math.isqrt(left)) + 1)
        return [(), *((each, *more) for each in rest for more in within(left - each**2, each))]

    found = report(DISCRETE, f"{{l2_squared: {squared}}}", more=f"report: {{epsilon: {epsilon}}}\n")
    [at] = found.at_epsilon
    assert at.value is not None
    worst = max(curve_of(DISCRETE, way, epsilon) for way in within(squared, squared))
    assert float(at.value) == pytest.approx(worst, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(
    ("sensitivity", "protect", "steps", "squared", "times"),
    [
        ("{l1: 3, l2_squared: 5}", "unbounded", 3, 5, 1),
        ("{l2_squared: 5, dimension: 2}", "unbounded", 3, 5, 1),
        ("{l2_squared: 2}", "bounded", 2, 2, 2),
        ("{l2_squared: 2}", "{relation: unbounded, distance: 2}", 2, 2, 2),
        ("2", "unbounded", 4, 4, 1),
    ],
)
@pytest.mark.parametrize("epsilon", [0, 0.4, 2.5])
def test_whole_vectors_of_two_norms_along_a_path(
    sensitivity: str, protect: str, steps: int, squared: int, times: int, epsilon: float
) -> None:
    """The largest δ of all sums of so many vectors of these norms."""
    places = range(-steps, steps + 1)
    one = [
        each
        for each in product(places, repeat=min(4, squared))
        if sum(map(abs, each)) <= steps and sum(x * x for x in each) <= squared
    ]
    moves = {tuple(map(sum, zip(*way, strict=True))) for way in product(one, repeat=times)}
    different = {tuple(sorted(abs(m) for m in move if m)) for move in moves}
    worst = max(curve_of(DISCRETE, move, epsilon) for move in different)
    more = f"report: {{epsilon: {epsilon}}}\n"
    [at] = report(DISCRETE, sensitivity, protect, more).at_epsilon
    assert at.value is not None
    assert float(at.value) == pytest.approx(worst, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("noise", [LAPLACE, GEOMETRIC, DISCRETE])
@pytest.mark.parametrize("epsilon", [0, 0.4, 1.1])
def test_the_law_of_a_histogram(noise: str, epsilon: float) -> None:
    """No change of a row or two moves the vector further than is told, and one as far.

    Rows replaced, one row that gives two results or fewer, and rows that come and go.
    """

    def told(protect: str, *, flattened: bool = False) -> float:
        made = "  r: {from: t, map: {kind: flatten, max_rows: 2}}\n" if flattened else ""
        found = analyze(
            f"dpcompose: 1\nprotect: {protect}\ndatasets:\n  t: {{}}\n{made}mechanisms:\n"
            f"  - {{name: a, reads: {'r' if flattened else 't'}, mechanism: {noise}, "
            f"sensitivity: {{one_hot: 1}}}}\nreport: {{epsilon: {epsilon}}}\n"
        )
        [at] = found.at_epsilon
        assert at.value is not None
        return float(at.value)

    def worst(goes: int, comes: int) -> float:
        moves = {
            tuple(
                sum(place == into for into in there) - sum(place == out for out in here)
                for place in range(4)
            )
            for here in product(range(4), repeat=goes)
            for there in product(range(4), repeat=comes)
        }
        different = {tuple(sorted(abs(m) for m in move if m)) for move in moves}
        return max(curve_of(noise, move, epsilon) for move in different)

    close = pytest.approx
    assert told("unbounded") == close(worst(0, 1), rel=1e-6, abs=1e-12)
    assert told("bounded") == close(worst(1, 1), rel=1e-6, abs=1e-12)
    twice = worst(2, 2)
    assert told("{relation: bounded, distance: 2}") == close(twice, rel=1e-6, abs=1e-12)
    assert told("bounded", flattened=True) == close(twice, rel=1e-6, abs=1e-12)
    assert told("{relation: unbounded, distance: 2}") == close(
        max(worst(0, 2), worst(1, 1)), rel=1e-6, abs=1e-12
    )
    for one, other in ((1, 2), (0, 3)):
        assert worst(one, other) <= told("{relation: unbounded, distance: 3}") * (1 + 1e-9) + 1e-12
