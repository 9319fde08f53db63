"""What may stand at a cursor: all that the example specs have there, before the rest is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import LIBRARY
from volume import thinned

from dpcompose.errors import Path as Place
from dpcompose.source import Value, load
from dpcompose.source.cursor import cursor_at
from dpcompose.spec.allowed import allowed_keys, allowed_values, references
from dpcompose.spec.vocabulary import WordSort, vocabulary

SPECS = [*LIBRARY.values()]
#: The keys whose entries have names of the author's own, or of blocks.
NAMING = {"datasets", "relations", "constants", "kinds"}
#: The keys whose values are names, or stand for others.
FREE = {"name", "title", "because", "population", "unit", "by", "order", "column"}


def places(tree: Value, path: Place = ()) -> Iterator[tuple[Place, bool, Value]]:
    """Every key (True) and every scalar (False) of a tree, with its path."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield (*path, key), True, key
            yield from places(value, (*path, key))
    elif isinstance(tree, list):
        for number, value in enumerate(tree):
            yield from places(value, (*path, number))
    else:
        yield path, False, tree


@pytest.mark.parametrize("spec", thinned(SPECS), ids=lambda path: path.stem)
def test_what_specs_have_may_stand_there(spec: Path) -> None:
    text = spec.read_text(encoding="utf-8")
    source = load(text, spec.name)
    lines, told = text.split("\n"), 0
    words = {
        word
        for word, meanings in vocabulary().items()
        if any(each.sort is not WordSort.KEY for each in meanings)
    }
    for path, is_key, word in places(source.value):
        span = source.span(path, key=is_key)
        before = "\n".join((*lines[: span.line - 1], lines[span.line - 1][: span.column - 1]))
        cursor = cursor_at(before)
        assert cursor is not None and cursor.path == (path[:-1] if is_key else path)
        assert cursor.is_key is is_key or cursor.is_start
        if is_key:
            keys = allowed_keys(cursor)
            assert word in keys or NAMING & {*path[-3:-1]} or not keys, path
            told += word in keys
        elif path[-1] in ("reads", "from", "stated_on"):
            assert word in [*references(cursor, source.value)], path
        elif word in words and path[-1] not in FREE and not isinstance(path[-1], int):
            assert word in allowed_values(cursor), path
            told += 1
    assert told > 8


def test_a_cursor_is_found_in_what_is_not_complete() -> None:
    head = "dpcompose: 1\ndatasets:\n  t: {}\n"
    found = {
        "": ((), True),
        head: ((), False),
        f"{head}  a: {{from: ": (("datasets", "a", "from"), False),
        f"{head}  a: {{from: t, ": (("datasets", "a"), False),
        f"{head}mechanisms:\n  - ": (("mechanisms", 0), True),
        f"{head}mechanisms:\n  - name: m\n    ": (("mechanisms", 0), False),
        f"{head}mechanisms: [{{name: m}}, {{reads: ": (("mechanisms", 1, "reads"), False),
        "---\nx: 1\n---\nprotect: ": (("protect",), False),
    }
    for before, (path, is_start) in found.items():
        cursor = cursor_at(before)
        assert cursor is not None and (cursor.path, cursor.is_start) == (path, is_start)
    for nowhere in ("# ", "title: a text ", 'title: "', "x: [}\n", "\t- ", "[" * 200, " " * 2**21):
        assert cursor_at(head + nowhere) is None
    assert cursor_at("\ud800: ") is not None


def test_what_is_said_decides_what_may_follow() -> None:
    cursor = cursor_at("dpcompose: 1\nmechanisms:\n  - {notion: zcdp, count: 2, ")
    assert cursor is not None and cursor.siblings[-1] == {"notion": "zcdp", "count": "2"}
    assert [*allowed_keys(cursor)] == [
        "name",
        "reads",
        "rho",
        "because",
        "group",
        "tags",
        "interactive",
        "uses",
        "relation",
        "stated_on",
    ]
    cursor = cursor_at("dpcompose: 1\ndatasets: {a: {map: ")
    assert cursor is not None
    words = allowed_values(cursor)
    assert "filter" in words and "{kind: cap, rows: 5, keep: random}" in words
    assert list(references(cursor, None)) == []
    cursor = cursor_at("dpcompose: 1\nprotect: ")
    tree: Value = {"relations": {"household": {}}, "datasets": []}
    assert cursor is not None and list(references(cursor, tree)) == ["household"]
