"""Which files were met before, by identity: links and other spellings are the same file."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Once:
    """The files that were met so far, stored compactly since there may be very many."""

    _seen: dict[int, set[int]] = field(default_factory=dict, init=False)
    _paths: set[str] = field(default_factory=set, init=False)

    def first(self, file: str) -> bool:
        """Returns whether a file is met for the first time; always true for pipes and devices."""
        try:
            found = os.stat(file)
        except (OSError, ValueError):  # it cannot be read, which is reported once
            return self._is_new(self._paths, os.path.abspath(file))
        if not stat.S_ISREG(found.st_mode):
            return True
        if not found.st_ino:  # a file system without inode numbers
            return self._is_new(self._paths, os.path.realpath(file))
        return self._is_new(self._seen.setdefault(found.st_dev, set()), found.st_ino)

    def first_named(self, name: str) -> bool:
        """Returns whether a name is met for the first time, where names identify files."""
        return self._is_new(self._paths, name)

    def has_named(self, name: str) -> bool:
        """Returns whether a name was met before."""
        return name in self._paths

    @staticmethod
    def _is_new(seen: set[Any], key: object) -> bool:
        """Adds a key to a set and returns whether it is new."""
        before = len(seen)
        seen.add(key)
        return len(seen) > before
