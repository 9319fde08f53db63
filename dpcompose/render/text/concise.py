"""The format `concise`: one line for each finding, as compilers print, and one for each result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpcompose.errors import Diagnostic, headline
from dpcompose.render.layout import Style, transliterated
from dpcompose.render.words.headlines import checked, meanwhile_lines, verdict_of_invalid
from dpcompose.render.words.headlines import headline as reported
from dpcompose.render.words.problems import NOT_COMPARABLE, OVER_BUDGET, problems
from dpcompose.report import Report


def render(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Yields the lines of each report: its findings, then its result. `checking`: whether an unmet
    budget is an error, as in the command `check`."""
    for report in reports:
        found = problems(report, checking)
        lines = [_line(each, report, style) for each in found]
        if checking and found and found[0].code in (OVER_BUDGET, NOT_COMPARABLE):
            lines = [*lines[1:], lines[0]]  # it replaces the line of the result
        elif report.status != "unreadable":
            lines.append(_result(report, style, checking))
        lines += [
            transliterated(f"{report.label}: {each}", style.encoding)
            for each in meanwhile_lines([report.meanwhile])
        ]
        yield "\n".join(lines) + "\n"


def _line(problem: Diagnostic, report: Report, style: Style) -> str:
    """Returns a finding as a line; one without a position is at the start of the file."""
    span = problem.span
    place = f"{report.file}:{span.line}:{span.column}" if span else f"{report.file}:1:1"
    return transliterated(headline(problem, place), style.encoding)


def _result(report: Report, style: Style, checking: bool) -> str:
    """Returns the line of a report's result: the verdict if a budget decides, else the bound."""
    if report.status == "invalid":
        return verdict_of_invalid(report, style)
    if checking and report.verdict is not None:
        return checked(report, report.verdict, style)
    return reported(report, style)
