"""The result of `diff` as problems in the files, for formats that annotate these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dpcompose.errors import Diagnostic, Level
from dpcompose.planning.comparison import Change, Event, Invalid
from dpcompose.render.plans.diff_views import free, headline
from dpcompose.render.words.problems import EVENT, MOVED
from dpcompose.report import Report

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
