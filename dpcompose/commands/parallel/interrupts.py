"""Delays Ctrl-C and requests to terminate while something must not be left half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_HELD = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def held_back() -> Iterator[None]:
    """Delays SIGINT and SIGTERM until the block has ended.

    A process that is started in the block has them blocked until it calls `settle_worker`.
    """
    came: list[int] = []

    # Handlers run in the main thread only, whichever thread receives the signal. The mask is
    # inherited by new processes.
    minded: dict[int, Callable[[int, FrameType | None], object]] = {}
    if threading.current_thread() is threading.main_thread():
        found = {number: signal.getsignal(number) for number in _HELD}
        minded |= {number: handler for number, handler in found.items() if callable(handler)}
    masked = hasattr(signal, "pthread_sigmask")  # not on Windows
    try:
        for number in minded:
            signal.signal(number, lambda one, _: came.append(one))
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD) if masked else set()
        try:
            yield
        finally:
            if masked:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
    finally:
        for number, handler in minded.items():
            signal.signal(number, handler)
    for number in came:
        minded[number](number, None)


def settle_worker() -> None:
    """Lets a new process ignore Ctrl-C, left to its parent, and end when told to terminate."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HELD)
