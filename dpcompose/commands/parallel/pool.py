"""Distributes work over processes, if it pays; results come in the order of the items."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

#: Seconds of work after which other processes are started, if as many still lie ahead.
PATIENCE = 0.3
AT_HAND = 8  # items that a process is given ahead
_AHEAD = 256  # items looked at to see whether enough work lies ahead


def cores() -> int:
    """Returns how many processes can run at once."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def spread(
    items: Iterable[_Item], work: Callable[[_Item], _Result], jobs: int
) -> Iterator[_Result]:
    """Yields the result of `work` for each item, in order, by up to `jobs` processes.

    The first items are done here: processes cost more than they save until there is much to do.
    `work` must be a function of a module, or a partial of one.
    """
    rest, spent, done = iter(items), 0.0, 0
    for item in rest:
        start = time.perf_counter()
        result = work(item)
        spent, done = spent + time.perf_counter() - start, done + 1
        yield result
        del result  # it may be large, and the next item may take long
        if jobs > 1 and spent > PATIENCE:
            break
    ahead = list(islice(rest, _AHEAD))
    if len(ahead) < _AHEAD and spent * len(ahead) <= PATIENCE * done:
        yield from map(work, ahead)
        return
    from dpcompose.commands.parallel.workers import results_of_workers

    yield from results_of_workers(chain(ahead, rest), work, jobs, at_hand=AT_HAND)
