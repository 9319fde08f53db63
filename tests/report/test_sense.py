"""Remarks on numbers that make little sense, and their silence where they do."""

from __future__ import annotations

import pytest
from asked import report, written

PEOPLE = "  people: {}\n"
CAPPED = "  trips: {unit: user}\n  capped: {from: trips, map: {kind: cap, rows: 5, keep: random}}\n"
LAPLACE = "mechanism: laplace, scale: 2, sensitivity: 1"
SAMPLE = "  people: {}\n  some: {from: people, map: {kind: sample, poisson: 0.1}}\n"
PURE = "notion: pure, epsilon: 1"


def found(
    code: str, datasets: str, *mechanisms: str, protect: str = "unbounded", more: str = ""
) -> list[tuple[int, str]]:
    """The lines and the messages of the findings with a code."""
    found = report(written(datasets, *mechanisms, protect=protect, more=more))
    return [
        (each.span.line, each.message)
        for each in found.findings
        if each.code == code and each.span is not None
    ]


@pytest.mark.parametrize(
    ("root", "more", "says"),
    [
        ("{}", "budget: {epsilon: 1, delta: 0.01}\n", "above 1/1000"),
        ("{}", "report: {delta: [1e-6, 0.002]}\n", "above 1/1000"),
        (
            "{domain: fixed-size-table, size: 5000}",
            "report: {delta: 1/5000}\n",
            "at least 1/n for the 5000 rows",
        ),
        ("{domain: fixed-size-table, size: 5000}", "report: {delta: 1/5001}\n", None),
        ("{}", "budget: {epsilon: 1, delta: 1e-3}\n", None),
    ],
)
def test_a_large_delta(root: str, more: str, says: str | None) -> None:
    gaussian = "name: a, reads: people, mechanism: gaussian, sigma: 4, sensitivity: {bounded: 1}"
    messages = found("DPC208", f"  people: {root}\n", gaussian, protect="bounded", more=more)
    assert (len(messages) == 1 and says in messages[0][1]) if says else messages == []


def test_a_large_delta_of_a_statement() -> None:
    [(line, _)] = found(
        "DPC208", PEOPLE, "name: a, reads: people, notion: approx, epsilon: 1, delta: 0.1"
    )
    assert line == 6


def test_a_large_epsilon() -> None:
    entry = "name: a, reads: people, notion: pure, epsilon: {}"
    [(line, says)] = found("DPC209", PEOPLE, entry.format(21))
    assert line == 2 and says.startswith("ε = 21 lets the odds")
    assert found("DPC209", PEOPLE, entry.format(20)) == []
    # What is asked for is the ε at the δ, not that of the bound.
    noise = "name: a, reads: people, mechanism: laplace, scale: 4, sensitivity: 1, count: 100"
    assert len(found("DPC209", PEOPLE, noise)) == 1
    assert found("DPC209", PEOPLE, noise, more="report: {delta: 1e-6}\n") == []


def test_a_sample_for_one_release() -> None:
    one = f"name: a, reads: some, {PURE}"
    [(line, says)] = found("DPC210", SAMPLE, one)
    assert line == 5 and "only `a` reads the Poisson sample `some`" in says
    assert "from ε = 1 to 0.158" in says
    assert found("DPC210", SAMPLE, one, f"name: b, reads: some, {PURE}") == []
    assert found("DPC210", SAMPLE, f"{one}, count: 3") == []
    whole = SAMPLE.replace("0.1", "1")
    assert found("DPC210", whole, one) == []


@pytest.mark.parametrize(
    ("noise", "fires"),
    [
        ("laplace, scale: 0.09, sensitivity: 1", True),
        ("laplace, scale: 0.1, sensitivity: 1", False),
        ("geometric, scale: 1, sensitivity: 11", True),
        ("gaussian, sigma: 1, sensitivity: {l2_squared: 101}", True),
        ("gaussian, sigma: 1, sensitivity: 10", False),
        ("discrete-gaussian, sigma: 1, sensitivity: 11", True),
        ("skellam, variance: 1, sensitivity: 20", True),
        ("exponential, epsilon: 30, sensitivity: 1", False),
    ],
)
def test_noise_far_below_its_sensitivity(noise: str, fires: bool) -> None:
    messages = found("DPC211", PEOPLE, f"name: a, reads: people, mechanism: {noise}")
    assert len(messages) == fires


@pytest.mark.parametrize(
    ("datasets", "key"),
    [
        (
            CAPPED + "  more: {from: capped, map: {kind: cap, rows: 7, keep: random}}\n",
            "`rows: 7` of `more`",
        ),
        (
            CAPPED + "  more: {from: capped, map: {kind: cap, rows: 4, keep: random}}\n",
            None,
        ),
        (
            CAPPED + "more: {from: capped, "
            "partition: {by: value, blocks: 9, max_blocks_per_unit: 5}}",
            "`max_blocks_per_unit: 5` of `more`",
        ),
        (
            CAPPED + "more: {from: capped, "
            "partition: {by: value, blocks: 3, max_blocks_per_unit: 3}}",
            "`max_blocks_per_unit: 3` of `more`",
        ),
        (
            CAPPED + "more: {from: capped, "
            "partition: {by: value, blocks: 9, max_rows_per_block: 6}}",
            "`max_rows_per_block: 6` of `more`",
        ),
        (
            CAPPED + "more: {from: capped, partition: "
            "{by: value, blocks: 9, max_blocks_per_unit: 4, max_rows_per_block: 2}}",
            None,
        ),
    ],
)
def test_a_cap_above_which_nothing_changes(datasets: str, key: str | None) -> None:
    reads = "more" if "kind: cap, rows: 7" in datasets or "rows: 4" in datasets else "more.*"
    messages = found("DPC212", datasets, f"name: a, reads: {reads}, {LAPLACE}", protect="user")
    assert (len(messages) == 1 and key in messages[0][1]) if key else messages == []


def test_a_report_in_short_leads_with_the_number_of_its_budget() -> None:
    """The budget's δ comes before another one that is asked for, also where ρ meets the budget."""
    asked = "budget: {epsilon: 4, delta: 1e-7}\nreport: {delta: 1e-5}"
    found = report(written(PEOPLE, "reads: people, notion: zcdp, rho: 1/20", more=asked))
    least = f"ε ≤ {found.epsilon('1e-7'):.6g} at δ = 1e-7"
    assert found.in_short == f"{least}, ρ = 1/20 (zCDP, unbounded)"
