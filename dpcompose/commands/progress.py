"""A progress bar on standard error, for a person who waits, and for nobody else."""

from __future__ import annotations

import os
import sys
import threading
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


class Waiting:
    """One long piece of work: `says` what it is, and the count of what `step` notes in it.

    Drawn by a thread, since nothing is done in between; no process may be forked meanwhile. Without
    a stream nothing is shown. `total`: how many steps there will be, None where nobody knows.
    """

    __slots__ = ("_done", "_over", "_says", "_stream", "_thread", "_total", "_unit")

    def __init__(
        self, says: str, stream: TextIO | None, unit: str = "", total: int | None = None
    ) -> None:
        self._says, self._unit, self._stream, self._total = says, unit, stream, total
        self._done = 0
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Waiting:
        if self._stream is not None:
            self._thread = threading.Thread(target=self._draw, args=(self._stream,), daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def step(self) -> None:
        """Note that one more step is done."""
        self._done += 1

    def clear(self) -> None:
        """Take it away, before something else is said and at the end."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _draw(self, stream: TextIO) -> None:
        # What goes wrong with the picture must not be seen in its place.
        with suppress(OSError, ValueError, MemoryError):
            if self._over.wait(_PATIENCE):
                return
            bar = _bar(self._total, stream, self._unit, self._says)
            bar.start()
            try:
                while not self._over.wait(_PAUSE):
                    bar.update(bar.task_ids[0], completed=self._done, refresh=True)
            finally:
                bar.stop()


def _bar(total: int | None, stream: TextIO, unit: str = "specs", says: str = "") -> Bar:
    """Returns a bar that leaves nothing behind, without a thread: processes are forked from this
    one.

    `unit`: what is counted, empty where nothing is.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    console = Console(file=stream)
    parts: list[ProgressColumn] = []
    if says:
        dots = console.encoding.startswith("utf")
        parts += [SpinnerColumn("dots" if dots else "line"), TextColumn(says, markup=False)]
    if total is not None:
        parts += [BarColumn(), MofNCompleteColumn()]
    elif unit:
        parts.append(TextColumn("{task.completed}"))
    if unit:
        parts.append(TextColumn(unit))
    parts.append(TimeElapsedColumn() if total is None else TimeRemainingColumn())
    bar = Bar(
        *parts,
        console=console,
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
