"""Results as HTML: the parts that a terminal and Markdown show, for pages that escape all text."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup
from rich.style import Style as Look
from rich.text import Text

from dpcompose.errors import Diagnostic, printable
from dpcompose.render.layout import sentence
from dpcompose.render.parts.console import (
    BARS,
    Frame,
    Headline,
    Part,
    Section,
    Snippet,
    TextTable,
)
from dpcompose.render.parts.diagnostics import Findings
from dpcompose.render.text.proof_table import ProofTree

#: Signs beside words that say the same: they are not read aloud.
_SIGNS = frozenset("✗!✓▲▼=")
#: Deeper steps of a proof are not indented further.
_DEEPEST = 5


def with_code(text: str) -> Markup:
    """Returns a text as HTML, in which words between backquotes are code."""
    pieces = [printable(each) for each in text.split("`")]
    if len(pieces) % 2 == 0:
        return Markup("{}").format(printable(text))
    forms = (Markup("<code>{}</code>" if n % 2 else "{}") for n in range(len(pieces)))
    return Markup("").join(form.format(each) for form, each in zip(forms, pieces, strict=True))


@dataclass(frozen=True, slots=True)
class Where:
    """What parts have to know of the page that they stand on.

    `prefix`: the start of its anchors; `lines`: the lines of the spec that it quotes; `within`: the
    anchor of the heading above, which names sections together with their own; `linked`: returns a
    text as HTML, its names as code or as links.
    """

    prefix: str = ""
    lines: Collection[int] = ()
    within: str = ""
    linked: Callable[[str], Markup] = with_code


def html_of(parts: Iterable[Part], where: Where, level: int = 2) -> Markup:
    """Returns the parts of a result as HTML; sections have headings of that level."""
    pieces: list[Markup] = []
    sections = 0
    for part in parts:
        if isinstance(part, Section) and part.name:
            sections += 1
            pieces.append(_section(part, part.anchor or f"s{sections}", where, level))
        else:
            pieces.append(_part(part, where, level))
    return Markup("").join(pieces)


def _section(part: Section, anchor: str, where: Where, level: int) -> Markup:
    """Returns a section below its heading."""
    name = f"{where.prefix}{anchor}"
    says = Markup(' <span class="weak">{}</span>').format(inline(part.says, where))
    return Markup(
        '<section aria-labelledby="{0}{1}">\n<h{2} id="{0}">{3}{4}</h{2}>\n{5}</section>\n'
    ).format(
        name,
        f" {where.within}" if where.within else "",
        level,
        inline(part.name, where),
        says if part.says else "",
        html_of(part.parts, where, level + 1),
    )


def _part(part: Part, where: Where, level: int) -> Markup:
    """Returns one part; those that are HTML already, such as pictures, stay as they are."""
    match part:
        case Markup() as ready:
            return ready
        case Headline(text):
            return Markup('<p class="big">{}</p>\n').format(inline(text, where))
        case Frame(rows=rows):
            facts = Markup("").join(
                Markup("<dt>{}</dt>" if word else "{}").format(word)
                + Markup("<dd>{}</dd>\n").format(inline(text, where))
                for word, text in rows
            )
            return Markup('<dl class="facts">\n{}</dl>\n').format(facts)
        case Section(parts=parts):
            return html_of(parts, where, level)
        case TextTable():
            return _text_table(part, where)
        case ProofTree():
            return _proof(part, where)
        case Snippet(lines):
            shown = Markup("\n").join(map(printable, lines))
            return Markup('<pre tabindex="0"><code>{}</code></pre>\n').format(shown)
        case Findings(listed):
            found = Markup("").join(_finding(each, where) for each in listed)
            return Markup("<ul>\n{}</ul>\n").format(found)
        case Text() | str():
            return _paragraph(part, where)
    raise TypeError(f"{part!r} is not written as HTML")


def _paragraph(text: Text | str, where: Where) -> Markup:
    """Returns a text as a paragraph, in the look of its meaning if it has one; nothing for a
    gap."""
    if not str(text):
        return Markup()
    return Markup("<p>{}</p>\n").format(inline(text, where))


def _finding(found: Diagnostic, where: Where) -> Markup:
    """Returns a finding as one item: level, code, message, line and hint."""
    look = {"error": "bad", "warning": "warn"}.get(found.level, "weak")
    line = "" if found.span is None else f":{found.span.line}"
    hint = Markup("<br>{}").format(where.linked(found.hint)) if found.hint else ""
    return Markup('<li><strong class="{}">{} {}</strong> {} {}{}</li>\n').format(
        look,
        found.level,
        found.code,
        where.linked(sentence(found.message)),
        _line(line, where),
        hint,
    )


# --- tables --------------------------------------------------------------------------------------


def _text_table(part: TextTable, where: Where) -> Markup:
    """Returns a table; a list if its rows have one cell each."""
    count = max(map(len, [part.heads, *part.rows]), default=0)
    if count == 1 and not part.heads:
        items = Markup("").join(
            Markup("<li>{}</li>\n").format(inline(each, where)) for [each] in part.rows
        )
        return Markup("<ul>\n{}</ul>\n").format(items)
    columns = [each.split() for each in part.columns] + [[]] * (count - len(part.columns))
    looks = [_look(words) for words in columns]
    heads = [
        inline(each, where) if isinstance(each, Text) else Markup("{}").format(printable(each))
        for each in part.heads or part.labels
    ]
    rows = []
    for row in part.rows:
        cells = [
            _cell(each, words, look, where)
            for each, words, look in zip(row, columns, looks, strict=False)
        ]
        rows.append(Markup("").join([*cells, *[Markup("<td></td>")] * (count - len(row))]))
    return _table(list(zip(heads, looks, strict=False)), rows)


def _table(heads: Sequence[tuple[str, str]], rows: Iterable[Markup]) -> Markup:
    """Returns rows of cells below their heads; each head is with the look of its column."""
    head = Markup("").join(
        Markup('<th scope="col"{}>{}</th>').format(look, name) if name else Markup("<td></td>")
        for name, look in heads
    )
    above = Markup("<thead><tr>{}</tr></thead>\n").format(head) if head else ""
    below = Markup("").join(Markup("<tr>{}</tr>\n").format(row) for row in rows)
    return Markup('<div class="wide"><table>\n{}<tbody>\n{}</tbody></table></div>\n').format(
        above, below
    )


def _look(words: Collection[str]) -> Markup:
    """Returns the class of the cells of a column, by the words on it, as an attribute."""
    names = {"right": "n", "fixed": "l", "line": "l", "weak": "weak", "good": "good"}
    found = [names[each] for each in words if each in names]
    return Markup(' class="{}"').format(" ".join(found)) if found else Markup()


def _cell(content: object, words: Collection[str], look: Markup, where: Where) -> Markup:
    """Returns a cell of a table; those with names are heads of their rows."""
    if "line" in words:
        return Markup("<td{}>{}</td>").format(look, _line(str(content), where))
    if not {"name", "mechanism"} & {*words}:
        return Markup("<td{}>{}</td>").format(look, inline(content, where))
    if isinstance(content, str) and content:
        return Markup('<th scope="row"><code>{}</code></th>').format(printable(content))
    return Markup('<th scope="row">{}</th>').format(inline(content, where))


def _line(place: str, where: Where) -> Markup:
    """Returns the place of a finding or step in the spec (`:12`, `:25-29`) as HTML (`line 12`),
    with a link to the first line if the page quotes it."""
    lines = place.removeprefix(":")
    first = re.match("[0-9]+", lines)
    if first is None:
        return Markup("{}").format(lines)
    words = f"line {lines}" if first[0] == lines else f"lines {lines}"
    if int(first[0]) not in where.lines:
        return Markup("{}").format(words)
    return Markup('<a href="#{}L{}">{}</a>').format(where.prefix, first[0], words)


def _proof(part: ProofTree, where: Where) -> Markup:
    """Returns the proof as a table, in which steps are indented below those that they follow."""
    number, fixed = Markup(' class="n"'), Markup(' class="l"')
    heads = [
        ("step", number),
        ("what happens", ""),
        ("cost", number),
        ("theorem", ""),
        ("where", fixed),
    ]
    rows = []
    for shown in part.lines:
        node = shown.node
        name = Markup("<code>{}</code> ").format(printable(node.name))
        says = node.says if node.name else sentence(node.says)
        rows.append(
            Markup(
                '<td class="n weak">{}</td><td class="name"><div class="d{}">{}{}</div></td>'
                '<td class="n">{}</td><td class="l">{}</td><td class="l">{}</td>'
            ).format(
                node.number,
                min(node.depth, _DEEPEST),
                name if node.name and not shown.more else "",
                where.linked(shown.more or says),
                inline(part.cost(shown), where),
                inline(part.cited(node), where),
                _line(f":{node.spans[0].line}" if node.spans else "", where),
            )
        )
    return _table(heads, rows)


# --- texts ---------------------------------------------------------------------------------------


def inline(text: object, where: Where) -> Markup:
    """Returns a text of the terminal, with its styles, as HTML inside of a line: styles become
    elements and classes, runs of bar characters small pictures."""
    if not isinstance(text, Text):
        return _lines(str(text), where)
    ends = sorted({0, *(end for span in text.spans for end in (span.start, span.end))})
    return Markup("").join(_piece(piece, where) for piece in text.divide(ends[1:]))


def _piece(piece: Text, where: Where) -> Markup:
    """Returns a piece of a text in one look."""
    plain = piece.plain
    if plain and BARS.issuperset(plain):
        kind = "fill" if plain[0] == "━" else "none"
        return Markup(
            '<svg class="bar" width="{0}" height="10" aria-hidden="true">'
            '<rect class="{1}" width="{0}" height="10"/></svg>'
        ).format(8 * len(plain), kind)
    said = _lines(plain, where)
    if plain.strip() in _SIGNS:
        said = Markup('<span class="sign" aria-hidden="true">{}</span>').format(said)
    for span in piece.spans:
        look = span.style
        if isinstance(look, Look):
            said = Markup('<a href="{}">{}</a>').format(look.link, said) if look.link else said
        elif look in ("strong", "number"):
            said = Markup("<strong>{}</strong>").format(said)
        elif look in ("name", "mechanism", "dataset"):
            said = Markup("<code>{}</code>").format(said)
        elif look in ("weak", "good", "bad", "warn"):
            said = Markup('<span class="{}">{}</span>').format(look, said)
    return said


def _lines(text: str, where: Where) -> Markup:
    """Returns a text with its names as code or as links, and its line ends as breaks."""
    return Markup("<br>").join(map(where.linked, text.split("\n")))
