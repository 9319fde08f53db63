"""The proof tree of a report as an aligned table: number, dataset, change, cost, theorem, line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from dpcompose.render.layout import Style, sentence
from dpcompose.render.parts.console import TextTable, leading_to, literal
from dpcompose.render.words.numbers import parameter_text, short_text
from dpcompose.render.words.theorem_text import in_short
from dpcompose.report import Node

#: Of more equal lines in a row only the first ones are shown, with the number of the others.
_MOST_ALIKE = 3
#: Of more mechanisms in one place only the first ones are shown; the table of costs lists all.
_MOST_IN_A_PLACE, _FIRST = 14, 10
#: A theorem's name fits its column up to so many characters.
_SHORT = 6
#: Of more lines a page shows the first ones of many mechanisms in one place, as a terminal does.
_MOST_ON_A_PAGE = 150
#: So many levels of the tree are drawn.
_MOST_LEVELS = 8
_NAMES = {"dataset": "dataset", "partition": "dataset", "mechanism": "mechanism"}


def proof(nodes: Sequence[Node], style: Style) -> ProofTree:
    """Returns the proof of a report; equal lines are merged, unless the style asks for all."""
    if style.detail == "full":
        return ProofTree([TreeLine(each) for each in nodes], style)
    merged = merge_equal_nodes(nodes)
    fits = style.detail == "page" and len(merged) <= _MOST_ON_A_PAGE
    return ProofTree(merged if fits else first_rows(merged), style)


@dataclass(frozen=True, slots=True)
class TreeLine:
    """A row of the table for a line of the proof; `more`: the words shown instead if it stands for
    several lines.

    `stands`: the number of lines it stands for.
    """

    node: Node
    more: str = ""
    stands: int = 1


@dataclass(frozen=True, slots=True)
class ProofTree:
    """The proof of a report as a tree of steps."""

    lines: Sequence[TreeLine]
    style: Style

    def __rich__(self) -> TextTable:
        """Returns the tree for a terminal: number, dataset, change, cost, theorem, line."""
        style = self.style
        guides = _guides([each.node.depth for each in self.lines])
        width = _name_width([each.node for each in self.lines], guides, style)
        rows = [
            (
                str(each.node.number),
                _line(each.node, each.more, guide, width, style),
                self.cost(each),
                self.cited(each.node, True),
                f":{each.node.spans[0].line}" if each.node.spans else "",
            )
            for each, guide in zip(self.lines, guides, strict=True)
        ]
        return TextTable(rows, style, ("right fixed weak", "rest", "right fixed", *_LAST), gap=1)

    def cited(self, node: Node, in_column: bool = False) -> Text:
        """Returns the short name of a line's theorem, with a link to it; `in_column`: only if it
        stands in the narrow column of a terminal."""
        short = in_short(node.theorem) if node.theorem else ""
        shown = _cited(node, True) if in_column else short
        return leading_to(node.theorem, literal(shown, self.style), self.style)

    def cost(self, shown: TreeLine) -> Text:
        """Returns the bound of a line."""
        bound = None if shown.more else shown.node.bound
        if bound is None:
            return Text()
        if shown.node.kind == "reading":
            says = parameter_text("epsilon", bound.value, bound.exact)
            return literal(says, self.style, "strong")
        return literal(short_text(bound), self.style)


#: The columns of theorems and of lines.
_LAST = ("right fixed weak", "line")


def _line(node: Node, more: str, guide: str, width: int, style: Style) -> Table:
    """Returns the cell with tree guides, name and sentence of a line, each wrapping below itself.

    `more`: words in place of the sentence; `guide`: the tree guides; `width`: that of guides and
    names.
    """
    line = Table.grid()
    says = literal(more, style, "weak") if more else literal(node.says, style)
    if not node.name and not more:
        line.add_column()
        text = literal(sentence(node.says), style)
        if cited := _cited(node, False):
            beside = literal(f"  {cited}", style, "weak")
            text.append_text(leading_to(node.theorem, beside, style, 2))
        line.add_row(text)
        return line
    if guide:
        line.add_column(no_wrap=True, style="weak")
    line.add_column(width=max(1, width - len(guide)) + 1)
    line.add_column()
    name = Text() if more else literal(node.name, style, _NAMES.get(node.kind, ""))
    line.add_row(*([literal(guide, style)] if guide else []), name, says)
    return line


def _name_width(nodes: Sequence[Node], guides: Sequence[str], style: Style) -> int:
    """Returns the columns for guides and names: the longest, at most two fifths of the page."""
    wanted = [
        len(guide) + literal(node.name, style).cell_len
        for node, guide in zip(nodes, guides, strict=True)
        if node.name
    ]
    return min(max(wanted, default=0), max(12, style.width * 2 // 5))


def _cited(node: Node, in_column: bool) -> str:
    """Returns the short name of a line's theorem where it stands: in the column for it, or, if it
    is too long for that, after a sentence about the whole."""
    short = in_short(node.theorem) if node.theorem else ""
    return short if in_column == (len(short) <= _SHORT or bool(node.name)) else ""


def _guides(depths: Sequence[int]) -> list[str]:
    """Returns the tree guides (`├─ `, `└─ `, `│ `) before each line; only the last levels."""
    guides: list[str] = []
    goes_on: list[bool] = []  # for each level: whether a later line continues it
    for depth in reversed(depths):
        goes_on += [False] * (depth + 1 - len(goes_on))
        first = max(1, depth + 1 - _MOST_LEVELS)
        parts = ["… " if first > 1 else ""]
        parts += ["│  " if goes_on[level] else "   " for level in range(first, depth)]
        if depth:
            parts.append("├─ " if goes_on[depth] else "└─ ")
        guides.append("".join(parts))
        goes_on[depth:] = [True]
    return guides[::-1]


def merge_equal_nodes(nodes: Sequence[Node]) -> list[TreeLine]:
    """Returns the rows with equal neighbouring subtrees merged: one is shown, and their number.

    Subtrees are equal if only names and positions differ. Of equal single lines a few are shown.
    """
    shown: list[TreeLine] = []
    ends = _ends(nodes)
    skip_to: dict[int, tuple[int, int]] = {}  # index -> (next index shown, merged lines)
    i = 0
    while i < len(nodes):
        size = ends[i] - i
        last, run = i, 1
        while ends[last] < len(nodes) and _same(nodes, ends, i, ends[last]):
            last, run = ends[last], run + 1
        kept = _MOST_ALIKE if size == 1 else 1
        if run > kept + 1:
            told = i + kept * size
            skip_to[told] = (ends[last], run - kept)
        if i in skip_to:
            end, more = skip_to.pop(i)
            first, last_told = nodes[i - size].number, nodes[i - 1].number
            as_ = f"{first}" if first == last_told else f"{first}-{last_told}"
            shown.append(TreeLine(nodes[i], f"{more} more, each as {as_}", end - i))
            i = end
            continue
        shown.append(TreeLine(nodes[i]))
        i += 1
    return shown


def _ends(nodes: Sequence[Node]) -> list[int]:
    """Returns for each line the index of the first later line that is not below it."""
    ends = [len(nodes)] * len(nodes)
    waiting: list[int] = []
    for i, node in enumerate(nodes):
        while waiting and nodes[waiting[-1]].depth >= node.depth:
            ends[waiting.pop()] = i
        waiting.append(i)
    return ends


def _same(nodes: Sequence[Node], ends: Sequence[int], i: int, j: int) -> bool:
    """Returns whether two subtrees are equal except for names and positions."""
    if ends[i] - i != ends[j] - j:
        return False
    pairs = zip(nodes[i : ends[i]], nodes[j : ends[j]], strict=True)
    return all(_comparison_of_node(one) == _comparison_of_node(other) for one, other in pairs)


def _comparison_of_node(node: Node) -> tuple[object, ...]:
    """Returns the fields of a line that are compared for equality."""
    says = node.says.rpartition(": ")[2] if node.says.startswith("block ") else node.says
    return (node.depth, node.kind, says, node.bound, node.theorem)


def first_rows(shown: Sequence[TreeLine]) -> list[TreeLine]:
    """Returns the rows; of a long run of mechanisms below the same dataset only the first, and a
    row such as `97 more mechanisms; --full lists them`."""
    found: list[TreeLine] = []
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
            left = sum(each.stands for each in shown[i + _FIRST : end])
            found.append(TreeLine(rest, f"{left} more mechanisms; --full lists them"))
        else:
            found += shown[i:end]
        i = end
    return found
