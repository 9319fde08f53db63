"""Renderers: functions from reports to text, without files, terminals or exit codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from dpcompose.render.layout import Style
    from dpcompose.report import Report

#: A function that reads reports one by one and yields text as soon as it is ready. Outputs are
#: written in turns, so it must yield at least once, if only "", for every second report it reads.
Renderer: TypeAlias = "Callable[[Iterable[Report], Style], Iterator[str]]"


class Format(StrEnum):
    """The output formats of `analyze` and `check`.

    The bounds alone (`--quiet`) are no format: see `dpcompose.render.text.quiet`.
    """

    TEXT = "text"
    CONCISE = "concise"
    CSV = "csv"
    JSON = "json"
    JSONL = "jsonl"
    SARIF = "sarif"
    GITHUB = "github"
    JUNIT = "junit"
    MARKDOWN = "markdown"
    HTML = "html"
    STATEMENT = "statement"
    LABEL = "label"
    BADGE = "badge"
    EVENT = "event"
    REGISTRY = "registry"
    CERTIFICATE = "certificate"


#: The module of each format, and its function, which is `render` where none is named.
_MODULES = {
    Format.TEXT: "text.terminal",
    Format.CONCISE: "text.concise",
    Format.CSV: "exports.csv",
    Format.JSON: "json",
    Format.JSONL: "json:render_lines",
    Format.SARIF: "exports.sarif",
    Format.GITHUB: "exports.github",
    Format.JUNIT: "exports.junit",
    Format.MARKDOWN: "exports.markdown",
    Format.HTML: "html.page",
    Format.STATEMENT: "text.statement",
    Format.LABEL: "pictures.label",
    Format.BADGE: "pictures.label:render_badges",
    Format.EVENT: "json:render_events",
    Format.REGISTRY: "exports.registry",
    Format.CERTIFICATE: "json:render_certificates",
}


def renderer(form: str, checking: bool = False) -> Renderer:
    """Returns the function that renders reports in a format.

    `checking`: whether an unmet budget is an error, as in the command `check`.
    """
    module, _, function = _MODULES[Format(form)].partition(":")

    def render(reports: Iterable[Report], style: Style) -> Iterator[str]:
        """Yields the text of the reports; the module of the format is loaded now."""
        made = getattr(import_module(f"dpcompose.render.{module}"), function or "render")
        found: Iterator[str] = made(reports, style, checking)
        return found

    return render
