"""The bound alone, one line a file, for shell scripts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpcompose.core.exact import decimal_up
from dpcompose.render.layout import Style
from dpcompose.render.numbers import parameters
from dpcompose.report import Report

_DIGITS = 15


def line(report: Report) -> str:
    """`1.7`; `6 0.00006` for (ε,δ); `inf` without a finite bound; `invalid` for an invalid spec.

    Numbers are decimals in at most 15 digits, rounded up.
    """
    if report.status == "invalid":
        return "invalid"
    if report.bound is None:
        return "inf"
    return " ".join(decimal_up(value, _DIGITS) for _, value, _ in parameters(report.bound))


def render(reports: Iterable[Report], style: Style, named: bool) -> Iterator[str]:
    """A line for each report; `named`: with `FILE: ` before it."""
    for report in reports:
        prefix = f"{style.plain(report.file)}: " if named else ""
        yield f"{prefix}{line(report)}\n"
