"""Pages of `dpcompose explain` and `dpcompose theorems`, and the parts that they are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from dpcompose.core.theorem import Hypothesis, Subject, Theorem
from dpcompose.handbook import sources
from dpcompose.render.layout import Style
from dpcompose.render.parts.console import Section, TextTable, literal, printed
from dpcompose.render.words.theorem_text import GROUPS, book, flowing, group_of

_USED: Mapping[Subject, str] = {
    "release": "for a whole release",
    "touch": "for one step of a derivation",
    "question": "against an adversary",
}


class Paragraph(NamedTuple):
    """A paragraph in the look of a meaning (`how`); a gap where its text is empty."""

    text: str
    how: str = ""
    indent: int = 2


class Snippet(NamedTuple):
    """Lines of a file or of a command, shown as they are."""

    lines: Sequence[str]


class Rows(NamedTuple):
    """Texts in aligned columns below their `heads`, the first `fixed` of which never wrap.

    The further lines of a text are less important than its first one.
    """

    rows: Sequence[Sequence[str]]
    heads: Sequence[str] = ()
    fixed: int = 1


PagePart = Paragraph | Snippet | Rows
#: A chapter of a page: its heading and its content.
Chapter = tuple[str, Sequence[PagePart]]
#: A function that returns a page from its name, its style, its head and its sections.
Page = Callable[[str, Style, Sequence[PagePart], Iterable[Chapter]], str]


def printed_page(
    name: str, style: Style, head: Sequence[PagePart], sections: Iterable[Chapter]
) -> str:
    """Returns a page as text: its name, its head, then its sections, without the empty ones."""
    above = Section(name, [rendered(each, style) for each in head], style)
    parts: list[RenderableType] = [above]
    for heading, content in sections:
        if content:
            parts += ["", literal(heading, style, "heading")]
            parts += [rendered(each, style) for each in content]
    return printed(parts, style)


def rendered(part: PagePart, style: Style) -> RenderableType:
    """Returns a part of a page as a terminal shows it."""
    match part:
        case Paragraph(text, how, indent):
            return Padding(literal(text, style, how), (0, 0, 0, indent))
        case Snippet(lines):
            shown: RenderableType = Group(*(literal(each, style, "dataset") for each in lines))
        case Rows(rows, heads, fixed):
            cells = [[_cell(each, style) for each in row] for row in rows]
            above = [[literal(each, style, "weak") for each in heads]] if heads else []
            shown = TextTable([*above, *cells], style, ["fixed"] * fixed)
    return Padding(shown, (0, 0, 0, 2))


def _cell(text: str, style: Style) -> Text:
    """Returns a cell, with all lines but the first one in weak colours."""
    first, *more = text.split("\n")
    return Text("\n").join([literal(first, style), *(literal(e, style, "weak") for e in more)])


def panel(name: str, rows: Sequence[tuple[str, str]], style: Style, says: str = "") -> str:
    """Returns a panel of a help page as text: what is typed beside what it means."""
    pairs = [(literal(typed, style, "strong"), literal(means, style)) for typed, means in rows]
    if max(len(typed) for typed, _ in rows) <= _TYPED:
        content: list[RenderableType] = [TextTable(pairs, style, ["fixed"])]
    else:
        content = [Text("\n  ").join(pair) for pair in pairs]
    if says:
        content.append(literal(says, style, "weak"))
    return printed(
        Panel(Group(*content), title=name, title_align="left", border_style="weak"), style
    )


#: With longer words on the left, their meaning is put below them.
_TYPED = 16


def aligned_rows(rows: Iterable[Sequence[str]], heads: Sequence[str] = ()) -> list[PagePart]:
    """Returns texts in aligned columns; [] without rows."""
    cells = [*rows]
    return [Rows(cells, heads)] if cells else []


def titles(identifiers: Iterable[str]) -> list[tuple[str, str]]:
    """Returns theorem ids with their titles, each once."""
    found = dict.fromkeys(identifiers)
    if found.keys() <= book().keys():
        return [(each, book()[each].title) for each in found]
    from dpcompose.handbook import whole_book

    known = whole_book()
    return [(each, known[each].title if each in known else "") for each in found]


# --- theorems ------------------------------------------------------------------------------------


def theorem_table(entries: Sequence[Theorem], style: Style) -> str:
    """Returns the theorems as text, one table for each notion."""
    groups: dict[str, list[tuple[str, str]]] = {name: [] for name in GROUPS}
    for entry in entries:
        groups[group_of(entry)].append((entry.id, f"{entry.title}\n{entry.formula}"))
    parts: list[RenderableType] = []
    for name, rows in groups.items():
        if rows:
            wide = [(each, *_cell(says, style).split()) for each, says in rows]
            shown = Padding(TextTable(wide, style, ["fixed"]), (0, 0, 0, 2))
            below = shown if style.wide else rendered(Rows(rows), style)
            parts += [*([""] if parts else []), Section(name, [below], style)]
    return printed(parts, style)


def source_page(entries: Sequence[Theorem], style: Style) -> str:
    """Returns the page of a source: its citation, then its theorems."""
    name = entries[0].source
    head = literal(sources().get(name, name), style, "strong")
    return printed(Section(name, [head, ""], style), style) + theorem_table(entries, style)


def theorem_page(entry: Theorem, style: Style, page: Page = printed_page) -> str:
    """Returns the page of one theorem: statement, bound, hypotheses, uses, example."""
    source = sources().get(entry.source)
    cited_in = f"{entry.place} of {entry.source}" + (f": {source}" if source else "")
    head = [Paragraph(entry.title, "strong", 0), Paragraph(cited_in, "weak", 0)]
    return page(entry.id, style, head, [*_of_theorem(entry)])


def _of_theorem(entry: Theorem) -> Iterator[Chapter]:
    """Yields the sections of the page of one theorem."""
    texts = flowing(entry.statement).split("\n\n")
    yield "Statement", [part for each in texts for part in (Paragraph(""), Paragraph(each))][1:]
    yield "Bound", [Paragraph(entry.formula, "strong")]
    yield "Hypotheses", _conditions(entry, entry.hypotheses)
    for use in entry.uses:
        if use.on is not None:
            further = [each for each in use.hypotheses if each not in entry.hypotheses]
            heading = f"Used {_USED[use.on]} as {use.role.value}, where also"
            yield heading, _conditions(entry, further)
    if entry.for_readers is not None:
        yield "Not computed", [Paragraph(f"{entry.for_readers}.")]
    yield "Example", [Paragraph(entry.example.says)] if entry.example else []
    yield "Departs from the print", [Paragraph(entry.departs)] if entry.departs else []
    yield "A case of", aligned_rows(titles(entry.specialises))
    example = (entry.spec or "").rpartition("/")[2].removesuffix(".yaml")
    at_work = [f"dpcompose examples {example} | dpcompose analyze -"] if example else []
    yield "See it at work", [Snippet(at_work)] if at_work else []


def _conditions(entry: Theorem, hypotheses: Iterable[Hypothesis]) -> list[PagePart]:
    """Returns hypotheses in rows: how each is checked, its name, and what it says."""
    return aligned_rows((entry.how(each), each.name, each.says) for each in hypotheses)


# --- codes ---------------------------------------------------------------------------------------


def code_page(code: str, meaning: str, style: Style, page: Page = printed_page) -> str:
    """Returns the page of a code: meaning, reason, example, level, and how to silence it."""
    from dpcompose.handbook import code_entries
    from dpcompose.render.help.code_text import level, silenced, snippets

    entry = code_entries()[code]
    head = [Paragraph(meaning, "strong", 0), Paragraph(""), Paragraph(entry.why)]
    facts = [("Level", level(code)), ("Silenced", silenced(code))]
    sections: list[Chapter] = [
        *((name, [Snippet(lines)]) for name, lines in snippets(entry)),
        ("What it does", aligned_rows(facts)),
        ("Theorems", aligned_rows(titles(entry.theorems))),
    ]
    return page(code, style, head, sections)
