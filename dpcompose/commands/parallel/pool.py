"""Distributes work over processes, if it pays; results come in the order of the items."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from dpcompose.commands.parallel.workers import Ending

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

#: Seconds of work after which other processes are considered: after the first few items, and
#: before; and the seconds of work that must still lie ahead then.
PATIENCE, LONG_PATIENCE, WORTH = 0.1, 1.0, 0.2
_FEW = 4
_AHEAD = 256  # items looked at to see whether enough work lies ahead
_LARGEST_CHUNK = 32
_CHUNK_SECONDS = 0.05


def cores() -> int:
    """Returns how many processes can run at once."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def spread(
    items: Iterable[_Item],
    work: Callable[[_Item], _Result],
    jobs: int,
    ending: Ending[_Item, _Result] | None = None,
    apart: bool = False,
) -> Iterator[_Result]:
    """Yields the result of `work` for each item, in order, by up to `jobs` processes.

    The first items are done here: processes cost more than they save until there is much to do.
    `work` must be a function of a module, or a partial of one. `ending`: see `shared_out`. `apart`:
    whether nothing is done here.
    """
    rest: Iterator[_Item] = iter(items)
    usual, spent, longest, done = jobs * _CHUNK_SECONDS, 0.0, 0.0, 0
    while not apart:
        patient = jobs == 1 or spent <= (LONG_PATIENCE if done < _FEW else PATIENCE)
        ahead = list(islice(rest, 1 if patient else _AHEAD))
        if not ahead:
            return
        # The longest is left out of the average: the first item loads what all need.
        usual = (spent - longest) / (done - 1) if done > 1 else spent
        if len(ahead) > 1 and usual * len(ahead) > WORTH:
            rest = chain(ahead, rest)
            break
        for item in ahead:
            start = time.perf_counter()
            result = work(item)
            taken = time.perf_counter() - start
            spent, longest, done = spent + taken, max(longest, taken), done + 1
            yield result
            del result  # it may be large, and the next item may take long

    from dpcompose.commands.parallel.workers import results_of_workers

    pace = _Pace(usual / jobs)
    for each in results_of_workers(_chunks(rest, pace, jobs), work, jobs, ending):
        pace.done += 1
        yield each


class _Pace:
    """The average number of seconds for each of the items that are `done`, from an estimate on."""

    def __init__(self, first: float) -> None:
        self._first, self._start, self.done = first, time.perf_counter(), 0

    @property
    def seconds(self) -> float:
        """Returns the average time of an item, with the first estimate counted as a few items."""
        spent = time.perf_counter() - self._start
        return (self._first * _FEW + spent) / (_FEW + self.done)


def _chunks(items: Iterator[_Item], pace: _Pace, jobs: int) -> Iterator[list[_Item]]:
    """Yields the items in chunks that each take a process about the same short time."""
    while True:
        size = int(_CHUNK_SECONDS / max(pace.seconds * jobs, 1e-9))
        chunk = list(islice(items, max(1, min(_LARGEST_CHUNK, size))))
        if not chunk:
            return
        yield chunk
