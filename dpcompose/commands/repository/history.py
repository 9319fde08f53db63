"""Parsers for the output of `git log`: when files were added, and what each commit changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class AddedIn:
    """The commit that added a file: its number in the history, its hash, its date."""

    order: int
    commit: str
    date: str


def _commit(order: int, name: bytes, time: bytes) -> AddedIn:
    """Returns a commit from its number, hash and time in seconds."""
    day = datetime.fromtimestamp(int(time or b"0"), UTC).date().isoformat()
    return AddedIn(order, name.decode("ascii", "replace"), day)


def came(tokens: Iterator[bytes]) -> Iterator[tuple[str, AddedIn]]:
    """Yields each file with the commit that added it, from `git log -z --name-status`.

    The output lists `HASH TIME`, then a status and its paths. A renamed file keeps its commit.
    """
    known: dict[str, AddedIn] = {}
    for order, head in enumerate(tokens):
        start, _, status = head.partition(b"\n")
        name, _, time = start.partition(b" ")
        here = _commit(order, name, time)
        while status:
            path = os.fsdecode(next(tokens, b""))
            if status.startswith(b"R"):
                now = os.fsdecode(next(tokens, b""))
                known[now] = known.get(path, here)
            else:
                now = path
                known.setdefault(path, here)
            yield now, known[now]
            status = next(tokens, b"")


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of a path by a commit: the blob hashes of the file before and after it, if any."""

    path: str
    old: str | None
    new: str | None


def changed(tokens: Iterator[bytes]) -> Iterator[tuple[AddedIn, list[FileChange]]]:
    """Yields each commit with its changes of files, from the output of `git log -z --raw`."""
    here: list[FileChange] = []
    for order, token in enumerate(filter(None, tokens)):
        head, _, change = (
            token.rpartition(b"\n") if not token.startswith(b":") else (b"", b"", token)
        )
        if not change.startswith(b":"):
            head, change = change, b""
        if head:
            here = []
            name, _, time = head.partition(b" ")
            yield _commit(order, name, time), here
        if change:
            *modes, old, new, _ = change[1:].split()
            names = [
                hash_.decode("ascii") if mode.startswith(b"100") else None
                for mode, hash_ in zip(modes, (old, new), strict=True)
            ]
            here.append(FileChange(os.fsdecode(next(tokens, b"")), *names))
