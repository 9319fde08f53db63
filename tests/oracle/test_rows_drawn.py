"""Several rows that change above a sample, against the worst mechanism by linear programs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import asked
import numpy as np
import pytest
from asked import numbers, spec
from reference.events import largest_gain, largest_ratio
from scipy.stats import norm
from volume import seeds

import dpcompose

#: How many of the old rows are drawn, and how many of the new ones.
Part = tuple[int, int]
#: A part, and the one that one step leads to.
Steps = Iterable[tuple[Part, Part]]
#: ε and δ.
Said = tuple[float, float]
#: Chances of parts.
Law = dict[Part, float]


def analysed(
    distance: int,
    sample: str,
    said: str,
    epsilons: Sequence[float],
    root: str = "",
    protect: str = "bounded",
) -> dpcompose.Report:
    """One mechanism on a sample of a table of which some rows are replaced, or come or go."""
    text = spec(
        said,
        protect=f"{{relation: {protect}, distance: {distance}}}",
        root=f"{{{root}}}",
        datasets=f"some: {{from: rows, map: {{kind: sample, {sample}}}}}",
        more=f"report: {{epsilon: [{', '.join(map(str, epsilons))}]}}",
    )
    return asked.report(text, recheck=True)


def told(at: Any) -> float:
    """The δ at an ε."""
    return float(at.value)


def pair(epsilon: float, delta: float, relation: str = "bounded") -> str:
    """A guarantee for replaced rows alone, or for another relation."""
    if not delta:
        return f"notion: pure, epsilon: {epsilon}, relation: {relation}"
    return f"notion: approx, epsilon: {epsilon}, delta: {delta}, relation: {relation}"


def worst(
    first: Law, second: Law, steps: Steps, said: Said | Sequence[Said], epsilon: float
) -> float:
    """The largest P(E) - e^ε·Q(E) of all mechanisms that are so private at each step."""
    every = [said] if isinstance(said, tuple) else said
    return largest_gain(
        first, second, [(*step, *each) for step in steps for each in every], epsilon
    )


# --- drawn each by itself, for replaced rows alone ------------------------------------------------


def binomial(rows: int, rate: float) -> list[float]:
    return [math.comb(rows, n) * rate**n * (1 - rate) ** (rows - n) for n in range(rows + 1)]


def by_themselves(rows: int, rate: float, said: Said, epsilon: float) -> float:
    """A Poisson sample, whose size the mechanism may tell."""
    chances = binomial(rows, rate)
    first = {(n, 0): chance for n, chance in enumerate(chances)}
    second = {(0, n): chance for n, chance in enumerate(chances)}
    steps = [
        ((old, size - old), (old - 1, size - old + 1))
        for size in range(1, rows + 1)
        for old in range(1, size + 1)
    ]
    return worst(first, second, steps, said, epsilon)


@pytest.mark.parametrize("rate", ["1/100", "0.4", "0.9"])
@pytest.mark.parametrize(
    ("rows", "said"), [(2, (1, 0)), (3, (0.4, 0)), (2, (1, 1e-6)), (3, (0.5, 0.01)), (7, (0.2, 0))]
)
def test_of_replaced_rows_some_are_drawn(rows: int, rate: str, said: Said) -> None:
    epsilons = [0.1, 0.4, 0.5, 0.9, 1.3]
    report = analysed(rows, f"poisson: {rate}", pair(*said), epsilons)
    for epsilon, found in zip(epsilons, report.at_epsilon, strict=True):
        truth = by_themselves(rows, float(Fraction(rate)), said, epsilon)
        assert truth - 1e-9 <= told(found) <= truth * (1 + 1e-6) + 1e-9
    if said[1] and report.bound is not None:
        truth = by_themselves(rows, float(Fraction(rate)), said, float(report.bound.value))
        assert truth - 1e-9 <= float(report.bound.delta or 0) <= 1.02 * truth


@pytest.mark.slow
def test_a_gaussian_told_for_replaced_rows() -> None:
    epsilons = [0.5, 1, 1.5]
    said = "mechanism: gaussian, sigma: 1, sensitivity: {bounded: 1}"
    report = analysed(2, "poisson: 0.01", said, epsilons)
    for epsilon, found in zip(epsilons, report.at_epsilon, strict=True):
        truth = sum(
            chance
            * (norm.cdf(n / 2 - epsilon / n) - math.exp(epsilon) * norm.cdf(-n / 2 - epsilon / n))
            for n, chance in enumerate(binomial(2, 0.01))
            if n
        )
        assert truth <= told(found) <= truth * (1 + 1e-6)


@pytest.mark.slow
def test_of_many_rows_so_many_are_hardly_ever_drawn() -> None:
    # Over 40 steps (1, 1e-6) says nothing, and as many of 40 rows are not drawn.
    report = analysed(40, "poisson: 0.01", pair(1, 1e-6), [3.0])
    bound = report.bound
    assert bound is not None and bound.delta is not None and bound.delta < Fraction(1, 1000)
    truth = by_themselves(40, 0.01, (1, 1e-6), 3.0)
    assert truth - 1e-9 <= told(report.at_epsilon[0]) <= truth * (1 + 1e-4) + 1e-9
    # A half of all outcomes, at three steps more than all of them.
    report = analysed(3, "poisson: 1/2", pair(1, 0.4), [1.0])
    assert report.bound is not None and report.bound.delta is not None
    truth = by_themselves(3, 0.5, (1, 0.4), float(report.bound.value))
    assert truth - 1e-9 <= float(report.bound.delta) < 0.95


def test_the_headline_of_a_pair_counts_who_is_drawn() -> None:
    bound = analysed(2, "poisson: 0.01", pair(1, 1e-6), [1]).bound
    assert bound is not None and bound.value == 2
    # (2·0.0099 + 0.0001·(1+e))·1e-6, where two steps of (1, 1e-8) are 3.72e-8.
    assert float(bound.delta or 0) == pytest.approx(1e-6 * (0.0198 + 1e-4 * (1 + math.e)), rel=1e-9)


# --- rows that come or go -------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "rate"), [(2, 0.5), (3, 0.5), (2, 0.9)])
def test_of_rows_that_go_some_are_drawn(rows: int, rate: float) -> None:
    epsilons, said = [0.3, 1.0, 1.4], (1.0, 0.001)
    text = pair(*said, "unbounded")
    report = analysed(rows, f"poisson: {rate}", text, epsilons, protect="unbounded")
    first = {(n, 0): chance for n, chance in enumerate(binomial(rows, rate))}
    steps = [((n, 0), (n + 1, 0)) for n in range(rows)]
    for epsilon, found in zip(epsilons, report.at_epsilon, strict=True):
        truth = max(
            worst(p, q, steps, said, epsilon)
            for p, q in ((first, {(0, 0): 1.0}), ({(0, 0): 1.0}, first))
        )
        assert truth - 1e-9 <= told(found) <= truth * (1 + 1e-6) + 1e-9


@pytest.mark.slow
def test_two_guarantees_of_one_mechanism_hold_together() -> None:
    said = [(0.3, 0.05), (1.0, 0.0)]
    each = "".join(
        f"{{notion: approx, epsilon: {e}, delta: {d}, relation: unbounded}}, " for e, d in said
    )
    epsilons = [1.0, 1.5, 1.7]
    report = analysed(2, "poisson: 0.8", f"guarantees: [{each}]", epsilons, protect="unbounded")
    first = {(n, 0): chance for n, chance in enumerate(binomial(2, 0.8))}
    steps = [((n, 0), (n + 1, 0)) for n in range(2)]
    for epsilon, found in zip(epsilons, report.at_epsilon, strict=True):
        truth = worst(first, {(0, 0): 1.0}, steps, said, epsilon)
        assert truth - 1e-9 <= told(found) <= truth * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize(
    ("rows", "rate"),
    [(2, 0.3), (3, 0.1), pytest.param(40, 0.01, marks=pytest.mark.slow)],
)
def test_a_free_lunch_below_a_sample_of_replaced_rows(rows: int, rate: float) -> None:
    """All is drawn alike, and two samples that differ by any rows lose 1."""
    said = "notion: pure, epsilon: 1, relation: free-lunch"
    bound = analysed(rows, f"poisson: {rate}", said, [1]).bound
    assert bound is not None
    some = 1 - (1 - rate) ** rows
    assert float(bound.value) == pytest.approx(math.log1p(some * (math.e - 1)), rel=1e-9)


# --- all rows of one user -------------------------------------------------------------------------


@cache
def of_user(rows: int, said: str, rate: str, steps: int, protect: str = "user") -> float:
    """The ε at 1e-6 of training on a cap of so many rows; or for so many rows of anybody."""
    rule, kind = f"{{relation: {protect}, distance: {rows}}}", "row"
    if protect.startswith("user"):
        rule = protect if protect == "user" else f"{{relation: {protect}}}"
        kind = f"cap, rows: {rows}, keep: random"
    made = f"""capped: {{from: rows, map: {{kind: {kind}}}}}
    batch: {{from: capped, map: {{kind: sample, poisson: {rate}}}}}"""
    said, asks = f"{said}, count: {steps}", "report: {delta: 1e-6}"
    [found] = numbers(spec(said, protect=rule, root="{unit: person}", datasets=made, more=asks))
    return float(found)


def by_grid(rows: int, sigma: float, rate: float, steps: int) -> float:
    """The ε at 1e-6 of the mixture of normal laws, by a fine grid and one Fourier transform.

    The loss of each outcome goes to the grid points around it, by its mean.
    """
    x = np.linspace(-12 * sigma, rows + 12 * sigma, 100_001)
    middle = (x[1:] + x[:-1]) / 2
    weights = binomial(rows, rate)
    tilts = [w * np.exp((n * middle - n * n / 2) / sigma**2) for n, w in enumerate(weights)]
    loss = np.log(np.sum(tilts, axis=0))
    found = []
    for removed in (True, False):
        parts = [w * np.diff(norm.cdf(x, n, sigma)) for n, w in enumerate(weights)]
        law: np.ndarray
        p = np.sum(parts, axis=0) if removed else np.diff(norm.cdf(x, 0, sigma))
        here = loss if removed else -loss
        mean, size = float(p @ here), 1 << 20
        wide = 2.2 * float(np.abs(here).max()) + 40 * math.sqrt(steps * float(p @ here**2))
        step = (wide + 2 * abs(mean) * steps) / size
        base = np.floor(here / step).astype(np.int64)
        rest = here / step - base
        law = np.bincount(base % size, p * (1 - rest), size)
        law += np.bincount((base + 1) % size, p * rest, size)
        law = np.asarray(np.fft.irfft(np.fft.rfft(law) ** steps, size))
        losses = np.arange(size) * step
        losses -= np.round((losses - steps * mean) / (size * step)) * size * step
        low, high = 0.0, float(losses.max())
        for _ in range(60):
            at = (low + high) / 2
            above = losses > at
            delta = float(law[above] @ -np.expm1(at - losses[above]))
            low, high = (at, high) if delta > 1e-6 else (low, at)
        found.append(high)
    return max(found)


@pytest.mark.parametrize(
    ("rows", "truth"),
    [(3, 2.323841147), (9, 7.953454535), pytest.param(10, 8.988460153, marks=pytest.mark.slow)],
)
def test_user_level_training(rows: int, truth: float) -> None:
    said, rate = "mechanism: gaussian, sigma: 1.1, sensitivity: 1", "256/60000"
    assert truth <= of_user(rows, said, rate, 1000) <= truth * (1 + 5e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "rate", "sigma", "steps"),
    [(4, "0.5", 3.0, 10), (40, "0.01", 4.0, 100)],
)
def test_user_level_training_against_a_grid(rows: int, rate: str, sigma: float, steps: int) -> None:
    truth = by_grid(rows, sigma, float(Fraction(rate)), steps)
    said = f"mechanism: gaussian, sigma: {sigma}, sensitivity: 1"
    assert truth * (1 - 1e-5) <= of_user(rows, said, rate, steps) <= truth * (1 + 5e-5)


FAMILIES = {
    "gaussian": "mechanism: gaussian, sigma: 2, sensitivity: 1",
    "user": "notion: pure, epsilon: 0.3, relation: user",
    "pair": "notion: approx, epsilon: 0.2, delta: 1e-10, relation: unbounded",
    "laplace": "mechanism: laplace, scale: 3, sensitivity: 1",
    "geometric": "mechanism: geometric, scale: 3, sensitivity: 1",
    "pure": "notion: pure, epsilon: 0.3, relation: unbounded",
    "rho": "notion: zcdp, rho: 0.05, relation: unbounded",
    "mu": "notion: gdp, mu: 0.3, relation: unbounded",
    "discrete gaussian": "mechanism: discrete-gaussian, sigma: 2, sensitivity: 1",
}


@pytest.mark.slow
@pytest.mark.parametrize("family", seeds(4, FAMILIES))
def test_no_limit_makes_a_bound_of_a_users_rows_jump(family: str) -> None:
    said, rate = FAMILIES[family], "0.01"
    found = [of_user(n, said, rate, 20) for n in (1, 2, 8, 9, 10, 16, 17, 32, 33, 34)]
    assert found == sorted(found)
    for n, here, after in zip(
        (8, 9, 33), found[2:4] + found[-2:], found[3:5] + found[-1:], strict=False
    ):
        assert after <= here * ((n + 1) / n) ** 2.5
    for least, most in ((("0.01", 20), ("0.012", 20)), (("0.01", 20), ("0.01", 21))):
        assert of_user(20, said, *least) <= of_user(20, said, *most)
    for rows in (2, 9, 33) if family != "user" else ():
        assert of_user(rows, said, rate, 20) <= of_user(rows, said, rate, 20, "unbounded")


@pytest.mark.slow
def test_rows_of_two_users_are_no_worse_than_as_many_of_anybody() -> None:
    said = FAMILIES["mu"]
    anybody = of_user(6, said, "0.02", 20, "unbounded")
    two = of_user(3, said, "0.02", 20, "user, distance: 2")
    assert of_user(3, said, "0.02", 20) <= two <= anybody


@pytest.mark.slow
def test_very_many_rows_of_a_user(long: bool) -> None:
    said, found = FAMILIES["gaussian"], []
    for rows in (1000, 1001, 500, 2000, 10_000)[: 5 if long else 2]:
        found.append(of_user(rows, said, "0.02", 20))
        # Half the square of the mean number drawn is not far off.
        assert found[-1] < 3 * (20 * (rows * 0.02 / 2) ** 2 / 2 + 100)
    assert found[0] <= found[1] < 1.01 * found[0] and found[2:] == sorted(found[2:])
    assert not long or found[2] <= found[0] <= found[3]


# --- so many of them, without replacement ---------------------------------------------------------


def of_one_size(rows: int, size: int, of: int, said: Said, epsilon: float) -> float:
    """A sample of one size: others of the table are drawn in the place of the rest."""
    chances = [
        math.comb(rows, n) * math.comb(of - rows, size - n) / math.comb(of, size)
        for n in range(min(rows, size) + 1)
    ]
    first = {(n, 0): chance for n, chance in enumerate(chances)}
    second = {(0, n): chance for n, chance in enumerate(chances)}
    parts = [(old, new) for old in range(rows + 1) for new in range(rows + 1 - old)]
    steps = [
        (part, other)
        for part in parts
        for other in ((part[0] + 1, part[1]), (part[0], part[1] + 1), (part[0] - 1, part[1] + 1))
        if other in parts and sum(part) <= size and sum(other) <= size
    ]
    return worst(first, second, steps, said, epsilon)


@pytest.mark.parametrize(
    ("rows", "size", "of", "said"),
    [
        (2, 10, 100, (1, 0)),
        (3, 50, 100, (0.3, 0)),
        (2, 3, 4, (1, 0)),
        (3, 3, 5, (0.8, 0)),
        (3, 2, 6, (0.8, 0)),
        (5, 10, 30, (0.5, 0)),
        (2, 10, 100, (1, 1e-3)),
        (3, 3, 6, (1.5, 0.01)),
    ],
)
def test_of_a_sample_of_one_size(rows: int, size: int, of: int, said: Said) -> None:
    epsilons = [0.05, 0.2, 0.5, 1.0]
    table = f"domain: fixed-size-table, size: {of}"
    report = analysed(rows, f"size: {size}, of: {of}", pair(*said), epsilons, table)
    for epsilon, found in zip(epsilons, report.at_epsilon, strict=True):
        truth = of_one_size(rows, size, of, said, epsilon)
        assert truth - 1e-9 <= told(found) <= truth * (1 + 3e-4) + 1e-9
    bound = report.bound
    assert bound is not None and report.proof is not None
    assert report.proof.of_bound[0] == "sample-without-replacement"
    at = float(bound.value)
    assert of_one_size(rows, size, of, said, at) <= float(bound.delta or 0) + 1e-9
    if not said[1]:
        assert of_one_size(rows, size, of, said, at * 0.999) > 1e-7


def test_a_public_lower_bound_of_the_rows_will_do() -> None:
    table = "domain: fixed-size-table"
    report = analysed(2, "size: 10, of: 50", pair(1, 0), [0.05, 0.2], table)
    for epsilon, found in zip([0.05, 0.2], report.at_epsilon, strict=True):
        for of in (50, 51, 80):
            assert of_one_size(2, 10, of, (1, 0), epsilon) <= told(found)


@pytest.mark.parametrize(("size", "whole", "less"), [(2, 2, 1), (5, 1, 0.5), (9, 0.7, 1.2)])
def test_a_row_that_keeps_columns_loses_less_than_one_that_is_not_drawn(
    size: int, whole: float, less: float
) -> None:
    """Against the worst chances of an event: drawn with the old row, with the new one, or not."""
    changed = "{relation: bounded, changes: [a]}"
    text = spec(
        f"guarantees: [{{notion: pure, epsilon: {whole}, relation: bounded}}, "
        f"{{notion: pure, epsilon: {less}, relation: {changed}}}]",
        protect=changed,
        root="{domain: fixed-size-table, size: 10, columns: [a, b]}",
        datasets=f"some: {{from: rows, map: {{kind: sample, size: {size}, of: 10}}}}",
    )
    bound = asked.report(text, recheck=True).bound
    assert bound is not None
    q = size / 10
    replaced = min(less, whole)
    steps = [("old", "none", whole, 0), ("new", "none", whole, 0), ("old", "new", replaced, 0)]
    truth = largest_ratio({"old": q, "none": 1 - q}, {"new": q, "none": 1 - q}, steps)
    assert float(bound.value) == pytest.approx(math.log(truth), abs=1e-8)
    if size == 2:
        assert float(bound.value) == pytest.approx(0.52782046, abs=1e-8)


def test_of_an_ordered_table_rows_are_drawn_alike() -> None:
    """A row in the place of another one would stand elsewhere, so that nothing is amplified."""
    table, epsilons = "domain: ordered-table, size: 100", [0.5, 1.5]
    report = analysed(2, "size: 10, of: 100", pair(1, 0), epsilons, table)
    one, two = 2 * 10 * 90 / (100 * 99), 10 * 9 / (100 * 99)
    for epsilon, found in zip(epsilons, report.at_epsilon, strict=True):
        # Curve where the rows are, and that just these are told.
        truth = sum(
            chance * worst({(n, 0): 1.0}, {(0, n): 1.0}, places(n), (1, 0), epsilon)
            for n, chance in ((1, one), (2, two))
        )
        assert truth - 1e-9 <= told(found) <= truth * (1 + 1e-6) + 1e-9


def places(rows: int) -> Steps:
    """Old rows, and new ones in their places."""
    return [((old, rows - old), (old - 1, rows - old + 1)) for old in range(1, rows + 1)]
