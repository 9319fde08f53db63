"""Balls in bins: specs, against laws of a few rows."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from asked import bound, numbers, spec
from reference.finite_laws import worse
from scipy.special import ndtr
from scipy.stats import norm

import dpcompose
from dpcompose import checker, curves
from dpcompose.core.change.maps.allocate import Allocate
from dpcompose.core.change.maps.kind import Readers
from dpcompose.core.change.maps.sample import Sample

F = Fraction
GAUSSIAN = "mechanism: gaussian, sigma: 1, sensitivity: 1"


def bins(
    mechanism: str = GAUSSIAN,
    keys: str = "steps: 2",
    protect: str = "zero-out",
    root: str = "{}",
    report: str = "{epsilon: [1/2, 1]}",
) -> str:
    """A mechanism on balls in bins."""
    made = f"bins: {{from: rows, map: {{kind: allocate, {keys}}}}}"
    more = f"report: {report}"
    return spec(*mechanism.split("; "), protect=protect, root=root, datasets=made, more=more)


def values(text: str) -> list[float]:
    return [float(each) for each in numbers(text)]


# --- numbers --------------------------------------------------------------------------------------


def test_two_steps_of_the_contract() -> None:
    for found, truth in zip(
        values(bins(protect="unbounded")), (0.149177523136, 0.0592065010859), strict=True
    ):
        assert truth <= found <= truth * (1 + 1e-4)


@pytest.mark.slow
def test_epochs_and_all_that_reads_a_step() -> None:
    at = "{delta: 1e-6}"
    fresh, same = (
        values(bins(keys=f"steps: 50, epochs: 4, bins: {each}", report=at))[0]
        for each in ("fresh", "same")
    )
    once = curves.gaussian(sigma=1).allocate(50)
    assert fresh == pytest.approx(float(once.repeat(4).epsilon(delta="1e-6") or 0), rel=1e-9)
    kept = curves.gaussian(sigma="1/2").allocate(50).epsilon(delta="1e-6")
    assert same == pytest.approx(float(kept or 0), rel=1e-9)
    assert fresh < same < float(curves.gaussian(sigma="1/2").epsilon(delta="1e-6") or 0)
    # Two sums of the same step are one of μ² = 1 + 1/4, composed before a row's step is drawn.
    two = f"{GAUSSIAN}; {GAUSSIAN.replace('sigma: 1', 'sigma: 2')}"
    [both] = values(bins(two, "steps: 50, epochs: 4", report=at))
    joint = curves.gdp(1).compose(curves.gdp("1/2")).allocate(50).repeat(4)
    assert both == pytest.approx(float(joint.epsilon(delta="1e-6") or 0), rel=1e-9)


@pytest.mark.slow
def test_other_mechanisms_are_as_if_the_step_were_known() -> None:
    for mechanism in ("notion: pure, epsilon: 1", "mechanism: laplace, scale: 1, sensitivity: 1"):
        assert bound(bins(mechanism, "steps: 100, epochs: 3")) == 3
    assert bound(bins("notion: zcdp, rho: 1/2", "steps: 100, epochs: 3")) == F(3, 2)
    assert bound(bins(keys="steps: 100, epochs: 4")) == 2  # μ


def test_two_rows_and_a_row_replaced() -> None:
    """Two steps and two rows in the plane: each row moves one coordinate, by 1 or by -1."""
    axis = (np.arange(-400, 450) + 0.5) / 50
    density = norm.pdf(axis)
    none = np.multiply.outer(density, density)

    def moved(*moves: float) -> np.ndarray:
        found: np.ndarray = np.zeros_like(none)
        for bins in itertools.product((0, 1), repeat=len(moves)):
            at = [sum(x for x, b in zip(moves, bins, strict=True) if b == side) for side in (0, 1)]
            law = np.multiply.outer(norm.pdf(axis - at[0]), norm.pdf(axis - at[1]))
            found += law / 2 ** len(moves)
        return found

    def truth(p: np.ndarray, q: np.ndarray, at: float) -> float:
        return worse(p, q, at) / 50**2

    two = values(bins(protect="{relation: zero-out, distance: 2}"))
    replaced = values(bins(protect="bounded", root="{domain: fixed-size-table}",
                           mechanism="mechanism: gaussian, sigma: 1, "
                           "sensitivity: {unbounded: 1, bounded: 2}"))  # fmt: skip
    for n, at in enumerate((0.5, 1.0)):
        known = truth(moved(1, 1), none, at)
        assert known * (1 - 1e-3) <= two[n] < 1.2 * known
        assert two[n] < 2 * ndtr(1) - 1 + 0.1
        assert truth(moved(1), moved(-1), at) * (1 - 1e-3) <= replaced[n] < 0.6


def test_a_replaced_row_is_at_most_two_ends_at_right_angles() -> None:
    """μ of the bound that is printed is the one from which the ε at a δ is: √2 and not 2."""
    sides = GAUSSIAN.replace("sensitivity: 1", "sensitivity: {unbounded: 1, bounded: 2}")
    for steps in (2, 7):
        found = bound(bins(sides, f"steps: {steps}, epochs: 3", protect="bounded"))
        assert math.sqrt(6) <= found <= math.sqrt(6) * (1 + 1e-9)
    two = bins(sides, protect="bounded", report="{delta: 1e-6}")
    [epsilon] = values(two)
    exact = curves.gdp(bound(two)).epsilon(delta="1e-6")
    assert epsilon == pytest.approx(float(exact or 0), rel=1e-9)
    # One step is no choice.
    assert bound(bins(sides, "steps: 1", protect="bounded")) == 2


def test_a_user_with_a_few_rows_is_a_path() -> None:
    text = bins(protect="user", root="{unit: person}").replace(
        "  bins: {from: rows",
        "  few: {from: rows, map: {kind: cap, rows: 2, keep: first}}\n  bins: {from: few",
    )
    pair = values(bins(protect="{relation: unbounded, distance: 2}"))
    assert values(text) == pytest.approx(pair, rel=1e-2)
    # Each of the two rows may be in a step of its own, and is two steps of a whole user there.
    one = text.replace(GAUSSIAN, "notion: pure, epsilon: 1, relation: RELATION")
    for relation, value in (("unbounded", 2), ("user", 4)):
        assert bound(one.replace("RELATION", relation)) == value
    unknown = bins("notion: pure, epsilon: 1", protect="user", root="{unit: person}")
    assert dpcompose.analyze(unknown).status == "no-guarantee"
    anything = unknown.replace("epsilon: 1", "epsilon: 1, relation: free-lunch")
    assert dpcompose.analyze(anything).status == "no-guarantee"


@pytest.mark.parametrize("kind", ["allocate, steps: 2", "batches, epochs: 2"])
@pytest.mark.parametrize("relation", ["free-lunch", "bounded"])
def test_a_change_of_all_steps_has_no_bound(kind: str, relation: str) -> None:
    """A guarantee of one step or batch for any change of it says nothing of all of them."""
    text = bins(f"notion: pure, epsilon: 1, relation: {relation}", protect="bounded")
    text = text.replace("allocate, steps: 2", kind)
    opaque = text.replace("bins: {from: rows", "o: {from: rows, map: opaque}\n  bins: {from: o")
    report = dpcompose.analyze(opaque)
    assert report.status == "no-guarantee" and report.bound is None
    if relation == "free-lunch":
        assert "The worst change may reach all" in report.reasons[0]
        come = bins(f"notion: pure, epsilon: 1, relation: {relation}", protect="unbounded")
        if "batches" in kind:
            moved = come.replace("allocate, steps: 2", kind)
            assert dpcompose.analyze(moved).status == "no-guarantee"


# --- enumeration ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("steps", "epochs"), [(2, 1), (2, 2), (3, 1)])
def test_no_bound_is_below_bins_of_coins(steps: int, epochs: int) -> None:
    """Each step tells, with odds of e, whether its number of rows is odd; two others are there."""
    odds = math.e / (1 + math.e)

    def law(rows: int) -> dict[tuple[int, ...], float]:
        one: dict[tuple[int, ...], float] = {}
        for bins in itertools.product(range(steps), repeat=rows):
            odd = [bins.count(step) % 2 for step in range(steps)]
            for told in itertools.product((0, 1), repeat=steps):
                chance = math.prod(
                    odds if a == b else 1 - odds for a, b in zip(odd, told, strict=True)
                )
                one[told] = one.get(told, 0.0) + chance / steps**rows
        found: dict[tuple[int, ...], float] = {(): 1.0}
        for _ in range(epochs):
            found = {
                a + b: p * q for (a, p), (b, q) in itertools.product(found.items(), one.items())
            }
        return found

    at = ("0", "1/4", "1/2", "1")
    text = bins("notion: pure, epsilon: 1", f"steps: {steps}, epochs: {epochs}",
                report=f"{{epsilon: [{', '.join(at)}]}}")  # fmt: skip
    first, second = law(3), law(2)
    for given, delta in zip(at, values(text), strict=True):
        p, q = (np.array([law[key] for key in first]) for law in (first, second))
        assert worse(p, q, float(F(given))) <= delta + 1e-12


# --- words and errors -----------------------------------------------------------------------------


def test_words() -> None:
    made = Allocate(F(1, 5), steps=5, epochs=2)
    assert not made.plain and made.then(Sample(F(1, 2))) is None
    assert Sample(F(1, 2)).then(made) is None
    assert made.describe() == "rows in one of 5 steps of 2 epochs"
    ((said, at),) = made.declares("b", Readers(("a",), 2))
    assert "in one of 5 steps of `b`" in said and at == ("steps",)
    report = dpcompose.analyze(bins(keys="steps: 5, epochs: 3"))
    assert not {each.code for each in report.findings} & {"DPC206", "DPC210", "DPC217"}


@pytest.mark.parametrize(
    "text",
    [bins(keys="steps: 5, epochs: 3"), bins("notion: pure, epsilon: 1", "steps: 5, epochs: 3")],
)
def test_the_checker_says_that_it_does_not_know(text: str) -> None:
    report = dpcompose.analyze(text, "a.yaml", certificate=True, recheck=True)
    lines = list(report.certificate)
    assert json.loads(lines[2])["map"]["kind"] == "allocate"
    found = checker.check(lines)
    checker.compare(lines, text.encode())
    assert found.left == found.checked > 0 and found.unchecked
    wrong = text.replace("steps: 5", "steps: 6")
    with pytest.raises(checker.Rejected):
        checker.compare(lines, wrong.encode())


# --- one row replaced -----------------------------------------------------------------------------


def replaced(steps: int, report: str, sensitivity: str = "1", keys: str = "") -> str:
    mechanism = f"mechanism: gaussian, sigma: 1, sensitivity: {sensitivity}"
    return bins(mechanism, f"steps: {steps}{keys}", "bounded", report=report)


def of_opposite_rows(steps: int, epsilon: float, choices: list[tuple[float, float]]) -> float:
    """δ where the old row moves each step by a number and the new one by another, of which each
    step takes the pair of `choices` that is the worst after what was seen; by sums over a grid,
    from the last step to the first."""
    z = np.arange(-8, 8, 0.05)
    weights = norm.pdf(z) / norm.pdf(z).sum()
    sums = np.sinh(np.linspace(-12, 12, 4001)) / 20
    value = np.maximum(sums, 0.0)
    differences = [
        np.exp(a * z - a * a / 2) - math.exp(epsilon) * np.exp(b * z - b * b / 2)
        for a, b in choices
    ]
    for step in range(steps):
        at = sums if step < steps - 1 else np.zeros(1)
        every = []
        for each in differences:
            mean = np.zeros(len(at))
            for weight, moved in zip(weights, each, strict=True):
                mean += weight * np.interp(at + moved, sums, value)
            every.append(mean)
        value = np.maximum.reduce(every)
    return float(value[0]) / steps


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_opposite_rows_are_the_worst_and_attain_the_bound_of_two_steps(epsilon: float) -> None:
    sizes = (-1.0, 0.0, 1.0)
    every = [(a, b) for a in sizes for b in sizes]
    any_rows = of_opposite_rows(2, epsilon, every)
    opposite = of_opposite_rows(2, epsilon, [(1.0, -1.0)])
    [found] = values(replaced(2, f"{{epsilon: {epsilon}}}"))
    assert any_rows == pytest.approx(opposite, rel=1e-5)
    assert found == pytest.approx(opposite, rel=1e-3)
    assert found == pytest.approx(
        float(curves.gdp("1.4142135623730950488").delta(epsilon=str(epsilon)))
    )
    [of_three] = values(replaced(3, f"{{epsilon: {epsilon}}}"))
    assert of_opposite_rows(3, epsilon, [(1.0, -1.0)]) <= of_three <= found


def test_a_replaced_row_of_two_steps_is_printed_with_its_lower_bound() -> None:
    report = dpcompose.analyze(replaced(2, "{delta: 1e-6}"))
    [at] = report.at_delta
    truth = curves.gdp("1.4142135623730950488").epsilon(delta="1e-6")
    assert truth is not None and at.lower is not None and at.value is not None
    assert float(at.value) == pytest.approx(float(truth), rel=1e-12)
    assert at.lower <= at.value <= at.lower * (1 + F(1, 10**9))
    # A row that moves less far may not be one of two opposite ones: less may be true.
    less = dpcompose.analyze(replaced(2, "{delta: 1e-6}", "{unbounded: 1, bounded: 1.9}"))
    assert less.at_delta[0].lower is None and less.at_delta[0].value == at.value
    near = dpcompose.analyze(replaced(2, "{delta: 1e-6}", "{unbounded: 1, bounded: 1}"))
    one = curves.gaussian(sigma=1).epsilon(delta="1e-6")
    assert one is not None and near.at_delta[0].value is not None
    assert float(near.at_delta[0].value) == pytest.approx(float(one))


@pytest.mark.slow
def test_replaced_rows_fall_with_the_steps_and_compose_over_epochs() -> None:
    at = "{delta: [1e-6, 0.1]}"
    found = [values(replaced(steps, at)) for steps in (1, 2, 3, 4, 50)]
    for more, fewer in itertools.pairwise(found):
        assert all(a >= b for a, b in zip(more, fewer, strict=True))
    two = curves.gdp(2).epsilon(delta="1e-6")
    assert two is not None
    assert values(replaced(2, at, keys=", epochs: 2"))[0] == pytest.approx(float(two))
    assert values(replaced(2, at, keys=", epochs: 2, bins: same"))[0] == pytest.approx(float(two))
