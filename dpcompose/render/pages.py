"""Pages of `dpcompose explain` and `dpcompose theorems`, and the parts that they are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from dpcompose.core.theorem import Hypothesis, Subject, Theorem
from dpcompose.handbook import sources
from dpcompose.render.console import grid, literal, printed, ruled
from dpcompose.render.layout import Style
from dpcompose.render.theorem_text import GROUPS, book, flowing, group_of

_USED: Mapping[Subject, str] = {
    "release": "for a whole release",
    "touch": "for one step of a derivation",
    "question": "against an adversary",
}

#: A section of a page: its heading and its content.
Section = tuple[str, Sequence[RenderableType]]
#: A function that returns a page from its name, its style, its head and its sections.
Page = Callable[[str, Style, Sequence[RenderableType], Iterable[Section]], str]


def printed_page(
    name: str,
    style: Style,
    head: Sequence[RenderableType],
    sections: Iterable[Section],
) -> str:
    """Returns a page as text: its name, its head, then its sections, without the empty ones."""
    parts: list[RenderableType] = [ruled(name, style), *head]
    for heading, content in sections:
        if content:
            parts += ["", literal(heading, style, "heading"), *content]
    return printed(parts, style)


def panel(name: str, rows: Sequence[tuple[str, str]], style: Style, says: str = "") -> str:
    """Returns a panel of a help page as text: what is typed beside what it means."""
    pairs = [(literal(typed, style, "strong"), literal(means, style)) for typed, means in rows]
    if max(len(typed) for typed, _ in rows) <= _TYPED:
        content: list[RenderableType] = [grid(pairs, style, ["fixed"])]
    else:
        content = [Text("\n  ").join(pair) for pair in pairs]
    if says:
        content.append(literal(says, style, "weak"))
    return printed(
        Panel(Group(*content), title=name, title_align="left", border_style="weak"), style
    )


#: With longer words on the left, their meaning is put below them.
_TYPED = 16


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph below a heading, in the look of a meaning (`how`)."""

    text: str
    style: Style
    how: str = ""

    def __rich__(self) -> RenderableType:
        """Returns the paragraph as a terminal shows it."""
        return Padding(literal(self.text, self.style, self.how), (0, 0, 0, 2))


@dataclass(frozen=True, slots=True)
class Snippet:
    """Lines of a file or of a command, shown as they are."""

    lines: Sequence[str]
    style: Style

    def __rich__(self) -> RenderableType:
        """Returns the lines as a terminal shows them."""
        shown = (literal(each, self.style, "dataset") for each in self.lines)
        return Group(*(Padding(each, (0, 0, 0, 2)) for each in shown))


@dataclass(frozen=True, slots=True)
class Rows:
    """Texts in aligned columns below their `heads`, the first `fixed` of which never wrap."""

    rows: Sequence[Sequence[str | Text]]
    style: Style
    heads: Sequence[str] = ()
    fixed: int = 1

    def __rich__(self) -> RenderableType:
        """Returns the columns as a terminal shows them."""
        heads = [literal(each, self.style, "weak") for each in self.heads]
        cells = [*([heads] if heads else []), *self.rows]
        return Padding(grid(cells, self.style, ["fixed"] * self.fixed), (0, 0, 0, 2))


def aligned_rows(
    rows: Iterable[Sequence[str | Text]], style: Style, heads: Sequence[str] = (), fixed: int = 1
) -> list[RenderableType]:
    """Returns texts in aligned columns; [] without rows."""
    cells = [*rows]
    return [Rows(cells, style, heads, fixed)] if cells else []


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
    groups: dict[str, list[tuple[str | Text, ...]]] = {name: [] for name in GROUPS}
    for entry in entries:
        title, formula = literal(entry.title, style), literal(entry.formula, style, "weak")
        says = (title, formula) if style.wide else (Text("\n").join((title, formula)),)
        groups[group_of(entry)].append((entry.id, *says))
    parts: list[RenderableType] = []
    for name, rows in groups.items():
        if rows:
            parts += [*([""] if parts else []), ruled(name, style), *aligned_rows(rows, style)]
    return printed(parts, style)


def source_page(entries: Sequence[Theorem], style: Style) -> str:
    """Returns the page of a source: its citation, then its theorems."""
    name = entries[0].source
    head = literal(sources().get(name, name), style, "strong")
    return printed([ruled(name, style), head, ""], style) + theorem_table(entries, style)


def theorem_page(entry: Theorem, style: Style, page: Page = printed_page) -> str:
    """Returns the page of one theorem: statement, bound, hypotheses, uses, example."""
    source = sources().get(entry.source)
    cited_in = f"{entry.place} of {entry.source}" + (f": {source}" if source else "")
    head = [literal(entry.title, style, "strong"), literal(cited_in, style, "weak")]
    return page(entry.id, style, head, _of_theorem(entry, style))


def _of_theorem(entry: Theorem, style: Style) -> Iterator[Section]:
    """Yields the sections of the page of one theorem."""
    texts = flowing(entry.statement).split("\n\n")
    apart = (("", Paragraph(each, style)) for each in texts)
    yield "Statement", [part for parts in apart for part in parts][1:]
    yield "Bound", [Paragraph(entry.formula, style, "strong")]
    yield "Hypotheses", _conditions(entry, entry.hypotheses, style)
    for use in entry.uses:
        if use.on is not None:
            further = [each for each in use.hypotheses if each not in entry.hypotheses]
            heading = f"Used {_USED[use.on]} as {use.role.value}, where also"
            yield heading, _conditions(entry, further, style)
    if entry.for_readers is not None:
        yield "Not computed", [Paragraph(f"{entry.for_readers}.", style)]
    yield "Example", [Paragraph(entry.example.says, style)] if entry.example else []
    yield "Departs from the print", [Paragraph(entry.departs, style)] if entry.departs else []
    yield "A case of", aligned_rows(titles(entry.specialises), style)
    example = (entry.spec or "").rpartition("/")[2].removesuffix(".yaml")
    at_work = [f"dpcompose examples {example} | dpcompose analyze -"] if example else []
    yield "See it at work", [Snippet(at_work, style)] if at_work else []


def _conditions(
    entry: Theorem, hypotheses: Sequence[Hypothesis], style: Style
) -> list[RenderableType]:
    """Returns hypotheses in rows: how each is checked, its name, and what it says."""
    rows = [(entry.how(each), each.name, each.says) for each in hypotheses]
    return aligned_rows(rows, style)


# --- codes ---------------------------------------------------------------------------------------


def code_page(code: str, meaning: str, style: Style, page: Page = printed_page) -> str:
    """Returns the page of a code: meaning, reason, example, level, and how to silence it."""
    from dpcompose.handbook import code_entries
    from dpcompose.render.codes import level, silenced, snippets

    entry = code_entries()[code]
    head: list[RenderableType] = [
        literal(meaning, style, "strong"),
        "",
        Paragraph(entry.why, style),
    ]
    facts = [("Level", level(code)), ("Silenced", silenced(code))]
    sections: list[Section] = [
        *((name, [Snippet(lines, style)]) for name, lines in snippets(entry)),
        ("What it does", aligned_rows(facts, style)),
        ("Theorems", aligned_rows(titles(entry.theorems), style)),
    ]
    return page(code, style, head, sections)
