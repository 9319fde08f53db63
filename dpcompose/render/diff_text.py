"""The result of `diff` for people: how each spec changed, and how its bound moved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from rich.console import RenderableType

from dpcompose.planning.comparison import Change, Invalid, Moved
from dpcompose.planning.edits import Edit
from dpcompose.render.console import grid, literal, printed, ruled
from dpcompose.render.diagnostics import diagnostics
from dpcompose.render.headlines import budget_text, neighbours, verdict_words
from dpcompose.render.layout import Style, sentence
from dpcompose.render.terminal import parts
from dpcompose.report import Report, Share
from dpcompose.report.bound_changes import NumberChange
from dpcompose.report.wording import number

#: So many mechanisms, edits and sentences are listed; JSON has them all.
MOST = 20
_MARKS = {"increased": "bad", "incomparable": "bad", "decreased": "good", "same": "strong"}
_SIGNS = {"increased": "▲", "incomparable": "!", "decreased": "▼", "same": "="}


def text(found: Iterable[Change | Invalid], style: Style) -> Iterator[str]:
    """Yields a section for each spec that changed; the others are counted."""
    unchanged, told, only = 0, 0, None
    settings: dict[str, None] = {}
    for each in found:
        if isinstance(each, Change) and is_unchanged(each) and not style.whole:
            unchanged += 1
            settings.update(dict.fromkeys(each.settings))
            only = each if only is None else only
            yield ""
            continue
        yield ("\n" if told else "") + printed(_parts(each, style), style)
        told += 1
    # a single spec is shown even if it is unchanged
    if not told and unchanged == 1 and only is not None:
        yield printed(_parts(only, style), style)
    elif unchanged:
        more: list[RenderableType] = [literal(f"{unchanged} unchanged", style, "strong")]
        if settings:
            more += [ruled("Settings around them", style), grid(_items(list(settings)), style)]
        yield ("\n" if told else "") + printed(more, style)


def is_unchanged(change: Change) -> bool:
    """Returns whether nothing about a spec changed: its bound, its text, its assumptions."""
    told = (
        change.edits,
        change.findings,
        change.assumed,
        change.no_longer_assumed,
        change.failing,
        change.free,
        change.because,
    )
    return change.direction == "same" and not any(told)


def _parts(found: Change | Invalid, style: Style) -> Iterator[RenderableType]:
    """Yields the renderables of one changed or invalid spec."""
    if isinstance(found, Invalid):
        for report in found.reports:
            yield from parts(report, style)
        return
    how = _MARKS[found.direction]
    head = literal(f"{_SIGNS[found.direction]} ", style, how)
    head.append_text(literal(found.label, style, "strong")).append_text(literal(": ", style))
    yield head.append_text(literal(headline(found), style, how))
    words = budget_words(found)
    if words:
        yield literal(f"  {words}", style)
    for name, section in _sections(found, style):
        yield ruled(name, style)
        yield from section


def _sections(change: Change, style: Style) -> Iterator[tuple[str, list[RenderableType]]]:
    """Yields the sections of a change that have content, each with its heading."""
    tables: tuple[tuple[str, Sequence[Sequence[str]]], ...] = (
        ("Not comparable", [] if change.why is None else [(sentence(change.why),)]),
        ("Because", _items(change.because if len(change.because) > 1 else ())),
        ("Worst change", worst_rows(change)),
        ("What mechanisms add there", _mechanism_rows(change)),
        ("At a chosen δ", _at(change)),
        ("Changed in the spec", _edit_rows(change.edits)),
    )
    for name, rows in tables:
        if rows:
            yield name, [grid(rows, style)]
    if change.findings:
        yield "New findings", _findings(change, style)
    further = (
        ("Newly free", _items(free(change))),
        ("Newly assumed, not checked", _items(change.assumed)),
        ("No longer assumed", _items(change.no_longer_assumed)),
        ("Settings", _items(change.settings)),
        ("Fails by --fail-on", [(each,) for each in change.failing]),
    )
    for name, rows in further:
        if rows:
            yield name, [grid(rows, style)]


def headline(change: Change) -> str:
    """Returns a change in one sentence: `budget increased from ε = 1.2 to 1.7 because …`."""
    if change.new is None:
        return _removed(change)
    around = neighbours(change.new)
    shown = next((each for each in change.numbers if each.direction == change.direction), None)
    because = f" because {change.because[0]}" if change.because else ""
    match change.direction:
        case "same" if change.old is not None and change.old.status == "no-guarantee":
            return f"no finite bound, as before ({around})"
        case "same":
            now = "" if not change.numbers else f" at {_value(change.numbers[0])}"
            return f"budget unchanged{now} ({around})"
        case "incomparable":
            return f"budgets cannot be compared: {change.why}"
        case _ if shown is None:
            return f"budget {change.direction}{because}"
    if change.old is None:
        return f"new spec: budget increased from nothing to {_value(shown)} ({around})"
    if shown.new is None:
        return f"budget increased from {shown.name} = {amount(shown.old)} to no finite bound"
    if shown.old is None:
        return f"budget decreased from no finite bound to {_value(shown)}{because}"
    was, now = amount(shown.old), amount(shown.new)
    return f"budget {change.direction} from {shown.name} = {was} to {now}{because}"


def _removed(change: Change) -> str:
    """Returns the sentence on a spec that was removed."""
    was = change.source_to_show
    if was.status == "invalid":
        return "removed spec: it was invalid"
    around = neighbours(was)
    if not change.numbers:
        return f"removed spec: it had no finite bound ({around})"
    shown = change.numbers[0]
    return (
        f"removed spec: budget decreased from {shown.name} = {amount(shown.old)} to nothing "
        f"({around})"
    )


def _value(each: NumberChange) -> str:
    """Returns the new value of a number with its name."""
    return f"{each.name} = {amount(each.new)}"


def amount(value: Fraction | None) -> str:
    """Returns a number in words; `none` for None."""
    return "none" if value is None else number(value)


def budget_words(change: Change) -> str:
    """Returns the verdict of the spec now, with its former budget if that differs.

    Empty where the spec has no budget.
    """
    if change.new is None:
        return ""
    words = verdict_words(change.new)
    old, new = None if change.old is None else change.old.verdict, change.new.verdict
    if not words or change.old is None or old is None or new is None:
        return words
    if (old.limit, old.of_adversary) == (new.limit, new.of_adversary):
        return words
    whom = " against the adversary alone" if old.of_adversary else ""
    return f"{words}; before: budget {budget_text(old, change.old)}{whom}"


def free(change: Change) -> list[str]:
    """Returns a sentence for each mechanism that newly counts as post-processing, at no cost."""
    return [
        f"`{each}` is said to use released outputs alone, and so costs nothing"
        for each in change.free
    ]


def _findings(change: Change, style: Style) -> list[RenderableType]:
    """Returns the new findings, only the first ones of many."""
    shown = diagnostics(replace(change.source_to_show, findings=change.findings[:MOST]), style)
    more = len(change.findings) - MOST
    return [*shown, literal(f"and {more} more", style, "weak")] if more > 0 else shown


def _items(sentences: Sequence[str]) -> list[tuple[str]]:
    """Returns sentences as rows, only the first ones of many."""
    rows = [(sentence(each),) for each in sentences[:MOST]]
    more = len(sentences) - MOST
    return [*rows, (f"and {more} more",)] if more > 0 else rows


def worst_rows(change: Change) -> list[tuple[str, str]]:
    """Returns the worst change as rows; before and now where they differ."""
    if change.new is None:
        return []
    was, now = _happens(change.old), _happens(change.new)
    if was == now or was is None:
        return [] if now is None else [("as before" if was == now else "now", now)]
    return [("before", was), ("now", now or "none: there is no finite bound")]


def _happens(report: Report | None) -> str | None:
    """Returns the worst change of a report in one line; None without one."""
    if report is None or report.worst is None:
        return None
    return "; ".join(report.worst.says)


def _mechanism_rows(change: Change) -> list[tuple[str, str, str]]:
    """Returns the mechanisms that add another amount at the worst change, as rows."""
    rows = [(each.mechanism, *before_now(each)) for each in change.moved[:MOST]]
    more = len(change.moved) - len(rows)
    return [*rows, (f"and {more} more", "", "")] if more > 0 else rows


def before_now(moved: Moved) -> tuple[str, str]:
    """Returns what a mechanism adds at the worst change, before and now with its line."""
    line = moved.new.span if moved.new is not None else None
    place = "" if line is None else f" (line {line.line})"
    return _share(moved.old), f"→ {_share(moved.new)}{place}"


def _share(share: Share | None) -> str:
    """Returns the amount that a mechanism adds; `nothing` for None."""
    if share is None:
        return "nothing"
    delta = "" if share.bound.delta is None else f", {number(share.bound.delta)}"
    return f"{number(share.bound.value)}{delta}"


def _at(change: Change) -> list[tuple[str, str]]:
    """Returns the numbers at chosen δ's before and now, as rows."""
    return [
        (each.name, f"{amount(each.old)} → {amount(each.new)}")
        for each in change.numbers
        if " at " in each.name
    ]


def _edit_rows(edits: Sequence[Edit]) -> list[tuple[str, str]]:
    """Returns the keys of the spec that differ, as rows."""
    rows: list[tuple[str, str]] = []
    for each in edits[:MOST]:
        name = f"{each.kind} {each.name}" if each.name else "the spec"
        if not each.keys:
            rows.append((name, f"{each.how} (line {each.span.line})"))
        for key in each.keys[:MOST]:
            rows.append((name, _key(key.name, key.old, key.new)))
    more = len(edits) - MOST
    return [*rows, ("", f"and {more} more")] if more > 0 else rows


def _key(name: str, old: str | None, new: str | None) -> str:
    """Returns the values of a key before and now."""
    start = f"{name}: " if name else ""
    if old is None:
        return f"{start}{new} (new)"
    return f"{start}{old} → {new}" if new is not None else f"{start}{old} (removed)"
