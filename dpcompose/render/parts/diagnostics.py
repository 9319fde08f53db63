"""Findings for people: what is wrong, the source lines it is about, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from dpcompose.curves.rounding import listing
from dpcompose.errors import Diagnostic, Fix, InvalidSpec, Level
from dpcompose.render.layout import Style
from dpcompose.render.parts.console import leading_to, literal, printed
from dpcompose.render.parts.excerpt import Gutter, Mark, corrected, excerpt, hanging
from dpcompose.report import Report

_COLOURS: dict[Level, str] = {"error": "bad", "warning": "warn", "note": "note"}
_MOST_PLACES = 3  # places of one finding with source lines; the others are only named
_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings about a file, with the source lines that they are about."""

    listed: Sequence[Diagnostic]
    file: str
    lines: Sequence[str]
    style: Style

    def __rich__(self) -> Group:
        """Returns the findings for a terminal, equal ones at several places together."""
        return Group(*_excerpts(self.listed, self.file, self.lines, self.style))


def findings_of(report: Report, style: Style) -> Findings:
    """Returns the findings of a report."""
    return Findings(report.findings, report.file, report.lines, style)


def refusal(error: InvalidSpec, style: Style) -> str:
    """Returns the faults of an invalid spec as text, without a newline at the end."""
    found = Findings(error.diagnostics, error.file, error.lines, style)
    return printed(found, style).removesuffix("\n")


def _excerpts(
    findings: Iterable[Diagnostic], file: str, lines: Sequence[str], style: Style
) -> list[RenderableType]:
    """Returns the findings about a file as renderables, with its source lines; equal ones at
    several places together."""
    alike: dict[object, list[Diagnostic]] = {}
    for each in findings:
        key = (each.code, each.level, each.message, each.hint, each.label)
        # Findings with related places are merged only if these are the same.
        alike.setdefault((*key, each.related) if each.related else key, []).append(each)
    said: set[str] = set()
    parts: list[RenderableType] = []
    for group in alike.values():
        if parts:
            parts.append(Text())
        first = group[0]
        notes = [f"dpcompose explain {first.code}"]
        if first.fix is not None and first.fix.certain:
            notes.insert(0, "dpcompose analyze --fix makes this correction")
        notes = [each for each in notes if each not in said]
        said.update(notes)
        parts.append(Group(*_one(group, file, lines, style, notes)))
    return parts


def difference(file: str, lines: Sequence[str], fix: Fix, style: Style) -> str:
    """Returns every line that a fix changes in a file, as text without a newline at the end."""
    largest = max([1, *(each.span.end_line for each in fix.replacements)])
    gutter = Gutter(largest, style)
    head = hanging(gutter.arrow(), literal(file, style))
    shown = [head, *corrected(lines, fix, gutter, style, everything=True)]
    return printed(shown, style).removesuffix("\n")


def _one(
    group: Sequence[Diagnostic],
    file: str,
    lines: Sequence[str],
    style: Style,
    notes: Iterable[str],
) -> Iterator[RenderableType]:
    """Yields one finding at one or more places; `notes`: remarks that a report makes only once."""
    first = group[0]
    colour = _COLOURS[first.level]
    head = Text(f"{first.level}[{first.code}]: ", colour)
    leading_to(first.code, head, style, len(first.level) + 1, -3)
    yield hanging(head, literal(first.message, style, "strong"))
    spans = [each.span for each in group if each.span is not None]
    shown = spans[:_MOST_PLACES]
    labels = [first.label or ""] + [""] * len(shown)  # the first place has the label
    marks = [Mark(span, label, True) for span, label in zip(shown, labels, strict=False)]
    marks += [Mark(*each, False) for each in first.related]
    changed = [each.span.end_line for each in first.fix.replacements] if first.fix else []
    gutter = Gutter(max([1, *(each.span.line for each in marks), *changed]), style)
    place = f"{file}:{spans[0].line}:{spans[0].column}" if spans else file
    yield hanging(gutter.arrow(), literal(place, style))
    yield from excerpt(lines, marks, gutter, colour, style)
    if len(spans) > len(shown):
        numbers = list(dict.fromkeys(str(span.line) for span in spans[len(shown) :]))
        listed = listing(numbers, _MOST_NAMED).replace("`", "")
        yield _note("note", f"the same at line{'s'[: len(numbers) - 1]} {listed}", gutter, style)
    if first.hint:
        yield _note("help", first.hint, gutter, style)
    if first.fix is not None and lines:
        yield from corrected(lines, first.fix, gutter, style)
    for each in notes:
        yield _note("note", each, gutter, style)


def _note(word: str, says: str, gutter: Gutter, style: Style) -> RenderableType:
    """Returns a line such as `= help: …` below the source lines."""
    return hanging(gutter.note() + Text(f"{word}: ", "strong"), literal(says, style))
