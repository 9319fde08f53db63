"""What a change does to the bound, for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from dpcompose.planning.comparison import Change, Invalid, Moved
from dpcompose.planning.edits import Edit
from dpcompose.render.layout import Style, columns, sentence, wrapped
from dpcompose.render.terminal import (
    budget_text,
    findings,
    invalid,
    neighbours,
    section,
    verdict_words,
)
from dpcompose.report import Report, Share
from dpcompose.report.bound_changes import NumberChange
from dpcompose.report.wording import number

#: So many mechanisms, edits and sentences are listed; JSON has them all.
MOST = 20
_MARKS = {"increased": "bad", "incomparable": "bad", "decreased": "good", "same": "strong"}


def text(found: Iterable[Change | Invalid], style: Style) -> Iterator[str]:
    """A section for each spec, with an empty line between them."""
    for index, each in enumerate(found):
        yield "\n" if index else ""
        if isinstance(each, Invalid):
            yield "\n".join(invalid(report, style) for report in each.reports)
        else:
            yield _one(each, style)


def _one(change: Change, style: Style) -> str:
    says = style.paint(style.plain(headline(change)), _MARKS[change.direction])
    head = f"{style.plain(change.label)}: {says}"
    words = budget_words(change)
    budget = wrapped(words, style, "  ") if words else []
    why = [] if change.why is None else wrapped(sentence(change.why), style, "  ")
    sections = (
        [head, *budget],
        section("Not comparable", why, style),
        section("Because", _items(change.because, style), style),
        section("Worst change", columns(worst_rows(change), style), style),
        section("What mechanisms add there", columns(_mechanism_rows(change), style), style),
        section("At a chosen δ", columns(_at(change), style), style),
        section("Changed in the spec", columns(_edit_rows(change.edits), style), style),
        section("New findings", _findings(change, style), style),
        section("Newly free", _items(free(change), style), style),
        section("Newly assumed, not checked", _items(change.assumed, style), style),
        section("No longer assumed", _items(change.no_longer_assumed, style), style),
        section("Settings", _items(change.settings, style), style),
        section("Fails by --fail-on", [f"  {each}" for each in change.failing], style),
    )
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def headline(change: Change) -> str:
    """`budget increased from ε = 1.2 to 1.7 because …`, in one sentence."""
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
    was = change.shown
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
    return f"{each.name} = {amount(each.new)}"


def amount(value: Fraction | None) -> str:
    return "none" if value is None else number(value)


def budget_words(change: Change) -> str:
    """What its budget says of the spec now, and which it had before; empty where it has none."""
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
    """That mechanisms cost nothing which did, or were not there; a sentence each."""
    return [
        f"`{each}` is said to use released outputs alone, and so costs nothing"
        for each in change.free
    ]


def _findings(change: Change, style: Style) -> list[str]:
    """The new findings; of more than so many the first."""
    lines = findings(replace(change.shown, findings=change.findings[:MOST]), style)
    more = len(change.findings) - MOST
    return [*lines, f"and {more} more"] if more > 0 else lines


def _items(sentences: Sequence[str], style: Style) -> list[str]:
    lines = [line for each in sentences[:MOST] for line in wrapped(sentence(each), style, "  - ")]
    more = len(sentences) - MOST
    return [*lines, f"  - and {more} more"] if more > 0 else lines


def worst_rows(change: Change) -> list[tuple[str, str]]:
    """The worst change; before and now where they differ."""
    if change.new is None:
        return []
    was, now = _happens(change.old), _happens(change.new)
    if was == now or was is None:
        return [] if now is None else [("as before" if was == now else "now", now)]
    return [("before", was), ("now", now or "none: there is no finite bound")]


def _happens(report: Report | None) -> str | None:
    if report is None or report.worst is None:
        return None
    return "; ".join(report.worst.says)


def _mechanism_rows(change: Change) -> list[tuple[str, str, str]]:
    rows = [(each.mechanism, *before_now(each)) for each in change.moved[:MOST]]
    more = len(change.moved) - len(rows)
    return [*rows, (f"and {more} more", "", "")] if more > 0 else rows


def before_now(moved: Moved) -> tuple[str, str]:
    """What a mechanism adds at the worst change, before and now, with its line."""
    line = moved.new.span if moved.new is not None else None
    place = "" if line is None else f" (line {line.line})"
    return _share(moved.old), f"→ {_share(moved.new)}{place}"


def _share(share: Share | None) -> str:
    if share is None:
        return "nothing"
    delta = "" if share.bound.delta is None else f", {number(share.bound.delta)}"
    return f"{number(share.bound.value)}{delta}"


def _at(change: Change) -> list[tuple[str, str]]:
    return [
        (each.name, f"{amount(each.old)} → {amount(each.new)}")
        for each in change.numbers
        if " at " in each.name
    ]


def _edit_rows(edits: Sequence[Edit]) -> list[tuple[str, str]]:
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
    start = f"{name}: " if name else ""
    if old is None:
        return f"{start}{new} (new)"
    return f"{start}{old} → {new}" if new is not None else f"{start}{old} (removed)"
