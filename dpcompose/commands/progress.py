"""A progress bar on standard error, for a person who waits, and for nobody else."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_PATIENCE, _PAUSE = 0.5, 0.1  # seconds before the bar appears, and between its pictures


class Progress:
    """How many of `total` items are done. Without a stream nothing is shown."""

    __slots__ = ("_bar", "_done", "_next", "_stream", "_total")

    def __init__(self, total: int, stream: TextIO | None) -> None:
        self._total = total
        self._stream = stream
        self._done = 0
        self._next = time.monotonic() + _PATIENCE
        self._bar: Bar | None = None

    def step(self) -> None:
        """Note that one more item is done."""
        self._done += 1
        if self._stream is None or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _PAUSE
        try:
            if self._bar is None:
                self._bar = _bar(self._total, self._stream)
                self._bar.start()
            self._bar.update(self._bar.task_ids[0], completed=self._done, refresh=True)
        except OSError:
            self._stream = self._bar = None

    def clear(self) -> None:
        """Take the bar away, before something else is said and at the end."""
        if self._bar is not None:
            with suppress(OSError):
                self._bar.stop()
            self._bar = None


def _bar(total: int, stream: TextIO) -> Bar:
    """A bar that leaves nothing behind, without a thread: processes are forked from this one."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    parts = (BarColumn(), MofNCompleteColumn(), TextColumn("specs"), TimeRemainingColumn())
    bar = Bar(
        *parts,
        console=Console(file=stream),
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    bar.add_task("", total=total)
    return bar


def waiting_stream(prints: bool) -> TextIO | None:
    """Standard error where somebody watches it; not while a terminal shows results (`prints`)."""
    stream = sys.stderr
    try:
        if stream is None or not stream.isatty() or os.environ.get("TERM") in ("dumb", None):
            return None
        if prints and sys.stdout is not None and sys.stdout.isatty():
            return None
    except ValueError:  # closed
        return None
    return stream
