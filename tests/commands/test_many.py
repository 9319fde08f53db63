"""Many specs: what arguments stand for, their order, streams, processes, and the summary."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
import tracemalloc
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


def test_no_name_has_a_null_byte() -> None:
    result = run("analyze", "a\0b", "*\0", "b.yaml", "--format", "jsonl")
    assert (files(result), result.exit_code) == (["b.yaml"], 2)
    assert run("check", "b.yaml", "-o", "sarif=a\0b").exit_code == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable for root")
def test_a_folder_that_cannot_be_read_hides_nothing(folder: Path) -> None:
    (folder / "a").chmod(0)
    try:
        result = run("analyze", ".", "--format", "jsonl")
    finally:
        (folder / "a").chmod(0o755)
    assert result.exit_code == 2 and "cannot read a:" in result.stderr
    assert "b.yaml" in files(result)


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
    pipe = "a/pipe.yaml"
    assert list(Gathering((pipe, pipe, "-")).items()) == [pipe, pipe, "-"]
    assert os.path.exists("a/pipe.yaml")
    assert list(Gathering(("a/p*", "a/z*")).items())[1:] == ["a/z.yml"]
    assert run("analyze", "a/pipe*").exit_code == 2
    Path("a/dead.yaml").symlink_to("nowhere")
    assert "cannot read a/dead.yaml" in run("analyze", "a/d*.yaml").stderr


def test_files_are_found_one_at_a_time(folder: Path) -> None:
    found = Gathering(("b.yaml", "nothing*", "a")).items()
    assert next(found) == "b.yaml"
    assert isinstance(next(found), NoFile)


# --- summary and progress ------------------------------------------------------------------------


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
    return subprocess.run(command, capture_output=True, timeout=600, check=False, **options)


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
        command, shell=True, capture_output=True, cwd=folder, timeout=600, check=False
    )
    assert result.stdout.startswith(b"many/000.yaml") and b"Traceback" not in result.stderr


def test_one_long_piece_of_work_is_shown_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcompose.commands.writing.progress._PATIENCE", 0.0)
    monkeypatch.setattr("dpcompose.commands.writing.progress._PAUSE", 0.01)
    terminal = Terminal()
    with Progress(terminal, says="fitting", unit="scales tried") as waiting:
        waiting.step()
        waiting.step()
        deadline = time.monotonic() + 600
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
