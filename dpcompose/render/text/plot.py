"""Curves of a report in a terminal: the trade-off curve and the privacy profile."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from dpcompose.render.layout import Style
from dpcompose.render.parts.console import literal
from dpcompose.render.words.numbers import at_text, per_cent
from dpcompose.report import Report

#: A place in the unit square: from the left, and from below.
Place = tuple[float, float]

#: The rows of a curve, and the columns of the numbers beside it.
_ROWS, _MARGIN = 14, 8
#: Braille has dots in four rows of two; these are the bits of its characters.
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
#: Characters without a dot.
_EMPTY = " \u2800"
#: The foot of the profile is 10 to this power.
_LEAST = -10


def plots(report: Report, style: Style) -> Iterator[RenderableType]:
    """Yields both curves, beside each other where the page has room; a sentence where there are
    none."""
    risk = report.drawn
    if risk is None or not risk.trade_off:
        yield literal("There is no finite bound, so there is no curve to show.", style)
        return
    width = style.width // 2 - 1 if style.wide else style.width
    rates = [(float(rate), float(found)) for rate, found in risk.trade_off]
    marks = [(float(rate), float(found)) for rate, found in risk.hits]
    says = "; ".join(f"{per_cent(rate)}: {per_cent(found)}" for rate, found in risk.hits)
    first = _figure(
        [(0.0, rates[0][1] if rates[0][0] == 0 else 0.0), *rates, (1.0, 1.0)],
        marks,
        [(0.0, 0.0), (1.0, 1.0)],
        ("hits", "100 %", "0", "100 %", "false alarms", f"● {says}" if says else ""),
        width,
        style,
    )
    end = float(risk.profile[-1][0])
    known = [at for at in report.at_delta if at.value is not None and at.given]
    found = [at_text(at) for at in known[:2]]
    told = [(float(at.value or 0) / end, _height(at.given)) for at in known]
    second = _figure(
        [(float(epsilon) / end, _height(delta)) for epsilon, delta in risk.profile],
        [each for each in told if each[0] <= 1],
        [],
        ("δ", "1", f"1e{_LEAST}", f"{end:g}", "ε", f"● {'; '.join(found)}" if found else ""),
        width,
        style,
    )
    if not style.wide:
        yield from (first, "", second)
        return
    table = Table.grid(padding=(0, 2))
    table.add_row(first, second)
    yield table


def _height(delta: Fraction) -> float:
    """Returns the height of a δ on a scale of powers of ten."""
    return 0.0 if not delta else max(0.0, 1 - math.log10(delta) / _LEAST)


def _figure(
    curve: Sequence[Place],
    marks: Sequence[Place],
    other: Sequence[Place],
    names: Sequence[str],
    width: int,
    style: Style,
) -> Text:
    """Returns a curve with marks on it, and another one in dots, as text.

    `names`: the name of the upright axis, its values at the top and at the foot, the value at the
    end of the other axis, its name, and the caption.
    """
    columns = width - _MARGIN - 1
    upright, top, foot, end, along, says = (style.plain(each) for each in names)
    lines = _lines(curve, 1, columns, style)
    below = _lines(other, 5, columns, style) if other else [" " * columns] * _ROWS
    spots = {
        (_ROWS - 1 - min(_ROWS - 1, int(y * _ROWS)), min(columns - 1, int(x * columns)))
        for x, y in marks
    }
    text = Text(no_wrap=True)
    for row in range(_ROWS):
        name = (top, upright)[row] if row < 2 else foot if row == _ROWS - 1 else ""
        text.append_text(literal(f"{name:>{_MARGIN - 2}} │", style, "weak"))
        for column in range(columns):
            if (row, column) in spots:
                text.append_text(literal("●", style, "strong"))
            elif lines[row][column] not in _EMPTY:
                text.append_text(literal(lines[row][column], style, "number"))
            else:
                text.append_text(literal(below[row][column], style, "weak"))
        text.append("\n")
    text.append_text(literal(f"{'':>{_MARGIN - 2}} └{'─' * columns}", style, "weak")).append("\n")
    axis = f"{'':>{_MARGIN}}{along:<{columns - len(end)}}{end}"
    text.append_text(literal(axis, style, "weak")).append("\n")
    return text.append_text(literal(f"{'':>{_MARGIN}}{says}", style))


def _lines(points: Sequence[Place], apart: int, columns: int, style: Style) -> list[str]:
    """Returns a polyline as rows of characters; of its dots only one in `apart` is drawn."""
    braille = style.plain("⠿") == "⠿"  # whether the output can carry it
    high, wide = (4 * _ROWS, 2 * columns) if braille else (_ROWS, columns)
    dots: set[tuple[int, int]] = set()
    for (x, y), (x_end, y_end) in pairwise(points):
        steps = max(1, math.ceil(2 * max(abs(x_end - x) * wide, abs(y_end - y) * high)))
        for k in range(steps + 1):
            across = min(wide - 1, int((x + (x_end - x) * k / steps) * wide))
            down = high - 1 - min(high - 1, max(0, int((y + (y_end - y) * k / steps) * high)))
            if (across + down) % apart == 0:
                dots.add((down, across))
    if not braille:
        return ["".join("*" if (r, c) in dots else " " for c in range(wide)) for r in range(high)]
    return [
        "".join(
            chr(
                0x2800
                + sum(
                    _DOTS[i][j]
                    for i in range(4)
                    for j in range(2)
                    if (4 * row + i, 2 * column + j) in dots
                )
            )
            for column in range(columns)
        )
        for row in range(_ROWS)
    ]
