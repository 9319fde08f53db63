"""A small universe for a pipeline: a few kinds of rows, and the exact laws of all maps.

Every node gets the rows that its maps can give it, and every map a fixed behaviour that the spec
allows, both chosen at random: which rows pass a filter, what a row is flattened to, which block it
is in, which edges a graph has.  A table is a tuple of rows (sorted, unless rows have positions); a
graph is a tuple of edges.  `law` is the exact distribution of what an op gives to a child.

What the theory may rely on holds in every universe: each block of a value partition and each kind
has rows, and where `drops` is declared there is a row that gives nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations, product
from random import Random
from typing import Any

from .near import VERTICES, near
from .pipeline import Pipeline, Said
from .space import tables
from .tree import Node, Op, Step, Unsupported, number

#: A table, a graph or a point in a metric space, which is a tuple of one number.
Value = tuple[Any, ...]
Law = dict[Value, Fraction]
ONE = Fraction(1)
ROWS = ("filter", "row", "flatten", "value", "key", "membership", "kinds")


class Poor(Exception):
    """The universe lacks a row that the spec promises, or is too large."""


class Universe:
    """The rows, maps and neighbours of one concrete universe of a pipeline."""

    def __init__(self, pipeline: Pipeline, rng: Random, kinds: int, most: int, margin: int) -> None:
        """At most `most` rows in a root, and `margin` more in what a statement speaks of."""
        self.pipeline = pipeline
        self.rng = rng
        self.most = most
        self.margin = margin
        self.columns: list[dict[str, int]] = []
        self._numbers: dict[tuple[Any, ...], int] = {}
        self.rows: dict[Node, list[int]] = {}
        self.largest: dict[Node, int] = {}
        self.domains: dict[Node, list[Value]] = {}
        self._members: dict[Node, frozenset[Value]] = {}
        self._images: dict[tuple[Op, int], Any] = {}
        self._laws: dict[tuple[Op, int, Value], Law] = {}
        self._settings: dict[Op, Any] = {}
        live = [op for node in pipeline.nodes for op in node.ops]
        for node in pipeline.nodes:
            if node.made_by is None:
                self._root(node, kinds)
            elif node.made_by in live and node.index in node.made_by.live:
                self._derive(node)
        for op in live:
            self._check(op)

    # Rows.

    def row(self, *identity: Any, **columns: int) -> int:
        """The number of a row, new or known."""
        if identity not in self._numbers:
            self._numbers[identity] = len(self.columns)
            self.columns.append(columns)
        return self._numbers[identity]

    def column(self, row: int, name: str) -> int:
        """The value of a row in a column."""
        return self.columns[row].setdefault(name, self.rng.randrange(2))

    def _coin(self, chance: float = 0.5) -> bool:
        return self.rng.random() < chance

    def _root(self, node: Node, kinds: int) -> None:
        said = node.said
        if said.get("domain") == "graph":
            edges = list(combinations(range(VERTICES), 2))
            most = int(said.get("max_degree", VERTICES - 1))
            graphs = (chosen for n in range(len(edges) + 1) for chosen in combinations(edges, n))
            self.domains[node] = [
                graph for graph in graphs if max(map(degree(graph), range(VERTICES))) <= most
            ]
            self.rows[node], self.largest[node] = [], 0
            return
        unit = said.get("unit")
        self.rows[node] = []
        for n in range(kinds):
            columns = {name: self.rng.randrange(2) for name in "cd"}
            if unit:
                columns[unit] = n % 2
            self.rows[node].append(self.row("root", node.name, n, **columns))
        self.largest[node] = int(said.get("size", self.most)) if node.fixed else self.most

    def _derive(self, node: Node) -> None:
        op, parent = node.made_by, node.parent
        assert op is not None and parent is not None
        made: dict[int, None] = {}
        largest = 0
        if op.kind in ROWS:
            factor = op.size if op.kind == "flatten" else 1
            largest = self.largest[parent] * factor
            for row in self.rows[parent]:
                made.update(dict.fromkeys(self._image(op, node.index, row)))
        elif point(node):
            pass
        else:
            for table in self.domain(parent):
                for value in self.law(op, node.index, table):
                    made.update(dict.fromkeys(value))
                    if self._graph(parent) or len(table) <= self.largest[parent]:
                        largest = max(largest, len(value))
        self.rows[node], self.largest[node] = list(made), largest

    def _check(self, op: Op) -> None:
        """Whether all that is promised of an op is so."""
        rows = self.rows[op.parent]
        if op.kind in ("value", "kinds", "key"):
            fed = {self._choice(op, row) for row in rows}
            need = range(len(op.kinds) if op.kind == "kinds" else len(op.children))
            if op.kind != "key" and not fed.issuperset(need):
                raise Poor
            if op.drops and None not in fed:
                raise Poor
        elif (
            op.drops
            and op.kind in ("filter", "flatten", "membership")
            and all(any(self._image(op, n, row) for n in op.live) for row in rows)
        ):
            raise Poor

    # What a map does to one row.

    def _choice(self, op: Op, row: int) -> Any:
        """What becomes of one row: drawn once for the universe."""
        key = (op, row)
        if key not in self._images:
            self._images[key] = self._choose(op, row)
        return self._images[key]

    def _choose(self, op: Op, row: int) -> Any:
        rng = self.rng
        if op.kind == "filter":
            return self._coin(0.6)
        if op.kind == "row":
            if self._setting(op, lambda: self._coin(0.3)):
                return ("merged", rng.randrange(2))
            return ("moved", row)
        if op.kind in ("flatten", "stable"):
            return op.size if op.said.get("exact") else rng.randint(0, op.size)
        if op.kind == "value":
            count = len(op.children)
            return None if op.drops and self._coin(0.3) else rng.randrange(count)
        if op.kind == "key":
            value = self.column(row, op.column)
            return value if value < len(op.children) else None
        if op.kind == "kinds":
            return rng.randrange(len(op.kinds))
        if op.kind == "membership":
            most = rng.randint(0 if op.drops or self._coin(0.3) else 1, op.size)
            return tuple(rng.sample(range(len(op.children)), most))
        if op.kind == "limit":
            return rng.random()
        raise Unsupported(f"rows under {op.kind}")

    def _setting(self, op: Op, draw: Any) -> Any:
        """Something about an op as a whole."""
        if op not in self._settings:
            self._settings[op] = draw()
        return self._settings[op]

    def _image(self, op: Op, child: int, row: int) -> tuple[int, ...]:
        """The rows of a child that come of one row."""
        choice = self._choice(op, row)
        columns = self.columns[row]
        if op.kind == "filter":
            return (row,) if choice else ()
        if op.kind == "row":
            kept = {name: self.column(row, name) for name in op.keeps}
            others = {name: self.rng.randrange(2) for name in columns if name not in kept}
            return (self.row(op.number, choice, tuple(sorted(kept.items())), **others, **kept),)
        if op.kind in ("flatten", "stable"):
            unit = {name: v for name, v in columns.items() if name not in ("c", "d")}
            others = {name: self.rng.randrange(2) for name in "cd"}
            return tuple(self.row(op.number, row, n, **others, **unit) for n in range(choice))
        if op.kind == "membership":
            return (row,) if child in choice else ()
        if op.kind == "kinds":
            return (row,) if child in op.kinds[choice] else ()
        return (row,) if choice == child else ()

    # What a map does to a table.

    def law(self, op: Op, child: int, value: Value) -> Law:
        """The distribution of what an op gives to one child."""
        key = (op, child, value)
        if key not in self._laws:
            law: Law = {}
            ordered = op.children[child].ordered
            for made, chance in self._law(op, child, value):
                table = made if ordered or point(op.children[child]) else tuple(sorted(made))
                law[table] = law.get(table, Fraction(0)) + chance
            if self._graph(op.parent) or len(value) <= self.largest[op.parent]:
                # A row that no statement speaks of would be free to do anything.
                known = self.rows.get(op.children[child])
                assert known is None or point(op.children[child]) or set().union(*law) <= set(known)
            self._laws[key] = law
        return self._laws[key]

    def _law(self, op: Op, child: int, value: Value) -> Iterable[tuple[Value, Fraction]]:
        if op.kind in ROWS:
            return [(tuple(r for row in value for r in self._image(op, child, row)), ONE)]
        if op.kind == "sample":
            return sample(op, value)
        if op.kind == "limit":
            return self._limited(op, value)
        return [(self._fixed(op, child, value), ONE)]

    def _limited(self, op: Op, value: Value) -> Iterator[tuple[Value, Fraction]]:
        groups: dict[int, list[int]] = {}
        for row in value:
            groups.setdefault(self.column(row, op.column), []).append(row)
        if op.said.get("keep") == "first":
            first = [
                sorted(rows, key=lambda row: self._choice(op, row))[: op.size]
                for rows in groups.values()
            ]
            yield tuple(row for rows in first for row in rows), ONE
            return
        each = [list(combinations(rows, min(op.size, len(rows)))) for rows in groups.values()]
        chance = Fraction(1, math.prod(len(choices) for choices in each))
        for chosen in product(*each):
            yield tuple(row for rows in chosen for row in rows), chance

    def _fixed(self, op: Op, child: int, value: Value) -> Value:
        """A map of whole tables or graphs that is not random."""
        if op.kind == "edges":
            return tuple(self.row("edge", op.number, edge) for edge in value)
        if op.kind == "nodes":
            by_degree = self._setting(op, self._coin)
            return tuple(
                self.row("node", op.number, v, self._about(value, v, by_degree))
                for v in range(VERTICES)
            )
        if op.kind == "position":
            return value[child :: len(op.children)]
        if op.kind == "group":
            groups: dict[int, list[int]] = {}
            for row in value:
                groups.setdefault(self.column(row, op.column), []).append(row)
            return tuple(self._group(op, key, rows) for key, rows in groups.items())
        if op.kind == "stable":
            if self._setting(op, self._coin):
                value = tuple(dict.fromkeys(value))
            return tuple(made for row in value for made in self._image(op, child, row))
        if op.kind == "opaque":
            salt = self._setting(op, lambda: self.rng.randrange(1000))
            picked = Random(f"{salt} {value}")
            count = picked.randrange(3)
            return tuple(self.row("opaque", picked.randrange(2)) for _ in range(count))
        if point(op.children[child]):
            return (self._point(op, value),)
        raise Unsupported(f"map: {op.kind}")

    def _about(self, graph: Value, vertex: int, by_degree: bool) -> Any:
        if by_degree:
            return degree(graph)(vertex) > 0
        return tuple(edge for edge in graph if vertex in edge)

    def _group(self, op: Op, key: int, rows: list[int]) -> int:
        content: Any = tuple(sorted(rows))
        if self._setting(op, lambda: self._coin(0.3)):
            content = len(rows) % 2
        others = {name: self.rng.randrange(2) for name in "cd" if name != op.column}
        return self.row("group", op.number, key, content, **{op.column: key}, **others)

    def _point(self, op: Op, value: Value) -> Fraction:
        """A number that one row moves by the sensitivity, cut off at the diameter."""
        said = op.said.get("sensitivity", op.said.get("diameter", 1))
        longest = op.said.get("diameter")
        if isinstance(said, dict):
            unbounded = said.get("unbounded", said.get("bounded"))
            step = min(number(unbounded), number(said.get("bounded", unbounded)))
        else:
            step = number(said)
        counted = self._setting(op, lambda: {r: self._coin(0.7) for r in self.rows[op.parent]})
        total = step * sum(1 for row in value if counted.get(row, True))
        return total if longest is None else min(total, number(longest))

    def along(self, steps: Iterable[Step], value: Value) -> Law:
        """The distribution at the end of a path of single draws."""
        law: Law = {value: ONE}
        for op, child in steps:
            after: Law = {}
            for table, chance in law.items():
                for made, each in self.law(op, child, table).items():
                    after[made] = after.get(made, Fraction(0)) + chance * each
            law = after
        return law

    # Domains and neighbours.

    def domain(self, node: Node) -> list[Value]:
        """The tables that a statement on a node speaks of."""
        if node not in self.domains:
            if point(node):
                op = node.made_by
                assert op is not None
                values = {
                    made for t in self.domain(op.parent) for made in self.law(op, node.index, t)
                }
                self.domains[node] = sorted(values)
                return self.domains[node]
            rows, top = self.rows[node], self.largest[node]
            only = top if node.fixed else None
            top += 0 if node.fixed else self.margin
            if count_tables(len(rows), top, node.ordered, only) > 260:
                raise Poor
            self.domains[node] = [
                tuple(rows[n] for n in table)
                if node.ordered
                else tuple(sorted(rows[n] for n in table))
                for table in tables(len(rows), top, node.ordered, only)
            ]
        return self.domains[node]

    def steps(self, said: Said) -> Iterator[tuple[Value, Value, Fraction]]:
        """Pairs of neighbours, one way, with how many steps of the statement they are apart."""
        domain = self.domain(said.node)
        if said.relation == "euclidean":
            for a, b in combinations(domain, 2):
                yield a, b, abs(a[0] - b[0])
            return
        for a in domain:
            for b in self.neighbours(said.node, said.relation, said.keeps, a):
                if a < b:
                    yield a, b, ONE

    def neighbours(
        self, node: Node, relation: str, keeps: tuple[str, ...], value: Value
    ) -> Iterable[Value]:
        """What is one step away."""
        found = set(near(self, node, relation, keeps, value))
        known = self._known(node)
        return sorted(other for other in found if other != value and other in known)

    def _known(self, node: Node) -> frozenset[Value]:
        if node not in self._members:
            self._members[node] = frozenset(self.domain(node))
        return self._members[node]

    def _graph(self, node: Node) -> bool:
        return node.said.get("domain") == "graph"


def point(node: Node) -> bool:
    """Whether a node is a point in a metric space."""
    op = node.made_by
    return op is not None and op.kind == "point"


def degree(graph: Value) -> Any:
    """The degree of a vertex in a graph."""
    return lambda vertex: sum(vertex in edge for edge in graph)


def count_tables(rows: int, top: int, ordered: bool, only: int | None) -> int:
    """The number of tables of a domain."""
    sizes = range(top + 1) if only is None else (only,)
    if ordered:
        return sum(rows**size for size in sizes)
    return sum(math.comb(max(rows + size - 1, 0), size) for size in sizes)


def sample(op: Op, value: Value) -> Iterator[tuple[Value, Fraction]]:
    """All draws of a sample, with their chances."""
    if "poisson" in op.said:
        rate = number(op.said["poisson"])
        for size in range(len(value) + 1):
            chance = rate**size * (1 - rate) ** (len(value) - size)
            if chance:
                for chosen in combinations(value, size):
                    yield chosen, chance
        return
    size = min(int(op.said["size"]), len(value))
    chance = Fraction(1, math.comb(len(value), size))
    for chosen in combinations(value, size):
        yield chosen, chance
