"""Diagnostics for people: what is wrong, the lines it is about, what to write instead."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from dpcompose import errors
from dpcompose.render.layout import Style, transliterated
from dpcompose.report import Report


def diagnostics(report: Report, style: Style) -> list[RenderableType]:
    """Every finding of a report, with the lines it is about."""
    return [
        Text(transliterated(errors.render(each, report.file, report.lines), style.encoding))
        for each in report.findings
    ]
