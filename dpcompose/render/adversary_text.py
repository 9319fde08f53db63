"""A report's section on an adversary with two hypotheses, for people."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table

from dpcompose.core.theorem import Role
from dpcompose.core.theorems.book import in_role
from dpcompose.curves.rounding import decimal_up
from dpcompose.render.console import literal, ruled
from dpcompose.render.layout import Style, sentence
from dpcompose.render.numbers import bound_text, found_text, given_text
from dpcompose.render.theorem_text import book, in_short
from dpcompose.report import AgainstAdversary, Line, Report

_MOST_STEPS = 14


def against_adversary(report: Report, style: Style) -> Iterator[RenderableType]:
    """Yields the bound against the adversary with its reasoning; nothing without an adversary."""
    found = report.adversary
    if found is None:
        return
    yield ruled("Against an adversary with two hypotheses", style, "weaker than the bound above")
    if found.bound is None:
        yield literal(f"No bound: {found.why}", style, "bad")
        yield literal(sentence(found.label), style)
        return
    head = literal(bound_text(found.bound), style, "strong")
    yield head.append_text(literal(f", {found.label}", style))
    if found.ratio is not None and report.bound is not None:
        share = decimal_up(found.ratio, 4)
        dp = bound_text(report.bound)
        yield literal(f"That is {share} times the ε of differential privacy, {dp}", style)
    for at in found.at_delta:
        yield literal(f"{found_text(at)} at {given_text(at)}: {at.says}", style)
    yield _steps(found, style)


def _steps(found: AgainstAdversary, style: Style) -> Table:
    """Returns the reasoning as a table: numbered steps, theorem, other bounds, assumptions."""
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(justify="right", style="weak", no_wrap=True)
    table.add_column(ratio=1)
    table.add_column(justify="right", style="weak", no_wrap=True)
    chain = found.chain if style.detail == "full" else found.chain[:_MOST_STEPS]
    for line in chain:
        cited = in_short(line.theorem) if line.theorem else ""
        table.add_row(str(line.number), literal(_step(line), style), literal(cited, style))
    if len(found.chain) > len(chain):
        table.add_row("", literal(f"{len(found.chain) - len(chain)} more steps", style, "weak"), "")
    entry = book().get(found.theorem) if found.theorem else None
    if entry is not None:
        text = f"{entry.title}: {bound_text(found.bound)}" if found.bound else entry.title
        table.add_row("", literal(text, style, "strong"), literal(in_short(entry.id), style))
    of_dp = in_role(Role.ALL_HYPOTHESES).id  # that bound is shown above already
    for each in found.alternatives:
        if each.bound is not None and each.theorem != of_dp:
            table.add_row("", literal(f"Also: {bound_text(each.bound)}, by {each.why}", style), "")
    for text in found.assumptions:
        table.add_row("", literal(f"Assumed: {text}", style), "")
    return table


def _step(line: Line) -> str:
    """Returns one step as a sentence with its bound."""
    bound = "" if line.bound is None else f": {bound_text(line.bound)}"
    return sentence(f"{line.says}{bound}")
