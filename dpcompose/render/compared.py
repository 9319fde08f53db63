"""The section on what was compared: the route or theorem used, looser ones, and unusable ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from dpcompose.core.notions.notion import SIGNS
from dpcompose.curves.rounding import plural
from dpcompose.render.console import literal, ruled
from dpcompose.render.headlines import requested_number
from dpcompose.render.layout import Style
from dpcompose.render.numbers import (
    equation,
    excess_over,
    found_text,
    given_text,
    left_text,
    other_parameter,
    route_text,
    short_text,
)
from dpcompose.render.theorem_text import book
from dpcompose.report import At, Report, Route

#: So many of each are shown, unless everything is asked for.
_MOST_ROUTES, _MOST_USABLE, _MOST_UNUSABLE = 3, 3, 3
_VISIBLE = Fraction(1, 10**5)  # a smaller relative gap does not show in six digits


def _cut(found: Sequence[object], most: int, style: Style) -> int:
    """Returns how many of the found items are shown."""
    return len(found) if style.detail == "full" else min(most, len(found))


def compared(report: Report, style: Style) -> Iterator[RenderableType]:
    """Yields the routes and theorems compared: the one used, the looser ones, and, in full, those
    that do not apply."""
    usable = usable_rows(report, style)
    unusable = _unusable(report, style) if style.detail == "full" else []
    if not usable and not unusable:
        return
    yield ruled("Compared", style)
    if usable:
        table = Table.grid(padding=(0, 1), expand=True)
        table.add_column(no_wrap=True)
        table.add_column(ratio=1)
        table.add_column(max_width=max(16, style.width // 3), justify="right")
        table.add_column(no_wrap=True, justify="right")
        for row in usable:
            table.add_row(*row)
        yield table
    if unusable:
        refused = Table.grid(padding=(0, 1), expand=True)
        refused.add_column(no_wrap=True)
        refused.add_column(max_width=max(16, style.width * 2 // 5))
        refused.add_column(ratio=1)
        for names, why in unusable:
            refused.add_row(literal("✗", style, "bad"), names, why)
        yield refused


_Row = tuple[Text, Text, Text, Text]


def usable_rows(report: Report, style: Style) -> list[_Row]:
    """Returns the rows of the routes and theorems that give a number, the one used first."""
    return [*_routes(report, style), *_usable(report, style)]


def _row(mark: str, name: str, value: str, excess: str, why: str, style: Style) -> _Row:
    """Returns the cells of one row: mark, name with reason, value, excess over the bound."""
    text = literal(name, style)
    if why:
        text.append_text(literal(f": {why}", style, "weak"))
    return (
        literal(mark or " ", style, "good"),
        text,
        literal(value, style),
        literal(excess, style),
    )


def _routes(report: Report, style: Style) -> Iterator[_Row]:
    """Yields a row for each route to the number that was asked for, the winning one first."""
    at = requested_number(report)
    if at is None or at.value is None:
        return
    says = f"used at {given_text(at)}"
    least = _visible_lower(at)
    if least is not None:
        says += f"; the true {SIGNS[other_parameter(at)]} is at least {left_text(least)}"
    yield _row("✓", at.rule, found_text(at), "", says, style)
    others = [each for each in at.others if each.name != at.rule]
    told = _cut(others, _MOST_ROUTES, style)
    for each in others[:told]:
        yield _route(each, at, style)
    if len(others) > told:
        yield _row("", plural(len(others) - told, "more route"), "", "", "--full lists them", style)


def _route(route: Route, at: At, style: Style) -> _Row:
    """Returns the row of a route that did not win."""
    if route.value is None or at.value is None:
        return _row("", route.name, "none", "", route.why, style)
    value = equation(other_parameter(at), route_text(route.value))
    return _row("", route.name, value, excess_over(route.value, at.value), route.why, style)


def _visible_lower(at: At) -> Fraction | None:
    """Returns the lower bound of a number if it differs visibly from the number, else None."""
    if at.value is None or not at.lower or at.value - at.lower <= _VISIBLE * at.value:
        return None
    return at.lower


def _usable(report: Report, style: Style) -> Iterator[_Row]:
    """Yields a row for each further bound that holds, with how much looser it is."""
    found = [each for each in report.alternatives if each.bound is not None]
    told = _cut(found, _MOST_USABLE, style)
    for each in found[:told]:
        assert each.bound is not None
        entry = book().get(each.theorem) if each.theorem else None
        name = f"{entry.id} {entry.title}" if entry else "also"
        excess = ""
        bound = report.bound
        if entry is not None and bound is not None and bound.notion is each.bound.notion:
            excess = excess_over(each.bound.value, bound.value)
        yield _row("", name, short_text(each.bound), excess, each.why, style)
    if len(found) > told:
        yield _row("", plural(len(found) - told, "more bound"), "", "", "--full lists them", style)


def _unusable(report: Report, style: Style) -> list[tuple[Text, Text]]:
    """Returns the theorems that do not apply, grouped by the reason."""
    by_reason: dict[str, list[str]] = {}
    for each in report.alternatives:
        if each.bound is None and each.theorem is not None:
            by_reason.setdefault(each.why, []).append(each.theorem)
    told = _cut(list(by_reason), _MOST_UNUSABLE, style)
    rows = [
        (_refused(names, style), literal(f"not usable: {why}", style, "weak"))
        for why, names in list(by_reason.items())[:told]
    ]
    rest = [name for names in list(by_reason.values())[told:] for name in names]
    if rest:
        rows.append(
            (literal(", ".join(rest), style), literal("--full says why not", style, "weak"))
        )
    return rows


def _refused(names: Sequence[str], style: Style) -> Text:
    """Returns the names of unusable theorems, with titles where all is asked for."""
    if style.detail != "full":
        return literal(", ".join(names), style)
    return literal("; ".join(f"{each} {_title(each)}" for each in names), style)


def _title(identifier: str) -> str:
    """Returns the title of a theorem; empty for an id that is not in the book."""
    entry = book().get(identifier)
    return "" if entry is None else entry.title
