"""Writing results: to standard output piece by piece, or to a file all at once."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from typing import TextIO

from dpcompose.commands.exits import ExitCode, complain
from dpcompose.commands.streams import closed, unprintable
from dpcompose.render.layout import Style, transliterated
from dpcompose.render.logs import Inert

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


def deliver(pieces: Iterable[str], path: str | None, raw: bool = False) -> None:
    """Print each piece as it comes, or write all of them to the file at `path` (not `-`).

    `raw`: whether every byte matters, as in a file of data; else no log reads a command in it.
    Raises SystemExit where writing fails.
    """
    deliver_all(((0, piece) for piece in pieces), [path], raw=raw)


def deliver_all(
    pieces: Iterable[tuple[int, str]],
    paths: Sequence[str | None],
    commanding: Collection[int] = (),
    raw: bool = False,
) -> None:
    """Write each piece to the one of `paths` that its number names; None and `-` are printed.

    What is printed goes out as it comes; files appear at the end, whole, or not at all. The pieces
    of the numbers `commanding` are commands for a log. Raises SystemExit where writing fails.
    """
    if not raw:
        inert = [Inert(number in commanding) for number in range(len(paths))]
        pieces = ((number, inert[number](piece)) for number, piece in pieces)
    files = [str(path) for path in paths if not to_standard_output(path)]
    if not files:
        for _, piece in pieces:
            _print(piece)
        return
    from dpcompose.commands.replace import Unwritable, Write, replaced

    try:
        with replaced(files) as writers:
            waiting = iter(writers)
            ways: list[Write] = [
                _print if to_standard_output(path) else next(waiting) for path in paths
            ]
            for number, piece in pieces:
                ways[number](piece)
    except Unwritable as error:
        complain(str(error))
        raise SystemExit(ExitCode.USAGE) from error


def to_standard_output(path: str | None) -> bool:
    """Whether results go to standard output."""
    return path is None or path == "-"


def print_out(text: str) -> None:
    """Print lines of text, without commands for a log. Raises SystemExit as `deliver`."""
    _print(Inert()(text))


def _print(text: str) -> None:
    """Write `text` to standard output now. Raises SystemExit where nobody can take it."""
    stream = sys.stdout
    if stream is None:
        closed()
    try:
        stream.write(transliterated(text, stream.encoding or "utf-8"))
        stream.flush()
    except OSError as error:
        unprintable(stream, error)


def would_overwrite(path: str | None, files: Sequence[str]) -> bool:
    """Whether writing to `path` would overwrite one of `files`."""
    return not to_standard_output(path) and any(_same(str(path), each) for each in files)


def _same(one: str, other: str) -> bool:
    try:
        return os.path.isfile(one) and os.path.samefile(one, other)
    except (OSError, ValueError):
        return False
