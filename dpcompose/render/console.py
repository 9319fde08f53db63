"""The renderables of rich that all output for people is made of, and their rendering to text.

Text from a spec or a file name is made by `literal`: it is never markup, contains nothing that a
terminal acts upon, and is in characters that the output can carry before rich measures it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from io import BytesIO, TextIOWrapper

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.style import Style as Look
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from dpcompose.render.layout import LOOKS, STAND_IN, Style


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
    single = isinstance(parts, str) or hasattr(parts, "__rich_console__")
    for part in [parts] if single else parts:  # type: ignore[union-attr]
        console.print(part)
    stream.flush()
    stream.seek(0)
    text = "".join(line.rstrip() + "\n" for line in stream.read().splitlines())
    text = _LINK_ID.sub("\x1b]8;;", text)
    return text.removeprefix("\n")  # a page that begins with a heading has no line above it


#: The random number by which rich tells the hyperlinks of a page apart.
_LINK_ID = re.compile(r"\x1b\]8;id=[^;\x1b]*;")


def literal(text: str, style: Style, how: str = "") -> Text:
    """Returns a text as it is, safe for a terminal, in the colour of a meaning (`how`)."""
    return Text().append(style.plain(text), how or None)  # appended text then keeps its own style


def leading_to(
    identifier: str | None, text: Text, style: Style, start: int = 0, end: int | None = None
) -> Text:
    """Returns the text, from `start` to `end` a hyperlink to the page of a code or a theorem where
    the terminal shows it."""
    if identifier and style.hyperlinks and (address := style.address(identifier)):
        text.stylize(Look(link=address), start, end)
    return text


def grid(rows: Iterable[Sequence[str | Text]], style: Style, widths: Sequence[str] = ()) -> Table:
    """Returns aligned cells without rules; the last column takes the remaining width and wraps.

    `widths`: for each column before the last `fixed` (never wrapped), `right` (the same, aligned
    right) or `part` (the default: at most two fifths of the page, wrapped).
    """
    listed = [
        [each if isinstance(each, Text) else literal(each, style) for each in row] for row in rows
    ]
    table = Table.grid(padding=(0, 2), expand=True)
    count = max(map(len, listed), default=0)
    for number in range(count - 1):
        how = widths[number] if number < len(widths) else "part"
        if how == "part":
            table.add_column(max_width=max(12, style.width * 2 // 5), overflow="fold")
        else:
            table.add_column(no_wrap=True, justify="right" if how == "right" else "left")
    table.add_column(ratio=1, overflow="fold")
    for row in listed:
        table.add_row(*row)
    return table


def ruled(name: str, style: Style, says: str = "") -> RenderableType:
    """Returns a heading across the page below an empty line, with a few words on its section."""
    title = literal(f"{name} ", style, "heading")
    if says:
        title.append_text(literal(f" {says} ", style, "weak"))
    rule = Rule(title, align="left", style="weak", characters=style.plain("─"))
    return Padding(rule, (1, 0, 0, 0))
