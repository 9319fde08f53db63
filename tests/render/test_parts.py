"""The parts of a result, as a terminal, Markdown and a page show them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpcompose.errors import Diagnostic, Span
from dpcompose.render.html.markup import Where, html_of
from dpcompose.render.layout import Style
from dpcompose.render.parts.console import (
    Frame,
    Headline,
    Part,
    Section,
    Snippet,
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
COLUMNS = ("name", "line")
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


@pytest.mark.parametrize(
    ("part", "page"),
    [
        (literal("ε < 2 at `x<`", STYLE), "<p>ε &lt; 2 at <code>x&lt;</code></p>\n"),
        (literal("", STYLE), ""),
        (
            Headline(literal("✓ ", STYLE, "good").append_text(literal("ε = 1", STYLE, "strong"))),
            '<p class="big"><span class="good"><span class="sign" aria-hidden="true">✓ </span>'
            "</span><strong>ε = 1</strong></p>\n",
        ),
        (TextTable([("one",), (LOUD,)], STYLE), f"<ul>\n<li>one</li>\n<li>{LOUD}</li>\n</ul>\n"),
        (
            TextTable(
                [("a", ":2"), ("b", ":2-3"), ("c", ":7")], STYLE, ("name", "line"), ("n", "l")
            ),
            '<div class="wide"><table>\n<thead><tr><th scope="col">n</th>'
            '<th scope="col" class="l">l</th></tr></thead>\n<tbody>\n'
            '<tr><th scope="row"><code>a</code></th>'
            '<td class="l"><a href="#p-L2">line 2</a></td></tr>\n'
            '<tr><th scope="row"><code>b</code></th>'
            '<td class="l"><a href="#p-L2">lines 2-3</a></td></tr>\n'
            '<tr><th scope="row"><code>c</code></th><td class="l">line 7</td></tr>\n'
            "</tbody></table></div>\n",
        ),
        (Snippet(["a: <1>"], STYLE), '<pre tabindex="0"><code>a: &lt;1&gt;</code></pre>\n'),
        (
            Section("Why", [literal("so", STYLE)], STYLE, "in words", anchor="why"),
            '<section aria-labelledby="p-why">\n<h2 id="p-why">Why <span class="weak">in words'
            "</span></h2>\n<p>so</p>\n</section>\n",
        ),
        (
            Section("", [Section("In it", [], STYLE, inner=True)], STYLE, inner=True),
            '<section aria-labelledby="p-s1">\n<h2 id="p-s1">In it</h2>\n</section>\n',
        ),
        (
            Frame("f", "t", [("bound", SHARE)], False, STYLE),
            '<dl class="facts">\n<dt>bound</dt><dd><svg class="bar" width="16" height="10" '
            'aria-hidden="true"><rect class="fill" width="16" height="10"/></svg>'
            '<svg class="bar" width="16" height="10" aria-hidden="true">'
            '<rect class="none" width="16" height="10"/></svg> 50 %</dd>\n</dl>\n',
        ),
    ],
)
def test_each_part_on_a_page(part: Part, page: str) -> None:
    assert html_of([part], Where("p-", {2, 3})) == page


def test_an_inner_section_has_no_line_and_is_indented() -> None:
    part = Section("Why", [Section("So", [Snippet(["a"], STYLE)], STYLE, inner=True)], STYLE)
    assert printed(part, STYLE).splitlines()[1:] == ["", "So", "  a"]


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
    with pytest.raises(TypeError, match="not written as HTML"):
        html_of([object()], Where())  # type: ignore[list-item]


def test_lists_of_parts_have_an_empty_line_between_them_and_none_shows_progress() -> None:
    pages: list[list[Part]] = [[], [literal("a", STYLE)], [], [literal("b", STYLE)]]
    assert [*texts_of(iter(pages), markdown_of)] == ["", "a\n", "", "\nb\n"]
