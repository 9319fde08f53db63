"""Patterns of file names, such as `specs/**/*.yaml`, and which folders are searched."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

_PATTERN = frozenset("*?[")
_NO_SPECS_IN = frozenset({"node_modules"})  # nor in folders whose name starts with a dot


def is_pattern(name: str) -> bool:
    """Returns whether a name has wildcards.

    A file with that very name does not change this: whoever adds it could otherwise have a pattern
    mean that file alone.
    """
    return not _PATTERN.isdisjoint(name) and "\0" not in name


def is_entered(folder: str) -> bool:
    """Returns whether a folder of this name is searched if one above it is named."""
    return folder[0] != "." and folder not in _NO_SPECS_IN


def split(pattern: str) -> tuple[str, tuple[str, ...]]:
    """Returns (folder before the first part with a wildcard, the parts from that one on)."""
    parts = Path(pattern).parts
    start = next((n for n, part in enumerate(parts) if not _PATTERN.isdisjoint(part)), len(parts))
    return os.path.join("", *parts[:start]), parts[start:]


def parts_below(path: tuple[str, ...], pattern: tuple[str, ...]) -> tuple[str, ...] | None:
    """Returns the parts of a path below what matches a pattern; None if nothing of it matches."""
    if not pattern or not path:
        return None if pattern else path
    if pattern[0] == "**":
        found = parts_below(path, pattern[1:])
        deeper = found is None and len(path) > 1 and path[0][0] != "."
        return parts_below(path[1:], pattern) if deeper else found
    if path[0][0] == "." and path[0] != pattern[0]:
        return None
    return parts_below(path[1:], pattern[1:]) if fnmatchcase(path[0], pattern[0]) else None


def matches(pattern: str) -> list[str]:
    """Returns the paths that match a pattern, sorted; `**` does not follow links.

    As in a shell, names that start with a dot match no wildcard. A file that is called like the
    pattern is among them.
    """
    path = Path(pattern)
    literal = set(path.parts)
    try:
        found = Path(path.anchor).glob(str(path.relative_to(path.anchor)))
        names = {
            str(each)
            for each in found
            if not any(part[0] == "." and part not in literal for part in each.parts)
        }
        return sorted(names | ({str(path)} if os.path.lexists(path) else set()))
    except (OSError, ValueError, NotImplementedError):
        return []


def is_met(path: Sequence[str]) -> bool:
    """Returns whether all folders on a path below a named folder are searched."""
    return all(map(is_entered, path[:-1]))
