"""The sections below the proof: what each mechanism costs, what was compared, what is assumed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from dpcompose.core.notions.notion import SIGNS
from dpcompose.core.numbers.words import listing, plural
from dpcompose.render.console import literal, ruled
from dpcompose.render.headlines import asked, listed
from dpcompose.render.layout import Style, sentence
from dpcompose.render.numbers import (
    bound_text,
    equation,
    excess_over,
    found_text,
    given_text,
    left_text,
    other_parameter,
    parameters,
    route_text,
    short_amounts,
    short_text,
)
from dpcompose.render.panel import bar, share_text
from dpcompose.render.theorem_text import book
from dpcompose.report import Assumption, At, Report, Route, Share

#: So many rows are told, unless everything is asked for.
_MOST_ALIKE = 3
_MOST_SHARES, _MOST_ROUTES, _MOST_USABLE, _MOST_UNUSABLE = 12, 3, 3, 3
_BAR = 12
_VISIBLE = Fraction(1, 10**5)  # a smaller relative gap does not show in six digits


def _cut(found: Sequence[object], most: int, style: Style) -> int:
    """How many of what was found are told."""
    return len(found) if style.detail == "full" else min(most, len(found))


# --- costs ---------------------------------------------------------------------------------------


def costs(report: Report, style: Style) -> Iterator[RenderableType]:
    """What each mechanism adds at the worst change, and its part of the whole."""
    if not report.shares:
        return
    yield ruled("What each mechanism costs", style, _where(report))
    alone, without = report.bound is None, any(each.without is not None for each in report.shares)
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="weak", expand=True)
    table.add_column("mechanism", style="mechanism", ratio=1, min_width=style.width // 4)
    table.add_column(_heading(_unit(report), style), justify="right")
    table.add_column(_heading(f"share of {_adds(report)}", style), no_wrap=True)
    if without:
        table.add_column(_heading("ε without it", style), justify="right")
    table.add_column("line", justify="right", style="weak", no_wrap=True)
    for each, more in _folded(report.shares, style):
        row: list[RenderableType] = [
            literal(f"{len(more)} more", style, "weak") if more else literal(each.mechanism, style),
            "" if more and not _alike(more) else literal(short_amounts(each.bound, alone), style),
            _part(_whole(more or [each]), style),
        ]
        if without:
            known = None if more else each.without
            row.append(literal("" if known is None else route_text(known), style))
        table.add_row(*row, f":{each.span.line}" if each.span and not more else "")
    yield table


def _heading(text: str, style: Style) -> Text:
    """A heading of a column."""
    return literal(text, style, "weak")


def _folded(shares: Sequence[Share], style: Style) -> Iterator[tuple[Share, list[Share]]]:
    """The shares to tell, each by itself or for those that it stands for.

    Of many alike the first are told, and of many in all those that cost most.
    """
    left = list(shares)
    if style.detail == "full":
        yield from ((each, []) for each in left)
        return
    told = 0
    while left and told < _MOST_SHARES:
        run = next((n for n, each in enumerate(left) if not _alike([left[0], each])), len(left))
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


def _alike(shares: Sequence[Share]) -> bool:
    return all(each.bound == shares[0].bound for each in shares)


def _whole(shares: Sequence[Share]) -> Fraction | None:
    parts = [each.of_whole for each in shares if each.of_whole is not None]
    return sum(parts, Fraction(0)) if parts else None


def _where(report: Report) -> str:
    """At which δ, where that matters."""
    if report.bound is None or any(each.without is not None for each in report.shares):
        at = next(iter(report.at_delta), None)
        return "" if at is None else f"at {given_text(at)}"
    return ""


def _unit(report: Report) -> str:
    """The parameters that the costs are given in."""
    if report.bound is None:
        return "ε alone"
    return ", ".join(SIGNS[name] for name, _, _ in parameters(report.bound))


def _adds(report: Report) -> str:
    if report.bound is None:
        return "the sum"
    return report.bound.notion.facts.unit.split(" ")[0]


def _part(part: Fraction | None, style: Style) -> Text:
    if part is None:
        return Text()
    return bar(part, _BAR, style, "strong").append_text(literal(f" {share_text(part):>5}", style))


# --- compared ------------------------------------------------------------------------------------


def compared(report: Report, style: Style) -> Iterator[RenderableType]:
    """The routes and theorems that were compared: the one used, the looser ones, and why not."""
    usable = [*_routes(report, style), *_usable(report, style)]
    unusable = _unusable(report, style)
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


def _row(mark: str, name: str, value: str, excess: str, why: str, style: Style) -> _Row:
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
    at = asked(report)
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
    if route.value is None or at.value is None:
        return _row("", route.name, "none", "", route.why, style)
    value = equation(other_parameter(at), route_text(route.value))
    return _row("", route.name, value, excess_over(route.value, at.value), route.why, style)


def _visible_lower(at: At) -> Fraction | None:
    """The lower bound, where it is seen to differ from the number that holds."""
    if at.value is None or not at.lower or at.value - at.lower <= _VISIBLE * at.value:
        return None
    return at.lower


def _usable(report: Report, style: Style) -> Iterator[_Row]:
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
    """The theorems that do not hold here, those with one reason together."""
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
    if style.detail != "full":
        return literal(", ".join(names), style)
    return literal("; ".join(f"{each} {_title(each)}" for each in names), style)


def _title(identifier: str) -> str:
    entry = book().get(identifier)
    return "" if entry is None else entry.title


# --- assumed, ignored, rechecked -----------------------------------------------------------------


def assumed(found: Sequence[Assumption], style: Style) -> Iterator[RenderableType]:
    """What the result rests on and nobody but the author of the spec can check, by its line."""
    if not found:
        return
    yield ruled("Assumed, not checked", style, "you vouch for these")
    told = sorted(found, key=lambda each: each.span is None)
    rows = _together(told, style.detail != "full")
    if style.detail != "full":
        rows = ((line, _LISTED.sub(_fewer, says)) for line, says in rows)
    yield by_line(rows, style)


#: Four names or more in a sentence.
_LISTED = re.compile("`[^`]+`(?:, `[^`]+`){2,} and `[^`]+`")


def _fewer(found: re.Match[str]) -> str:
    """The first two of the names, and how many more there are."""
    names = found[0].split("`")[1::2]
    return f"{listing(names[:2]).replace(' and ', ', ')} and {len(names) - 2} more"


def _assumption(each: Assumption, shortly: bool) -> str:
    because = "" if each.because is None else f", because: {each.because}"
    says = each.shortly if shortly and each.shortly is not None else each.says
    return sentence(says) + because


def _together(found: Sequence[Assumption], shortly: bool) -> Iterator[tuple[str, str]]:
    """The assumptions with their lines; those that differ in one name within them are one."""
    groups: list[list[Assumption]] = []
    known: dict[tuple[str, ...], list[Assumption]] = {}
    for each in found:
        parts = tuple(each.says.split("`"))
        # One name, and not at the start: the verb then is that of something else.
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
        place = f":{listed(lines)}" if lines else ""
        if place in told and not told[place].endswith("."):
            told[place] += f". {says}" if says[:1] != "`" else f"; {says}"
        else:
            told[place] = f"{told[place]} {says}" if place in told else says
    yield from told.items()


def by_line(rows: Iterable[tuple[str, str]], style: Style) -> Table:
    """Sentences, each behind the line that it is about."""
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(justify="right", style="weak", no_wrap=True)
    table.add_column(ratio=1)
    for line, says in rows:
        table.add_row(literal(line, style), literal(says, style))
    return table


def ignored(report: Report, style: Style) -> Iterator[RenderableType]:
    """What comments in the spec ignore, and why."""
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


#: What a recheck leaves out, by the fields of a report.
_LEFT_OUT = {
    "at_delta": "the numbers at a chosen δ",
    "at_epsilon": "the numbers at a chosen ε",
    "adversary": "what holds against the adversary",
}


def rechecked(report: Report, style: Style) -> Iterator[RenderableType]:
    """What the kernel checked again, and what it did not; nothing where that was not asked for."""
    if report.rechecked is None:
        return
    count = "1 claim" if report.rechecked == 1 else f"{report.rechecked} claims"
    says = f"Rechecked: {count} by the kernel, without the search."
    if report.bound is None:
        says = "Rechecked: nothing; there is no bound without a δ."
    left_out = [_LEFT_OUT[each] for each in report.not_rechecked]
    if left_out:
        says += f" Not rechecked: {', '.join(left_out)}."
    yield literal(says, style)


def sentences(report: Report, style: Style) -> Iterator[RenderableType]:
    """The reasoning once more, in numbered sentences with the theorem and the lines of each."""
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
            rests.append(f"from {listed(each.inputs)}")
        lines = sorted({span.line for span in each.spans})
        if lines:
            rests.append(f"{'line' if len(lines) == 1 else 'lines'} {listed(lines)}")
        text = literal(sentence(each.says) + bound, style)
        if rests:
            text.append_text(literal(f" [{'; '.join(rests)}]", style, "weak"))
        table.add_row(f"{each.number}.", text)
    yield table
