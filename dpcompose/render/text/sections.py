"""Sections of a report for people: advice, what was compared, the adversary, assumptions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from rich.text import Text

from dpcompose.core.notions.notion import SIGNS
from dpcompose.core.theorem import Role
from dpcompose.core.theorems.book import in_role
from dpcompose.curves.rounding import decimal_up, listing, plural
from dpcompose.render.layout import Style, sentence
from dpcompose.render.parts.console import Part, Section, TextTable, literal
from dpcompose.render.words.headlines import place, ranges, requested_number
from dpcompose.render.words.numbers import (
    at_text,
    bound_text,
    decimal_text,
    equation,
    excess_over,
    found_text,
    given_text,
    left_text,
    other_parameter,
    short_text,
)
from dpcompose.render.words.theorem_text import entry_of, in_short
from dpcompose.report import Advice, AgainstAdversary, Assumption, At, Report, Route

# --- what would make it less ---------------------------------------------------------------------

#: So many texts are shown for one advice, unless everything is asked for; JSON has them all.
_MOST_TEXTS = 2


def advice(report: Report, style: Style) -> Iterator[Section]:
    """Yields the table of the advice; nothing without any."""
    if not report.advice:
        return
    _, at, where = report.advice[0].number.partition(" at ")
    says = f"{at.strip()} {where}, if it is true: say so" if at else "if it is true: say so"
    rows = [row for each in report.advice for row in _advice_rows(each, style)]
    table = TextTable(rows, style, ("fixed number", "right fixed good", "fold", "line"))
    yield Section("What would make it less", [table], style, says, anchor="advice")


def _advice_rows(each: Advice, style: Style) -> Iterator[list[str | Text]]:
    """Yields the rows of one advice: the number, the condition, the text to write with its
    lines."""
    lines: dict[str, list[int]] = {}
    for written in each.places:
        lines.setdefault(written.write, []).append(written.span.line)
    number = decimal_text(each.after).removeprefix("≤ ")
    cells = [f"{each.number.split()[0]} ≤ {number}", less(each)]
    says = literal(f"if {each.condition}: ", style)
    told = len(lines) if style.detail == "full" else _MOST_TEXTS
    for write, where in list(lines.items())[:told]:
        text = says.append_text(literal(write, style, "strong"))
        yield [*cells, text, f":{ranges(where)}"]
        cells, says = ["", ""], Text()
    more = sum(len(where) for where in list(lines.values())[told:])
    if more:
        entries = "entry" if more == 1 else "entries"
        yield ["", "", literal(f"and so at {more} more {entries}", style, "weak")]


def less(each: Advice) -> str:
    """Returns by what share the number becomes less, rounded down; empty if it was not finite."""
    if each.before is None or not each.before or each.saves is None:
        return ""
    percent = 100 * each.saves / each.before
    return f"−{int(percent)} %" if percent >= 1 else f"−0.{int(10 * percent)} %"


# --- what was compared ---------------------------------------------------------------------------

#: So many of each are shown, unless everything is asked for.
_MOST_COMPARED = 3
_VISIBLE = Fraction(1, 10**5)  # a smaller relative gap does not show in six digits

_HEADS = ("used", "route or theorem", "bound", "larger by")

_Row = tuple[Text, Text, Text, Text]


def compared(report: Report, style: Style) -> Iterator[Section]:
    """Yields the routes and theorems compared: the one used, the looser ones, and, in full, those
    that do not apply."""
    usable = usable_rows(report, style)
    unusable = _unusable(report, style) if style.detail == "full" else []
    tables = (
        TextTable(
            usable, style, ("fixed", "rest", "third right", "right fixed"), gap=1, labels=_HEADS
        ),
        TextTable(unusable, style, ("fixed bad", "part", "rest"), gap=1),
    )
    shown = [each for each in tables if each.rows]
    if shown:
        yield Section("Compared", shown, style, anchor="compared")


def usable_rows(report: Report, style: Style) -> list[_Row]:
    """Returns the rows of the routes and theorems that give a number, the one used first: mark,
    name with reason, value, excess over the bound."""

    def row(mark: str, name: str, value: str, excess: str, why: str) -> _Row:
        """Returns the cells of one row."""
        text = literal(name, style)
        if why:
            text.append_text(literal(f": {why}", style, "weak"))
        return literal(mark, style, "good"), text, literal(value, style), literal(excess, style)

    def more(left: int, noun: str) -> list[_Row]:
        """Returns the row on those that are left out, if there are any."""
        return [row(" ", plural(left, f"more {noun}"), "", "", "--full lists them")] * (left > 0)

    most = None if style.detail == "full" else _MOST_COMPARED
    rows, at = [], requested_number(report)
    if at is not None and at.value is not None:
        rows.append(row("✓", at.rule, found_text(at), "", _used(at)))
        others = [each for each in at.others if each.name != at.rule]
        rows += [row(" ", each.name, *_looser(each, at), each.why) for each in others[:most]]
        rows += more(len(others) - len(others[:most]), "route")
    found = [each for each in report.alternatives if each.bound is not None]
    for each in found[:most]:
        assert each.bound is not None
        entry, excess, bound = entry_of(each.theorem), "", report.bound
        if entry is not None and bound is not None and bound.notion is each.bound.notion:
            excess = excess_over(each.bound.value, bound.value)
        name = f"{entry.id} {entry.title}" if entry else "also"
        rows.append(row(" ", name, short_text(each.bound), excess, each.why))
    return [*rows, *more(len(found) - len(found[:most]), "bound")]


def _used(at: At) -> str:
    """Returns the remark on the route that won: the δ or ε where its number is used (`used at δ =
    1e-6`), and a certified lower bound where the gap is visible."""
    says = f"used at {given_text(at)}"
    assert at.value is not None
    if not at.lower or at.value - at.lower <= _VISIBLE * at.value:
        return says
    return f"{says}; the true {SIGNS[other_parameter(at)]} is at least {left_text(at.lower)}"


def _looser(route: Route, at: At) -> tuple[str, str]:
    """Returns the number of a route that did not win, and its excess."""
    if route.value is None or at.value is None:
        return "none", ""
    value = equation(other_parameter(at), decimal_text(route.value))
    return value, excess_over(route.value, at.value)


def _unusable(report: Report, style: Style) -> list[tuple[str, str, Text]]:
    """Returns the theorems that do not apply, with their titles, grouped by the reason."""
    by_reason: dict[str, list[str]] = {}
    for each in report.alternatives:
        if each.bound is None and each.theorem is not None:
            entry = entry_of(each.theorem)
            title = "" if entry is None else entry.title
            by_reason.setdefault(each.why, []).append(f"{each.theorem} {title}")
    return [
        ("✗", "; ".join(names), literal(f"not usable: {why}", style, "weak"))
        for why, names in by_reason.items()
    ]


# --- an adversary with two hypotheses ------------------------------------------------------------

_MOST_STEPS = 14


def against_adversary(report: Report, style: Style) -> Iterator[Section]:
    """Yields the bound against the adversary with its reasoning; nothing without an adversary."""
    if report.adversary is not None:
        parts = [*_of_adversary(report, report.adversary, style)]
        name = "Against an adversary with two hypotheses"
        yield Section(name, parts, style, "weaker than the bound above", anchor="adversary")


def _of_adversary(report: Report, found: AgainstAdversary, style: Style) -> Iterator[Part]:
    """Yields the bound against an adversary, what it is in other numbers, and the reasoning."""
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
        yield literal(f"{at_text(at)}: {at.says}", style)
    yield TextTable(
        [*_steps(found, style)], style, ("right fixed weak", "rest", "right fixed weak"), gap=1
    )


def _steps(found: AgainstAdversary, style: Style) -> Iterator[tuple[str, str | Text, str]]:
    """Yields the rows of the reasoning: numbered steps, theorem, other bounds, assumptions."""
    chain = found.chain if style.detail == "full" else found.chain[:_MOST_STEPS]
    for line in chain:
        bound = "" if line.bound is None else f": {bound_text(line.bound)}"
        cited = in_short(line.theorem) if line.theorem else ""
        yield str(line.number), sentence(f"{line.says}{bound}"), cited
    if len(found.chain) > len(chain):
        yield "", literal(f"{len(found.chain) - len(chain)} more steps", style, "weak"), ""
    entry = entry_of(found.theorem)
    if entry is not None:
        text = f"{entry.title}: {bound_text(found.bound)}" if found.bound else entry.title
        yield "", literal(text, style, "strong"), in_short(entry.id)
    of_dp = in_role(Role.ALL_HYPOTHESES).id  # that bound is shown above already
    for each in found.alternatives:
        if each.bound is not None and each.theorem != of_dp:
            yield "", f"Also: {bound_text(each.bound)}, by {each.why}", ""
    for says in found.assumptions:
        yield "", f"Assumed: {says}", ""


# --- assumptions, ignored findings, recheck, reasoning in sentences ------------------------------


def assumed(found: Sequence[Assumption], style: Style) -> Iterator[Section]:
    """Yields the assumptions that the author of the spec vouches for, with their lines."""
    if not found:
        return
    told = sorted(found, key=lambda each: each.span is None)
    rows = together(told, style.detail != "full")
    if style.detail != "full":
        rows = ((line, _LISTED.sub(_fewer, says)) for line, says in rows)
    says = "you vouch for these"
    table = by_line(rows, style)
    yield Section("Assumed, not checked", [table], style, says, anchor="assumed")


#: Matches a list of four names or more in a sentence.
_LISTED = re.compile("`[^`]+`(?:, `[^`]+`){2,} and `[^`]+`")


def _fewer(found: re.Match[str]) -> str:
    """Returns the first two of a list of names, and how many more there are."""
    names = found[0].split("`")[1::2]
    return f"{listing(names[:2]).replace(' and ', ', ')} and {len(names) - 2} more"


def together(found: Sequence[Assumption], shortly: bool) -> Iterator[tuple[str, str]]:
    """Yields the assumptions with their lines; those that differ in one name only are merged.
    `shortly`: in few words where there are such."""
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
        first = group[0]
        lines = [each.span.line for each in group if each.span is not None]
        says = first.shortly if shortly and first.shortly is not None else first.says
        says = sentence(says) + ("" if first.because is None else f", because: {first.because}")
        if len(group) > 1:
            names = [each.says.split("`")[1] for each in group]
            before, _, after = first.says.split("`")
            says = sentence(f"{before}{listing(names)}{after}")
        if not says:
            continue
        place = f":{ranges(lines)}" if lines else ""
        if place in told and not told[place].endswith("."):
            told[place] += f". {says}" if says[:1] != "`" else f"; {says}"
        else:
            told[place] = f"{told[place]} {says}" if place in told else says
    yield from told.items()


def by_line(rows: Iterable[Sequence[str | Text]], style: Style) -> TextTable:
    """Returns a table of sentences, each after the source line that it is about."""
    return TextTable([*rows], style, ("line", "rest"), gap=1)


def ignored(report: Report, style: Style) -> Iterator[Section]:
    """Yields the findings that comments in the spec ignore, with the reasons."""
    if report.ignored:
        rows = [
            (
                f":{each.finding.span.line}" if each.finding.span else "",
                f"{each.finding.code}: {each.reason}",
            )
            for each in report.ignored
        ]
        yield Section("Ignored", [by_line(rows, style)], style, anchor="ignored")


#: The numbers that a recheck does not cover, by the field of a report.
_LEFT_OUT = {
    "at_delta": "the numbers at a chosen δ",
    "at_epsilon": "the numbers at a chosen ε",
    "risk": "what an attacker gains",
    "adversary": "what holds against the adversary",
}


def rechecked(report: Report, style: Style) -> Iterator[Text]:
    """Yields what the stand-alone checker confirmed, and what it did not check; nothing where that
    was not asked for."""
    found = report.rechecked
    if found is None:
        return
    unchecked = sum(count for _, count in found.unchecked)
    follow = plural(max(found.claims - unchecked, 0), "claim")
    says = f"Rechecked: {follow} by the stand-alone checker, in {found.seconds:.1f} s."
    within = dict(found.points)
    confirmed = [
        f"{given_text(at).removeprefix('δ = ')} to {decimal_up(100 * within[at.given], 2)} %"
        for at in report.at_delta
        if within.get(at.given)
    ]
    if confirmed:
        says = f"{says[:-1]}; with it ε at δ = {', '.join(confirmed)}."
    elif report.bound is None:
        says = "Rechecked: nothing; there is no bound without a δ."
    left_out = [_LEFT_OUT[each] for each in report.not_rechecked]
    left_out += [f"{plural(count, 'claim')} ({why})" for why, count in found.unchecked]
    left_out += [f"that the spec says the same of {each}" for each in found.uncompared]
    if left_out:
        says += f" Not checked: {', '.join(left_out)}."
    yield literal(says, style)


def sentences(report: Report, style: Style) -> Iterator[Section]:
    """Yields the reasoning in numbered sentences, each with its theorem, premises and lines."""
    if not report.chain:
        return
    rows = []
    for each in report.chain:
        bound = f" → {bound_text(each.bound)}" if each.bound else ""
        rests = [each.theorem] if each.theorem else []
        if each.inputs:
            rests.append(f"from {ranges(each.inputs)}")
        if lines := place(each.spans):
            rests.append(lines)
        text = literal(sentence(each.says) + bound, style)
        if rests:
            text.append_text(literal(f" [{'; '.join(rests)}]", style, "weak"))
        rows.append((f"{each.number}.", text))
    table = TextTable(rows, style, ("right fixed weak", "rest"), gap=1)
    yield Section("In sentences", [table], style, anchor="sentences")
