"""The files of the repository as they were in a revision: content, names, which are gone."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dpcompose.commands.exits import BadCall
from dpcompose.commands.reading.gather import is_met
from dpcompose.commands.reading.inputs import Unreadable, is_yaml
from dpcompose.commands.repository import git
from dpcompose.commands.repository.git import AddedIn, FileChange
from dpcompose.places import is_below, work_tree
from dpcompose.source import MAX_BYTES, is_spec

_MOST_LINKS = 40  # links followed for one file, as in Linux
_LONGEST_LINK = 4096  # bytes


@dataclass(frozen=True, slots=True)
class Pair:
    """A file in a revision and now: its name at each time, None where it did not exist.

    `data`: its content in the revision. `key`: an identity for it where its two names differ.
    """

    old: str | None
    new: str | None
    data: bytes | None = None
    key: str | None = None


class Past:
    """A revision of the repository around the working folder. Every method may raise BadCall.

    Paths start at the repository's root and have `/` between folders.
    """

    def __init__(self, revision: str, option: str = "--against") -> None:
        if not revision.strip():
            raise BadCall(f"{option}: the revision is empty; is a variable not set?")
        if revision.startswith("-"):
            raise BadCall(f"{option} {revision}: a revision does not start with a hyphen")
        if "\0" in revision:
            raise BadCall(f"{option}: no revision has a null byte in it")
        self.revision, self._option = revision, option

    def __reduce__(self) -> tuple[type[Past], tuple[str, str]]:
        """Returns what another process makes the revision of; it reads the repository anew."""
        return Past, (self.revision, self._option)

    @cached_property
    def _repository(self) -> git.Repository:
        """Returns the repository around the working folder."""
        return git.repository(os.curdir)

    @cached_property
    def _entries(self) -> dict[str, git.TreeEntry]:
        """Returns everything in the revision by its path."""
        return self._repository.entries(self._commit)

    @cached_property
    def _commit(self) -> str:
        """Returns the hash of the revision's commit."""
        try:
            return self._repository.commit(self.revision)
        except BadCall as error:
            raise BadCall(f"{self._option} {error}") from error

    @cached_property
    def _sorted(self) -> list[str]:
        """Returns the paths of all files and links of the revision, sorted."""
        kinds = ("file", "link")
        return sorted(path for path, each in self._entries.items() if each.kind in kinds)

    @property
    def root(self) -> str:
        """Returns the top folder of the repository, without links."""
        return self._repository.root

    def verify(self) -> None:
        """Raises BadCall unless the revision exists, even if nothing is compared with it."""
        assert self._entries is not None

    # --- what the commands ask ---------------------------------------------------------------

    def pair(self, file: str) -> Pair:
        """Returns a file's name now and then, with its former content. Raises Unreadable.

        `file`: its name now, or the former one if it is gone.
        """
        path = self.path(file)
        try:
            if _is_there(file):
                return self._of_now(path, file)
            return self._of_before(path, file)
        except Unreadable as error:
            raise Unreadable(f"cannot read {file} in {self.revision}: {error}") from error

    def has(self, file: str, data: bytes) -> bool:
        """Returns whether a file of this name had exactly this content in the revision."""
        try:
            return self._before(self.path(file)) == data
        except Unreadable:
            return False

    def below(self, folder: str, yaml: bool) -> Iterator[str]:
        """Yields the paths, relative to a folder, of files (or YAML files) that it had, sorted."""
        try:
            base = self._real(self._by_name(os.path.join(folder, "-"))[:-2])
        except Unreadable:
            return
        start = f"{base}/" if base else ""
        for index in range(bisect_left(self._sorted, start), len(self._sorted)):
            path = self._sorted[index]
            if not path.startswith(start):
                return
            if not yaml or is_yaml(path):
                yield path[len(start) :]

    def was_spec(self, file: str) -> bool:
        """Returns whether a file was a spec in the revision, or a link to one."""
        try:
            return self._spec_at(self._by_name(file)) is not None
        except Unreadable:
            return False

    def was_there(self, file: str) -> bool:
        """Returns whether the revision had a file or a folder of this name. Raises Unreadable."""
        path = "" if self._is_root(file) else self._by_name(file)
        return not path or path in self._entries or self._is_linked(path)

    def specs(self, file: str, links: bool = True) -> Iterator[tuple[str, bytes]]:
        """Yields the names and contents of the specs that a file or a folder had in the revision.

        As for a folder of now, hidden folders are not searched, and no spec is yielded twice.
        Raises Unreadable where there was no such file or folder, or not all of it is known: for
        another repository, or a link that led nowhere; `links`: whether such a link matters.
        """
        path = "" if self._is_root(file) else self._by_name(file.rstrip("/") or file)
        found = self._entries.get(path)
        if path and (found is None or found.kind == "link") and self.was_there(file):
            path = self._real(path)
            found = self._entries.get(path)
        if path and (found is None or found.kind != "folder"):
            data = self._before(path)
            if data is None:
                raise Unreadable(f"{file} was not there in {self.revision}")
            yield file, data
            return
        start = f"{path}/" if path else ""
        for other, each in self._entries.items():
            if each.kind == "repository" and other.startswith(start):
                raise Unreadable(f"{other} was another repository, of which nothing is known here")
        seen: set[str] = set()
        for below in self.below(file, True):
            try:
                data = self._before(start + below) if is_met(below.split("/")) else None
            except Unreadable:
                if links:
                    raise
                continue
            if data is None or not is_spec(data) or self._real(start + below) in seen:
                continue
            seen.add(self._real(start + below))
            yield os.path.join(file, *below.split("/")), data

    def added(self, file: str) -> AddedIn | None:
        """Returns the commit that added a file; None where no commit has it. Raises Unreadable."""
        return self._additions.get(self._by_name(file))

    @cached_property
    def _additions(self) -> dict[str, AddedIn]:
        """Returns the commit that added each file."""
        return self._repository.added(self._commit)

    def changes(
        self, folders: Sequence[str], merges: bool = False
    ) -> Iterator[tuple[AddedIn, list[tuple[str, FileChange]]]]:
        """Yields each commit up to this one with its changes of YAML files in folders, by name.

        Files in hidden folders are left out. `merges`: what each merge changed relative to each of
        its parents, as in `git.Repository.changes`. Raises Unreadable.
        """
        named = {"" if self._is_root(each) else self._by_name(each): each for each in folders}
        paths = [] if "" in named else [*named]
        for commit, changed in self._repository.changes(self._commit, paths, merges):
            here = [(self._met(each.path, named), each) for each in changed]
            yield commit, [(name, each) for name, each in here if name is not None]

    def _met(self, path: str, named: Mapping[str, str]) -> str | None:
        """Returns the name of a YAML file below one of the named folders; None outside of them."""
        for start, name in named.items():
            if path == start:
                return name
            below = path[len(start) + 1 :] if start else path
            if (not start or path.startswith(f"{start}/")) and is_yaml(path):
                parts = below.split("/")
                return os.path.join(name, *parts) if is_met(parts) else None
        return None

    def spec(self, blob: str) -> bytes | None:
        """Returns the content of a blob if it is a spec, else None. Raises Unreadable."""
        data = self._repository.read(git.TreeEntry("file", blob), MAX_BYTES)
        return data if is_spec(data) else None

    def _is_root(self, file: str) -> bool:
        """Returns whether a path is the top folder of the repository."""
        return os.path.realpath(file) == self._repository.root

    def above(self, file: str, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Yields the files called `names` in the folder of `file` and in those above, as they were.

        From the nearest folder to the top of the repository, each with its path of now. The path of
        `file` is taken as written: a link that was created since is not followed. Raises
        Unreadable.
        """
        parts = self._by_name(file).split("/")
        while parts:
            for name in names:
                path = "/".join([*parts[:-1], name])
                data = self._before(path)
                if data is not None:
                    yield self._here(path), data
            parts.pop()

    def path(self, file: str) -> str:
        """Returns the path of a file, which may be gone, in the repository, not following links.

        Raises Unreadable where it is in no folder of the repository, or in one of another.
        """
        root, path = self._repository.root, self._by_name(file)
        folder = os.path.dirname(self._here(path))
        while not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        around = work_tree(os.path.realpath(folder))
        if around is not None and is_below(around, root) and around != root:
            other = os.path.relpath(around, root)
            raise Unreadable(
                f"{file} is in another repository, {other}: {self.revision} of this one does not "
                "say what it held"
            )
        return path

    def _by_name(self, file: str) -> str:
        """Returns the path of a file in the repository, even if another repository is there now."""
        if "\0" in file:
            raise Unreadable(f"no file is called {file}: there is a null byte in it")
        root = self._repository.root
        path = _inside(file, root)
        if path is None:
            raise Unreadable(f"{file} is not in the repository of the working folder, {root}")
        return path.replace(os.sep, "/")

    # --- names -------------------------------------------------------------------------------

    def _of_now(self, path: str, file: str) -> Pair:
        """Returns the pair of a file that exists now: by path, as renamed, or through a link."""
        data = self._before(path)
        if data is not None:
            return Pair(file, file, data)
        was = next((was for was, now in self._renames.items() if now == path), None)
        if was is not None:
            return Pair(self._name_beside(was, file), file, self._before(was), path)
        real = _inside(os.path.realpath(file), self._repository.root)
        if real is not None:  # through a link, a new name of a file that may have existed
            was = real.replace(os.sep, "/")
            data = self._before(was) if was != path else None
            if data is not None:
                return Pair(self._name_beside(was, file), file, data)
        return Pair(None, file)

    def _of_before(self, path: str, file: str) -> Pair:
        """Returns the pair of a file that does not exist now."""
        data = self._before(path)
        if data is None:
            return Pair(None, file)  # it exists neither now nor then: reading it reports that
        now = self._renames.get(path)
        return Pair(file, None if now is None else self._name_beside(now, file), data, now)

    @cached_property
    def _renames(self) -> dict[str, str]:
        """Returns the new path of each removed spec that was renamed; its ending stays."""
        return {
            was: now
            for was, now in self._repository.renames(self._commit)
            if _kind(was) == _kind(now)
            and not _is_there(self._here(was))
            and self._spec_at(was) is not None
        }

    def _here(self, path: str) -> str:
        """Returns where the file at a path is now."""
        return os.path.join(self._repository.root, *path.split("/"))

    def _name_beside(self, path: str, like: str) -> str:
        """Returns the name of the file at a path, absolute if the name `like` is."""
        here = self._here(path)
        return here if os.path.isabs(like) else os.path.relpath(here)

    # --- what the revision holds -------------------------------------------------------------

    def _spec_at(self, path: str) -> bytes | None:
        """Returns the content of the file at a path, if it was a readable spec, else None."""
        try:
            data = self._before(path)
        except Unreadable:
            return None
        return data if data is not None and is_spec(data) else None

    def _before(self, path: str) -> bytes | None:
        """Returns the content of the file at a path in the revision; None if there was none.

        Links within the repository are followed. At most one byte more than can be analysed. Raises
        Unreadable.
        """
        found = self._entries.get(path)
        if found is None and self._is_linked(path):
            folder, _, name = path.rpartition("/")
            path = f"{self._real(folder)}/{name}".removeprefix("/")
            found = self._entries.get(path)
        if found is None:
            return None
        if found.kind == "link":
            found = self._entries.get(self._real(path))
            if found is None or found.kind != "file":
                raise Unreadable("it was a link that leads to no file of the repository")
        return self._repository.read(found, MAX_BYTES) if found.kind == "file" else None

    def _is_linked(self, path: str) -> bool:
        """Returns whether a folder on a path was a link in the revision."""
        parts = path.split("/")
        above = ("/".join(parts[:number]) for number in range(1, len(parts)))
        return any(each in self._entries and self._entries[each].kind == "link" for each in above)

    def _real(self, path: str) -> str:
        """Returns a path with all links of the revision followed. Raises Unreadable."""
        left, above, links = deque(path.split("/")), list[str](), 0
        while left:
            part = left.popleft()
            if part in ("", "."):
                continue
            if part == "..":
                if not above:
                    raise Unreadable("it was a link that leads out of the repository")
                above.pop()
                continue
            found = self._entries.get("/".join([*above, part]))
            if found is None or (left and found.kind not in ("folder", "link")):
                raise Unreadable("it was a link that leads to no file of the repository")
            if found.kind != "link":
                above.append(part)
                continue
            links += 1
            target = os.fsdecode(self._repository.read(found, _LONGEST_LINK))
            if links > _MOST_LINKS or len(target) > _LONGEST_LINK:
                raise Unreadable("it was a link that leads round in a circle, or too far")
            if target.startswith("/") or "\0" in target:
                raise Unreadable("it was a link that leads out of the repository")
            left.extendleft(reversed(target.split("/")))
        return "/".join(above)


def _inside(file: str, root: str) -> str | None:
    """Returns the path of a file below `root` (which has no links), as it is named, or None.

    What is above the root, or before `..`, may have links.
    """
    folder, base = os.path.split(file)
    if os.pardir in folder.split(os.sep):
        folder = os.path.realpath(folder)
    parts = os.path.abspath(os.path.join(folder, base)).split(os.sep)
    for number in range(1, len(parts)):
        above = os.sep.join(parts[:number]) or os.sep
        if os.path.realpath(above) == root:
            return os.path.join(*parts[number:])
    return None


def _kind(path: str) -> str:
    """Returns the ending that both names of a renamed file must share; `.yaml` for all YAML."""
    return ".yaml" if is_yaml(path) else os.path.splitext(path)[1]


def _is_there(file: str) -> bool:
    """Returns whether there is a file or a link, be it to nothing; a folder does not count."""
    return os.path.lexists(file) and (os.path.islink(file) or not os.path.isdir(file))
