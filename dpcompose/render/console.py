"""Rich, as all that people see goes through it: one set of renderables, wherever they go.

What comes from a spec or from a file name is made by `literal`: it is never markup, holds nothing
that a terminal acts upon, and is in characters that the output can carry before rich measures it.
"""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO, TextIOWrapper

from rich.console import Console, RenderableType
from rich.rule import Rule
from rich.text import Text
from rich.theme import Theme

from dpcompose.render.layout import STAND_IN, Style

#: What colours mean, always beside a word or a sign that says the same.
THEME = Theme(
    {
        "dataset": "cyan",
        "mechanism": "bold",
        "number": "bold",
        "good": "green",
        "warn": "yellow",
        "bad": "bold red",
        "strong": "bold",
        "weak": "dim",
        "heading": "bold",
    }
)


def printed(parts: RenderableType | Iterable[RenderableType], style: Style) -> str:
    """What rich makes of `parts`, one below the other, in the width, colours and characters given.

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
        theme=THEME,
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
    return Text(style.plain(text), how)


def ruled(name: str, style: Style, says: str = "") -> Rule:
    """A heading across the page, and a few words on what stands below it."""
    title = literal(f"{name} ", style, "heading")
    if says:
        title.append_text(literal(f" {says} ", style, "weak"))
    return Rule(title, align="left", style="weak", characters=style.plain("─"))
