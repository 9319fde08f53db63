"""The command `graph`, and the formats statement, label and badge, as a user runs them."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from conftest import LIBRARY

pytestmark = pytest.mark.slow

SPECS = Path(__file__).parents[2] / "specs"
RIDES = LIBRARY["ambulances-districts-bounded"]
SENSORS = LIBRARY["sensors-gaussian"]
TRAP = LIBRARY["parallel-trap"]
Done = subprocess.CompletedProcess[str]


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Done]:
    """A function that runs the command in an empty folder."""

    def call(*arguments: object, stdin: str = "", **environment: str) -> Done:
        plain = {key: each for key, each in os.environ.items() if key != "SOURCE_DATE_EPOCH"}
        return subprocess.run(
            [sys.executable, "-m", "dpcompose", *map(str, arguments)],
            cwd=tmp_path,
            env={**plain, "PYTHONPATH": str(SPECS.parent), "PYTHONUTF8": "1", **environment},
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )

    return call


def test_a_tree_is_printed_and_a_picture_is_written(
    run: Callable[..., Done], tmp_path: Path
) -> None:
    tree = run("graph", RIDES)
    assert (tree.returncode, tree.stderr) == (0, "")
    assert "┗━ east  → 1 row added or removed\n" in tree.stdout
    assert run("graph", "-", stdin=RIDES.read_text()).stdout == tree.stdout
    done = run("graph", RIDES, "--format", "svg", "-o", "pipeline.svg")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    ElementTree.parse(tmp_path / "pipeline.svg")
    assert run("graph", RIDES, "--format", "mermaid").stdout.startswith("flowchart LR\n")
    assert run("graph", RIDES, "--format", "dot").stdout.startswith("digraph pipeline {\n")


def test_a_delta_is_that_of_the_drawing(run: Callable[..., Done]) -> None:
    spec = SENSORS.read_text()
    assert "μ = 0.5 for " in run("graph", "-", stdin=spec).stdout
    assert " at δ = 1e-9 for " in run("graph", "-", "--delta", "1e-9", stdin=spec).stdout


def test_what_cannot_be_drawn_is_told(run: Callable[..., Done], tmp_path: Path) -> None:
    trap = run("graph", TRAP)
    assert trap.returncode == 1 and "no finite guarantee" in trap.stdout
    bad = tmp_path / "bad.yaml"
    bad.write_text("dpcompose: 1\nprotect: nothing\n")
    done = run("graph", "bad.yaml", "--format", "svg", "-o", "x.svg")
    assert (done.returncode, done.stdout) == (3, "")
    assert "bad.yaml:2:" in done.stderr and not (tmp_path / "x.svg").exists()
    assert run("graph", "none.yaml").returncode == 2
    bad.write_text(f"{RIDES.read_text()}---\n{RIDES.read_text()}")
    done = run("graph", "bad.yaml")
    assert done.returncode == 2 and "`graph` takes one spec" in done.stderr
    done = run("graph", "bad.yaml", "-o", "bad.yaml")
    assert done.returncode == 2 and "would overwrite" in done.stderr
    done = run("graph", RIDES, "-o", "x.svg")
    assert "x.svg is written as a tree: --format svg writes svg" in done.stderr


def test_a_name_is_no_command_of_a_log(run: Callable[..., Done]) -> None:
    text = RIDES.read_text().replace("ambulances", '"::error::x ##[error]y"')
    for form in ("tree", "svg", "mermaid", "dot"):
        done = run("graph", "-", "--format", form, stdin=text)
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert not [each for each in lines if each.lstrip().startswith("::") or "##[" in each]


def test_a_label_has_the_day_and_the_hash_that_a_shell_gives(
    run: Callable[..., Done], tmp_path: Path
) -> None:
    digest = sha256(RIDES.read_bytes()).hexdigest()[:12]
    assert digest in run("analyze", RIDES, "--format", "statement").stdout
    plain = run("analyze", RIDES, "--format", "label").stdout
    assert digest in plain and "20" + "26" not in plain.replace(digest, "")
    assert "2026-11-24" in run("analyze", RIDES, "--format", "label", "--on", "2026-11-24").stdout
    dated = run("check", RIDES, "-o", "label=label.svg", SOURCE_DATE_EPOCH="1000000000")
    assert dated.returncode == 0 and "0.3 left" in dated.stdout
    assert "2001-09-09" in (tmp_path / "label.svg").read_text()
    bad = run("analyze", RIDES, "--format", "label", "--on", "tomorrow")
    assert bad.returncode == 2 and "a day of the calendar" in bad.stderr


def test_several_formats_at_once_are_what_each_is_alone(
    run: Callable[..., Done], tmp_path: Path
) -> None:
    forms = ("statement", "label", "badge")
    flags = [flag for form in forms for flag in ("-o", f"{form}=out.{form}")]
    together = run("analyze", RIDES, TRAP, *flags, "--format", "json")
    assert together.returncode == 1
    assert together.stdout == run("analyze", RIDES, TRAP, "--format", "json").stdout
    for form in forms:
        alone = run("analyze", RIDES, TRAP, "--format", form)
        assert alone.returncode == 1
        assert alone.stdout == (tmp_path / f"out.{form}").read_text(encoding="utf-8")


def test_faults_of_an_invalid_spec_are_on_standard_error(
    run: Callable[..., Done], tmp_path: Path
) -> None:
    (tmp_path / "bad.yaml").write_text("dpcompose: 1\nprotect: nothing\n")
    for form in ("statement", "label", "badge"):
        done = run("analyze", "bad.yaml", "--format", form)
        assert done.returncode == 3 and "bad.yaml:2:" in done.stderr
        assert "ε" not in done.stdout and "&#949;" not in done.stdout
