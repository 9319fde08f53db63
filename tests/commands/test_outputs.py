"""Several outputs of one run, and exit codes by command, format and outcome, with real specs."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from command import run
from conftest import LIBRARY

from dpcompose.render import Format

pytestmark = pytest.mark.slow

_MECHANISM = "{name: count, reads: t, notion: pure, epsilon: 1, stated_on: t, relation: unbounded}"
_HEAD = "dpcompose: 1\nprotect: unbounded\ndatasets: {t: {}}\n"
_BODY = f"mechanisms: [{_MECHANISM}]\n"
SPECS = {
    "fine": f"{_HEAD}{_BODY}budget: {{epsilon: 2}}\n",
    "over": f"{_HEAD}{_BODY}budget: {{epsilon: 1/2}}\n",
    "otherwise": f"{_HEAD}{_BODY}budget: {{rho: 0.1}}\n",
    "nobudget": f"{_HEAD}{_BODY}",
    "trap": "dpcompose: 1\nprotect: bounded\ndatasets: {t: {}, f: {from: t, map: filter}}\n"
    "mechanisms: [{name: n, reads: f, notion: pure, epsilon: 1, relation: bounded}]\n"
    "budget: {epsilon: 2}\n",
    "invalid": f"{_HEAD}mechanisms: [{{name: count, raeds: t}}]\n",
    "empty": "",
}
FORMS = list(Format)
#: For processes of their own, whose streams are the same in most formats: all with --long only.
THEMSELVES = [
    form if form in (Format.TEXT, Format.JSON) else pytest.param(form, marks=pytest.mark.long)
    for form in FORMS
]


@pytest.fixture(autouse=True)
def folder(home: Path) -> Path:
    for name, text in SPECS.items():
        (home / f"{name}.yaml").write_text(text)
    return home


def listing(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


# --- exit codes ----------------------------------------------------------------------------------

#: Outcome: the code of `analyze`, the code of `check`.
OUTCOMES = {
    "fine": (0, 0),
    "over": (0, 1),
    "otherwise": (0, 1),
    "nobudget": (0, 2),
    "trap": (1, 1),
    "invalid": (3, 3),
    "empty": (3, 3),
    "missing": (2, 2),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_exit_codes_by_command_format_and_outcome(outcome: str, form: Format) -> None:
    for command, code in zip(("analyze", "check"), OUTCOMES[outcome], strict=True):
        result = run(command, f"{outcome}.yaml", "--format", form)
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_exit_codes_are_those_of_files_too(outcome: str) -> None:
    flags = ["-o", "main", *(flag for form in FORMS for flag in ("-o", f"{form}=out.{form}"))]
    for command, code in zip(("analyze", "check"), OUTCOMES[outcome], strict=True):
        assert run(command, f"{outcome}.yaml", *flags).exit_code == code


@pytest.mark.parametrize("form", FORMS)
def test_the_largest_code_wins_in_every_format(form: Format) -> None:
    names = [f"{name}.yaml" for name in ("fine", "over", "nobudget", "fine")]
    assert run("check", *names, "--format", form).exit_code == 2
    assert run("check", *names, "invalid.yaml", "--format", form).exit_code == 3
    assert run("analyze", *names, "--format", form).exit_code == 0
    assert run("analyze", "trap.yaml", *names, "--format", form).exit_code == 1
    assert run("analyze", "trap.yaml", "missing.yaml", *names, "--format", form).exit_code == 2


# --- several outputs -----------------------------------------------------------------------------


def test_every_output_is_what_its_format_prints_alone(folder: Path) -> None:
    names = [f"{name}.yaml" for name in ("fine", "over", "trap", "invalid")]
    flags = [flag for form in FORMS for flag in ("-o", f"{form}=out.{form}")]
    for command in ("analyze", "check"):
        together = run(command, *names, *flags)
        assert together.stdout == run(command, *names).stdout
        for form in FORMS:
            alone = run(command, *names, "--format", form).stdout
            assert (folder / f"out.{form}").read_text(encoding="utf-8") == alone


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a folder to be read-only")
def test_a_read_only_folder_is_one_line_and_no_output(folder: Path) -> None:
    shut = folder / "shut"
    shut.mkdir()
    shut.chmod(stat.S_IRUSR | stat.S_IXUSR)
    before = listing(folder)
    result = run("check", "fine.yaml", "-o", "sarif=x", "-o", "junit=shut/x")
    shut.chmod(stat.S_IRWXU)
    assert result.exit_code == 2
    assert result.stderr == "dpcompose: cannot write shut/x: Permission denied\n"
    assert listing(folder) == before and not list(shut.iterdir())


def test_a_folder_that_refuses_files_is_one_line_and_no_output(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied", "temporary")

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    before = listing(folder)
    result = run("check", "fine.yaml", "-o", "sarif=x", "-o", "junit=y")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "dpcompose: cannot write x: Permission denied\n"
    assert listing(folder) == before


def test_a_fault_of_the_engine_is_no_failure_to_write(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*_: Any, **__: Any) -> Any:
        raise ValueError("a fault of the engine")

    monkeypatch.setattr("dpcompose.pipeline.load_resolved", fault)
    result = run("check", "fine.yaml", "-o", "sarif=x", "-o", "y")
    assert isinstance(result.exception, ValueError)
    assert "cannot write" not in result.stderr


# --- the process itself --------------------------------------------------------------------------

pytest_posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX")


def started(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "dpcompose", *arguments]
    if os.name != "nt":
        # A shell's background jobs ignore Ctrl-C, and so would what they start.
        options["preexec_fn"] = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen(command, stderr=subprocess.PIPE, **options)


#: The signal comes at the worst moment: the temporary file is there, and nobody knows of it yet.
AT_ONCE = """
import os, signal, sys, tempfile
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
real = tempfile.mkstemp
def made(*given, **named):
    found = real(*given, **named)
    os.kill(os.getpid(), {number})
    return found
tempfile.mkstemp = made
sys.argv[1:] = ["check", "fine.yaml", "-o", "x"]
from dpcompose.__main__ import main
main()
"""


@pytest_posix
@pytest.mark.parametrize(("number", "code"), [(2, 130), (15, 143)])
def test_a_signal_between_a_file_and_its_record_leaves_nothing(
    folder: Path, number: int, code: int
) -> None:
    before = listing(folder)
    command = [sys.executable, "-c", AT_ONCE.format(number=number)]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=600, check=False)
    assert done.returncode == code and listing(folder) == before


#: The signal comes in a callback, in which Python drops what a handler raises.
DROPPED = """
import os, signal, sys, time, weakref
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
import dpcompose.pipeline
class Thing: pass
def loaded(*given, **named):
    thing = Thing()
    watch = weakref.ref(thing, lambda _: os.kill(os.getpid(), {number}))
    del thing
    time.sleep(60)
dpcompose.pipeline.load_resolved = loaded
sys.argv[1:] = ["check", "fine.yaml", "-o", "x"]
from dpcompose.__main__ import main
main()
"""


@pytest_posix
@pytest.mark.parametrize(("number", "code"), [(2, 130), (15, 143)])
def test_a_signal_in_a_callback_is_not_lost(folder: Path, number: int, code: int) -> None:
    before = listing(folder)
    command = [sys.executable, "-c", DROPPED.format(number=number)]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=600, check=False)
    assert (done.returncode, done.stderr) == (code, b"")
    assert listing(folder) == before


@pytest_posix
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["ctrl-c", "terminate"]
)
def test_an_interrupted_run_leaves_nothing_behind(
    folder: Path, number: signal.Signals, code: int
) -> None:
    (folder / "x").write_text("old")
    before = listing(folder)
    flags = ["-o", "sarif=x", "-o", "y"]
    process = started("check", "-", *flags, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    deadline = time.monotonic() + 600
    while len(listing(folder)) < len(before) + 2:  # both wait in temporary files
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate(timeout=600)
    assert (process.returncode, out, err) == (code, b"", b"")
    assert listing(folder) == before


@pytest_posix
@pytest.mark.parametrize("form", THEMSELVES)
def test_a_broken_pipe_leaves_the_other_outputs_whole(folder: Path, form: Format) -> None:
    before = listing(folder)
    reading, writing = os.pipe()
    os.close(reading)
    process = started("check", "over.yaml", "--format", form, "-o", "json=x", stdout=writing)
    os.close(writing)
    _, err = process.communicate(timeout=600)
    assert (process.returncode, err) == (141, b"")
    alone = subprocess.run(
        [sys.executable, "-m", "dpcompose", "check", "over.yaml", "--format", "json"],
        capture_output=True,
        check=False,
    )
    assert listing(folder) == {**before, "x": alone.stdout}


@pytest_posix
def test_a_closed_standard_output_is_no_traceback_and_no_hindrance_for_files(
    folder: Path,
) -> None:
    shell = f"{sys.executable} -m dpcompose check over.yaml"
    for rest, code, kept in [("-o sarif=x >&-", 2, False), ("-o y -o sarif=x >&-", 1, True)]:
        result = subprocess.run(f"{shell} {rest}", shell=True, capture_output=True, check=False)
        assert result.returncode == code
        assert b"Traceback" not in result.stderr
        assert ((folder / "x").exists(), (folder / "y").exists()) == (kept, kept)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(
    "arguments", ["--help", "check --help", "--version", "--show-completion bash", "theorems"]
)
def test_what_cannot_be_printed_is_one_line_whoever_prints_it(arguments: str) -> None:
    shell = f"{sys.executable} -m dpcompose {arguments}"
    environment = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    streams = [
        (">/dev/full", 2, b"No space left on device"),
        (">&-", 2, b"it is closed"),
        (">/dev/full 2>/dev/full", 2, None),
        (">&- 2>&-", 2, None),
        ("2>/dev/full", 0, None),
    ]
    # What becomes of the complaint does not depend on what could not be printed.
    for rest, code, says in streams if arguments == "--help" else streams[:2]:
        result = subprocess.run(
            f"{shell} {rest}", shell=True, capture_output=True, check=False, env=environment
        )
        said = b"dpcompose: cannot write to standard output: " + says + b"\n" if says else b""
        assert (rest, result.returncode, result.stderr) == (rest, code, said)
    reading, writing = os.pipe()
    os.close(reading)
    result = subprocess.run(
        shell, shell=True, stdout=writing, stderr=subprocess.PIPE, check=False, env=environment
    )
    os.close(writing)
    assert (result.returncode, result.stderr) == (141, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_bad_call_is_one_though_nobody_can_be_told() -> None:
    for arguments in ("check --bogus", "explain", "", "nonsense"):
        for rest in ("2>/dev/full", "2>&-", ">/dev/full 2>/dev/full"):
            shell = f"{sys.executable} -m dpcompose {arguments} {rest}"
            result = subprocess.run(shell, shell=True, capture_output=True, check=False)
            assert (shell, result.returncode, result.stderr) == (shell, 2, b"")


@pytest.mark.parametrize("path", [*LIBRARY.values()][::7], ids=lambda path: path.stem)
def test_what_tells_no_reasons_looks_for_none_and_says_the_same(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = (("analyze", "-q"), ("check", "--epsilon", "9", "--format", "concise"))
    told = [run(*call, str(path), "-o", "json=told.json") for call in calls]
    monkeypatch.setattr("dpcompose.core.search.select.compare", None)
    monkeypatch.setattr("dpcompose.report.derivation.of_solution", None)
    for call, each in zip(calls, told, strict=True):
        quick = run(*call, str(path))
        assert (quick.exit_code, quick.stdout) == (each.exit_code, each.stdout)
