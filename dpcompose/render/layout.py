"""How the output looks: width, colours, character set; and lines that are never wrapped."""

from __future__ import annotations

import codecs
from typing import Literal, NamedTuple

from dpcompose.errors import printable
from dpcompose.errors import width as cells

#: What colours mean, always beside a word or a sign that says the same.
LOOKS = {
    "dataset": "cyan",
    "mechanism": "bold",
    "number": "bold",
    "good": "green",
    "warn": "yellow",
    "bad": "bold red",
    "strong": "bold",
    "weak": "dim",
    "heading": "bold",
    "note": "bold cyan",
    "frame": "cyan",
}

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


class Style(NamedTuple):
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

    @property
    def wide(self) -> bool:
        """Whether there is room for more than what has to be told: from so many columns on."""
        return self.width >= 100

    def plain(self, text: str) -> str:
        """`text` with control characters made visible, in characters that the output can carry."""
        return transliterated(printable(text), self.encoding)

    def paint(self, text: str, how: str) -> str:
        """`text` in bold and in the colour of a meaning, where colour is wanted."""
        if not self.colour or not text:
            return text
        # Imported where it is needed: most lines of this kind go to files and pipes.
        from rich.color import ColorSystem
        from rich.style import Style as Look

        return Look.parse(f"bold {LOOKS[how]}").render(text, color_system=ColorSystem.STANDARD)


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
