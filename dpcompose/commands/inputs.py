"""Reading specs: files and standard input, as bytes, never more than can be analysed."""

from __future__ import annotations

import sys

#: The name that stands for standard input.
STANDARD_INPUT = "-"


class Unreadable(Exception):
    """A file that cannot be read; the message names it and the reason."""


def shown(file: str) -> str:
    """How a report calls the file."""
    return "<stdin>" if file == STANDARD_INPUT else file


def read(file: str) -> bytes:
    """The bytes of `file`, one more than the limit at most: the reader then refuses the size.

    Raises Unreadable.
    """
    from dpcompose.source import MAX_BYTES

    try:
        if file != STANDARD_INPUT:
            with open(file, "rb") as stream:
                return stream.read(MAX_BYTES + 1)
        if sys.stdin is None:
            raise Unreadable("cannot read standard input: it is closed")
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        why = getattr(error, "strerror", None) or str(error)
        raise Unreadable(f"cannot read {shown(file)}: {why}") from error
