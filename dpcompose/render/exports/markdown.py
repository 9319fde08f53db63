"""The format `markdown`, for a job summary or a review: a table, then details of problems.

Text from specs stands in `<code>` with its punctuation as entities, or in a fence, so that none of
it is markup, a link or a mention.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from dpcompose.render.layout import Style, transliterated
from dpcompose.render.parts.inline import code, within_summary
from dpcompose.render.text import terminal
from dpcompose.render.text.costs import in_markdown
from dpcompose.render.text.risk_text import in_brief
from dpcompose.render.words.headlines import budget_text, meanwhile_lines, outcome
from dpcompose.render.words.numbers import (
    at_text,
    bound_text,
    excess_text,
    left_text,
)
from dpcompose.render.words.problems import problems
from dpcompose.render.words.theorem_text import entry_of
from dpcompose.report import Report

_MOST_DETAILS = 20  # summaries and comments have a limited size
_MOST_CHARACTERS = 6_000  # of the details of one report
_MOST_POINTS = 4  # numbers at chosen points in a cell

_HEAD = "| Spec | Result | Bound | Budget | Left | Theorem |\n|---|---|---|---|---|---|\n"


def render(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Yields the table of reports and the details below it, as much as a job summary holds;
    `checking`: whether an unmet budget is an error, as in the command `check`."""
    return within_summary(_everything(reports, style, checking))


def _everything(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Yields a row for each report, then counts, then details of the first ones with problems."""
    plain = Style(encoding=style.encoding)
    seen: Counter[str] = Counter()
    details: list[str] = []
    tables: list[str] = []
    assumed: list[tuple[str, ...]] = []
    worth, out = 0, ""
    for report in reports:
        if report.left_out is not None:
            out = _left_out(report, plain)
            continue
        head = "" if seen else f"### Privacy budgets\n\n{_HEAD}"
        word = outcome(report, checking)
        seen[word] += 1
        assumed.append(report.meanwhile)
        if head:
            yield head
        yield transliterated(_row(report, word), plain.encoding)
        if any(each.level != "note" for each in problems(report, checking)):
            worth += 1
            if worth <= _MOST_DETAILS:
                details.append(_details(report, word, plain))
        if report.attributes and len(tables) < _MOST_DETAILS:
            tables.append(transliterated(in_markdown(report), plain.encoding))
    if not seen:
        yield f"### Privacy budgets\n\nNo specs.\n{out}"
        return
    counts = ", ".join(f"{count} {name}" for name, count in seen.items())
    specs = "1 spec" if seen.total() == 1 else f"{seen.total()} specs"
    yield f"\n{specs}: {counts}.\n{out}"
    yield from (f"\n{each}.\n" for each in meanwhile_lines(assumed))
    yield from tables
    yield from details
    if worth > len(details):
        yield f"\n{worth - len(details)} more with problems are in the log.\n"


def _left_out(report: Report, style: Style) -> str:
    """Returns a sentence about files without a result, with a folded list of names."""
    assert report.left_out is not None
    found, (finding,) = report.left_out, report.findings
    says = f"**{found.summary}**" if finding.level == "error" else found.summary
    names = "".join(f"- {code(each)}\n" for each in found.names)
    more = found.untold - len(found.names)
    names += f"- {more} more\n" if more > 0 else ""
    block = f"\n<details><summary>Left out</summary>\n\n{names}\n</details>\n" if names else ""
    return transliterated(f"\n{says}.\n{block}", style.encoding)


def _row(report: Report, word: str) -> str:
    """Returns the table's row of a report."""
    word = word if word in ("certified", "within budget") else f"**{word}**"
    verdict, entry = report.verdict, entry_of(report.theorem)
    budget, left = "", ""
    if verdict is not None:
        budget = budget_text(verdict) + " against the adversary alone" * verdict.of_adversary
    if verdict is not None and verdict.slack is not None and verdict.slack < 0:
        left = f"−{excess_text(-verdict.slack)}"
    elif verdict is not None and verdict.slack is not None and verdict.ok:
        left = left_text(verdict.slack)
    by = f"{entry.place} ({entry.source})" if entry else ""
    cells = (code(report.label), word, _bound(report), budget, left, by)
    return f"| {' | '.join(each or '–' for each in cells)} |\n"


def _bound(report: Report) -> str:
    """Returns a cell with the bound, the numbers at chosen points, the risk and the adversary."""
    lines = []
    if report.bound is not None:
        lines.append(f"{bound_text(report.bound)} {report.bound.notion.facts.words}")
    for each in (*report.at_delta, *report.at_epsilon)[:_MOST_POINTS]:
        lines.append(at_text(each))
    if report.risk is not None:
        lines.append(in_brief(report))
    found = report.adversary
    if found is not None and found.bound is not None:
        lines.append(f"{bound_text(found.bound)}, {code(found.label)}")
    return "<br>".join(lines)


def _details(report: Report, word: str, style: Style) -> str:
    """Returns the report as folded text."""
    text = terminal.text(report, style)
    if len(text) > _MOST_CHARACTERS:
        text = f"{text[:_MOST_CHARACTERS].rpartition(chr(10))[0]}\n…\n"
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    summary = transliterated(f"{code(report.label)}: {word}", style.encoding)
    block = f"{fence}text\n{text}{fence}\n"
    return f"\n<details><summary>{summary}</summary>\n\n{block}\n</details>\n"
