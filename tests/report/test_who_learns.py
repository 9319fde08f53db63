"""Who learns what: questions of a spec, each column by itself, and how the answers are told."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import command
import pytest
from conftest import LIBRARY

from dpcompose.pipeline import analyze, analyze_file

CENSUS = LIBRARY["census-2020-who-learns-what"]
SCHOOL = LIBRARY["school-grades-who-learns-what"]


def run(*arguments: str) -> str:
    result = command.run("analyze", *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_census_release_says_who_learns_what() -> None:
    """The figures of theory, section 12: a record that moves, from anywhere to within its group."""
    report = analyze_file(CENSUS, recheck=True)
    found = {each.name: each for each in report.attributes}
    expected = {
        "the whole record": Fraction(293764, 114921),
        "where in the country": Fraction(293764, 114921) * Fraction(3995, 4099),
        "where in the state": Fraction(750567020, 471061179),
        "where in the county": Fraction(619254512, 471061179),
        "where in the tract": Fraction(417438644, 471061179),
        "which block of the block group": Fraction(16157020, 157020393),
    }
    assert [each.name for each in report.attributes] == list(expected)
    for name, rho in expected.items():
        bound = found[name].bound
        assert bound is not None and bound.exact and bound.value == rho, name
    last = found["which block of the block group"]
    assert last.mechanisms == ("Block",)
    (at,) = last.at_delta
    assert at.value is not None and 2.92572308788 <= at.value <= 2.92572308788 * (1 + 1e-9)
    alone = analyze_file(CENSUS, recheck=True, by_attribute=True)
    assert report.rechecked is not None and alone.rechecked is not None
    assert report.rechecked.claims < alone.rechecked.claims
    assert [each.name for each in alone.attributes[len(expected) :]] == [
        "state", "county", "tract", "block_group", "block", "race", "hispanic", "age", "housing",
    ]  # fmt: skip


def test_a_teacher_reads_what_a_classmate_learns() -> None:
    report = analyze_file(SCHOOL, recheck=True)
    assert {each.name: each.bound and each.bound.value for each in report.attributes} == {
        "the grade": Fraction(3, 4),
        "the year": 1,
        "the club": Fraction(2, 5),
        "the sex": 0,
        "year and grade": Fraction(5, 4),
    }
    assert report.bound is not None and report.bound.value == Fraction(33, 20)
    assert not report.findings


def test_a_question_has_the_answer_of_the_spec_that_protects_it() -> None:
    """The guarantees stay what the spec says; `relation` is written out to keep them."""
    text = SCHOOL.read_text("utf-8")
    for each in analyze(text).attributes:
        protect = f"protect: {{relation: bounded, changes: {list(each.changes)}}}"
        alone = analyze(text.replace("protect: bounded", protect))
        assert alone.bound is not None and each.bound is not None
        assert alone.bound.value == each.bound.value


@pytest.mark.parametrize(("protect", "distance"), [("unbounded", 1), ("bounded", 3)])
def test_questions_are_about_as_many_rows_as_are_protected(protect: str, distance: int) -> None:
    text = (
        f"dpcompose: 1\nprotect: {{relation: {protect}, distance: {distance}}}\n"
        "datasets: {t: {columns: [a, b]}, f: {from: t, map: {kind: columns, only: [a]}}}\n"
        "mechanisms: [{name: m, reads: f, notion: pure, epsilon: 1, relation: bounded},\n"
        "             {name: n, reads: t, notion: pure, epsilon: 5, relation: unbounded}]\n"
        "report: {questions: [{name: x, changes: [b]}]}\n"
    )
    (found,) = analyze(text).attributes
    assert found.bound is not None and found.bound.value == 10 * distance
    assert found.mechanisms == ("n",)


def test_a_narrow_default_gives_no_answer_to_other_questions_and_says_why() -> None:
    text = (
        "dpcompose: 1\nprotect: {relation: bounded, changes: [a]}\ndatasets: {t: {columns: [a, b]}}"
        "\nmechanisms: [{name: m, reads: t, notion: pure, epsilon: 1}]\n"
        "report: {questions: [{name: x, changes: [b]}, {name: y, changes: [a]}]}\n"
    )
    report = analyze(text)
    no, yes = report.attributes
    assert report.bound is not None and report.bound.value == 1
    assert no.bound is None and not no.is_finite and not no.mechanisms
    assert (
        "its guarantee is for bounded neighbours changing a alone of what it reads" in no.reasons[0]
    )
    assert "(`relation: bounded`)" in no.reasons[0]
    assert yes.bound is not None and yes.bound.value == 1
    wide = analyze(text.replace("epsilon: 1", "epsilon: 1, relation: bounded"))
    assert [each.bound and each.bound.value for each in wide.attributes] == [1, 1]


def test_an_answer_may_be_known_at_a_delta_alone_or_where_the_whole_has_none() -> None:
    text = (
        "dpcompose: 1\nprotect: bounded\ndatasets:\n  t: {columns: [a, b]}\n"
        "  f: {from: t, map: {kind: columns, only: [a]}}\nmechanisms:\n"
        "  - {name: exact, reads: f, notion: pure, epsilon: 1, "
        "relation: {relation: bounded, keeps: [a]}}\n"
        "  - {name: n, reads: t, notion: gdp, mu: 1}\n"
        "report: {delta: 1e-6, questions: [{name: x, changes: [b]}, {name: y, changes: [a]}]}\n"
    )
    report = analyze(text)
    x, y = report.attributes
    assert report.status == "no-guarantee"
    assert x.bound is not None and x.bound.value == 1 and x.at_delta[0].value is not None
    assert not y.is_finite and not y.at_delta and y.reasons


@pytest.mark.slow
def test_risk_is_told_of_each_answer() -> None:
    """Pure ε alone: an attack that succeeds with chance k succeeds at most with e^ε k."""
    result = json.loads(run(str(SCHOOL), "--format", "jsonl", "--risk"))
    found = {each["name"]: each["risk"] for each in result["attributes"]}
    assert found["the sex"]["success"][1] == {"baseline": 0.1, "success": 0.1}
    assert found["the sex"]["advantage"] == 0
    for name, epsilon in (("the grade", 0.75), ("the club", 0.4)):
        (low,) = (e["success"] for e in found[name]["success"] if e["baseline"] == 0.01)
        assert 0.01 < low <= 0.01 * math.exp(epsilon) * (1 + 1e-9)
    text = run(str(SCHOOL), "--risk", "--width", "120")
    assert "told by" in text


def test_a_ledger_has_no_answers() -> None:
    text = SCHOOL.read_text("utf-8").replace("protect:", "adaptivity: parameters\nprotect:")
    report = analyze(text)
    assert report.attributes and not any(each.is_finite for each in report.attributes)
    assert "no guarantee" in report.attributes[0].reasons[0]


NOTHING = """\
dpcompose: 1
protect: PROTECT
datasets: {t: {COLUMNS}}
mechanisms: [{name: m, reads: t, notion: pure, epsilon: 1}]
"""


@pytest.mark.parametrize(
    ("protect", "columns", "says"),
    [
        ("bounded", "", "`t` does not list its columns"),
        ("user", "columns: [u, a], unit: u", "user neighbours are protected"),
        ("bounded", "columns: [a, b]", "no map and no partition says which columns it uses"),
    ],
)
def test_where_nothing_tells_columns_apart_that_is_told(
    protect: str, columns: str, says: str
) -> None:
    text = NOTHING.replace("PROTECT", protect).replace("COLUMNS", columns)
    (found,) = analyze(text, by_attribute=True).findings
    assert (found.code, found.level) == ("DPC230", "note")
    assert found.message.startswith(says)
    assert not analyze(text).findings


def test_roots_with_columns_of_their_own_tell_columns_apart() -> None:
    text = NOTHING.replace("PROTECT", "bounded")
    text = text.replace("t: {COLUMNS}", "t: {columns: [a]}, s: {columns: [b]}")
    report = analyze(text, by_attribute=True)
    assert not report.findings
    told = {each.name: each.bound for each in report.attributes}
    assert told["a"] is not None and told["a"].value > 0
    assert told["b"] is not None and told["b"].value == 0


# --- how it is told ------------------------------------------------------------------------------


def test_json_has_the_answers_in_the_order_asked() -> None:
    result = json.loads(run(str(CENSUS), "--format", "jsonl", "--by", "attribute"))
    first = result["attributes"][5]
    assert {"name", "changes", "guarantee", "at_delta", "risk"} <= first.keys()
    assert first["name"] == "which block of the block group" and first["changes"] == ["block"]
    assert first["guarantee"]["exact"] == {"rho": "16157020/157020393"}
    assert first["guarantee"]["notion"] == "zcdp" and first["risk"] is None
    assert first["at_delta"][0]["delta"] == 1e-10
    assert result["attributes"][6]["name"] == "state"
    assert "attributes" not in json.loads(run(str(LIBRARY["survey"]), "--format", "jsonl"))


@pytest.mark.parametrize("width", ["80", "120"])
@pytest.mark.parametrize("path", [CENSUS, SCHOOL], ids=["census", "school"])
def test_the_table_fits(path: Path, width: str) -> None:
    lines = run(str(path), "--width", width).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("Who learns what"))
    table = lines[start : start + 20]
    assert max(map(len, table)) <= int(width)
    assert ("told by" in table[1]) is (width == "120")
    assert table[2].startswith("protected: 1 row replaced")


def test_markdown_has_a_table() -> None:
    text = run(str(SCHOOL), "--format", "markdown")
    assert "#### Who learns what: " in text
    assert "| question | columns | ε | told by |" in text
    assert "| <code>the sex</code> | <code>sex</code> | 0 |  |" in text


def test_quiet_and_brief_say_no_more_than_the_bound() -> None:
    assert run(str(SCHOOL), "--quiet", "--by", "attribute") == "epsilon=1.65\n"
    assert "Who learns what" not in run(str(SCHOOL), "--brief")
