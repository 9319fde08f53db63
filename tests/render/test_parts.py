"""The parts of a result, as a terminal and as Markdown show them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpcompose.errors import Diagnostic, Span
from dpcompose.render.layout import Style
from dpcompose.render.parts.console import (
    Frame,
    Headline,
    Part,
    Section,
    TextTable,
    bar,
    literal,
    printed,
    texts_of,
)
from dpcompose.render.parts.diagnostics import Findings
from dpcompose.render.parts.inline import markdown_of

STYLE = Style(width=60)
LOUD = "@all |x|"
QUIET = "<code>&#64;all &#124;x&#124;</code>"
SHARE = bar(Fraction(1, 2), 4, STYLE, "good").append_text(literal(" 50 %", STYLE))
FOUND = Diagnostic("DPC101", f"unknown key `{LOUD}`", Span(3, 1, 3, 2))


@pytest.mark.parametrize(
    ("part", "terminal", "markdown"),
    [
        (literal("ε at `x`", STYLE), "ε at `x`\n", "ε at <code>x</code>\n"),
        (
            Headline(literal("▲ ", STYLE).append_text(literal("a_b: ", STYLE, "name"))),
            "▲ a_b:\n",
            "### ▲ <code>a&#95;b</code>:\n",
        ),
        (TextTable([("one",), (LOUD,)], STYLE), f"one\n{LOUD}\n", f"- one\n- {QUIET}\n"),
        (
            TextTable([("~", "m", SHARE), ("+", LOUD)], STYLE, ("part", "name part")),
            f"~  m         ━━── 50 %\n+  {LOUD}\n",
            f"|  |  |  |\n|---|---|---|\n| ~ | <code>m</code> | 50 % |\n| + | {QUIET} |  |\n",
        ),
        (
            TextTable([("a", "1")], STYLE, (), ("name", "ε")),
            "name  ε\na     1\n",
            "| name | ε |\n|---|---|\n| a | 1 |\n",
        ),
        (
            Section("Why", [literal("so", STYLE), literal("and so", STYLE)], STYLE, "in words"),
            f"Why  in words  {'─' * 45}\nso\nand so\n",
            "**Why**: in words\n\nso\n\nand so\n",
        ),
        (
            Findings([FOUND], "f.yaml", ["a", "b", "c"], STYLE),
            None,
            f"- **error** <code>f.yaml&#58;3</code>: unknown key {QUIET} (DPC101)\n",
        ),
    ],
)
def test_each_part_in_a_terminal_and_in_markdown(
    part: Part, terminal: str | None, markdown: str
) -> None:
    if terminal is not None:
        assert printed(part, STYLE) == terminal
    assert markdown_of([part]) == markdown


def test_a_frame_starts_with_its_first_row() -> None:
    rows = [("bound", literal("ε = 1", STYLE, "strong")), ("protects", literal(LOUD, STYLE))]
    part = Frame("all specs", "A title", rows, False, STYLE)
    shown = printed(part, STYLE).splitlines()
    assert shown[0].startswith("╭─ all specs ─") and "│ bound     ε = 1" in shown[1]
    assert shown[-1].startswith("╰─ A title ─")
    assert markdown_of([part]) == (
        f"### all specs, A title: ε = 1\n\n|  |  |\n|---|---|\n| protects | {QUIET} |\n"
    )


def test_what_markdown_has_no_form_for_is_refused() -> None:
    with pytest.raises(TypeError, match="not written as Markdown"):
        markdown_of([object()])  # type: ignore[list-item]


def test_lists_of_parts_have_an_empty_line_between_them_and_none_shows_progress() -> None:
    pages: list[list[Part]] = [[], [literal("a", STYLE)], [], [literal("b", STYLE)]]
    assert [*texts_of(iter(pages), markdown_of)] == ["", "a\n", "", "\nb\n"]
