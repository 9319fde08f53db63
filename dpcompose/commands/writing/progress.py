"""Progress bars on standard error, shown only to a person who waits."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from dpcompose.commands.exits import is_terminal

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_PATIENCE, _PAUSE = 0.5, 0.1  # seconds until the bar appears, and between updates


class Progress:
    """A context that shows how many steps of some work are done. Without a stream nothing is shown.

    `total`: the number of steps, each of which may draw the bar. Without it a thread draws what the
    work is (`says`) and the steps (`unit`), since nothing else does meanwhile; no process may be
    forked then.
    """

    def __init__(
        self, stream: TextIO | None, total: int | None = None, says: str = "", unit: str = ""
    ) -> None:
        self._stream, self._total, self._says, self._unit = stream, total, says, unit
        self._done = 0
        self._next = time.monotonic() + _PATIENCE
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._bar: Bar | None = None

    def __enter__(self) -> Progress:
        if self._stream is not None and self._total is None:
            self._thread = threading.Thread(target=self._draw_until_over, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def step(self) -> None:
        """Counts one more step, and draws the bar if it is time."""
        self._done += 1
        if self._total is not None and time.monotonic() >= self._next:
            self._next = time.monotonic() + _PAUSE
            self._draw()

    def clear(self) -> None:
        """Removes the bar, before something else is printed and at the end."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._bar is not None:
            with suppress(OSError):
                self._bar.stop()
            self._bar = None

    def _draw(self) -> None:
        """Draws the bar; a failure to do so must not be printed in its place."""
        if self._stream is None:
            return
        try:
            if self._bar is None:
                self._bar = _bar(self._total, self._stream, self._unit, self._says)
                self._bar.start()
            self._bar.update(self._bar.task_ids[0], completed=self._done, refresh=True)
        except (OSError, ValueError, MemoryError):
            self._stream = self._bar = None

    def _draw_until_over(self) -> None:
        """Draws the bar until the work is over; runs in a thread."""
        if not self._over.wait(_PATIENCE):
            while not self._over.wait(_PAUSE):
                self._draw()


def _bar(total: int | None, stream: TextIO, unit: str, says: str) -> Bar:
    """Returns a bar of rich that disappears at its end and draws in no thread.

    Processes are forked from this one. `unit`: what is counted, empty where nothing is.
    """
    from rich import progress
    from rich.console import Console

    console = Console(file=stream)
    parts: list[progress.ProgressColumn]
    if total is None:
        spinner = progress.SpinnerColumn("dots" if console.encoding.startswith("utf") else "line")
        count = map(progress.TextColumn, ("{task.completed}", unit) if unit else ())
        parts = [spinner, progress.TextColumn(says, markup=False), *count]
        parts.append(progress.TimeElapsedColumn())
    else:
        parts = [progress.BarColumn(), progress.MofNCompleteColumn(), progress.TextColumn(unit)]
        parts.append(progress.TimeRemainingColumn())
    bar = progress.Progress(
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
    """Returns standard error if a person watches it, else None.

    None also while a terminal shows results (`prints`).
    """
    watched = is_terminal(sys.stderr) and os.environ.get("TERM") not in ("dumb", None)
    return sys.stderr if watched and not (prints and is_terminal(sys.stdout)) else None
