"""`--watch`: the real command prints anew whenever a file is saved, until Ctrl-C."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dpcompose.cli import app
from dpcompose.commands.run import Run
from dpcompose.commands.watch import _changed, _stamps

SPEC = """dpcompose: 1
protect: unbounded
datasets: {t: {}}
mechanisms:
  - {name: m, reads: t, notion: pure, epsilon: 1}
budget: {epsilon: 2}
"""
PATIENCE = 600  # seconds, of a machine that may be busy


class Watcher:
    """The command, and what it prints: each line of standard output, then that it waits."""

    def __init__(self, folder: Path, *args: str) -> None:
        command = [sys.executable, "-m", "dpcompose", *args, "--watch"]
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            # A shell's background jobs ignore Ctrl-C, and so would what they start.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)

    def printed(self) -> str:
        """Returns what is printed until the command waits for the next change."""
        found = ""
        while "Ctrl-C ends" not in found:
            found += self._lines.get(timeout=PATIENCE)
        return found

    def is_silent(self, seconds: float) -> bool:
        """Returns whether nothing is printed for so long."""
        time.sleep(seconds)
        return self._lines.empty()

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "a.dp.yaml"
    path.write_text(SPEC, encoding="utf-8")
    return path


@pytest.fixture
def watching(spec: Path) -> Iterator[Watcher]:
    found = Watcher(spec.parent, "analyze", spec.name, "--quiet")
    yield found
    found.process.kill()
    found.process.wait()


def replace(path: Path, text: str) -> None:
    """Writes a file as careful editors do: beside it, and then in its place."""
    beside = path.with_suffix(".new")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_a_saved_file_is_analysed_again(spec: Path, watching: Watcher) -> None:
    waiting = "dpcompose: watching 1 file for changes; Ctrl-C ends\n"
    assert watching.printed() == f"epsilon=1\n{waiting}"
    spec.write_text(SPEC.replace("epsilon: 1", "epsilon: 3/2"), encoding="utf-8")
    assert watching.printed() == f"epsilon=1.5\n{waiting}"
    replace(spec, SPEC.replace("epsilon: 1", "epsilon: 7"))
    assert watching.printed() == f"epsilon=7\n{waiting}"
    spec.write_text("dpcompose: 1\n", encoding="utf-8")
    assert watching.printed().endswith(f"invalid\n{waiting}")
    spec.unlink()
    gone = watching.printed()
    assert f"cannot read {spec.name}: No such file or directory" in gone
    assert gone.endswith("watching 0 files for changes; Ctrl-C ends\n")
    spec.write_text(SPEC, encoding="utf-8")
    assert watching.printed() == f"epsilon=1\n{waiting}"
    assert watching.is_silent(1)
    assert watching.interrupt() == 130


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_folders_and_settings_are_watched(spec: Path) -> None:
    (spec.parent / ".git").mkdir()
    watching = Watcher(spec.parent, "check", "--format", "concise")
    try:
        assert watching.printed().endswith("watching 1 file for changes; Ctrl-C ends\n")
        (spec.parent / "more").mkdir()
        (spec.parent / "more" / "b.yaml").write_text(SPEC.replace("epsilon: 1", "epsilon: 3"))
        assert "more/b.yaml:6:9: over budget" in watching.printed()
        (spec.parent / "notes.txt").write_text("no spec\n", encoding="utf-8")
        assert watching.is_silent(1)
        settings = spec.parent / "dpcompose.toml"
        settings.write_text('require-relation = ["user"]\n', encoding="utf-8")
        assert "DPC310" in watching.printed()
        settings.write_text("nonsense", encoding="utf-8")
        assert "not valid TOML" in watching.printed()
        settings.unlink()
        assert "DPC310" not in watching.printed()
        assert watching.interrupt() == 130
    finally:
        watching.process.kill()
        watching.process.wait()


def test_a_file_that_is_missing_for_a_moment_is_no_change(
    spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The moment may be long on a busy machine.
    monkeypatch.setattr("dpcompose.commands.watch._PATIENCE", 60.0)
    run = Run(files=[str(spec)])
    seen = _stamps(run)
    aside = spec.with_suffix(".aside")

    def move() -> None:
        spec.rename(aside)
        time.sleep(0.5)
        aside.rename(spec)
        time.sleep(1)
        spec.write_text(SPEC + "# more\n", encoding="utf-8")

    thread = threading.Thread(target=move)
    thread.start()
    found = _changed(run, seen)
    thread.join()
    assert found[str(spec)][1] == len(SPEC) + len("# more\n")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal")
def test_only_a_terminal_is_cleared(spec: Path) -> None:
    import pty

    above, below = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "dpcompose", "analyze", str(spec), "--quiet", "--watch"],
        stdout=below,
        stderr=subprocess.PIPE,
        env={**os.environ, "TERM": "xterm"},
    )
    try:
        assert process.stderr is not None and b"Ctrl-C ends" in process.stderr.readline()
        found = b""
        while not found.endswith(b"\n"):  # a read may return a part
            found += os.read(above, 100)
        assert found == b"\x1b[H\x1b[2J\x1b[3Jepsilon=1\r\n"
    finally:
        process.kill()
        process.wait()
        os.close(above)
        os.close(below)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["-"], "--watch takes files: standard input (-) is read only once"),
        (["a.dp.yaml", "--fix"], "--watch and --fix: one of them, since --fix asks and writes"),
        (["a.dp.yaml", "--brief", "--full"], "--brief and --full: one of them"),
    ],
)
def test_bad_calls_end_at_once(
    args: list[str], says: str, spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(spec.parent)
    done = CliRunner().invoke(app, ["analyze", *args, "--watch"])
    assert done.exit_code == 2 and done.stderr == f"dpcompose: {says}\n"
