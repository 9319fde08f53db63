"""The report for people: lines that read the same on a terminal, in a pipe and in a CI log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from dpcompose import errors
from dpcompose.errors import Span
from dpcompose.render import adversary_text, chosen_points
from dpcompose.render.layout import Style, columns, sentence, transliterated, wrapped
from dpcompose.render.numbers import (
    amounts_text,
    bound_text,
    excess_text,
    found_text,
    given_text,
    left_text,
    limit_text,
    named,
)
from dpcompose.render.theorem_text import book, cited
from dpcompose.report import Alternative, Assumption, Line, Report, Touch, Verdict, WorstChange

_MOST_TOUCHES = 12  # listed on a terminal; JSON has them all


def render(reports: Iterable[Report], style: Style) -> Iterator[str]:
    """Each report, with an empty line between them."""
    return separated(reports, style, text)


def separated(
    reports: Iterable[Report], style: Style, one: Callable[[Report, Style], str]
) -> Iterator[str]:
    """Each report as `one` renders it, with empty lines between."""
    before = ""
    for report in reports:
        yield before + one(report, style)
        before = "\n"


def outcome(report: Report) -> str:
    """How an analysis came out, for a count."""
    return {
        "ok": "certified",
        "no-guarantee": "without a finite bound",
        "invalid": "invalid",
        "unreadable": "not read",
        "left-out": "left out",
    }[report.status]


def text(report: Report, style: Style) -> str:
    """One report."""
    if report.status == "unreadable":
        return "\n".join(findings(report, style)) + "\n"
    if report.status == "invalid":
        return invalid(report, style)
    reasoning = [*_chain(report.chain, style), *rechecked(report, style, "  ")]
    sections = (
        [headline(report, style), *title(report, style)],
        *chosen_points.sections(report.at_delta, style),
        *chosen_points.sections(report.at_epsilon, style),
        *adversary_text.sections(report, style),
        section("Why", _items(report.reasons, style), style),
        section("Theorem", _theorem(report, style), style),
        section("Worst change", worst_change(report.worst, style), style),
        section("Reasoning", reasoning, style),
        section("Compared", _alternatives(report.alternatives, style), style),
        section("Assumed, not checked", assumptions(report.assumptions, style), style),
        section("Findings", findings(report, style), style),
        section("Ignored", ignored(report, style), style),
    )
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def section(name: str, lines: Sequence[str], style: Style) -> list[str]:
    """A heading over `lines`; nothing where there are none."""
    return [style.paint(name, "strong"), *lines] if lines else []


def invalid(report: Report, style: Style) -> str:
    """The faults of an invalid spec, and how many they are."""
    return "\n".join([*findings(report, style), verdict_of_invalid(report, style)]) + "\n"


def verdict_of_invalid(report: Report, style: Style) -> str:
    """`bad.yaml: invalid spec, 2 errors`."""
    count = Counter(each.level for each in report.findings)
    words = [
        f"{count[level]} {level}{'s' if count[level] != 1 else ''}"
        for level in ("error", "warning", "note")
        if count[level]
    ]
    verdict = style.paint("invalid spec", "bad")
    return f"{style.plain(report.label)}: {verdict}, {', '.join(words)}"


# --- the first lines -----------------------------------------------------------------------------


def headline(report: Report, style: Style) -> str:
    """The bound, the notion, the relation and the verdict, on one line however long."""
    if report.status == "no-guarantee":
        bound = style.paint("no finite guarantee", "bad")
    elif report.bound is None:
        bound = style.paint(style.plain(profile_text(report)), "strong")
    else:
        bound = style.paint(style.plain(bound_text(report.bound)), "strong")
        bound += f" {report.bound.notion.facts.words}"
    line = f"{style.plain(report.label)}: {bound}, {style.plain(neighbours(report))}"
    if report.verdict is None:
        return line
    words = style.plain(verdict_words(report))
    return f"{line}  [{style.paint(words, 'good' if report.verdict.ok else 'bad')}]"


def title(report: Report, style: Style) -> list[str]:
    """The title, indented, if there is one."""
    return wrapped(report.title, style, "  ") if report.title.strip() else []


def neighbours(report: Report) -> str:
    """The relation protected: `bounded neighbours`, `3 steps of unbounded neighbours`."""
    words = f"{report.relation} neighbours"
    if report.keeps:
        words += f" keeping {', '.join(report.keeps)}"
    return words if report.distance == 1 else f"{report.distance} steps of {words}"


def profile_text(report: Report) -> str:
    """What holds where no notion is common to all mechanisms: `ε ≤ 2.3905 at δ = 1e-5`."""
    for each in report.at_delta:
        if each.value is not None:
            return f"{found_text(each)} at {given_text(each)}"
    return "a privacy profile, with an ε only at a δ"


def verdict_words(report: Report) -> str:
    """`within budget 2, 0.3 left`, `over budget 1.5 by 0.2`, `not comparable with …`."""
    verdict = report.verdict
    if verdict is None:
        return ""
    budget = budget_text(verdict, report)
    if verdict.of_adversary:
        budget += " against the adversary alone"
    if verdict.ok:
        left = "" if verdict.slack is None else f", {left_text(verdict.slack)} left"
        return f"within budget {budget}{left}"
    if not_comparable(report):
        return f"not comparable with budget {budget}"
    if verdict.slack is None or verdict.slack >= 0:
        return f"over budget {budget}"
    return f"over budget {budget} by {excess_text(-verdict.slack)}"


def budget_text(verdict: Verdict, report: Report) -> str:
    """The budget: `2` where its parameter is plain, else `ρ = 2` or `ε = 2, δ = 1e-6`."""
    if report.bound is None and report.status == "ok":
        return ", ".join(named(*each) for each in verdict.limit.parameters)
    return limit_text(verdict.limit, report.bound)


def not_comparable(report: Report) -> bool:
    """Whether there is a guarantee, but none in terms that the budget could be compared with."""
    verdict = report.verdict
    if verdict is None or verdict.ok or report.status != "ok" or verdict.of_adversary:
        return False
    return verdict.slack is None and verdict.at is None


# --- the sections --------------------------------------------------------------------------------


def _theorem(report: Report, style: Style) -> list[str]:
    if report.theorem is None:
        return []
    entry = book().get(report.theorem)
    return wrapped(cited(entry) if entry else report.theorem, style, "  ")


def worst_change(worst: WorstChange | None, style: Style) -> list[str]:
    """What happens in the worst change, and which mechanisms feel it."""
    if worst is None:
        return []
    lines = happening(worst, style)
    shown = worst.touches[:_MOST_TOUCHES]
    lines += columns([_touch(each) for each in shown], style, indent=4)
    omitted = worst.omitted + len(worst.touches) - len(shown)
    if omitted:
        lines.append(style.plain(f"    … and {omitted} more"))
    return lines


def happening(worst: WorstChange, style: Style) -> list[str]:
    """What happens in the worst change."""
    return [line for each in worst.says for line in wrapped(sentence(each), style, "  ")]


def _touch(touch: Touch) -> tuple[str, str, str]:
    copies = f"{touch.copies} × {amounts_text(touch.each)}, " if touch.copies != 1 else ""
    return (
        touch.mechanism,
        amounts_text(touch.total),
        f"{copies}reads {touch.dataset}{place([touch.span], ', ')}",
    )


def _chain(chain: Sequence[Line], style: Style) -> list[str]:
    wide = len(str(len(chain)))
    lines: list[str] = []
    for each in chain:
        lines += wrapped(_said(each), style, f"  {each.number:>{wide}}. ")
    return lines


def _said(line: Line) -> str:
    """The sentence, the bound, then what they rest on: `[IV.13; from 1, 2; line 14]`."""
    bound = f" → {bound_text(line.bound)}" if line.bound else ""
    says = sentence(line.says) + bound
    rests = [line.theorem] if line.theorem else []
    if line.inputs:
        rests.append(f"from {listed(line.inputs)}")
    where = place(line.spans)
    if where:
        rests.append(where)
    return f"{says} [{'; '.join(rests)}]" if rests else says


#: What a recheck leaves out, by the fields of a report.
_LEFT_OUT = {
    "at_delta": "the numbers at a chosen δ",
    "at_epsilon": "the numbers at a chosen ε",
    "adversary": "what holds against the adversary",
}


def rechecked(report: Report, style: Style, margin: str = "") -> list[str]:
    """What the kernel checked again, and what it did not; nothing where that was not asked for."""
    if report.rechecked is None:
        return []
    count = "1 claim" if report.rechecked == 1 else f"{report.rechecked} claims"
    says = f"Rechecked: {count} by the kernel, without the search."
    if report.bound is None:
        says = "Rechecked: nothing; there is no bound without a δ."
    left_out = [_LEFT_OUT[each] for each in report.not_rechecked]
    if left_out:
        says += f" Not rechecked: {', '.join(left_out)}."
    return wrapped(says, style, margin)


def _alternatives(alternatives: Sequence[Alternative], style: Style) -> list[str]:
    rows = []
    for each in alternatives:
        entry = book().get(each.theorem) if each.theorem else None
        bound = "not usable" if each.bound is None else bound_text(each.bound)
        name = f"{entry.title}: " if entry else ""
        rows.append((each.theorem or "", f"{name}{bound}; {each.why}" if each.why else bound))
    return columns(rows, style)


def assumptions(assumed: Sequence[Assumption], style: Style) -> list[str]:
    """What the result rests on and nobody but the author of the spec can check."""
    return _items([_assumption(each) for each in assumed], style)


def _assumption(assumed: Assumption) -> str:
    because = "" if assumed.because is None else f", because: {assumed.because}"
    return sentence(assumed.says) + place([assumed.span], " (", ")") + because


def findings(report: Report, style: Style) -> list[str]:
    """Every finding in the form `file:line:column: message [CODE]`, with the line it is about."""
    return [
        transliterated(errors.render(each, report.file, report.lines), style.encoding)
        for each in report.findings
    ]


def ignored(report: Report, style: Style) -> list[str]:
    """What comments in the spec ignore, and why."""
    return _items(
        [
            f"{each.finding.code}{place([each.finding.span], ', ')}: {each.reason}"
            for each in report.ignored
        ],
        style,
    )


def _items(sentences: Sequence[str], style: Style) -> list[str]:
    return [line for each in sentences for line in wrapped(each, style, "  - ")]


# --- words ---------------------------------------------------------------------------------------


def place(spans: Iterable[Span | None], before: str = "", after: str = "") -> str:
    """`line 14` or `lines 9, 14-16`, between `before` and `after`; empty where nothing is known."""
    lines = sorted({span.line for span in spans if span})
    if not lines:
        return ""
    return f"{before}{'line' if len(lines) == 1 else 'lines'} {listed(lines)}{after}"


def listed(numbers: Iterable[int]) -> str:
    """`1, 4-6, 9`."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs)
