"""The table of many specs: what it counts, and what its last column says."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from dpcompose.cli import app

GOOD = """\
dpcompose: 1
protect: unbounded
datasets: {t: {}}
mechanisms: [{name: m, reads: t, notion: pure, epsilon: 1}]
"""
NO_BOUND = GOOD.replace("epsilon: 1}", "epsilon: 1, relation: bounded}")
SPECS = {
    "within": GOOD + "budget: {epsilon: 1}\n",
    "over": GOOD + "budget: {epsilon: 1/2}\n",
    "without": GOOD,
    "none": NO_BOUND,
    "wrong": "dpcompose: 1\n",
}


@pytest.mark.parametrize(
    ("names", "counted", "head"),
    [
        (SPECS, "1 without a budget 1 without a finite bound", "costs most, or wrong"),
        (("within", "none"), "1 within budget 1 without a finite bound", "what is wrong"),
        (("within", "over"), "1 within budget 1 over budget", "costs most there"),
        (("within", "wrong"), "1 within budget 1 invalid", "what is wrong"),
    ],
)
def test_every_spec_is_counted_once(
    tmp_path: Path, names: tuple[str, ...], counted: str, head: str
) -> None:
    for name in names:
        (tmp_path / f"{name}.yaml").write_text(SPECS[name])
    ran = CliRunner().invoke(app, ["check", str(tmp_path), "--width", "120"])
    text = " ".join(ran.stdout.split())
    line = next(each for each in ran.stdout.splitlines() if each.startswith(f"{len(names)} specs"))
    assert sum(int(each) for each in line.split() if each.isdigit()) in (
        2 * len(names),
        2 * len(names) + 1,  # and findings
    )
    assert set(counted.split(" 1 ")[1:]) <= set(" ".join(line.split()).split(" 1 "))
    assert head in text


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_column_is_lost_beside_long_names(tmp_path: Path, width: int) -> None:
    """Names give way: the sign, and what is used of each budget, stay."""
    (tmp_path / "folder").mkdir()
    for name, budget in (("a" * 70, "epsilon: 1/2"), ("b" * 70, "epsilon: 1, delta: 1e-10")):
        path = tmp_path / "folder" / f"{name}.yaml"
        path.write_text(
            GOOD.replace("pure, epsilon: 1", "zcdp, rho: 1/100") + f"budget: {{{budget}}}"
        )
    ran = CliRunner().invoke(app, ["check", str(tmp_path), "--all", "--width", str(width)])
    first, second = (line for line in ran.stdout.splitlines() if ".yaml" in line)
    assert first[0] in "✗✓" and second[0] in "✗✓"
    assert "used" in ran.stdout and " %" in first + second
    assert all(len(line) <= width for line in ran.stdout.splitlines())
