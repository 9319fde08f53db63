"""Ctrl-C and other ends of a run with several processes: at once, in silence, nothing left."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType

import pytest

from dpcompose.commands.parallel.interrupts import held_back

pytestmark = pytest.mark.skipif(
    not os.path.exists(f"/proc/self/task/{os.getpid()}/children"),
    reason="looks for processes in /proc",
)

SPEC = """dpcompose: 1
protect: unbounded
datasets: {t: {}}
mechanisms:
  - {name: m, reads: t, notion: pure, epsilon: 1, stated_on: t, relation: unbounded}
budget: {epsilon: 2}
"""
#: Starts other processes after the first spec, and shows when it is about to begin.
CODE = (
    "import os, sys, dpcompose.commands.parallel.pool as pool\n"
    "pool.PATIENCE = 0.0\n"
    "from dpcompose.__main__ import main\n"
    "os.write(1, b'begun')\n"
    "main()"
)
#: Seconds, on a machine that may be busy.
AT_ONCE = 600


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Specs, enough for several seconds."""
    found = tmp_path_factory.mktemp("specs")
    for number in range(2_000):
        (found / f"{number:04}.yaml").write_text(SPEC)
    return found


class Started:
    """A run in a session of its own, whose standard output somebody reads to its end."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        command = [sys.executable, "-c", CODE, "check", "--format", "concise"]
        self.reader = subprocess.Popen(
            ["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        assert self.reader.stdin is not None and self.reader.stdout is not None
        self.process = subprocess.Popen(
            [*command, str(folder), *arguments],
            stdout=self.reader.stdin,
            stderr=subprocess.PIPE,
            start_new_session=True,
            # A shell's background jobs ignore Ctrl-C, and so would what they start.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )
        self.reader.stdin.close()
        self.reader.stdin = None
        assert self.reader.stdout.read(5) == b"begun"

    def wait_for_children(self) -> None:
        """Until there is one; the others are just being started."""
        home = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        deadline = time.monotonic() + AT_ONCE
        while not home.read_text():
            assert time.monotonic() < deadline and self.process.poll() is None

    def send(self, number: signal.Signals, group: bool) -> None:
        (os.killpg if group else os.kill)(self.process.pid, number)

    def end(self) -> tuple[int, bytes]:
        """Its code and what it said; nothing of it may be left, nor hold its output open."""
        _, said = self.process.communicate(timeout=AT_ONCE)
        self.reader.communicate(timeout=AT_ONCE)
        assert not list(self.alive())
        return self.process.returncode, said

    def alive(self) -> Iterator[int]:
        """The processes of the session that have not ended."""
        for each in os.listdir("/proc"):
            if each.isdigit():
                try:
                    text = Path(f"/proc/{each}/stat").read_text()
                except OSError:
                    continue
                state, _, _, session = text.rpartition(")")[2].split()[:4]
                if int(session) == self.process.pid and state != "Z":
                    yield int(each)

    def tidy(self) -> None:
        for each in self.alive():
            os.kill(each, signal.SIGKILL)
        for process in (self.process, self.reader):
            process.kill()
            process.communicate()


@pytest.fixture
def start(folder: Path) -> Iterator[Callable[..., Started]]:
    runs: list[Started] = []

    def begin(*arguments: str) -> Started:
        runs.append(Started(folder, *arguments))
        return runs[-1]

    yield begin
    for each in runs:
        each.tidy()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("jobs", "group"),
    [
        pytest.param("2", True, id="2-terminal"),
        pytest.param("6", False, id="6-parent"),
        pytest.param("6", True, id="6-terminal", marks=pytest.mark.long),
        pytest.param("2", False, id="2-parent", marks=pytest.mark.long),
    ],
)
def test_ctrl_c_while_processes_start_ends_all_of_them(
    start: Callable[..., Started], jobs: str, group: bool
) -> None:
    for pause in (0.0, 0.004):
        run = start("--jobs", jobs)
        run.wait_for_children()
        time.sleep(pause)
        run.send(signal.SIGINT, group)
        assert run.end() == (130, b"")


@pytest.mark.slow
@pytest.mark.parametrize("group", [True, False], ids=["terminal", "parent"])
def test_ctrl_c_at_any_time_ends_all_processes(start: Callable[..., Started], group: bool) -> None:
    for seed in range(2):
        run = start("--jobs", "2")
        time.sleep(random.Random(seed).random() * 0.5)
        run.send(signal.SIGINT, group)
        assert run.end() == (130, b"")


@pytest.mark.slow
@pytest.mark.parametrize("group", [True, False], ids=["group", "parent"])
@pytest.mark.parametrize("files", [True, False])
def test_a_request_to_terminate_ends_all_processes(
    start: Callable[..., Started], tmp_path: Path, files: bool, group: bool
) -> None:
    run = start("--jobs", "2", *(["-o", f"json={tmp_path}/x"] if files else []))
    run.wait_for_children()
    run.send(signal.SIGTERM, group)
    process, said = run.process, run.process.communicate(timeout=AT_ONCE)[1]
    assert (process.returncode, said) == (143 if files else -signal.SIGTERM, b"")
    run.reader.communicate(timeout=AT_ONCE)  # ends with the last process
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_processes_end_by_themselves_when_the_first_is_killed(
    start: Callable[..., Started],
) -> None:
    run = start("--jobs", "3")
    run.wait_for_children()
    run.send(signal.SIGKILL, group=False)
    run.process.wait(timeout=AT_ONCE)
    run.reader.communicate(timeout=AT_ONCE)
    deadline = time.monotonic() + AT_ONCE
    while list(run.alive()):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.slow
def test_a_process_that_is_killed_ends_the_run_and_leaves_no_half_of_a_file(
    start: Callable[..., Started], tmp_path: Path
) -> None:
    run = start("--jobs", "2", "-o", f"json={tmp_path}/x")
    run.wait_for_children()
    time.sleep(0.1)
    os.kill(next(each for each in run.alive() if each != run.process.pid), signal.SIGKILL)
    code, said = run.end()
    assert code == 2 and b"ended by signal 9; --jobs 1 works in one process" in said
    assert b"Traceback" not in said and not list(tmp_path.iterdir())


# --- signals that are held back ------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_takes_effect_after_the_block(number: signal.Signals) -> None:
    class Came(Exception):
        pass

    def come(_number: int, _frame: FrameType | None) -> None:
        raise Came

    before = signal.signal(number, come)
    passed = False
    try:
        with pytest.raises(Came), held_back():
            os.kill(os.getpid(), number)
            time.sleep(0.01)
            passed = True
        assert passed
        assert signal.getsignal(number) is come
        assert not signal.pthread_sigmask(signal.SIG_BLOCK, ())
    finally:
        signal.signal(number, before)


def test_a_signal_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with held_back():
            os.kill(os.getpid(), signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
