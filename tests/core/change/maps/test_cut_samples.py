"""Poisson samples that are cut to a size, and samples with replacement: against exact laws."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from asked import bound, numbers, spec
from reference.finite_laws import worse
from scipy.stats import binom, norm
from volume import thinned

import dpcompose
from dpcompose import checker
from dpcompose.core.change.maps.kind import Readers
from dpcompose.core.change.maps.sample import Sample
from dpcompose.curves.rounding import truncated

F = Fraction
AT = ("0", "1/2", "2")
WIDTH = 0.02
AXIS = np.arange(-11, 11, WIDTH)


def sampled(
    keys: str,
    mechanism: str = "mechanism: gaussian, sigma: 1, sensitivity: 1",
    protect: str = "zero-out",
    root: str = "{domain: fixed-size-table}",
    report: str = f"{{epsilon: [{', '.join(AT)}]}}",
) -> str:
    """A mechanism on a sample."""
    made = f"batch: {{from: rows, map: {{kind: sample, {keys}}}}}"
    return spec(mechanism, protect=protect, root=root, datasets=made, more=f"report: {report}")


def deltas(text: str) -> list[float]:
    report = dpcompose.analyze(text)
    assert report.status == "ok" or report.at_epsilon, report.findings
    return [float(each.value) for each in report.at_epsilon if each.value is not None]


# --- how often a sample is cut --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "rate", "most"),
    [
        (1000, "1/10", 120),
        (60000, "1/100", 700),
        (5, "1/2", 1),
        (5, "1/2", 4),
        (20000, "1/50", 380),
    ],
)
def test_chances(rows: int, rate: str, most: int) -> None:
    q = float(F(rate))
    (low, high), kept = truncated(rows, F(rate), most)
    full, cut = binom.sf(most - 1, rows - 1, q), binom.sf(most, rows, q)
    assert low <= high
    assert float(low) == pytest.approx(full, rel=1e-6) == pytest.approx(float(high), rel=1e-6)
    assert float(kept) == pytest.approx(cut * most / (rows * full), rel=1e-6)


def test_chances_of_the_contract() -> None:
    (low, high), kept = truncated(1000, F(1, 10), 120)
    assert low == high and float(low) == pytest.approx(0.0214274752331, rel=1e-11)
    assert float(kept) == pytest.approx(0.0966454349225, rel=1e-11)
    (low, high), kept = truncated(10**7, F(1, 100), 10**5)
    assert low == 0 < high <= 1 and F(99, 10000) < kept < F(1, 100)


def test_the_bound_of_the_contract_is_not_exceeded() -> None:
    keys = "poisson: 1/10, at_most: 120, of: 1000"
    (found,) = deltas(sampled(keys, report="{epsilon: 1/2}"))
    plain = (1 - 0.0214274752331) * 0.00203253692034
    assert plain < found <= 0.00274059710184
    # The row stands in the place of another one: no more than r·δ of one protected step.
    assert found <= plain + 0.0214274752331 * 0.0966454349225 * 0.238421708135 * (1 + 1e-6)


# --- exact laws of a few rows ---------------------------------------------------------------------


@cache
def noise(center: float) -> np.ndarray:
    """The density of Gaussian noise around a sum."""
    found: np.ndarray = norm.pdf(AXIS - center)
    return found


def cut_law(rows: tuple[float, ...], rate: float, most: int) -> np.ndarray:
    """The density of the noisy sum of a Poisson sample of which at most so many rows are kept."""
    found = np.zeros_like(AXIS)
    for drawn in itertools.product((False, True), repeat=len(rows)):
        here = [x for x, yes in zip(rows, drawn, strict=True) if yes]
        chance = math.prod(rate if yes else 1 - rate for yes in drawn)
        kept = list(itertools.combinations(here, min(most, len(here))))
        for some in kept:
            found += chance / len(kept) * noise(sum(some))
    return found


def again_law(rows: tuple[float, ...], size: int) -> np.ndarray:
    found = np.zeros_like(AXIS)
    for some in itertools.product(rows, repeat=size):
        found += noise(sum(some)) / len(rows) ** size
    return found


def no_bound_is_below(first: np.ndarray, second: np.ndarray, bounds: list[float]) -> float:
    """The greatest share of a bound that two tables attain."""
    attained = 0.0
    for given, delta in zip(AT, bounds, strict=True):
        truth = worse(first, second, float(F(given))) * WIDTH
        assert truth <= delta * (1 + 1e-4) + 1e-9
        attained = max(attained, truth / delta)
    return attained


@pytest.mark.parametrize(
    ("rate", "most"), thinned([("1/2", 1), ("1/2", 2), ("1/4", 1), ("2/3", 4), ("1", 3)])
)
@pytest.mark.parametrize("protect", ["zero-out", "bounded"])
def test_cut_samples(rate: str, most: int, protect: str) -> None:
    move = "1" if protect == "zero-out" else "{unbounded: 1, bounded: 2}"
    text = sampled(
        f"poisson: {rate}, at_most: {most}, of: 5",
        f"mechanism: gaussian, sigma: 1, sensitivity: {move}",
        protect,
    )
    bounds, other = deltas(text), 0.0 if protect == "zero-out" else -1.0
    attained = 0.0
    for rest in itertools.product((-1.0, 0.0, 1.0), repeat=4):
        if list(rest) == sorted(rest):
            laws = [cut_law((x, *rest), float(F(rate)), most) for x in (1.0, other)]
            found = no_bound_is_below(laws[0], laws[1], bounds)
            attained = max(attained, found)
    assert attained > 0.3


@pytest.mark.parametrize("size", [1, 2, 4])
def test_samples_with_replacement(size: int) -> None:
    text = sampled(
        f"size: {size}, of: 3, replacement: true",
        "mechanism: gaussian, sigma: 1, sensitivity: {bounded: 2}",
        "bounded",
    )
    bounds, attained = deltas(text), 0.0
    for rest in itertools.product((-1.0, 1.0), repeat=2):
        laws = [again_law((x, *rest), size) for x in (1.0, -1.0)]
        found = no_bound_is_below(laws[0], laws[1], bounds)
        attained = max(attained, found)
    assert attained > 0.4


def test_pure_losses_with_replacement() -> None:
    """Every drawn copy of the row may add ε: E e^(ε·K) with K ~ Bin(m, 1/n)."""
    text = sampled("size: 100, of: 1000, replacement: true", "notion: pure, epsilon: 1", "bounded")
    exact = 100 * math.log1p((math.e - 1) / 1000)
    assert exact <= float(bound(text)) <= exact * (1 + 1e-9)
    pairs = text.replace("pure, epsilon: 1", "approx, epsilon: 1/10, delta: 1e-9")
    assert dpcompose.analyze(pairs).status == "ok"


@pytest.mark.slow
def test_draws_compose() -> None:
    keys, many = "poisson: 1/100, at_most: 760, of: 60000", ", count: 300"
    mechanism = f"mechanism: gaussian, sigma: 1, sensitivity: 1{many}"
    at = "{delta: 1e-6}"
    [cut] = numbers(sampled(keys, mechanism, report=at))
    [plain] = numbers(sampled("poisson: 1/100", mechanism, report=at))
    assert plain < cut < plain * F(1001, 1000)


@pytest.mark.slow
def test_several_rows_are_a_path() -> None:
    keys = "poisson: 1/4, at_most: 2, of: 5"
    one, two = (
        deltas(sampled(keys, protect=f"{{relation: zero-out, distance: {n}}}")) for n in (1, 2)
    )
    assert all(a < b for a, b in zip(one, two, strict=True))
    first, second = cut_law((1, 1, 0, 0, 0), 0.25, 2), cut_law((0, 0, 0, 0, 0), 0.25, 2)
    for given, delta in zip(AT, two, strict=True):
        assert worse(first, second, float(F(given))) * WIDTH <= delta


# --- words and errors -----------------------------------------------------------------------------

PURE = "notion: pure, epsilon: 1"


def test_words() -> None:
    cut = Sample(F(1, 2), of=5, at_most=2)
    assert cut.describe() == "a Poisson sample of rate 0.5, at most 2 rows" and not cut.plain
    ((said, _),) = cut.declares("b", Readers(("a",), 1))
    assert "of more than 2 drawn so many are kept" in said
    again = Sample(F(2, 5), 2, 5, replacement=True)
    assert again.describe() == "a sample of 2 of 5 rows with replacement" and not again.plain
    # A batch that is never larger is a plain sample.
    whole = sampled("poisson: 1/2, at_most: 5, of: 5")
    assert deltas(whole) == deltas(sampled("poisson: 1/2"))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (sampled("poisson: 1/2, at_most: 2, of: 5", PURE), "sample-cut"),
        (sampled("size: 2, of: 5, replacement: true", PURE, "bounded"), "sample-again"),
    ],
)
def test_the_checker_says_that_it_does_not_know(text: str, kind: str) -> None:
    lines = list(dpcompose.analyze(text, "a.yaml", certificate=True, recheck=True).certificate)
    assert json.loads(lines[2])["map"]["kind"] == kind
    found = checker.check(lines)
    checker.compare(lines, text.encode())
    assert found.left == found.checked > 0 and found.unchecked
    with pytest.raises(checker.Rejected):
        checker.compare(lines, text.replace("of: 5", "of: 7").encode())
