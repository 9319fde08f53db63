"""The command `graph`, and the formats statement, label and badge, as a user runs them."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from hashlib import sha256
from pathlib import Path

import command
import pytest
from conftest import LIBRARY
from typer.testing import Result

pytestmark = pytest.mark.usefixtures("home")

SPECS = Path(__file__).parents[2] / "specs"
RIDES = LIBRARY["ambulances-districts-bounded"]
SENSORS = LIBRARY["sensors-gaussian"]
TRAP = LIBRARY["parallel-trap"]


def run(*arguments: object, stdin: str = "", **environment: str) -> Result:
    return command.run(*map(str, arguments), stdin=stdin, **environment)


def test_a_tree_is_printed_and_a_picture_is_written(tmp_path: Path) -> None:
    tree = run("graph", RIDES)
    assert (tree.exit_code, tree.stderr) == (0, "")
    assert "┗━ east  → 1 row added or removed\n" in tree.stdout
    assert run("graph", "-", stdin=RIDES.read_text()).stdout == tree.stdout
    done = run("graph", RIDES, "--format", "svg", "-o", "pipeline.svg")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    ElementTree.parse(tmp_path / "pipeline.svg")
    assert run("graph", RIDES, "--format", "mermaid").stdout.startswith("flowchart LR\n")
    assert run("graph", RIDES, "--format", "dot").stdout.startswith("digraph pipeline {\n")


def test_a_delta_is_that_of_the_drawing() -> None:
    spec = SENSORS.read_text()
    assert "μ = 0.5 for " in run("graph", "-", stdin=spec).stdout
    assert " at δ = 1e-9 for " in run("graph", "-", "--delta", "1e-9", stdin=spec).stdout


def test_a_name_is_no_command_of_a_log() -> None:
    text = RIDES.read_text().replace("ambulances", '"::error::x ##[error]y"')
    for form in ("tree", "svg", "mermaid", "dot"):
        done = run("graph", "-", "--format", form, stdin=text)
        assert done.exit_code == 0, done.stderr
        lines = done.stdout.splitlines()
        assert not [each for each in lines if each.lstrip().startswith("::") or "##[" in each]


@pytest.mark.slow
def test_a_label_has_the_day_and_the_hash_that_a_shell_gives(tmp_path: Path) -> None:
    digest = sha256(RIDES.read_bytes()).hexdigest()[:12]
    assert digest in run("analyze", RIDES, "--format", "statement").stdout
    plain = run("analyze", RIDES, "--format", "label").stdout
    assert digest in plain and "20" + "26" not in plain.replace(digest, "")
    assert "2026-11-24" in run("analyze", RIDES, "--format", "label", "--on", "2026-11-24").stdout
    dated = run("check", RIDES, "-o", "label=label.svg", SOURCE_DATE_EPOCH="1000000000")
    assert dated.exit_code == 0 and "0.3 left" in dated.stdout
    assert "2001-09-09" in (tmp_path / "label.svg").read_text()
    bad = run("analyze", RIDES, "--format", "label", "--on", "tomorrow")
    assert bad.exit_code == 2 and "a day of the calendar" in bad.stderr


def test_several_formats_at_once_are_what_each_is_alone(tmp_path: Path) -> None:
    forms = ("statement", "label", "badge")
    flags = [flag for form in forms for flag in ("-o", f"{form}=out.{form}")]
    together = run("analyze", RIDES, TRAP, *flags, "--format", "json")
    assert together.exit_code == 1
    assert together.stdout == run("analyze", RIDES, TRAP, "--format", "json").stdout
    for form in forms:
        alone = run("analyze", RIDES, TRAP, "--format", form)
        assert alone.exit_code == 1
        assert alone.stdout == (tmp_path / f"out.{form}").read_text(encoding="utf-8")
