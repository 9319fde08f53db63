"""Which tables and graphs of a universe are one step of a relation apart."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

from .space import put
from .tree import Node, Unsupported

if TYPE_CHECKING:
    from .universe import Universe, Value

#: The vertices of every graph.
VERTICES = 3


def near(
    universe: Universe, node: Node, relation: str, keeps: tuple[str, ...], value: Value
) -> Iterator[Value]:
    """What is one step away; some of it may be outside of the domain, or the same."""
    if relation == "free-lunch":
        yield from universe.domain(node)
    elif relation == "bounded":
        yield from _replaced(universe, node, keeps, value)
    elif relation in PLAIN:
        yield from PLAIN[relation](universe, node, value)
    else:
        raise Unsupported(f"relation: {relation}")


def _one_more_or_less(universe: Universe, node: Node, value: Value) -> Iterator[Value]:
    if node.fixed:
        return
    for n in range(len(value)):
        yield (*value[:n], *value[n + 1 :])
    for n in range(len(value) + 1) if node.ordered else (0,):
        for row in universe.rows[node]:
            yield put(value, n, row, node.ordered)


def _replaced(
    universe: Universe, node: Node, keeps: tuple[str, ...], value: Value
) -> Iterator[Value]:
    for n, old in enumerate(value):
        rest = (*value[:n], *value[n + 1 :])
        for row in universe.rows[node]:
            if all(universe.column(old, k) == universe.column(row, k) for k in keeps):
                yield put(rest, n, row, node.ordered)


def _users(universe: Universe, node: Node, value: Value) -> Iterator[Value]:
    unit = next(root.said["unit"] for root in universe.pipeline.roots if "unit" in root.said)
    units = {universe.column(row, unit) for row in universe.rows[node]}
    without = {u: tuple(row for row in value if universe.column(row, unit) != u) for u in units}
    for u in units:
        yield without[u]
        if without[u] == value:
            # All tables whose rest, without this unit, is this one.
            for other in universe.domain(node):
                if tuple(row for row in other if universe.column(row, unit) != u) == value:
                    yield other


def _edges(universe: Universe, node: Node, value: Value) -> Iterator[Value]:
    for edge in combinations(range(VERTICES), 2):
        yield tuple(sorted(set(value) ^ {edge}))


def _stars(universe: Universe, node: Node, value: Value) -> Iterator[Value]:
    for other in universe.domain(node):
        more, less = set(value) - set(other), set(other) - set(value)
        for one, big in ((more, value), (less, other)):
            if one and one == set(value) ^ set(other):
                for v in range(VERTICES):
                    if one == {edge for edge in big if v in edge}:
                        yield other


def _rewired(universe: Universe, node: Node, value: Value) -> Iterator[Value]:
    for other in universe.domain(node):
        if any(all(v in edge for edge in set(value) ^ set(other)) for v in range(VERTICES)):
            yield other


PLAIN: dict[str, Any] = {
    "unbounded": _one_more_or_less,
    "user": _users,
    "edge": _edges,
    "node": _stars,
    "node-rewired": _rewired,
}
