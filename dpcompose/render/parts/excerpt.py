"""Source lines for people: cut to the width of the page, with marks and corrections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from dpcompose.errors import Fix, Replacement, Span
from dpcompose.render.layout import Style

#: The least columns of source that are shown, however narrow the page is.
_LEAST = 16
_LONGEST_MARK = 30  # a longer mapping in braces is marked at its first entry only
_MOST_CHANGES = 4  # changed stretches of a file that are shown
_MOST_LINES = 8  # lines shown of one stretch, before and after


class Mark(NamedTuple):
    """A stretch of the source with a label; `main`: it is what the finding is about."""

    span: Span
    label: str
    main: bool


class _Window(NamedTuple):
    """The part of a source line that fits the page; `columns`: on which column each character from
    `first` on starts."""

    text: str
    first: int
    columns: list[int]

    def between(self, start: int, end: int) -> tuple[int, int]:
        """Returns the columns, counted from 0, of the characters from `start` to `end` as far as
        they are shown; at least one column wide."""
        last = len(self.columns) - 1
        left = self.columns[min(max(start - self.first, 0), last)]
        right = self.columns[min(max(end - self.first, 0), last)]
        return left, max(right, left + 1)

    def shows(self, start: int) -> bool:
        """Returns whether a character, or the end of the line, is in the window."""
        return self.first <= start < self.first + len(self.columns)


def _window(
    line: str, start: int, end: int, room: int, style: Style, most_before: int | None = None
) -> _Window:
    """Returns the part of a line around the characters from `start` to `end` that fits `room`
    columns.

    `most_before`: at most so many columns are shown before them; None for as many as fit.
    """
    start = min(start, len(line))
    whole = _forms(line, 0, 2 * room, style) if len(line) <= 2 * room else None
    if whole is not None and sum(map(cell_len, whole)) < room:
        return _placed("", whole, "", 0)
    dots = style.plain("…")
    room -= 2 * cell_len(dots) + 1
    marked = _taken(_forms(line, start, min(max(end, start + 1), start + room), style), room)
    room -= sum(map(cell_len, marked))
    before = _forms(line, max(0, start - room), start, style)[::-1]
    after_at = start + len(marked)
    after = _forms(line, after_at, after_at + room, style)
    beyond = min(sum(map(cell_len, after)), room // 3)
    wanted = room - beyond if most_before is None else min(room, most_before)
    left = _taken(before, wanted)[::-1]
    right = _taken(after, room - sum(map(cell_len, left)))
    first = start - len(left)
    shown = [*left, *marked, *right]
    cut = first + len(shown) < len(line)
    return _placed(dots if first else "", shown, dots if cut else "", first)


def _forms(line: str, start: int, end: int, style: Style) -> list[str]:
    """Returns each character from `start` to `end` of a line as the output can print it."""
    return [style.plain(char) for char in line[start:end]]


def _taken(forms: Iterable[str], room: int) -> list[str]:
    """Returns the first forms that fit `room` columns."""
    taken: list[str] = []
    for form in forms:
        room -= cell_len(form)
        if room < 0:
            break
        taken.append(form)
    return taken


def _placed(before: str, forms: Sequence[str], after: str, first: int) -> _Window:
    """Returns the part of a spec's line that an excerpt below a finding shows, with the column of
    each character on the screen.

    `forms`: its characters as printed; `first`: the number of the first of them in the line, from
    0; `before`, `after`: dots where the line is cut, else empty.
    """
    columns = [cell_len(before)]
    for form in forms:
        columns.append(columns[-1] + cell_len(form))
    return _Window(before + "".join(forms) + after, first, columns)


# --- lines with marks ----------------------------------------------------------------------------


class Gutter:
    """The margin left of source lines: line numbers, as wide as the largest one."""

    def __init__(self, largest: int, style: Style) -> None:
        self.wide = len(str(largest))
        self._style = style
        self.room = max(_LEAST, style.width - self.wide - 4)

    def line(self, sign: str, number: int | None = None, how: str = "frame") -> Text:
        """Returns the margin left of a line of the quoted spec: its number, or blanks without one,
        and `sign`, as ` 5 | `; `how`: its colour."""
        shown = "" if number is None else str(number)
        return Text.assemble((f" {shown:>{self.wide}} {self._style.plain(sign)} ", how))

    def arrow(self) -> Text:
        """Returns the margin before a file name: ` --> `."""
        return Text.assemble((f" {'':{self.wide}}--> ", "frame"))

    def note(self) -> Text:
        """Returns the margin before help and notes: ` = `."""
        return Text.assemble((f" {'':{self.wide}} = ", "frame"))


def excerpt(
    lines: Sequence[str], marks: Iterable[Mark], gutter: Gutter, how: str, style: Style
) -> Iterator[RenderableType]:
    """Yields the marked source lines in order, each with its marks and labels below it.

    `how`: the colour of the main marks.
    """
    by_line: dict[int, list[Mark]] = {}
    for mark in marks:
        if 0 < mark.span.line <= len(lines):
            by_line.setdefault(mark.span.line, []).append(mark)
    before = 0
    for number in sorted(by_line):
        if before and number > before + 1:
            yield Text(f"{'':{gutter.wide - 1}}{style.plain('...')}", "frame")
        elif not before:
            yield _bare(gutter.line("|"))
        before = number
        yield from _marked(lines[number - 1], number, by_line[number], gutter, how, style)


def _marked(
    line: str, number: int, marks: list[Mark], gutter: Gutter, how: str, style: Style
) -> Iterator[RenderableType]:
    """Yields one source line, its marks, and the labels that do not fit beside them; `how`: the
    colour of the main marks."""
    ordered = sorted(marks, key=lambda mark: mark.span.column)
    main = next((mark for mark in ordered if mark.main), ordered[0])
    start, end = _stretch(main.span, line)
    window = _window(line, start, end, gutter.room, style)
    yield _bare(gutter.line("|", number) + Text(window.text))
    carets, at, labels = Text(), 0, []
    for mark in ordered:
        start, end = _stretch(mark.span, line)
        if not window.shows(start):
            continue
        left, right = window.between(start, end)
        if left < at:
            continue
        colour = how if mark.main else "frame"
        carets.append(" " * (left - at))
        carets.append(("^" if mark.main else "-") * (right - left), colour)
        at = right
        if mark.label:
            labels.append((left, style.plain(mark.label), colour))
    if labels and at + 1 + cell_len(labels[-1][1]) <= gutter.room and labels[-1][0] < at:
        _, words, colour = labels.pop()
        carets.append(f" {words}", colour)
    yield gutter.line("|") + carets
    for left, words, colour in reversed(labels):
        left = max(0, min(left, gutter.room - cell_len(words)))
        yield hanging(gutter.line("|") + Text(" " * left), Text(words, colour))


def _stretch(span: Span, line: str) -> tuple[int, int]:
    """Returns where a span starts and ends on its first line, counted from 0.

    Of a long mapping in braces only the first entry, which identifies it.
    """
    start, end = span.column - 1, span.end_column - 1 if span.end_line == span.line else len(line)
    if line[start : start + 1] == "{" and end - start > _LONGEST_MARK:
        comma = line.find(",", start, end)
        end = comma if comma > start else end
    return start, end


def _bare(text: Text) -> Text:
    """Returns a text without blanks at its end."""
    text.rstrip()
    return text


def hanging(before: Text, text: Text) -> RenderableType:
    """Returns `text` after `before`, its further lines aligned below its first one."""
    grid = Table.grid()
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(before, text)
    return grid


# --- what to write instead -----------------------------------------------------------------------


class Changed(NamedTuple):
    """Consecutive source lines from `number` on, before and after some replacements."""

    number: int
    before: list[str]
    after: list[str]


def changes(lines: Sequence[str], replacements: Iterable[Replacement]) -> Iterator[Changed]:
    """Yields the source lines that replacements change, in order."""
    waiting: list[Replacement] = []
    for each in sorted(replacements, key=lambda each: (each.span.line, each.span.column)):
        if waiting and each.span.line > max(one.span.end_line for one in waiting):
            yield _changed(lines, waiting)
            waiting = []
        waiting.append(each)
    if waiting:
        yield _changed(lines, waiting)


def _changed(lines: Sequence[str], replacements: list[Replacement]) -> Changed:
    """Returns the source lines that some replacements change, before and after."""
    first = replacements[0].span.line
    last = min(max(each.span.end_line for each in replacements), len(lines))
    before = list(lines[first - 1 : last])
    text = "\n".join(before)
    starts = [0]
    for line in before:
        starts.append(starts[-1] + len(line) + 1)
    for each in reversed(replacements):
        span = each.span
        start = starts[span.line - first] + span.column - 1
        end = starts[min(span.end_line - first, len(before))] + span.end_column - 1
        text = text[:start] + each.text + text[end:]
    after = text.split("\n")
    while len(before) > 1 and after and before[-1] == after[-1]:
        before, after = before[:-1], after[:-1]
    while len(before) > 1 and after and before[0] == after[0]:
        first, before, after = first + 1, before[1:], after[1:]
    return Changed(first, before, after)


def corrected(
    lines: Sequence[str], fix: Fix, gutter: Gutter, style: Style, everything: bool = False
) -> Iterator[Text]:
    """Yields the lines that a fix changes, before and after; only the first ones of many, unless
    `everything`."""
    shift, most = 0, None if everything else _MOST_LINES
    for index, each in enumerate(changes(lines, fix.replacements)):
        if index == _MOST_CHANGES and not everything:
            yield gutter.note() + Text(style.plain("and so on"))
            return
        for sign, number, texts, others, how in (
            ("-", each.number, each.before, each.after, "bad"),
            ("+", each.number + shift, each.after, each.before, "good"),
        ):
            for at, text in enumerate(texts[:most]):
                start = _difference(text, others[at] if at < len(others) else "")
                window = _window(text, start, start, gutter.room, style, gutter.room // 2)
                yield _bare(gutter.line(sign, number + at, how) + Text(window.text, how))
            if most is not None and len(texts) > most:
                yield gutter.line(sign, None, how) + Text(style.plain("…"), how)
        shift += len(each.after) - len(each.before)


def _difference(text: str, other: str) -> int:
    """Returns the index of the first character in which a line differs from another one."""
    most = min(len(text), len(other))
    return next((at for at in range(most) if text[at] != other[at]), most)
