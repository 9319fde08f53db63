"""Reports where Python shows values: in a console of rich, in a notebook, and as a picture."""

from __future__ import annotations

import re
from collections.abc import Iterable
from io import StringIO

from rich.console import Console
from rich.text import Text

from dpcompose.render.layout import Style
from dpcompose.render.terminal import text
from dpcompose.report import Report

_COLUMNS = 100
#: Of a picture: fonts to fetch from elsewhere.
_FONT = re.compile(r"\s*@font-face \{[^}]*\}")
_HTML = '<pre style="font-family: monospace; line-height: 1.2">{code}</pre>'


def as_rich(report: Report, width: int, colour: bool) -> Iterable[Text]:
    """What `dpcompose analyze` prints, in so many columns."""
    yield Text.from_ansi(text(report, Style(width=width, colour=colour)))


def as_html(report: Report) -> str:
    """The same for a notebook."""
    console = _recorded(as_rich(report, _COLUMNS, colour=True), _COLUMNS)
    return console.export_html(inline_styles=True, code_format=_HTML)


def as_svg(report: Report, title: str, columns: int) -> str:
    """The same as a picture of a terminal of so many columns."""
    console = _recorded(as_rich(report, columns, colour=True), columns)
    shown = console.export_svg(title=title, unique_id="dpcompose")
    return _FONT.sub("", shown)


def _recorded(parts: Iterable[Text], columns: int) -> Console:
    console = Console(
        file=StringIO(), record=True, width=columns, color_system="standard", force_terminal=True
    )
    for part in parts:
        console.print(part, markup=False, highlight=False, emoji=False)
    return console
