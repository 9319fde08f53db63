"""The place of a cursor in a text, by what stands before it: the rest may be missing or broken."""

from __future__ import annotations

from typing import NamedTuple

from dpcompose.errors import Path
from dpcompose.source.events import Level, ScalarEvent, YAMLError, walk
from dpcompose.source.limits import MAX_DEPTH

#: A character that is no part of a spec, which stands for the word at the cursor.
_MARK = "\ue000"
#: Longer texts before the cursor are not read.
_MOST_CHARACTERS = 2**20


class Cursor(NamedTuple):
    """The place of a text cursor in the tree of a spec.

    `path`: the mapping in which a key should be written (`is_key`), else the value at the cursor.
    `siblings`: the entries that are already written in each collection from the top down to that
    place; a value that is no scalar is empty. `is_start`: whether the value may also be a mapping
    that starts here.
    """

    path: Path
    is_key: bool
    siblings: tuple[dict[str, str], ...]
    is_start: bool = False


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
    """Returns the place of the mark that stands for the cursor in a text, None where the parser
    does not come to it.

    `starts_here`: only dashes and blanks stand before it on its line.
    """
    try:
        for event, stack in walk(text):
            if len(stack) > MAX_DEPTH:  # a parser takes quadratic time over more of them
                return None
            if isinstance(event, ScalarEvent) and event.value == _MARK:
                return _cursor(stack, starts_here)
    except YAMLError:
        pass
    return None


def _cursor(stack: list[Level], starts_here: bool) -> Cursor:
    """Returns the place of the next node in the innermost of the open collections."""
    siblings = tuple(each.said for each in stack)
    is_key = bool(stack) and stack[-1].is_mapping and stack[-1].at_key
    if stack and not stack[-1].is_mapping:
        stack[-1].add("")
    path = tuple(each.at for each in (stack[:-1] if is_key else stack))
    return Cursor(path, is_key, siblings, starts_here and not is_key)
