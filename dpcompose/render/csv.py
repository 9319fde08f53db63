"""CSV: what each mechanism costs, a line for each, for spreadsheets and data frames (RFC 4180).

Text is quoted, so that no line begins with a word of a spec, and what a spreadsheet would take for
a formula has an apostrophe before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from dpcompose.curves.rounding import decimal_up
from dpcompose.errors import printable
from dpcompose.render.layout import Style, transliterated
from dpcompose.render.problems import problems
from dpcompose.report import Report, Share

#: `cost` is ε, ρ or μ, by the notion, and `share` its part of the whole, both rounded up. `status`
#: is that of the result, or `problems` where `check` finds errors in it.
COLUMNS = ("file", "name", "line", "notion", "cost", "delta", "share", "status")
#: Significant digits.
_DIGITS = 12
#: With one of these in front a spreadsheet reads a formula (OWASP, "CSV injection").
_FORMULAS = ("=", "+", "-", "@")


def render(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """A heading, then the lines of each report: one without a name where it tells no costs."""
    head = ",".join(COLUMNS) + "\n"
    for report in reports:
        wrong = checking and any(each.level == "error" for each in problems(report, checking))
        status = "problems" if wrong and report.status == "ok" else report.status
        shares = report.shares or (None,)
        rows = [_row(report, each, status) for each in shares]
        yield transliterated(head + "".join(rows), style.encoding)
        head = ""
    yield head


def _row(report: Report, share: Share | None, status: str) -> str:
    cells = ["", "", "", "", "", ""]
    if share is not None:
        cells = [
            _text(share.mechanism),
            str(share.span.line) if share.span else "",
            _text(share.bound.notion.value),
            *map(_number, (share.bound.value, share.bound.delta, share.of_whole)),
        ]
    return ",".join([_text(report.file), *cells, _text(status)]) + "\n"


def _number(value: Fraction | None) -> str:
    return "" if value is None else decimal_up(value, _DIGITS)


def _text(text: str) -> str:
    told = printable(text).replace('"', '""')
    return f'"\'{told}"' if told.startswith(_FORMULAS) else f'"{told}"'
