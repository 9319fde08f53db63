"""One spec for each fault, with what must be said of it in its first lines.

A line is `# line:column code message`. `pytest --rewrite-golden` writes them anew.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpcompose.errors import Diagnostic, InvalidSpec
from dpcompose.faults import SPEC_CODES
from dpcompose.resolve import resolve
from dpcompose.source import load

BAD = sorted((Path(__file__).parents[1] / "bad").glob("*.yaml"))
HEADER = re.compile(r"# (?:\d+:\d+|-) (DPC\d{3}) .*\n")


def diagnostics(text: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(InvalidSpec) as caught:
        resolve(load(text, "bad.yaml"))
    return caught.value.diagnostics


def said(found: tuple[Diagnostic, ...]) -> str:
    places = (f"{d.span.line}:{d.span.column}" if d.span else "-" for d in found)
    lines = (f"# {place} {d.code} {d.message}\n" for place, d in zip(places, found, strict=True))
    return "".join(lines)


def split(text: str) -> tuple[str, str]:
    """The expected diagnostics, and the rest."""
    end = 0
    while match := HEADER.match(text, end):
        end = match.end()
    return text[:end], text[end:]


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_fault_is_told_with_its_place(path: Path, rewriting: bool) -> None:
    text = path.read_text(encoding="utf-8")
    expected, body = split(text)
    if rewriting:
        lines = len(diagnostics(body))
        expected = said(diagnostics("#\n" * lines + body))
        text = expected + body
        path.write_text(text, encoding="utf-8", newline="\n")
    found = diagnostics(text)
    assert said(found) == expected
    for each in found:
        assert each.code in SPEC_CODES
        assert each.message[0].islower() or each.message[0] in "`#"
        assert not each.message.endswith(".")


def test_every_code_has_a_bad_spec() -> None:
    shown = {code for path in BAD for code in HEADER.findall(path.read_text(encoding="utf-8"))}
    assert shown == set(SPEC_CODES)


def test_faults_are_listed_up_to_a_limit() -> None:
    entries = "".join(f"  - {{name: m{i}, reads: people}}\n" for i in range(5000))
    head = "dpcompose: 1\nprotect: unbounded\ndatasets: {people: {}}\nmechanisms:\n"
    found = diagnostics(head + entries)
    assert len(found) == 101
    assert [each.span.line for each in found if each.span] == list(range(5, 105))
    (note,) = (each for each in found if each.span is None)
    assert (note.code, note.message) == ("DPC017", "4900 more faults are not listed")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("dpcompose: 1\n", "DPC102"),
        ("{}", "DPC102"),
        ("a", "DPC103"),
        ("dpcompose: 1\nprotect: user\ndatasets: 3\nmechanisms: 4\nbudget: []\n", "DPC103"),
        ("datasets: {'': {}}\nmechanisms: [{name: '', reads: ''}]", "DPC102"),
        ("datasets: {a: {from: a.a.a, map: filter}}\nprotect: {relation: {}}", "DPC102"),
        ("mechanisms: [[], {}, null, {post_processes: 3}, {guarantees: {}}]", "DPC102"),
        ("datasets: {a: {partition: {by: [], blocks: {}}}, b: {map: {kind: {}}}}", "DPC102"),
        ("relations: {a: 3, b: {within: a, distance: .inf}}\nconstants: [1]", "DPC102"),
    ],
)
def test_odd_shapes_are_refused_without_a_crash(text: str, code: str) -> None:
    found = diagnostics(text)
    assert code in {each.code for each in found}
    assert {each.code for each in found} <= set(SPEC_CODES)


def test_a_fault_of_a_mechanism_hides_neither_its_name_nor_what_it_reads() -> None:
    text = (
        "dpcompose: 1\nprotect: unbounded\ndatasets: {people: {}}\nmechanisms:\n"
        "  - {name: x, reads: nowhere, notion: pur, epsilon: 1}\n"
        "  - {name: x, reads: people, notion: pure, epsilon: 1}\n"
        "  - {name: x, reads: People, notion: pure, epsilon: 1, more: 2}\n"
        "  - {name: [], reads: people, notion: pure, epsilon: 1}\n"
        "  - nothing\n"
    )
    found = [(each.code, each.span.line) for each in diagnostics(text) if each.span]
    assert found == [
        ("DPC121", 5), ("DPC104", 5), ("DPC120", 6), ("DPC120", 7), ("DPC121", 7), ("DPC101", 7),
        ("DPC103", 8), ("DPC103", 9),
    ]  # fmt: skip
