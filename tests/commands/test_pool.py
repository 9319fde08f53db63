"""Work in other processes: its order, its faults, and that it stops when nobody wants more."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from multiprocessing import active_children
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from dpcompose.commands.parallel import pool
from dpcompose.commands.parallel.pool import spread
from dpcompose.commands.parallel.workers import Ending, Lost, results_of_workers

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "PATIENCE", 0.0)


def work(item: int, pause: float = 0.0) -> tuple[int, int]:
    if item < 0:
        raise ValueError(item)
    time.sleep(pause)
    return item, os.getpid()


def work_beside(item: int, folder: Path, here: int) -> tuple[int, int]:
    """Waits, on a machine that may be busy, until two processes work beside the one that is
    `here`, which begins alone."""
    if os.getpid() != here:
        (folder / str(os.getpid())).touch()
        end = time.monotonic() + 600
        while len(list(folder.iterdir())) < 2 and time.monotonic() < end:
            time.sleep(0.001)
    return work(item)


def test_results_come_in_the_order_of_the_items_from_other_processes(tmp_path: Path) -> None:
    found = list(spread(range(100), partial(work_beside, folder=tmp_path, here=os.getpid()), 3))
    assert [item for item, _ in found] == list(range(100))
    assert len({process for _, process in found} - {os.getpid()}) > 1


def test_one_job_is_this_process() -> None:
    assert list(spread(range(5), work, 1)) == [(each, os.getpid()) for each in range(5)]
    assert list(spread((), work, 4)) == []


def test_a_handful_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "PATIENCE", 60)
    assert {process for _, process in spread(range(50), work, 4)} == {os.getpid()}


def test_items_are_not_taken_far_ahead() -> None:
    taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        for each in range(10_000):
            taken = each
            yield each

    results = spread(items(), work, 2)
    for _ in range(3):
        next(results)
    assert taken < 1_000
    results.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("broken_off", ["closed", "fault"])
def test_nothing_goes_on_when_a_run_breaks_off(broken_off: str, tmp_path: Path) -> None:
    before = set(active_children())
    items = [1, 2, -1, *range(50)] if broken_off == "fault" else list(range(50))
    results = spread(items, partial(work_noted, folder=tmp_path), 2)
    if broken_off == "fault":
        with pytest.raises(ValueError):
            list(results)
    else:
        next(results)
        results.close()  # type: ignore[attr-defined]
    assert not set(active_children()) - before
    assert len(list(tmp_path.iterdir())) < 50


def work_noted(item: int, folder: Path) -> tuple[int, int]:
    found = work(item, pause=0.2)
    (folder / str(item)).touch()
    return found


class Unsendable(Exception):
    def __init__(self, one: str, other: str) -> None:
        super().__init__(one)


def awkward(item: int, how: str = "", here: int = 0) -> int:
    """Goes wrong at 5, in another process than `here`."""
    if item == 5 and os.getpid() != here:
        if how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        raise Unsendable("no way", "to send this")
    time.sleep(0.001)
    return item


def test_an_error_that_cannot_be_sent_arrives_as_text() -> None:
    with pytest.raises(RuntimeError, match="Unsendable: no way"):
        list(spread(range(50), awkward, 2))


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_a_process_that_is_killed_ends_the_run_and_is_named() -> None:
    before = set(active_children())
    with pytest.raises(Lost, match="ended by signal 9; --jobs 1"):
        list(spread(range(50), partial(awkward, how="killed", here=os.getpid()), 2))
    assert not set(active_children()) - before


def stuck(item: int) -> int:
    """Cannot be interrupted at 5, and ends its process at 9."""
    if item == 5:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM, signal.SIGTERM, signal.SIGINT})
        while True:
            time.sleep(1)
    if item == 9:
        os._exit(7)
    return item


def instead(item: int, how: str | None) -> int | str:
    return -item if how is None else f"{item}: {how}"


@pytest.mark.skipif(sys.platform != "linux", reason="needs signals")
@pytest.mark.parametrize("jobs", [1, 3])
def test_what_cannot_be_interrupted_is_ended_and_the_others_go_on(jobs: int) -> None:
    before = set(active_children())
    ending: Ending[int, int | str] = Ending(3, instead)
    expected: list[int | str] = list(range(30))
    expected[5], expected[9] = -5, "9: a process that analyses specs ended with code 7"
    assert list(results_of_workers(range(30), stuck, jobs, ending, 8)) == expected
    assert not set(active_children()) - before


@pytest.mark.parametrize("most", [0, 1])
def test_fewer_processes_do_where_the_system_gives_no_more(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    started, real = 0, BaseProcess.start

    def start(process: BaseProcess) -> None:
        nonlocal started
        if started == most:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        started += 1
        real(process)

    monkeypatch.setattr(BaseProcess, "start", start)
    found = list(spread(range(100), partial(work, pause=0.001), 4))
    assert [item for item, _ in found] == list(range(100))
    assert len({process for _, process in found} - {os.getpid()}) == most


def test_a_large_result_and_a_long_item_hold_nobody_up() -> None:
    sizes = [3_000_000, 1, 2_000_000, *[10] * 200]
    assert [len(each) for each in spread(sizes, large, 2)] == sizes


def large(item: int) -> bytes:
    time.sleep(0.3 if item == 1 else 0.0005)
    return bytes(item)


@pytest.mark.skipif(sys.platform != "linux", reason="is how it is done elsewhere")
def test_processes_that_are_no_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcompose.commands.parallel.workers.sys.platform", "darwin")
    found = list(spread(range(-1, -60, -1), positive, 2))
    assert found == list(range(1, 60))


@pytest.mark.skipif(sys.platform != "linux", reason="is how it is done elsewhere")
def test_processes_that_are_no_forks_are_isolated_as_this_one_is(tmp_path: Path) -> None:
    trace = tmp_path / "imported"
    (tmp_path / "sitecustomize.py").write_text(f"open({str(trace)!r}, 'a').write('x')\n")
    code = (
        "import sys; from dpcompose.commands.parallel import pool, workers\n"
        "pool.PATIENCE, workers.sys.platform = 0.0, 'darwin'\n"
        "if __name__ == '__main__': print(sum(pool.spread(range(-40, 0), abs, 2)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    for flag, imported in (("-P", True), ("-I", False)):
        done = subprocess.run(
            [sys.executable, flag, "-c", code], env=environment, capture_output=True, text=True
        )
        assert (done.stdout, done.stderr, trace.exists()) == ("820\n", "", imported)
        trace.unlink(missing_ok=True)


def positive(item: int) -> int:
    time.sleep(0.001)
    return abs(item)
