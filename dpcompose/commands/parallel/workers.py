"""Worker processes, each connected by two pipes; they end when this process does.

This process has no threads, and shares no locks and no queues with the workers: whatever becomes of
one of them, or of this one, nobody waits for ever. A worker reads its pipe all the time, and ends
once nobody holds the other end.
"""

from __future__ import annotations

import gc
import os
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pickle import dumps, loads
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from dpcompose.commands.exits import BadCall
from dpcompose.commands.parallel import bounds
from dpcompose.commands.parallel.interrupts import held_back, settle_worker
from dpcompose.memory import settle

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_MOST = 60  # processes; Windows can wait for 63 pipes
_AHEAD = 4  # times what is at hand: results of each worker that may wait for an earlier one


class Lost(BadCall):
    """A worker ended by itself, for example since memory is short; the message says how."""


@dataclass(frozen=True, slots=True)
class Ending(Generic[_Item, _Result]):
    """When a worker is killed, and the result for the item that it was working on.

    `seconds`: how long it may say nothing; None: for ever. `result`: makes the result for an item
    whose worker was killed (None), or ended by itself as the text says.
    """

    seconds: float | None
    result: Callable[[_Item, str | None], _Result]


@dataclass(slots=True)
class _Task:
    """An item, and its result as bytes, once there is one."""

    item: Any
    result: bytes | None = None


@dataclass(slots=True, eq=False)
class _Worker:
    """A worker process, this side of its pipes, and the tasks that it has, in order.

    `since`: when it last sent something, or was given something to do.
    """

    process: BaseProcess
    tasks: Connection
    results: Connection
    has: deque[_Task] = field(default_factory=deque)
    since: float = 0.0

    def give(self, task: _Task) -> None:
        """Sends a worker one more task; if it has ended, that is noticed later."""
        if not self.has:
            self.since = time.monotonic()
        self.has.append(task)
        with suppress(OSError):
            self.tasks.send_bytes(dumps(task.item))

    def take(self) -> None:
        """Receives a result, or a sign that it works on. Raises EOFError, OSError."""
        data = self.results.recv_bytes()
        self.since = time.monotonic()
        if data:
            self.has.popleft().result = data

    @property
    def ending(self) -> str:
        """Returns a sentence on how the process ended by itself."""
        self.process.join(1)
        code = self.process.exitcode
        how = f"by signal {-code}" if code is not None and code < 0 else f"with code {code}"
        return f"a process that analyses specs ended {how}"

    def end(self) -> None:
        """Kills the process, which shares nothing that it could leave in disorder."""
        self.process.kill()
        self.process.join()
        self.tasks.close()
        self.results.close()


def results_of_workers(
    items: Iterable[_Item],
    work: Callable[[_Item], _Result],
    jobs: int,
    ending: Ending[_Item, _Result] | None = None,
    at_hand: int = 1,
) -> Iterator[_Result]:
    """Yields the result of `work` for each item, in order, by `jobs` processes.

    What `work` raises is raised here in its turn. Where no process can be started this one works.
    Where a process ends by itself, `ending` gives the result for its item; without it Lost is
    raised. `at_hand`: how many items a process is given ahead, so that it does not wait for more.
    """
    workers: list[_Worker] = []
    try:
        with held_back():
            _start(workers, work, min(jobs, _MOST))
        if workers:
            yield from _results(map(_Task, items), workers, work, ending, at_hand)
        else:
            yield from map(work, items)
    finally:
        with held_back():
            for worker in workers:
                worker.end()


def run_within(most: bounds.Most, work: Callable[[], _Result]) -> _Result:
    """Returns the result of `work`, held to the limits `most`. Raises TooMuch."""
    (found,) = run_each_within(most, [None], lambda _: work())
    if isinstance(found, bounds.TooMuch):
        raise found
    return found


def run_each_within(
    most: bounds.Most, items: Sequence[_Item], work: Callable[[_Item], _Result]
) -> Iterator[_Result | bounds.TooMuch]:
    """Yields the result of `work` for each item, or a TooMuch if it exceeds the limits, in order.

    Each is held to `most`, by this process too where that can be forked. What `work` raises is
    raised here.
    """
    return _each_within(lambda: most, range(len(items)), lambda index: work(items[index]))


class WorkWithin(Generic[_Item, _Result]):
    """A function whose calls are held to limits, all of them by one process.

    It is forked at the first call, and anew where a call ended it or raised: a fork for each of
    many small calls would take longer than the calls. `limits`: returns those of a call that
    begins.
    """

    def __init__(self, limits: Callable[[], bounds.Most], work: Callable[[_Item], _Result]) -> None:
        self._limits = limits
        self._work = work
        self._item: _Item | None = None
        self._results: Generator[_Result | bounds.TooMuch] | None = None

    def __call__(self, item: _Item) -> _Result:
        """Returns the result for an item, which is sent to the process. Raises TooMuch, and what
        the function raises."""
        self._item = item
        if self._results is None:
            self._results = _each_within(self._limits, self._items(), self._work_there)
        try:
            found = next(self._results)
        except BaseException:
            self._results = None  # it has ended, and its process with it
            raise
        if isinstance(found, bounds.TooMuch):
            raise found
        return found

    def _items(self) -> Iterator[Any]:
        """Yields the item of each call, with what the run has come to: one process with one task
        at hand takes none ahead."""
        while True:
            yield bounds.reached(), self._item

    def _work_there(self, given: tuple[str, _Item]) -> _Result:
        """Returns the result for an item in the process, which is told what the run has come to."""
        bounds.reach(given[0])
        return self._work(given[1])

    def close(self) -> None:
        """Ends the process."""
        if self._results is not None:
            self._results.close()


def _each_within(
    limits: Callable[[], bounds.Most], items: Iterable[_Item], work: Callable[[_Item], _Result]
) -> Generator[_Result | bounds.TooMuch]:
    """Yields the result of `work` for each item, or a TooMuch; items are sent to the process.

    `limits`: returns those of an item when its turn comes.
    """
    most = limits()

    def held(item: _Item) -> _Result | bounds.TooMuch:
        """Returns the result for one item, or a TooMuch."""
        try:
            with bounds.within(limits()):
                return work(item)
        except bounds.TooMuch as error:
            return error

    if not most.is_limited or sys.platform != "linux":
        yield from map(held, items)
        return
    bounds.warm_up(most)
    ending: Ending[_Item, _Result | bounds.TooMuch] = Ending(
        most.patience, lambda _, how: bounds.limit_error(most, how)
    )
    yield from results_of_workers(items, held, 1, ending)


def _start(workers: list[_Worker], work: Callable[[Any], Any], jobs: int) -> None:
    """Appends `jobs` new workers, or fewer where the system allows no more."""
    # Where forking is safe it saves the start of every process.
    forked = sys.platform == "linux"
    context: Any = get_context("fork" if forked else "spawn")
    # A fork inherits this side of all pipes, which would keep them open.
    ends = [end for each in workers for end in (each.tasks, each.results)]
    with suppress(OSError):
        for _ in range(jobs):
            its_tasks, tasks = context.Pipe(duplex=False)
            results, its_results = context.Pipe(duplex=False)
            ends += tasks, results
            given = (work, its_tasks, its_results, tuple(ends) if forked else ())
            process = context.Process(target=_serve, args=given, daemon=True)
            process.start()
            workers.append(_Worker(process, tasks, results))
            its_tasks.close()
            its_results.close()


def _results(
    tasks: Iterator[_Task],
    workers: list[_Worker],
    work: Callable[[Any], Any],
    ending: Ending[Any, Any] | None,
    at_hand: int,
) -> Iterator[Any]:
    """Yields the results in order, gives workers their tasks and replaces those that ended."""
    pending: deque[_Task] = deque()  # whose results were not yielded yet, in order
    while True:
        while len(pending) < _AHEAD * at_hand * len(workers):
            idlest = min(workers, key=lambda each: len(each.has))
            if len(idlest.has) == at_hand:
                break
            task = next(tasks, None)
            if task is None:
                break
            pending.append(task)
            idlest.give(task)
        if not pending:
            return
        busy = [each for each in workers if each.has]
        patience = None if ending is None else ending.seconds
        left = None
        if patience is not None:  # the seconds until the first worker is late
            last = min(each.since for each in busy) + patience
            left = max(0.0, last - time.monotonic()) + 0.01
        ready = wait([each.results for each in busy], left)
        for worker in busy:
            how = None
            if worker.results in ready:
                try:
                    worker.take()
                    continue
                except (EOFError, OSError) as error:
                    how = worker.ending
                    if ending is None:
                        raise Lost(f"{how}; --jobs 1 works in one process") from error
            elif patience is None or time.monotonic() - worker.since <= patience:
                continue
            assert ending is not None
            _replace(workers, worker, work, ending, how)
        away = time.monotonic()
        while pending and (data := pending[0].result) is not None:
            pending.popleft()
            result, fault = loads(data)
            if fault is not None:
                raise fault
            yield result
            del data, result  # they may be large, and the next one may take long
        away = time.monotonic() - away
        for worker in workers:
            worker.since += away  # meanwhile nothing was received


def _replace(
    workers: list[_Worker],
    worker: _Worker,
    work: Callable[[Any], Any],
    ending: Ending[Any, Any],
    how: str | None,
) -> None:
    """Kills a worker, and starts another one that goes on after its current item. Raises Lost."""
    with held_back():
        worker.end()
        workers.remove(worker)
        if worker.has:
            task = worker.has.popleft()
            task.result = dumps((ending.result(task.item, how), None))
        before = len(workers)
        _start(workers, work, 1)
    if len(workers) == before:
        raise Lost("no process can be started in the place of one that was ended")
    for task in worker.has:
        workers[-1].give(task)


def _serve(
    work: Callable[[Any], Any],
    tasks: Connection,
    results: Connection,
    inherited: tuple[Connection, ...],
) -> None:
    """Runs a worker: does the work that arrives until nobody holds the other end of the pipes."""
    settle_worker()

    for each in inherited:
        each.close()
    gc.freeze()  # a collection would write to, and so copy, all memory shared with the parent
    settle()
    waiting: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_listen, args=(tasks, waiting), daemon=True).start()
    bounds.set_beat(lambda: results.send_bytes(b""))
    with suppress(OSError):
        while True:
            results.send_bytes(_answer(work, loads(waiting.get())))
    os._exit(0)


def _listen(tasks: Connection, waiting: SimpleQueue[bytes]) -> None:
    """Passes on the tasks that arrive, and ends this process once nothing can arrive any more."""
    with suppress(EOFError, OSError):
        while True:
            waiting.put(tasks.recv_bytes())
    os._exit(0)


def _answer(work: Callable[[Any], Any], item: Any) -> bytes:
    """Returns the result and None, or None and the error with its traceback, as bytes."""
    try:
        return dumps((work(item), None))
    except Exception as error:
        text = "".join(traceback.format_exception(error)).rstrip()
        try:
            error.add_note(text)
            data = dumps((None, error))
            loads(data)
        except Exception:  # an error that cannot be sent
            return dumps((None, RuntimeError(text)))
        return data
