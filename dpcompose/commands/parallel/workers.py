"""Processes that work for this one, each at the other end of two pipes; without it they end.

This process has no threads, and shares no locks and no queues with the workers: whatever becomes
of one of them, or of this one, nobody waits for ever. A worker reads its pipe all the time, and
ends once nobody holds the other end.
"""

from __future__ import annotations

import gc
import os
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pickle import dumps, loads
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from dpcompose.commands.exits import BadCall
from dpcompose.commands.parallel.interrupts import held_back, settle_worker
from dpcompose.memory import settle

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_AT_HAND = 2  # chunks that a worker has: one to work on, and the next
_MOST = 60  # processes; Windows can wait for 63 pipes
_AHEAD = 8  # chunks for each worker that may wait for an earlier one


class Lost(BadCall):
    """A worker that was ended from outside, as where memory is short; the message says how."""


@dataclass(slots=True, eq=False)
class _Worker:
    """A process, the ends of its pipes that are here, and the chunks whose results are due."""

    process: BaseProcess
    tasks: Connection
    results: Connection
    has: deque[int] = field(default_factory=deque)

    def give(self, number: int, chunk: list[Any]) -> None:
        """Have it work on a chunk. Raises Lost."""
        data = dumps(chunk)
        try:
            self.tasks.send_bytes(data)
        except OSError as error:
            self._lost(error)
        self.has.append(number)

    def take(self) -> tuple[int, bytes]:
        """The number of the chunk that it had longest, and the results. Raises Lost."""
        try:
            return self.has.popleft(), self.results.recv_bytes()
        except (EOFError, OSError) as error:
            self._lost(error)

    def _lost(self, error: Exception) -> NoReturn:
        self.process.join(1)
        code = self.process.exitcode
        how = f"by signal {-code}" if code is not None and code < 0 else f"with code {code}"
        raise Lost(
            f"a process that analyses specs ended {how}; --jobs 1 works in one process"
        ) from error

    def end(self) -> None:
        """End it, whatever it does: it shares nothing that it could leave in disorder."""
        self.process.kill()
        self.process.join()
        self.tasks.close()
        self.results.close()


def shared_out(
    chunks: Iterator[list[_Item]], work: Callable[[_Item], _Result], jobs: int
) -> Iterator[_Result]:
    """`work` of each item of each chunk, in order, by `jobs` processes.

    What `work` raises is raised here in its turn. Where no process can be started this one works.
    Raises Lost where one ends by itself.
    """
    workers: list[_Worker] = []
    try:
        with held_back():
            _start(workers, work, min(jobs, _MOST))
        if workers:
            yield from _results(chunks, workers)
        else:
            yield from (work(item) for chunk in chunks for item in chunk)
    finally:
        with held_back():
            for worker in workers:
                worker.end()


def _start(workers: list[_Worker], work: Callable[[Any], Any], jobs: int) -> None:
    """Fill `workers`, with fewer than `jobs` where the system gives no more."""
    # Where a fork is safe it spares every process its start.
    forked = sys.platform == "linux"
    context: Any = get_context("fork" if forked else "spawn")
    ends: list[Connection] = []  # here; a fork has copies of them, through which pipes stay open
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


def _results(chunks: Iterator[list[Any]], workers: list[_Worker]) -> Iterator[Any]:
    done: dict[int, bytes] = {}
    given = told = 0
    ended = False
    while True:
        while not ended and given - told < _AHEAD * len(workers):
            idlest = min(workers, key=lambda each: len(each.has))
            if len(idlest.has) == _AT_HAND:
                break
            chunk = next(chunks, None)
            if chunk is None:
                ended = True
                break
            idlest.give(given, chunk)
            given += 1
        if told == given:
            return
        ready = wait([each.results for each in workers if each.has])
        for worker in workers:
            if worker.results in ready:
                number, data = worker.take()
                done[number] = data
        while told in done:
            results, error = loads(done.pop(told))
            if error is not None:
                raise error
            told += 1
            yield from results
            del results  # they may be large, and this may wait for long


def _serve(
    work: Callable[[Any], Any],
    tasks: Connection,
    results: Connection,
    inherited: tuple[Connection, ...],
) -> None:
    """What a worker does until nobody holds the other ends."""
    settle_worker()

    for each in inherited:
        each.close()
    gc.freeze()  # a collection would write to all that was there before, and so copy it
    settle()
    waiting: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_listen, args=(tasks, waiting), daemon=True).start()
    with suppress(OSError):
        while True:
            results.send_bytes(_answer(work, loads(waiting.get())))
    os._exit(0)


def _listen(tasks: Connection, waiting: SimpleQueue[bytes]) -> None:
    """Pass on what comes, and end this process, whatever it does, once nothing can come."""
    with suppress(EOFError, OSError):
        while True:
            waiting.put(tasks.recv_bytes())
    os._exit(0)


def _answer(work: Callable[[Any], Any], chunk: list[Any]) -> bytes:
    """The results and None; or nothing, and what went wrong with its traceback."""
    try:
        return dumps(([work(item) for item in chunk], None))
    except Exception as error:
        text = "".join(traceback.format_exception(error)).rstrip()
        try:
            error.add_note(text)
            data = dumps(([], error))
            loads(data)
        except Exception:  # an error that cannot be sent
            return dumps(([], RuntimeError(text)))
        return data
