"""The command line: options, exit codes, streams, files. The engine is a stand-in here."""

from __future__ import annotations

import importlib
import io
import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from inspect import Parameter
from pathlib import Path
from types import ModuleType
from typing import Any

import command
import pytest
from handmade import AT_MILLIONTH, AT_ONE, REPORTS, pure
from typer.testing import Result

import dpcompose
from dpcompose.cli import options
from dpcompose.commands.choices import Color
from dpcompose.commands.explain import identifiers
from dpcompose.commands.run import Run as Options
from dpcompose.commands.writing.output import Look, style_for
from dpcompose.core.notions.guarantee import Budget
from dpcompose.render import Format
from dpcompose.render.help.code_text import codes
from dpcompose.report import Report, Verdict

Run = Callable[..., Result]


@pytest.fixture
def specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file for each hand-made report, which the stand-in engine gives for it."""
    engine = ModuleType("dpcompose.pipeline")

    def analyze(
        data: bytes,
        name: str,
        limit: Budget | None = None,
        deltas: Sequence[Fraction] = (),
        epsilons: Sequence[Fraction] = (),
        **_: object,
    ) -> Report:
        if data == b"fault":
            raise RuntimeError("a fault of the engine")
        if data == b"interrupt":
            raise KeyboardInterrupt
        report = replace(
            REPORTS[data.decode().removeprefix("dpcompose: ")],
            file=name,
            at_delta=tuple(AT_MILLIONTH._replace(given=each) for each in deltas),
            at_epsilon=tuple(AT_ONE._replace(given=each) for each in epsilons),
        )
        if limit is None or report.bound is None:
            return report
        slack = limit.parameters[0][1] - report.bound.value
        return replace(report, verdict=Verdict(limit, slack >= 0, slack))

    engine.analyze = analyze  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dpcompose.pipeline", engine)
    monkeypatch.setattr(dpcompose, "pipeline", engine, raising=False)  # where it was imported
    monkeypatch.setattr("dpcompose.planning.advising.advised", lambda report, *_: report)
    monkeypatch.chdir(tmp_path)
    for name in REPORTS:  # nothing is quoted of a file without the key
        (tmp_path / f"{name}.yaml").write_text(f"dpcompose: {name}")
    for name in ("fault", "interrupt"):
        (tmp_path / f"{name}.yaml").write_text(name)
    (tmp_path / "nobudget.yaml").write_text("rides")
    return tmp_path


@pytest.fixture
def run(specs: Path) -> Run:
    return command.run


# --- exit codes ----------------------------------------------------------------------------------


def test_an_internal_fault_keeps_its_traceback(run: Run) -> None:
    result = run("analyze", "fault.yaml")
    assert isinstance(result.exception, RuntimeError)


def test_an_interrupt_ends_quietly(run: Run) -> None:
    result = run("analyze", "interrupt.yaml")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "")


# --- check ---------------------------------------------------------------------------------------


# --- numbers at a chosen δ or ε ------------------------------------------------------------------


def test_choices_reach_the_engine_as_fractions_in_their_order(run: Run) -> None:
    flags = ["--delta", "1e-9", "--at-delta", "1/3", "--delta", "0", "--delta", "0.000000001"]
    choices = [*flags, "--at-epsilon", "1/7", "--at-epsilon", "0"]
    (line,) = run("analyze", "rides.yaml", *choices, "--format", "jsonl").stdout.splitlines()
    found = json.loads(line)
    assert [each["exact"]["delta"] for each in found["at_delta"]] == ["1/1000000000", "1/3", "0"]
    assert [each["exact"]["epsilon"] for each in found["at_epsilon"]] == ["1/7", "0"]


# --- streams and files ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("form", list(Format))
def test_a_file_holds_what_would_be_printed(run: Run, specs: Path, form: str) -> None:
    printed = run("analyze", "rides.yaml", "trap.yaml", "--format", form)
    saved = run("analyze", "rides.yaml", "trap.yaml", "--format", form, "-o", "out")
    assert (saved.exit_code, saved.stdout) == (1, "")
    assert (specs / "out").read_text(encoding="utf-8") == printed.stdout
    assert run("analyze", "rides.yaml", "-o", "-").stdout


def test_a_file_is_replaced_whole_and_keeps_its_mode(run: Run, specs: Path) -> None:
    out = specs / "out"
    out.write_text("old " * 10_000)
    out.chmod(0o640)
    assert run("analyze", "rides.yaml", "-q", "-o", "out").exit_code == 0
    assert out.read_text() == "epsilon=1.7\n"
    assert stat.S_IMODE(out.stat().st_mode) == 0o640


def test_nothing_is_left_behind_when_a_run_breaks_off(run: Run, specs: Path) -> None:
    (specs / "out").write_text("old")
    before = sorted(os.listdir(specs))
    assert run("analyze", "rides.yaml", "interrupt.yaml", "-o", "out").exit_code == 130
    assert sorted(os.listdir(specs)) == before
    assert (specs / "out").read_text() == "old"


def test_a_new_file_has_the_usual_mode(run: Run, specs: Path) -> None:
    (specs / "usual").touch()
    run("analyze", "rides.yaml", "-o", "out")
    assert (specs / "out").stat().st_mode == (specs / "usual").stat().st_mode


def test_devices_are_written_to(run: Run) -> None:
    assert run("analyze", "rides.yaml", "-o", os.devnull).exit_code == 0


# --- colour --------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("color", "terminal", "environment", "coloured"),
    [
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("auto", True, {"NO_COLOR": "1"}, False),
        ("auto", False, {"FORCE_COLOR": "1"}, True),
        ("auto", True, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ("auto", True, {"TERM": "dumb"}, False),
        ("always", False, {"NO_COLOR": "1"}, True),
        ("never", True, {"FORCE_COLOR": "1"}, False),
    ],
)
def test_flag_beats_no_color_beats_force_color_beats_terminal(
    monkeypatch: pytest.MonkeyPatch,
    color: str,
    terminal: bool,
    environment: dict[str, str],
    coloured: bool,
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", Terminal() if terminal else io.StringIO())
    assert style_for(None, Look(Color(color))).colour is coloured


def test_files_are_coloured_only_when_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert not style_for("out", Look(Color.AUTO)).colour
    assert style_for("out", Look(Color.ALWAYS)).colour


def test_lines_are_as_wide_as_asked_or_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert style_for(None, Look()).width == 100
    monkeypatch.setenv("COLUMNS", "60")
    assert style_for(None, Look()).width == 60
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert style_for(None, Look()).width == 60
    assert style_for(None, Look(width=120)).width == 120
    assert style_for("out", Look()).width == 60
    monkeypatch.setenv("COLUMNS", "3")
    assert style_for(None, Look()).width == 40


def test_machine_formats_are_never_coloured(run: Run) -> None:
    for form in ("json", "jsonl"):
        assert "\x1b" not in run("analyze", "rides.yaml", "--format", form, "--color=always").stdout
    assert "\x1b" in run("analyze", "rides.yaml", "--color=always").stdout


# --- the book ------------------------------------------------------------------------------------


def test_the_book_is_listed_for_people_and_machines(run: Run) -> None:
    listed = json.loads(run("theorems", "--format", "json").stdout)
    lines = [json.loads(each) for each in run("theorems", "--format", "jsonl").stdout.splitlines()]
    assert lines == listed
    text = run("theorems").stdout
    assert listed and all(each["id"] in text for each in listed)
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.slow
def test_every_theorem_explains_itself_in_any_case_of_letters(run: Run) -> None:
    for each in json.loads(run("theorems", "--format", "json").stdout):
        result = run("explain", each["id"].lower())
        assert result.exit_code == 0
        assert each["title"] in " ".join(result.stdout.split())
        if each["source"] == "GMPS24":
            assert run("explain", each["place"]).stdout == result.stdout


def test_every_code_in_use_is_explained() -> None:
    package = Path(dpcompose.__file__).parent
    texts = [path.read_text(encoding="utf-8") for path in package.rglob("*.py")]
    used = {code for text in texts for code in re.findall(r"\bDPC\d{3}\b", text)}
    assert used == set(codes())


def test_completion_offers_theorems_and_codes() -> None:
    found = dict(identifiers("dpc01"))
    assert "DPC010" in found
    assert dict(identifiers("V.")).keys() >= {"V.2", "V.3"}


# --- the process itself --------------------------------------------------------------------------


def process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "dpcompose", *arguments]
    return subprocess.run(command, stderr=subprocess.PIPE, timeout=600, check=False, **options)


@pytest.mark.slow
def test_a_closed_pipe_is_no_traceback() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    result = process("theorems", stdout=writing)
    os.close(writing)
    assert (result.returncode, result.stderr) == (141, b"")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_one_line() -> None:
    with open("/dev/full", "wb") as full:
        result = process("theorems", stdout=full)
    assert result.returncode == 2
    assert result.stderr.decode().startswith("dpcompose: cannot write to standard output: ")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
def test_closed_streams_are_no_traceback() -> None:
    shell = f"{sys.executable} -m dpcompose"
    for call, code in [
        ("theorems >&-", 2),
        ("explain nonsense 2>&-", 2),
        ("explain nonsense >&- 2>&-", 2),
        ("analyze - <&-", 2),
        ("analyze missing 2>/dev/full", 2),
    ]:
        result = subprocess.run(f"{shell} {call}", shell=True, capture_output=True, check=False)
        assert (call, result.returncode, b"Traceback" in result.stderr) == (call, code, False)


@pytest.mark.slow
def test_an_output_without_epsilon_gets_its_name() -> None:
    for encoding, arguments in (("cp1252", ["analyze", "--help"]), ("ascii", ["theorems"])):
        environment = {**os.environ, "PYTHONIOENCODING": encoding}
        result = process(*arguments, stdout=subprocess.PIPE, env=environment)
        assert result.returncode == 0
        assert b"eps" in result.stdout


def test_every_option_sets_a_field_of_the_run() -> None:
    groups = [each for each in vars(options).values() if isinstance(each, tuple)]
    names = {each.name for group in groups for each in group if isinstance(each, Parameter)}
    assert names and names <= {each.name for each in fields(Options)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "unneeded"),
    [
        (["--version"], {"rich", "pydantic", "yaml", "mpmath", "dpcompose.core.theorems"}),
        (["explain", "IV.13"], {"mpmath", "numpy", "dpcompose.core.search"}),
        (["analyze", "--quiet", "-"], {"rich", "mpmath", "jsonschema", "dpcompose.render.json"}),
        (
            ["analyze", "-"],
            {"rich.markdown", "dpcompose.handbook", "dpcompose.render.help.code_text"},
        ),
    ],
)
def test_cold_start_imports_nothing_it_does_not_need(
    arguments: list[str], unneeded: set[str]
) -> None:
    code = (
        f"import sys; from dpcompose.__main__ import main; sys.argv[1:] = {arguments}\n"
        "try: main()\n"
        f"except SystemExit: print(sorted({unneeded} & set(sys.modules)), file=sys.stderr)"
    )
    spec = (
        "{dpcompose: 1, protect: unbounded, datasets: {t: {}},"
        " mechanisms: [{name: m, reads: t, notion: pure, epsilon: 1}]}"
    )
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, input=spec, capture_output=True, text=True, check=True)
    assert (result.stdout != "", result.stderr) == (True, "[]\n")


def test_the_public_names_are_functions_whatever_was_imported(specs: Path) -> None:
    importlib.import_module("dpcompose.pipeline")
    report = dpcompose.analyze(b"rides", "rides.yaml")
    assert isinstance(report, dpcompose.Report)
    assert report.bound == pure("17/10")
    assert report.verdict is not None and report.verdict.slack == Fraction(3, 10)
