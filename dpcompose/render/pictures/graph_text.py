"""The pipeline of a report as text: a tree for people, and the languages of Mermaid and Graphviz.

In both languages a name is between quotation marks, and whatever means something there is written
as an entity, so that no name ends its text, starts a line of its own, or is read as HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import wrap

from dpcompose.errors import printable, width
from dpcompose.render.layout import Style
from dpcompose.render.words.pipeline_words import (
    children_of,
    costs,
    heading,
    quoted_names,
    result_line,
)
from dpcompose.report import PipelineNode, Report

#: The shapes of nodes: the brackets of Mermaid, and the attributes of Graphviz.
_MERMAID = {
    "partition": ('(["', '"])'),
    "mechanism": ('("', '")'),
    "result": ('("', '")'),
}
_DOT = {
    "dataset": "shape=box",
    "block": "shape=box",
    "partition": 'shape=box, style="rounded"',
    "mechanism": 'shape=box, style="rounded,filled", fillcolor="#eff6ff"',
    "result": 'shape=box, style="rounded,dashed"',
    "more": 'shape=box, style="dashed"',
}
_LIT = "#c2410c"
_BLANK = "#160;"  # for a name without any sign, since Mermaid refuses empty texts
#: What is plain text in Mermaid.
_PLAIN = re.compile(r"[^\w .,:()+/=-]", re.ASCII)


def graph_tree(report: Report, style: Style) -> str:
    """Returns the pipeline as a tree of lines; what the worst change reaches is heavy and bold."""
    head = _line_of([(heading(report), "strong"), (result_line(report), "")], "", "  ", style)
    lines, told, below = list(head), costs(report), children_of(report)
    stack = [(index, "", "", "") for index in reversed(below.get(None, []))]
    while stack:
        index, before, mark, after = stack.pop()
        node, children = report.pipeline[index], below.get(index, [])
        parts = [(node.name, "strong" if node.reached else "")]
        parts += [(each, "") for each in (node.via, node.says) if each]
        if node.change:
            parts.append((f"→ {node.change}", "warn"))
        if index in told:
            parts.append((f"costs {told[index]}", "strong"))
        lit = any(report.pipeline[each].reached for each in children)
        under = before + after + (f"{'┃' if lit else '│'}    " if children else "     ")
        lines += _line_of(parts, before + mark, under, style)
        for number, child in reversed(list(enumerate(children))):
            last = number == len(children) - 1
            more = any(report.pipeline[each].reached for each in children[number + 1 :])
            reached = report.pipeline[child].reached
            signs = ("└─ ", "┗━ ") if last else ("┠─ ", "┣━ ") if more else ("├─ ", "┡━ ")
            start = signs[reached]
            deeper = "   " if last else "┃  " if more else "│  "
            stack.append((child, before + after, start, deeper))
    if not report.pipeline:
        lines.append("no pipeline to draw")
    return "".join(f"{each}\n" for each in lines)


def _line_of(
    parts: Sequence[tuple[str, str]], first: str, under: str, style: Style
) -> Iterator[str]:
    """Yields lines of parts, each with the meaning that colours it; further lines are indented.

    `first`: what stands before the first line, `under` before the others. Names are never broken.
    """
    line, used = style.plain(first), width(style.plain(first))
    indent = style.plain(under)
    empty = True
    for text, how in parts:
        room = max(20, style.width - width(indent))
        pieces = wrap(text, room, break_long_words=False, break_on_hyphens=False)
        for word in [text] if empty else pieces or [text]:
            plain = style.plain(word)
            taken = width(plain) + (0 if empty else 2)
            if not empty and used + taken > style.width:
                yield line
                line, used, empty = indent, width(indent), True
                taken = width(plain)
            line += ("" if empty else "  ") + (style.paint(plain, how) if how else plain)
            used, empty = used + taken, False
    yield line


def graph_mermaid(report: Report) -> str:
    """Returns the pipeline as a flowchart for Mermaid; the worst change takes the thick edges."""
    told = costs(report)
    lines = ["flowchart LR"]
    lines += [f"%% {_mermaid(f'{heading(report)}: {result_line(report)}')}"]
    lit: list[str] = []
    edges = 0
    thick: list[str] = []
    for index, node in enumerate(report.pipeline):
        opened, closed = _MERMAID.get(node.kind, ('["', '"]'))
        text = "<br/>".join(_mermaid(each) for each in _lines(node, told.get(index, "")))
        text = text if text.strip() else _BLANK
        lines.append(f"  n{index}{opened}{text}{closed}")
        if node.reached:
            lit.append(f"n{index}")
        for start in _starts(node):
            label = "<br/>".join(_mermaid(each) for each in _on_edge(node))
            arrow = "==>" if node.reached else "-.->" if node.kind in ("result", "more") else "-->"
            said = f'|"{label}"|' if label else ""
            lines.append(f"  n{start} {arrow}{said} n{index}")
            if node.reached:
                thick.append(str(edges))
            edges += 1
    if lit:
        lines.append(f"  classDef lit stroke:{_LIT},stroke-width:3px")
        lines.append(f"  class {','.join(lit)} lit")
    if thick:
        lines.append(f"  linkStyle {','.join(thick)} stroke:{_LIT},stroke-width:3px")
    return "\n".join(lines) + "\n"


def graph_dot(report: Report) -> str:
    """Returns the pipeline for Graphviz; the worst change takes the thick edges."""
    told = costs(report)
    head = _dot([heading(report), result_line(report)])
    lines = [
        "digraph pipeline {",
        "  rankdir=LR;",
        f'  label={head}; labelloc=t; labeljust=l; fontname="Helvetica";',
        '  node [fontname="Helvetica", fontsize=11];',
        '  edge [fontname="Helvetica", fontsize=10];',
    ]
    for index, node in enumerate(report.pipeline):
        look = _DOT[node.kind] + (f', color="{_LIT}", penwidth=2.5' if node.reached else "")
        lines.append(f"  n{index} [label={_dot(_lines(node, told.get(index, '')))}, {look}];")
        for start in _starts(node):
            found = [f"label={_dot(words)}"] if (words := _on_edge(node)) else []
            if node.reached:
                found += [f'color="{_LIT}"', "penwidth=2.5"]
            elif node.kind in ("result", "more"):
                found.append("style=dashed")
            attributes = f" [{', '.join(found)}]" if found else ""
            lines.append(f"  n{start} -> n{index}{attributes};")
    return "\n".join([*lines, "}"]) + "\n"


def _starts(node: PipelineNode) -> Sequence[int]:
    """Returns the numbers of the nodes from which edges lead to a node."""
    return node.inputs or (() if node.above is None else (node.above,))


def _lines(node: PipelineNode, cost: str) -> Iterator[str]:
    """Yields the lines of a node: its name, what it is, the change of a root, and its cost."""
    yield node.name
    if node.says:
        yield quoted_names(node.says)
    if node.above is None and node.change:
        yield quoted_names(node.change)
    if cost:
        yield f"costs {cost}"


def _on_edge(node: PipelineNode) -> list[str]:
    """Returns the lines on the edge to a node: the map, and what the change becomes."""
    return [quoted_names(each) for each in (node.via, node.change) if each]


def _mermaid(text: str) -> str:
    """Returns a text for Mermaid, where `#35;` stands for a character that means something."""
    return _PLAIN.sub(
        lambda found: found[0] if found[0] > "\x7f" else f"#{ord(found[0])};", printable(text)
    )


def _dot(lines: Iterator[str] | Sequence[str]) -> str:
    """Returns lines as a quoted text for Graphviz, which reads escapes and entities in it."""
    escaped = (
        printable(each).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
        for each in lines
    )
    return '"' + "\\n".join(escaped) + '"'
