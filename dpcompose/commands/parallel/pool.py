"""Distributes work over processes, if it pays; results come in the order of the items."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

#: Seconds of work after which other processes are considered: after the first few items, and
#: before; and the seconds of work that must still lie ahead then.
PATIENCE, LONG_PATIENCE, WORTH = 0.1, 1.0, 0.2
_FEW = 4
_AHEAD = 256  # items looked at to see whether enough work lies ahead
_MOST_AT_HAND, _AT_HAND_SECONDS = 16, 0.04  # of the items that a process is given ahead


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
    rest: Iterator[_Item] = iter(items)
    usual, spent, longest, done = _AT_HAND_SECONDS / 8, 0.0, 0.0, 0
    while True:
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

    at_hand = int(_AT_HAND_SECONDS / max(usual, 1e-9))
    yield from results_of_workers(rest, work, jobs, at_hand=max(2, min(_MOST_AT_HAND, at_hand)))
