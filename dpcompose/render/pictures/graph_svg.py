"""The pipeline of a report as a picture: layers from left to right, the worst change marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dpcompose.render.pictures.svg import (
    FONT,
    CssRule,
    box,
    lines_at,
    number,
    picture,
    safe,
    text_at,
    text_width,
    wrapped,
)
from dpcompose.render.words.pipeline_words import (
    children_of,
    costs,
    described,
    heading,
    quoted_names,
    result_line,
)
from dpcompose.report import PipelineNode, Report

NAME = "dpc-graph"  # the class of the picture, by which its styles are told from those of a page
_MARGIN, _PADDING, _BETWEEN = 20.0, 11.0, 14.0
_LARGE, _SMALL = 13.0, 11.0  # sizes of text
_STEP = 15.0  # from line to line
#: The most that a line in a box may take, one on its cost, and one beside an edge.
_ROOM, _COST_ROOM, _LABEL_ROOM = 190.0, 250.0, 132.0
_TRUNK, _ARROW, _SHORTEST = 16.0, 8.0, 46.0  # of an edge: its start, its head, its least length
_NARROWEST = 480.0  # of a picture

LOOKS = (
    CssRule("text", f"font:{_SMALL:.0f}px {FONT};fill:#1f2328", "fill:#e6edf3"),
    CssRule(".paper", "fill:#ffffff;stroke:#d8dee4", "fill:#0d1117;stroke:#30363d"),
    CssRule("text.title", "font-size:15px;font-weight:600"),
    CssRule("text.name", f"font-size:{_LARGE:.0f}px;font-weight:600"),
    CssRule("text.weak", "fill:#59636e", "fill:#9198a1"),
    CssRule("text.lit", "fill:#9a3412;font-weight:600", "fill:#fdba74"),
    CssRule(".box", "fill:#f6f8fa;stroke:#afb8c1", "fill:#161b22;stroke:#484f58"),
    CssRule(".split", "fill:#f5f3ff;stroke:#b4a7e5", "fill:#1e1833;stroke:#5b4b9e"),
    CssRule(".release", "fill:#eff6ff;stroke:#93b8e8", "fill:#0f2136;stroke:#31588a"),
    CssRule(".free", "fill:none;stroke:#afb8c1;stroke-dasharray:4 3", "stroke:#484f58"),
    CssRule("rect.lit", "stroke:#c2410c;stroke-width:2.5", "stroke:#fb923c"),
    CssRule(".edge", "fill:none;stroke:#afb8c1;stroke-width:1.3", "stroke:#484f58"),
    CssRule(".edge.free", "stroke-dasharray:4 3"),
    CssRule(".edge.lit", "stroke:#c2410c;stroke-width:3", "stroke:#fb923c"),
    CssRule(".head", "fill:#8c959f", "fill:#6e7681"),
    CssRule(".head.lit", "fill:#c2410c", "fill:#fb923c"),
)
#: The look of a box, and how round its corners are, by the kind of its node.
_BOXES = {
    "dataset": ("box", 4.0),
    "block": ("box", 4.0),
    "partition": ("split", 14.0),
    "mechanism": ("release", 9.0),
    "result": ("free", 9.0),
    "more": ("free", 4.0),
}


class _Text(NamedTuple):
    """One line of a box, with its look and size."""

    text: str
    look: str
    size: float
    bold: bool


@dataclass(slots=True)
class _PlacedNode:
    """A node of the pipeline as it is drawn: the lines in its box, the labels of the edge to it,
    and its position.

    `before`: the labels above the edge (the map); `after`: those below it (the change that
    arrives). `middle`: the height of its centre on the page.
    """

    node: PipelineNode
    lines: list[_Text]
    before: list[str]
    after: list[str]
    column: int = 0
    middle: float = 0.0

    @property
    def width(self) -> float:
        """Returns the width of the box."""
        widths = [text_width(each.text, each.size, each.bold) for each in self.lines]
        return 2 * _PADDING + max(widths, default=0.0)

    @property
    def height(self) -> float:
        """Returns the height of the box."""
        return _STEP * len(self.lines) + 12

    @property
    def label_width(self) -> float:
        """Returns the width of the labels of the edge."""
        widths = [text_width(each, _SMALL) for each in self.before]
        widths += [text_width(each, _SMALL, bold=True) for each in self.after]
        return max(widths, default=0.0)

    @property
    def reach(self) -> float:
        """Returns how far the node extends above its middle, and as far below, in pixels, with the
        labels of its edge."""
        beside = max(len(self.before), len(self.after)) * _STEP + 6
        return max(self.height / 2, beside if self.before or self.after else 0)


def graph_svg(report: Report, styled: bool = True) -> str:
    """Returns the pipeline of a report as an SVG picture, for pages light and dark.

    `styled`: with its style sheet, which a page may have itself.

    The edges that the worst change takes are thick, each with what the change becomes there. A
    report without a pipeline gives a picture that says why.
    """
    drawn = _placed_nodes(report)
    left = _columns(drawn)
    right = max((left[each.column] + each.width for each in drawn), default=0.0)
    across = max(right + _MARGIN, _NARROWEST)
    room = across - 2 * _MARGIN
    title = wrapped(heading(report), 15, room, 1, bold=True)[0]
    head = wrapped(result_line(report), _SMALL, room, 4)
    foot = _foot(report, across)
    bottom = _placed(drawn, children_of(report), _MARGIN + 43 + _STEP * len(head))
    down = bottom + 16 + _STEP * len(foot) + 6
    parts = [box(0.5, 0.5, across - 1, down - 1, "paper", 8)]
    parts.append(text_at(_MARGIN, _MARGIN + 11, title, "title"))
    parts.append(lines_at(_MARGIN, _MARGIN + 31, _STEP, head, "weak"))
    edges = [(drawn[each.node.above], each) for each in drawn if each.node.above is not None]
    # What is marked lies above what is not.
    edges.sort(key=lambda pair: pair[1].node.reached)
    parts += [_edge(start, end, left) for start, end in edges]
    parts += [_further(drawn[i], each, left) for each in drawn for i in each.node.inputs[1:]]
    told = costs(report)
    parts += [_box(each, left, told.get(index, "")) for index, each in enumerate(drawn)]
    parts.append(lines_at(_MARGIN, bottom + 22, _STEP, foot, "weak"))
    name = f"Pipeline of {heading(report)}"
    return picture(
        NAME, (across, down), name, _description(report), "".join(parts), LOOKS if styled else ()
    )


def _placed_nodes(report: Report) -> list[_PlacedNode]:
    """Returns the nodes of a report with their lines and labels, and the column of each."""
    told, found = costs(report), list[_PlacedNode]()
    for index, node in enumerate(report.pipeline):
        alone = node.above is None
        change = quoted_names(node.change) if node.reached else ""
        name = "weak" if node.kind == "more" else "name"
        lines = _lines(node.name, name, _LARGE, _ROOM)
        lines += _lines(quoted_names(node.says), "weak", _SMALL, _ROOM)
        lines += _lines(change if alone else "", "lit", _SMALL, _ROOM)
        lines += _lines(told.get(index, ""), "lit", _SMALL, _COST_ROOM)
        via = quoted_names(node.via)
        before = [] if alone or not via else wrapped(via, _SMALL, _LABEL_ROOM, 3)
        after = [] if alone or not change else wrapped(change, _SMALL, _LABEL_ROOM, 4, bold=True)
        column = 0 if node.above is None else found[node.above].column + 1
        found.append(_PlacedNode(node, lines, before, after, column))
    return found


def _lines(text: str, look: str, size: float, room: float) -> list[_Text]:
    """Returns a text as at most two lines of a box, `room` wide; none for an empty text. `look`:
    the CSS class, `size`: of the font."""
    bold = look != "weak"
    lines = wrapped(text, size, room, 2, bold) if text else []
    return [_Text(each, look, size, bold) for each in lines]


def _columns(drawn: Sequence[_PlacedNode]) -> list[float]:
    """Returns where each column starts, so that boxes and the labels between them have room."""
    count = 1 + max((each.column for each in drawn), default=0)
    left = [_MARGIN]
    for column in range(1, count):
        here = [each for each in drawn if each.column == column]
        before = [each.width for each in drawn if each.column == column - 1]
        label = max((each.label_width for each in here), default=0.0)
        gap = max(_SHORTEST, label + _TRUNK + _ARROW + 14 if label else 0)
        left.append(left[-1] + max(before, default=0.0) + gap)
    return left


def _placed(drawn: list[_PlacedNode], below: Mapping[int | None, list[int]], top: float) -> float:
    """Sets the height of each node on the page from `top` on, and returns where the last one ends.

    Each node stands in the middle of what is below it, in a band of its own.
    """
    cursor = top
    started: dict[int, float] = {}
    stack = [(index, False) for index in reversed(below.get(None, []))]
    while stack:
        index, done = stack.pop()
        each, children = drawn[index], below.get(index, [])
        if not children:
            each.middle = cursor + each.reach
            cursor += 2 * each.reach + _BETWEEN
        elif not done:
            started[index] = cursor
            stack.append((index, True))
            stack.extend((child, False) for child in reversed(children))
        else:
            each.middle = (drawn[children[0]].middle + drawn[children[-1]].middle) / 2
            missing = started[index] + each.reach - each.middle
            if missing > 0:
                _lower(drawn, below, index, missing)
                cursor += missing
            cursor = max(cursor, each.middle + each.reach + _BETWEEN)
    return cursor - _BETWEEN


def _lower(
    drawn: list[_PlacedNode], below: Mapping[int | None, list[int]], index: int, by: float
) -> None:
    """Moves a node and all below it further down the page by `by` pixels."""
    stack = [index]
    while stack:
        each = stack.pop()
        drawn[each].middle += by
        stack.extend(below.get(each, []))


def _edge(start: _PlacedNode, end: _PlacedNode, left: Sequence[float]) -> str:
    """Returns the edge between two nodes, with the map above it and the change below it."""
    lit = " lit" if end.node.reached else ""
    free = " free" if end.node.kind in ("result", "more") else ""
    x, y = left[start.column] + start.width, start.middle
    goal = left[end.column]
    tip = goal - (2.0 if lit else 1.0)
    if abs(y - end.middle) < 0.5:
        path = f"M{number(x)} {number(y)}H{number(tip - _ARROW + 2)}"
    else:
        turn = max(-6.0, min(6.0, (end.middle - y) / 2))
        bend = x + _TRUNK
        path = (
            f"M{number(x)} {number(y)}H{number(bend - 6)}"
            f"Q{number(bend)} {number(y)} {number(bend)} {number(y + turn)}"
            f"V{number(end.middle - turn)}"
            f"Q{number(bend)} {number(end.middle)} {number(bend + 6)} {number(end.middle)}"
            f"H{number(tip - _ARROW + 2)}"
        )
    head = f"M{number(tip)} {number(end.middle)}l-{number(_ARROW)}-4.5v9z"
    out = f'<path class="edge{lit}{free}" d="{path}"/>\n<path class="head{lit}" d="{head}"/>\n'
    at = goal - _ARROW - 8 - end.label_width
    first = end.middle - 7 - _STEP * (len(end.before) - 1)
    out += lines_at(at, first, _STEP, end.before, "weak")
    return out + lines_at(at, end.middle + 16, _STEP, end.after, "lit")


def _further(start: _PlacedNode, end: _PlacedNode, left: Sequence[float]) -> str:
    """Returns the curve from a further input of a result, which has its own edge from the first."""
    x, goal = left[start.column] + start.width, left[end.column] - 2
    half = max(20.0, (goal - x) / 2)
    path = (
        f"M{number(x)} {number(start.middle)}C{number(x + half)} {number(start.middle)} "
        f"{number(goal - half)} {number(end.middle + 6)} {number(goal)} {number(end.middle + 6)}"
    )
    return f'<path class="edge free" d="{path}"/>\n'


def _box(each: _PlacedNode, left: Sequence[float], cost: str) -> str:
    """Returns the box of a node with its lines, and all that is known of it as its title."""
    look, radius = _BOXES[each.node.kind]
    lit = " lit" if each.node.reached else ""
    x, y = left[each.column], each.middle - each.height / 2
    out = f"<g>\n<title>{safe(described(each.node, cost))}</title>\n"
    out += box(x, y, each.width, each.height, look + lit, radius)
    for row, line in enumerate(each.lines):
        out += text_at(x + _PADDING, y + 17 + row * _STEP, line.text, line.look)
    return out + "</g>\n"


def _foot(report: Report, across: float) -> list[str]:
    """Returns the lines below the picture: what is marked, or why nothing is."""
    if not report.pipeline:
        says = "There is no pipeline to draw."
    elif any(each.reached for each in report.pipeline):
        says = "Thick: where the worst change goes, what it becomes there, and what it costs."
    elif report.status == "no-guarantee":
        says = "Nothing is marked, since no finite guarantee is known"
        says += f": {report.reasons[0]}" if report.reasons else "."
    else:
        says = "Nothing is marked, since no mechanism feels the protected change."
    return wrapped(quoted_names(says), _SMALL, across - 2 * _MARGIN, 6)


def _description(report: Report) -> str:
    """Returns what the picture shows in words: the bound, and the path of the worst change."""
    says = [result_line(report)]
    told = costs(report)
    says += [
        described(node, told.get(index, ""))
        for index, node in enumerate(report.pipeline)
        if node.reached
    ]
    return ". ".join(says)
