"""The result of `savings` for people."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from rich.text import Text

from dpcompose.curves.rounding import decimal_up
from dpcompose.planning.savings import Saving, Savings
from dpcompose.render.layout import Style, sentence
from dpcompose.render.parts.console import (
    Headline,
    Part,
    Section,
    TextTable,
    literal,
    printed,
    share_bar,
)
from dpcompose.render.words.numbers import decimal_text, equation, left_text

#: So many mechanisms are listed; JSON has them all.
_MOST = 40
#: The cells of a bar.
_BAR = 10


def text(file: str, found: Savings, style: Style) -> Iterator[str]:
    """Yields the number of the spec, then a line for each mechanism."""
    yield printed(_parts(file, found, style), style)


def _parts(file: str, found: Savings, style: Style) -> Iterator[Part]:
    """Yields the renderables of the result: headline, table, and how many rows are left out."""
    head_ = literal(f"{file}: ", style, "name")
    name, at, point = found.name.partition(" at ")
    total = equation(name, decimal_text(found.total))
    yield Headline(head_.append_text(literal(f"{total}{at}{point}", style, "strong")))
    shown = found.savings if style.detail == "full" else found.savings[:_MOST]
    rows = [(each.mechanism, *_cells(each, found, style), f":{each.span.line}") for each in shown]
    heads = ("mechanism", f"{name} saved", f"{name} then", "saved", "line")
    columns = ("wide mechanism", "right", "right", "fixed", "line")
    parts: list[Part] = [TextTable(rows, style, columns, heads)]
    if len(found.savings) > len(shown):
        parts.append(literal(f"and {len(found.savings) - len(shown)} more", style, "weak"))
    if name in ("ρ", "μ"):
        parts.append(literal("--delta 1e-6 gives an ε, and what is saved of it", style, "weak"))
    says = "by half the ε, ρ or μ of a mechanism, or twice its noise"
    yield Section("Savings", parts, style, says)
    if found.meanwhile:
        told = TextTable([(sentence(each),) for each in found.meanwhile], style)
        yield Section("Assumed, not checked", [told], style)


def _cells(each: Saving, found: Savings, style: Style) -> tuple[str, str, Text]:
    """Returns what a mechanism saves, the number then, and the share with a bar; or why not."""
    if each.saves is None:
        return "?", "", literal(each.why or "", style, "weak")
    if not each.saves:
        return "nothing", "", literal(each.why or "", style, "weak")
    part = each.saves / found.total if found.total else Fraction(0)
    return (
        left_text(each.saves),
        decimal_up(found.total - each.saves, 6),
        share_bar(part, _BAR, style),
    )
