"""The table of what each mechanism costs: what it adds at the worst change, and its share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from dpcompose.core.notions.notion import SIGNS
from dpcompose.curves.rounding import decimal_up, summed
from dpcompose.render.console import grid, literal, ruled
from dpcompose.render.layout import Style
from dpcompose.render.numbers import (
    given_text,
    route_text,
    short_amounts,
)
from dpcompose.render.panel import bar, share_text
from dpcompose.report import Report, Share

#: Of more equal shares only the first are listed, unless everything is asked for.
_MOST_ALIKE = 3
_MOST_SHARES = 12
_BAR = 12


def costs(report: Report, style: Style) -> Iterator[RenderableType]:
    """Yields the table of what each mechanism adds at the worst change; nothing without costs."""
    if not report.shares:
        return
    yield ruled("What each mechanism costs", style, _where(report))
    alone = report.bound is None and report.record is None
    without = any(each.without is not None for each in report.shares)
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="weak", expand=True)
    table.add_column("mechanism", style="mechanism", ratio=1, min_width=style.width // 4)
    table.add_column(_heading(unit_of_costs(report), style), justify="right")
    table.add_column(_heading(f"share of {added_unit(report)}", style), no_wrap=True)
    if without:
        table.add_column(_heading("ε without it", style), justify="right")
    table.add_column("line", justify="right", style="weak", no_wrap=True)
    for each, more in _folded(report.shares, style):
        row: list[RenderableType] = [
            literal(f"{len(more)} more", style, "weak") if more else literal(each.mechanism, style),
            ""
            if more and not _have_equal_bounds(more)
            else literal(short_amounts(each.bound, alone), style),
            _part(_sum_of_shares(more or [each]), style),
        ]
        if without:
            known = None if more else each.without
            row.append(literal("" if known is None else route_text(known), style))
        table.add_row(*row, f":{each.span.line}" if each.span and not more else "")
    if report.group_shares:
        table.add_row("")
    for name, part in report.group_shares:
        table.add_row(literal(f"group {name}", style), "", _part(part, style))
    yield table


def accuracy(report: Report, style: Style) -> Iterator[RenderableType]:
    """Yields the table of what noise does to the answers of each mechanism, where asked for."""
    if not report.accuracy:
        return
    yield ruled("Accuracy", style, "what the noise does to each number of an answer, in its units")
    head = ["mechanism", "noise", "standard deviation", f"{level_text(report)} within ±", "line"]
    rows = [[literal(each, style, "weak") for each in head]]
    for name, noise, deviation, within, line in accuracy_rows(report):
        rows.append(
            [
                literal(name, style, "mechanism"),
                *(literal(each, style) for each in (noise, deviation, within)),
                literal(line, style, "weak"),
            ]
        )
    yield grid(rows, style)


def level_text(report: Report) -> str:
    """Returns the level at which accuracy is stated: `95 %`."""
    return f"{decimal_up(100 * report.accuracy[0].level, 12)} %"


def accuracy_rows(report: Report) -> list[tuple[str, str, str, str, str]]:
    """Returns for each mechanism its noise, its standard deviation and half-width, and its line."""
    return [
        (
            each.mechanism,
            each.noise or "not known",
            "–" if each.deviation is None else decimal_up(each.deviation, 4),
            "–" if each.within is None else decimal_up(each.within, 4),
            f":{each.span.line}" if each.span else "",
        )
        for each in report.accuracy
    ]


def _heading(text: str, style: Style) -> Text:
    """Returns the heading of a column as styled text."""
    return literal(text, style, "weak")


def _folded(shares: Sequence[Share], style: Style) -> Iterator[tuple[Share, list[Share]]]:
    """Yields the shares to list, each with the shares that its row stands for (empty: itself only).

    Of many equal ones the first are listed, and of many in all the largest.
    """
    left = list(shares)
    if style.detail == "full":
        yield from ((each, []) for each in left)
        return
    told = 0
    while left and told < _MOST_SHARES:
        run = next(
            (n for n, each in enumerate(left) if not _have_equal_bounds([left[0], each])), len(left)
        )
        shown = run if run <= _MOST_ALIKE + 1 else _MOST_ALIKE
        shown = min(shown, _MOST_SHARES - told)
        yield from ((each, []) for each in left[:shown])
        if run > shown and run > _MOST_ALIKE + 1:
            yield left[0], left[shown:run]
            shown = run
        told += min(shown, _MOST_ALIKE + 1)
        left = left[shown:]
    if left:
        yield left[0], left


def _have_equal_bounds(shares: Sequence[Share]) -> bool:
    """Returns whether all shares have the same bound."""
    return all(each.bound == shares[0].bound for each in shares)


def _sum_of_shares(shares: Sequence[Share]) -> Fraction | None:
    """Returns the sum of the shares of the whole; None where none is known."""
    parts = [each.of_whole for each in shares if each.of_whole is not None]
    return summed(parts) if parts else None


def _where(report: Report) -> str:
    """Returns `at δ = 1e-6` where the costs depend on a δ, else nothing."""
    if report.bound is None or any(each.without is not None for each in report.shares):
        at = next(iter(report.at_delta), None)
        return "" if at is None else f"at {given_text(at)}"
    return ""


def unit_of_costs(report: Report) -> str:
    """Returns the symbols of the parameters in which the costs are given."""
    if report.record is not None:
        return ", ".join(SIGNS[name] for name, _ in report.record.limit)
    if report.bound is None:
        return "ε alone"
    return ", ".join(SIGNS[name] for name, _, _ in report.bound.parameters)


def added_unit(report: Report) -> str:
    """Returns the symbol of the unit in which the costs add up."""
    if report.record is not None:
        return report.record.notion.facts.unit.split(" ")[0]
    if report.bound is None:
        return "the sum"
    return report.bound.notion.facts.unit.split(" ")[0]


def _part(part: Fraction | None, style: Style) -> Text:
    """Returns a share of the whole as a bar with per cent."""
    if part is None:
        return Text()
    return bar(part, _BAR, style, "strong").append_text(literal(f" {share_text(part):>5}", style))
