"""Changes of the text of a spec, in which comments and layout stay as they are.

Each function returns the replacements that make a change, none where the layout leaves no plain way
to make it. The result is not checked: it may be an invalid spec.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from dpcompose.errors import Path, Replacement, Span
from dpcompose.source.positions import Source

Replacements = tuple[Replacement, ...]
#: A change of a source that is given later: a function of this module, and what follows the source.
Rewrite = tuple[Callable[..., Replacements], *tuple[Any, ...]]

#: Texts that need no quotation marks, wherever they stand.
_PLAIN = re.compile(r"[^\W\d][\w.*/-]*")
#: Those of them that mean something else.
_NOT_TEXT = frozenset({"true", "false", "null", "yes", "no", "on", "off", "inf", "nan"})


def is_plain(word: str) -> bool:
    """Returns whether a word can be written without quotation marks everywhere."""
    return bool(_PLAIN.fullmatch(word)) and word.casefold() not in _NOT_TEXT


#: The line ends of files.
LINE_END = re.compile(r"\r\n|\r|\n")


def replaced(text: str, replacements: Iterable[Replacement]) -> str:
    """Returns the text of a file with replacements made, which do not overlap.

    New lines end as those of the file.
    """
    starts = [len(text) - len(text.removeprefix("\ufeff"))]
    starts += (found.end() for found in LINE_END.finditer(text))
    line_end = found[0] if (found := LINE_END.search(text)) else "\n"
    pieces, at = [], 0
    stretches = (
        (
            starts[each.span.line - 1] + each.span.column - 1,
            starts[each.span.end_line - 1] + each.span.end_column - 1,
            each.text,
        )
        for each in replacements
    )
    for start, end, new in sorted(stretches, key=lambda each: each[:2]):
        pieces += [text[at:start], new.replace("\n", line_end)]
        at = end
    return "".join([*pieces, text[at:]])


def renamed(source: Source, path: Path, key: str) -> Replacements:
    """Returns the replacements that rename the key at `path`."""
    span = source.span(path, key=True)
    return (Replacement(span, key),) if span.line == span.end_line else ()


def rewritten(source: Source, path: Path, text: str) -> Replacements:
    """Returns the replacements that write a text at `path`, in place of a scalar or of nothing."""
    span = source.span(path)
    if span.line != span.end_line:
        return ()
    if span.column == span.end_column:
        before = source.lines[span.line - 1][: span.column - 1]
        if before.endswith(" "):
            return (Replacement(span, text),)
        return (Replacement(span, f" {text}" if before.endswith(":") else f": {text}"),)
    return (Replacement(span, text),)


def wrapped(source: Source, path: Path, before: str, after: str) -> Replacements:
    """Returns the replacements that write texts before and after the value at `path`."""
    span = source.span(path)
    if span.line != span.end_line or not _in_brackets_or_scalar(source, path):
        return ()
    start = Span(span.line, span.column, span.line, span.column)
    end = Span(span.line, span.end_column, span.line, span.end_column)
    return Replacement(start, before), Replacement(end, after)


def with_entry(source: Source, path: Path, entry: str) -> Replacements:
    """Returns the replacements that add an entry, a text `key: value`, to the mapping at `path`."""
    tree = source.at(path)
    span = source.span(path)
    if not isinstance(tree, dict):
        return ()
    if _is_flow(source, path):
        if not tree:
            end = Span(span.end_line, span.end_column - 1, span.end_line, span.end_column - 1)
            return (Replacement(end, entry),)
        last = source.span((*path, list(tree)[-1]))
        end = Span(last.end_line, last.end_column, last.end_line, last.end_column)
        return (Replacement(end, f", {entry}"),)
    if not tree:
        return ()
    key = source.span((*path, next(iter(tree))), key=True)
    bottom = source.span((*path, list(tree)[-1])).end_line
    line = source.lines[bottom - 1]
    after = Span(bottom, len(line) + 1, bottom, len(line) + 1)
    return (Replacement(after, f"\n{' ' * (key.column - 1)}{entry}"),)


def without(source: Source, path: Path) -> Replacements:
    """Returns the replacements that remove the entry at `path` of a mapping."""
    *above, own = path
    tree = source.at(tuple(above))
    if not isinstance(tree, dict) or own not in tree:
        return ()
    key, value = source.span(path, key=True), source.span(path)
    if _is_flow(source, tuple(above)):
        keys = list(tree)
        index = keys.index(str(own))
        if index:
            before = source.span((*above, keys[index - 1]))
            start = (before.end_line, before.end_column)
            return (Replacement(Span(*start, value.end_line, value.end_column), ""),)
        if len(keys) > 1:
            after = source.span((*above, keys[1]), key=True)
            return (Replacement(Span(key.line, key.column, after.line, after.column), ""),)
        return (Replacement(Span(key.line, key.column, value.end_line, value.end_column), ""),)
    before_key = source.lines[key.line - 1][: key.column - 1]
    after_value = source.lines[value.end_line - 1][value.end_column - 1 :]
    if before_key.strip() or after_value.strip() or len(tree) == 1:
        return ()
    if value.end_line >= len(source.lines):
        return ()
    return (Replacement(Span(key.line, 1, value.end_line + 1, 1), ""),)


def moved_in(
    source: Source, paths: tuple[Path, ...], target: Path, key: str, more: str = ""
) -> Replacements:
    """Returns the replacements that move the entries at `paths` into the mapping at `target`.

    A scalar there becomes a mapping, in which it has the name `key`. `more`: a further entry.
    """
    removed = [each for path in paths for each in without(source, path)]
    if len(removed) != len(paths):
        return ()
    texts = [_text(source, path) for path in paths]
    if not all(texts):
        return ()
    entries = ", ".join([*(text or "" for text in texts), *([more] if more else [])])
    tree, span = source.at(target), source.span(target)
    if isinstance(tree, dict):
        added = with_entry(source, target, entries) if _is_flow(source, target) else ()
    elif isinstance(tree, str) and span.line == span.end_line:
        added = wrapped(source, target, f"{{{key}: ", f", {entries}}}")
    else:
        added = ()
    return (*added, *removed) if added else ()


def _text(source: Source, path: Path) -> str | None:
    """Returns the text of an entry of one line; None for another entry."""
    key, value = source.span(path, key=True), source.span(path)
    if key.line != value.end_line or not _in_brackets_or_scalar(source, path):
        return None
    return source.lines[key.line - 1][key.column - 1 : value.end_column - 1]


def as_list(source: Source, path: Path, key: str) -> Replacements:
    """Returns the replacements that make a list of the mapping at `path`; names go to `key`."""
    tree = source.at(path)
    if not isinstance(tree, dict) or _is_flow(source, path):
        return ()
    found: list[Replacement] = []
    for name, entry in tree.items():
        own, value = source.span((*path, name), key=True), source.span((*path, name))
        if not isinstance(entry, dict) or not entry or key in entry or own.line != own.end_line:
            return ()
        written = source.lines[own.line - 1][own.column - 1 : own.end_column - 1]
        if _is_flow(source, (*path, name)):
            if own.line != value.line:
                return ()
            inside = Span(own.line, own.column, value.line, value.column + 1)
            found.append(Replacement(inside, f"- {{{key}: {written}, "))
            continue
        deeper = value.column - own.column
        line = source.lines[own.line - 1]
        if deeper < 2 or value.line == own.line or line[own.end_column - 1 :].rstrip() != ":":
            return ()
        whole = Span(own.line, own.column, own.line, len(line) + 1)
        found.append(Replacement(whole, f"-{' ' * (deeper - 1)}{key}: {written}"))
    return tuple(found)


def as_mapping(source: Source, path: Path, key: str) -> Replacements:
    """Returns the replacements that make a mapping of the list at `path`, with names from `key`.

    `key` is the first of each item; a text alone is the name of an empty mapping.
    """
    tree = source.at(path)
    if not isinstance(tree, list) or _is_flow(source, path):
        return ()
    found: list[Replacement] = []
    for index, item in enumerate(tree):
        value = source.span((*path, index))
        line = source.lines[value.line - 1]
        dash = line[: value.column - 1].rfind("-")
        if dash < 0 or line[:dash].strip():
            return ()
        if isinstance(item, str) and is_plain(item):
            whole = Span(value.line, dash + 1, value.end_line, value.end_column)
            found.append(Replacement(whole, f"{item}: {{}}"))
            continue
        if not isinstance(item, dict) or next(iter(item), None) != key:
            return ()
        name = item[key]
        if not isinstance(name, str) or not is_plain(name):
            return ()
        first = source.span((*path, index, key))
        if _is_flow(source, (*path, index)):
            others = list(item)[1:]
            end = source.span((*path, index, others[0]), key=True) if others else first
            stop = (end.line, end.column) if others else (end.end_line, end.end_column)
            found.append(Replacement(Span(value.line, dash + 1, *stop), f"{name}: {{"))
            continue
        if line[first.end_column - 1 :].strip() or len(item) == 1:
            return ()
        found.append(Replacement(Span(value.line, dash + 1, value.line, len(line) + 1), f"{name}:"))
    return tuple(found)


def with_name_inside(source: Source, path: Path, key: str) -> Replacements:
    """Returns the replacements that make of a mapping at `path`, whose one entry is a mapping in
    braces, that mapping, in which the name of the entry stands under `key`."""
    tree = source.at(path)
    name = next(iter(tree)) if isinstance(tree, dict) else ""
    inner = (*path, name)
    own, value = source.span(inner, key=True), source.span(inner)
    if not source.at(inner) or not _is_flow(source, inner) or own.line != value.line:
        return ()
    written = source.lines[own.line - 1][own.column - 1 : own.end_column - 1]
    before = Span(own.line, own.column, value.line, value.column + 1)
    changed = Replacement(before, f"{{{key}: {written}, ")
    if not _is_flow(source, path):
        return (changed,)
    outer = source.span(path)  # its own braces go
    if outer.line != outer.end_line or outer.end_column - value.end_column != 1:
        return ()
    start = Span(outer.line, outer.column, value.line, value.column + 1)
    end = Span(outer.line, outer.end_column - 1, outer.line, outer.end_column)
    return Replacement(start, changed.text), Replacement(end, "")


def decimal_point(source: Source, path: Path, rest: Path) -> Replacements:
    """Returns the replacements that make a point of the comma between the number at `path` and its
    digits."""
    number, digits = source.span(path), source.span(rest, key=True)
    comma = Span(number.end_line, number.end_column, digits.line, digits.column)
    between = source.lines[comma.line - 1][comma.column - 1 : comma.end_column - 1]
    return (Replacement(comma, "."),) if between == "," and digits.line == comma.line else ()


def _is_flow(source: Source, path: Path) -> bool:
    """Returns whether the value at `path` stands in brackets."""
    span = source.span(path)
    return source.lines[span.line - 1][span.column - 1 : span.column] in {"{", "["}


def _in_brackets_or_scalar(source: Source, path: Path) -> bool:
    """Returns whether the value at `path` is a scalar, or stands in brackets."""
    return not isinstance(source.at(path), dict | list) or _is_flow(source, path)
