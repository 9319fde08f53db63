"""Renderers: reports in, text out. Pure: files, terminals, exit codes live elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from dpcompose.render.layout import Style
from dpcompose.report import Report

#: Takes reports as they come and gives pieces of text as soon as they are ready.
Renderer = Callable[[Iterable[Report], Style], Iterator[str]]


def _text(reports: Iterable[Report], style: Style) -> Iterator[str]:
    from dpcompose.render.terminal import render

    return render(reports, style)


def _json(reports: Iterable[Report], style: Style) -> Iterator[str]:
    from dpcompose.render.json import render

    return render(reports)


def _jsonl(reports: Iterable[Report], style: Style) -> Iterator[str]:
    from dpcompose.render.json import render_lines

    return render_lines(reports)


def _check(reports: Iterable[Report], style: Style) -> Iterator[str]:
    from dpcompose.render.ledger import render

    return render(reports, style)


#: Every format by name. `check` is the text of the command `check`; the bounds alone (`--quiet`)
#: are no format: see `dpcompose.render.quiet`.
RENDERERS: Mapping[str, Renderer] = {
    "text": _text,
    "json": _json,
    "jsonl": _jsonl,
    "check": _check,
}
