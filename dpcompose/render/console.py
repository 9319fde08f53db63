"""Rich, as all that people see goes through it: one set of renderables, wherever they go.

What comes from a spec or from a file name is made by `literal`: it is never markup, holds nothing
that a terminal acts upon, and is in characters that the output can carry before rich measures it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import BytesIO, TextIOWrapper

from rich.console import Console, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from dpcompose.render.layout import LOOKS, STAND_IN, Style


def printed(parts: RenderableType | Iterable[RenderableType], style: Style) -> str:
    """Returns what rich makes of `parts`, one below the other, in the width, colours and characters
    given.

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
    return "".join(line.rstrip() + "\n" for line in stream.read().splitlines())


def literal(text: str, style: Style, how: str = "") -> Text:
    """`text` as it stands, on one or more lines, in the colour of a meaning."""
    return Text().append(style.plain(text), how or None)  # what is appended has its own


def grid(rows: Iterable[Sequence[str | Text]], style: Style, widths: Sequence[str] = ()) -> Table:
    """Aligned cells without lines; the last column takes what is left and wraps under itself.

    `widths`: for each column before the last `fixed` (never wrapped), `right` (the same, against
    the right) or `part` (at most two fifths of the page, wrapped), which is usual.
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


def ruled(name: str, style: Style, says: str = "") -> Rule:
    """Returns a heading across the page, and a few words on what stands below it."""
    title = literal(f"{name} ", style, "heading")
    if says:
        title.append_text(literal(f" {says} ", style, "weak"))
    return Rule(title, align="left", style="weak", characters=style.plain("─"))
