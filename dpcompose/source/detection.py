"""The check whether a YAML file is a spec: some document has the key `dpcompose` at its top."""

from __future__ import annotations

import re
from itertools import islice

from dpcompose.source.documents import documents
from dpcompose.source.events import AliasEvent, ScalarEvent, YAMLError, walk
from dpcompose.source.limits import MAX_BYTES, MAX_DOCUMENTS

_KEY = "dpcompose"
_AT_MARGIN = re.compile(rb"(?:^|[\r\n]|\xef\xbb\xbf)[\"']?dpcompose[\"']?[ \t]*:(?:[ \t\r\n]|\Z)")
#: The other way to write a letter of the key, or to break it: an escape.
_ESCAPED = re.compile(
    rb"\\(?:(?:x|u00|U000000)(?:6[3-5dDfF]|7[03])|[\r\n]|\xc2\x85|\xe2\x80[\xa8\xa9])"
)
#: A line that starts at the margin, and can hold the key.
_LINE = re.compile(r"^[^\s#][^\n]*(?:dpcompose|\\)[^\n]*$", re.MULTILINE)
_MOST_LINES = 10_000
#: How texts start whose characters take more than one byte.
_WIDE = (
    (re.compile(rb"\xff\xfe\0\0|[^\0]\0\0\0"), "utf-32-le"),
    (re.compile(rb"\0\0\xfe\xff|\0\0\0[^\0]"), "utf-32-be"),
    (re.compile(rb"\xff\xfe|[^\0]\0"), "utf-16-le"),
    (re.compile(rb"\xfe\xff|\0[^\0]"), "utf-16-be"),
)


def is_spec(data: bytes) -> bool:
    """Returns whether `data` is meant as a spec, be it valid or not.

    A broken document counts if the key stands at the margin, or before the fault; one that is too
    large to be read counts if the key stands anywhere.
    """
    data = _in_utf8(data)
    literal = _KEY.encode() in data
    if not literal and not _ESCAPED.search(data):
        return False
    if literal and (len(data) > MAX_BYTES or _AT_MARGIN.search(data)):
        return True
    # More documents than are read of a file are no matter of a glance: whoever reads it says so.
    return any(
        (each.number or 0) > MAX_DOCUMENTS or _is_one(_text(each.data)) for each in documents(data)
    )


def _in_utf8(data: bytes) -> bytes:
    """Returns the same text in UTF-8; its encoding is known by its first bytes, as in YAML."""
    for start, encoding in _WIDE:
        if start.match(data):
            return data.decode(encoding, "replace").encode("utf-8", "replace")
    return data


def _text(data: bytes | str) -> str:
    """Returns data as text, without a byte order mark."""
    return data if isinstance(data, str) else data.decode("utf-8", "replace").lstrip("\ufeff")


def _is_one(text: str) -> bool:
    """Returns whether a document has the key; in a broken one, whether some line starts with it."""
    try:
        return _has_key(text)
    except YAMLError:
        lines = (line[0] for line in _LINE.finditer(text))
        first = any(map(_starts_with_key, islice(lines, _MOST_LINES)))
        return first or next(lines, None) is not None


def _starts_with_key(line: str) -> bool:
    """Returns whether a line is a mapping with the key."""
    try:
        return _has_key(line)
    except YAMLError:
        return False


def _has_key(text: str) -> bool:
    """Returns whether some document is a mapping with the key. Raises YAMLError."""
    named: set[str] = set()  # anchors of texts that are the key
    for event, stack in walk(text):
        is_key = isinstance(event, ScalarEvent) and event.value == _KEY
        if is_key and event.anchor is not None:
            named.add(event.anchor)
        alias = isinstance(event, AliasEvent) and event.anchor in named
        if len(stack) == 1 and stack[0].is_mapping and stack[0].at_key and (is_key or alias):
            return True
    return False
