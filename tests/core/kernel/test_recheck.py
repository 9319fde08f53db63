"""`--recheck`: the bounds of every spec pass, and one that does not pass is never printed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command import run
from conftest import LIBRARY
from contracts import checked
from oracle.generate import random_spec
from wide import wide_spec

import dpcompose
from dpcompose.commands.choices import SchemaOf
from dpcompose.core.loss.algebras import Pairs, Scalars
from dpcompose.core.search.solver import Solution, Solver
from dpcompose.report import Report
from dpcompose.report.recheck import Unproved

from .conftest import ROOT

#: Every spec that is kept: the examples, those with handmade answers, those of the acceptance.
KEPT = sorted(
    path
    for folder in ("specs", "tests/golden/handmade", "tests/acceptance", "tests/reference")
    for path in (ROOT / folder).rglob("*.yaml")
    if path.stem != "expected"
)
LONG = 500
QUICK = 60
BOUNDED = LIBRARY["ambulances-districts-bounded"]
PROFILE = """\
dpcompose: 1
protect: unbounded
datasets: {t: {}}
mechanisms: [{name: m, reads: t, notion: rdp, alpha: 8, epsilon: 1}]
report: {delta: [1e-6]}
"""
NO_BOUND = """\
dpcompose: 1
protect: unbounded
datasets: {t: {}}
mechanisms: [{name: m, reads: t, notion: pure, epsilon: 1, relation: bounded}]
"""


def rechecked(text: str | bytes, name: str) -> Report:
    """The report; that there is one says that its bounds have passed."""
    report = dpcompose.analyze(text, name, recheck=True)
    assert (report.rechecked is not None) is (report.status == "ok")
    if report.rechecked is not None:
        assert bool(report.rechecked.claims) is bool(report.bound or report.rechecked.points)
    return report


#: Training as in `dp-sgd` and `vip-imagenet`, with other rates, noise and steps.
LIKE_OTHERS = {"deepmind-cifar10", "deepmind-cifar100", "vip-laion"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(each, marks=[pytest.mark.long] if each.stem in LIKE_OTHERS else [])
        for each in KEPT
    ],
    ids=lambda path: path.stem,
)
def test_every_spec_that_is_kept(path: Path) -> None:
    rechecked(path.read_bytes(), path.name)


@pytest.mark.slow
def test_most_specs_that_are_kept_have_a_bound() -> None:
    found = [dpcompose.analyze(path.read_bytes(), path.name, extent="bound") for path in KEPT]
    assert sum(each.bound is not None for each in found) > 60


@pytest.mark.slow
def test_random_specs() -> None:
    found = [rechecked(json.dumps(random_spec(seed)), f"random {seed}") for seed in range(QUICK)]
    found += [rechecked(json.dumps(wide_spec(seed)), f"wide {seed}") for seed in range(QUICK // 4)]
    assert sum(each.bound is not None for each in found) > QUICK // 2


@pytest.mark.long
def test_very_many_random_specs() -> None:
    found = [rechecked(json.dumps(random_spec(seed)), f"random {seed}") for seed in range(LONG)]
    found += [rechecked(json.dumps(wide_spec(seed)), f"wide {seed}") for seed in range(LONG)]
    assert sum(each.bound is not None for each in found) > LONG


# --- what is told --------------------------------------------------------------------------------


RECHECKED = re.compile(
    r"^Rechecked: 7 claims by the stand-alone checker, in \d+\.\d s\.\n", re.MULTILINE
)


def test_the_report_says_so_at_the_end_of_the_reasoning() -> None:
    plain, text = (run("analyze", *more, str(BOUNDED)).stdout for more in ([], ["--recheck"]))
    (line,) = RECHECKED.findall(text)
    assert text.index("Compared") < text.index(line) < text.index("Assumed")
    assert text.replace(line, "") == plain


def test_check_says_so() -> None:
    text = run("check", "--recheck", str(BOUNDED)).stdout
    assert len(RECHECKED.findall(text)) == 1


def test_the_json_says_so_and_is_otherwise_the_same() -> None:
    options = ("--format", "json", str(BOUNDED))
    plain = json.loads(run("analyze", *options).stdout)
    result = run("analyze", "--recheck", *options)
    checked(SchemaOf.RESULT, result.stdout)
    found = json.loads(result.stdout)
    told = found["results"][0].pop("recheck")
    assert told.pop("seconds") >= 0
    assert told == {
        "claims": 7,
        "unchecked": [],
        "points": [],
        "leaves_out": [],
        "uncompared": [],
    }
    assert found == plain


def test_what_is_not_rechecked_is_named() -> None:
    points = ("--delta", "1e-6", "--at-epsilon", "1", str(BOUNDED))
    text = " ".join(run("analyze", "--recheck", *points).stdout.split())
    assert re.search(r"claims by the stand-alone checker, in \d+\.\d s", text)
    assert "Not checked: the numbers at a chosen ε." in text
    found = json.loads(run("analyze", "--recheck", "--format", "json", *points).stdout)
    assert found["results"][0]["recheck"]["leaves_out"] == ["at_epsilon"]
    against = next(each for each in KEPT if "\nadversary:" in each.read_text(encoding="utf-8"))
    text = " ".join(run("analyze", "--recheck", str(against)).stdout.split())
    assert "what holds against the adversary." in text


def test_a_profile_has_nothing_to_recheck(tmp_path: Path) -> None:
    spec = tmp_path / "profile.yaml"
    spec.write_text(PROFILE, encoding="utf-8")
    shown = run("analyze", "--recheck", str(spec))
    assert shown.exit_code == 1
    text = " ".join(shown.stdout.split())
    assert "error[DPC214]: the checker does not confirm ε at δ = " in text
    assert (
        "Rechecked: nothing; there is no bound without a δ. Not checked: the numbers at a "
        "chosen δ." in text
    )
    result = run("analyze", "--recheck", "--format", "json", str(spec))
    checked(SchemaOf.RESULT, result.stdout)
    found = json.loads(result.stdout)
    told = found["results"][0]["recheck"]
    assert (told["claims"], told["leaves_out"]) == (0, ["at_delta"])


@pytest.mark.parametrize("text", [NO_BOUND, "dpcompose: 1\n"])
def test_what_has_no_result_says_nothing_of_it(text: str, tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(text, encoding="utf-8")
    plain, found = (run("analyze", *more, str(spec)).stdout for more in ([], ["--recheck"]))
    assert found == plain


# --- a search that is wrong ----------------------------------------------------------------------


WRONG = """\
import sys
from dpcompose.core.search.solver import Solution
real = Solution.quantities.func
def less(solution):
    return tuple(each._replace(amount=each.amount * 9 / 10) for each in real(solution))
Solution.quantities.func = less
from dpcompose.__main__ import main
main()
"""


def wrong(*arguments: Any, code: str = WRONG) -> subprocess.CompletedProcess[str]:
    """The command as a user runs it, where the search finds too little."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=600, check=False, encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(("command", "form"), [("analyze", "text"), ("check", "json")])
def test_a_bound_that_does_not_pass_is_never_printed(command: str, form: str) -> None:
    assert "1.53" in wrong(command, "--format", form, BOUNDED).stdout
    result = wrong(command, "--recheck", "--format", form, BOUNDED)
    assert result.returncode == 70
    assert "1.53" not in result.stdout and "17/10" not in result.stdout
    assert f"{BOUNDED}: a fault of dpcompose, its traceback is below" in result.stderr
    assert (
        "Unproved: the checker refuses the certificate: " in result.stderr
        and "the protected change loses more than is claimed: 1.7" in result.stderr
    )


@pytest.mark.slow
def test_a_bound_that_does_not_pass_hides_no_other_result() -> None:
    """In other processes, too."""
    specs = (BOUNDED, LIBRARY["adults-filter"])
    code = WRONG.replace("each.amount * 9 / 10", "min(each.amount, 1)")
    result = wrong("analyze", "--recheck", "-q", "--jobs", "2", *specs, code=code)
    assert result.returncode == 70
    assert result.stdout == f"{specs[1]}: epsilon=0.4\n"
    assert "Unproved: " in result.stderr


def test_a_bound_that_does_not_pass_is_an_exception_in_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = Solver._solve

    def less(solver: Solver, algebra: Scalars | Pairs) -> Solution:
        found = real(solver, algebra)
        found.quantities = tuple(q._replace(amount=q.amount / 2) for q in found.quantities)
        return found

    monkeypatch.setattr(Solver, "_solve", less)
    with pytest.raises(Unproved, match="loses more than is claimed"):
        dpcompose.analyze(BOUNDED.read_bytes(), recheck=True)
    with pytest.raises(Unproved):
        dpcompose.check(BOUNDED.read_bytes(), recheck=True)
