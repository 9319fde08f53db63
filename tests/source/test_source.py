"""Reading YAML: values, positions, every fault with its place, and texts made to do harm."""

from __future__ import annotations

import gc
import random
from collections.abc import Iterator
from pathlib import Path as FilePath

import pytest
import yaml

from dpcompose.errors import (
    CODES,
    Diagnostic,
    InvalidSpec,
    Path,
    Span,
    nearest,
    printable,
    quoted,
    render,
)
from dpcompose.source import Lines, Number, Value, documents, limits, load, reader


@pytest.fixture(params=["libyaml", "python"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Either of PyYAML's parsers, whose events and words differ."""
    name = str(request.param)
    if name == "libyaml" and not yaml.__with_libyaml__:
        pytest.skip("PyYAML was built without libyaml")
    monkeypatch.setattr(yaml, "__with_libyaml__", name == "libyaml")
    return name


def refused(data: bytes | str) -> InvalidSpec:
    with pytest.raises(InvalidSpec) as caught:
        load(data, "f.yaml")
    assert all(each.code in CODES for each in caught.value.diagnostics)
    assert str(caught.value).isascii() or not isinstance(data, str) or not data.isascii()
    return caught.value


def places(error: InvalidSpec) -> list[tuple[str, int, int]]:
    return [
        (each.code, each.span.line, each.span.column) for each in error.diagnostics if each.span
    ]


def stretch(text: str, path: Path, key: bool = False) -> str:
    """The text at the span of ``path``."""
    document = load(text, "f.yaml")
    span = document.span(path, key)
    offsets = [0]
    for line in text.split("\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    start = offsets[span.line - 1] + span.column - 1
    return text[start : offsets[span.end_line - 1] + span.end_column - 1]


# --- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None), ("~", None), ("null", None), ("Null", None), ("NULL", None),
        ("true", True), ("True", True), ("TRUE", True), ("false", False), ("FALSE", False),
    ],
)  # fmt: skip
def test_constants(parser: str, text: str, value: Value) -> None:
    assert load(f"a: {text}", "f").value == {"a": value}
    assert load(f"[{text or 'null'}]", "f").value == [value]


@pytest.mark.parametrize(
    "text",
    [
        "0", "1", "-1", "+1", "0.1", "1e-6", "1E+6", "1e6", ".5", "5.", "1.0e-6", "1e400", "1e-400",
        "010", "0x10", "0o10", ".inf", "-.inf", ".Inf", ".nan", ".NAN",
    ],
)  # fmt: skip
def test_numbers_keep_their_text(parser: str, text: str) -> None:
    value = load(f"a: {text}", "f").value
    assert value == {"a": text}
    assert type(value["a"]) is Number


@pytest.mark.parametrize(
    "text",
    [
        "yes", "no", "on", "off", "y", "n", "tRUE", "nUll", "1_000", "1:30", "190:20:30", "10%",
        "104/4099", "2020-01-01", "1.2.3", ".", "+", "e5", "1e", "inf", "nan", "0b11", "-0x10",
        ".infx", "a", "b-c", "<", "a * b",
    ],
)  # fmt: skip
def test_other_plain_scalars_are_text(parser: str, text: str) -> None:
    value = load(f"a: {text}", "f").value
    assert value == {"a": text}
    assert type(value["a"]) is str


@pytest.mark.parametrize("text", ["'0.1'", '"0.1"', "!!str 0.1", "|-\n  0.1", ">-\n  0.1"])
def test_quoted_numbers_are_text(parser: str, text: str) -> None:
    value = load(f"a: {text}", "f").value
    assert value == {"a": "0.1"}
    assert type(value["a"]) is str


def test_plain_keys_are_their_text(parser: str) -> None:
    text = "1: a\n2020: b\ntrue: c\nnull: d\n~: e\n1.0: f\non: g\n'': h\n'<<': i\n!!str x: j\n"
    keys = ["1", "2020", "true", "null", "~", "1.0", "on", "", "<<", "x"]
    value = load(text, "f").value
    assert isinstance(value, dict)
    assert list(value) == keys


def test_structure(parser: str) -> None:
    text = (
        "a:\n- 1\n- {b: [x, {}], c: []}\nd: !!map {e: !!seq [!!int 1, !!null ~]}\n'f': \"g\\n\"\n"
    )
    assert load(text, "f").value == {
        "a": ["1", {"b": ["x", {}], "c": []}],
        "d": {"e": ["1", None]},
        "f": "g\n",
    }


def test_aliases_share_values(parser: str) -> None:
    text = "a: &x [1, 2]\nb: *x\nc: &y 3\nd: [*y, *x]\n&k e: *k\n"
    value = load(text, "f").value
    assert value == {"a": ["1", "2"], "b": ["1", "2"], "c": "3", "d": ["3", ["1", "2"]], "e": "e"}


def test_an_anchor_can_be_defined_again(parser: str) -> None:
    assert load("- &x 1\n- *x\n- &x 2\n- *x", "f").value == ["1", "1", "2", "2"]


@pytest.mark.parametrize(
    "data",
    [
        "a: 1\nb: x",
        b"a: 1\nb: x",
        "\ufeffa: 1\nb: x",
        b"\xef\xbb\xbfa: 1\nb: x",
        "a: 1\r\nb: x\r\n",
        "---\na: 1\nb: x\n...\n",
        "%YAML 1.2\n---\na: 1\nb: x",
        "# c\n\na: 1 # d\nb: x\n# e",
    ],
)
def test_byte_order_marks_and_line_ends(parser: str, data: bytes | str) -> None:
    assert load(data, "f").value == {"a": "1", "b": "x"}


@pytest.mark.parametrize(
    "text", ["a: 1\nb: 2 # c\rd: 3\n", "a: 1\r\nb: 2 # c\r", "a: 1\nb: 2 # c\r\r\n"]
)
def test_a_line_end_that_editors_do_not_show_is_refused(text: str) -> None:
    """YAML reads a key behind `# c`, where reviews show a comment."""
    with pytest.raises(InvalidSpec) as error:
        load(text.encode(), "f")
    (fault,) = error.value.diagnostics
    assert (fault.code, fault.span) == ("DPC003", Span(2, 9, 2, 9))
    (whole,) = documents(text.encode() + b"---\nx: 1\n")
    assert whole.number is None


def test_several_documents(parser: str) -> None:
    parts = documents(b"a: &x 1\n---\nb: [2]\n--- 3\n")
    found = [load(each.data, "f", each.lines_before) for each in parts]
    assert [each.value for each in found] == [{"a": "1"}, {"b": ["2"]}, "3"]
    assert found[1].span(("b", 0)) == Span(3, 5, 3, 6)
    assert found[2].span(()) == Span(4, 5, 4, 6)


def test_several_documents_share_no_anchors(parser: str) -> None:
    _, *parts = documents(b"a: &x 1\n---\nb: *x\n---\n---\nc: 1\nc: 2\n")
    faults = []
    for each in parts:
        with pytest.raises(InvalidSpec) as caught:
            load(each.data, "f", each.lines_before)
        faults += places(caught.value)
    assert faults == [("DPC014", 3, 4), ("DPC004", 4, 1), ("DPC010", 7, 1)]


# --- positions -----------------------------------------------------------------------------------

TEXT = """\
title: é 漢字 😀 x  # comment
datasets:
  rows: {}
  "blocks":
    from:   rows
    partition: {by: value, blocks: [north, 'so uth']}

mechanisms:
  # first
  - {name: m0, reads: block.0, epsilon: 0.01}
  - name: m1
    guarantees:
      - &g {notion: pure}
      - *g
    text: |
      several
      lines

budget: {epsilon: 2}
"""


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        (("title",), "é 漢字 😀 x", "title"),
        (("datasets", "rows"), "{}", "rows"),
        (("datasets", "blocks", "from"), "rows", "from"),
        (("datasets", "blocks", "partition", "blocks", 1), "'so uth'", "'so uth'"),
        (("mechanisms", 0), "{name: m0, reads: block.0, epsilon: 0.01}", None),
        (("mechanisms", 0, "epsilon"), "0.01", "epsilon"),
        (("mechanisms", 1, "name"), "m1", "name"),
        (("mechanisms", 1, "guarantees", 0, "notion"), "pure", "notion"),
        (("mechanisms", 1, "guarantees", 1), "*g", "*g"),
        (("mechanisms", 1, "guarantees", 1, "notion"), "pure", "notion"),
        (("mechanisms", 1, "text"), "|\n      several\n      lines", "text"),
        (("budget", "epsilon"), "2", "epsilon"),
        # the nearest place there is
        (("budget", "delta"), "{epsilon: 2}", "budget"),
        (("budget", "epsilon", "north"), "2", "epsilon"),
        (("datasets", "blocks", "partition", "blocks", 2), "[north, 'so uth']", "blocks"),
        (("mechanisms", 1, "guarantees"), "- &g {notion: pure}\n      - *g", "guarantees"),
        (("mechanisms", "x"), None, "mechanisms"),
    ],
)
def test_spans(parser: str, path: Path, value: str | None, key: str | None) -> None:
    if value is not None:
        assert stretch(TEXT, path) == value
    if key is not None:
        assert stretch(TEXT, path, key=True).strip('"') == key


def test_spans_of_large_collections(parser: str) -> None:
    text = "a:\n" + "".join(f"  k{i}: [{i}, {{x: {i}}}]\n" for i in range(300))
    document = load(text, "f")
    for i in range(300):
        width = len(str(i))
        column = 3 + 2 * width + len("k: [, {x: ")
        assert document.span(("a", f"k{i}", 1, "x")) == Span(i + 2, column, i + 2, column + width)
        assert document.span(("a", f"k{i}"), key=True).column == 3


def walk(tree: Value, path: Path = ()) -> Iterator[tuple[Path, Value]]:
    yield path, tree
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from walk(value, (*path, key))
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            yield from walk(value, (*path, index))


def random_yaml(rng: random.Random, depth: int) -> str:
    kind = rng.random()
    if depth == 0 or kind < 0.4:
        return f"w{rng.randrange(1000)}"
    if kind < 0.7:
        return f"[{', '.join(random_yaml(rng, depth - 1) for _ in range(rng.randrange(40)))}]"
    inside = (f"k{i}: {random_yaml(rng, depth - 1)}" for i in range(rng.randrange(40)))
    return "{" + ",\n ".join(inside) + "}"


@pytest.mark.slow
def test_every_scalar_is_where_its_span_says(parser: str) -> None:
    rng = random.Random(5)
    for _ in range(10):
        text = random_yaml(rng, 3)
        document = load(text, "f")
        lines = text.split("\n")
        for path, value in walk(document.value):
            span = document.span(path)
            if isinstance(value, str):
                assert lines[span.line - 1][span.column - 1 : span.end_column - 1] == value


@pytest.mark.slow
def test_lines() -> None:
    rng = random.Random(7)
    for size in (0, 1, 10, 1023, 1024, 1025, 5000):
        text = "".join(rng.choices("ab\n漢", [9, 1, rng.choice([0, 1, 40]), 1], k=size))
        lines = Lines(text)
        assert list(lines) == text.split("\n")
        assert len(lines) == text.count("\n") + 1
        assert lines[-1] == text.split("\n")[-1]
        assert lines[1:3] == text.split("\n")[1:3]
        with pytest.raises(IndexError):
            lines[len(lines)]
        for offset in {0, size // 2, size, *rng.choices(range(size + 1), k=20)}:
            span = lines.span(offset, offset)
            assert span.line == text.count("\n", 0, offset) + 1
            assert span.column == offset - text.rfind("\n", 0, offset)


# --- faults, each with its place -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        # empty and several documents
        ("", [("DPC004", 1, 1)]),
        ("# only a comment\n", [("DPC004", 1, 1)]),
        ("---\n", [("DPC004", 1, 1)]),
        ("a: 1\n---\nb: 2\n", [("DPC005", 2, 1)]),
        ("a: 1\na: 2\n---\nb: 2\n", [("DPC010", 2, 1), ("DPC005", 3, 1)]),
        # bytes and characters
        (b"a: caf\xe9\n", [("DPC002", 1, 7)]),
        (b"\xef\xbb\xbfa: 1\r\n\xc3\xa9: \xff", [("DPC002", 2, 4)]),
        (b"a: \xed\xa0\x80", [("DPC002", 1, 4)]),
        (b"\xff\xfea\0:\0", [("DPC002", 1, 1)]),
        ("a: x\0y\nb: \x1b[2J\n", [("DPC003", 1, 5), ("DPC003", 2, 4)]),
        ("é: \x7f", [("DPC003", 1, 4)]),
        ("a: \ud800", [("DPC003", 1, 4)]),
        ("a: 1 # \u202e", [("DPC003", 1, 8)]),
        ("a: 1 # x\u2028b: 2", [("DPC003", 1, 9)]),
        ("\ufeff\ufeffa: 1", [("DPC003", 1, 1)]),
        # keys
        ("a: 1\nb: 2\na: 3\n", [("DPC010", 3, 1)]),
        ("a: {x: 1, 'x': 2, x: 3}", [("DPC010", 1, 11), ("DPC010", 1, 19)]),
        ("1: a\n'1': b", [("DPC010", 2, 1)]),
        ("- - {é: 1, é: 2}", [("DPC010", 1, 12)]),
        ("? [1, 2]\n: 3\n{x: y}: 4\n", [("DPC011", 1, 3), ("DPC011", 3, 1)]),
        ("a: &x k\n*x : 1\n", [("DPC011", 2, 1)]),
        ("? \n: 2", [("DPC011", 1, 2)]),
        ("!!int 1: a", [("DPC011", 1, 1)]),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", [("DPC012", 3, 3)]),
        ("? '" + "k" * 10_001 + "'\n: 1", [("DPC015", 1, 3)]),
        ("? " + "k" * 10_001 + "\n: 1", [("DPC015", 1, 3)]),
        ("a: " + "k" * 10_001, [("DPC015", 1, 4)]),
        # tags
        ("a: !foo 1\nb: !!set {x: 1}", [("DPC013", 1, 4), ("DPC013", 2, 4)]),
        ("a: !bar\n  - 1", [("DPC013", 1, 4)]),
        ("a: !!int x\nb: !!python/object:os.system x", [("DPC013", 1, 4), ("DPC013", 2, 4)]),
        ("a: &x !foo 1", [("DPC013", 1, 7)]),
        ("a: !!seq {}", [("DPC013", 1, 4)]),
        ("a: !x!y 1", [("DPC013", 1, 4)]),
        # aliases
        ("a: *b\nb: &b [*b, {c: *b}]", [("DPC014", 1, 4), ("DPC014", 2, 8), ("DPC014", 2, 16)]),
        ("&a [*a]", [("DPC014", 1, 5)]),
        # tabs
        ("a:\n\tb: 1", [("DPC007", 2, 1)]),
        ("a:\n  b: 1\n\tc: 2\n", [("DPC007", 3, 1)]),
        ("a:\n  b: 1\n  \tc: 2\n", [("DPC007", 3, 3)]),
        ("\ta: 1", [("DPC007", 1, 1)]),
        ("a: |\n x\n\ty\n", [("DPC007", 3, 1)]),
        # syntax
        ("a: [1, 2", [("DPC006", 1, 4)]),
        ("a: {b: 1\n\n", [("DPC006", 1, 4)]),
        ("x: {a: 1\ny: 2\n", [("DPC006", 2, 2)]),
        ("a: 'x\nb: 2\n", [("DPC006", 1, 4)]),
        ('a: "x', [("DPC006", 1, 4)]),
        ("a: b: c", [("DPC006", 1, 5)]),
        ("a: 1\nfoo\nb: 2", [("DPC006", 2, 1)]),
        ("a: 1\n- b", [("DPC006", 2, 1)]),
        ("- a\nb: 1", [("DPC006", 2, 1)]),
        ("a:\n    b: 1\n  c: 2", [("DPC006", 3, 3)]),
        ("a: @x", [("DPC006", 1, 4)]),
        ("a: - b", [("DPC006", 1, 4)]),
        ("a: 'it's'", [("DPC006", 1, 8)]),
        ("[1]\nx: 1", [("DPC006", 2, 1)]),
        ("a: ]", [("DPC006", 1, 4)]),
        ("a: *", [("DPC006", 1, 5)]),
        ("a: |x\n y", [("DPC006", 1, 5)]),
        ("%YAML 2.0\n---\na: 1", [("DPC006", 1, 1)]),
        ("%TAG ! x\n%TAG ! y\n---\na: 1", [("DPC006", 2, 1)]),
        # what was found before the syntax fails is told as well, an unfinished pair included
        ("a: 1\na: 2\nb: !x 1\nc: ]", [("DPC010", 2, 1), ("DPC013", 3, 4), ("DPC006", 4, 4)]),
        ("a: 1\na: ]", [("DPC010", 2, 1), ("DPC006", 2, 4)]),
    ],
)  # fmt: skip
def test_faults(parser: str, data: bytes | str, expected: list[tuple[str, int, int]]) -> None:
    assert places(refused(data)) == expected


def test_duplicate_keys_cite_both_places(parser: str) -> None:
    error = refused("m:\n  epsilon: 1\n  delta: 0\n  epsilon: 8\n")
    assert str(error) == (
        "f.yaml:4:3: the key `epsilon` is given twice; the first is at line 2, column 3 [DPC010]\n"
        "    hint: keep one of them"
    )


def test_half_of_a_surrogate_pair(parser: str) -> None:
    assert refused('a: "\\uD800"').diagnostics[0].code in {"DPC003", "DPC006"}
    assert refused('"\\uD800": 1').diagnostics[0].code in {"DPC003", "DPC006"}


@pytest.mark.parametrize("data", ['a: "\\UFFFFFFFF"', "a: !%ed%a0%80 1", "a: !%ff 1"])
def test_escapes_that_stand_for_nothing(parser: str, data: str) -> None:
    assert refused(data).diagnostics[0].code == "DPC006"


def test_nothing_is_constructed_from_tags(parser: str, tmp_path: FilePath) -> None:
    target = tmp_path / "owned"
    refused(f"a: !!python/object/apply:os.mkdir ['{target}']")
    assert not target.exists()


# --- limits --------------------------------------------------------------------------------------


def test_depth(parser: str) -> None:
    deep = limits.MAX_DEPTH
    value = load("[" * deep + "]" * deep, "f").value
    for _ in range(deep - 1):
        assert isinstance(value, list)
        value = value[0]
    assert value == []
    assert places(refused("[" * (deep + 1) + "]" * (deep + 1))) == [("DPC008", 1, deep + 1)]


def test_aliases_count_towards_depth(parser: str) -> None:
    half = limits.MAX_DEPTH // 2
    text = "a: &a " + "[" * half + "]" * half + "\nb: " + "[" * half + "*a" + "]" * half
    assert places(refused(text)) == [("DPC008", 2, 4 + half)]
    chain = "- &a0 [x]\n" + "".join(f"- &a{i} [*a{i - 1}]\n" for i in range(1, 200))
    assert places(refused(chain)) == [("DPC008", 100, 9)]


def test_alias_bomb(parser: str) -> None:
    text = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 9)
    )
    error = refused(text)
    assert [each.code for each in error.diagnostics] == ["DPC014"]
    assert len(text) < 400


def test_too_large(parser: str) -> None:
    limit = limits.MAX_BYTES if parser == "libyaml" else limits.MAX_BYTES_WITHOUT_LIBYAML
    error = refused(b"#" * (limit + 1))
    assert [each.code for each in error.diagnostics] == ["DPC001"]
    assert str(error).startswith("f.yaml: the file is larger than")


@pytest.mark.parametrize(
    ("text", "column"),
    [("[1, 1, 1, 1, 1]", 8), ("{a: 1, b: 1}", 8), ("[[], [], []]", 6), ("[x, 'x', 'x']", 10)],
)
def test_too_many_values(
    parser: str, monkeypatch: pytest.MonkeyPatch, text: str, column: int
) -> None:
    monkeypatch.setattr(reader, "MAX_NODES", 3 if column != 6 else 2)
    assert places(refused(text)) == [("DPC009", 1, column)]


def test_too_many_faults(parser: str) -> None:
    error = refused("- {a: 1, a: 2}\n" * 500)
    assert len(error.diagnostics) == limits.MAX_FAULTS + 1
    assert error.diagnostics[0].span == Span(1, 10, 1, 11)
    last = error.diagnostics[-1]
    assert (last.code, last.level) == ("DPC017", "note")
    assert last.message == "400 or more further faults are not listed"


def test_the_fault_that_ends_the_reading_is_always_listed(parser: str) -> None:
    codes = [each.code for each in refused("- *a\n" * 500 + "- ]").diagnostics]
    assert codes.count("DPC014") == limits.MAX_FAULTS
    assert "DPC006" in codes


def test_tag_directives_are_few(parser: str) -> None:
    text = "".join(f"%TAG !a{i}! x\n" for i in range(200)) + "---\na: 1\n"
    assert places(refused(text)) == [("DPC016", 1, 1)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        "[", "{", "- ", "? ", "[a: ", "a: \n", "a: ", "a\n", "- *a\n", "- !x y\n", "!", "&", "*",
        "'", '"', ":", "|\n", "\t", "\n", "#\n", "%TAG ! x\n", "---\n", "? ? a\n", "{a, ",
        "- - a\n", "\x00", "é", "\\", "a: [\n", "- &a [*a]\n", "- {<<: x}\n", "- a: 1\n  a: 2\n",
        "a:\r\n", ", ",
    ],
)  # fmt: skip
def test_a_long_file_of_one_thing_is_read_or_refused(unit: str, long: bool) -> None:
    size = (10 if long else 2) * 2**20 if yaml.__with_libyaml__ else 2**18
    text = unit * (size // len(unit))
    try:
        load(text, "f")
    except InvalidSpec as error:
        assert len(str(error)) < 100_000


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["[", "{", "- ", "? ", "[a: "])
def test_nesting_neither_recurses_nor_crashes(parser: str, unit: str) -> None:
    assert {"DPC008", "DPC006"} >= {each.code for each in refused(unit * 100_000).diagnostics}


# --- random texts --------------------------------------------------------------------------------


def outcome(data: bytes | str) -> Value | str:
    """The value, or the faults; anything but InvalidSpec escapes."""
    try:
        document = load(data, "f")
    except InvalidSpec as error:
        assert error.diagnostics
        assert all(each.code in CODES for each in error.diagnostics)
        assert all(line.isprintable() for line in str(error).split("\n"))
        return "refused"
    for path, _ in walk(document.value):
        document.span(path)
        document.span(path, key=True)
    return document.value


def test_random_bytes(parser: str) -> None:
    rng = random.Random(11)
    for _ in range(1500):
        outcome(rng.randbytes(rng.randrange(60)))
    outcome(rng.randbytes(2**20))


@pytest.mark.slow
def test_random_yaml_like_text(parser: str, long: bool) -> None:
    rng = random.Random(13)
    pieces = [*"ab1:-?,[]{}#&*!|>'\"%@` \n\t~<=\\é\u2028\ufeff", ": ", "- ", "\n ", "\n  ", "? ",
              "&a ", "*a", "!!str ", "!x ", "<<: ", "---\n", "...\n", "%TAG ! x\n", "\r\n", "''",
              "a: ", "b: ", "\\x", "\\u", "0.1", "null", "|\n", ">-\n"]  # fmt: skip
    for _ in range(6000 if long else 4000):
        outcome("".join(rng.choices(pieces, k=rng.randrange(25))))


@pytest.mark.slow
def test_mutated_specs(parser: str, long: bool) -> None:
    rng = random.Random(17)
    for _ in range(1500 if long else 1000):
        data = bytearray(TEXT.encode())
        for _ in range(rng.randrange(1, 6)):
            at = rng.randrange(len(data))
            action = rng.randrange(3)
            if action == 0:
                data[at] = rng.randrange(256)
            elif action == 1:
                del data[at : at + rng.randrange(8)]
            else:
                data[at:at] = rng.choice(
                    [b"\n", b" ", b"\t", b"'", b'"', b"[", b"}", b"*g", b"&g ", b": ", b"a: "]
                )
        outcome(bytes(data))


@pytest.mark.slow
def test_values_agree_with_pyyaml(parser: str, long: bool) -> None:
    class Text(yaml.BaseLoader):
        """PyYAML with every scalar as text."""

    def plain(value: Value) -> object:
        if isinstance(value, dict):
            return {key: plain(each) for key, each in value.items()}
        if isinstance(value, list):
            return [plain(each) for each in value]
        return value

    rng = random.Random(19)
    for _ in range(30 if long else 10):
        text = random_yaml(rng, 3)
        assert plain(load(text, "f").value) == yaml.load(text, Text)


@pytest.mark.slow
def test_both_parsers_agree(monkeypatch: pytest.MonkeyPatch, long: bool) -> None:
    if not yaml.__with_libyaml__:
        pytest.skip("PyYAML was built without libyaml")
    rng = random.Random(23)
    texts = [random_yaml(rng, 3) for _ in range(20 if long else 8)] + [TEXT]
    results = []
    for with_libyaml in (True, False):
        monkeypatch.setattr(yaml, "__with_libyaml__", with_libyaml)
        documents = [load(text, "f") for text in texts]
        results.append(
            [
                [(path, value, each.span(path)) for path, value in walk(each.value)]
                for each in documents
            ]
        )
    assert results[0] == results[1]


# --- memory --------------------------------------------------------------------------------------


def test_the_collector_is_left_as_it_was() -> None:
    assert gc.isenabled()
    load("a: 1", "f")
    assert gc.isenabled()
    refused("a: [")
    assert gc.isenabled()
    gc.disable()
    try:
        load("a: 1", "f")
        assert not gc.isenabled()
    finally:
        gc.enable()


# --- errors --------------------------------------------------------------------------------------


def test_printable() -> None:
    assert printable("é 漢 😀\\") == "é 漢 😀\\"
    assert printable("a\x1b[31m\t\n\r\x00\x85\u202e\U000e0001\ud800") == (
        r"a\x1b[31m\t\n\r\x00\x85\u202e\U000e0001\ud800"
    )
    assert quoted("x" * 100, 10) == "`xxxxx...xxxxx`"
    assert quoted("a\nb") == r"`a\nb`"


def test_render() -> None:
    diagnostic = Diagnostic("DPC101", "a\x1b", Span(1, 1, 2, 3), "h\u202e", "warning")
    assert render(diagnostic, "f\n") == ("f\\n:1:1: warning: a\\x1b [DPC101]\n    hint: h\\u202e")
    assert render(Diagnostic("DPC001", "m", None), "f") == "f: m [DPC001]"


def test_faults_are_sorted_by_position() -> None:
    spans = [None, Span(2, 1, 2, 2), Span(1, 9, 1, 9), Span(1, 2, 3, 4)]
    error = InvalidSpec([Diagnostic("DPC006", "m", span) for span in spans])
    assert [each.span for each in error.diagnostics] == [spans[3], spans[2], spans[1], None]


def test_nearest() -> None:
    assert nearest("epsilom", ["delta", "epsilon", "rho"]) == "epsilon"
    assert nearest("EPSILON", ["epsilom", "epsilon"]) == "epsilon"
    assert nearest("zzz", ["epsilon"]) is None
    assert nearest("", ["epsilon"]) is None
    assert nearest("x" * 10_000, ["x" * 10_000]) is None
    assert nearest("block.99", (f"block.{i}" for i in range(1_000_000))) == "block.99"
