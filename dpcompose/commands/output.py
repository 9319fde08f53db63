"""Writing results: to standard output piece by piece, or to a file all at once."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from enum import StrEnum
from typing import TextIO

from dpcompose.commands.exits import ExitCode, complain
from dpcompose.render.layout import Style, transliterated

_NARROWEST, _WIDEST = 40, 100


class Color(StrEnum):
    """When to colour."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


def style_for(path: str | None, color: Color) -> Style:
    """The style for the file at `path`, or for standard output.

    The flag wins, then NO_COLOR, then FORCE_COLOR, then whether it is a terminal. Lines are as
    wide as the terminal, within reason, and 80 columns elsewhere.
    """
    stream = sys.stdout
    if not to_standard_output(path) or stream is None:
        return Style(colour=color is Color.ALWAYS)
    terminal = _is_terminal(stream)
    width = shutil.get_terminal_size().columns if terminal else 80
    return Style(
        width=min(max(width, _NARROWEST), _WIDEST),
        colour=_coloured(color, terminal),
        encoding=stream.encoding or "utf-8",
    )


def _coloured(color: Color, terminal: bool) -> bool:
    if color is not Color.AUTO:
        return color is Color.ALWAYS
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return terminal and os.environ.get("TERM") != "dumb"


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def deliver(pieces: Iterable[str], path: str | None) -> None:
    """Print each piece as it comes, or write all of them to the file at `path` (not `-`).

    Raises SystemExit where writing fails.
    """
    if to_standard_output(path):
        for piece in pieces:
            print_out(piece)
        return
    text = "".join(pieces)
    try:
        _replace(str(path), text)
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        complain(f"cannot write {path}: {getattr(error, 'strerror', None) or error}")
        raise SystemExit(ExitCode.USAGE) from error


def to_standard_output(path: str | None) -> bool:
    """Whether results go to standard output."""
    return path is None or path == "-"


def print_out(text: str) -> None:
    """Write `text` to standard output now. Raises SystemExit where nobody can take it."""
    stream = sys.stdout
    if stream is None:
        complain("cannot write to standard output: it is closed")
        raise SystemExit(ExitCode.USAGE)
    try:
        stream.write(transliterated(text, stream.encoding or "utf-8"))
        stream.flush()
    except BrokenPipeError as error:
        _abandon(stream)
        raise SystemExit(ExitCode.NO_READER) from error
    except OSError as error:
        _abandon(stream)
        complain(f"cannot write to standard output: {error.strerror or error}")
        raise SystemExit(ExitCode.USAGE) from error


def _abandon(stream: TextIO) -> None:
    """Send what is still buffered nowhere, so that Python does not fail on it at exit."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _replace(path: str, text: str) -> None:
    """Write `text` to the file at `path`, which is complete or untouched at any moment."""
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        # A device or a pipe cannot be replaced; a directory fails here, as it should.
        with open(target, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
        return
    import tempfile

    handle, temporary = tempfile.mkstemp(
        dir=os.path.dirname(target), prefix=f".{os.path.basename(target)[:50]}.", suffix=".tmp"
    )
    try:
        with open(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _mode(target: str) -> int:
    """The permissions of the file to be replaced, or those of any new file."""
    with suppress(OSError):
        return stat.S_IMODE(os.stat(target).st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def would_overwrite(path: str | None, files: Sequence[str]) -> bool:
    """Whether writing to `path` would overwrite one of `files`."""
    return not to_standard_output(path) and any(_same(str(path), each) for each in files)


def _same(one: str, other: str) -> bool:
    try:
        return os.path.isfile(one) and os.path.samefile(one, other)
    except (OSError, ValueError):
        return False
