"""Which files are meant: files, folders, patterns and lists of them, one at a time, in order."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import BinaryIO

from dpcompose.commands.inputs import STANDARD_INPUT
from dpcompose.values import dataclass

_ENDINGS = (".yaml", ".yml")
_PATTERN = frozenset("*?[")
_NO_SPECS_IN = frozenset({"node_modules", "__pycache__"})  # and what starts with a dot
_LONGEST_NAME = 2**16  # bytes of a line in a list of files


@dataclass(frozen=True, slots=True)
class Problem:
    """An argument that gives no file, and why."""

    says: str


@dataclass(slots=True)
class Gathering:
    """What the arguments of a command stand for.

    `files_from`: a file with a name a line (or ended by null bytes), `-` for standard input.
    `skipped` counts the YAML files in folders that are no specs, as far as `items` has come.
    """

    arguments: Sequence[str]
    files_from: str | None = None
    allow_empty: bool = False
    skipped: int = field(default=0, init=False)

    @property
    def single(self) -> bool:
        """Whether one file is named by itself."""
        if self.files_from is not None or len(self.arguments) != 1:
            return False
        name = self.arguments[0]
        return name == STANDARD_INPUT or not (_is(os.path.isdir, name) or _is_pattern(name))

    def items(self) -> Iterator[str | Problem]:
        """Each file, and each problem where it turns up."""
        for argument in self.arguments:
            yield from self._meant(argument)
        if self.files_from is not None:
            yield from self._listed(self.files_from)

    def _meant(self, name: str) -> Iterator[str | Problem]:
        if name == STANDARD_INPUT:
            yield name
        elif _is(os.path.isdir, name):
            yield from self._or_none(self._inside(name), f"no specs in {name}")
        elif _is_pattern(name):
            matches = (each for match in _matches(name) for each in self._matched(match))
            yield from self._or_none(matches, f"nothing matches {name}")
        else:
            yield name

    def _matched(self, name: str) -> Iterator[str | Problem]:
        return self._inside(name) if _is(os.path.isdir, name) else iter((name,))

    def _or_none(self, found: Iterable[str | Problem], says: str) -> Iterator[str | Problem]:
        """All of `found`; if that is nothing, a problem."""
        skipped, empty = self.skipped, True
        for each in found:
            empty = False
            yield each
        if empty and not self.allow_empty:
            others = self.skipped - skipped
            more = f" ({others} other YAML file{'s' if others > 1 else ''})" if others else ""
            yield Problem(f"{says}{more}; --allow-empty accepts that")

    def _inside(self, folder: str) -> Iterator[str | Problem]:
        """The specs in a folder and the folders below it, sorted by name at each level."""
        try:
            with os.scandir(folder) as found:
                entries = sorted((each.name, _kind(each)) for each in found)
        except OSError as error:
            yield Problem(f"cannot read {folder}: {error.strerror or error}")
            return
        for name, kind in entries:
            path = os.path.join(folder, name)
            if kind == "folder" and name[0] != "." and name not in _NO_SPECS_IN:
                yield from self._inside(path)
            elif kind == "file" and name.endswith(_ENDINGS):
                if _may_be_spec(path):
                    yield path
                else:
                    self.skipped += 1

    def _listed(self, source: str) -> Iterator[str | Problem]:
        def meant() -> Iterator[str | Problem]:
            for name in names:
                if _is(os.path.isdir, name):
                    yield from self._or_none(self._inside(name), f"no specs in {name}")
                else:
                    yield f".{os.sep}-" if name == STANDARD_INPUT else name

        try:
            if source != STANDARD_INPUT:
                with open(source, "rb") as stream:
                    names = _names(stream)
                    yield from self._or_none(meant(), f"no files are listed in {source}")
            elif sys.stdin is None:
                yield Problem("cannot read standard input: it is closed")
            else:
                names = _names(sys.stdin.buffer)
                yield from self._or_none(meant(), "no files are listed on standard input")
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            yield Problem(f"cannot read the list of files {source}: {why}")


def _names(stream: BinaryIO) -> Iterator[str]:
    """Names ended by line ends, or by null bytes; empty ones are left out."""
    rest = b""
    while line := stream.readline(_LONGEST_NAME):
        *whole, rest = (rest + line).split(b"\0")
        yield from (os.fsdecode(each) for each in whole if each)
        if rest.endswith(b"\n") or len(rest) >= _LONGEST_NAME:
            name, rest = rest.rstrip(b"\r\n"), b""
            if name:
                yield os.fsdecode(name)
    if rest:
        yield os.fsdecode(rest)


def _is(test: Callable[[str], bool], name: str) -> bool:
    try:
        return test(name)
    except (OSError, ValueError):  # ValueError: a null byte in the name
        return False


def _is_pattern(name: str) -> bool:
    """Whether a name has wildcards, and is no file as it stands."""
    return not _PATTERN.isdisjoint(name) and "\0" not in name and not os.path.lexists(name)


def _matches(pattern: str) -> list[str]:
    """What matches a pattern, sorted; `**` goes down folders but not along links.

    As in a shell, names that start with a dot match no wildcard.
    """
    path = Path(pattern)
    literal = set(path.parts)
    try:
        found = Path(path.anchor).glob(str(path.relative_to(path.anchor)))
        return sorted(
            str(each)
            for each in found
            if not any(part[0] == "." and part not in literal for part in each.parts)
        )
    except (OSError, ValueError, NotImplementedError):
        return []


def _kind(entry: os.DirEntry[str]) -> str:
    """`folder` (no link to one: it could lead round in a circle), `file`, or neither."""
    try:
        if entry.is_dir(follow_symlinks=False):
            return "folder"
        return "file" if entry.is_file() else ""
    except OSError:
        return ""


def _may_be_spec(path: str) -> bool:
    """Whether a YAML file is a spec; one that cannot be read is for whoever reads it to report."""
    from dpcompose.source import MAX_BYTES, is_spec

    try:
        with open(path, "rb") as stream:
            return is_spec(stream.read(MAX_BYTES + 1))
    except OSError:
        return True
