"""Streams of several documents, and which YAML files are specs at all."""

from __future__ import annotations

from importlib import import_module

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dpcompose.errors import InvalidSpec
from dpcompose.source import Document, documents, is_spec, load


def cut(text: str) -> list[tuple[str, int]]:
    found = list(documents(text.encode()))
    if len(found) == 1:
        assert found[0].number is None
    else:
        assert [each.number for each in found] == list(range(1, len(found) + 1))
    return [
        (each.data if isinstance(each.data, str) else each.data.decode(), each.lines_before)
        for each in found
    ]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a: 1\n", [("a: 1\n", 0)]),
        ("", [("", 0)]),
        ("---\na: 1\n", [("---\na: 1\n", 0)]),
        ("# c\n---\na: 1\n...\n", [("# c\n---\na: 1\n...\n", 0)]),
        ("a: 1\n---\nb: 2\n", [("a: 1\n", 0), ("---\nb: 2\n", 1)]),
        ("a: 1\r\n--- \r\nb: 2", [("a: 1\n", 0), ("--- \nb: 2", 1)]),
        ("---\na: 1\n---\nb: 2\n", [("---\na: 1\n", 0), ("---\nb: 2\n", 2)]),
        ("%YAML 1.2\n---\na\n...\n# c\n%YAML 1.2\n---\nb", [
            ("%YAML 1.2\n---\na\n...\n", 0), ("# c\n%YAML 1.2\n---\nb", 4)]),
        ("a\n...\nb\n", [("a\n...\n", 0), ("b\n", 2)]),
        ("a\n...\n# only a comment\n", [("a\n...\n# only a comment\n", 0)]),
        ("---\n---\n", [("---\n", 0), ("---\n", 1)]),
        ("a: 1\n---", [("a: 1\n", 0), ("---", 1)]),
        ("a: '\n ---\n ---'\n", [("a: '\n ---\n ---'\n", 0)]),
        ("a: x---\n---b: 1\n# ---\n", [("a: x---\n---b: 1\n# ---\n", 0)]),
        ("--- {a: 1}\n--- {b: 1}\n", [("--- {a: 1}\n", 0), ("--- {b: 1}\n", 1)]),
    ],
)  # fmt: skip
def test_cuts(text: str, parts: list[tuple[str, int]]) -> None:
    assert cut(text) == parts


def directive_inside(lines: list[str]) -> bool:
    """Whether a directive stands in a document that has not ended, which YAML forbids."""
    inside = False
    for line in lines:
        if line.startswith("%") and inside:
            return True
        if line == "...":
            inside = False
        elif line and line[0] not in "#%":
            inside = True
    return False


_LINES = ["---", "...", "a: 1", "# c", "", "  b", "--- x", "- y", "---z", "%YAML 1.2"]


@given(st.lists(st.sampled_from(_LINES), max_size=8))
def test_cuts_are_where_yaml_has_them(lines: list[str]) -> None:
    if directive_inside(lines):
        return
    text = "\n".join(lines) + "\n"
    try:
        whole = list(yaml.load_all(text, yaml.BaseLoader))
    except yaml.YAMLError:
        return
    parts = [list(yaml.load_all(each.data, yaml.BaseLoader)) for each in documents(text.encode())]
    assert [each for part in parts for each in part] == whole
    assert len(parts) == max(len(whole), 1)


def test_documents_are_read_up_to_a_limit_and_the_rest_is_refused() -> None:
    found = list(documents(b"---\n" * 5_000))
    assert len(found) == 1_001 and [each.number for each in found] == list(range(1, 1_002))
    with pytest.raises(InvalidSpec, match="of one at most 1000 are read"):
        load(found[-1].data, "s", found[-1].lines_before)


def test_a_glance_at_a_file_is_not_one_at_each_of_its_documents() -> None:
    assert is_spec(b"---\n" * 2_000 + b"# dpcompose:\n")
    assert not is_spec(b"---\n" * 900 + b"# dpcompose:\n")


def test_lines_of_a_later_document_count_from_the_top_of_the_stream() -> None:
    first, second = documents(b"a: 1\n---\n\nb: [1,\n  2]\n")
    source = load(second.data, "s", second.lines_before)
    assert first == Document("a: 1\n", 0, 1)
    span = source.span(("b", 1))
    assert (span.line, span.column) == (5, 3)
    assert source.lines[4] == "  2]"
    assert source.lines[0] == ""
    assert len(source.lines) == 6
    with pytest.raises(InvalidSpec) as raised:
        load("b: [1", "s", 7)
    fault = raised.value.diagnostics[0].span
    assert fault is not None and fault.line == 8


@pytest.mark.slow
def test_many_documents_take_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module("dpcompose.source.documents")
    monkeypatch.setattr(module, "MAX_DOCUMENTS", 10**6)
    assert sum(1 for _ in documents(b"---\na: 1\n" * 200_000)) == 200_000


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("dpcompose: 1\n", True),
        ("title: x\ndpcompose: 1\n", True),
        ("'dpcompose': 1\n", True),
        ("\ufeffdpcompose: 1\n", True),
        ("a: 1\r\ndpcompose: 1\r\n", True),
        ("  dpcompose: 1\n  protect: x\n", True),
        ("{title: x, dpcompose: 1, protect: [", True),
        ("dpcompose: 1\n\tbroken", True),
        ("a: 1\n---\n{dpcompose: 1}\n", True),
        ("? dpcompose\n: 1\n", True),
        ("", False),
        ("a: 1\n", False),
        ("tools:\n  dpcompose: 1\n", False),
        ("{tools: {dpcompose: 1}}", False),
        ("- dpcompose: 1\n", False),
        ("[a, dpcompose, {dpcompose: 1}]", False),
        ("a: 'dpcompose: 1'\n", False),
        ("# dpcompose: 1\na: 1\n", False),
        ("run: dpcompose:1\n", False),
        ("a: {b: dpcompose: 1", False),
    ],
)
def test_a_spec_has_its_key_at_the_top(text: str, wanted: bool) -> None:
    assert is_spec(text.encode()) is wanted


def test_what_is_no_text_is_no_spec_unless_it_says_so() -> None:
    assert not is_spec(b"\xff  dpcompose: 1")
    assert is_spec(b"\xff\ndpcompose: 1")
