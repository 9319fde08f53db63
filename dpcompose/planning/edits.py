"""What differs between the texts of two specs: entries by name and keys, never by line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from dpcompose.core.numbers.expressions import ExpressionError, parse
from dpcompose.errors import Path, Span
from dpcompose.report.declared_assumptions import flow
from dpcompose.source import Source, Value

#: The parts of a spec whose entries have names.
SECTIONS = ("constants", "relations", "datasets", "mechanisms")
_NOUNS = {"constants": "constant", "relations": "relation", "datasets": "dataset"}
#: A longer value is cut.
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class KeyEdit:
    """A key of an entry with its text before and now; None where the key is absent."""

    name: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class Edit:
    """An entry of a spec that was added, removed or changed.

    `kind`: `mechanism`, `dataset`, `constant`, `relation`, or `spec` for the keys at its top.
    `span` is its place in the new spec, or in the old one where it was removed.
    """

    kind: str
    name: str
    how: Literal["added", "removed", "changed"]
    keys: tuple[KeyEdit, ...]
    span: Span


def edits(old: Source, new: Source) -> tuple[Edit, ...]:
    """Returns the entries that differ between two specs, as in the new one; removed last."""
    before, after = _entries(old), _entries(new)
    found: list[Edit] = []
    for entry, (path, value) in after.items():
        was = before.get(entry)
        if was is None:
            found.append(Edit(*entry, "added", (), new.span(path)))
            continue
        keys = tuple(_keys(_flat(was[1]), _flat(value)))
        if keys:
            found.append(Edit(*entry, "changed", keys, new.span(path)))
    for entry, (path, _) in before.items():
        if entry not in after:
            found.append(Edit(*entry, "removed", (), old.span(path)))
    return tuple(found)


def _entries(source: Source) -> dict[tuple[str, str], tuple[Path, Value]]:
    """Returns the entries of a spec by kind and name, each with its path and value."""
    tree = source.value
    assert isinstance(tree, dict)  # a spec that could be read
    rest: dict[str, Value] = {}
    found: dict[tuple[str, str], tuple[Path, Value]] = {}
    for key, value in tree.items():
        if key == "mechanisms" and isinstance(value, list):
            for index, each in enumerate(value):
                name = each.get("name") if isinstance(each, dict) else None
                found["mechanism", str(name)] = ((key, index), each)
        elif key in SECTIONS and isinstance(value, dict):
            for name, each in value.items():
                found[_NOUNS[key], name] = ((key, name), each)
        else:
            rest[key] = value
    return {("spec", ""): ((), rest), **found}


def _flat(value: Value) -> dict[str, str]:
    """Returns the scalars of a value by their path in words; a list of scalars is one."""
    found: dict[str, str] = {}
    stack: list[tuple[str, Value]] = [("", value)]
    while stack:
        path, each = stack.pop()
        below: list[tuple[str, Value]] = []
        if isinstance(each, dict) and each:
            below = list(each.items())
        elif isinstance(each, list) and any(isinstance(item, dict | list) for item in each):
            below = [(str(index), item) for index, item in enumerate(each)]
        else:
            found[path] = flow(each)
        stack.extend((f"{path}.{key}" if path else key, item) for key, item in reversed(below))
    return found


def _keys(old: dict[str, str], new: dict[str, str]) -> Iterator[KeyEdit]:
    """Yields the keys whose texts differ, except for different notations of one number."""
    for name in dict.fromkeys([*old, *new]):
        before, after = old.get(name), new.get(name)
        if before != after and not _same_number(before, after):
            yield KeyEdit(name, _cut(before), _cut(after))


def _same_number(one: str | None, other: str | None) -> bool:
    """Returns whether two texts are numbers of equal value, such as `0.5` and `1/2`."""
    if one is None or other is None:
        return False
    try:
        return parse(one, {}) == parse(other, {})
    except ExpressionError:
        return False


def _cut(text: str | None) -> str | None:
    """Returns a text, the middle of a long one left out."""
    if text is None or len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST // 2]}...{text[-_LONGEST // 2 :]}"


def number_edits(old: Source, new: Source) -> list[tuple[Edit, KeyEdit]]:
    """Returns each number of a mechanism or a constant that was changed, in order."""
    found = (each for each in edits(old, new) if each.kind in ("mechanism", "constant"))
    return [(each, key) for each in found for key in each.keys]
