"""Diagnostics for people: windows, marks, places told together, at any width."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from dpcompose.errors import Diagnostic, Fix, Replacement, Span
from dpcompose.render.layout import Style
from dpcompose.render.parts.console import printed
from dpcompose.render.parts.diagnostics import Findings


def screen(*found: Diagnostic, lines: list[str], style: Style | None = None) -> list[str]:
    style = style or Style()
    return printed(Findings(found, "f.yaml", lines, style), style).splitlines()


def fault(line: int, column: int, end: int, **more: object) -> Diagnostic:
    return Diagnostic("DPC101", "m", Span(line, column, line, end), **more)  # type: ignore[arg-type]


def excerpt(line: str, column: int, end: int, style: Style | None = None) -> list[str]:
    return screen(fault(1, column, end), lines=[line], style=style)[3:5]


def test_carets_stand_below_what_is_meant() -> None:
    assert excerpt("  a: 1", 3, 4) == [" 1 |   a: 1", "   |   ^"]
    assert excerpt("漢字: x", 5, 6) == [" 1 | 漢字: x", "   |       ^"]
    assert excerpt("e\u0301: 漢", 5, 6) == [" 1 | e\u0301: 漢", "   |    ^^"]
    assert excerpt("\tx\x1b[2J", 2, 3) == [" 1 | \\tx\\x1b[2J", "   |   ^"]
    assert excerpt("abc", 4, 4) == [" 1 | abc", "   |    ^"]
    assert excerpt("", 1, 1) == [" 1 |", "   | ^"]


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("char", ["x", "漢", "\x1b", "\u0301", "ε"])
def test_long_lines_are_windowed_around_the_caret(char: str, encoding: str, width: int) -> None:
    style = Style(width, False, encoding)
    for column in (1, 50, 5000, 9999, 10_001):
        for length in (1, 3, 9000):
            shown, caret = excerpt(char * 10_000, column, column + length, style)
            assert cell_len(shown) <= width
            assert cell_len(caret) <= width
            assert "^" in caret
            assert cell_len(caret) <= cell_len(shown) + 1


def test_a_whole_finding() -> None:
    lines = ["a: 1", "  m: {from: t, map: cap, rows: 5}"]
    moved = (
        Replacement(Span(2, 21, 2, 24), "{kind: cap, rows: 5}"),
        Replacement(Span(2, 24, 2, 33), ""),
    )
    found = fault(2, 26, 30, hint="say it inside", label="belongs inside", fix=Fix(moved))
    found = Diagnostic(
        found.code, found.message, found.span, found.hint, "error", found.label, found.fix,
        ((Span(2, 21, 2, 24), ""),),
    )  # fmt: skip
    assert screen(found, lines=lines) == [
        "error[DPC101]: m",
        "  --> f.yaml:2:26",
        "   |",
        " 2 |   m: {from: t, map: cap, rows: 5}",
        "   |                     ---  ^^^^ belongs inside",
        "   = help: say it inside",
        " 2 -   m: {from: t, map: cap, rows: 5}",
        " 2 +   m: {from: t, map: {kind: cap, rows: 5}}",
        "   = note: dpcompose analyze --fix makes this correction",
        "   = note: dpcompose explain DPC101",
    ]


def test_alike_findings_are_one_with_several_places() -> None:
    lines = [f"line {number}" for number in range(1, 31)]
    found = [fault(number, 1, 5) for number in (2, 3, 7, 9, 12)]
    assert screen(*found, Diagnostic("DPC101", "n", None), lines=lines) == [
        "error[DPC101]: m",
        "  --> f.yaml:2:1",
        "   |",
        " 2 | line 2",
        "   | ^^^^",
        " 3 | line 3",
        "   | ^^^^",
        "...",
        " 7 | line 7",
        "   | ^^^^",
        "   = note: the same at lines 9 and 12",
        "   = note: dpcompose explain DPC101",
        "",
        "error[DPC101]: n",
        "  --> f.yaml",
    ]


def test_levels_are_words_and_colours() -> None:
    style = Style(80, True)
    for level, colour in (("error", "31"), ("warning", "33"), ("note", "36")):
        (head, *_) = screen(fault(1, 1, 2, level=level), lines=["x"], style=style)
        assert f"{level}[DPC101]" in head and colour in head.split("m")[0]


def test_nothing_is_markup_or_acts_upon_a_terminal() -> None:
    found = Diagnostic(
        "DPC101", "[red]a\x1b[2J", Span(1, 1, 1, 2), "[b]h\u202e", "error", "[i]\x07"
    )
    shown = screen(found, lines=["[bold]x\x1b"])
    assert "error[DPC101]: [red]a\\x1b[2J" in shown
    assert " 1 | [bold]x\\x1b" in shown
    assert "   | ^ [i]\\x07" in shown
    assert "   = help: [b]h\\u202e" in shown


def test_a_label_without_room_stands_below() -> None:
    found = fault(1, 60, 64, label="some words on what stands here")
    assert screen(found, lines=["x" * 70])[4:6] == [
        "   | " + " " * 59 + "^^^^",
        "   | " + " " * 45 + "some words on what stands here",
    ]


def test_only_the_gutter_has_the_colour_of_the_gutter() -> None:
    shown = screen(fault(1, 1, 2, hint="h"), lines=["x y"], style=Style(80, True))
    assert "\x1b[36m 1 | \x1b[0mx y" in shown
    assert any(line.endswith("help: \x1b[0mh") for line in shown)
