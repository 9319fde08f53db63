"""Replacements written into a text: by their places, in the line ends of the file."""

from __future__ import annotations

import pytest

from dpcompose.errors import Replacement, Span
from dpcompose.source.rewriting import replaced


def put(line: int, column: int, end: int, text: str) -> Replacement:
    return Replacement(Span(line, column, line, end), text)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_stretches_of_several_lines(line_end: str, mark: str) -> None:
    text = mark + line_end.join(["a: 1", "b: 2", "c: 3"])
    changes = [put(3, 4, 5, "33"), put(1, 1, 2, "x"), put(2, 5, 5, "\n  new: 0")]
    lines = ["x: 1", "b: 2", "  new: 0", "c: 33"]
    assert replaced(text, changes) == mark + line_end.join(lines)
    gone = Replacement(Span(1, 1, 3, 1), "")
    assert replaced(text, [gone]) == mark + "c: 3"


def test_insertions_stand_before_what_is_replaced_there() -> None:
    assert replaced("abc", [put(1, 2, 3, "B"), put(1, 2, 2, "(")]) == "a(Bc"
    assert replaced("a", [put(1, 2, 2, "["), put(1, 2, 2, "]")]) == "a[]"
    assert replaced("abc", []) == "abc"
