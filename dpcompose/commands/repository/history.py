"""What git lists of a history: when files came, and what each commit did to them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class AddedIn:
    """The commit that a file came with: its number in the history, its name, its date."""

    order: int
    commit: str
    date: str


def _commit(order: int, name: bytes, time: bytes) -> AddedIn:
    day = datetime.fromtimestamp(int(time or b"0"), UTC).date().isoformat()
    return AddedIn(order, name.decode("ascii", "replace"), day)


def came(tokens: Iterator[bytes]) -> Iterator[tuple[str, AddedIn]]:
    """Yields what `git log -z --name-status` lists: `HASH TIME`, then a status and its paths
    each."""
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
    """What a commit did to a path: the names of the file there before and after it, if any."""

    path: str
    old: str | None
    new: str | None


def changed(tokens: Iterator[bytes]) -> Iterator[tuple[AddedIn, list[FileChange]]]:
    """Yields what `git log -z --raw` lists: `HASH TIME`, and of each change its modes, hashes
    and path."""
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
