"""Which files are meant: files, folders, patterns and lists of them, one at a time, in order."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import BinaryIO, Protocol

from dpcompose.commands.inputs import STANDARD_INPUT, shown
from dpcompose.commands.once import Once
from dpcompose.values import dataclass

_ENDINGS = (".yaml", ".yml")
_PATTERN = frozenset("*?[")
_NO_SPECS_IN = frozenset({"node_modules", "__pycache__"})  # and what starts with a dot
_LONGEST_NAME = 2**16  # bytes of a line in a list of files


@dataclass(frozen=True, slots=True)
class Problem:
    """An argument that gives no file, and why."""

    name: str
    says: str


class Gone(Protocol):
    """Knows of files that are no longer there, and are meant as well."""

    def below(self, folder: str, yaml: bool) -> Iterable[str]:
        """The paths of such files (or YAML files) from a folder on, with `/`."""

    def was_spec(self, file: str) -> bool:
        """Whether one of them was a spec."""


@dataclass(slots=True)
class Gathering:
    """What the arguments of a command stand for.

    `files_from`: a file with a name a line (or ended by null bytes), `-` for standard input.
    `gone`: of a repository, where files are told apart as git does. As far as `items` has come,
    `skipped` counts the YAML files in folders that are no specs, and `named` says whether the last
    file was named by itself.
    """

    arguments: Sequence[str]
    files_from: str | None = None
    allow_empty: bool = False
    gone: Gone | None = None
    skipped: int = field(default=0, init=False)
    named: bool = field(default=False, init=False)

    @property
    def single(self) -> bool:
        """Whether one file is named by itself."""
        if self.files_from is not None or len(self.arguments) != 1:
            return False
        name = self.arguments[0]
        return name == STANDARD_INPUT or not (_is(os.path.isdir, name) or _is_pattern(name))

    def items(self) -> Iterator[str | Problem]:
        """Each file, once and at its first place, and each problem where it turns up."""
        once = Once(linked=self.gone is None)
        for each in self._all():
            if isinstance(each, Problem) or each == STANDARD_INPUT or once.first(each):
                yield each

    def _all(self) -> Iterator[str | Problem]:
        for argument in self.arguments:
            yield from self._meant(argument)
        if self.files_from is not None:
            yield from self._listed(self.files_from)

    def _meant(self, name: str) -> Iterator[str | Problem]:
        self.named = False
        if name != STANDARD_INPUT and _is(os.path.isdir, name):
            yield from self._or_none(self._folder(name), name, f"no specs in {name}")
        elif _is_pattern(name) and not (self.gone is not None and self.gone.was_spec(name)):
            yield from self._or_none(self._pattern(name), name, f"nothing matches {name}")
        else:
            yield from self._named(name)

    def _named(self, name: str) -> Iterator[str]:
        """A file named by itself, or what a folder had that is gone."""
        self.named = False
        gone = [] if self.gone is None or os.path.lexists(name) else list(self._lost(name))
        yield from gone
        self.named = True
        if not gone:
            yield name

    def _folder(self, name: str) -> Iterator[str | Problem]:
        self.named, folder = False, _bare(name)
        yield from self._inside(folder)
        yield from self._lost(folder)

    def _pattern(self, pattern: str) -> Iterator[str | Problem]:
        for name in _matches(pattern):
            try:
                mode = os.stat(name).st_mode
            except OSError:  # a link that leads nowhere: whoever reads it says so
                mode = None
            if mode is not None and S_ISDIR(mode):
                yield from self._inside(name)
            elif mode is None or S_ISREG(mode):  # to open a pipe would wait for its writer
                yield name
        if self.gone is not None:
            start, rest = _split(pattern)
            yaml = pattern.endswith(_ENDINGS)
            for path in self.gone.below(start, yaml):
                left = _left(tuple(path.split("/")), rest)
                name = os.path.join(start, *path.split("/"))
                if left is not None and (not left or _met(left)) and self.gone.was_spec(name):
                    yield name

    def _lost(self, folder: str) -> Iterator[str]:
        """The specs that a folder no longer has."""
        for path in self.gone.below(folder, True) if self.gone is not None else ():
            name = os.path.join(folder, *path.split("/"))
            if _met(path.split("/")) and self.gone is not None and self.gone.was_spec(name):
                yield name

    def _or_none(
        self, found: Iterable[str | Problem], name: str, says: str
    ) -> Iterator[str | Problem]:
        """All of `found`; if that is nothing, a problem."""
        skipped, empty = self.skipped, True
        for each in found:
            empty = False
            yield each
        if empty and not self.allow_empty:
            others = self.skipped - skipped
            more = f" ({others} other YAML file{'s' if others > 1 else ''})" if others else ""
            yield Problem(name, f"{says}{more}; --allow-empty accepts that")

    def _inside(self, folder: str) -> Iterator[str | Problem]:
        """The specs in a folder and the folders below it, sorted by name at each level."""
        try:
            with os.scandir(folder or os.curdir) as found:
                entries = sorted((each.name, _kind(each)) for each in found)
        except OSError as error:
            name = folder or os.curdir
            yield Problem(name, f"cannot read {name}: {error.strerror or error}")
            return
        for name, kind in entries:
            path = os.path.join(folder, name)
            if kind == "folder" and _is_entered(name):
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
                    yield from self._or_none(self._folder(name), name, f"no specs in {name}")
                else:
                    yield from self._named(f".{os.sep}-" if name == STANDARD_INPUT else name)

        try:
            if source != STANDARD_INPUT:
                with open(source, "rb") as stream:
                    names = _names(stream)
                    yield from self._or_none(meant(), source, f"no files are listed in {source}")
            elif sys.stdin is None:
                yield Problem(shown(source), "cannot read standard input: it is closed")
            else:
                names = _names(sys.stdin.buffer)
                yield from self._or_none(
                    meant(), shown(source), "no files are listed on standard input"
                )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            yield Problem(shown(source), f"cannot read the list of files {source}: {why}")


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


def _bare(folder: str) -> str:
    """How names of what is in a folder start: without `./`, as those of a repository do."""
    whole = folder if os.pardir in folder.split(os.sep) else os.path.normpath(folder)
    return "" if whole == os.curdir else whole


def _is_entered(folder: str) -> bool:
    return folder[0] != "." and folder not in _NO_SPECS_IN


def _met(path: Sequence[str]) -> bool:
    """Whether a file at a path below a folder counts as one of its YAML files."""
    return path[-1].endswith(_ENDINGS) and all(map(_is_entered, path[:-1]))


def _split(pattern: str) -> tuple[str, tuple[str, ...]]:
    """The folder that a pattern starts from, and its parts below that."""
    parts = Path(pattern).parts
    start = next((n for n, part in enumerate(parts) if not _PATTERN.isdisjoint(part)), len(parts))
    return os.path.join("", *parts[:start]), parts[start:]


def _left(path: tuple[str, ...], pattern: tuple[str, ...]) -> tuple[str, ...] | None:
    """The parts of a path below what matches a pattern; None where nothing of it does."""
    if not pattern or not path:
        return None if pattern else path
    if pattern[0] == "**":
        found = _left(path, pattern[1:])
        deeper = found is None and len(path) > 1 and path[0][0] != "."
        return _left(path[1:], pattern) if deeper else found
    if path[0][0] == "." and path[0] != pattern[0]:
        return None
    return _left(path[1:], pattern[1:]) if fnmatchcase(path[0], pattern[0]) else None


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
