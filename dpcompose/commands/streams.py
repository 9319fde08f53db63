"""Standard streams that nobody can take: what a write to them ends in, whoever writes."""

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


def unprintable(stream: TextIO, error: OSError) -> NoReturn:
    """End the run: `stream`, which is standard output, does not take what is printed."""
    _abandon(stream, error)
    if isinstance(error, BrokenPipeError):
        raise SystemExit(ExitCode.NO_READER) from error
    _unwritable(error.strerror or str(error))


def closed() -> NoReturn:
    """End the run: there is no standard output, and something to print."""
    _unwritable("it is closed")


def _unwritable(why: str) -> NoReturn:
    complain(f"cannot write to standard output: {why}")
    raise SystemExit(ExitCode.USAGE)


def guard() -> None:
    """Let what others print, such as help texts, end the run as `print_out` does.

    What cannot be said on standard error is left unsaid, and nothing there is a command for a log,
    which typer may repeat from a bad call. Both streams take every character.
    """
    if sys.stdout is None:
        sys.stdout = _Closed()
    elif type(sys.stdout) is TextIOWrapper:
        sys.stdout = _Guarded(sys.stdout, unprintable)
    if type(sys.stderr) is TextIOWrapper:
        sys.stderr = _Guarded(sys.stderr, _abandon, Inert())


class _Guarded(TextIOWrapper):
    """The stream `over` again; `fail` says what a write that it does not take ends in.

    `inert`: what is done to all that is written.
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
        try:
            super().write(text if self._inert is None else self._inert(text))
            return len(text)
        except OSError as error:
            self._fail(self, error)
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self._fail(self, error)


class _Closed(StringIO):
    def write(self, _text: str) -> int:
        closed()


def _abandon(stream: TextIO, _error: OSError) -> None:
    """Send what is still buffered nowhere, so that Python does not fail on it at exit."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
