"""Renderers: reports in, text out. Pure: files, terminals, exit codes live elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from dpcompose.render.layout import Style
    from dpcompose.report import Report

#: Takes reports as they come and gives pieces of text as soon as they are ready; a piece at least,
#: be it empty, before it takes a second report further.
Renderer: TypeAlias = "Callable[[Iterable[Report], Style], Iterator[str]]"


class Format(StrEnum):
    """How results are printed: each is a module here with a function `render`, but for the first
    and for `jsonl`. The bounds alone (`--quiet`) are no format: see `dpcompose.render.quiet`."""

    TEXT = "text"
    CONCISE = "concise"
    CSV = "csv"
    JSON = "json"
    JSONL = "jsonl"
    SARIF = "sarif"
    GITHUB = "github"
    JUNIT = "junit"
    MARKDOWN = "markdown"
    CERTIFICATE = "certificate"


_ELSEWHERE = {
    Format.TEXT: ("terminal", "render"),
    Format.JSONL: ("json", "render_lines"),
    Format.CERTIFICATE: ("json", "render_certificates"),
}


def _renderer(form: Format, checking: bool) -> Renderer:
    """Returns the renderer of a format; `checking`: a budget that is not met is a problem."""
    module, function = _ELSEWHERE.get(form, (form.value, "render"))

    def render(reports: Iterable[Report], style: Style) -> Iterator[str]:
        made = getattr(import_module(f"dpcompose.render.{module}"), function)
        found: Iterator[str] = made(reports, style, checking)
        return found

    return render


#: Every format by name, as `analyze` prints it, and as `check` does, where the budget decides.
RENDERERS: Mapping[str, Renderer] = {form.value: _renderer(form, False) for form in Format}
CHECKERS: Mapping[str, Renderer] = {form.value: _renderer(form, True) for form in Format}
