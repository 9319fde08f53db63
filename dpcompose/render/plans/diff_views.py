"""The result of `diff` for people: how each spec changed, and how its bound moved."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from dpcompose.planning.comparison import Change, Invalid
from dpcompose.planning.edits import Edit
from dpcompose.planning.number_changes import NumberChange
from dpcompose.planning.what_if import epsilon_at
from dpcompose.render.layout import Style, sentence
from dpcompose.render.parts.console import (
    Headline,
    Part,
    Section,
    TextTable,
    literal,
    printed,
    texts_of,
)
from dpcompose.render.parts.diagnostics import findings_of
from dpcompose.render.parts.inline import code, markdown_of
from dpcompose.render.text.terminal import parts
from dpcompose.render.words.headlines import (
    budget_text,
    neighbours,
    requested_number,
    verdict_words,
)
from dpcompose.render.words.numbers import chance_text, short_text
from dpcompose.report import LeftOut, Report, Share
from dpcompose.report.wording import number

#: So many mechanisms, edits and sentences are listed; JSON has them all.
MOST = 20
_MARKS = {"increased": "bad", "incomparable": "bad", "decreased": "good", "same": "strong"}
_SIGNS = {"increased": "▲", "incomparable": "!", "decreased": "▼", "same": "="}


def text(found: Iterable[Change | Invalid], style: Style) -> Iterator[str]:
    """Yields what changed in each spec, as a terminal shows it; the others are counted."""
    return texts_of(parts_of(found, style), lambda parts: printed(parts, style))


def parts_of(found: Iterable[Change | Invalid], style: Style) -> Iterator[list[Part]]:
    """Yields the parts of each spec that changed, none of another one, to show progress; at the end
    how many did not change."""
    unchanged, told, only = 0, 0, None
    settings: dict[str, None] = {}
    for each in found:
        if isinstance(each, Change) and is_unchanged(each) and not style.whole:
            unchanged += 1
            settings.update(dict.fromkeys(each.settings))
            only = each if only is None else only
            yield []
            continue
        yield [*_parts(each, style)]
        told += 1
    # a single spec is shown even if it is unchanged
    if not told and unchanged == 1 and only is not None:
        yield [*_parts(only, style)]
    elif unchanged:
        more: list[Part] = [literal(f"{unchanged} unchanged", style, "strong")]
        if settings:
            items = TextTable(_items(list(settings)), style)
            more.append(Section("Settings around them", [items], style))
        yield more


def markdown(
    found: Iterable[Change | Invalid],
    style: Style = Style(),  # noqa: B008
    left_out: Callable[[], LeftOut] = LeftOut,
) -> Iterator[str]:
    """Yields the same as Markdown, for a review.

    `left_out` counts what has no result; it is called after all changes were found.
    """
    style = style._replace(encoding="utf-8")
    yield from texts_of(parts_of(found, style), markdown_of)
    out = left_out()
    if out.summary:
        names = ": " + ", ".join(map(code, out.names)) if out.names else ""
        yield f"\n{out.summary}{names}\n"


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


def _parts(found: Change | Invalid, style: Style) -> Iterator[Part]:
    """Yields the parts of one changed or invalid spec."""
    if isinstance(found, Invalid):
        for report in found.reports:
            yield from parts(report, style)
        return
    how = _MARKS[found.direction]
    head = literal(f"{_SIGNS[found.direction]} ", style, how)
    head.append_text(literal(f"{found.label}: ", style, "name"))
    yield Headline(head.append_text(literal(movement(found), style, how)))
    beside = [each for each in found.numbers if each is not lead(found) and each.old != each.new]
    if beside and found.direction != "same":
        shown = "; ".join(f"{each.name} {_arrow(each)}" for each in beside[:_MOST_BESIDE])
        yield literal(f"  and {shown}", style, "weak")
    if found.direction == "increased" and (bound := _unchanged_bound(found)):
        yield literal(f"  the bound itself is as before: {bound}", style, "weak")
    words = budget_words(found)
    if words and found.new is not None and found.new.verdict is not None:
        good = found.new.verdict.ok
        mark = literal("  ✓ " if good else "  ✗ ", style, "good" if good else "bad")
        yield mark.append_text(literal(words, style))
    if style.detail == "brief" or (is_unchanged(found) and not found.settings):
        return
    yield from _sections(found, style)


def _unchanged_bound(change: Change) -> str:
    """Returns the bound of a spec where it is as it was; empty where it is another one."""
    bound = None if change.new is None else change.new.bound
    if bound is None or change.old is None or change.old.bound != bound:
        return ""
    return short_text(bound)


#: So many other numbers stand beside the one that leads.
_MOST_BESIDE = 4


def lead(change: Change) -> NumberChange | None:
    """Returns the number that leads a change: the ε at the δ asked for, or else the first that
    moved.

    It is one that moved in the direction of the change; None if there is none.
    """
    report = change.new or change.old
    asked = None if report is None else requested_number(report)
    name = "" if asked is None else epsilon_at(asked.given)
    moved = [each for each in change.numbers if each.direction == change.direction]
    return next((each for each in moved if each.name == name), moved[0] if moved else None)


def _arrow(each: NumberChange) -> str:
    """Returns a number before and now, with how much more or less that is: `3 → 3.98  +33 %`."""
    return f"{_pair(each.old, each.new)}{_percent(each.old, each.new)}"


def _pair(old: Fraction | None, new: Fraction | None) -> str:
    """Returns two numbers as `3 → 3.98`, with all digits if they look equal and are not."""
    was, now = amount(old), amount(new)
    if was == now and old is not None and new is not None and old != new:
        was, now = number(old), number(new)
    return f"{was} → {now}"


_MOST_TIMES = 10**300  # of a larger ratio only this is said


def _percent(old: Fraction | None, new: Fraction | None) -> str:
    """Returns the relative difference in per cent, rounded away from 0; nothing where it has
    none."""
    if old is None or new is None or not old or old == new:
        return ""
    if new >= 11 * old:
        ratio = new / old
        return f"  {float(ratio):.3g}×" if ratio < _MOST_TIMES else "  over 1e300×"
    part = float((new - old) / old * 100)
    size = f"{abs(part):.0f}" if abs(part) >= 10 else f"{abs(part):.2g}"
    return f"  {'+' if part > 0 else '−'}{size} %"


def movement(change: Change) -> str:
    """Returns how the number that leads moved: `ε at δ = 1e-6  3 → 3.98  +33 %`."""
    first = lead(change)
    if change.direction == "incomparable" or first is None or change.direction == "same":
        return headline(change)
    if change.old is None or change.new is None:
        return headline(change)
    return f"{first.name}  {_arrow(first)}"


def _sections(change: Change, style: Style) -> Iterator[Section]:
    """Yields the sections of a change that have content."""
    full = style.detail == "full"
    because = change.because if full else reasons_to_show(change)
    new: list[Part] = []
    if change.findings:
        seen = replace(change.source_to_show, findings=change.findings[:MOST])
        more = len(change.findings) - MOST
        note = [literal(f"and {more} more", style, "weak")] if more > 0 else []
        new = [findings_of(seen, style), *note]

    def rows(listed: Sequence[Sequence[str]], columns: Sequence[str] = ()) -> list[Part]:
        """Returns the rows as a table, nothing without any."""
        return [TextTable(listed, style, columns)] if listed else []

    why = [] if change.why is None else [(sentence(change.why),)]
    named = ("part", "name part")
    meanwhile = () if change.new is None else change.new.meanwhile
    sections: tuple[tuple[str, list[Part]], ...] = (
        ("Not comparable", rows(why)),
        ("Because", rows(_items(because))),
        ("Changed in the spec", rows(_edit_rows(change.edits), named)),
        ("Assumed, not checked", rows(_assumption_rows(change))),
        ("Assumed of the data", rows([(sentence(each),) for each in meanwhile])),
        ("New findings", new),
        ("Newly free", rows(_items(free(change)))),
        ("What mechanisms cost at the worst change", rows(_mechanism_rows(change), named)),
        ("Worst change", rows(_changed_places(change, full), named)),
        ("Settings", rows(_items(change.settings))),
        ("Fails by --fail-on", rows([(each,) for each in change.failing])),
    )
    yield from (Section(name, parts, style) for name, parts in sections if parts)


def _items(sentences: Sequence[str]) -> list[tuple[str, ...]]:
    """Returns sentences as rows, only the first ones of many."""
    return _first([(sentence(each),) for each in sentences], 0)


def _first(rows: Sequence[tuple[str, ...]], column: int = 1) -> list[tuple[str, ...]]:
    """Returns the first ones of many rows, and one that counts the others in a column."""
    more = len(rows) - MOST
    return [*rows[:MOST], ("",) * column + (f"and {more} more",)] if more > 0 else [*rows]


def reasons_to_show(change: Change) -> Sequence[str]:
    """Returns why a bound moved, where what changed in the spec does not say it already."""
    lost = change.new is not None and change.new.status == "no-guarantee"
    seen = change.edits or change.moved or change.old is None or change.new is None
    return change.because if lost or not seen else ()


def headline(change: Change) -> str:
    """Returns a change in one sentence: `ε at δ = 1e-6 increased from 1.2 to 1.7 because …`."""
    if change.new is None:
        return _removed(change)
    around = neighbours(change.new)
    shown = lead(change)
    because = f" because {change.because[0]}" if change.because else ""
    match change.direction:
        case "same" if change.old is not None and change.old.status == "no-guarantee":
            return f"no finite bound, as before ({around})"
        case "same":
            now = "" if shown is None else f" at {_value(shown)}"
            return f"unchanged{now} ({around})"
        case "incomparable":
            return f"the bounds cannot be compared: {change.why}"
        case _ if shown is None:
            return f"the bound {change.direction}{because}"
    if change.old is None:
        return f"new spec: {_value(shown)} ({around})"
    if shown.new is None:
        return f"increased from {shown.name} = {amount(shown.old)} to no finite bound"
    if shown.old is None:
        return f"decreased from no finite bound to {_value(shown)}{because}"
    was, now = _pair(shown.old, shown.new).split(" → ")
    return f"{shown.name} {change.direction} from {was} to {now}{because}"


def _removed(change: Change) -> str:
    """Returns the sentence on a spec that was removed."""
    was = change.source_to_show
    if was.status == "invalid":
        return "removed spec: it was invalid"
    around = neighbours(was)
    if not change.numbers:
        return f"removed spec: it had no finite bound ({around})"
    shown = lead(change) or change.numbers[0]
    return f"removed spec: it had {_value(replace(shown, new=shown.old))} ({around})"


def _value(each: NumberChange) -> str:
    """Returns the new value of a number with its name: `ε = 3 at δ = 1e-6`."""
    name, at, point = each.name.partition(" at ")
    return f"{name} = {amount(each.new)}{at}{point}"


def amount(value: Fraction | None) -> str:
    """Returns a number with six digits, rounded up; `none` for None."""
    return "none" if value is None else chance_text(value)


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
    return f"{words}; before: budget {budget_text(old)}{whom}"


def free(change: Change) -> list[str]:
    """Returns a sentence for each mechanism that newly counts as post-processing, at no cost."""
    return [
        f"`{each}` is said to use released outputs alone, and so costs nothing"
        for each in change.free
    ]


def _changed_places(change: Change, full: bool) -> list[tuple[str, ...]]:
    """Returns for each dataset what the worst change is there, where that is another one than
    before; with `full` for all datasets."""
    if change.new is None or change.old is None:
        return []
    old, new = (_places(each) for each in (change.old, change.new))
    rows: list[tuple[str, ...]] = []
    for name in {**old, **new}:
        was, now = old.get(name), new.get(name)
        if was == now:
            rows += [(" ", name, now or "")] * full
        elif was is None or now is None:
            rows.append(("+" if was is None else "-", name, now or was or ""))
        else:
            rows.append(("~", name, _merged(was, now)))
    return _first(rows)


def _merged(was: str, now: str) -> str:
    """Returns two sentences, of before and of `now`, as one: with an arrow at each number that
    changed where only numbers differ (`at most 20 → 30 rows`), else `was → now`."""
    if _shape(was) != _shape(now):
        return f"{was} → {now}"
    before = iter(_WORDS.findall(was))

    def number_change(found: re.Match[str]) -> str:
        old = next(before)
        return found[0] if found[0] == old else f"{old} → {found[0]}"

    return _WORDS.sub(number_change, now)


def _places(report: Report) -> dict[str, str]:
    """Returns what the worst change is in each dataset."""
    if report.worst is None:
        return {}
    found = (each.removeprefix("in ").partition(": ") for each in report.worst.says)
    return {name.replace("`", ""): says for name, _, says in found}


def _assumption_rows(change: Change) -> list[tuple[str, ...]]:
    """Returns new (+), dropped (-) and changed (~) assumptions as rows.

    What a changed key said is left out: it stands among the changes of the spec. What is new is
    named, since a review may stop at it. Two sentences that differ in their numbers alone are one.
    """
    told: list[str] = []
    for edit in change.edits:
        start = f"`{f'{edit.kind} {edit.name}'.strip()}`: "
        # Of a list an assumption names the whole: `guarantees`, not `guarantees.1.rho`.
        told += [start + _IN_LIST.sub("", key.name) for key in edit.keys] or [start]
    former = change.no_longer_assumed
    old = [each for each in former if not any(each.startswith(start) for start in told)]
    rows: list[tuple[str, ...]] = []
    for each in change.assumed:
        was = next((other for other in old if _shape(other) == _shape(each)), None)
        if was is None:
            rows.append(("+", sentence(each)))
        else:
            old.remove(was)
            rows.append(("~", sentence(_merged(was, each))))
    rows += [("-", sentence(each)) for each in old]
    return _first(rows)


_WORDS = re.compile(r"[0-9][0-9.e/-]*")
_IN_LIST = re.compile(r"\.[0-9]+\..*")


def _shape(text: str) -> str:
    """Returns a sentence without its numbers."""
    return _WORDS.sub("#", text)


def _mechanism_rows(change: Change) -> list[tuple[str, ...]]:
    """Returns the mechanisms that cost another amount at the worst change, as rows."""
    rows: list[tuple[str, ...]] = []
    for each in change.moved:
        shares = [share for share in (each.new, each.old) if share is not None]
        alike = len({share.bound.notion for share in shares}) == 1
        values = [None if x is None else x.bound.value for x in (each.old, each.new)]
        line = each.new.span if each.new is not None else None
        was, now = (_share(share) for share in (each.old, each.new))
        rows.append(
            (
                "~" if each.old and each.new else "+" if each.new else "-",
                each.mechanism,
                f"{was} → {now.split(maxsplit=1)[-1] if alike else now}",
                _percent(*values).strip() if alike else "",
                "" if line is None else f":{line.line}",
            )
        )
    return _first(rows)


def _share(share: Share | None) -> str:
    """Returns the amount that a mechanism adds, as `ε 0.5`; `nothing` for None."""
    if share is None:
        return "nothing"
    delta = "" if share.bound.delta is None else f", {amount(share.bound.delta)}"
    return f"{share.bound.notion.facts.sign} {amount(share.bound.value)}{delta}"


def _edit_rows(edits: Sequence[Edit]) -> list[tuple[str, ...]]:
    """Returns the keys of the spec that differ, as rows."""
    rows: list[tuple[str, ...]] = []
    for each in edits[:MOST]:
        if not each.keys:
            mark = "+" if each.how == "added" else "-"
            rows.append((mark, f"{each.kind} {each.name}", "", f":{each.span.line}"))
        for key in each.keys[:MOST]:
            mark = "~" if None not in (key.old, key.new) else "+" if key.old is None else "-"
            name = ".".join(filter(None, (each.name, key.name)))
            if not key.name:  # a constant is a value, without keys
                name = f"{each.kind} {name}"
            values = " → ".join(each for each in (key.old, key.new) if each is not None)
            rows.append((mark, name, values, f":{each.span.line}"))
    more = len(edits) - MOST
    return [*rows, ("", f"and {more} more", "", "")] if more > 0 else rows
