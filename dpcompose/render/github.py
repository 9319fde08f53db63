"""Workflow commands of GitHub Actions: an annotation in the file for each problem.

Nothing is printed for a spec without problems. Every line is a command whose text is escaped, so
that no text from a spec can be a command.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpcompose.errors import Diagnostic, Level, printable
from dpcompose.render.layout import Style, transliterated
from dpcompose.render.paths import from_root
from dpcompose.render.problems import problems
from dpcompose.report import Report

_COMMANDS: dict[Level, str] = {"error": "error", "warning": "warning", "note": "notice"}


def render(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """A line for each problem."""
    for report in reports:
        lines = [_annotation(each, report) for each in problems(report, checking)]
        yield transliterated("".join(f"{line}\n" for line in lines), style.encoding)


def _annotation(problem: Diagnostic, report: Report) -> str:
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


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(printable(text)).replace(":", "%3A").replace(",", "%2C")
