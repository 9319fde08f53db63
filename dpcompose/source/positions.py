"""The positions in a file: its lines, its nodes by number, and spans by path."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from dpcompose.errors import Path, Span
from dpcompose.source.scalars import Value


class Lines(Sequence[str]):
    """The lines of a text, without their line ends.

    Newlines are counted once per block of the text, so that neither a file of blank lines costs
    memory nor a file of one long line costs time. Where `text` is a part of a longer one, the
    `above` lines before it count as well, and are empty.
    """

    __slots__ = ("_above", "_before", "_count", "_starts", "text")
    _BLOCK = 1024

    def __init__(self, text: str, above: int = 0) -> None:
        self.text = text
        self._above = above
        self._before = array("I")  # newlines before each block
        self._starts = array("I")  # where the line begins that runs into each block
        lines = start = 0
        for offset in range(0, len(text) + 1, self._BLOCK):
            self._before.append(lines)
            self._starts.append(start)
            end = offset + self._BLOCK
            lines += text.count("\n", offset, end)
            start = text.rfind("\n", offset, end) + 1 or start
        self._count = lines + 1 + above

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        line = index + len(self) if index < 0 else index
        if not 0 <= line < len(self):
            raise IndexError(index)
        if line < self._above:
            return ""
        start = self._start(line - self._above)
        end = self.text.find("\n", start)
        return self.text[start:] if end < 0 else self.text[start:end]

    def _start(self, line: int) -> int:
        """Returns the offset at which a line of the text starts."""
        if line == 0:
            return 0
        block = bisect_left(self._before, line) - 1
        at = block * self._BLOCK
        for _ in range(line - self._before[block]):
            at = self.text.index("\n", at) + 1
        return at

    def _position(self, offset: int) -> tuple[int, int]:
        """Returns the line and the column of an offset."""
        block, at = divmod(offset, self._BLOCK)
        at = offset - at
        line = self._before[block] + self.text.count("\n", at, offset)
        start = self.text.rfind("\n", at, offset) + 1 or self._starts[block]
        return line + 1 + self._above, offset - start + 1

    def span(self, start: int, end: int) -> Span:
        """Returns the span from one offset of the text to another, blanks at its end left out."""
        start = min(start, len(self.text))
        end = start + len(self.text[start:end].rstrip())
        return Span(*self._position(start), *self._position(end))


class Marks:
    """The offsets in the text of every node (key or value) of a file; nodes are numbered in the
    order of the text.

    A key is a node, and its value the next one, so a tree and its numbers can be walked together:
    nothing needs to be kept per path.
    """

    __slots__ = ("_numbers", "ends", "skip", "starts", "target")
    _WORTH_KEEPING = 32

    def __init__(self) -> None:
        self.starts = array("I")
        self.ends = array("I")
        self.skip: dict[int, int] = {}  # collection: the first number after all it holds
        self.target: dict[int, int] = {}  # alias: the node it repeats
        self._numbers: dict[int, Any] = {}

    def keys(self, number: int, mapping: dict[Any, Value]) -> dict[Any, int]:
        """Returns the numbers of the keys of the mapping with this number."""
        return dict(zip(mapping, self._walk(number, len(mapping), 2), strict=True))

    def _walk(self, number: int, count: int, step: int) -> Iterator[int]:
        """Yields the node numbers of `count` children of the YAML mapping or sequence that is node
        `number`: every child, or with `step` 2 every second one, the keys of a mapping."""
        skip, at = self.skip, number + 1
        for _ in range(count):
            yield at
            for _ in range(step):
                at = skip.get(at, at + 1)

    def find(self, tree: Value, path: Path) -> tuple[int, int]:
        """Returns the numbers of the value at `path` and of its key, or those of the nearest
        ancestor; `tree`: the tree of the document."""
        value = key = 0
        for step in path:
            inside = self.target.get(value, value)
            if isinstance(tree, dict) and isinstance(step, str) and step in tree:
                key = self._inside(inside, tree)[step]
                value, tree = key + 1, tree[step]
            elif isinstance(tree, list) and isinstance(step, int) and 0 <= step < len(tree):
                key = value = self._inside(inside, tree)[step]
                tree = tree[step]
            else:
                break
        return value, key

    def _inside(self, number: int, tree: Any) -> Any:
        """Returns the numbers of the items of a list, or of each key of a mapping; kept only where
        walking it again would be slow."""
        numbers = self._numbers.get(number)
        if numbers is None:
            if isinstance(tree, dict):
                numbers = self.keys(number, tree)
            else:
                numbers = array("I", self._walk(number, len(tree), 1))
            if len(tree) > self._WORTH_KEEPING:
                self._numbers[number] = numbers
        return numbers


@dataclass(frozen=True, slots=True)
class Source:
    """A document: its plain tree, and the positions of all its parts in the text."""

    name: str
    value: Value
    lines: Lines
    _marks: Marks = field(repr=False)

    def span(self, path: Path, key: bool = False) -> Span:
        """Returns the span of the value at `path`, or of its key; else of the nearest ancestor.

        A list item has no key: its value is meant. What an alias repeats has the span at which it
        was written, the alias itself its own.
        """
        value, own_key = self._marks.find(self.value, path)
        # Planning (`planning/what_if.py`) adds values to the tree, which have no place in the text:
        # any span will do, since their faults are not shown.
        number = min(own_key if key else value, len(self._marks.starts) - 1)
        return self.lines.span(self._marks.starts[number], self._marks.ends[number])

    def at(self, path: Path) -> Value:
        """Returns the value at `path`; None where there is none."""
        tree = self.value
        for step in path:
            if isinstance(tree, dict) and isinstance(step, str):
                tree = tree.get(step)
            elif isinstance(tree, list) and isinstance(step, int) and 0 <= step < len(tree):
                tree = tree[step]
            else:
                return None
        return tree

    @property
    def has_aliases(self) -> bool:
        """Returns whether the document has aliases, which repeat parts of the tree."""
        return bool(self._marks.target)

    def within_scalar(self, offset: int) -> bool:
        """Returns whether an offset is inside a key or a value, where `#` starts no comment."""
        marks = self._marks
        number = bisect_right(marks.starts, offset) - 1
        return number >= 0 and number not in marks.skip and offset < marks.ends[number]
