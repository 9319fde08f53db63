"""Results as Markdown: what comes from a spec is code, never markup, a link or a mention."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from rich.text import Text

from dpcompose.errors import Diagnostic, printable
from dpcompose.render.parts.console import BARS, Frame, Headline, Part, Section, TextTable
from dpcompose.render.parts.diagnostics import Findings

#: Characters and addresses that our own sentences never contain, so that they come from a spec.
_STRANGE = re.compile(r"[\\*_{}\[\]<>#|~@!&^$\"]|://|www[.]", re.IGNORECASE)

#: What is markup in the middle of a line, or makes a link: an underscore in a word is neither.
_MARKUP = re.compile(r"[\\*\[\]<>|~@&$]|://|www[.]", re.IGNORECASE)
#: Names that are code between backquotes, and nothing else.
_HARMLESS = re.compile(r"[\w .,*:/()-]*")


def code(text: str) -> str:
    """Returns a text as inline code for Markdown, safe in the cell of a table as well."""
    shown = "".join(
        each if not each.isascii() or each.isalnum() or each in " /.-" else f"&#{ord(each)};"
        for each in printable(text)
    )
    return f"<code>{re.sub('(?i)www[.]', 'www&#46;', shown)}</code>"


def plain(words: str) -> str:
    """Returns a sentence for Markdown: text in backquotes and any text from a spec becomes code.

    A name may contain backquotes, so that text that seems to be outside of them is not trusted.
    """
    pieces = printable(words).split("`")
    if len(pieces) % 2 == 0:  # an odd number of backquotes: none of them is trusted
        return _outside(printable(words))
    return "".join(
        (code(piece) if piece else "") if index % 2 else _outside(piece)
        for index, piece in enumerate(pieces)
    )


def readable(words: str) -> str:
    """Returns a sentence for Markdown that is also read as text: harmless names in backquotes stay
    as they are, and the rest is as `plain` has it."""
    pieces = printable(words).split("`")
    names, outside = pieces[1::2], pieces[::2]
    is_harmless = len(pieces) % 2 == 1 and all(map(_HARMLESS.fullmatch, names))
    return (
        printable(words) if is_harmless and not any(map(_MARKUP.search, outside)) else plain(words)
    )


def _outside(words: str) -> str:
    """Returns words outside backquotes as they are, or as code if they contain markup."""
    if not _STRANGE.search(words) and "`" not in words:
        return words
    inside = words.strip()
    before, _, after = words.partition(inside)
    return f"{before}{code(inside)}{after}"


# --- the parts of a result -----------------------------------------------------------------------

#: Signs of what is new, gone and changed, which are no markup in a cell of a table.
_SIGNS = frozenset("+-~")


def markdown_of(parts: Iterable[Part]) -> str:
    """Returns the parts of a result as Markdown, with an empty line between two."""
    return "\n".join(map(_markdown, parts))


def _markdown(part: Part) -> str:
    """Returns one part, with the end of its last line."""
    match part:
        case Headline(text):
            return f"### {_inline(text)}\n"
        case Frame(name, title, rows):
            (_, first), *more = rows
            above = f"{plain(name)}, {plain(' '.join(title.split()))}" if title else plain(name)
            below = _table([(word, _inline(each)) for word, each in more], 2)
            return f"### {above}: {_inline(first)}\n\n{below}"
        case Section(name, parts, _, says):
            return f"**{plain(name)}**{f': {plain(says)}' if says else ''}\n\n{markdown_of(parts)}"
        case TextTable():
            return _text_table(part)
        case Findings(listed, file):
            return "".join(f"- {_finding(each, file)}\n" for each in listed)
        case Text():
            return f"{_inline(part)}\n"
    raise TypeError(f"{part!r} is not written as Markdown")


def _text_table(part: TextTable) -> str:
    """Returns a table; a list if its rows have one cell each."""
    names = [number for number, words in enumerate(part.columns) if "name" in words.split()]
    rows = [
        [
            code(each) if n in names and isinstance(each, str) and each else _inline(each)
            for n, each in enumerate(row)
        ]
        for row in part.rows
    ]
    if max(map(len, rows), default=0) == 1 and not part.heads:
        return "".join(f"- {each}\n" for [each] in rows)
    return _table(rows, max(map(len, rows)), [_inline(each) for each in part.heads])


def _table(rows: Iterable[Sequence[str]], count: int, heads: Sequence[str] = ()) -> str:
    """Returns rows of Markdown as a table of `count` columns."""
    padded = ([*row, *[""] * (count - len(row))] for row in (heads, *rows))
    head, *lines = [f"| {' | '.join(row)} |\n" for row in padded]
    return "".join([head, "|", "---|" * count, "\n", *lines])


def _inline(text: str | Text | object) -> str:
    """Returns a text in which names are code; bars are left out, which say nothing in a font whose
    letters are not equally wide."""
    if isinstance(text, str):
        return text if text in _SIGNS else plain(text)
    assert isinstance(text, Text)
    ends = sorted({0, *(end for span in text.spans for end in (span.start, span.end))})
    said = ""
    for piece in text.divide(ends[1:]):
        if piece.spans and piece.spans[-1].style == "name":
            said += code(piece.plain.removesuffix(": ")) + ": "
        elif not BARS.issuperset(piece.plain):
            said += plain(piece.plain)
    return said.strip()


def _finding(finding: Diagnostic, file: str) -> str:
    """Returns a finding about a file as one item: level, place, message and code."""
    place = file if finding.span is None else f"{file}:{finding.span.line}"
    return f"**{finding.level}** {code(place)}: {plain(finding.message)} ({finding.code})"


#: The most bytes of one document: a job summary of GitHub, at most 1 MiB, may contain two.
_MOST_BYTES = 450_000


def within_summary(pieces: Iterable[str]) -> Iterator[str]:
    """Yields as many pieces as a job summary may hold, and a note of how many are left out.

    Rows of tables take at most half of the room.
    """
    size, rows, parts, waiting = 0, 0, 0, ""
    for piece in pieces:
        waiting += piece
        if not waiting.endswith("\n"):
            continue
        is_row = waiting.startswith("|")
        size_after = size + len(waiting.encode("utf-8", "replace"))
        if (is_row and (rows or size_after > _MOST_BYTES // 2)) or (not is_row and parts):
            rows, parts = rows + is_row, parts + (not is_row)
        elif size_after > _MOST_BYTES:
            parts += 1
        else:
            size = size_after
            yield waiting
        waiting = ""
    yield waiting
    if rows or parts:
        counts = ((rows, "row"), (parts, "part"))
        names = [f"{n} {what}{'' if n == 1 else 's'}" for n, what in counts if n]
        yield (
            f"\n**{' and '.join(names)} left out: a job summary of GitHub holds 1 MiB at most, "
            "and other formats hold everything.**\n"
        )
