"""The parts that results for people are made of (`Frame`, `Section`, `TextTable`, texts of rich),
and their rendering for a terminal; `dpcompose.render.parts.inline` writes them as Markdown.

Text from a spec or a file name is made by `literal`: it is never markup, contains nothing that a
terminal acts upon, and is in characters that the output can carry before rich measures it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from io import BytesIO, TextIOWrapper
from typing import Any, TypeAlias

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.protocol import is_renderable
from rich.rule import Rule
from rich.style import Style as Look
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from dpcompose.render.layout import LOOKS, STAND_IN, Style
from dpcompose.render.words.numbers import share_text


def printed(parts: RenderableType | Iterable[RenderableType], style: Style) -> str:
    """Returns the renderables as text, one below the other, in the style's width and colours.

    Lines have no blanks at their ends.
    """
    stream = TextIOWrapper(BytesIO(), style.encoding, STAND_IN, newline="\n")
    console = Console(
        file=stream,
        width=style.width,
        height=10**6,
        color_system="standard" if style.colour else None,
        force_terminal=style.colour,
        no_color=not style.colour,
        theme=Theme(LOOKS),
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
    )
    listed = [parts] if is_renderable(parts) else parts
    for part in listed:  # type: ignore[union-attr]
        console.print(part)
    stream.flush()
    stream.seek(0)
    text = "".join(line.rstrip() + "\n" for line in stream.read().splitlines())
    text = _LINK_ID.sub("\x1b]8;;", text)
    return text.removeprefix("\n")  # a page that begins with a heading has no line above it


#: The random number by which rich tells the hyperlinks of a page apart.
_LINK_ID = re.compile(r"\x1b\]8;id=[^;\x1b]*;")


def literal(text: str, style: Style, how: str = "") -> Text:
    """Returns a text exactly as it is, with no markup read in it and safe for a terminal; `how`:
    the meaning that colours it."""
    return Text().append(style.plain(text), how or None)  # appended text then keeps its own style


#: The characters of bars.
BARS = frozenset("━─")


def bar(part: Fraction, cells: int, style: Style, how: str) -> Text:
    """Returns a bar of `cells` cells, of which the share `part` is filled in the colour `how`."""
    filled = min(cells, math.ceil(part * cells))
    text = literal("━" * filled, style, how)
    return text.append_text(literal("─" * (cells - filled), style, "weak"))


def share_bar(part: Fraction | None, cells: int, style: Style) -> Text:
    """Returns a share of a whole as a bar with per cent; nothing for None."""
    if part is None:
        return Text()
    return bar(part, cells, style, "strong").append_text(literal(f" {share_text(part):>5}", style))


def leading_to(
    identifier: str | None, text: Text, style: Style, start: int = 0, end: int | None = None
) -> Text:
    """Returns the text, from `start` to `end` a hyperlink to the page of a code or a theorem where
    the terminal shows it."""
    if identifier and style.hyperlinks and (address := style.address(identifier)):
        text.stylize(Look(link=address), start, end)
    return text


@dataclass(frozen=True, slots=True)
class TextTable:
    """Aligned cells without rules, below their `heads`; rows may be shorter than others.

    `columns`: words on each column: the meaning that colours it, `left`, `right`, `fixed` (never
    wrapped), `part` (the default: at most two fifths of the page), `third` (at most a third),
    `rest` (takes the remaining width; `rest2` two parts of it, `rest3` three), `cut` (never
    wrapped, but cut short), `min12` (at least so many columns wide), `wide` (like `rest`,
    and at least a quarter of the page), or `fold` (the same, and breaks long words; the default of
    the last one); `name`: its texts are names, which are code in Markdown.
    `line`: lines of the spec. `gap`: blanks between columns. `labels`: heads for a page, on which
    every table has some, where there are no `heads`.
    """

    rows: Sequence[Sequence[str | Text | Table]]
    style: Style
    columns: Sequence[str] = ()
    heads: Sequence[str | Text] = ()
    gap: int = 2
    labels: Sequence[str] = ()

    def __rich__(self) -> Table:
        """Returns the table for a terminal."""
        style, rows, heads = self.style, self.rows, self.heads
        count = max(map(len, [heads, *rows]), default=0)
        kinds: dict[str, dict[str, Any]] = {
            "left": {},
            "name": {},
            "fixed": {"no_wrap": True},
            "right": {"justify": "right"},
            "line": {"justify": "right", "no_wrap": True, "style": "weak"},
            "part": {"max_width": max(12, style.width * 2 // 5), "overflow": "fold"},
            "third": {"max_width": max(16, style.width // 3)},
            "cut": {"no_wrap": True, "overflow": "ellipsis"},
            "rest": {"ratio": 1},
            "rest2": {"ratio": 2},
            "rest3": {"ratio": 3},
            "wide": {"ratio": 1, "min_width": style.width // 4},
            "fold": {"ratio": 1, "overflow": "fold"},
        }
        looks = []
        for number in range(count):
            default = "fold" if number == count - 1 else "part"
            words = (self.columns[number] if number < len(self.columns) else default).split()
            least: list[dict[str, Any]] = [
                {"min_width": int(word[3:])} for word in words if word.startswith("min")
            ]
            named = (word for word in words if not word.startswith("min"))
            found = [*least, *(kinds.get(word, {"style": word}) for word in named)]
            looks.append({key: value for each in found for key, value in each.items()})
        table = Table(
            box=None,
            padding=(0, self.gap, 0, 0),
            pad_edge=False,
            show_header=bool(heads),
            header_style="weak",
            expand=any("ratio" in look for look in looks),
        )
        for look, head in zip(looks, heads or [""] * count, strict=True):
            table.add_column(
                literal(head, style, "weak") if isinstance(head, str) else head, **look
            )
        for row in rows:
            table.add_row(
                *(literal(each, style) if isinstance(each, str) else each for each in row)
            )
        return table


@dataclass(frozen=True, slots=True)
class Headline:
    """The line that a result starts with: what it is about, and the number."""

    text: Text

    def __rich__(self) -> Text:
        """Returns the line for a terminal."""
        return self.text


@dataclass(frozen=True, slots=True)
class Frame:
    """Named rows in a frame, with a name above and a title below; `failed`: in the colour of
    errors."""

    name: str
    title: str
    rows: Sequence[tuple[str, Text]]
    failed: bool
    style: Style

    def __rich__(self) -> Panel:
        """Returns the panel for a terminal."""
        table = Table.grid(padding=(0, 2))
        table.add_column(style="weak", no_wrap=True)
        table.add_column()
        for word, value in self.rows:
            table.add_row(word, value)
        below = " ".join(self.title.split())
        return Panel(
            table,
            title=literal(self.name, self.style, "strong"),
            title_align="left",
            subtitle=literal(below, self.style, "weak") if below else None,
            subtitle_align="left",
            border_style="bad" if self.failed else "weak",
        )


@dataclass(frozen=True, slots=True)
class Snippet:
    """Lines of a file or of a command, shown as they are."""

    lines: Sequence[str]
    style: Style

    def __rich__(self) -> Group:
        """Returns the lines for a terminal."""
        return Group(*(literal(each, self.style, "dataset") for each in self.lines))


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a result below a heading; `says`: a few words beside that.

    `inner`: it is a part of another section; without a name it only sets its parts apart.
    `anchor`: its name in the address of a page.
    """

    name: str
    parts: Sequence[Part]
    style: Style
    says: str = ""
    inner: bool = False
    anchor: str = ""

    def __rich__(self) -> RenderableType:
        """Returns the heading across the page, below an empty line, and the parts below it; the
        heading of an inner section without a line, and its parts indented."""
        if self.inner:
            heading = [literal(self.name, self.style, "heading")] if self.name else []
            indented = [Padding(each, (0, 0, 0, 2)) for each in self.parts]
            return Group("", *heading, *indented)
        title = literal(f"{self.name} ", self.style, "heading")
        if self.says:
            title.append_text(literal(f" {self.says} ", self.style, "weak"))
        line = self.style.plain("─")
        rule = Rule(title, align="left", style="weak", characters=line)
        return Group(Padding(rule, (1, 0, 0, 0)), *self.parts)


#: What results for people consist of, in every format.
Part: TypeAlias = "Headline | Frame | Section | TextTable | Snippet | Text | RenderableType"


def texts_of(pages: Iterable[list[Part]], write: Callable[[list[Part]], str]) -> Iterator[str]:
    """Yields each list of parts as `write` gives it, with an empty line between two; an empty text
    for an empty list."""
    gap = ""
    for parts in pages:
        yield f"{gap}{write(parts)}" if parts else ""
        gap = "\n" if parts else gap
