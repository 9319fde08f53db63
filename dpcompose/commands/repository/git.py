"""Calls of git that read the repository around the working folder; never through a shell.

The files of a work tree may come from strangers, and be made to look like a repository. So the
repository is found by its entry `.git` and named in every call; nothing that it configures is run,
nothing is fetched, and only commands that read objects are called.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from dpcompose.commands.exits import BadCall
from dpcompose.commands.reading.inputs import Unreadable
from dpcompose.places import GIT, is_below, work_tree

#: The most seconds that one call of git may take.
_PATIENCE = 60
#: Variables of git that are passed on: where it looks for repositories, and the configuration of
#: its user, which says whose repositories are trusted. All others could name another repository,
#: or a program.
_KEPT = re.compile(
    "GIT_(CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM"
    "|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_[0-9]+|VALUE_[0-9]+))"
)
#: An empty list of protocols allows none, whatever the configuration says: before 2.45 git has
#: no other way not to fetch objects that a partial clone lacks.
_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "LC_ALL": "C",
}
#: Settings that override those of all files; the last ones forbid calls that should never happen.
_SETTINGS = (
    "safe.bareRepository=explicit",
    "core.warnAmbiguousRefs=true",
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    f"core.attributesFile={os.devnull}",
    "core.pager=cat",
    "protocol.allow=never",
    "core.sshCommand=false",
    "core.askPass=false",
    "credential.helper=",
    "diff.external=",
)
_OPTIONS = ("--no-pager", "--no-replace-objects", "--literal-pathspecs")
_DEEPER = "`fetch-depth: 0` for actions/checkout, or `git fetch --deepen 100`, gets more of it"
_LINKED = b"160000"
_KINDS = {b"120000": "link", _LINKED: "repository", b"040000": "folder"}


class TreeEntry(NamedTuple):
    """The entry at a path of a commit: its kind (file, link, folder or repository) and hash."""

    kind: str
    name: str


class AddedIn(NamedTuple):
    """The commit that added a file: its number in the history, its hash, its date."""

    order: int
    commit: str
    date: str


class FileChange(NamedTuple):
    """The change of a path by a commit: the blob hashes of the file before and after it, if any."""

    path: str
    old: str | None
    new: str | None


@dataclass(slots=True, weakref_slot=True)
class Repository:
    """The repository around the working folder; `root` is its top folder, without links.

    The process that reads objects ends when this is no longer used.
    """

    root: str
    directory: str
    _program: str
    _reader: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _process: int = field(default=0, init=False)

    def commit(self, revision: str) -> str:
        """Returns the hash of the commit that `revision` names. Raises BadCall."""
        wanted = f"{revision}^{{commit}}"
        found = self._run("rev-parse", "--verify", "--end-of-options", wanted)
        name = found.stdout.decode("ascii", "replace").strip()
        if b"is ambiguous" in found.stderr or self._names_several(revision):
            raise BadCall(f"{revision}: git knows several of this name; refs/… tells which one")
        if found.returncode == 0 and name:
            return name.splitlines()[-1]
        shallow = self._run("rev-parse", "--is-shallow-repository").stdout.strip() == b"true"
        why = f"; the clone is shallow, without its whole history: {_DEEPER}" if shallow else ""
        raise BadCall(f"{revision}: git knows no such revision{why}")

    def _names_several(self, revision: str) -> bool:
        """Returns whether a name without `refs/` fits several references, or one and a commit.

        Git warns of some of these only, and prefers a hash to any reference of the same name.
        """
        base = re.split(r"[~^@:]", revision, maxsplit=1)[0]
        if not base or base == "HEAD" or base.startswith("refs/"):
            return False
        places = [f"refs/{kind}{base}" for kind in ("", "tags/", "heads/", "remotes/")]
        done = self._run("for-each-ref", "--format=%(refname)", *places)
        known = {*done.stdout.decode("utf-8", "replace").splitlines()} & {*places}
        like_a_hash = re.fullmatch("[0-9a-fA-F]{4,64}", base) is not None
        return len(known) > (0 if like_a_hash else 1)

    def entries(self, commit: str) -> dict[str, TreeEntry]:
        """Returns everything in a commit by its path from the root, with `/`. Raises BadCall."""
        listing = ("ls-tree", "-r", "-t", "-z", "--full-tree", "--end-of-options", commit)
        found = {}
        for line in self._fields("git cannot list what the revision holds", *listing)[:-1]:
            fields, _, path = line.partition(b"\t")
            mode, _, name = fields.split()
            found[os.fsdecode(path)] = TreeEntry(_KINDS.get(mode, "file"), name.decode("ascii"))
        return found

    def links(self) -> frozenset[str]:
        """Returns the paths in the index at which other repositories are linked (submodules).

        Raises BadCall.
        """
        fields = self._fields("git cannot list its index", "ls-files", "--stage", "-z")[:-1]
        split = (each.partition(b"\t") for each in fields)
        return frozenset(os.fsdecode(path) for entry, _, path in split if entry.startswith(_LINKED))

    def added(self, commit: str) -> dict[str, AddedIn]:
        """Returns the commit that added each file in the history of a commit; the file may be gone.

        A file that was renamed was added with its old name. Raises BadCall, also for a clone
        without its whole history.
        """
        options = ("--topo-order", "-M", "--diff-filter=AR", "--name-status")
        return dict(_parse_added(self._log(*options, commit)))

    def changes(
        self, commit: str, paths: Sequence[str], merges: bool = False
    ) -> list[tuple[AddedIn, list[FileChange]]]:
        """Returns what each commit changed in files below paths, from the first one to `commit`.

        For a merge, what it changed relative to its first parent: the history as one branch has
        seen it. `merges`: instead what each merge of the whole history changed relative to each of
        its parents. Raises BadCall, as `added`.
        """
        walk = ("--merges", "--full-history") if merges else ("--first-parent",)
        options = (*walk, "-m", "--raw", "--no-renames", "--no-abbrev")
        return list(_parse_changes(self._log(*options, commit, paths=paths)))

    def _log(self, *arguments: str, paths: Sequence[str] = ()) -> Iterator[bytes]:
        """Returns the fields of `git log` for a commit, the last argument; the oldest first."""
        if self._run("rev-parse", "--is-shallow-repository").stdout.strip() == b"true":
            raise BadCall(f"the clone is shallow, without its whole history: {_DEEPER}")
        *options, commit = arguments
        fields = self._fields(
            "git cannot list when files came",
            "log", "-z", "--reverse", *options, "--no-show-signature", "--no-ext-diff",
            "--no-textconv", "--format=format:%H %ct", "--end-of-options", commit, "--", *paths,
        )  # fmt: skip
        return iter(fields)

    def renames(self, commit: str) -> list[tuple[str, str]]:
        """Returns the paths in a commit and in the index of each file that git takes as renamed.

        Raises BadCall.
        """
        options = ("--cached", "-z", "-M", "--diff-filter=R", "--name-status", "--no-ext-diff")
        fields = self._fields(
            "git cannot compare its index", "diff-index", *options, "--end-of-options", commit
        )
        paths = [os.fsdecode(each) for at, each in enumerate(fields[:-1]) if at % 3]
        return list(zip(paths[::2], paths[1::2], strict=True))

    def read(self, entry: TreeEntry, most: int) -> bytes:
        """Returns the bytes of a file or a link; if it has more than `most`, blanks, one more.

        Raises Unreadable where the clone lacks the object. One process of git reads all of them.
        """
        if self._reader is None or self._process != os.getpid():  # a fork shares no pipes
            self._process = os.getpid()
            self._reader = subprocess.Popen(
                self._call("cat-file", "--batch"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
                cwd=self.root,
            )
            weakref.finalize(self, _end, self._reader, self._process)
        ask, answers = self._reader.stdin, self._reader.stdout
        assert ask is not None and answers is not None
        head: list[bytes] = []
        with suppress(OSError):
            ask.write(entry.name.encode("ascii") + b"\n")
            ask.flush()
            head = answers.readline().split()
        if len(head) != 3 or head[1] != b"blob":
            if head[1:] != [b"missing"]:  # it ended, or its answers are out of step
                self.close()
            raise Unreadable("git has no such object here; a partial clone lacks some")
        size = int(head[2])
        if size > most:
            self.close()  # faster than reading the object to its end
            return b" " * (most + 1)
        data = answers.read(size)
        answers.read(1)
        if len(data) != size:
            self.close()
            raise Unreadable("git stopped in the middle of it")
        return data

    def close(self) -> None:
        """Ends the process that reads objects, if there is one."""
        reader, self._reader = self._reader, None
        if reader is not None:
            _end(reader, self._process)

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        """Runs git on this repository and returns what it printed. Raises BadCall."""
        return _run(self._call(*arguments), self.root)

    def _fields(self, complaint: str, *arguments: str) -> list[bytes]:
        """Returns the fields that git prints, ended by null bytes. Raises BadCall."""
        done = self._run(*arguments)
        if done.returncode != 0:
            raise BadCall(f"{complaint}: {_message_of_git(done)}")
        return done.stdout.split(b"\0")

    def _call(self, *arguments: str) -> list[str]:
        """Returns the command line of a call of git on this repository, and on no other one."""
        places = (f"--git-dir={self.directory}", f"--work-tree={self.root}")
        return [*_program_call(self._program), *places, *arguments]


def repository(folder: str) -> Repository:
    """Returns the repository around a folder. Raises BadCall if there is none to be trusted."""
    around = work_tree(folder)
    root = None if around is None else os.path.realpath(around)
    program = _git(root)
    if program is None:
        raise BadCall("git is not installed, or not on the PATH, and is needed here")
    if root is None:
        raise BadCall(f"the working folder, {os.path.abspath(folder)}, is in no git repository")
    # Git checks the owner only of a repository that it finds by itself.
    directory, top = (
        _path_from_git(program, root, each) for each in ("--absolute-git-dir", "--show-toplevel")
    )
    entry = os.path.realpath(os.path.join(root, GIT))
    if top != root:
        raise BadCall(f"git finds the files of the repository of {root} elsewhere, in {top}")
    if directory != (_gitdir_of(entry) if os.path.isfile(entry) else entry):
        raise BadCall(f"{os.path.join(root, GIT)} does not name the repository that git finds")
    above = work_tree(os.path.dirname(directory))
    if above is not None and not is_below(directory, os.path.join(os.path.realpath(above), GIT)):
        raise BadCall(f"the repository of {root} stands among the files of {above}")
    return Repository(root, directory, program)


def _path_from_git(program: str, root: str, what: str) -> str:
    """Returns a path that git reports for the repository found in `root`. Raises BadCall."""
    done = _run([*_program_call(program), "rev-parse", what], root)
    if done.returncode != 0:
        raise BadCall(f"git refuses the repository of {root}: {_message_of_git(done)}")
    return os.path.realpath(os.fsdecode(done.stdout.removesuffix(b"\n")))


def _gitdir_of(file: str) -> str | None:
    """Returns the folder that a file `.git` names, as in a submodule or a further work tree."""
    with suppress(OSError), open(file, "rb") as stream:
        start, _, name = stream.read(2**16).partition(b": ")
        if start == b"gitdir":
            named = os.fsdecode(name.rstrip(b"\r\n"))
            return os.path.realpath(os.path.join(os.path.dirname(file), named))
    return None


def _git(root: str | None) -> str | None:
    """Returns the path of git, found in absolute folders outside the repository, or None."""
    for folder in os.get_exec_path():
        if not os.path.isabs(folder) or (root and is_below(os.path.realpath(folder), root)):
            continue
        found = shutil.which("git", path=folder)
        # Windows searches the working folder first
        if found is not None and os.path.dirname(found) == folder:
            return found
    return None


def _end(reader: subprocess.Popen[bytes], process: int) -> None:
    """Ends a reader of objects, if the process that started it is this one."""
    if process == os.getpid():
        reader.kill()
        with suppress(OSError, ValueError):  # ValueError: its pipes are closed already
            reader.communicate()


def _program_call(program: str) -> list[str]:
    """Returns the start of every command line of git: program, options and settings."""
    settings = [part for each in _SETTINGS for part in ("-c", each)]
    return [program, *_OPTIONS, *settings]


def _environment() -> dict[str, str]:
    """Returns the environment for git, without variables that name repositories or programs."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("GIT_") or _KEPT.fullmatch(key)
    }
    return {**kept, **_QUIET}


def _run(command: list[str], folder: str) -> subprocess.CompletedProcess[bytes]:
    """Runs a command of git and returns what it printed. Raises BadCall."""
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            env=_environment(),
            cwd=folder,
            timeout=_PATIENCE,
        )
    except subprocess.TimeoutExpired as error:
        raise BadCall(f"git took longer than {_PATIENCE} seconds") from error
    except (OSError, ValueError) as error:
        raise BadCall(f"git cannot be called: {error}") from error


def _message_of_git(done: subprocess.CompletedProcess[bytes]) -> str:
    """Returns the first line that git printed on standard error."""
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[0].removeprefix("fatal: ") if lines else "git says nothing"


def _commit(order: int, name: bytes, time: bytes) -> AddedIn:
    """Returns a commit from its number, hash and time in seconds."""
    day = datetime.fromtimestamp(int(time or b"0"), UTC).date().isoformat()
    return AddedIn(order, name.decode("ascii", "replace"), day)


def _parse_added(tokens: Iterator[bytes]) -> Iterator[tuple[str, AddedIn]]:
    """Yields each file with the commit that added it, from `git log -z --name-status`.

    The output lists `HASH TIME`, then a status and its paths. A renamed file keeps its commit.
    """
    known: dict[str, AddedIn] = {}
    for order, head in enumerate(tokens):
        start, _, status = head.partition(b"\n")
        name, _, time = start.partition(b" ")
        here = _commit(order, name, time)
        while status:
            path = os.fsdecode(next(tokens, b""))
            if status.startswith(b"R"):
                now = os.fsdecode(next(tokens, b""))
                known[now] = known.get(path, here)
            else:
                now = path
                known.setdefault(path, here)
            yield now, known[now]
            status = next(tokens, b"")


def _parse_changes(tokens: Iterator[bytes]) -> Iterator[tuple[AddedIn, list[FileChange]]]:
    """Yields each commit with its changes of files, from the output of `git log -z --raw`."""
    here: list[FileChange] = []
    for order, token in enumerate(filter(None, tokens)):
        head, _, change = (
            token.rpartition(b"\n") if not token.startswith(b":") else (b"", b"", token)
        )
        if not change.startswith(b":"):
            head, change = change, b""
        if head:
            here = []
            name, _, time = head.partition(b" ")
            yield _commit(order, name, time), here
        if change:
            *modes, old, new, _ = change[1:].split()
            names = [
                hash_.decode("ascii") if mode.startswith(b"100") else None
                for mode, hash_ in zip(modes, (old, new), strict=True)
            ]
            here.append(FileChange(os.fsdecode(next(tokens, b"")), *names))
