"""Standard streams that cannot be written to: how a failed write ends the run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from io import StringIO, TextIOWrapper
from typing import NoReturn, TextIO

from dpcompose.commands.exits import ExitCode, complain
from dpcompose.render.layout import STAND_IN
from dpcompose.render.logs import Inert


def unprintable(stream: TextIO | None, error: OSError | None = None) -> NoReturn:
    """Ends the run, since standard output does not take what is printed, or is closed (None)."""
    why = "it is closed"
    if stream is not None and error is not None:
        _abandon(stream, error)
        if isinstance(error, BrokenPipeError):
            raise SystemExit(ExitCode.NO_READER) from error
        why = error.strerror or str(error)
    complain(f"cannot write to standard output: {why}")
    raise SystemExit(ExitCode.USAGE)


def guard() -> None:
    """Replaces the standard streams, so that failed writes by others end the run as in `print_out`.

    Others are, for example, help texts. A failed write to standard error is ignored, and nothing
    there is a command for a log, which typer may repeat from a bad call. Both streams take every
    character.
    """
    if sys.stdout is None:
        sys.stdout = _Closed()
    elif type(sys.stdout) is TextIOWrapper:
        sys.stdout = _Guarded(sys.stdout, unprintable)
    if type(sys.stderr) is TextIOWrapper:
        sys.stderr = _Guarded(sys.stderr, _abandon, Inert())


class _Guarded(TextIOWrapper):
    """A copy of the stream `over` that calls `fail` when a write fails.

    `inert`: a function applied to everything that is written.
    """

    def __init__(
        self,
        over: TextIOWrapper,
        fail: Callable[[TextIO, OSError], object],
        inert: Callable[[str], str] | None = None,
    ) -> None:
        self._fail = fail
        self._inert = inert
        super().__init__(
            over.buffer,
            over.encoding,
            STAND_IN,
            line_buffering=over.line_buffering,
            write_through=over.write_through,
        )

    def write(self, text: str) -> int:
        """Writes a text and returns its length, also where that failed and `fail` returned."""
        try:
            super().write(text if self._inert is None else self._inert(text))
            return len(text)
        except OSError as error:
            self._fail(self, error)
            return len(text)

    def flush(self) -> None:
        """Writes what is buffered; `fail` is called where that fails."""
        try:
            super().flush()
        except OSError as error:
            self._fail(self, error)


class _Closed(StringIO):
    """A standard output that does not exist: a write to it ends the run."""

    def write(self, _text: str) -> int:
        """Ends the run."""
        unprintable(None)


def _abandon(stream: TextIO, _error: OSError) -> None:
    """Redirects a stream to nowhere, so that Python does not fail on buffered text at exit."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
