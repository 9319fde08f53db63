"""Where files are: the work tree around a folder, and links that lead out of it."""

from __future__ import annotations

import os
from functools import lru_cache

#: The entry of a folder that makes it the top of a work tree. Git commits none of this name, so
#: that it comes from whoever made the clone.
GIT = ".git"


def work_tree(folder: str) -> str | None:
    """The nearest of `folder` and those above it, as its name has them, with an entry `.git`.

    None: there is none. Folders of GIT_CEILING_DIRECTORIES and above are left alone, as by git.
    """
    ceilings = os.environ.get("GIT_CEILING_DIRECTORIES", "")
    return _work_tree(os.path.abspath(folder), ceilings)


@lru_cache(maxsize=4096)
def _work_tree(folder: str, ceilings: str) -> str | None:
    barred = {os.path.normpath(each) for each in ceilings.split(os.pathsep) if each}
    while not os.path.lexists(os.path.join(folder, GIT)):
        above = os.path.dirname(folder)
        if above == folder or above in barred or os.path.realpath(above) in barred:
            return None
        folder = above
    return folder


def is_below(path: str, folder: str) -> bool:
    """Whether a path is `folder` or in it; both without links in their names."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def strays(file: str, folder: str | None = None) -> str | None:
    """What is wrong with reading a file of others: where its links lead to; None: nothing.

    Links of a work tree stay in it and out of its `.git`. `folder`: where the file was found, which
    its links do not leave where there is no work tree around it.
    """
    around = work_tree(os.path.dirname(file)) if "\0" not in file else None
    if around is None and folder is None:
        return None
    within = around or folder or os.curdir
    what = "the repository" if around is not None else within
    top, real = os.path.realpath(within), os.path.realpath(file)
    if not is_below(real, top):
        return f"it is a link, or below one, that leads out of {what}"
    inside = os.path.relpath(real, top).split(os.sep)
    if around is not None and any(each.casefold() == GIT for each in inside):
        return f"it is in {GIT}, or a link that leads there"
    return None
