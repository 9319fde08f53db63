"""What would make a bound less, for people."""

from __future__ import annotations

from rich.console import RenderableType
from rich.table import Table

from dpcompose.render.console import literal, ruled
from dpcompose.render.layout import Style
from dpcompose.render.numbers import route_text
from dpcompose.report import Advice, Report

#: So many entries are written out for one advice; JSON has them all.
_MOST_PLACES = 2


def advice(report: Report, style: Style) -> list[RenderableType]:
    """A heading and a table; nothing where there is nothing to say."""
    if not report.advice:
        return []
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(no_wrap=True, style="number")
    table.add_column(no_wrap=True, justify="right", style="good")
    table.add_column(ratio=1, overflow="fold")
    table.add_column(no_wrap=True, justify="right", style="weak")
    for each in report.advice:
        _rows(each, table, style)
    return [ruled("What would make it less", style, "if it is true: say so"), table]


def _rows(each: Advice, table: Table, style: Style) -> None:
    sign = each.number.split()[0]
    bound, less = f"{sign} {route_text(each.after)}", _less(each)
    table.add_row(
        literal(bound, style), literal(less, style), literal(f"if {each.condition}:", style)
    )
    shown = each.places[:_MOST_PLACES]
    for place in shown:
        table.add_row("", "", literal(place.write, style, "strong"), f":{place.span.line}")
    more = len(each.places) - len(shown)
    if more:
        entries = "entry" if more == 1 else "entries"
        table.add_row("", "", literal(f"and so at {more} more {entries}", style, "weak"))


def _less(each: Advice) -> str:
    """How much less it is, as a share, rounded towards nothing saved."""
    if each.before is None or not each.before or each.saves is None:
        return ""
    percent = 100 * each.saves / each.before
    return f"−{int(percent)} %" if percent >= 1 else f"−0.{int(10 * percent)} %"
