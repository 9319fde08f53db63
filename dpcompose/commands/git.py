"""Git, asked about a commit of a repository: what it holds and what was renamed; never a shell."""

from __future__ import annotations

import os
import subprocess

from dpcompose.commands.exits import BadCall
from dpcompose.commands.inputs import Unreadable
from dpcompose.values import dataclass

#: Seconds that one call of git may take.
_PATIENCE = 60
#: What a hook of git may have set for a repository around another folder, and what would change
#: the meaning of paths.
_LEFT_OUT = frozenset(
    {
        "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX",
        "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS",
        "GIT_ICASE_PATHSPECS",
    }
)  # fmt: skip
_DEEPER = "`fetch-depth: 0` for actions/checkout, or `git fetch --deepen 100`, gets more of it"


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands at a path of a commit: `kind` is `file`, `link`, `folder` or `repository`.

    `size`: of a file or a link, in bytes.
    """

    kind: str
    name: str
    size: int


def checked(revision: str, flag: str = "--against") -> str:
    """`revision`, which may be one. Raises BadCall where none can be called so."""
    if not revision.strip():
        raise BadCall(f"{flag}: the revision is empty; is a variable not set?")
    if revision.startswith("-"):
        raise BadCall(f"{flag} {revision}: a revision does not start with a hyphen")
    if "\0" in revision:
        raise BadCall(f"{flag}: no revision has a null byte in it")
    return revision


def root_of(folder: str) -> str:
    """The top folder of the repository around `folder`, without links in its name.

    Raises BadCall where git is missing or there is no repository.
    """
    found = _git(folder, "rev-parse", "--show-toplevel")
    if found.returncode == 0:
        return os.path.realpath(os.fsdecode(found.stdout.removesuffix(b"\n")))
    said, where = _said(found), folder or "."
    if "not a git repository" in said:
        raise BadCall(f"{where} is in no git repository: {said}")
    raise BadCall(f"cannot look for a git repository around {where}: {said}")


def commit(revision: str, root: str) -> str:
    """The name of the commit that `revision` means in a repository. Raises BadCall."""
    wanted = f"{revision}^{{commit}}"
    found = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", wanted)
    name = found.stdout.decode("ascii", "replace").strip()
    if found.returncode == 0 and name:
        return name.splitlines()[-1]
    shallow = _git(root, "rev-parse", "--is-shallow-repository").stdout.strip() == b"true"
    why = f"; the clone is shallow, without its whole history: {_DEEPER}" if shallow else ""
    raise BadCall(f"--against {revision}: git knows no such revision{why}")


def entry(name: str, path: str, root: str) -> Entry | None:
    """What the commit `name` has at `path` (from the root, with `/`); None: nothing."""
    listing = ("ls-tree", "-z", "-l", "--full-tree", "--end-of-options", name, path)
    found = _git(root, "--literal-pathspecs", *listing)
    line, _, _ = found.stdout.partition(b"\0")
    fields, _, at = line.partition(b"\t")
    if found.returncode != 0 or os.fsdecode(at) != path:
        return None
    mode, kind, identifier, size = fields.split()
    kinds = {b"120000": "link", b"160000": "repository", b"040000": "folder"}
    known = kinds.get(mode, "file" if kind == b"blob" else "folder")
    return Entry(known, identifier.decode("ascii"), int(size) if size.isdigit() else 0)


def blob(found: Entry, root: str) -> bytes:
    """The bytes of a file or a link. Raises Unreadable."""
    done = _git(root, "cat-file", "blob", found.name)
    if done.returncode != 0:
        raise Unreadable(_said(done))
    return done.stdout


def gone(name: str, root: str, *patterns: str) -> dict[str, str | None]:
    """The files of a commit that are no longer there, each with its new path where it has one.

    `patterns` of git restrict what is looked at; without any it is everything. Raises BadCall.
    """
    call = ("diff", "-M", "--name-status", "-z", "--diff-filter=DR", "--no-ext-diff")
    # A monitor of files would be a program that the repository names.
    done = _git(
        root, "-c", "core.fsmonitor=false", *call, "--ignore-submodules", name, "--", *patterns
    )
    if done.returncode != 0:
        raise BadCall(f"git cannot tell what was renamed or removed: {_said(done)}")
    found: dict[str, str | None] = {}
    fields = iter(os.fsdecode(done.stdout).split("\0"))
    for status in fields:
        if status:
            path = next(fields)
            found[path] = next(fields) if status[0] == "R" else None
    return found


def _git(folder: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = ["git", "--no-replace-objects", "-C", folder or ".", *arguments]
    quiet = {key: value for key, value in os.environ.items() if key not in _LEFT_OUT}
    quiet.update(GIT_TERMINAL_PROMPT="0", GIT_OPTIONAL_LOCKS="0", LC_ALL="C")
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            env=quiet,
            timeout=_PATIENCE,
        )
    except FileNotFoundError as error:
        raise BadCall("git is not installed, or not on the PATH: --against needs it") from error
    except subprocess.TimeoutExpired as error:
        raise BadCall(f"git took longer than {_PATIENCE} seconds") from error
    except (OSError, ValueError) as error:
        raise BadCall(f"git cannot be called: {error}") from error


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[0].removeprefix("fatal: ") if lines else "git says nothing"
