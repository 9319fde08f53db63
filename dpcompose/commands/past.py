"""The files of repositories as they were in a revision: bytes, names, and which are gone."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import field

from dpcompose.commands import git
from dpcompose.commands.inputs import Unreadable, read
from dpcompose.values import dataclass

_YAML = (".yaml", ".yml")
_MOST_LINKS = 40  # that lead to one file, as for a kernel
_LONGEST_LINK = 4096  # bytes


@dataclass(frozen=True, slots=True)
class Pair:
    """A file before and now: its name at each time, None where it was or is not there.

    `data`: what it held before. `key`: what tells it from other files, where its names differ.
    """

    old: str | None
    new: str | None
    data: bytes | None = None
    key: tuple[str, str] | None = None


@dataclass(slots=True)
class _Repository:
    """A repository with a commit; paths start at its root and have `/` between folders."""

    root: str
    commit: str
    _gone: dict[bool, dict[str, str | None]] = field(default_factory=dict, init=False)
    _renamed: dict[bool, dict[str, str]] = field(default_factory=dict, init=False)

    def gone(self, yaml: bool) -> dict[str, str | None]:
        """Files that are no longer there, or only the YAML files, each with its new path or None.

        Renames are told as git tells them.
        """
        if yaml not in self._gone:
            patterns = [f"*{each}" for each in _YAML] if yaml else []
            found = self._gone[yaml] = git.gone(self.commit, self.root, *patterns)
            self._renamed[yaml] = {now: was for was, now in found.items() if now is not None}
        return self._gone[yaml]

    def old_path(self, path: str) -> str | None:
        """The path that the file had which is now at `path`; None: it was not renamed."""
        yaml = path.endswith(_YAML)
        self.gone(yaml)
        return self._renamed[yaml].get(path)

    def here(self, path: str) -> str:
        """Where the file at a path is now."""
        return os.path.join(self.root, *path.split("/"))

    def before(self, path: str) -> bytes | None:
        """What the file at `path` held, links within the repository followed; None: none there.

        At most one byte more than can be analysed. Raises Unreadable.
        """
        from dpcompose.source import MAX_BYTES

        found = git.entry(self.commit, path, self.root)
        if found is None:
            return None
        if found.kind == "link":
            found = self._followed(path)
        if found.kind != "file":
            raise Unreadable("it was no file")
        if found.size > MAX_BYTES:
            return b" " * (MAX_BYTES + 1)  # too large, whatever it holds; the reader says so
        return git.blob(found, self.root)

    def _followed(self, path: str) -> git.Entry:
        """The file that a link leads to, in the commit itself. Raises Unreadable."""
        left, above, links = deque(path.split("/")), list[str](), 0
        found: git.Entry | None = None
        while left:
            part = left.popleft()
            if part in ("", "."):
                continue
            if part == "..":
                if not above:
                    raise Unreadable("it was a link that leads out of the repository")
                above.pop()
                continue
            found = git.entry(self.commit, "/".join([*above, part]), self.root)
            if found is None or (left and found.kind not in ("folder", "link")):
                raise Unreadable("it was a link that leads to no file of the repository")
            if found.kind != "link":
                above.append(part)
                continue
            links += 1
            if links > _MOST_LINKS or found.size > _LONGEST_LINK:
                raise Unreadable("it was a link that leads round in a circle, or too far")
            target = os.fsdecode(git.blob(found, self.root))
            if target.startswith("/") or "\0" in target:
                raise Unreadable("it was a link that leads out of the repository")
            left.extendleft(reversed(target.split("/")))
        if found is None or found.kind == "folder":
            raise Unreadable("it was a link that leads to no file of the repository")
        return found


@dataclass(slots=True)
class Past:
    """A revision, in every repository that files are in. Each method raises BadCall."""

    revision: str
    _around: dict[str, _Repository] = field(default_factory=dict, init=False)
    _by_root: dict[str, _Repository] = field(default_factory=dict, init=False)

    def pair(self, file: str) -> Pair:
        """A file of now, or of before, with what it was or is called. Raises Unreadable."""
        repository, path = self._place(file)
        try:
            if os.path.lexists(file):
                return self._of_now(repository, path, file)
            return self._of_before(repository, path, file)
        except Unreadable as error:
            raise Unreadable(f"cannot read {file} in {self.revision}: {error}") from error

    def _of_now(self, repository: _Repository, path: str, file: str) -> Pair:
        data = repository.before(path)
        if data is not None:
            return Pair(file, file, data)
        was = repository.old_path(path)
        if was is not None:
            key = (repository.root, path)
            return Pair(_named(repository, was, file), file, repository.before(was), key)
        if os.path.islink(file):  # a new name for what may have been there
            place, was = self._place(os.path.realpath(file))
            data = repository.before(was) if place is repository else None
            if data is not None:
                return Pair(_named(repository, was, file), file, data)
        return Pair(None, file)

    def _of_before(self, repository: _Repository, path: str, file: str) -> Pair:
        gone = repository.gone(path.endswith(_YAML))
        if path not in gone:
            return Pair(None, file)  # in neither: whoever reads it says so
        data, new = repository.before(path), gone[path]
        if new is not None and _is_spec(repository.here(new)):
            return Pair(file, _named(repository, new, file), data, (repository.root, new))
        return Pair(file, None, data)

    def below(self, folder: str, yaml: bool) -> Iterator[str]:
        """The paths, from a folder on, of files (or YAML files) that it no longer has, sorted."""
        repository, path = self._place(os.path.join(folder, "-"))
        base = path[:-1]
        for was in sorted(repository.gone(yaml)):
            if was.startswith(base) and not os.path.lexists(repository.here(was)):
                yield was[len(base) :]

    def was_spec(self, file: str) -> bool:
        """Whether a file was a spec, and no link to one."""
        from dpcompose.source import is_spec

        repository, path = self._place(file)
        found = git.entry(repository.commit, path, repository.root)
        if found is None or found.kind != "file":
            return False
        return is_spec(repository.before(path) or b"")

    def above(self, file: str, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """The files of some names in the folder of `file` and in those above, as they were.

        From the nearest folder to the top of the repository, each with its path of now. The path
        of `file` is taken as it is written: a link that has come since leads nowhere. Raises
        Unreadable.
        """
        repository, _ = self._place(file)
        folder = os.path.relpath(os.path.dirname(os.path.abspath(file)), repository.root)
        parts = [] if folder == os.curdir else folder.split(os.sep)
        while os.pardir not in parts:
            for name in names:
                path = "/".join([*parts, name])
                data = repository.before(path)
                if data is not None:
                    yield repository.here(path), data
            if not parts:
                return
            parts.pop()

    def _place(self, file: str) -> tuple[_Repository, str]:
        """The repository of a file, whose folder may be gone, and its path there."""
        folder = os.path.dirname(file)
        while folder and not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        repository = self._around.get(folder)
        if repository is None:
            root = git.root_of(folder)
            if root not in self._by_root:
                self._by_root[root] = _Repository(root, git.commit(self.revision, root))
            repository = self._around[folder] = self._by_root[root]
        rest = file[len(folder) :].lstrip(os.sep) if folder else file
        path = os.path.relpath(os.path.join(os.path.realpath(folder), rest), repository.root)
        return repository, path.replace(os.sep, "/")


def _named(repository: _Repository, path: str, like: str) -> str:
    """What to call the file at a path beside one that is called `like`."""
    here = repository.here(path)
    return here if os.path.isabs(like) else os.path.relpath(here)


def _is_spec(file: str) -> bool:
    from dpcompose.source import is_spec

    try:
        return is_spec(read(file))
    except Unreadable:
        return False
