"""Text within Markdown: what comes from a spec is code, never markup, a link or a mention."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dpcompose.errors import printable

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


#: The most bytes of one document: a job summary of GitHub, at most 1 MiB, may contain two.
_MOST_BYTES = 450_000


def within_summary(pieces: Iterable[str], most: int | None = None) -> Iterator[str]:
    """Yields as many pieces as a job summary may hold, and a note of how many are left out.

    Rows of tables take at most half of the room.
    """
    most = _MOST_BYTES if most is None else most
    size, rows, parts, waiting = 0, 0, 0, ""
    for piece in pieces:
        waiting += piece
        if not waiting.endswith("\n"):
            continue
        is_row = waiting.startswith("|")
        size_after = size + len(waiting.encode("utf-8", "replace"))
        if (is_row and (rows or size_after > most // 2)) or (not is_row and parts):
            rows, parts = rows + is_row, parts + (not is_row)
        elif size_after > most:
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
