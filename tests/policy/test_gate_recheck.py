"""`--recheck` fails where the stand-alone checker does not confirm what is stated or met."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dpcompose

from .reviewer import commit, run, write

pytestmark = pytest.mark.usefixtures("home")

HEAD = "dpcompose: 1\nprotect: unbounded\ndatasets: {t: {}}\nmechanisms:\n"
SURE = f"{HEAD}  - {{name: m, reads: t, notion: pure, epsilon: 1}}\n"
BUDGET = "budget: {epsilon: 9, delta: 1e-6}\n"


def reads(what: str) -> str:
    return f"{HEAD}  - {{name: m, reads: t, {what}}}\n"


#: What the checker has no rule for, or no number of, each with a budget that is met.
UNSURE = {
    "tree": reads("mechanism: tree, steps: 8, sigma: 9, sensitivity: 1") + BUDGET,
    "select": reads("mechanism: select, of: {notion: pure, epsilon: 1/10}, runs: {geometric: 9}")
    + BUDGET,
    "skellam": reads("mechanism: skellam, variance: 9, sensitivity: 1") + BUDGET,
    "allocate": HEAD.replace("{t: {}}", "{r: {}, t: {from: r, map: {kind: allocate, steps: 9}}}")
    + "  - {name: m, reads: t, mechanism: gaussian, sigma: 9, sensitivity: 1}\n"
    + BUDGET,
    "advantage": f"{SURE}budget: {{advantage: 0.9}}\n",
    "success": f"{SURE}budget: {{success: 0.9, baseline: 1/10}}\n",
    "ledger": f"{SURE}adaptivity: parameters\nbudget: {{epsilon: 9}}\n",
}


@pytest.mark.parametrize("kind", UNSURE)
def test_what_the_checker_does_not_confirm_fails(kind: str) -> None:
    write("s.yaml", UNSURE[kind])
    assert run("check", "s.yaml").exit_code == 0
    for command in (("check",), ("analyze",), ("check", "--brief")):
        result = run(*command, "--recheck", "s.yaml")
        assert result.exit_code == 1
        told = " ".join(result.stdout.split())
        assert ("error[DPC214]: the checker does not confirm " in told) or "--brief" in command
    for form in ("github", "junit", "sarif", "concise", "json"):
        result = run("check", "--recheck", "--format", form, "s.yaml")
        assert result.exit_code == 1 and "the checker does not confirm" in result.stdout


@pytest.mark.parametrize("kind", UNSURE)
@pytest.mark.parametrize("how", [["--quiet"], ["--bare"], ["--format", "badge"]])
def test_it_is_said_where_no_finding_is_shown(kind: str, how: list[str]) -> None:
    write("s.yaml", UNSURE[kind])
    result = run("analyze", *how, "--recheck", "s.yaml")
    if result.exit_code != 2:  # --bare has no single number
        assert result.exit_code == 1
        assert "s.yaml: the checker does not confirm " in result.stderr


def test_what_is_confirmed_passes() -> None:
    write("s.yaml", f"{SURE}budget: {{epsilon: 1}}\n")
    for command in (("check",), ("analyze",), ("analyze", "--quiet")):
        assert run(*command, "--recheck", "s.yaml").exit_code == 0
    gaussian = f"{HEAD}  - {{name: m, reads: t, mechanism: gaussian, sigma: 9, sensitivity: 1}}\n"
    write("g.yaml", f"{gaussian}budget: {{epsilon: 1, delta: 1e-6}}\n")
    for call in (("check",), ("analyze",), ("analyze", "--quiet", "--delta", "1e-9")):
        assert run(*call, "--recheck", "g.yaml").exit_code == 0


@pytest.mark.parametrize(
    "more", [["--at-epsilon", "1"], ["--risk"], ["--format", "json", "--risk"]]
)
def test_check_asks_of_budgets_alone_and_analyze_of_all_that_is_stated(more: list[str]) -> None:
    write("s.yaml", f"{SURE}budget: {{epsilon: 1}}\n")
    assert run("check", "--recheck", *more, "s.yaml").exit_code == 0
    assert run("analyze", "--recheck", *more, "s.yaml").exit_code == 1


def test_a_ceiling_is_asked_of_the_checker_too() -> None:
    write("s.yaml", SURE + "budget: {epsilon: 1}\n")
    write("dpcompose.toml", "max-budget = {advantage = 0.9}\n")
    assert run("check", "s.yaml").exit_code == 0
    assert run("check", "--recheck", "s.yaml").exit_code == 1


ACCEPT = '[[overrides]]\npaths = ["trees/*"]\nseverity = {DPC214 = "warning"}\n'


def test_only_named_settings_accept_what_is_not_confirmed() -> None:
    write("trees/s.yaml", UNSURE["tree"])
    write("other/s.yaml", UNSURE["tree"])
    write("accepted.toml", ACCEPT)
    call = ("check", "--recheck", "--settings", "accepted.toml")
    result = run(*call, "trees/s.yaml")
    assert result.exit_code == 0
    assert "warning[DPC214]" in result.stdout
    assert run(*call, "other/s.yaml").exit_code == 1
    assert run(*call, "--fail-on", "warning", "trees/s.yaml").exit_code == 1
    # A file of the change, or a comment in the spec, does not.
    write("dpcompose.toml", ACCEPT)
    assert run("check", "--recheck", "trees/s.yaml").exit_code == 1
    assert run("check", "trees/s.yaml").exit_code == 0
    write("dpcompose.toml", 'severity = {DPC214 = "off"}\n')
    assert run("check", "--recheck", "trees/s.yaml").exit_code == 1
    line = BUDGET.rstrip()
    write(
        "trees/s.yaml", UNSURE["tree"].replace(line, f"{line}  # dpcompose: ignore[DPC214] known")
    )
    assert run("check", "--recheck", "trees/s.yaml").exit_code == 1
    write("trees/s.yaml", UNSURE["tree"])
    assert run("check", "--recheck", "trees/s.yaml", DPCOMPOSE_SEVERITY="DPC214=off").exit_code == 0


def test_the_settings_of_the_base_accept_it() -> None:
    write("trees/s.yaml", UNSURE["tree"])
    write("dpcompose.toml", ACCEPT)
    commit()
    call = ("check", "--recheck", "--settings-from", "HEAD", "--isolated", "trees")
    assert run(*call).exit_code == 0
    Path("dpcompose.toml").unlink()
    assert run(*call).exit_code == 0
    commit()
    write("dpcompose.toml", ACCEPT)
    assert run(*call).exit_code == 1


def test_one_of_many_fails_the_run_and_is_named() -> None:
    write("specs/a.yaml", f"{SURE}budget: {{epsilon: 1}}\n")
    write("specs/b.yaml", f"{SURE}budget: {{epsilon: 1}}\n---\n{UNSURE['tree']}")
    result = run("check", "--recheck", "--format", "jsonl", "specs")
    assert result.exit_code == 1
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    found = [[f["code"] for f in each["findings"] if f["level"] == "error"] for each in lines]
    assert found == [[], [], ["DPC214"]]


def test_programs_are_told_too() -> None:
    assert dpcompose.check(UNSURE["tree"])
    assert not dpcompose.check(UNSURE["tree"], recheck=True)
    assert dpcompose.check(f"{SURE}budget: {{epsilon: 1}}\n", recheck=True)
    report = dpcompose.analyze(UNSURE["tree"], recheck=True)
    assert ("DPC214", "error") in [(each.code, each.level) for each in report.findings]
