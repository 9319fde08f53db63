"""The proof tree of a report as aligned lines: number, place, what reaches it, cost, theorem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from dpcompose.render.console import literal
from dpcompose.render.layout import Style, sentence
from dpcompose.render.numbers import named, short_text
from dpcompose.render.theorem_text import in_short
from dpcompose.report import Node

#: Of more equal lines that follow each other the first ones are told, and how many there are.
_MOST_ALIKE = 3
#: Of more mechanisms in one place than this the first ones are told; the table of costs has them.
_MOST_IN_A_PLACE, _FIRST = 14, 10
_NAMES = {"dataset": "dataset", "partition": "dataset", "mechanism": "mechanism"}


def proof(nodes: Sequence[Node], style: Style) -> Table:
    """The tree; equal steps are told once, with their number, unless the style is full."""
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(justify="right", style="weak", no_wrap=True)
    table.add_column(ratio=1)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", style="weak", no_wrap=True)
    table.add_column(justify="right", style="weak", no_wrap=True)
    shown = [_Shown(each) for each in nodes] if style.detail == "full" else few(alike(nodes))
    guides = _guides([each.node.depth for each in shown])
    width = _name_width([each.node for each in shown], guides, style)
    for each, guide in zip(shown, guides, strict=True):
        node, more = each.node, each.more
        table.add_row(
            str(node.number),
            _line(node, more, guide, width, style),
            literal("" if more else _cost(node), style, "strong" if node.kind == "reading" else ""),
            literal(in_short(node.theorem) if node.theorem else "", style),
            f":{node.spans[0].line}" if node.spans else "",
        )
    return table


@dataclass(frozen=True, slots=True)
class _Shown:
    """A line that is shown; `more` says what it stands for where that is not itself."""

    node: Node
    more: str = ""


def _line(node: Node, more: str, guide: str, width: int, style: Style) -> Table:
    """The guides, the name and what happens there, each wrapping under itself."""
    line = Table.grid()
    says = literal(more, style, "weak") if more else literal(node.says, style)
    if not node.name and not more:
        line.add_column()
        line.add_row(literal(sentence(node.says), style))
        return line
    if guide:
        line.add_column(no_wrap=True, style="weak")
    line.add_column(width=max(1, width - len(guide)) + 1)
    line.add_column()
    name = Text() if more else literal(node.name, style, _NAMES.get(node.kind, ""))
    line.add_row(*([literal(guide, style)] if guide else []), name, says)
    return line


def _name_width(nodes: Sequence[Node], guides: Sequence[str], style: Style) -> int:
    """Columns for guides and names: what the longest needs, at most two fifths of the page."""
    wanted = [
        len(guide) + literal(node.name, style).cell_len
        for node, guide in zip(nodes, guides, strict=True)
        if node.name
    ]
    return min(max(wanted, default=0), max(12, style.width * 2 // 5))


def _cost(node: Node) -> str:
    if node.bound is None:
        return ""
    if node.kind == "reading":
        return named("epsilon", node.bound.value, node.bound.exact)
    return short_text(node.bound)


def _guides(depths: Sequence[int]) -> list[str]:
    """`├─ `, `└─ ` and `│  ` before the name of each line."""
    guides: list[str] = []
    for i, depth in enumerate(depths):
        parts: list[str] = []
        for level in range(1, depth + 1):
            on = _goes_on(depths, i, level)
            if level == depth:
                parts.append("├─ " if on else "└─ ")
            else:
                parts.append("│  " if on else "   ")
        guides.append("".join(parts))
    return guides


def _goes_on(depths: Sequence[int], i: int, level: int) -> bool:
    """Whether there is a later line at this level below the same one."""
    for depth in depths[i + 1 :]:
        if depth < level:
            return False
        if depth == level:
            return True
    return False


def alike(nodes: Sequence[Node]) -> list[_Shown]:
    """The lines, where of those that say and cost the same in one place the first are told.

    Those are lines that follow each other, each without anything below it.
    """
    shown: list[_Shown] = []
    i = 0
    while i < len(nodes):
        end = i + 1
        while end < len(nodes) and _same(nodes[i], nodes[end]):
            end += 1
        leaf = end >= len(nodes) or nodes[end].depth <= nodes[i].depth
        run = end - i if leaf else end - i - 1
        if run > _MOST_ALIKE + 1:
            shown += map(_Shown, nodes[i : i + _MOST_ALIKE])
            first = nodes[i + _MOST_ALIKE]
            shown.append(_Shown(first, f"{run - _MOST_ALIKE} more, each as {first.number - 1}"))
            shown += map(_Shown, nodes[i + run : end])
        else:
            shown += map(_Shown, nodes[i:end])
        i = end
    return shown


def few(shown: Sequence[_Shown]) -> list[_Shown]:
    """The lines, where of many mechanisms in one place the first are told."""
    found: list[_Shown] = []
    i = 0
    while i < len(shown):
        node, end = shown[i].node, i + 1
        while (
            node.kind == "mechanism"
            and end < len(shown)
            and shown[end].node.kind == "mechanism"
            and shown[end].node.depth == node.depth
        ):
            end += 1
        if end - i > _MOST_IN_A_PLACE:
            found += shown[i : i + _FIRST]
            rest = shown[i + _FIRST].node
            found.append(_Shown(rest, f"{end - i - _FIRST} more mechanisms; --full lists them"))
        else:
            found += shown[i:end]
        i = end
    return found


def _same(one: Node, other: Node) -> bool:
    return (one.depth, one.kind, one.says, one.bound, one.theorem) == (
        other.depth,
        other.kind,
        other.says,
        other.bound,
        other.theorem,
    )
