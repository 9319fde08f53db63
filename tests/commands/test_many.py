"""Many specs: what arguments stand for, their order, streams, processes, and the summary."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
import tracemalloc
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import run
from typer.testing import Result

from dpcompose.commands.parallel import pool
from dpcompose.commands.reading.gather import Gathering, Once
from dpcompose.commands.reading.inputs import NoFile
from dpcompose.commands.writing.progress import Progress, waiting_stream

SPEC = """dpcompose: 1
protect: unbounded
datasets: {{t: {{}}}}
mechanisms:
  - {{name: m, reads: t, notion: pure, epsilon: {epsilon}}}
budget: {{epsilon: 100}}
"""
BROKEN = "dpcompose: 1\nprotect: nobody\n"


def spec(epsilon: object = 1) -> str:
    return SPEC.format(epsilon=epsilon)


@pytest.fixture(autouse=True)
def folder(home: Path) -> Path:
    for name, text in {
        "b.yaml": spec(2),
        "a/z.yml": spec(3),
        "a/broken.yaml": BROKEN,
        "a/values.yaml": "a: 1\n",
        "a/readme.txt": spec(9),
        "c/deep/er.dp.yaml": spec(4),
        ".hidden/h.yaml": spec(8),
        "node_modules/n.yaml": spec(8),
        "empty/other.yaml": "- 1\n",
        "weird [1].yaml": spec(5),
    }.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (home / "a" / "loop").symlink_to(home, target_is_directory=True)
    os.mkfifo(home / "a" / "pipe.yaml")
    return home


def files(result: Result) -> list[str]:
    return [json.loads(line)["file"] for line in result.stdout.splitlines()]


# --- what arguments stand for --------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "found", "code"),
    [
        (["b.yaml"], ["b.yaml"], 0),
        (["b.yaml", "a/z.yml", "./b.yaml"], ["b.yaml", "a/z.yml"], 0),
        (["./b.yaml", ".//b.yaml", "b.yaml"], ["./b.yaml"], 0),
        (["c/deep/er.dp.yaml", "c", "./c", "c/../c", "c/*"], ["c/deep/er.dp.yaml"], 0),
        (["./c"], ["c/deep/er.dp.yaml"], 0),
        (["a/*.yaml"], ["a/broken.yaml", "a/values.yaml"], 3),
        (["a"], ["a/broken.yaml", "a/z.yml"], 3),
        (["c", "b.yaml"], ["c/deep/er.dp.yaml", "b.yaml"], 0),
        (["."], [
            "a/broken.yaml", "a/z.yml", "b.yaml", "c/deep/er.dp.yaml", "weird [1].yaml",
        ], 3),
        (["./"], [
            "a/broken.yaml", "a/z.yml", "b.yaml", "c/deep/er.dp.yaml", "weird [1].yaml",
        ], 3),
        (["a/*.yml"], ["a/z.yml"], 0),
        (["*/*.yml", "c/**/*.yaml"], ["a/z.yml", "c/deep/er.dp.yaml"], 0),
        (["[bc]"], ["c/deep/er.dp.yaml"], 0),
        (["?.yaml"], ["b.yaml"], 0),
        (["weird [1].yaml"], ["weird [1].yaml"], 0),
        (["*den/*"], [], 2),
        ([".hid*/*"], [], 2),
        ([".hidden"], [".hidden/h.yaml"], 0),
        (["a/values.yaml"], ["a/values.yaml"], 3),
        (["empty"], [], 2),
        (["empty", "--allow-empty"], [], 0),
        (["x*", "--allow-empty"], [], 0),
        (["empty", "b.yaml"], ["b.yaml"], 2),
        (["missing.yaml", "b.yaml"], ["b.yaml"], 2),
        (["missing.yaml", "--allow-empty"], [], 2),
        (["a\0b", "*\0", "b.yaml"], ["b.yaml"], 2),
    ],
)  # fmt: skip
def test_arguments(arguments: list[str], found: list[str], code: int) -> None:
    result = run("analyze", *arguments, "--format", "jsonl")
    assert (files(result), result.exit_code) == (found, code), result.stderr
    assert "Traceback" not in result.output


def test_a_list_of_files_comes_after_the_arguments(folder: Path) -> None:
    (folder / "list").write_bytes(b"a/z.yml\r\n\nc\n-\nmissing.yaml\nb.yaml")
    result = run("analyze", "b.yaml", "--files-from", "list", "--format", "jsonl")
    assert files(result) == ["b.yaml", "a/z.yml", "c/deep/er.dp.yaml"]
    assert "./-" in result.stderr and "missing.yaml" in result.stderr
    (folder / "list").write_bytes(b"a/z.yml\0b.yaml\0")
    assert files(run("analyze", "--files-from=list", "--format=jsonl")) == ["a/z.yml", "b.yaml"]
    piped = run("analyze", "--files-from", "-", "--format", "jsonl", stdin="b.yaml\n")
    assert (files(piped), piped.exit_code) == (["b.yaml"], 0)
    for stdin, flags, code in (("", [], 2), ("", ["--allow-empty"], 0), ("\n\n", [], 2)):
        assert run("analyze", "--files-from", "-", *flags, stdin=stdin).exit_code == code
    assert run("analyze", "--files-from", "nowhere").exit_code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["-", "-"],
        ["-", "--files-from", "-"],
        ["b.yaml", "--stdin-filename", "x"],
        ["b.yaml", "--jobs", "-1"],
        ["b.yaml", "--jobs", "many"],
        ["b.yaml", "--fail-on", "everything"],
    ],
)
def test_bad_calls(arguments: list[str]) -> None:
    result = run("analyze", *arguments, stdin=spec())
    assert (result.exit_code, result.stdout) == (2, "")
    assert 0 < len(result.stderr.splitlines()) <= 4


@pytest.mark.parametrize("command", ["analyze", "check"])
def test_without_a_file_the_working_folder_is_taken(command: str) -> None:
    here, named = run(command, "--format", "json"), run(command, ".", "--format", "json")
    assert here.exit_code == named.exit_code == 3 and here.stdout == named.stdout
    os.chdir("empty")
    assert run(command).exit_code == 2 and "no specs in ." in run(command).stderr


def test_standard_input_has_the_name_it_is_given() -> None:
    result = run("analyze", "-", "--stdin-filename", "x/y.yaml", "--format", "jsonl", stdin=spec())
    assert files(result) == ["x/y.yaml"]


def test_an_output_never_takes_the_place_of_a_spec(folder: Path) -> None:
    before = (folder / "b.yaml").read_text()
    for arguments in (["."], ["*.yaml"], ["a", "./b.yaml"]):
        result = run("analyze", *arguments, "-o", "b.yaml")
        assert result.exit_code == 2 and "would overwrite" in result.stderr
        assert (folder / "b.yaml").read_text() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable for root")
def test_a_folder_that_cannot_be_read_hides_nothing(folder: Path) -> None:
    (folder / "a").chmod(0)
    try:
        result = run("analyze", ".", "--format", "jsonl")
    finally:
        (folder / "a").chmod(0o755)
    assert result.exit_code == 2 and "cannot read a:" in result.stderr
    assert "b.yaml" in files(result)


def test_a_file_counts_once_whatever_it_is_called(folder: Path) -> None:
    os.link("b.yaml", "hard.yaml")
    Path("soft.yaml").symlink_to("b.yaml")
    Path("home").symlink_to("c", target_is_directory=True)
    names = ("soft.yaml", "hard.yaml", "b.yaml", "home", "c", "-")
    result = run("analyze", "--format=jsonl", *names, stdin=spec())
    assert files(result) == ["soft.yaml", "home/deep/er.dp.yaml", "<stdin>"]
    assert files(run("analyze", "*.yaml", "--format=jsonl")) == ["b.yaml", "weird [1].yaml"]
    shown = run("total", "b.yaml", "./b.yaml", "hard.yaml", "--all", "--epsilon", "2").stdout
    assert "ε = 2 pure DP, the budget, in 1 release" in shown
    missing = run("analyze", "no.yaml", "./no.yaml")
    assert missing.stderr.count("no.yaml") == 1
    os.mkfifo("pipe")
    assert list(Gathering(("pipe", "pipe", "-")).items()) == ["pipe", "pipe", "-"]


@pytest.mark.slow
def test_very_many_files_are_told_apart_in_little_memory() -> None:
    once = Once()
    tracemalloc.start()
    for number in range(100_000):
        once._is_new(once._seen.setdefault(1, set()), 2**33 + number)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 12 * 2**20


def test_a_pattern_opens_no_pipe(folder: Path) -> None:
    assert os.path.exists("a/pipe.yaml")
    assert list(Gathering(("a/p*", "a/z*")).items())[1:] == ["a/z.yml"]
    assert run("analyze", "a/pipe*").exit_code == 2
    Path("a/dead.yaml").symlink_to("nowhere")
    assert "cannot read a/dead.yaml" in run("analyze", "a/d*.yaml").stderr


@pytest.mark.parametrize("name", ["./a/broken.yaml", ".", ".//a", "./././a/broken.yaml"])
def test_services_get_names_from_the_root(name: str) -> None:
    shown = run("check", name, "--format", "github").stdout
    assert "file=a/broken.yaml," in shown and "file=." not in shown
    assert '"uri": "a/broken.yaml"' in run("check", name, "--format", "sarif").stdout


def test_files_are_found_one_at_a_time(folder: Path) -> None:
    found = Gathering(("b.yaml", "nothing*", "a")).items()
    assert next(found) == "b.yaml"
    assert isinstance(next(found), NoFile)


# --- streams -------------------------------------------------------------------------------------


def test_every_document_of_a_stream_has_its_result_and_its_lines() -> None:
    stream = spec(1) + "---\n" + BROKEN + "---\na: [1\n---\n" + spec(7)
    result = run("analyze", "-", "--format", "jsonl", stdin=stream)
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 3
    assert [each["document"] for each in found] == [1, 2, 3, 4]
    assert [each["status"] for each in found] == ["ok", "invalid", "invalid", "ok"]
    assert {each["line"] for each in found[1]["findings"]} >= {9}
    assert [each["line"] for each in found[2]["findings"]] == [11]
    assert found[3]["derivation"][-1]["bound"]["epsilon"] == 7
    assert found[3]["worst_case"]["mechanisms"][0]["line"] == 17
    text = run("analyze", "-", stdin=stream)
    assert "✗ <stdin> (document 2)" in text.stdout and "4 specs  " in text.stdout
    assert "--> <stdin>:9:10\n" in text.stdout and " 9 | protect: nobody" in text.stdout
    quiet = run("analyze", "-q", "-", stdin=stream)
    assert quiet.stdout.splitlines()[3] == "<stdin> (document 4): epsilon=7"


# --- codes ---------------------------------------------------------------------------------------


def test_exit_zero_forgives_findings_but_no_mistakes(folder: Path) -> None:
    (folder / "over.yaml").write_text(spec(101))
    assert run("check", "over.yaml").exit_code == 1
    assert run("check", "over.yaml", "--exit-zero").exit_code == 0
    assert run("check", "over.yaml", "a", "--exit-zero").exit_code == 3
    assert run("check", "over.yaml", "no", "--exit-zero").exit_code == 2


def test_the_least_level_that_fails_can_be_chosen(folder: Path) -> None:
    text = spec().replace("{t: {}}", "{t: {}, p: {from: t, partition: {by: value, blocks: 2}}}")
    (folder / "noted.yaml").write_text(text)  # no mechanism reads any block: a note
    for flags, code in (
        ([], 0), (["--fail-on", "warning"], 0), (["--fail-on", "note"], 1)
    ):  # fmt: skip
        assert run("analyze", "noted.yaml", *flags).exit_code == code
        assert run("check", "noted.yaml", *flags).exit_code == code


@pytest.mark.parametrize("form", ["sarif", "github", "junit", "markdown", "json", "concise"])
def test_a_file_that_is_not_read_is_an_error_where_standard_error_is_not_seen(form: str) -> None:
    result = run("check", "no.yaml", "nothing/*.yaml", "--format", form)
    assert result.exit_code == 2
    says = "cannot read no.yaml: No such file or directory"
    assert says in result.stderr and "nothing matches nothing/*.yaml" in result.stderr
    if form in ("json", "concise"):
        assert "no.yaml" not in result.stdout
        return
    assert says in result.stdout
    assert result.stdout.count("DPC305") >= 2
    if form == "junit":
        suites = ElementTree.fromstring(result.stdout)
        assert [each.get("errors") for each in suites] == ["1", "1"]
        assert [each.get("name") for each in suites.iter("testcase")] == ["readable"] * 2


def test_a_missing_budget_is_a_finding_of_check(folder: Path) -> None:
    (folder / "free.yaml").write_text(spec().replace("budget: {epsilon: 100}", ""))
    for command, codes in (("analyze", []), ("check", ["DPC304"])):
        for form in ("json", "jsonl"):
            shape = json.loads(run(command, "free.yaml", "--format", form).stdout)
            (result,) = shape.get("results", [shape])
            assert [each["code"] for each in result["findings"]] == codes


# --- summary and progress ------------------------------------------------------------------------


def test_the_summary_stands_on_standard_error_where_there_are_several() -> None:
    result = run("analyze", ".", "no.yaml")
    says = "1 file without a result; 2 other YAML files skipped; 2 hidden specs not analysed"
    assert result.stderr.splitlines()[-1] == says
    assert "specs:" not in result.stdout and "5 specs  1 invalid" in result.stdout
    two = run("check", "b.yaml", "a/z.yml")
    assert (two.stderr, two.stdout.splitlines()[-1]) == ("", "2 specs  2 within budget")
    full = run("check", "b.yaml", "a/z.yml", "--full")
    assert full.stderr == "2 specs: 2 within budget\n" and full.stdout.count("╭─") == 2
    assert run("analyze", "b.yaml").stderr == ""
    assert run("analyze", "b.yaml", "a/z.yml", "-q").stderr == ""
    assert run("analyze", "b.yaml", "a/z.yml", "--format", "json").stderr == ""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_is_for_a_person_who_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert waiting_stream(False) is None
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert waiting_stream(False) is terminal
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert waiting_stream(True) is None  # results scroll by
    assert waiting_stream(False) is terminal
    monkeypatch.setenv("TERM", "dumb")
    assert waiting_stream(False) is None


def test_a_bar_comes_late_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcompose.commands.writing.progress._PATIENCE", 0.0)
    monkeypatch.setattr("dpcompose.commands.writing.progress._PAUSE", 0.0)
    terminal = Terminal()
    progress = Progress(terminal, 4)
    progress.step()
    assert "1/4" in terminal.getvalue()
    progress.step()
    assert "2/4" in terminal.getvalue()
    progress.clear()
    assert terminal.getvalue().endswith("\n\x1b[?25h\r\x1b[1A\x1b[2K")  # the line is empty again
    before = terminal.getvalue()
    progress.clear()
    Progress(None, 0).step()
    assert terminal.getvalue() == before


# --- processes -----------------------------------------------------------------------------------


@pytest.fixture
def many(folder: Path) -> Iterator[Path]:
    home = folder / "many"
    home.mkdir()
    for number in range(200):
        text = BROKEN if number % 50 == 7 else spec(f"{number}/3")
        if number % 40 == 5:
            text += "---\n" + spec(number)
        (home / f"{number:03}.yaml").write_text(text)
    (home / "999.yaml").symlink_to(home / "nowhere")
    yield home


@pytest.mark.slow
@pytest.mark.parametrize(("command", "form"), [("analyze", "json"), ("check", "text")])
def test_the_number_of_processes_changes_no_byte(
    many: Path, monkeypatch: pytest.MonkeyPatch, command: str, form: str
) -> None:
    monkeypatch.setattr(pool, "PATIENCE", 0.0)
    arguments = [command, "many", "many/999.yaml", "--all", "--format", form]
    one, four = (run(*arguments, "--jobs", jobs) for jobs in ("1", "4"))
    assert one.stdout == four.stdout
    assert one.stderr == four.stderr
    assert one.exit_code == four.exit_code == 3
    assert ("199.yaml" if form == "text" else "many/199.yaml") in one.stdout


def test_jobs_can_come_from_the_environment() -> None:
    assert run("analyze", "b.yaml", DPCOMPOSE_JOBS="x").exit_code == 2
    assert run("analyze", "b.yaml", "--jobs", "1", DPCOMPOSE_JOBS="x").exit_code == 0


def process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    code = (
        "import sys, dpcompose.commands.parallel.pool as pool\n"
        "pool.PATIENCE = 0.0\n"
        "import importlib; engine = importlib.import_module('dpcompose.pipeline')\n"
        "real = engine.analyze\n"
        "def analyze(data, name, *rest, **more):\n"
        "    if name.endswith('b.yaml'): raise RuntimeError('a fault of the engine')\n"
        "    return real(data, name, *rest, **more)\n"
        "engine.analyze = analyze\n"
        f"sys.argv[1:] = {list(arguments)}\n"
        "from dpcompose.__main__ import main; main()"
    )
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, timeout=60, check=False, **options)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_fault_of_the_engine_hides_no_other_spec(folder: Path, jobs: str) -> None:
    result = process("analyze", "-q", ".", "--jobs", jobs, cwd=folder)
    assert result.returncode == 70
    assert result.stdout.decode().splitlines() == [
        "a/broken.yaml: invalid", "a/z.yml: epsilon=3", "c/deep/er.dp.yaml: epsilon=4",
        "weird [1].yaml: epsilon=5",
    ]  # fmt: skip
    said = result.stderr.decode()
    assert "b.yaml: a fault of dpcompose" in said
    assert "RuntimeError: a fault of the engine" in said


@pytest.mark.slow
def test_an_ended_reader_ends_the_processes(many: Path, folder: Path) -> None:
    command = f"{sys.executable} -m dpcompose analyze many --format concise --jobs 2 | head -1"
    result = subprocess.run(
        command, shell=True, capture_output=True, cwd=folder, timeout=60, check=False
    )
    assert result.stdout.startswith(b"many/000.yaml") and b"Traceback" not in result.stderr


def test_one_long_piece_of_work_is_shown_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcompose.commands.writing.progress._PATIENCE", 0.0)
    monkeypatch.setattr("dpcompose.commands.writing.progress._PAUSE", 0.01)
    terminal = Terminal()
    with Progress(terminal, says="fitting", unit="scales tried") as waiting:
        waiting.step()
        waiting.step()
        deadline = time.monotonic() + 10
        while "2 scales tried" not in terminal.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert "fitting" in terminal.getvalue() and "2 scales tried" in terminal.getvalue()
    assert terminal.getvalue().endswith("\n\x1b[?25h\r\x1b[1A\x1b[2K")
    before = terminal.getvalue()
    waiting.clear()
    assert terminal.getvalue() == before


def test_what_is_soon_done_shows_nothing() -> None:
    terminal = Terminal()
    with Progress(terminal, says="fitting"):
        pass
    with Progress(None, says="fitting") as waiting:
        waiting.step()
    assert terminal.getvalue() == ""
