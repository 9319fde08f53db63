"""What differs between the texts of two specs: entries by name and keys, never by line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from dpcompose.core.numbers.expressions import ExpressionError, parse
from dpcompose.errors import Path, Span
from dpcompose.report.declared_assumptions import flow
from dpcompose.source import Source, Value
from dpcompose.spec.parts import WHOLE, Part

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
    for entry, now in after.items():
        was = before.get(entry)
        if was is None:
            found.append(Edit(*entry, "added", (), new.span(now.path)))
            continue
        keys = tuple(_keys(_flat(was), _flat(now)))
        if keys:
            found.append(Edit(*entry, "changed", keys, new.span(now.path)))
    for entry, (path, *_) in before.items():
        if entry not in after:
            found.append(Edit(*entry, "removed", (), old.span(path)))
    return tuple(found)


class _Entry(NamedTuple):
    """An entry of a spec: its path, its value, and what the models say of it."""

    path: Path
    value: Value
    part: Part


class _FlatValue(NamedTuple):
    """The text of a value, and whether it is that of a number."""

    text: str
    is_number: bool


def _entries(source: Source) -> dict[tuple[str, str], _Entry]:
    """Returns the entries of a spec by kind and name."""
    tree = source.value
    assert isinstance(tree, dict)  # a spec that could be read
    rest: dict[str, Value] = {}
    found: dict[tuple[str, str], _Entry] = {}
    for key, value in tree.items():
        part = WHOLE.below(key, value)
        if key == "mechanisms" and isinstance(value, list):
            for index, each in enumerate(value):
                name = each.get("name") if isinstance(each, dict) else None
                entry = _Entry((key, index), each, part.below(index, each))
                found["mechanism", str(name)] = entry
        elif key in SECTIONS and isinstance(value, dict):
            for name, each in value.items():
                found[_NOUNS[key], name] = _Entry((key, name), each, part.below(name, each))
        else:
            rest[key] = value
    return {("spec", ""): _Entry((), rest, WHOLE), **found}


def _flat(entry: _Entry) -> dict[str, _FlatValue]:
    """Returns the scalars of an entry by their path in words; a list of scalars is one."""
    found: dict[str, _FlatValue] = {}
    stack: list[tuple[str, Value, Part]] = [("", entry.value, entry.part)]
    while stack:
        path, each, part = stack.pop()
        below: list[tuple[str | int, Value]] = []
        if isinstance(each, dict) and each:
            below = list(each.items())
        elif isinstance(each, list) and any(isinstance(item, dict | list) for item in each):
            below = list(enumerate(each))
        else:
            found[path] = _FlatValue(flow(each), part.is_number)
        stack.extend(
            (f"{path}.{key}" if path else str(key), item, part.below(key, item))
            for key, item in reversed(below)
        )
    return found


def _keys(old: dict[str, _FlatValue], new: dict[str, _FlatValue]) -> Iterator[KeyEdit]:
    """Yields the keys whose texts differ, except for different notations of one number."""
    for name in dict.fromkeys([*old, *new]):
        before, after = old.get(name), new.get(name)
        if before is None or after is None or not _is_same(before, after):
            yield KeyEdit(name, _cut(before), _cut(after))


def _is_same(one: _FlatValue, other: _FlatValue) -> bool:
    """Returns whether two texts are equal, or numbers of equal value such as `0.5` and `1/2`."""
    if one.text == other.text or not (one.is_number and other.is_number):
        return one.text == other.text
    try:
        return parse(one.text, {}) == parse(other.text, {})
    except ExpressionError:
        return False


def _cut(found: _FlatValue | None) -> str | None:
    """Returns a text, the middle of a long one left out."""
    if found is None or len(found.text) <= _LONGEST:
        return None if found is None else found.text
    text = found.text
    return f"{text[: _LONGEST // 2]}...{text[-_LONGEST // 2 :]}"


def number_edits(old: Source, new: Source) -> list[tuple[Edit, KeyEdit]]:
    """Returns each number of a mechanism or a constant that was changed, in order."""
    found = (each for each in edits(old, new) if each.kind in ("mechanism", "constant"))
    return [(each, key) for each in found for key in each.keys]
