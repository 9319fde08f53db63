"""Words that a spec may leave out: what is meant then is never less than what is meant elsewhere.

A sensitivity without a relation is for one row of what is read, whichever mechanism has it and
whatever is protected.
"""

from __future__ import annotations

from fractions import Fraction as F

import pytest

from dpcompose import checker
from dpcompose.pipeline import analyze
from dpcompose.report import Report

#: Mechanisms with ε = 1/200·(1, 2) for one row that moves each score, or the answer, by 1.
LAPLACE = "mechanism: laplace, scale: 100, sensitivity: 1"
CHOICES = [
    "mechanism: noisy-max, scale: 200, sensitivity: 1",
    "mechanism: noisy-max, scale: 100, sensitivity: 1, monotone: true",
    "mechanism: permute-and-flip, scale: 200, sensitivity: 1",
    "mechanism: top-k, k: 1, scale: 200, sensitivity: 1",
    "mechanism: top-k, k: 1, noise: gumbel, scale: 200, sensitivity: 1",
]
USER = """\
protect: user
datasets:
  t: {unit: person}
  read: {from: t, map: {kind: cap, rows: 20, keep: first}}
"""
ROWS = """\
protect: RELATION
datasets:
  t: {}
  read: {from: t, map: {kind: filter}}
"""
EDGES = "protect: RELATION\ndatasets:\n  read: {domain: graph, max_degree: 3}\n"
DECLARED = """\
protect: household
relations:
  household: {within: unbounded, distance: 5}
datasets:
  read: {}
"""


def _report(text: str, mechanism: str) -> Report:
    return analyze(
        f"dpcompose: 1\n{text}mechanisms:\n  - {{name: m, reads: read, {mechanism}}}\n", "t"
    )


def _epsilon(text: str, mechanism: str) -> F:
    """The pure ε of a spec with one mechanism, whose certificate holds."""
    whole = f"dpcompose: 1\n{text}mechanisms:\n  - {{name: m, reads: read, {mechanism}}}\n"
    report = analyze(whole, "t", certificate=True, recheck=True)
    assert report.bound is not None, (report.findings, report.reasons)
    assert report.rechecked is not None
    assert not checker.compare(list(report.certificate), whole.encode()).left
    return report.bound.value


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize(
    "text, steps",
    [
        (USER, 20),
        (ROWS.replace("RELATION", "unbounded"), 1),
        (ROWS.replace("RELATION", "{relation: unbounded, distance: 3}"), 3),
        (ROWS.replace("RELATION", "bounded"), 2),
        (ROWS.replace("RELATION", "zero-out"), 1),
        (EDGES.replace("RELATION", "edge"), 1),
        (EDGES.replace("RELATION", "node"), 1),
        (DECLARED, 5),
    ],
)
def test_a_sensitivity_without_a_relation_is_for_one_row(
    text: str, steps: int, choice: str
) -> None:
    if "monotone" in choice and text.startswith(("protect: edge", "protect: node")):
        pytest.skip("edges come and go in both directions")
    assert _epsilon(text, LAPLACE) == F(steps, 100)
    assert _epsilon(text, choice) == F(steps, 100)


def test_with_a_relation_it_is_for_one_step_of_that() -> None:
    for choice in (CHOICES[0], CHOICES[2]):
        assert _epsilon(USER, f"{choice}, relation: user") == F(1, 100)
    # What states an ε is for what is protected, as any stated guarantee.
    assert _epsilon(USER, "mechanism: noisy-max, epsilon: 1/100") == F(1, 100)


@pytest.mark.parametrize("choice", [LAPLACE, *CHOICES[:1], *CHOICES[2:]])
@pytest.mark.parametrize(
    "text, code, instead",
    [
        (
            "protect: bounded\ndatasets:\n  read: {domain: fixed-size-table}\n",
            "DPC140",
            "bounded",
        ),
        (
            "protect: free-lunch\ndatasets:\n  read: {domain: graph}\n",
            "DPC153",
            "relation: edge",
        ),
        (
            "protect: unbounded\ndatasets:\n  t: {}\n"
            "  read: {from: t, map: {kind: value, sensitivity: 1}}\n",
            "DPC153",
            "relation: euclidean",
        ),
    ],
)
def test_where_one_row_has_no_meaning_it_is_asked_for(
    text: str, code: str, instead: str, choice: str
) -> None:
    [found] = [each for each in _report(text, choice).findings if each.level == "error"]
    assert found.code == code and instead in (found.hint or "")


def test_a_selection_of_runs_has_the_sensitivity_of_its_run() -> None:
    runs = "mechanism: select, runs: {fixed: 1}, of: {%s}"
    assert _report(USER, runs % CHOICES[0]).bound == _report(USER, CHOICES[0]).bound
    geometric = runs.replace("fixed: 1", "geometric: 10")
    one, other = (_report(USER, geometric % each).bound for each in (CHOICES[0], LAPLACE))
    assert one is not None and other is not None
    assert one.value == other.value


def test_how_many_values_there_are_is_asked_for_where_it_counts() -> None:
    text = "protect: bounded\ndatasets:\n  read: {}\nreport: {delta: 1e-2}\n"
    answers = "mechanism: randomized-response"
    [found] = _report(text, f"{answers}, lie: 1/3").findings
    assert "`lie` needs `k`" in found.message
    losses = [_report(text, f"{answers}, lie: 1/3, k: {k}").bound for k in (2, 3, 9)]
    values = [each.value for each in losses if each is not None]
    assert values == sorted(values) and len(values) == 3
    [unknown] = [each.value for each in _report(text, f"{answers}, epsilon: 1").at_delta]
    for k in (2, 3, 9):
        [known] = [each.value for each in _report(text, f"{answers}, epsilon: 1, k: {k}").at_delta]
        assert known is not None and unknown is not None and known <= unknown
    assert _report(text, f"{answers}, p: 3/4, q: 1/4").bound == (
        _report(text, f"{answers}, p: 3/4, q: 1/4, k: 2").bound
    )
