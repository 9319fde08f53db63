"""Writing files that are complete or untouched at any moment, whatever happens meanwhile."""

from __future__ import annotations

import os
import signal
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple, NoReturn, TextIO

from dpcompose.commands.parallel.interrupts import held_back
from dpcompose.places import is_below, work_tree

#: Folders whose links belong to the system, such as /dev/stdout.
_SYSTEM = ("/dev", "/dev/fd", "/proc/self/fd")
#: A function that appends text to a file. Raises Unwritable.
Write = Callable[[str], None]


class Unwritable(Exception):
    """A file cannot be written; the message names it and the reason."""


class _Target(NamedTuple):
    """A file being written: `temporary` becomes `final`; None where it is written to at once."""

    path: str
    stream: TextIO
    temporary: str | None
    final: str

    def write(self, text: str) -> None:
        """Writes text. Raises Unwritable."""
        with _naming(self.path):
            self.stream.write(text)


@contextmanager
def replaced(paths: Sequence[str]) -> Iterator[list[Write]]:
    """Yields a writer for each of `paths`; the files appear once the block ends without exception.

    Until then the text is in temporary files beside them, which are removed where the block ends by
    any exception, including Ctrl-C and a request to terminate. What is no regular file (a device, a
    pipe) cannot be replaced and is written to at once. Raises Unwritable, before the block is
    entered wherever that can be known.
    """
    targets: list[_Target] = []
    with _termination_raises():
        try:
            for path in paths:
                _open(path, targets)
            yield [target.write for target in targets]
            for target in targets:
                with _naming(target.path):
                    target.stream.close()
            for target in targets:
                if target.temporary is not None:
                    with _naming(target.path):
                        os.chmod(target.temporary, _mode(target.final))
                        os.replace(target.temporary, target.final)
        finally:
            for target in targets:
                with suppress(OSError):
                    target.stream.close()
                if target.temporary is not None:
                    with suppress(OSError):  # gone if it was moved to its final place
                        os.unlink(target.temporary)


def make_folder(path: str) -> None:
    """Makes a folder, and those above it, where they are missing. Raises Unwritable."""
    with _naming(path):
        place = os.path.abspath(path)
        if (link := _link(place)) is not None:
            raise OSError(f"{link} is a symbolic link, which nothing is written through")
        os.makedirs(place, exist_ok=True)


def _open(path: str, targets: list[_Target]) -> None:
    """Appends the target for a path to `targets`, so that it is cleaned up whatever happens."""
    with _naming(path):
        place = os.path.abspath(path)  # so that `..` follows no link
        if (link := _link(place)) is not None:
            raise OSError(f"{link} is a symbolic link, which nothing is written through")
        if os.path.exists(place) and not os.path.isfile(place):  # opening a directory fails
            targets.append(_Target(path, _writing(place), None, place))
            return

        final = os.path.realpath(place)
        folder, prefix = os.path.dirname(final), f".{os.path.basename(final)[:50]}."
        with held_back():
            handle, temporary = tempfile.mkstemp(dir=folder, prefix=prefix, suffix=".tmp")
            targets.append(_Target(path, _writing(handle), temporary, final))


def _link(path: str) -> str | None:
    """Returns the link that writing to a path would follow, except links of the system, or None.

    A repository has links that others made: below its top, or else the working folder, no folder on
    the path may be one.
    """
    if os.path.dirname(path) in _SYSTEM:
        return None
    top = work_tree(os.path.dirname(path)) or os.path.abspath(os.curdir)
    while True:
        if os.path.islink(path):
            return path
        path = os.path.dirname(path)
        if not is_below(path, top) or path == top:
            return None


def _writing(file: str | int) -> TextIO:
    """Returns a stream that writes text in UTF-8 to a file."""
    return open(file, "w", encoding="utf-8", errors="backslashreplace")


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Raises Unwritable with the name `path`, not a temporary one, for failures in the block."""
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        why = getattr(error, "strerror", None) or error
        raise Unwritable(f"cannot write {path}: {why}") from error


def _mode(final: str) -> int:
    """Returns the permissions of the file to be replaced, or those of a new file."""
    with suppress(OSError):
        return stat.S_IMODE(os.stat(final).st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


@contextmanager
def _termination_raises() -> Iterator[None]:
    """Lets SIGTERM end the block by SystemExit, so that it can clean up, unless it is handled."""
    if threading.current_thread() is not threading.main_thread() or (
        signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    ):
        yield
        return

    def end(number: int, _: object) -> NoReturn:
        """Raises SystemExit with the exit code of a process that a signal ended."""
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
