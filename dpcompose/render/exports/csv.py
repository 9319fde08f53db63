"""The format `csv`: one line for the cost of each mechanism, for spreadsheets (RFC 4180).

Text is quoted, so that no line begins with a word of a spec, and text that a spreadsheet would take
for a formula gets an apostrophe before it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

from dpcompose.curves.rounding import decimal_up
from dpcompose.errors import printable
from dpcompose.render.layout import Style, transliterated
from dpcompose.render.words.problems import problems
from dpcompose.report import Report, Share

#: `cost` is ε, ρ or μ, by the notion, `share` its part of the sum, both rounded up. `status`
#: is that of the result, or `problems` where `check` finds errors in it. `assumed`: of the data
#: between outputs, where the worst blocks count alone.
COLUMNS = ("file", "name", "line", "notion", "cost", "delta", "share", "status", "assumed")
#: The significant digits of a number.
_DIGITS = 12
#: A spreadsheet takes text that starts so for a formula (OWASP, "CSV injection"), in full width and
#: other forms of these characters too.
_FORMULAS = ("=", "+", "-", "@", "\N{MINUS SIGN}")


def render(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Yields the heading of the table, then a line for each mechanism of each report; one line for
    a report without costs.

    `checking`: whether an unmet budget is an error, as in the command `check`.
    """
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
    """Returns the line of one mechanism's cost."""
    cells = ["", "", "", "", "", ""]
    if share is not None:
        numbers = (share.bound.value, share.bound.delta, share.of_whole)
        cells = [
            _text(share.mechanism),
            str(share.span.line) if share.span else "",
            _text(share.bound.notion.value),
            *("" if number is None else decimal_up(number, _DIGITS) for number in numbers),
        ]
    assumed = _text("; ".join(report.meanwhile)) if report.meanwhile else ""
    return ",".join([_text(report.file), *cells, _text(status), assumed]) + "\n"


def _text(text: str) -> str:
    """Returns a quoted text, with an apostrophe before what would be a formula."""
    told = printable(text).replace('"', '""')
    forms = told, transliterated(told, "ascii"), unicodedata.normalize("NFKC", told)
    is_formula = any(each.lstrip().startswith(_FORMULAS) for each in forms)
    return f'"\'{told}"' if is_formula else f'"{told}"'
