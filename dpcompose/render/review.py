"""The result of `diff` for a review: as a Markdown comment, and as problems in the files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from dpcompose.errors import Diagnostic, Level
from dpcompose.planning.comparison import Change, Event, Invalid, NumberChange
from dpcompose.planning.edits import Edit
from dpcompose.render.diff_text import (
    MOST,
    amount,
    before_now,
    budget_words,
    free,
    headline,
    is_unchanged,
    movement,
    reasons_to_show,
    worst_rows,
)
from dpcompose.render.inline import code, plain
from dpcompose.render.problems import EVENT, MOVED
from dpcompose.report import LeftOut, Report

_EVENTS: dict[Event, str] = {
    "increase": "the bound increased, or cannot be compared",
    "new-assumption": "more is assumed, or said to be free",
    "budget-raised": "the budget is larger, or gone",
    "population-changed": "another population is named",
    "removed-spec": "the spec was removed",
    "settings-changed": "the settings around the spec are others",
}


def problems_of(found: Iterable[Change | Invalid]) -> Iterator[Report]:
    """Yields a report for each changed spec, whose findings are the changes that matter.

    The formats for machines list them: the direction of the bound, the events that a review may
    stop at, and the new findings; each is an error where it fails.
    """
    for each in found:
        if isinstance(each, Invalid):
            yield from each.reports
            continue
        shown = each.source_to_show
        findings = (*_events(each), *each.findings)
        file = each.files[1] or each.files[0] or shown.file
        yield Report(file, shown.title, "invalid", findings=findings, document=shown.document)


def _events(change: Change) -> Iterator[Diagnostic]:
    """Yields a finding for the bound's direction, and one for each event that reviews look at."""
    place, failing = change.source_to_show.place if change.new is not None else None, change.failing
    if change.direction != "same":
        level: Level = "note" if change.direction == "decreased" else "warning"
        if "increase" in failing:
            level = "error"
        hint = "; ".join(change.because[1:]) or change.why  # the first one is in the headline
        edits = [each for each in change.edits if each.how != "removed" and each.kind != "spec"]
        at = edits[0].span if edits and change.new is not None else place
        yield Diagnostic(MOVED, headline(change), at, hint, level)
    details: dict[Event, Sequence[str]] = {
        "new-assumption": (*change.assumed, *free(change)),
        "settings-changed": change.settings,
    }
    for event in change.events:
        if event != "increase":
            told = "; ".join(details.get(event, ())) or None
            level = "error" if event in failing else "note"
            yield Diagnostic(EVENT, _EVENTS[event], place, told, level)


def markdown(
    found: Iterable[Change | Invalid], left_out: Callable[[], LeftOut] = LeftOut
) -> Iterator[str]:
    """Yields a comment for a review: a table of the specs, then the details of each.

    `left_out` counts what has no result; it is called after all changes were found.
    """
    listed = list(found)
    yield "| spec | before | now | |\n|---|---|---|---|\n"
    for each in listed:
        if isinstance(each, Invalid):
            names = ", ".join(code(report.label) for report in each.reports)
            yield f"| {names} | | | **invalid** |\n"
            continue
        rows = each.numbers or (NumberChange("bound", None, None, each.direction),)
        for row in rows:
            was = "" if each.old is None else code(amount(row.old))
            now = "" if each.new is None else code(amount(row.new))
            yield f"| {code(each.label)} {plain(row.name)} | {was} | {now} | "
            yield f"{'removed' if each.new is None else _word(row.direction)} |\n"
    out = left_out()
    if out.summary:
        names = ": " + ", ".join(map(code, out.names)) if out.names else ""
        yield f"\n{out.summary}{names}\n"
    for each in listed:
        yield from _invalid(each) if isinstance(each, Invalid) else _details(each)


def _word(direction: str) -> str:
    """Returns the word for a direction, bold where it needs a look."""
    words = {
        "increased": "**increased**",
        "incomparable": "**not comparable**",
        "decreased": "decreased",
        "same": "unchanged",
    }
    return words[direction]


def _invalid(found: Invalid) -> Iterator[str]:
    """Yields the findings of an invalid version of a spec."""
    for report in found.reports:
        yield f"\n{code(report.label)} is invalid:\n\n"
        yield from _points([_finding(each) for each in report.findings])


def _details(change: Change) -> Iterator[str]:
    """Yields what changed in one spec; nothing where nothing did."""
    if is_unchanged(change) and not change.settings:
        return
    yield f"\n**{code(change.label)}**: {plain(movement(change))}\n"
    if words := budget_words(change):
        yield f"\n{plain(words[0].upper() + words[1:])}\n"
    lists = (
        ("Because", [plain(each) for each in reasons_to_show(change)]),
        ("Changed in the spec", list(_edits(change.edits))),
        ("Newly assumed, not checked", [plain(each) for each in change.assumed]),
        ("No longer assumed", [plain(each) for each in change.no_longer_assumed]),
        ("New findings", [_finding(each) for each in change.findings]),
        ("Newly free", [plain(each) for each in free(change)]),
        (
            "What mechanisms cost at the worst change",
            [" ".join((code(each.mechanism), *before_now(each))) for each in change.moved],
        ),
        ("Worst change", [f"{name}: {plain(says)}" for name, says in worst_rows(change)]),
        ("Settings", [plain(each) for each in change.settings]),
        ("Fails by `--fail-on`", list(change.failing)),
    )
    for title, items in lists:
        if items:
            yield f"\n{title}:\n\n"
            yield from _points(items)


def _points(items: Sequence[str]) -> Iterator[str]:
    """Yields the items as a list, only the first ones of many."""
    yield from (f"- {each}\n" for each in items[:MOST])
    if len(items) > MOST:
        yield f"- and {len(items) - MOST} more\n"


def _edits(edits: Iterable[Edit]) -> Iterator[str]:
    """Yields one item for each key of the spec that differs."""
    for each in edits:
        name = f"{each.kind} {code(each.name)}" if each.name else "the spec"
        if not each.keys:
            yield f"{name}: {each.how} (line {each.span.line})"
        for key in each.keys:
            start = f"{name}: {code(key.name)} " if key.name else f"{name}: "
            if key.old is None or key.new is None:
                yield f"{start}{code(key.new or key.old or '')} ({'removed' if key.old else 'new'})"
            else:
                yield f"{start}{code(key.old)} → {code(key.new)}"


def _finding(finding: Diagnostic) -> str:
    """Returns a finding as one item: line, level, message and code."""
    line = f"line {finding.span.line}: " if finding.span else ""
    level = "" if finding.level == "error" else f"{finding.level}: "
    return f"{line}{level}{plain(finding.message)} ({finding.code})"
