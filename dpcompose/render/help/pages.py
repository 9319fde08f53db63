"""Pages of `dpcompose explain` and `dpcompose theorems`, as parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from dpcompose.core.theorem import Hypothesis, Subject, Theorem
from dpcompose.handbook import sources
from dpcompose.render.layout import Style
from dpcompose.render.parts.console import Part, Section, Snippet, TextTable, literal, printed
from dpcompose.render.words.theorem_text import GROUPS, book, flowing, group_of

_USED: Mapping[Subject, str] = {
    "release": "for a whole release",
    "touch": "for one step of a derivation",
    "question": "against an adversary",
}


def page(
    name: str, head: Sequence[Part], sections: Iterable[tuple[str, Sequence[Part]]], style: Style
) -> Section:
    """Returns a page: its name, its head, then its sections by their headings, without the empty
    ones."""
    below = [Section(heading, found, style, inner=True) for heading, found in sections if found]
    return Section(name, [*head, *below], style)


def aligned_rows(
    rows: Iterable[Sequence[str]],
    style: Style,
    heads: Sequence[str] = (),
    columns: Sequence[str] = ("fixed name",),
) -> list[Part]:
    """Returns a table of texts below its `heads`; [] without rows.

    The further lines of a text are less important than its first one.
    """
    cells = [[_cell(each, style) for each in row] for row in rows]
    return [TextTable(cells, style, columns, heads)] if cells else []


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


def titles(identifiers: Iterable[str]) -> list[tuple[str, str]]:
    """Returns theorem ids with their titles, each once."""
    found = dict.fromkeys(identifiers)
    if found.keys() <= book().keys():
        return [(each, book()[each].title) for each in found]
    from dpcompose.handbook import whole_book

    known = whole_book()
    return [(each, known[each].title if each in known else "") for each in found]


# --- theorems ------------------------------------------------------------------------------------


def theorem_table(entries: Sequence[Theorem], style: Style) -> list[Part]:
    """Returns the theorems in one table for each notion."""
    groups: dict[str, list[tuple[str, str]]] = {name: [] for name in GROUPS}
    for entry in entries:
        groups[group_of(entry)].append((entry.id, f"{entry.title}\n{entry.formula}"))
    parts: list[Part] = []
    for name, rows in groups.items():
        if rows:
            below = aligned_rows(rows, style)
            if style.wide:
                wide = [(each, *_cell(says, style).split()) for each, says in rows]
                below = [TextTable(wide, style, ["fixed"])]
            shown = Padding(below[0], (0, 0, 0, 2))
            parts += [*([""] if parts else []), Section(name, [shown], style)]
    return parts


def source_page(entries: Sequence[Theorem], style: Style) -> list[Part]:
    """Returns the page of a source: its citation, then its theorems."""
    name = entries[0].source
    head = literal(sources().get(name, name), style, "strong")
    return [Section(name, [head], style), *theorem_table(entries, style)]


def theorem_page(entry: Theorem, style: Style) -> Section:
    """Returns the page of one theorem: statement, bound, hypotheses, uses, example."""
    source = sources().get(entry.source)
    cited_in = f"{entry.place} of {entry.source}" + (f": {source}" if source else "")
    head = [literal(entry.title, style, "strong"), literal(cited_in, style, "weak")]
    return page(entry.id, head, _of_theorem(entry, style), style)


def _of_theorem(entry: Theorem, style: Style) -> Iterator[tuple[str, list[Part]]]:
    """Yields the sections of the page of one theorem, each with its heading."""
    texts = flowing(entry.statement).split("\n\n")
    statement: list[Part] = [part for each in texts for part in (Text(), literal(each, style))]
    yield "Statement", statement[1:]
    yield "Bound", [literal(entry.formula, style, "strong")]
    yield "Hypotheses", _conditions(entry, entry.hypotheses, style)
    for use in entry.uses:
        if use.on is not None:
            further = [each for each in use.hypotheses if each not in entry.hypotheses]
            heading = f"Used {_USED[use.on]} as {use.role.value}, where also"
            yield heading, _conditions(entry, further, style)
    if entry.for_readers is not None:
        yield "Not computed", [literal(f"{entry.for_readers}.", style)]
    yield "Example", [literal(entry.example.says, style)] if entry.example else []
    yield "Departs from the print", [literal(entry.departs, style)] if entry.departs else []
    yield "A case of", aligned_rows(titles(entry.specialises), style)
    example = (entry.spec or "").rpartition("/")[2].removesuffix(".yaml")
    at_work = [f"dpcompose examples {example} | dpcompose analyze -"] if example else []
    yield "See it at work", [Snippet(at_work, style)] if at_work else []


def _conditions(entry: Theorem, hypotheses: Iterable[Hypothesis], style: Style) -> list[Part]:
    """Returns hypotheses in rows: how each is checked, its name, and what it says."""
    rows = ((entry.how(each), each.name, each.says) for each in hypotheses)
    return aligned_rows(rows, style)


# --- codes ---------------------------------------------------------------------------------------


def code_page(code: str, meaning: str, style: Style) -> Section:
    """Returns the page of a code: meaning, reason, example, level, and how to silence it."""
    from dpcompose.handbook import code_entries
    from dpcompose.render.help.code_text import level, silenced, snippets

    entry = code_entries()[code]
    head = [literal(meaning, style, "strong")]
    facts = [("Level", level(code)), ("Silenced", silenced(code))]
    sections: list[tuple[str, list[Part]]] = [
        ("", [literal(entry.why, style)]),
        *((name, list[Part]([Snippet(lines, style)])) for name, lines in snippets(entry)),
        ("What it does", aligned_rows(facts, style)),
        ("Theorems", aligned_rows(titles(entry.theorems), style)),
    ]
    return page(code, head, sections, style)
