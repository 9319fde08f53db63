"""Pieces of SVG: text that is measured, wrapped and escaped, and the frame of a picture.

Fonts differ between machines, so widths are those of a wide font, and text that fits here fits
everywhere. A picture has no links, scripts, fonts or identifiers, so that several of them can stand
in one page; it is ASCII, so that any text from a spec can be printed anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum
from typing import NamedTuple

from dpcompose.errors import printable, width

FONT = 'ui-sans-serif,system-ui,-apple-system,"Segoe UI","DejaVu Sans",Verdana,sans-serif'
_BOLD = 1.13  # how much wider bold text is
#: Widths of characters in parts of the size of the font, of DejaVu Sans, which is a wide one.
_WIDTHS = {
    char: part
    for chars, part in (
        ("ijlI'J", 0.3),
        (" .,|!:;/", 0.35),
        ("ft()[]{}-r", 0.42),
        ('scz_"*', 0.56),
        ("vxyk^", 0.6),
        ("BADKERVXSPYFZLTC", 0.71),
        ("HNOQGUw&", 0.82),
        ("mWM%@#+=<>~", 1.0),
    )
    for char in chars
}
_OTHER = 0.65  # of all other letters and digits
_CUT = "…"
_APART = 6.0  # between pictures of several reports


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Returns the width of a text in pixels, rather too large than too small."""
    parts = fsum(  # the same in every Python, unlike `sum` of floats
        _WIDTHS.get(char, _OTHER) if char.isascii() else 0.85 if width(char) < 2 else 1.1
        for char in text
    )
    return parts * size * (_BOLD if bold else 1)


def wrapped(text: str, size: float, room: float, most: int, bold: bool = False) -> list[str]:
    """Returns a text in at most so many lines that fit the room; what is cut off ends in `…`.

    Lines are broken between words, and within a word that is too long for a line.
    """
    lines: list[str] = []
    words = printable(text).split(" ")
    while words:
        line = words.pop(0)
        while words and text_width(f"{line} {words[0]}", size, bold) <= room:
            line += f" {words.pop(0)}"
        if text_width(line, size, bold) > room:
            head = _leading(line, size, room, bold)
            words.insert(0, line[len(head) :])
            line = head
        lines.append(line)
        if len(lines) == most and words:
            rest = " ".join([line, *words])
            lines[-1] = _leading(rest, size, room - text_width(_CUT, size, bold), bold) + _CUT
            break
    return lines or [""]


def _leading(text: str, size: float, room: float, bold: bool) -> str:
    """Returns as much of the start of a text as fits the room: at least one character."""
    used = 0.0
    for count, char in enumerate(text):
        used += text_width(char, size, bold)
        if used > room:
            return text[: max(1, count)]
    return text


class CssRule(NamedTuple):
    """How one class of a picture looks: CSS declarations in light and in dark surroundings."""

    selector: str
    light: str
    dark: str = ""


def rules(name: str, looks: Iterable[CssRule]) -> str:
    """Returns the rules of CSS for pictures whose class is `name`; nothing without looks."""
    each = list(looks)
    if not each:
        return ""
    light = "".join(f".{name} {look.selector}{{{look.light}}}\n" for look in each)
    dark = "".join(f".{name} {look.selector}{{{look.dark}}}\n" for look in each if look.dark)
    return f"{light}@media (prefers-color-scheme:dark){{\n{dark}}}\n"


def picture(
    name: str, size: tuple[float, float], title: str, desc: str, body: str, looks: Iterable[CssRule]
) -> str:
    """Returns a picture of a size in pixels, with the title and description that are read out."""
    across, down = (number(each) for each in size)
    text = rules(name, looks)
    style = f"<style>\n{text}</style>\n" if text else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{name}" role="img" '
        f'width="{across}" height="{down}" viewBox="0 0 {across} {down}" '
        f'aria-label="{safe(title)}">\n'
        f"<title>{safe(title)}</title>\n<desc>{safe(desc)}</desc>\n"
        f"{style}{body}</svg>\n"
    )


class Panel(NamedTuple):
    """A picture of one report, to stand alone or below others: its size, title and content."""

    size: tuple[float, float]
    title: str
    desc: str
    body: str


def pictures(name: str, noun: str, panels: Sequence[Panel], rules: Iterable[CssRule]) -> str:
    """Returns one picture of a report, or one of several below each other.

    `noun`: what several are called, in the plural.
    """
    if len(panels) == 1:
        return picture(name, *panels[0], rules)
    height, body = 0.0, ""
    for each in panels:
        start = f'<g transform="translate(0 {number(height)})">'
        told = f"<title>{safe(each.title)}</title>\n<desc>{safe(each.desc)}</desc>\n"
        body += f"{start}\n{told}{each.body}</g>\n"
        height += each.size[1] + _APART
    size = max((each.size[0] for each in panels), default=1.0), max(height - _APART, 1.0)
    desc = ". ".join(each.title for each in panels)
    return picture(name, size, f"{len(panels)} {noun}", desc, body, rules)


_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


def safe(text: str) -> str:
    """Returns any text as it stands in a picture: printable, and escaped, in ASCII alone."""
    escaped = printable(text).translate(_ENTITIES).replace("##", "#&#35;")  # see `logs`
    return escaped.encode("ascii", "xmlcharrefreplace").decode("ascii")


def text_at(x: float, y: float, text: str, look: str, anchor: str = "") -> str:
    """Returns one line of text, with its base line at `y`; `look`: the CSS class; `anchor`:
    `middle` or `end`."""
    aligned = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text class="{look}" x="{number(x)}" y="{number(y)}"{aligned}>{safe(text)}</text>\n'


def lines_at(x: float, y: float, step: float, lines: Sequence[str], look: str) -> str:
    """Returns lines of text, the first with its base line at `y`."""
    return "".join(text_at(x, y + step * i, line, look) for i, line in enumerate(lines))


def box(x: float, y: float, across: float, down: float, look: str, radius: float = 0) -> str:
    """Returns a rectangle with round corners: `across` wide, `down` high, its upper left corner at
    (`x`, `y`); `look`: the CSS class."""
    corner = f' rx="{number(radius)}"' if radius else ""
    return (
        f'<rect class="{look}" x="{number(x)}" y="{number(y)}" width="{number(across)}" '
        f'height="{number(down)}"{corner}/>\n'
    )


def number(value: float) -> str:
    """Returns a length as text, to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")
