"""Renderers: reports in, text out. Pure: files, terminals, exit codes live elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module

from dpcompose.render.layout import Style
from dpcompose.report import Report

#: Takes reports as they come and gives pieces of text as soon as they are ready; a piece at least,
#: be it empty, before it takes a second report further.
Renderer = Callable[[Iterable[Report], Style], Iterator[str]]


def _problems(module: str, checking: bool, function: str = "render") -> Renderer:
    """The renderer of a module for which a budget that is not met is a problem, or not."""

    def render(reports: Iterable[Report], style: Style) -> Iterator[str]:
        made = getattr(import_module(f"dpcompose.render.{module}"), function)
        found: Iterator[str] = made(reports, style, checking)
        return found

    return render


_WITH_PROBLEMS = ("concise", "json", "sarif", "github", "junit", "markdown")

#: Every format by name, as `analyze` prints it. The bounds alone (`--quiet`) are no format: see
#: `dpcompose.render.quiet`.
RENDERERS: Mapping[str, Renderer] = {
    "text": _problems("terminal", False),
    "jsonl": _problems("json", False, "render_lines"),
    **{name: _problems(name, False) for name in _WITH_PROBLEMS},
}

#: The same as `check` prints it, where the budget decides.
CHECKERS: Mapping[str, Renderer] = {
    "text": _problems("terminal", True),
    "jsonl": _problems("json", True, "render_lines"),
    **{name: _problems(name, True) for name in _WITH_PROBLEMS},
}
