"""The adversary of a spec: what is reported, and what `check` makes of it."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from fractions import Fraction
from typing import Any

import pytest
from command import run

from dpcompose.core.notions.guarantee import Budget
from dpcompose.pipeline import analyze
from dpcompose.render.json import result
from dpcompose.report import AgainstAdversary, Report

WEAKER = "weaker than differential privacy: holds only against"


def spec(
    mechanisms: str,
    hypotheses: str = "none-vs-uniform",
    partition: str = "{by: membership, blocks: 4, max_blocks: 4}",
    more: str = "",
    datasets: str = "",
) -> str:
    return (
        "dpcompose: 1\nprotect: unbounded\n"
        f"datasets:\n  people: {{}}\n{datasets}"
        f"  block: {{from: people, partition: {partition}}}\n"
        f"mechanisms:\n{mechanisms}\nadversary: {{hypotheses: {hypotheses}}}\n{more}"
    )


def pure(epsilon: str = "0.3", reads: str = "block.*", name: str = "q") -> str:
    return f"  - {{name: {name}, reads: {reads}, notion: pure, epsilon: {epsilon}}}\n"


def approx(epsilon: str, delta: str, reads: str = "block.*", name: str = "q") -> str:
    rest = f"notion: approx, epsilon: {epsilon}, delta: {delta}"
    return f"  - {{name: {name}, reads: {reads}, {rest}}}\n"


def adversary(text: str) -> AgainstAdversary:
    found = analyze(text).adversary
    assert found is not None
    return found


def epsilon(text: str) -> float:
    bound = adversary(text).bound
    assert bound is not None
    return float(bound.value)


def report(text: str, **limit: str) -> Report:
    asked = Budget(tuple((name, Fraction(value)) for name, value in limit.items()))
    return analyze(text, limit=asked if limit else None)


# --- the figure ----------------------------------------------------------------------------------


def test_the_acceptance_figure() -> None:
    found = adversary(spec(pure()))
    assert found.bound is not None
    assert abs(found.bound.value - Fraction("0.676023991960018")) < Fraction(1, 10**15)
    assert found.theorem == "HBW.7" and found.attained
    assert found.label.startswith(WEAKER)
    assert found.ratio == found.bound.value / Fraction("1.2")


def test_a_cap_makes_another_hypothesis() -> None:
    capped = "{by: membership, blocks: 4, max_blocks: 2}"
    assert math.isclose(epsilon(spec(pure(), partition=capped)), 0.490550, abs_tol=1e-6)


def test_all_that_reads_a_block_is_its_loss() -> None:
    text = spec(pure("0.1") + pure("0.2", name="r"))
    assert math.isclose(epsilon(text), epsilon(spec(pure())), rel_tol=1e-12)


def test_what_sees_the_person_outside_the_blocks_is_added() -> None:
    text = spec(pure() + pure("0.5", "people", "whole"))
    assert math.isclose(epsilon(text), 0.5 + epsilon(spec(pure())), rel_tol=1e-12)


def test_other_datasets_of_the_person_are_outside_too() -> None:
    datasets = "  adults: {from: people, map: filter}\n  other: {}\n"
    text = spec(pure() + pure("0.5", "adults", "a") + pure("0.25", "other", "b"), datasets=datasets)
    assert math.isclose(epsilon(text), 0.75 + epsilon(spec(pure())), rel_tol=1e-12)
    apart = text.replace("dpcompose: 1\n", "dpcompose: 1\nroots: disjoint\n")
    assert math.isclose(epsilon(apart), 0.5 + epsilon(spec(pure())), rel_tol=1e-12)


def test_blocks_of_a_filter() -> None:
    text = spec(pure()).replace(
        "  block: {from: people", "  adults: {from: people, map: filter}\n  block: {from: adults"
    )
    assert epsilon(text) == epsilon(spec(pure()))


def test_blocks_written_out_or_numbered() -> None:
    named = "{by: membership, blocks: [a, b, c, d], max_blocks: 3}"
    counted = "{by: membership, blocks: 4, max_blocks: 3}"
    values = {epsilon(spec(pure(), partition=each)) for each in (named, counted)}
    by_block = spec(pure("{a: 0.3, b: 0.3, c: 0.3, d: 0.3}"), partition=named)
    assert len(values) == 1
    assert math.isclose(epsilon(by_block), values.pop(), rel_tol=1e-12)


def test_kinds_allow_few_sets() -> None:
    kinds = "{by: kinds, kinds: {free: [common, ads], paid: [common, premium], other: []}}"
    text = spec(pure("{common: 0.5, ads: 0.3, premium: 0.4}"), partition=kinds)
    expected = math.log((math.exp(0.8) + math.exp(0.9)) / 2)
    assert math.isclose(epsilon(text), expected, rel_tol=1e-12)


def test_explicit_sets() -> None:
    text = spec(
        pure("{a: 1, b: 3}"),
        "[[{blocks: [a]}, {blocks: [b]}], [{blocks: []}, {blocks: [b]}]]",
        "{by: membership, blocks: [a, b], max_blocks: 2}",
    )
    found = adversary(text)
    assert found.bound is not None and round(float(found.bound.value), 4) == 0.9696
    others = [each for each in found.alternatives if each.theorem == "HBW.coupling"]
    assert [each.bound.value for each in others if each.bound] == [1]
    assert "exactly" in others[0].why and found.assumptions


def test_weights() -> None:
    text = spec(pure("1"), "[none, [{blocks: [0], weight: 1/4}, {blocks: [1, 2], weight: 3/4}]]")
    expected = math.log((math.exp(1) + 3 * math.exp(2)) / 4)
    assert math.isclose(epsilon(text), expected, rel_tol=1e-12)


def test_a_package_is_no_better_than_differential_privacy() -> None:
    found = adversary(spec(pure(), "[none, {exactly: 4}]"))
    assert found.ratio is not None and math.isclose(found.ratio, 1, rel_tol=1e-12)


def test_unequal_blocks_with_a_delta_take_the_larger_mean() -> None:
    two = "{by: membership, blocks: [a, b], max_blocks: 2}"
    text = spec(approx("{a: 3, b: 0.1}", "{a: 0, b: 0.1}"), partition=two)
    found = adversary(text)
    assert found.bound is not None and found.bound.delta is not None
    assert round(float(found.bound.value), 4) == 2.6716
    assert round(float(found.bound.delta), 4) == 0.095
    assert found.theorem == "HBW.6"
    exact = [each.bound for each in found.alternatives if each.theorem == "optimal-composition"]
    assert [round(float(each.delta or 0), 4) for each in exact if each] == [0.0724]
    met = analyze(f"{text}budget: {{adversary: {{epsilon: 2.672, delta: 0.0725}}}}\n").verdict
    assert met is not None and met.ok


def test_at_a_delta_each_pattern_is_composed() -> None:
    text = spec(approx("0.3", "1e-6"), more="report: {delta: [1e-4, 0.1]}\n")
    found = adversary(text)
    assert found.bound is not None
    values = [at.value for at in found.at_delta]
    assert [at.rule for at in found.at_delta] == ["every outcome"] * 2
    assert values[0] is not None and values[1] is not None
    assert values[1] < values[0] < found.bound.value
    dp = [at.value for at in analyze(text).at_delta]
    assert all(value < other for value, other in zip(values, dp, strict=True) if value and other)


@pytest.mark.slow
def test_thousands_of_blocks_at_a_delta() -> None:
    many = "{by: membership, blocks: 5000, max_blocks: 5000}"
    found = adversary(spec(pure("0.01"), partition=many, more="report: {delta: [1e-6]}\n"))
    (at,) = found.at_delta
    assert at.rule == "samples of one half" and at.value is not None and at.value < 3


# --- DP and the adversary are two things ----------------------------------------------------------


def test_the_guarantee_stays_what_it_is() -> None:
    with_it = result(analyze(spec(pure())))
    without = result(
        analyze(spec(pure()).replace("adversary: {hypotheses: none-vs-uniform}\n", ""))
    )
    shown = with_it.pop("adversary")
    assert with_it == without and "adversary" not in without
    assert shown["epsilon"] == pytest.approx(0.676023991960018, rel=1e-12)
    assert shown["delta"] == 0 and shown["label"].startswith(WEAKER)
    assert shown["derivation"][-1]["theorem"] == "HBW.7"


def test_a_budget_for_dp_is_not_met_by_the_adversary() -> None:
    over = analyze(spec(pure(), more="budget: {epsilon: 0.7}\n"))
    assert over.verdict is not None and not over.verdict.ok and not over.verdict.of_adversary


@pytest.mark.parametrize(("limit", "ok"), [("0.68", True), ("0.67", False)])
def test_a_budget_that_speaks_of_the_adversary(limit: str, ok: bool) -> None:
    found = analyze(spec(pure(), more=f"budget: {{adversary: {{epsilon: {limit}}}}}\n"))
    assert found.verdict is not None and found.verdict.of_adversary
    assert found.verdict.ok is ok
    assert found.bound is not None and found.bound.value == Fraction("1.2")


def test_a_budget_of_the_caller_is_for_dp() -> None:
    text = spec(pure(), more="budget: {adversary: {epsilon: 0.7}}\n")
    found = report(text, epsilon="0.7")
    assert found.verdict is not None and not found.verdict.ok and not found.verdict.of_adversary


def test_a_budget_with_a_delta() -> None:
    two = "{by: membership, blocks: [a, b], max_blocks: 2}"
    text = spec(approx("{a: 3, b: 0.1}", "{a: 0, b: 0.1}"), partition=two)
    for limit, ok in (("{epsilon: 3}", False), ("{epsilon: 3, delta: 0.1}", True)):
        found = analyze(f"{text}budget: {{adversary: {limit}}}\n")
        assert found.verdict is not None and found.verdict.ok is ok


def test_without_a_finite_bound_the_budget_is_not_met() -> None:
    text = spec(
        "  - {name: q, reads: block.*, notion: pure, epsilon: 1, relation: bounded}\n",
        more="budget: {adversary: {epsilon: 5}}\n",
    )
    found = analyze(text)
    assert found.status == "no-guarantee"
    assert found.verdict is not None and not found.verdict.ok
    assert found.adversary is not None and found.adversary.bound is None


def ran(*arguments: str, text: str) -> Any:
    return run(*arguments, "-", stdin=text)


def test_check_says_what_was_held_against_the_budget() -> None:
    said = ran("check", text=spec(pure(), more="budget: {adversary: {epsilon: 0.7}}\n"))
    assert said.exit_code == 0
    assert "of ε = 7/10 (0.7) against the adversary alone" in " ".join(said.output.split())
    assert "Against an adversary with two hypotheses  weaker than the bound above" in said.output
    shown = ran("check", "--format", "json", text=spec(pure(), more="budget: {epsilon: 0.7}\n"))
    assert shown.exit_code == 1
    assert "of" not in json.loads(shown.output)["results"][0]["budget"]


def test_the_report_for_people_has_it_after_the_bound() -> None:
    said = ran("analyze", text=spec(pure())).output
    assert said.index("ε = 6/5") < said.index("Compared") < said.index("Against an adversary")
    assert WEAKER in " ".join(said.split())


@pytest.mark.slow
def test_pure_specs_do_not_import_numpy() -> None:
    code = (
        "import sys; from dpcompose.pipeline import analyze; "
        f"r = analyze({spec(pure())!r}); assert r.adversary; sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
