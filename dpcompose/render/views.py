"""Views of a report as a Python value: in a console of rich, in a notebook, and as a picture."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import Any

from rich.console import Console, ConsoleOptions
from rich.text import Text

from dpcompose.render.layout import Style
from dpcompose.render.text.terminal import text
from dpcompose.report import Report

_HEIGHT = 640  # of the frame in a notebook, in pixels
#: Font declarations in a picture, which would be fetched from elsewhere.
_FONT = re.compile(r"\s*@font-face \{[^}]*\}")


@dataclass(frozen=True, slots=True)
class Shown:
    """A renderable of rich: what `dpcompose analyze` prints of a report, as wide as the console."""

    report: Report

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Yields the text of the report in the width and colours of the console."""
        colour = console.color_system is not None
        style = Style(width=options.max_width, colour=colour, encoding=options.encoding)
        yield Text.from_ansi(text(self.report, style))


def as_rich(report: Report) -> Shown:
    """Returns a report as an object that a console of rich prints."""
    return Shown(report)


def as_html(report: Report) -> str:
    """Returns a report as HTML for a notebook: its page in a frame, which keeps styles apart."""
    from dpcompose.render.html.page import page

    shown = escape(page([report]))
    return f'<iframe srcdoc="{shown}" sandbox width="100%" height="{_HEIGHT}"></iframe>'


def as_page(report: Report) -> str:
    """Returns the page of a report as HTML."""
    from dpcompose.render.html.page import page

    return page([report])


def as_dict(report: Report) -> dict[str, Any]:
    """Returns the result of a report as its JSON has it."""
    from dpcompose.render.json import result

    return result(report)


def as_svg(report: Report, title: str, columns: int) -> str:
    """Returns a report as a picture of a terminal that is `columns` wide, with the title above."""
    console = Console(
        file=StringIO(), record=True, width=columns, color_system="standard", force_terminal=True
    )
    console.print(Shown(report))
    shown = console.export_svg(title=title, unique_id="dpcompose")
    return _FONT.sub("", shown)
