"""A text that is open in an editor, and what is known of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from dpcompose.commands.editor.text_positions import EditorText
from dpcompose.errors import InvalidSpec
from dpcompose.report import Report
from dpcompose.source import Document, Source, Value, documents, is_spec, load

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
