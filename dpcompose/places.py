"""Where things are: work trees, links that lead out of them, the package itself."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable

#: The entry of a folder that makes it the top of a work tree. Git commits none of this name, so
#: that it comes from whoever made the clone.
GIT = ".git"
#: The folders of the example specs, with what is in them.
FOLDERS = {
    "templates": "to copy and fill in",
    "deployments": "real releases, with what was published of them",
    "audits": "real releases whose published number is wrong, or does not follow",
    "patterns": "how to write what is often released",
    "paper": "examples of the paper (GMPS24)",
}
_FEW = 100  # folders, far fewer than calls may be nested


def work_tree(folder: str) -> str | None:
    """Returns the nearest of `folder` and those above it, as its name has them, with an entry
    `.git`.

    None: there is none. Folders of GIT_CEILING_DIRECTORIES and above are left alone, as by git.
    """
    ceilings, path = os.environ.get("GIT_CEILING_DIRECTORIES", ""), os.path.abspath(folder)
    for each in (*some_above(path), path):
        found = _work_tree(each, ceilings)
    return found


@lru_cache(maxsize=4096)
def _work_tree(folder: str, ceilings: str) -> str | None:
    if os.path.lexists(os.path.join(folder, GIT)):
        return folder
    barred = {os.path.normpath(each) for each in ceilings.split(os.pathsep) if each}
    above = os.path.dirname(folder)
    if above == folder or (barred and (above in barred or real(above) in barred)):
        return None
    return _work_tree(above, ceilings)


def some_above(path: str) -> list[str]:
    """Returns every hundredth of the folders above a path, from the top: where recursion may
    start."""
    if path.count(os.sep) <= _FEW:
        return []
    return [path[:at] for at, each in enumerate(path) if each == os.sep][_FEW::_FEW]


def real(path: str) -> str:
    """Returns a path without links, where the system tells it in time that is linear in its
    length."""
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (AttributeError, OSError, ValueError):  # another system, or nothing is there
        return os.path.realpath(path)
    try:
        return os.readlink(f"/proc/self/fd/{handle}")
    except OSError:
        return os.path.realpath(path)
    finally:
        os.close(handle)


def is_below(path: str, folder: str) -> bool:
    """Returns whether a path is `folder` or in it; both without links in their names."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def strays(file: str, folder: str | None = None) -> str | None:
    """Returns why a file of others must not be read: its links lead out of its folder, or into
    `.git`; None if it may be read.

    Links of a work tree stay in it and out of its `.git`. `folder`: where the file was found, which
    its links do not leave where there is no work tree around it.
    """
    around = work_tree(os.path.dirname(file)) if "\0" not in file else None
    if around is None and folder is None:
        return None
    within = around or folder or os.curdir
    what = "the repository" if around is not None else within
    top, target = real(within), real(file)
    if not is_below(target, top):
        return f"it is a link, or below one, that leads out of {what}"
    inside = os.path.relpath(target, top).split(os.sep)
    if around is not None and any(each.casefold() == GIT for each in inside):
        return f"it is in {GIT}, or a link that leads there"
    return None


@lru_cache(maxsize=1)
def version() -> str:
    """Returns the version of the installed package."""
    from importlib import metadata

    try:
        return metadata.version("dpcompose")
    except metadata.PackageNotFoundError:  # a source tree that was never installed
        return "0+unknown"


def examples() -> dict[str, dict[str, Traversable]]:
    """Returns the example specs by folder and name, in order: those in the wheel, or in `specs` of
    a working copy."""
    package = files("dpcompose")
    inside = package / "examples"
    top = inside if inside.is_dir() else package / ".." / "specs"
    found = {}
    for folder in FOLDERS:
        named = {each.name.removesuffix(".yaml"): each for each in (top / folder).iterdir()}
        found[folder] = dict(sorted(named.items()))
    return found
