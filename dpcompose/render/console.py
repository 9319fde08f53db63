"""The renderables of rich that all output for people is made of, and their rendering to text.

Text from a spec or a file name is made by `literal`: it is never markup, contains nothing that a
terminal acts upon, and is in characters that the output can carry before rich measures it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from io import BytesIO, TextIOWrapper
from typing import Any

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
    """Returns a text exactly as it is, with no markup read in it and safe for a terminal; `how`:
    the meaning that colours it."""
    return Text().append(style.plain(text), how or None)  # appended text then keeps its own style


def leading_to(
    identifier: str | None, text: Text, style: Style, start: int = 0, end: int | None = None
) -> Text:
    """Returns the text, from `start` to `end` a hyperlink to the page of a code or a theorem where
    the terminal shows it."""
    if identifier and style.hyperlinks and (address := style.address(identifier)):
        text.stylize(Look(link=address), start, end)
    return text


def grid(
    rows: Iterable[Sequence[str | Text | Table]],
    style: Style,
    columns: Sequence[str] = (),
    heads: Sequence[str | Text] = (),
    gap: int = 2,
) -> Table:
    """Returns aligned cells without rules, below their `heads`; rows may be shorter than others.

    `columns`: words on each column: the meaning that colours it, `left`, `right`, `fixed` (never
    wrapped), `part` (the default: at most two fifths of the page), `third` (at most a third),
    `rest` (takes the remaining width; `rest2` two parts of it, `rest3` three), `wide` (the same,
    and at least a quarter of the page), or `fold` (the same, and breaks long words; the default of
    the last one).
    `gap`: blanks between columns.
    """
    listed = [list(row) for row in rows]
    count = max(map(len, [heads, *listed]), default=0)
    kinds: dict[str, dict[str, Any]] = {
        "left": {},
        "fixed": {"no_wrap": True},
        "right": {"justify": "right"},
        "part": {"max_width": max(12, style.width * 2 // 5), "overflow": "fold"},
        "third": {"max_width": max(16, style.width // 3)},
        "rest": {"ratio": 1},
        "rest2": {"ratio": 2},
        "rest3": {"ratio": 3},
        "wide": {"ratio": 1, "min_width": style.width // 4},
        "fold": {"ratio": 1, "overflow": "fold"},
    }
    looks = []
    for number in range(count):
        default = "fold" if number == count - 1 else "part"
        words = (columns[number] if number < len(columns) else default).split()
        found = [kinds.get(word, {"style": word}) for word in words]
        looks.append({key: value for each in found for key, value in each.items()})
    table = Table(
        box=None,
        padding=(0, 1) if heads else (0, gap),
        collapse_padding=not heads,
        pad_edge=False,
        show_header=bool(heads),
        header_style="weak",
        expand=any("ratio" in look for look in looks),
    )
    for look, head in zip(looks, heads or [""] * count, strict=True):
        table.add_column(literal(head, style, "weak") if isinstance(head, str) else head, **look)
    for row in listed:
        table.add_row(*(literal(each, style) if isinstance(each, str) else each for each in row))
    return table


def ruled(name: str, style: Style, says: str = "") -> RenderableType:
    """Returns a heading across the page below an empty line; `says`: a few words on its section."""
    title = literal(f"{name} ", style, "heading")
    if says:
        title.append_text(literal(f" {says} ", style, "weak"))
    rule = Rule(title, align="left", style="weak", characters=style.plain("─"))
    return Padding(rule, (1, 0, 0, 0))
