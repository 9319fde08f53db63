"""The result of `sensitivity`, what halving each mechanism saves: for people, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType

from dpcompose.planning.savings import Saving, Savings
from dpcompose.render.console import grid, literal, printed, ruled
from dpcompose.render.json import dumped, head
from dpcompose.render.layout import Style
from dpcompose.render.numbers import number_down, number_up
from dpcompose.report.wording import number

#: So many mechanisms are listed; JSON has them all.
_MOST = 40


def text(file: str, found: Savings, style: Style) -> Iterator[str]:
    """Yields the number of the spec, then a line for each mechanism."""
    yield printed(_parts(file, found, style), style)


def _parts(file: str, found: Savings, style: Style) -> Iterator[RenderableType]:
    """Yields the renderables of the result: heading, table, and how many rows are left out."""
    yield literal(f"{file}: {found.name} = {number(found.total)}", style, "strong")
    lead = "what halving a mechanism's ε, ρ or μ, or doubling its noise, takes off that"
    yield ruled("Savings", style, lead)
    shown = found.savings if style.detail == "full" else found.savings[:_MOST]
    yield grid([_row(each, found) for each in shown], style, ("part", "right"))
    if len(found.savings) > len(shown):
        yield literal(f"and {len(found.savings) - len(shown)} more", style, "weak")


def _row(each: Saving, found: Savings) -> tuple[str, str, str]:
    """Returns the row of one mechanism: name, saving, reason or share, and line."""
    place = f"line {each.span.line}"
    if each.saves is None:
        return each.mechanism, "?", f"{each.why}; {place}"
    if not each.saves:
        return each.mechanism, "nothing", f"{each.why}; {place}"
    share = round(100 * float(each.saves / found.total)) if found.total else 0
    return each.mechanism, _down(each), f"{share}%; {place}"


def _down(each: Saving) -> str:
    """Returns what is saved, rounded down to six digits."""
    assert each.saves is not None
    short = number(each.saves)
    value = number_down(each.saves)
    return short if len(short) <= 9 or value is None else f"{value:.6g}"


def json(file: str, found: Savings) -> Iterator[str]:
    """Yields the savings as one JSON document."""
    document: dict[str, Any] = {
        **head(),
        "file": file,
        "number": found.name,
        "total": number_up(found.total),
        "savings": [
            {
                "mechanism": each.mechanism,
                "saves": None if each.saves is None else number_down(each.saves),
                "why": each.why,
                "line": each.span.line,
            }
            for each in found.savings
        ],
    }
    yield dumped(document, indent=2)
