"""Lines, columns, colours and character sets of the reports for people."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dpcompose.errors import printable
from dpcompose.errors import width as cells

_CODES = {"strong": "1", "good": "1;32", "bad": "1;31", "weak": "2"}

_LEAST_ROOM = 24  # columns that the last column of a table needs

#: What stands in for a symbol that the output cannot carry; anything else becomes an escape.
_STAND_INS = {
    "ε": "eps",
    "δ": "delta",
    "ρ": "rho",
    "μ": "mu",
    "α": "alpha",
    "κ": "kappa",
    "θ": "theta",
    "η": "eta",
    "π": "pi",
    "σ": "sigma",
    "Δ": "Delta",
    "Φ": "Phi",
    "𝒢": "G",
    "ℳ": "M",
    "Σ": "sum",
    "∑": "sum",
    "Π": "prod",
    "∏": "prod",
    "√": "sqrt",
    "∞": "inf",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "≈": "~",
    "→": "->",
    "↦": "->",
    "−": "-",
    "–": "-",
    "—": "-",
    "×": "x",
    "·": "*",
    "…": "...",
    "∈": "in",
    "∉": "not in",
    "∩": "and",
    "∪": "or",
    "∘": "o",
    "½": "1/2",
    "²": "^2",
    "³": "^3",
    "⁻": "^-",
    "¹": "1",
    "₁": "_1",
    "₂": "_2",
    "ᵢ": "_i",
    "ⱼ": "_j",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "─": "-",
    "━": "=",
    "│": "|",
    "├": "|",
    "└": "`",
    "▲": "^",
    "▼": "v",
    "✓": "+",
    "✗": "x",
}


@dataclass(frozen=True, slots=True)
class Style:
    """How the output looks: its `width` in columns, whether in colour, and its character set.

    `detail`: how much is told: of each report the panel alone (`brief`), what fits a screen
    (`usual`), or everything, in sentences as well (`full`). `whole`: whether a table of many specs
    lists those that are fine too.
    """

    width: int = 80
    colour: bool = False
    encoding: str = "utf-8"
    detail: Literal["brief", "usual", "full"] = "usual"
    whole: bool = False

    def plain(self, text: str) -> str:
        """`text` with control characters made visible, in characters that the output can carry."""
        return transliterated(printable(text), self.encoding)

    def paint(self, text: str, how: str) -> str:
        """`text` made `strong`, `good`, `bad` or `weak`, where colour is wanted."""
        return f"\x1b[{_CODES[how]}m{text}\x1b[0m" if self.colour and text else text


#: The codec error handler that writes a stand-in, or an escape, for what a stream cannot carry.
STAND_IN = "dpcompose.stand-in"


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    char = error.object[error.start]
    escape = char.encode("ascii", "backslashreplace").decode("ascii")
    return _STAND_INS.get(char, escape), error.start + 1


codecs.register_error(STAND_IN, _stand_in)


def transliterated(text: str, encoding: str) -> str:
    """`text` in characters that `encoding` can carry: `eps` for ε, else escapes."""
    return text if text.isascii() else text.encode(encoding, STAND_IN).decode(encoding)


def sentence(text: str) -> str:
    """`text` with a capital letter, unless it starts with a name, a symbol or a word like zCDP."""
    plain = text[:1].isascii() and not text[1:2].isupper()
    return text[:1].upper() + text[1:] if plain else text


def padded(text: str, width: int) -> str:
    """`text` with spaces up to `width` columns."""
    return text + " " * (width - cells(text))


def clipped(text: str, width: int) -> str:
    """`text`, cut in the middle where it takes more than `width` columns."""
    if cells(text) <= width:
        return text
    half = (width - 3) // 2
    return f"{_leading(text, half)}...{_leading(text[::-1], width - 3 - half)[::-1]}"


def _leading(text: str, width: int) -> str:
    taken = 0
    for index, char in enumerate(text):
        taken += cells(char)
        if taken > width:
            return text[:index]
    return text


def wrapped(text: str, style: Style, first: str = "", rest: str | None = None) -> list[str]:
    """`text` in lines of at most the style's width; a longer word keeps a line of its own.

    `first` starts the first line and `rest` (default: as many spaces) the others.
    """
    if rest is None:
        rest = " " * cells(first)
    lines: list[str] = []
    line, used, empty = first, cells(first), True
    for word in style.plain(text).split():
        size = cells(word)
        if not empty and used + 1 + size > style.width:
            lines.append(line)
            line, used, empty = rest, cells(rest), True
        line += word if empty else f" {word}"
        used += size + (0 if empty else 1)
        empty = False
    lines.append(line.rstrip())
    return lines


def columns(rows: Sequence[Sequence[str]], style: Style, indent: int = 2) -> list[str]:
    """`rows` with their columns aligned; the last column wraps under itself.

    Texts of more than 40 columns are cut in the middle, except in the last column. Where the
    others leave it too little room, it goes below them.
    """
    if not rows:
        return []
    shown = [[clipped(style.plain(each), 40) for each in row[:-1]] for row in rows]
    widths = [max(map(cells, column)) for column in zip(*shown, strict=True)]
    starts = indent + sum(width + 2 for width in widths if width)
    lines: list[str] = []
    for row, cut in zip(rows, shown, strict=True):
        pairs = zip(cut, widths, strict=True)
        head = " " * indent + "".join(f"{padded(text, width)}  " for text, width in pairs if width)
        if starts > style.width - _LEAST_ROOM and row[-1]:
            lines += [head.rstrip(), *wrapped(row[-1], style, " " * (indent + 4))]
        else:
            lines += wrapped(row[-1], style, head)
    return lines
