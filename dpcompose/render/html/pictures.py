"""Pictures of a page: attackers, costs, curves, what was spent over time, and the spec itself."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from markupsafe import Markup

from dpcompose.planning.ledger.totals import Total
from dpcompose.render.html.markup import Where, with_code
from dpcompose.render.html.templates import environment
from dpcompose.render.pictures.graph_svg import graph_svg
from dpcompose.render.text.costs import added_unit, are_alone
from dpcompose.render.text.risk_text import in_words, point_text
from dpcompose.render.words.numbers import at_text, per_cent, percent, share_text
from dpcompose.report import Node, Report

#: So many figures stand for all attackers.
_FIGURES = 100
#: Narrower parts of the picture of costs have no text; its width is 1 000.
_NARROWEST, _WIDTH_OF_LETTER = 60, 9
#: The width and height of a picture of a curve.
_SIZE = 300
#: The picture of what was spent names releases only where there are at most so many.
_MOST_LABELS = 8


def _picture(name: str, *values: object) -> Markup:
    """Returns the picture that a macro of the templates draws."""
    made: Any = environment().get_template("pictures.html").module
    return Markup(getattr(made, name)(*values))


def spec(lines: Sequence[tuple[int, str]], where: Where, of: str, level: int) -> Markup:
    """Returns the section of the lines of a spec; `of`: the end of its name."""
    return _picture("spec", lines, where.prefix, where.within, of, level)


def graph(report: Report, prefix: str, of: str) -> Markup:
    """Returns the drawing of the pipeline, empty without one; `prefix`: that of its
    anchor; `of`: the end of its name."""
    if not report.pipeline:
        return Markup()
    drawing = Markup(graph_svg(report, styled=False))
    return _picture(
        "graph", drawing, f"{prefix}graph", of, with_code(report.protects), bool(report.tree)
    )


def spent(total: Total) -> Markup:
    """Returns the picture of what was spent after each release; empty where that is not known."""
    steps = [each for each in total.steps if each.record is not None]
    if not steps:
        return Markup()
    shares = [float(each.record.share) for each in steps if each.record is not None]
    top = max([1.0, *shares])
    labels = len(steps) <= _MOST_LABELS
    points = [
        {
            "x": round(700 * (n + 1) / len(steps), 1),
            "y": round(200 - 200 * share / top, 1),
            "words": percent(each.record.share) if each.record else "",
            "text": each.label.rpartition("/")[2] if labels else "",
        }
        for n, (each, share) in enumerate(zip(steps, shares, strict=True))
    ]
    return _picture("spent", points, 200 - 200 / top)


def attackers(report: Report) -> Markup:
    """Returns the pictures of how many of a hundred attackers guess right; empty where that is not
    known."""
    risk = report.risk
    if risk is None or report.status != "ok":
        return Markup()
    alone = dict(risk.from_point.success) if risk.from_point is not None else {}
    least = min((before for before, _ in risk.success), default=None)  # it is said below
    arrays = [
        {
            "before": _of_figures(before),
            "after": _of_figures(after),
            "alone": _of_figures(alone[before]) if before in alone else None,
            "says": "" if before == least else in_words(before, after, report),
        }
        for before, after in risk.success
        if before * _FIGURES >= 1
    ]
    return _picture("attackers", arrays[:2], point_text(risk) if alone else "")


def _of_figures(rate: Fraction) -> int:
    """Returns how many of the figures in the picture stand for a rate, rounded up."""
    return min(_FIGURES, math.ceil(rate * _FIGURES))


def curves(report: Report, prefix: str) -> Markup:
    """Returns the trade-off curve and the privacy profile as points of pictures of 300 × 300: from
    the left, and from above; empty where they are not known."""
    risk = report.drawn
    if risk is None or not risk.trade_off or report.status != "ok":
        return Markup()
    size = _SIZE
    hits = [(float(rate) * size, size - float(found) * size) for rate, found in risk.trade_off]
    alone = []
    if risk.point is not None:
        epsilon, delta = map(float, risk.point)
        rise = math.exp(min(epsilon, 700))
        for k in range(101):
            rate = (k / 100) ** 2
            found = min(1, delta + rise * rate, 1 - (1 - delta - rate) / rise)
            alone.append((rate * size, size - found * size))
    end = float(risk.profile[-1][0])
    points = [(float(epsilon) / end * size, _height(delta)) for epsilon, delta in risk.profile]
    marks = [
        (float(at.value) / end * size, _height(at.given), at_text(at))
        for at in report.at_delta
        if at.value is not None and at.value <= risk.profile[-1][0] and at.given
    ]
    values = {
        "size": size,
        "hits": _path([(0, size), *hits, (size, 0)]),
        "alone": _path(alone),
        "rates": [
            (float(rate) * size, size - float(found) * size, per_cent(rate), per_cent(found))
            for rate, found in risk.hits
        ],
        "profile": _path(points),
        "end": f"{end:g}",
        "decades": [(f"1e-{k}" if k else "1", _height(Fraction(1, 10**k))) for k in (0, 3, 6, 9)],
        "marks": marks,
        "point": point_text(risk) if risk.point is not None else "",
    }
    return _picture("curves", values, f"{prefix}curves")


def _height(delta: Fraction) -> float:
    """Returns the vertical position of a δ in the picture of the profile, whose foot is 10^-10."""
    exponent = max(-10.0, math.log10(delta)) if delta else -10.0
    return -exponent / 10 * _SIZE


def _path(points: Sequence[tuple[float, float]]) -> str:
    """Returns points as the data of a path of lines."""
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def costs(report: Report) -> Markup:
    """Returns the picture of what each mechanism costs; empty where parts do not add up."""
    cells = _cells(report)
    if not cells:
        return Markup()
    return _picture("costs", cells, added_unit(report.shares, are_alone(report)))


class _Cell(NamedTuple):
    """A part of the picture of costs: its level, its left end and width in thousandths of the
    whole, its name, the text that fits into it, and its share in per cent."""

    level: int
    left: float
    width: float
    name: str
    text: str
    share: str
    kind: str


def _cells(report: Report) -> list[_Cell]:
    """Returns the picture of costs: below each dataset what is made from it, and the mechanisms
    that read it, as wide as their shares; empty where parts do not add up to the whole."""
    shares = {each.mechanism: each.of_whole for each in report.shares}
    if len(shares) < 2 or any(each is None for each in shares.values()):
        return []
    nodes = [each for each in report.tree if each.kind in ("dataset", "partition", "mechanism")]
    times = Counter(each.name for each in nodes if each.kind == "mechanism")
    left, cells = 0.0, []
    open_: list[tuple[Node, float]] = []  # the datasets above, each with its left end
    for node in [*nodes, None]:
        while open_ and (node is None or open_[-1][0].depth >= node.depth):
            above, start = open_.pop()
            if left > start:
                cells.append(_cell(above, start, left - start))
        if node is None:
            break
        if node.kind != "mechanism":
            open_.append((node, left))
            continue
        width = float((shares.get(node.name) or Fraction(0)) / times[node.name] * 1000)
        if width > 0:
            cells.append(_cell(node, left, width))
        left += width
    return cells


def _cell(node: Node, left: float, width: float) -> _Cell:
    """Returns the part of the picture that stands for a dataset or a mechanism."""
    room = int(width / _WIDTH_OF_LETTER) - 1
    text = node.name if len(node.name) <= room else f"{node.name[: max(0, room - 1)]}…"
    text = text if width >= _NARROWEST else ""
    share = share_text(Fraction(width / 1000))
    return _Cell(node.depth, round(left, 2), round(width, 2), node.name, text, share, node.kind)
