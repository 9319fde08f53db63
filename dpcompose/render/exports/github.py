"""The format `github`: annotations for GitHub Actions, one for each problem.

Nothing is printed for a spec without problems. Every line is a workflow command whose text is
escaped, so that no text from a spec can be a command; beyond as many as GitHub shows, it is text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from dpcompose.errors import Diagnostic, Level, headline, printable
from dpcompose.faults import plural
from dpcompose.render.layout import Style, transliterated
from dpcompose.render.words.problems import from_root, problems
from dpcompose.report import Report

_MOST = 10  # annotations of a level that GitHub shows for a step
_COMMANDS: dict[Level, str] = {"error": "error", "warning": "warning", "note": "notice"}


def render(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Yields a workflow command for each problem; those that GitHub would not show are plain lines
    of the log.

    `checking`: whether an unmet budget is an error, as in the command `check`.
    """
    seen: Counter[Level] = Counter()
    for report in reports:
        lines = []
        for each in problems(report, checking):
            seen[each.level] += 1
            shown = seen[each.level] <= _MOST
            place = from_root(report.file) if report.file else ""
            if each.span is not None:
                place += f":{each.span.line}:{each.span.column}"
            logged = f"dpcompose: {headline(each, place)}"
            lines.append(_annotation(each, report) if shown else logged)
        yield transliterated("".join(f"{line}\n" for line in lines), style.encoding)
    more = [plural(seen[level] - _MOST, level) for level in _COMMANDS if seen[level] > _MOST]
    if more:
        yield (
            f"dpcompose: {' and '.join(more)} more than the {_MOST} annotations of a level that "
            "GitHub shows for a step: they stand above as text\n"
        )


def _annotation(problem: Diagnostic, report: Report) -> str:
    """Returns a problem as a workflow command."""
    properties = {"file": from_root(report.file)} if report.file else {}
    span = problem.span
    if span is not None:
        properties |= {"line": str(span.line), "endLine": str(span.end_line)}
        if span.line == span.end_line:  # columns are refused where the lines differ
            properties |= {"col": str(span.column), "endColumn": str(span.end_column)}
    properties["title"] = f"dpcompose {problem.code}"
    hint = f"\nhint: {printable(problem.hint)}" if problem.hint else ""
    text = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[problem.level]} {text}::{_data(printable(problem.message) + hint)}"


def command(level: str, file: str, line: int | None, title: str, text: str) -> str:
    """Returns a remark on a file as a workflow command. `level`: error, warning or notice."""
    properties = {"file": from_root(file), **({} if line is None else {"line": str(line)})}
    properties["title"] = title
    said = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {said}::{_data(printable(text))}"


def _data(text: str) -> str:
    """Returns the message of a command, escaped."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Returns the value of a command's property, escaped."""
    return _data(printable(text)).replace(":", "%3A").replace(",", "%2C")
