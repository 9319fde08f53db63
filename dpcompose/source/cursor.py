"""The place of a cursor in a text, by what stands before it: the rest may be missing or broken."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from dpcompose.errors import Path
from dpcompose.source.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    YAMLError,
    event_source,
)
from dpcompose.source.limits import MAX_DEPTH

#: A character that is no part of a spec, which stands for the word at the cursor.
_MARK = "\ue000"
#: Longer texts before the cursor are not read.
_MOST_CHARACTERS = 2**20


class Cursor(NamedTuple):
    """Where a cursor is.

    `path`: the mapping in which a key is due (`is_key`), else the value at the cursor. `siblings`:
    what is already said in each collection from the top down to that place; a value that is no
    scalar is empty. `is_start`: whether the value may also be a mapping that starts here.
    """

    path: Path
    is_key: bool
    siblings: tuple[dict[str, str], ...]
    is_start: bool = False


@dataclass(slots=True)
class _Level:
    """A collection that is open: `said` are its entries, `at` is the key or the number of the
    value."""

    is_mapping: bool
    said: dict[str, str] = field(default_factory=dict)
    at: str | int = -1
    at_key: bool = True

    def add(self, text: str) -> None:
        """Adds a node, which is a key or a value."""
        if isinstance(self.at, int) and not self.is_mapping:
            self.at += 1
        elif self.at_key:
            self.at, self.at_key = text, False
            self.said[text] = ""
        else:
            self.said[str(self.at)], self.at_key = text, True


def cursor_at(before: str) -> Cursor | None:
    """Returns the place of the word that follows the text `before`; None where no word of a spec
    can follow, as in a comment or in a text of several words."""
    if len(before) > _MOST_CHARACTERS:
        return None
    before = before.encode("utf-8", "replace").decode()
    starts_here = not before[before.rfind("\n") + 1 :].strip(" -")
    # A word at the margin of a mapping is a key, which the parser takes only with its colon.
    return _find(before + _MARK, starts_here) or _find(f"{before}{_MARK}: 0", starts_here)


def _find(text: str, starts_here: bool) -> Cursor | None:
    """Returns the place of the mark in a text, None where the parser does not come to it."""
    stack: list[_Level] = []
    try:
        next_event = event_source(text)
        while type(event := next_event()) is not StreamEndEvent:
            if isinstance(event, DocumentStartEvent):
                stack.clear()
            elif isinstance(event, ScalarEvent) and event.value == _MARK:
                return _cursor(stack, starts_here)
            elif isinstance(event, (MappingEndEvent, SequenceEndEvent)):
                stack.pop()
            elif isinstance(
                event, (ScalarEvent, AliasEvent, MappingStartEvent, SequenceStartEvent)
            ):
                if stack:
                    stack[-1].add(event.value if isinstance(event, ScalarEvent) else "")
                if isinstance(event, (MappingStartEvent, SequenceStartEvent)):
                    if len(stack) == MAX_DEPTH:  # a parser takes quadratic time over more of them
                        return None
                    stack.append(_Level(isinstance(event, MappingStartEvent)))
    except YAMLError:
        pass
    return None


def _cursor(stack: list[_Level], starts_here: bool) -> Cursor:
    """Returns the place of the next node in the innermost of the open collections."""
    siblings = tuple(each.said for each in stack)
    is_key = bool(stack) and stack[-1].is_mapping and stack[-1].at_key
    if stack and not stack[-1].is_mapping:
        stack[-1].add("")
    path = tuple(each.at for each in (stack[:-1] if is_key else stack))
    return Cursor(path, is_key, siblings, starts_here and not is_key)
