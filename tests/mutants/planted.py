"""The planted faults: texts of the package with what a mistake would put in their place."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).parents[2]
FAULTS = Path(__file__).with_name("faults.yaml")


class Fault(NamedTuple):
    """One fault.

    `old`: a text that `file` holds exactly once, and `new` the one in its place. `breaks`: what
    goes wrong then. `tests`: the test file most likely to notice it, tried first. `survives`: why
    no test can notice it, or need not.
    """

    number: int
    file: str
    old: str
    new: str
    breaks: str
    tests: str = ""
    survives: str = ""

    @property
    def room(self) -> str:
        """The folder of the tests of the room that the file belongs to."""
        *parts, name = self.file.split("/")
        if not parts:
            return f"tests/{name.removesuffix('.py')}"
        return "/".join(["tests", *parts[: 2 if parts[0] == "core" else 1]])

    def unfit(self, root: Path = ROOT) -> str | None:
        """Why the fault cannot be planted; None if it can."""
        path = root / "dpcompose" / self.file
        times = path.read_text(encoding="utf-8").count(self.old) if path.exists() else 0
        if times == 1 and self.old != self.new:
            return None
        what = f"found {times} times" if times > 1 else "not found" if not times else "unchanged"
        return f"fault {self.number} ({self.breaks}): snippet {what} in dpcompose/{self.file}"

    def plant(self, root: Path) -> None:
        """Put the new text into a copy of the package."""
        path = root / "dpcompose" / self.file
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


def faults() -> list[Fault]:
    """All faults, in the order of the file, counted from 1."""
    by_file = yaml.safe_load(FAULTS.read_text(encoding="utf-8"))
    listed = [(file, each) for file, several in by_file.items() for each in several]
    return [Fault(number, file, **each) for number, (file, each) in enumerate(listed, 1)]
