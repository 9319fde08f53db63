"""Exit codes, and the functions that print on standard error."""

from __future__ import annotations

import os
import sys
from enum import IntEnum
from shutil import get_terminal_size
from typing import TextIO

from dpcompose.errors import InvalidSpec, printable
from dpcompose.render.layout import Style, transliterated
from dpcompose.render.logs import Inert


class ExitCode(IntEnum):
    """The exit codes of the process, the same for every command and format."""

    FINE = 0
    FAILED = 1  # over budget, or no finite guarantee
    USAGE = 2  # bad call, or a file that cannot be read or written
    INVALID = 3  # invalid spec
    FAULT = 70  # an internal error of dpcompose
    INTERRUPTED = 130  # Ctrl-C
    NO_READER = 141  # standard output was closed early, as in `dpcompose … | head -1`


class BadCall(Exception):
    """A call that makes no sense; the message says why."""


def complain(message: str) -> None:
    """Prints one line on standard error; a closed standard error is no failure."""
    complain_lines(f"dpcompose: {printable(message)}")


def complain_of(error: InvalidSpec) -> None:
    """Prints the faults of a spec on standard error, with the source lines they are about."""
    from dpcompose.render.parts.diagnostics import refusal

    complain_lines(refusal(error, for_complaints()))


def complain_of_fault(traceback: str) -> ExitCode:
    """Prints an internal error of dpcompose on standard error, and returns its exit code."""
    complain_lines(traceback)
    complain("this is a fault of dpcompose, not of the spec")
    return ExitCode.FAULT


def is_terminal(stream: TextIO | None) -> bool:
    """Returns whether a stream is a terminal; it may be missing or closed."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def for_complaints() -> Style:
    """Returns the style of standard error: the terminal's width, colours and characters."""
    stream = sys.stderr
    if stream is None:
        return Style(100)
    terminal = is_terminal(stream)
    width = get_terminal_size((100, 24)).columns if terminal else 100
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return Style(width, terminal and not plain, stream.encoding or "utf-8")


def complain_lines(text: str) -> None:
    """Prints text that is already safe for a terminal on standard error."""
    if sys.stderr is None:
        return
    try:
        safe = Inert()(transliterated(text, sys.stderr.encoding or "utf-8"))
        sys.stderr.write(safe + "\n")
        sys.stderr.flush()
    except OSError:
        pass
