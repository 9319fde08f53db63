"""Words within Markdown: what comes from a spec is code, and never markup, a link or a mention."""

from __future__ import annotations

import re

from dpcompose.errors import printable

#: What our own words never hold, so that it comes from a spec: markup, mentions, addresses.
_STRANGE = re.compile(r"[\\*_{}\[\]<>#|~@!&^$\"]|://|www[.]", re.IGNORECASE)


def code(text: str) -> str:
    """`text` as code, wherever inline markup may stand: in a cell of a table as well."""
    shown = "".join(
        each if not each.isascii() or each.isalnum() or each in " /.-" else f"&#{ord(each)};"
        for each in printable(text)
    )
    return f"<code>{re.sub('(?i)www[.]', 'www&#46;', shown)}</code>"


def plain(words: str) -> str:
    """A sentence: what stands between backquotes is code, and so is what we would never say.

    A name may hold backquotes itself, so that what seems to stand outside of them does not.
    """
    pieces = printable(words).split("`")
    if len(pieces) % 2 == 0:  # an odd number of backquotes: none of them is trusted
        return _outside(printable(words))
    return "".join(
        (code(piece) if piece else "") if index % 2 else _outside(piece)
        for index, piece in enumerate(pieces)
    )


def _outside(words: str) -> str:
    if not _STRANGE.search(words) and "`" not in words:
        return words
    inside = words.strip()
    before, _, after = words.partition(inside)
    return f"{before}{code(inside)}{after}"
