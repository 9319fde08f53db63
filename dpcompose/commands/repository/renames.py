"""Which removed file was renamed to which new one, by their content, as git decides it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from os.path import basename

_ALIKE = 0.5  # the least common share for a rename, as in git
_MOST_LINES = 10_000_000  # lines compared; with more, only equal files count as renamed


def match_renames(gone: Mapping[str, bytes], new: Mapping[str, bytes]) -> dict[str, str]:
    """Returns the new name of each removed file that was renamed.

    First files that are equal in every byte, then the most similar; of equally good ones the file
    with the same last name. Each new file is used once.
    """
    found = _equal_files(gone, new)
    taken = set(found.values())
    before = {name: _lines(data) for name, data in gone.items() if name not in found}
    after = {name: _lines(data) for name, data in new.items() if name not in taken}
    work = len(after) * sum(map(len, before.values())) + len(before) * sum(map(len, after.values()))
    if work > _MOST_LINES:
        return found
    scored = (
        (_common_share(one, other), basename(old) == basename(now), old, now)
        for old, one in before.items()
        for now, other in after.items()
    )
    best = sorted(scored, key=lambda each: (-each[0], not each[1], *each[2:]))
    for score, _, old, now in best:
        if score >= _ALIKE and old not in found and now not in taken:
            found[old] = now
            taken.add(now)
    return found


def _equal_files(gone: Mapping[str, bytes], new: Mapping[str, bytes]) -> dict[str, str]:
    """Returns the new names of removed files that are equal in every byte to a new file."""
    holding: dict[bytes, dict[str, None]] = {}
    by_last_name: dict[tuple[bytes, str], str] = {}
    for name, data in new.items():
        holding.setdefault(data, {})[name] = None
        by_last_name.setdefault((data, basename(name)), name)
    found: dict[str, str] = {}
    for old, data in gone.items():
        now = by_last_name.get((data, basename(old)))
        if now is not None and now in holding[data]:
            found[old] = now
            del holding[data][now]
    for old, data in gone.items():
        if old not in found and holding.get(data):
            found[old] = now = next(iter(holding[data]))
            del holding[data][now]
    return found


def _lines(data: bytes) -> Counter[bytes]:
    """Returns how often each line occurs in a file."""
    return Counter(data.splitlines())


def _common_share(one: Counter[bytes], other: Counter[bytes]) -> float:
    """Returns the share of the larger of two files that consists of lines of both."""
    return _size(one & other) / max(_size(one), _size(other), 1)


def _size(lines: Counter[bytes]) -> int:
    """Returns the number of bytes in counted lines."""
    return sum((len(line) + 1) * count for line, count in lines.items())
