"""A small concrete universe of rows for a tree, and the maps of the tree on tables of such rows.

A row is a triple (identity, columns, choices).  The choices say, for every map and partition that
is applied to the dataset, what becomes of the row there: whether it passes the filter, which
blocks it goes to, which rows it is flattened to.  Every combination of choices exists, so the
universe has a free attribute for each map and partition.  The identity keeps two rows apart that
make the same choices, and it is handed down: rows made from one row by a flatten carry that row,
and a row made from a group carries the whole group.  Maps are therefore as injective as they can
be, which is the worst case: merging tables only shortens distances.

What a spec leaves open (may a filter drop rows at all? are there values outside the blocks?) is
fixed by a `variant` for each op; the truth is the maximum over the variants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, product
from math import comb, prod

from .tree import Node, Op, Step, Tree, Unsupported

MOST_BEHAVIOURS = 2500
MOST_BY_POSITION = 4

Value = tuple[tuple[str, int], ...]
Columns = tuple[tuple[str, Value], ...]
Behaviour = tuple[Columns, tuple[object, ...]]
Table = tuple[int, ...]
Variant = object


@dataclass(frozen=True)
class Sizes:
    """How many values a grouping column has, and how many rows make the same choices."""

    keys: int = 2
    identities: int = 2
    ranks: int = 2


def variants(op: Op, fed: Sequence[Node]) -> list[Variant]:
    """What may be assumed of the rows of an op's parent; the first is the richest universe.

    `fed` are the datasets below for which it matters whether some row gives them nothing.
    """
    if op.kind == "filter":
        return ["both"] if op.drops else ["both", "all pass"]
    if op.kind in ("value", "key"):
        return ["outside"] if op.drops else ["outside", "inside"]
    if op.kind == "flatten":
        most = 0 if op.drops else min(op.size, 2)
        open_ = [node for node in fed if not (op.exact and _plain(op.children[0], node))]
        return [each for n in range(most + 1) for each in combinations(open_, n)]
    if op.kind == "membership":
        blocks = range(len(op.children))
        most = 0 if op.drops else min(op.size, 3)
        _guard(sum(comb(len(blocks), n) for n in range(most + 1)))
        return [each for n in range(most + 1) for each in combinations(blocks, n)]
    if op.kind == "position":
        return ["in turn", *(range(len(op.children)) if fed and len(op.children) > 1 else ())]
    if op.kind == "stable":
        return ["signed", "copies"]
    return [None]


def _plain(top: Node, node: Node) -> bool:
    """Whether every row of one dataset gives a row to another below it."""
    while node is not top:
        if node.made_by is None or node.made_by.kind != "row" or node.parent is None:
            return False
        node = node.parent
    return True


def richest(op: Op) -> Variant:
    """The variant with the most rows."""
    return () if op.kind == "membership" else variants(op, ())[0]


def _guard(count: int) -> None:
    if count > MOST_BEHAVIOURS:
        raise Unsupported("too many kinds of rows")


class World:
    """The rows of every node under one choice of variants, and the maps between tables."""

    def __init__(self, tree: Tree, chosen: dict[int, Variant], sizes: Sizes) -> None:
        self.tree = tree
        self.chosen = chosen
        self.sizes = sizes
        self.stated: dict[Node, set[str]] = {}
        for mechanism in tree.mechanisms:
            for said in mechanism.statements:
                self.stated.setdefault(said.node, set()).update(said.keeps)
        self._components: dict[tuple[Node, str], dict[str, int]] = {}
        self._names: dict[Node, tuple[str, ...]] = {}
        self._behaviours: dict[tuple[Node, Columns], list[int]] = {}
        self._codes: dict[Behaviour, int] = {}
        self.behaviours: list[Behaviour] = []
        self.tied: set[Op] = set()
        self.rows: dict[Node, list[tuple[object, int]]] = {node: [] for node in tree.nodes}
        self._row_codes: dict[Node, dict[tuple[object, int], int]] = {
            node: {} for node in tree.nodes
        }
        self._images: dict[tuple[Op, int, int], Table] = {}
        self._applied: dict[tuple[Op, int, Table], Table] = {}

    # Columns.

    def column_names(self, node: Node) -> tuple[str, ...]:
        """The columns that matter at a node."""
        if node not in self._names:
            names = set(self.stated.get(node, ()))
            for op in node.ops:
                if op.column:
                    names.add(op.column)
                below = {name for j in op.live for name in self.column_names(op.children[j])}
                if op.kind == "row":
                    names |= below & set(op.keeps)
                elif op.kind == "group":
                    names |= below & {op.column}
                elif op.joins or op.kind not in ("flatten", "stable"):
                    names |= below
            self._names[node] = tuple(sorted(names))
        return self._names[node]

    def components(self, node: Node, column: str) -> dict[str, int]:
        """The independent parts of a column's value, and how many values each has."""
        key = (node, column)
        if key not in self._components:
            parts: dict[str, int] = {}

            def need(label: str, size: int) -> None:
                parts[label] = max(size, parts.get(label, 1))

            if column in self.stated.get(node, ()):
                need("", 2)
            for op in node.ops:
                if op.column == column and op.kind == "key":
                    outside = self.chosen[op.number] == "outside"
                    need(op.name, len(op.children) + outside)
                elif op.column == column:
                    need("", self.sizes.keys)
                if (
                    (op.kind in ("flatten", "stable") and not op.joins)
                    or (op.kind == "row" and column not in op.keeps)
                    or (op.kind == "group" and column != op.column)
                ):
                    continue
                for j in op.live:
                    for label, size in self.components(op.children[j], column).items():
                        need(label, size)
            self._components[key] = parts
        return self._components[key]

    def column_values(self, node: Node, given: dict[str, Value]) -> Iterator[Columns]:
        """All assignments of values to the columns of a node, some of them being given."""
        names = self.column_names(node)
        each: list[list[Value]] = []
        for name in names:
            if name in given:
                each.append([given[name]])
            else:
                parts = sorted(self.components(node, name).items())
                labels = [label for label, _ in parts]
                each.append(
                    [
                        tuple(zip(labels, values, strict=True))
                        for values in product(*(range(size) for _, size in parts))
                    ]
                )
        for values in product(*each):
            yield tuple(zip(names, values, strict=True))

    # Behaviours.

    def behaviour_codes(self, node: Node, columns: Columns) -> list[int]:
        """All behaviours of a row with these columns, as numbers."""
        key = (node, columns)
        if key not in self._behaviours:
            options = [self._choices(op, columns) for op in node.ops]
            total = 1
            for option in options:
                total *= len(option)
            _guard(total)
            self._behaviours[key] = [
                self._code((columns, choices)) for choices in product(*options)
            ]
        return self._behaviours[key]

    def all_behaviours(self, node: Node, given: dict[str, Value] | None = None) -> list[int]:
        """All behaviours of rows of a node."""
        return [
            code
            for columns in self.column_values(node, given or {})
            for code in self.behaviour_codes(node, columns)
        ]

    def _code(self, behaviour: Behaviour) -> int:
        if behaviour not in self._codes:
            self._codes[behaviour] = len(self.behaviours)
            self.behaviours.append(behaviour)
        return self._codes[behaviour]

    def _below(self, node: Node, columns: Columns) -> list[int]:
        """Behaviours at a child that has the same columns as its parent, or fewer."""
        names = self.column_names(node)
        return self.behaviour_codes(node, tuple(pair for pair in columns if pair[0] in names))

    def _choices(self, op: Op, columns: Columns) -> list[object]:
        """What may become of a row with these columns under one op."""
        child = op.children[0]
        variant = self.chosen[op.number]
        if op.kind == "filter":
            passing: list[object] = list(self._below(child, columns))
            return passing if variant == "all pass" else [None, *passing]
        if op.kind == "row":
            kept = {name: value for name, value in columns if name in op.keeps}
            return list(self.all_behaviours(child, kept))
        if op.kind == "value":
            inside: list[object] = [()] if variant == "outside" else []
            for j in range(len(op.children)):
                inside += self._into(op, (j,), columns)
            return list(dict.fromkeys(inside))
        if op.kind == "key":
            j = dict(dict(columns)[op.column])[op.name]
            return self._into(op, (j,) if j < len(op.children) else (), columns)
        if op.kind in ("membership", "kinds"):
            return self._several(op, columns)
        if op.kind == "position":
            below = [self._below(block, columns) for block in op.children]
            if prod(len(codes) for codes in below) <= MOST_BY_POSITION:
                return list(product(*below))
            self.tied.add(op)
            return [
                tuple(codes[n % len(codes)] for codes in below)
                for n in range(max(len(codes) for codes in below))
            ]
        if op.kind == "limit":
            return list(product(range(self.sizes.ranks), self._below(child, columns)))
        if op.kind == "group":
            return list(range(len(self.grouped(op, dict(columns)[op.column]))))
        codes = self._below(child, columns) if op.joins else self.all_behaviours(child)
        _guard(comb(len(codes) + op.size, op.size))
        if op.kind == "stable" and variant == "signed":
            return list(product((1, -1), range(len(codes))))
        choices: list[object] = []
        most = least = op.size
        if not op.exact and op.joins and op.column:
            # The column of the join decides how many rows there are: none for some values.
            most = least = 0 if dict(dict(columns)[op.column]).get("", 0) else op.size
        elif not op.exact:
            least = 0
        for n in range(least, most + 1):
            choices += combinations_with_replacement(codes, n)
        if op.kind == "flatten":
            assert isinstance(variant, tuple)
            for node in variant:
                feeding = {code for code in codes if self._feeds(child, code, node)}
                choices = [made for made in choices if not feeding.isdisjoint(_codes(made))]
        return choices

    def _feeds(self, node: Node, code: int, end: Node) -> bool:
        """Whether a row with this behaviour gives some row to a dataset further down.

        Beyond the first op that looks at several rows anything may come of a row.
        """
        if node is end:
            return True
        below = end
        while below.parent is not node:
            assert below.parent is not None
            below = below.parent
        op = below.made_by
        assert op is not None
        if not op.rowwise:
            return True
        choice = self.behaviours[code][1][node.ops.index(op)]
        if op.kind in ("filter", "row"):
            return choice is not None and self._feeds(below, _int(choice), end)
        assert isinstance(choice, tuple)
        if op.kind == "flatten":
            return any(self._feeds(below, each, end) for each in choice)
        return any(j == below.index and self._feeds(below, each, end) for j, each in choice)

    def _several(self, op: Op, columns: Columns) -> list[object]:
        """What may become of a row under an op that can give it to several blocks."""
        blocks = range(len(op.children))
        sets: Sequence[tuple[int, ...]]
        if op.kind == "kinds":
            sets = list(dict.fromkeys(op.kinds))
        else:
            always = self.chosen[op.number]
            assert isinstance(always, tuple)
            _guard(sum(comb(len(blocks), n) for n in range(op.size + 1)))
            sets = [
                each
                for n in range(op.size + 1)
                for each in combinations(blocks, n)
                if set(always) <= set(each)
            ]
        choices = [choice for each in sets for choice in self._into(op, each, columns)]
        return list(dict.fromkeys(choices))

    def _into(self, op: Op, blocks: tuple[int, ...], columns: Columns) -> list[object]:
        """The choices of a row that goes to some blocks (those that anybody reads)."""
        below = [
            [(j, code) for code in self._below(op.children[j], columns)]
            for j in blocks
            if j in op.live
        ]
        _guard(prod(len(pairs) for pairs in below))
        return list(product(*below))

    def grouped(self, op: Op, key: Value) -> list[int]:
        """The behaviours that the row of one group may have."""
        return self.all_behaviours(op.children[0], {op.column: key})

    # Rows and tables.

    def row(self, node: Node, identity: object, behaviour: int) -> int:
        """The number of a row of a node."""
        codes = self._row_codes[node]
        key = (identity, behaviour)
        if key not in codes:
            codes[key] = len(self.rows[node])
            self.rows[node].append(key)
        return codes[key]

    def fresh_rows(self, node: Node, identities: int) -> list[int]:
        """Rows of every behaviour, each under several new identities."""
        return [
            self.row(node, f"new {n}", code)
            for code in self.all_behaviours(node)
            for n in range(identities)
        ]

    def columns(self, node: Node, row: int, names: tuple[str, ...]) -> Columns:
        """The values of some columns of a row."""
        held = self.behaviours[self.rows[node][row][1]][0]
        return tuple(pair for pair in held if pair[0] in names)

    def choice(self, op: Op, row: int) -> object:
        """What becomes of a row under an op."""
        return self.behaviours[self.rows[op.parent][row][1]][1][op.parent.ops.index(op)]

    def image(self, op: Op, child: int, row: int) -> Table:
        """The rows that one row gives to one child of a row-by-row op."""
        key = (op, child, row)
        if key not in self._images:
            self._images[key] = self._image(op, child, row)
        return self._images[key]

    def _image(self, op: Op, child: int, row: int) -> Table:
        node = op.children[child]
        identity = self.rows[op.parent][row][0]
        choice = self.choice(op, row)
        if op.kind in ("filter", "row"):
            return () if choice is None else (self.row(node, identity, _int(choice)),)
        assert isinstance(choice, tuple)
        if op.kind in ("flatten", "stable"):
            return tuple(self.row(node, (row, i), code) for i, code in enumerate(choice))
        return tuple(self.row(node, identity, code) for j, code in choice if j == child)

    def apply(self, op: Op, child: int, table: Table) -> Table:
        """The table that an op gives to one of its children."""
        if op.rowwise or (op.kind == "stable" and self.chosen[op.number] == "copies"):
            rows = [made for row in table for made in self.image(op, child, row)]
            return tuple(rows) if op.children[child].ordered else tuple(sorted(rows))
        key = (op, child, table)
        if key not in self._applied:
            self._applied[key] = self._apply(op, child, table)
        return self._applied[key]

    def _apply(self, op: Op, child: int, table: Table) -> Table:
        node = op.children[child]
        parent = op.parent
        if op.kind == "position":
            made = []
            for row in self._at_positions(op, child, table):
                choice = self.choice(op, row)
                assert isinstance(choice, tuple)
                made.append(self.row(node, self.rows[parent][row][0], choice[child]))
            return tuple(made)
        if op.kind == "stable":
            return self._stable(op, table)
        groups: dict[Columns, list[int]] = {}
        for row in table:
            groups.setdefault(self.columns(parent, row, (op.column,)), []).append(row)
        made = []
        for key, rows in groups.items():
            if op.kind == "group":
                value = key[0][1]
                codes = self.grouped(op, value)
                total = sum(_int(self.choice(op, row)) for row in rows) % len(codes)
                made.append(self.row(node, ("group", tuple(sorted(rows))), codes[total]))
            else:
                pairs = []
                for row in rows:
                    choice = self.choice(op, row)
                    assert isinstance(choice, tuple)
                    pairs.append((choice[0], row, choice[1]))
                for rank, row, code in sorted(pairs)[: op.size]:
                    same = (key, rank, self.rows[parent][row][0])
                    made.append(self.row(node, same, code))
        return tuple(sorted(made))

    def _at_positions(self, op: Op, child: int, table: Table) -> Table:
        """The rows of one block: the blocks take turns, or all but one have a single position."""
        last = self.chosen[op.number]
        if last == "in turn":
            return table[child :: len(op.children)]
        if last == child:
            return table[len(op.children) - 1 :]
        assert isinstance(last, int)
        position = child - (last < child)
        return table[position : position + 1]

    def _stable(self, op: Op, table: Table) -> Table:
        """Signed copies: a row adds or takes away up to c rows of one behaviour."""
        node = op.children[0]
        codes = self.all_behaviours(node)
        counts = [op.size] * len(codes)
        for row in table:
            choice = self.choice(op, row)
            assert isinstance(choice, tuple)
            counts[choice[1]] += choice[0] * op.size
        return tuple(
            sorted(
                self.row(node, "signed", code)
                for code, count in zip(codes, counts, strict=True)
                for _ in range(max(0, count))
            )
        )

    def along(self, steps: Sequence[Step], table: Table) -> Table:
        """The table at the end of a path."""
        for op, child in steps:
            table = self.apply(op, child, table)
        return table


def _int(value: object) -> int:
    assert isinstance(value, int)
    return value


def _codes(value: object) -> tuple[int, ...]:
    assert isinstance(value, tuple)
    return value
