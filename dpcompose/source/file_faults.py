"""The faults of a file: all of them counted, the first of them listed."""

from typing import Any

from dpcompose.errors import Diagnostic, quoted
from dpcompose.source.limits import MAX_COUNTED, MAX_FAULTS
from dpcompose.source.positions import Lines, Marks
from dpcompose.source.scalars import Value


class Stop(Exception):
    """Raised where reading cannot go on; the reason is recorded."""


class Misplaced:
    """A placeholder for a refused key, so that the numbers of nodes still follow the text."""

    __slots__ = ("name",)

    def __init__(self, name: str | None = None) -> None:
        self.name = name


class FileFaults:
    """Gathers the faults of one file."""

    def __init__(self, lines: Lines, marks: Marks) -> None:
        self._lines = lines
        self._marks = marks
        self._faults: list[Diagnostic] = []
        self._found = 0  # faults, duplicate keys included, which are listed last
        self._duplicates: dict[int, dict[Any, Value]] = {}  # number of a mapping that has some

    def __bool__(self) -> bool:
        return self._found > 0

    def add(
        self, code: str, message: str, at: tuple[int, int] | int, hint: str | None = None
    ) -> None:
        """Records a fault at a node, given by its number, or between two offsets."""
        self._count()
        if len(self._faults) >= MAX_FAULTS:
            return
        if isinstance(at, int):
            at = self._marks.starts[at], self._marks.ends[at]
        self._faults.append(Diagnostic(code, message, self._lines.span(*at), hint))

    def add_duplicate(self, number: int, mapping: dict[Any, Value], key: str) -> Misplaced:
        """Records a key that a mapping has already, and returns the placeholder for it."""
        self._duplicates[number] = mapping
        refused = Misplaced(key)
        mapping[refused] = None  # now, since its value may be what ends the reading
        self._count()
        return refused

    def add_last(self, code: str, message: str, at: int, hint: str | None) -> None:
        """Records the fault that ends the reading, however many faults there are already."""
        self._found += 1
        self._faults.append(Diagnostic(code, message, self._lines.span(at, at + 1), hint))

    def all(self) -> list[Diagnostic]:
        """Returns every fault found, and a note where there are more than are listed."""
        for number, mapping in self._duplicates.items():
            if len(self._faults) < MAX_FAULTS:
                self._list_duplicates(number, mapping)
        unlisted = self._found - len(self._faults)
        if unlisted <= 0:
            return self._faults
        note = f"{unlisted} or more further faults are not listed"
        return [*self._faults, Diagnostic("DPC017", note, None, level="note")]

    def _count(self) -> None:
        """Counts a fault. Raises Stop at the limit."""
        self._found += 1
        if self._found >= MAX_COUNTED:
            raise Stop

    def _list_duplicates(self, number: int, mapping: dict[Any, Value]) -> None:
        """Lists the faults of keys that a mapping has twice."""
        first: dict[str, int] = {}
        for key, at in self._marks.keys(number, mapping).items():
            if not isinstance(key, Misplaced):
                first[key] = self._marks.starts[at]
            elif key.name is not None and len(self._faults) < MAX_FAULTS:
                place = self._lines.span(first[key.name], first[key.name])
                message = (
                    f"the key {quoted(key.name)} is given twice; "
                    f"the first is at line {place.line}, column {place.column}"
                )
                span = self._lines.span(self._marks.starts[at], self._marks.ends[at])
                end = first[key.name] + len(key.name)
                label = "given here first" if place.line != span.line else ""
                related = ((self._lines.span(first[key.name], end), label),)
                dash = key.name.startswith("-")
                hint = "a blank stands after the `-` of an item" if dash else "keep one of them"
                found = Diagnostic("DPC010", message, span, hint, related=related)
                self._faults.append(found)
