"""File names in the form that services want which show findings in a repository."""

from __future__ import annotations


def from_root(file: str) -> str:
    """Returns a file name without `./` at its start: relative to the folder dpcompose runs in."""
    while file.startswith("./"):
        file = file[2:].lstrip("/")
    return file or "."
