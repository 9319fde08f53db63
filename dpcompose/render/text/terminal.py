"""The report for people in a terminal: a panel, the proof tree, the costs, what was compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from dpcompose.render.layout import Style
from dpcompose.render.parts.console import Part, Section, literal, printed
from dpcompose.render.parts.diagnostics import findings_of
from dpcompose.render.text.costs import accuracy, costs, who_learns
from dpcompose.render.text.overview import overview
from dpcompose.render.text.panel import panel
from dpcompose.render.text.proof_table import proof
from dpcompose.render.text.risk_text import attacked
from dpcompose.render.text.sections import (
    advice,
    against_adversary,
    assumed,
    compared,
    ignored,
    rechecked,
    sentences,
)
from dpcompose.render.words.headlines import verdict_of_invalid
from dpcompose.report import Report


def render(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Yields the report of one spec in full, or a table of several specs with their findings below
    it.

    With `style.detail` "full" each of several is shown in full too. `checking`: whether an unmet
    budget is an error, as in the command `check`.
    """
    coming = iter(reports)
    first = list(islice(coming, 1))
    yield ""
    first += islice(coming, 1)
    several = sum(each.left_out is None for each in first) > 1
    if several and style.detail != "full":
        yield from overview(chain(first, coming), style, checking)
        return
    before = ""
    for report in chain(first, coming):
        if report.left_out is None:
            yield before + text(report, style)
            before = "\n"


def text(report: Report, style: Style) -> str:
    """Returns one report as text."""
    return printed(parts(report, style), style)


def parts(report: Report, style: Style) -> Iterator[Part]:
    """Yields the renderables of one report, from the top down."""
    if report.status in ("invalid", "unreadable"):
        yield findings_of(report, style)
        if report.status == "invalid":
            yield literal(verdict_of_invalid(report, Style(encoding=style.encoding)), style, "bad")
        return
    yield panel(report, style)
    if style.detail == "brief":
        yield from rechecked(report, style)
        return
    yield from attacked(report, style)
    if report.tree:
        says = "how the worst change travels, and what it costs"
        yield Section("Why", [proof(report.tree, style)], style, says, anchor="why")
    if style.plot:
        from dpcompose.render.text.plot import plots

        says = "hits of the best test, and δ at each ε"
        yield Section("Curves", [*plots(report, style)], style, says)
    yield from who_learns(report, style)
    yield from costs(report, style)
    yield from accuracy(report, style)
    if style.detail == "full":
        yield from sentences(report, style)
    yield from advice(report, style)
    yield from compared(report, style)
    yield from against_adversary(report, style)
    yield from rechecked(report, style)
    yield from assumed(report.assumptions, style)
    if report.findings:
        yield Section("Findings", [findings_of(report, style)], style, anchor="findings")
    yield from ignored(report, style)
