"""A report's section on statements that would make the bound smaller, for people."""

from __future__ import annotations

from rich.console import RenderableType
from rich.table import Table

from dpcompose.render.console import literal, ruled
from dpcompose.render.headlines import ranges
from dpcompose.render.layout import Style
from dpcompose.render.numbers import route_text
from dpcompose.report import Advice, Report

#: So many texts are shown for one advice, unless everything is asked for; JSON has them all.
_MOST_TEXTS = 2


def advice(report: Report, style: Style) -> list[RenderableType]:
    """Returns a heading and a table of the advice; empty without any."""
    if not report.advice:
        return []
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False, expand=True)
    table.add_column(no_wrap=True, style="number")
    table.add_column(no_wrap=True, justify="right", style="good")
    table.add_column(ratio=1, overflow="fold")
    table.add_column(no_wrap=True, justify="right", style="weak")
    for each in report.advice:
        _rows(each, table, style)
    _, at, where = report.advice[0].number.partition(" at ")
    says = f"{at.strip()} {where}, if it is true: say so" if at else "if it is true: say so"
    return [ruled("What would make it less", style, says), table]


def _rows(each: Advice, table: Table, style: Style) -> None:
    """Adds the rows of one advice: the number, the condition, the text to write with its lines."""
    lines: dict[str, list[int]] = {}
    for place in each.places:
        lines.setdefault(place.write, []).append(place.span.line)
    sign = each.number.split()[0]
    cells = (literal(f"{sign} ≤ {less_number(each)}", style), literal(less(each), style))
    says = literal(f"if {each.condition}: ", style)
    told = len(lines) if style.detail == "full" else _MOST_TEXTS
    for write, where in list(lines.items())[:told]:
        says.append_text(literal(write, style, "strong"))
        table.add_row(*cells, says, f":{ranges(where)}")
        cells, says = (literal("", style), literal("", style)), literal("", style)
    more = sum(len(where) for where in list(lines.values())[told:])
    if more:
        entries = "entry" if more == 1 else "entries"
        table.add_row("", "", literal(f"and so at {more} more {entries}", style, "weak"))


def less_number(each: Advice) -> str:
    """Returns the number that the advice would lead to."""
    return route_text(each.after).removeprefix("≤ ")


def less(each: Advice) -> str:
    """Returns by what share the number becomes less, rounded down; empty if it was not finite."""
    if each.before is None or not each.before or each.saves is None:
        return ""
    percent = 100 * each.saves / each.before
    return f"−{int(percent)} %" if percent >= 1 else f"−0.{int(10 * percent)} %"
