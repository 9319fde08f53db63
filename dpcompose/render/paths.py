"""Names of files as services want them that show findings in a repository."""

from __future__ import annotations


def from_root(file: str) -> str:
    """`file` without `./` at its start: a path from the folder that dpcompose is run in."""
    while file.startswith("./"):
        file = file[2:].lstrip("/")
    return file or "."
