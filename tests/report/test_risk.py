"""What an attacker gains: asked for in specs and by flags, told in each format, and as a budget."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import command
import pytest
from scipy.stats import norm
from typer.testing import Result

import dpcompose
from dpcompose.core.change.neighbouring import UNBOUNDED, Relation, RelationKind
from dpcompose.core.model.problem import Goal
from dpcompose.core.notions.guarantee import AskedRisk, Budget
from dpcompose.render.json.result_schema import RISK
from dpcompose.render.text.risk_text import in_words, odds
from dpcompose.report import Report
from dpcompose.report.verdict import implies

GAUSSIAN = """\
dpcompose: 1
protect: unbounded
datasets: {rows: {}}
mechanisms:
  - {name: mean, reads: rows, notion: gdp, mu: 1}
"""
HUNDRED = GAUSSIAN.replace("notion: gdp, mu: 1", "notion: pure, epsilon: 0.1, count: 100")


def run(tmp_path: Path, how: str, text: str, *options: str) -> Result:
    path = tmp_path / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    return command.run(how, str(path), *options)


def shape(tmp_path: Path, text: str, *options: str) -> dict[str, Any]:
    ran = run(tmp_path, "analyze", text, "--format", "jsonl", *options)
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def near(found: float, true: float) -> bool:
    return true * (1 - 1e-12) <= found <= true * (1 + 1e-6)


# --- asked for -----------------------------------------------------------------------------------


def test_the_flag_asks_for_the_usual_rates(tmp_path: Path) -> None:
    found = shape(tmp_path, GAUSSIAN, "--risk")["risk"]
    assert [each["false_alarms"] for each in found["hits"]] == [0.01, 0.05]
    assert [each["baseline"] for each in found["success"]] == [0.5, 0.1, 0.01]
    assert near(found["advantage"], 2 * norm.cdf(0.5) - 1)
    for each in found["hits"]:
        assert near(each["hits"], norm.sf(norm.isf(each["false_alarms"]) - 1))
    for each in found["success"]:
        assert near(each["success"], norm.sf(norm.isf(each["baseline"]) - 1))
    assert "from_point" not in found


def test_a_spec_says_where(tmp_path: Path) -> None:
    text = GAUSSIAN + "report: {risk: {baselines: 1/3, false_alarms: [1e-3, 0.2]}}\n"
    for options in ((), ("--risk",)):
        found = shape(tmp_path, text, *options)["risk"]
        assert [each["false_alarms"] for each in found["hits"]] == [0.001, 0.2]
        assert [each["success"] for each in found["success"]] == pytest.approx(
            [norm.sf(norm.isf(1 / 3) - 1)]
        )
    found = shape(tmp_path, GAUSSIAN + "report: {risk: {}}\n")["risk"]
    assert len(found["hits"]) == 2 and len(found["success"]) == 3


def test_one_point_stands_beside_the_curve(tmp_path: Path) -> None:
    found = shape(tmp_path, HUNDRED, "--risk", "--delta", "1e-6")["risk"]
    point = found["from_point"]
    assert point["delta"] == 1e-6 and point["epsilon"] == pytest.approx(4.77457, abs=1e-5)
    e, d, a = point["epsilon"], 1e-6, 0.01
    assert near(point["hits"][0]["hits"], 1 - math.exp(-e) * (1 - d - a))
    assert found["hits"][0]["hits"] < 0.0915 < 0.99 < point["hits"][0]["hits"]
    # Without a δ the bound itself is the point.
    point = shape(tmp_path, HUNDRED, "--risk")["risk"]["from_point"]
    assert (point["epsilon"], point["delta"]) == (10, 0)
    assert near(point["advantage"], math.tanh(5))


def test_mechanisms_without_a_common_notion_have_a_risk(tmp_path: Path) -> None:
    text = GAUSSIAN + "  - {name: more, reads: rows, notion: approx, epsilon: 0.5, delta: 1e-4}\n"
    assert shape(tmp_path, text)["status"] == "no-guarantee"
    found = shape(tmp_path, text, "--risk")
    assert found["status"] == "ok" and found["guarantee"] == {"notion": "profile"}
    assert found["at_epsilon"][0]["epsilon"] == 0
    assert found["at_epsilon"][0]["delta"] == pytest.approx(found["risk"]["advantage"])


# --- told ----------------------------------------------------------------------------------------


def test_counts_are_never_below_a_rate() -> None:
    says = in_words(
        Fraction(1, 10**6), Fraction(2001, 10**9), Report("a", "", "ok", goal=Goal(UNBOUNDED))
    )
    assert says.startswith("Of 10 000 000 people") and "guess 10 right" in says
    assert "at most 21 right" in says
    assert odds(Fraction(1)) == "certain"
    assert odds(Fraction(1, 2)) == "1 : 1"
    for rate in (Fraction(n, 1000) for n in range(1, 1000)):
        first, _, second = odds(rate).partition(" : ")
        assert Fraction(first) / Fraction(second) >= rate / (1 - rate)


def test_an_adversary_keeps_its_own_label(tmp_path: Path) -> None:
    text = (
        "dpcompose: 1\nprotect: unbounded\ndatasets:\n  people: {}\n  practice:\n    from: people\n"
        "    partition: {by: membership, blocks: 4, max_blocks: 4}\n"
        "mechanisms: [{name: visits, reads: practice.*, notion: pure, epsilon: 0.3}]\n"
        "adversary: {hypotheses: none-vs-uniform}\n"
    )
    said = " ".join(run(tmp_path, "analyze", text, "--risk").stdout.split())
    assert "not from the weaker one against an adversary with two hypotheses" in said
    assert near(shape(tmp_path, text, "--risk")["risk"]["from_point"]["advantage"], math.tanh(0.6))


# --- budgets -------------------------------------------------------------------------------------


def test_which_budget_holds_where_another_does() -> None:
    def success(most: str, baseline: str) -> Budget:
        return Budget((("success", Fraction(most)), ("baseline", Fraction(baseline))))

    assert implies(success("0.1", "0.02"), success("0.2", "0.01"))
    assert not implies(success("0.1", "0.01"), success("0.2", "0.02"))
    assert not implies(success("0.2", "0.02"), success("0.1", "0.01"))
    small, large = (Budget((("advantage", Fraction(each)),)) for each in ("0.1", "0.2"))
    assert implies(small, large) and not implies(large, small)
    assert not implies(small, success("0.9", "0.1"))


@pytest.mark.parametrize(
    "budget",
    ["{advantage: 0.1}", "{success: 0.05, baseline: 0.01}", "{success: 0.2, baseline: 0.1}"],
)
def test_noise_is_fitted_to_a_risk(tmp_path: Path, budget: str) -> None:
    text = GAUSSIAN.replace("notion: gdp, mu: 1", "mechanism: gaussian, sigma: 1, sensitivity: 1")
    ran = run(tmp_path, "fit", f"{text}budget: {budget}\n")
    assert ran.exit_code == 0
    found = re.search(r"sigma: ([0-9./]+)", ran.stdout)
    assert found is not None
    mu = 1 / float(Fraction(found[1]))
    given = dict(re.findall(r"(\w+): ([0-9.]+)", budget))
    if "advantage" in given:
        true = 2 * norm.ppf((1 + float(given["advantage"])) / 2)
    else:
        true = norm.isf(float(given["baseline"])) - norm.isf(float(given["success"]))
    assert true * (1 - 1e-5) <= mu <= true
    assert run(tmp_path, "check", ran.stdout).exit_code == 0


def test_in_python() -> None:
    report = dpcompose.analyze(GAUSSIAN, risk=AskedRisk((), (Fraction(1, 20),)))
    assert report.risk is not None and report.risk.success == ()
    [(rate, found)] = report.risk.hits
    assert rate == Fraction(1, 20) and near(float(found), norm.sf(norm.isf(0.05) - 1))


@pytest.mark.parametrize(
    ("relation", "changes", "words"),
    [
        ("unbounded", (), "right without their data guesses at most 2 right with them"),
        ("user", (), "right without their data guesses at most 2 right with them"),
        ("bounded", (), "right with another record in its place guesses at most 2 right with it"),
        ("bounded", ("grade",), "with other values in these columns guesses at most 2 right with"),
        ("edge", (), "right without the edge guesses at most 2 right with it"),
        ("node", (), "right without the vertex guesses at most 2 right with it"),
        ("free-lunch", (), "right with a neighbouring table in its place guesses at most 2 right"),
    ],
)
def test_the_other_table_is_that_of_the_relation(
    relation: str, changes: tuple[str, ...], words: str
) -> None:
    columns = frozenset(changes) if changes else None
    goal = Goal(Relation(RelationKind(relation), changes=columns))
    report = Report("a", "", "ok", goal=goal)
    assert words in in_words(Fraction(1, 100), Fraction(2, 1000) - Fraction(1, 10**9), report)


def test_membership_is_not_one_of_two_values() -> None:
    """Gaussian noise of μ = 1 (theory, section 11): 0.6915, and 0.8413 for a binary attribute."""
    text = (
        "dpcompose: 1\nprotect: unbounded\ndatasets: {t: {}}\n"
        "mechanisms: [{name: m, reads: t, notion: gdp, mu: 1}]\nreport: {risk: {}}\n"
    )
    risk = dpcompose.analyze(text).risk
    assert risk is not None
    half = dict(risk.success)[Fraction(1, 2)]
    assert float(risk.membership) == pytest.approx(norm.cdf(0.5), abs=1e-6)
    assert float(half) == pytest.approx(norm.cdf(1), abs=1e-6)
    assert RISK.write(risk)["membership"] == pytest.approx(0.691462, abs=1e-6)
