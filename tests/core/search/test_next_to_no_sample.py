"""A Poisson sample of rate 1 is no sample, and one of any rate loses no more than none."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import pytest

import dpcompose
from dpcompose import Report

F = Fraction
READERS = {
    "exponential": "mechanism: exponential, epsilon: 1, sensitivity: 1, count: 2",
    "zcdp": "notion: zcdp, rho: 0.2, relation: unbounded, count: 2",
    "gdp": "notion: gdp, mu: 0.5, relation: unbounded",
    "pure": "notion: pure, epsilon: 0.5, relation: unbounded, count: 3",
    "approx": "notion: approx, epsilon: 0.5, delta: 1e-6, relation: unbounded",
    "laplace": "mechanism: laplace, scale: 2, sensitivity: 1",
    "above": "notion: pure, epsilon: 0.5, relation: unbounded, stated_on: people, count: 2",
    "replaced": "notion: pure, epsilon: 0.7, relation: bounded",
}
PROTECTED = ["unbounded", "bounded", "{relation: unbounded, distance: 3}"]


@cache
def report(reader: str, protect: str, rate: str | None, draws: str = "one") -> Report:
    """What reads a sample, or without a rate the table itself."""
    reads, sample = "people", ""
    if rate is not None:
        reads = "day"
        sample = (
            f"\n  day: {{from: people, map: {{kind: sample, poisson: {rate}, draws: {draws}}}}}"
        )
    text = f"""
dpcompose: 1
protect: {protect}
datasets:
  people: {{}}{sample}
mechanisms:
  - {{name: m, reads: {reads}, {READERS[reader]}}}
report: {{delta: [0.01, 1e-5]}}
"""
    return dpcompose.analyze(text.replace(", stated_on: people", "" if rate is None else
                                          ", stated_on: people"), "spec")  # fmt: skip


def numbers(found: Report) -> list[Fraction | None]:
    return [each.value for each in found.at_delta]


@pytest.mark.parametrize("protect", PROTECTED)
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("draws", ["one", "each"])
def test_a_sample_of_rate_1_is_no_sample(reader: str, protect: str, draws: str) -> None:
    none, every = report(reader, protect, None), report(reader, protect, "1", draws)
    assert every.bound == none.bound
    assert numbers(every) == numbers(none)


@pytest.mark.slow
@pytest.mark.parametrize("protect", PROTECTED)
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("rate", ["0.5", pytest.param("0.99", marks=pytest.mark.long), "0.999999"])
def test_no_rate_loses_more_than_no_sample(reader: str, protect: str, rate: str) -> None:
    if reader == "above":
        return  # what is stated above is not for two that share a sample
    for draws in ("one", "each"):
        none, some = report(reader, protect, None), report(reader, protect, rate, draws)
        for without, sampled in zip(numbers(none), numbers(some), strict=True):
            if without is not None:
                assert sampled is not None
                assert sampled <= without * (1 + F(1, 10**7))


@pytest.mark.slow
def test_a_row_replaced_is_no_two_changes_below_a_sample() -> None:
    """Of two rows that come of one, one may be replaced and one gone: not both apart."""
    found = dpcompose.analyze(
        "dpcompose: 1\nprotect: bounded\ndatasets:\n  people: {}\n"
        "  visits: {from: people, map: {kind: flatten, max_rows: 2}}\n"
        "  some: {from: visits, map: {kind: sample, poisson: 0.1}}\nmechanisms:\n"
        "  - {name: a, reads: some, mechanism: gaussian, sigma: 2, sensitivity: 1}\n"
        "report: {delta: 0.01}\n"
    )
    [told] = numbers(found)
    assert told is not None and told <= F("0.2686892")
