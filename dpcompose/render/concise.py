"""One line a finding, in the grammar of compilers, and one line a result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpcompose.errors import Diagnostic, headline
from dpcompose.render.headlines import checked, verdict_of_invalid
from dpcompose.render.headlines import headline as reported
from dpcompose.render.layout import Style, transliterated
from dpcompose.render.problems import NOT_COMPARABLE, OVER_BUDGET, problems
from dpcompose.report import Report


def render(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """The lines of each report; nothing between them."""
    for report in reports:
        found = problems(report, checking)
        lines = [_line(each, report, style) for each in found]
        if checking and found and found[0].code in (OVER_BUDGET, NOT_COMPARABLE):
            lines = [*lines[1:], lines[0]]  # which is the line of the result, with a place
        elif report.status != "unreadable":
            lines.append(_result(report, style, checking))
        yield "\n".join(lines) + "\n"


def _line(problem: Diagnostic, report: Report, style: Style) -> str:
    """Returns a problem of the file as a whole is at its start: every line has a place to go to."""
    span = problem.span
    place = f"{report.file}:{span.line}:{span.column}" if span else f"{report.file}:1:1"
    return transliterated(headline(problem, place), style.encoding)


def _result(report: Report, style: Style, checking: bool) -> str:
    if report.status == "invalid":
        return verdict_of_invalid(report, style)
    if checking and report.verdict is not None:
        return checked(report, report.verdict, style)
    return reported(report, style)
