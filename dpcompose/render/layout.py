"""The look of the output: width, colours, character set; and text that is never wrapped."""

from __future__ import annotations

import codecs
import re
from typing import Literal, NamedTuple

from dpcompose.errors import printable
from dpcompose.errors import width as cells

#: The colour of each meaning; a word or a sign beside it always says the same.
LOOKS = {
    "dataset": "cyan",
    "mechanism": "bold",
    "number": "bold",
    "good": "green",
    "warn": "yellow",
    "bad": "bold red",
    "strong": "bold",
    "name": "bold",
    "weak": "dim",
    "heading": "bold",
    "note": "bold cyan",
    "frame": "cyan",
}

_CODE = re.compile(r"DPC\d{3}")


def page_address(folder: str, name: str) -> str:
    """Returns the address of a page of the documentation, from the folder of the site."""
    return f"{folder}/{name}.html"


#: Substitutes for symbols that the output cannot carry; anything else becomes an escape.
_STAND_INS = {
    each[0]: each[2:]
    for each in (
        "ε eps; δ delta; ρ rho; μ mu; α alpha; κ kappa; θ theta; η eta; π pi; σ sigma; Δ Delta; "
        "Φ Phi; 𝒢 G; ℳ M; Σ sum; ∑ sum; Π prod; ∏ prod; √ sqrt; ∞ inf; ≤ <=; ≥ >=; ≠ !=; ≈ ~; "
        "→ ->; ↦ ->; − -; – -; — -; × x; · *; … ...; ∈ in; ∉ not in; ∩ and; ∪ or; ∘ o; ½ 1/2; "
        "² ^2; ³ ^3; ⁻ ^-; ¹ 1; ₁ _1; ₂ _2; ᵢ _i; ⱼ _j; ‘ '; ’ '; “ \"; ” \"; ─ -; ━ =; │ |; ├ |; "
        "┃ |; ┣ |; ┠ |; ┡ |; ┗ `; └ `; ▲ ^; ▼ v; ● o; ✓ +; ✗ x"
    ).split("; ")
}


class Style(NamedTuple):
    """The look of the output: its `width` in columns, whether in colour, and its character set.

    `detail`: how much of each report is shown: only the panel (`brief`), what fits a screen
    (`usual`), longer lists (`page`), or everything, in sentences as well (`full`). `whole`: whether
    a table of many specs also lists those without problems. `day`: the date that a label shows,
    None for no date. `plot`: whether curves are drawn. `site`: the address that the pages of the
    documentation are below, which ends with a slash, or `#` for a page that explains its theorems
    itself; `hyperlinks`: whether text leads there.
    """

    width: int = 80
    colour: bool = False
    encoding: str = "utf-8"
    detail: Literal["brief", "usual", "page", "full"] = "usual"
    whole: bool = False
    day: str | None = None
    plot: bool = False
    site: str = ""
    hyperlinks: bool = False

    @property
    def wide(self) -> bool:
        """Returns whether the page has room for additional columns."""
        return self.width >= 100

    def address(self, identifier: str) -> str:
        """Returns the address of the page of a code or a theorem; empty without a site."""
        if self.site == "#":
            return f"#theorem-{identifier}"
        folder = "codes" if _CODE.fullmatch(identifier) else "theorems"
        return f"{self.site}{page_address(folder, identifier)}" if self.site else ""

    def plain(self, text: str) -> str:
        """Returns a text in characters the output can carry, with control characters visible."""
        return transliterated(printable(text), self.encoding)

    def paint(self, text: str, how: str) -> str:
        """Returns a text in bold and in the colour of the meaning `how`, where colour is wanted."""
        if not self.colour or not text:
            return text
        # Imported here: most output of this kind is not coloured.
        from rich.color import ColorSystem
        from rich.style import Style as Look

        return Look.parse(f"bold {LOOKS[how]}").render(text, color_system=ColorSystem.STANDARD)


#: The codec error handler that writes a substitute or an escape for unencodable characters.
STAND_IN = "dpcompose.stand-in"


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    """Returns a character's substitute and the position after it, as codec error handlers do."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    char = error.object[error.start]
    escape = char.encode("ascii", "backslashreplace").decode("ascii")
    return _STAND_INS.get(char, escape), error.start + 1


codecs.register_error(STAND_IN, _stand_in)


def transliterated(text: str, encoding: str) -> str:
    """Returns a text in characters that `encoding` can carry: `eps` for ε, else escapes."""
    return text if text.isascii() else text.encode(encoding, STAND_IN).decode(encoding)


def sentence(text: str) -> str:
    """Returns a text with a capital letter, unless it starts with a name, symbol or acronym."""
    plain = text[:1].isascii() and not text[1:2].isupper()
    return text[:1].upper() + text[1:] if plain else text


def clipped(text: str, width: int) -> str:
    """Returns a text, cut in the middle where it takes more than `width` columns."""
    if cells(text) <= width:
        return text
    half = (width - 3) // 2
    return f"{_leading(text, half)}...{_leading(text[::-1], width - 3 - half)[::-1]}"


def _leading(text: str, width: int) -> str:
    """Returns as much of the start of a text as fits so many columns."""
    taken = 0
    for index, char in enumerate(text):
        taken += cells(char)
        if taken > width:
            return text[:index]
    return text
