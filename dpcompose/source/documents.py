"""The documents of a stream, as one text each, so that none can break the others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import NamedTuple

from dpcompose.errors import InvalidSpec
from dpcompose.source.limits import MAX_DOCUMENTS
from dpcompose.source.text import decode

# No scalar of YAML 1.2 can hold such a line (rule c-forbidden): it is a mark wherever it stands.
_MARK = re.compile(r"^(?:---|\.\.\.)(?=[ \t\n]|\Z)", re.MULTILINE)
_MARK_IN_BYTES = re.compile(rb"(?:^|[\r\n]|\xef\xbb\xbf)(?:---|\.\.\.)(?:[ \t\r\n]|\Z)")
_NOTHING = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n|%[^\n]*\n)*[ \t]*(?:#[^\n]*)?\Z")


class Document(NamedTuple):
    """One document of a stream: its text, and how many lines of the stream stand above it.

    `number` counts the documents of the stream from 1; None where there is one alone.
    """

    data: bytes | str
    lines_before: int = 0
    number: int | None = None


def documents(data: bytes) -> Iterator[Document]:
    """Yields the documents in `data`, at least one; bytes that are no text are one document,
    unchanged.

    Those beyond the limit are one text, which its reader refuses.
    """
    if not _MARK_IN_BYTES.search(data):
        yield Document(data)
        return
    try:
        text = decode(data, "")
    except InvalidSpec:  # its reader reports it
        yield Document(data)
        return
    parts = _cut(text)
    first_two = list(islice(parts, 2))
    if len(first_two) < 2:
        yield Document(data)
        return
    line = at = 0
    for number, (start, end) in enumerate(chain(first_two, parts), 1):
        line += text.count("\n", at, start)
        at = start
        if number > MAX_DOCUMENTS:
            yield Document(text[start:], line, number)
            return
        yield Document(text[start:end], line, number)


def _cut(text: str) -> Iterator[tuple[int, int]]:
    """Yields the start and end of each document; text without a mark that holds nothing but
    comments is no document."""
    start, is_open = 0, False
    for mark in _MARK.finditer(text):
        at = mark.start()
        if mark[0] == "---":
            if is_open or not _NOTHING.match(text[start:at]):
                yield start, at
                start = at
            is_open = True
        else:
            end = text.find("\n", at)
            end = len(text) if end < 0 else end + 1
            if is_open or not _NOTHING.match(text[start:at]):
                yield start, end
            start, is_open = end, False
    if is_open or not _NOTHING.match(text[start:]):
        yield start, len(text)
