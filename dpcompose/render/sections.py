"""Sections at the end of a report: assumptions, ignored findings, recheck, all in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table

from dpcompose.curves.rounding import decimal_up, listing, plural
from dpcompose.render.console import literal, ruled
from dpcompose.render.headlines import ranges
from dpcompose.render.layout import Style, sentence
from dpcompose.render.numbers import bound_text, given_text
from dpcompose.report import Assumption, Report


def assumed(found: Sequence[Assumption], style: Style) -> Iterator[RenderableType]:
    """Yields the assumptions that the author of the spec vouches for, with their lines."""
    if not found:
        return
    yield ruled("Assumed, not checked", style, "you vouch for these")
    told = sorted(found, key=lambda each: each.span is None)
    rows = together(told, style.detail != "full")
    if style.detail != "full":
        rows = ((line, _LISTED.sub(_fewer, says)) for line, says in rows)
    yield by_line(rows, style)


#: Matches a list of four names or more in a sentence.
_LISTED = re.compile("`[^`]+`(?:, `[^`]+`){2,} and `[^`]+`")


def _fewer(found: re.Match[str]) -> str:
    """Returns the first two of a list of names, and how many more there are."""
    names = found[0].split("`")[1::2]
    return f"{listing(names[:2]).replace(' and ', ', ')} and {len(names) - 2} more"


def _assumption(each: Assumption, shortly: bool) -> str:
    """Returns an assumption as a sentence, with the author's reason."""
    because = "" if each.because is None else f", because: {each.because}"
    says = each.shortly if shortly and each.shortly is not None else each.says
    return sentence(says) + because


def together(found: Sequence[Assumption], shortly: bool) -> Iterator[tuple[str, str]]:
    """Yields the assumptions with their lines; those that differ in one name only are merged."""
    groups: list[list[Assumption]] = []
    known: dict[tuple[str, ...], list[Assumption]] = {}
    for each in found:
        parts = tuple(each.says.split("`"))
        # Mergeable: one name, not at the start, where it would be the subject of the verb.
        alone = len(parts) == 3 and parts[0] and each.because is None and each.span is not None
        group = known.get((parts[0], parts[2])) if alone else None
        if group is None:
            groups.append([each])
            if alone:
                known[parts[0], parts[2]] = groups[-1]
        else:
            group.append(each)
    told: dict[str, str] = {}
    for group in groups:
        lines = [each.span.line for each in group if each.span is not None]
        says = _assumption(group[0], shortly)
        if len(group) > 1:
            names = [each.says.split("`")[1] for each in group]
            before, _, after = group[0].says.split("`")
            says = sentence(f"{before}{listing(names)}{after}")
        if not says:
            continue
        place = f":{ranges(lines)}" if lines else ""
        if place in told and not told[place].endswith("."):
            told[place] += f". {says}" if says[:1] != "`" else f"; {says}"
        else:
            told[place] = f"{told[place]} {says}" if place in told else says
    yield from told.items()


def by_line(rows: Iterable[tuple[str, str]], style: Style) -> Table:
    """Returns a table of sentences, each after the source line that it is about."""
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(justify="right", style="weak", no_wrap=True)
    table.add_column(ratio=1)
    for line, says in rows:
        table.add_row(literal(line, style), literal(says, style))
    return table


def ignored(report: Report, style: Style) -> Iterator[RenderableType]:
    """Yields the findings that comments in the spec ignore, with the reasons."""
    if not report.ignored:
        return
    yield ruled("Ignored", style)
    yield by_line(
        (
            (
                "" if each.finding.span is None else f":{each.finding.span.line}",
                f"{each.finding.code}: {each.reason}",
            )
            for each in report.ignored
        ),
        style,
    )


#: The numbers that a recheck does not cover, by the field of a report.
_LEFT_OUT = {
    "at_delta": "the numbers at a chosen δ",
    "at_epsilon": "the numbers at a chosen ε",
    "risk": "what an attacker gains",
    "adversary": "what holds against the adversary",
}


def rechecked(report: Report, style: Style) -> Iterator[RenderableType]:
    """Yields what the stand-alone checker confirmed, and what it did not check; nothing where that
    was not asked for."""
    found = report.rechecked
    if found is None:
        return
    unchecked = sum(count for _, count in found.unchecked)
    follow = plural(max(found.claims - unchecked, 0), "claim")
    says = f"Rechecked: {follow} by the stand-alone checker, in {found.seconds:.1f} s."
    at = [given_text(each).removeprefix("δ = ") for each in report.at_delta]
    within = [dict(found.points).get(each.given) for each in report.at_delta]
    confirmed = [
        f"{text} to {decimal_up(100 * part, 2)} %"
        for text, part in zip(at, within, strict=True)
        if part
    ]
    if confirmed:
        says = f"{says[:-1]}; with it ε at δ = {', '.join(confirmed)}."
    elif report.bound is None:
        says = "Rechecked: nothing; there is no bound without a δ."
    left_out = [_LEFT_OUT[each] for each in report.not_rechecked]
    left_out += [f"{plural(count, 'claim')} ({why})" for why, count in found.unchecked]
    if left_out:
        says += f" Not checked: {', '.join(left_out)}."
    yield literal(says, style)


def sentences(report: Report, style: Style) -> Iterator[RenderableType]:
    """Yields the reasoning in numbered sentences, each with its theorem, premises and lines."""
    if not report.chain:
        return
    yield ruled("In sentences", style)
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(justify="right", style="weak", no_wrap=True)
    table.add_column(ratio=1)
    for each in report.chain:
        bound = f" → {bound_text(each.bound)}" if each.bound else ""
        rests = [each.theorem] if each.theorem else []
        if each.inputs:
            rests.append(f"from {ranges(each.inputs)}")
        lines = sorted({span.line for span in each.spans})
        if lines:
            rests.append(f"{'line' if len(lines) == 1 else 'lines'} {ranges(lines)}")
        text = literal(sentence(each.says) + bound, style)
        if rests:
            text.append_text(literal(f" [{'; '.join(rests)}]", style, "weak"))
        table.add_row(f"{each.number}.", text)
    yield table
