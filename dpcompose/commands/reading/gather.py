"""The files that arguments select: files, folders, patterns and lists of them, in order."""

from __future__ import annotations

import os
import stat
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING, Any, BinaryIO

from dpcompose.commands.exits import BadCall
from dpcompose.commands.parallel.bounds import Most, TooMuch, within
from dpcompose.commands.reading.inputs import (
    STANDARD_INPUT,
    NoFile,
    Unreadable,
    is_yaml,
    name_of_file,
    read,
)
from dpcompose.places import GIT, is_below, real, strays, work_tree
from dpcompose.policy.settings_files import OWN, SHARED
from dpcompose.report import LeftOut
from dpcompose.source import is_spec

if TYPE_CHECKING:
    from dpcompose.commands.repository.revision import Past

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
        """Returns whether a file of this name was selected before."""
        return name in self._paths

    @staticmethod
    def _is_new(seen: set[Any], key: object) -> bool:
        """Adds a key to a set and returns whether it is new."""
        before = len(seen)
        seen.add(key)
        return len(seen) > before


_LONGEST_NAME = 2**16  # bytes of a name in a list of files
_MOST_NAMES = 20  # names kept of what is left out


@dataclass(slots=True)
class Gathering:
    """The files that the arguments of a command select.

    `files_from`: a file with one name a line (or ended by null bytes), `-` for standard input.
    `gone`: a revision whose files are selected as well, and whose repository identifies files. As
    far as `items` has come, `left_out` counts what was not selected, and `named` says whether the
    last file was named by itself. `most`: the limits for looking into a file. A settings file
    stands for its folder, whose specs it is about.
    """

    arguments: Sequence[str]
    files_from: str | None = None
    allow_empty: bool = False
    gone: Past | None = None
    most: Most = field(default_factory=Most)
    named: bool = field(default=False, init=False)
    _skipped: Counter[str] = field(default_factory=Counter, init=False)
    _names: list[str] = field(default_factory=list, init=False)
    _links: dict[str, frozenset[str] | None] = field(default_factory=dict, init=False)
    _once: Once = field(default_factory=Once, init=False)

    @property
    def single(self) -> bool:
        """Returns whether the arguments name a single file."""
        if self.files_from is not None or len(self.arguments) != 1:
            return False
        name = self.arguments[0]
        several = _is_folder(name) or is_pattern(name) or _is_settings(name)
        return name == STANDARD_INPUT or not several

    @property
    def left_out(self) -> LeftOut:
        """Returns counts of what was left out, as far as `items` has come."""
        return LeftOut(**self._skipped, names=tuple(self._names))

    def items(self) -> Iterator[str | NoFile]:
        """Yields each selected file once, at its first place, and each problem where it occurs."""
        found = chain.from_iterable(map(self._files_of, self.arguments))
        if self.files_from is not None:
            found = chain(found, self._files_of_list(self.files_from))
        for each in found:
            if isinstance(each, NoFile) or each == STANDARD_INPUT or self._first(each):
                yield each

    def _first(self, name: str) -> bool:
        """Returns whether a file is met for the first time."""
        if self.gone is None:
            return self._once.first(name)
        try:
            return self._once.first_named(self.gone.path(name))
        except Unreadable:
            return self._once.first_named(os.path.abspath(name))

    def _files_of(self, name: str, listed: bool = False) -> Iterator[str | NoFile]:
        """Yields the files of one argument: a pattern, a folder, a settings file or a file.

        `listed`: whether the name stands in a list, where no name is a pattern or standard input.
        """
        self.named = False
        if not listed and is_pattern(name):
            yield from self._or_none(self._pattern(name), name, f"nothing matches {name}")
        elif (listed or name != STANDARD_INPUT) and _is_folder(name):
            yield from self._or_none(self._folder(name), name, f"no specs in {name}")
        elif _is_settings(name):
            yield from self._folder(os.path.dirname(name) or os.curdir)
        else:
            name = f".{os.sep}-" if listed and name == STANDARD_INPUT else name
            gone = list(self._lost(name))  # former specs below a folder of that name
            yield from gone
            self.named = True
            if not gone or os.path.lexists(name):
                yield name

    def _folder(self, name: str) -> Iterator[str | NoFile]:
        """Yields the specs of a folder, and those that it had."""
        self.named, folder = False, _bare(name)
        yield from self._inside(folder, folder)
        yield from self._lost(folder)

    def _pattern(self, pattern: str) -> Iterator[str | NoFile]:
        """Yields the files that match a pattern, and those that did."""
        start, rest = split(pattern)
        why = strays(os.path.join(start, os.curdir))
        if why is not None:
            yield NoFile(start, f"cannot read {start}: {why}")
        for name in matches(pattern) if why is None else ():
            try:
                mode = os.stat(name).st_mode
            except OSError:  # a link that leads nowhere: reading it reports that
                mode = None
            if mode is not None and S_ISDIR(mode):
                yield from self._inside(name, start)
            elif mode is None or S_ISREG(mode):  # opening a pipe would wait for a writer
                yield self._file_unless_outside(name, start)
        if self.gone is not None:
            for path in self.gone.below(start, is_yaml(pattern)):
                name = os.path.join(start, *path.split("/"))
                more = parts_below(tuple(path.split("/")), rest)
                below = more is not None and (not more or (is_yaml(path) and is_met(more)))
                if below and self._is_lost(name):
                    yield name
            if self._is_lost(pattern):  # there was a file with the very name of the pattern
                yield pattern

    def _lost(self, folder: str) -> Iterator[str]:
        """Yields the former specs of a folder that were not yielded yet."""
        for path in self.gone.below(folder, True) if self.gone is not None else ():
            name = os.path.join(folder, *path.split("/"))
            if is_met(path.split("/")) and self._is_lost(name):
                yield name

    def _is_lost(self, name: str) -> bool:
        """Returns whether a former file was a spec and was not yielded yet."""
        assert self.gone is not None
        try:
            seen = self._once.has_named(self.gone.path(name))
        except Unreadable:  # reading it reports that
            seen = False
        return not seen and self.gone.was_spec(name)

    def _file_unless_outside(self, name: str, top: str) -> str | NoFile:
        """Returns a file found below a folder, or a problem if a link leads out of the folder."""
        why = strays(name, top or os.curdir) if os.path.islink(name) else None
        if why is None:
            return name
        self._first(name)  # so that it is not reported again
        return NoFile(name, f"cannot read {name}: {why}")

    def _skip(self, kind: str, name: str) -> None:
        """Counts something that is left out, and keeps the first names."""
        self._skipped[kind] += 1
        if len(self._names) < _MOST_NAMES:
            self._names.append(name)

    def _or_none(
        self, found: Iterable[str | NoFile], name: str, says: str
    ) -> Iterator[str | NoFile]:
        """Yields all of `found`; a problem if that is empty and must not be."""
        skipped, empty = self._skipped["skipped"], True
        for each in found:
            empty = False
            yield each
        if empty and not self.allow_empty:
            others = self._skipped["skipped"] - skipped
            more = f" ({others} other YAML file{'s' if others > 1 else ''})" if others else ""
            yield NoFile(name, f"{says}{more}; --allow-empty accepts that")

    def _inside(self, folder: str, top: str) -> Iterator[str | NoFile]:
        """Yields the specs in a folder and below, sorted by name at each level.

        `top`: the folder that is named, this one or one above.
        """
        if (why := strays(os.path.join(folder, os.curdir))) is not None:
            yield NoFile(folder, f"cannot read {folder}: {why}")
            return
        # No link is followed below the folder, so that nothing leads out. Each entry comes with
        # whether its folder is searched; in one that is not, specs are only counted.
        waiting = [(folder, "folder", True)]
        while waiting:
            path, kind, entered = waiting.pop()
            if kind == "folder":
                try:
                    entries = _entries(path or os.curdir)
                except OSError as error:
                    name = path or os.curdir
                    yield NoFile(name, f"cannot read {name}: {error.strerror or error}")
                    continue
                if not entries and path != folder and self._may_be_submodule(path):
                    self._skip("absent", path)
                for name, kind in reversed(entries):
                    searched = entered and (kind != "folder" or is_entered(name))
                    if is_yaml(name) if kind == "file" else name != GIT:
                        waiting.append((os.path.join(path, name), kind, searched))
            elif not entered:
                if kind == "file" and self._may_be_spec(path):
                    self._skip("hidden", path)
            elif _is_left_out(kind, path, top):
                self._skip(kind, path)
            elif kind == "file":
                kept = self._file_unless_outside(path, top)
                if isinstance(kept, NoFile) or self._may_be_spec(path):
                    yield kept
                else:
                    self._skip("skipped", path)

    def _may_be_submodule(self, folder: str) -> bool:
        """Returns whether an empty folder may be a submodule that was not checked out: the work
        tree has a `.gitmodules`, or its index another repository there, or cannot be read."""
        top = work_tree(folder)
        if top is None or os.path.lexists(os.path.join(top, ".gitmodules")):
            return top is not None
        if top not in self._links:
            self._links[top] = _linked(top)
        linked = self._links[top]
        inside = os.path.relpath(real(folder), os.path.realpath(top)).replace(os.sep, "/")
        return linked is None or inside in linked

    def _may_be_spec(self, path: str) -> bool:
        """Returns whether a file is a spec, or has a problem that reading it will report."""
        try:
            with within(self.most):
                return is_spec(read(path))
        except (Unreadable, TooMuch):
            return True

    def _files_of_list(self, source: str) -> Iterator[str | NoFile]:
        """Yields the files that a list of names selects."""

        def files(stream: BinaryIO, where: str) -> Iterator[str | NoFile]:
            """Yields the files of each name in the list."""
            found = chain.from_iterable(self._files_of(name, True) for name in _names(stream))
            return self._or_none(found, name_of_file(source), f"no files are listed {where}")

        try:
            if source != STANDARD_INPUT and (why := strays(source)) is not None:
                yield NoFile(source, f"cannot read the list of files {source}: {why}")
            elif source != STANDARD_INPUT:
                with open(source, "rb") as stream:
                    yield from files(stream, f"in {source}")
            elif sys.stdin is None:
                yield NoFile(name_of_file(source), "cannot read standard input: it is closed")
            else:
                yield from files(sys.stdin.buffer, "on standard input")
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            yield NoFile(name_of_file(source), f"cannot read the list of files {source}: {why}")


def _names(stream: BinaryIO) -> Iterator[str]:
    """Yields the names in a list, ended by null bytes, or by line ends if there are none.

    Empty ones are left out. Nothing else is cut off or split: a name may contain line ends, and
    start or end with blanks. Raises ValueError for a name that is too long.
    """
    rest = stream.read(_LONGEST_NAME)
    end = b"\0" if b"\0" in rest else b"\n"
    more = rest
    while more:
        *whole, rest = rest.split(end)
        yield from _decoded(whole, end)
        if len(rest) >= _LONGEST_NAME:
            raise ValueError(f"a name has more than {_LONGEST_NAME} bytes")
        more = stream.read(_LONGEST_NAME)
        rest += more
    yield from _decoded([rest], end)


def _decoded(names: Iterable[bytes], end: bytes) -> Iterator[str]:
    """Yields the names as text, without empty ones and without carriage returns."""
    for name in names:
        if name.endswith(b"\r") and end == b"\n" and not os.path.lexists(name):
            name = name[:-1]  # lines of a list may end as on Windows
        if name:
            yield os.fsdecode(name)


def _is_folder(name: str) -> bool:
    """Returns whether a path is that of a folder; False where the path is impossible."""
    try:
        return os.path.isdir(name)
    except (OSError, ValueError):  # ValueError: a null byte in the name
        return False


def _is_settings(name: str) -> bool:
    """Returns whether a file has the name of a settings file."""
    return os.path.basename(name) in (OWN, SHARED)


def _is_left_out(kind: str, link: str, top: str) -> bool:
    """Returns whether a link hides something that is found nowhere else below `top`."""
    if kind != "folders":
        return kind == "dangling" and is_yaml(link)
    if not is_entered(os.path.basename(link)):
        return False
    # Unless the folder that the link leads to is searched below `top` by its own name.
    target, above = real(link), real(top or os.curdir)
    inside = os.path.relpath(target, above).split(os.sep)
    return not is_below(target, above) or not (target == above or all(map(is_entered, inside)))


def _bare(folder: str) -> str:
    """Returns a folder's path without `./`, as names of files in it start."""
    whole = folder if os.pardir in folder.split(os.sep) else os.path.normpath(folder)
    return "" if whole == os.curdir else whole


def _kind(entry: os.DirEntry[str]) -> str:
    """Returns `folder` or `file`; of a link, `folders` or `dangling` (to nothing); else empty."""
    try:
        if entry.is_dir(follow_symlinks=False):
            return "folder"
        if entry.is_file():
            return "file"
        if entry.is_symlink():  # following links to folders could go in circles
            return "folders" if entry.is_dir() else "dangling"
    except OSError:
        return "dangling"
    return ""


def _entries(folder: str) -> list[tuple[str, str]]:
    """Returns the names in a folder, sorted, each with its kind."""
    with os.scandir(folder) as found:
        return sorted((each.name, _kind(each)) for each in found)


def _linked(top: str) -> frozenset[str] | None:
    """Returns the paths below the top of a work tree at which its index has other repositories;
    None where that cannot be known."""
    from dpcompose.commands.repository.git import repository

    try:
        return repository(top).links()
    except BadCall:
        return None
