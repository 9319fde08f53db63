"""A text that is open in an editor, its positions, and what is known of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from dpcompose.errors import InvalidSpec, Replacement, Span
from dpcompose.report import Report
from dpcompose.source import Document, Source, Value, documents, is_spec, load
from dpcompose.source.rewriting import LINE_END

#: The encodings in which an editor may count: the codec, and the bytes of a unit.
_UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
_BYTE_ORDER_MARK = "\ufeff"

#: A line and a column, and two of these: from 0 on, the column in code units.
Place = tuple[int, int]
Stretch = tuple[Place, Place]


class EditorText:
    """A text as an editor has it, whose columns are counted in the units of an encoding."""

    def __init__(self, text: str, encoding: str) -> None:
        self.text = text
        self.encoding = encoding
        self._codec, self._size = _UNITS[encoding]
        self._lines = LINE_END.split(text)

    @property
    def data(self) -> bytes:
        """Returns the text as the bytes of a file; half of a surrogate pair is no UTF-8."""
        return self.text.encode("utf-8", "surrogatepass")

    @property
    def line_end(self) -> str:
        """Returns what its first line ends with."""
        found = LINE_END.search(self.text)
        return found[0] if found else "\n"

    def line(self, number: int) -> str:
        """Returns a line, counted from 0; an empty one where there is none."""
        return self._lines[number] if 0 <= number < len(self._lines) else ""

    def column(self, line: int, units: int) -> int:
        """Returns the number of characters of a line before a column of the editor."""
        data = self.line(line).encode(self._codec, "surrogatepass")[: units * self._size]
        return len(data.decode(self._codec, "replace"))

    def before(self, line: int, column: int) -> str:
        """Returns the text before a character of a line."""
        text = "\n".join((*self._lines[:line], self.line(line)[:column]))
        return text.removeprefix(_BYTE_ORDER_MARK)

    def without_line(self, line: int) -> EditorText:
        """Returns the text with a line that is empty."""
        lines = (*self._lines[:line], "", *self._lines[line + 1 :])
        return EditorText("\n".join(lines), self.encoding)

    def place(self, line: int, column: int) -> Place:
        """Returns the place of a character of a line, both counted from 0."""
        head = self.line(line)[:column].encode(self._codec, "surrogatepass")
        return line, len(head) // self._size

    def end_of_line(self, line: int) -> Place:
        """Returns the place behind a line, counted from 0."""
        return self.place(line, len(self.line(line).rstrip()))

    def stretch(self, span: Span | None) -> Stretch:
        """Returns the stretch of a span; the first line for the file as a whole."""
        if span is None:
            return (0, 0), self.end_of_line(0)
        return self._of(span.line, span.column), self._of(span.end_line, span.end_column)

    def _of(self, line: int, column: int) -> Place:
        """Returns the place of a line and a column of a span, before which no byte order mark is
        counted."""
        marked = line == 1 and self.text.startswith(_BYTE_ORDER_MARK)
        return self.place(line - 1, column - 1 + marked)

    def edit(self, replacement: Replacement) -> tuple[Stretch, str]:
        """Returns the stretch that is replaced and its new text, with the line ends of the text."""
        return self.stretch(replacement.span), replacement.text.replace("\n", self.line_end)


#: How the names of specs end, whatever is in them.
_SPEC = (".dp.yaml", ".dp.yml")


@dataclass(slots=True, eq=False)
class OpenText:
    """A text that is open in the editor: its name in messages, and what is known of it.

    `reports`: those of `analysed`, an earlier or the present text. `work`: what finds them.
    """

    uri: str
    name: str
    version: int
    text: EditorText
    reports: list[Report] = field(default_factory=list)
    analysed: EditorText | None = None
    work: asyncio.Task[None] | None = None

    @property
    def reports_of_text(self) -> list[Report]:
        """Returns the reports of the present text, as far as they are known."""
        return self.reports if self.analysed is self.text else []

    @property
    def is_spec(self) -> bool:
        """Returns whether the text is meant as a spec."""
        return self.uri.lower().endswith(_SPEC) or is_spec(self.text.data)

    def sources(self) -> Iterator[Source | None]:
        """Yields the documents of the text; None for one that cannot be read."""
        return map(self._source, documents(self.text.data))

    def tree(self, line: int) -> Value:
        """Returns the content of the document at a line, if need be without that line; None where
        it cannot be read."""
        for text in (self.text, self.text.without_line(line)):
            above = [each for each in documents(text.data) if each.lines_before <= line]
            source = self._source(above[-1]) if above else None
            if source is not None:
                return source.value
        return None

    def _source(self, document: Document) -> Source | None:
        with suppress(InvalidSpec):
            return load(document.data, self.name, document.lines_before)
        return None
