"""Read a spec into a tree with random maps, several roots, graphs and statements of every notion.

This is the reader of `tree`, opened up: a dataset instance is a `Node`, a map or a partition of it
an `Op`, and each copy of a mechanism a `Copy`.  What it does not know raises `Unsupported`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .tree import Node, Op, Reader, Step, Unsupported, parameter_of

#: Relations that a spec need not declare.
PARAMETERS = {"pure": "epsilon", "approx": "epsilon", "zcdp": "rho", "gdp": "mu"}


@dataclass(frozen=True)
class Said:
    """One guarantee of one copy: a number for each step of a relation between tables of a node."""

    node: Node
    relation: str
    keeps: tuple[str, ...]
    notion: str
    value: Fraction
    delta: Fraction = Fraction(0)


#: A node, and which of its draws: copies may read different samples.
Instance = tuple[Node, int]


@dataclass(eq=False, repr=False)
class Copy:
    """One copy of a mechanism."""

    name: str
    reads: Instance
    said: list[Said]

    def path(self, top: Node) -> list[Step]:
        """The steps that lead from an ancestor down to the dataset read."""
        steps: list[Step] = []
        for node in self.reads[0].up():
            if node is top:
                return steps[::-1]
            assert node.made_by is not None
            steps.append((node.made_by, node.index))
        raise Unsupported(f"{self.name}: stated on a dataset it does not come from")


@dataclass(eq=False, repr=False)
class Pipeline:
    """Everything about a spec that a universe needs."""

    roots: list[Node]
    nodes: list[Node]
    copies: list[Copy]
    relation: str
    keeps: tuple[str, ...]
    distance: int
    disjoint: list[set[str]]
    declared: dict[str, tuple[str, int]]


class _Wide(Reader):
    """The reader without most of its refusals."""

    def check(self) -> None:
        """Every relation is known."""

    def pipeline(self) -> Pipeline:
        """The whole tree."""
        self.unit = next(
            (str(body["unit"]) for body in self.datasets.values() if "unit" in body), ""
        )
        for name in self.datasets:
            self.instances(name)
        copies: list[Copy] = []
        for body in self.spec["mechanisms"]:
            if "post_processes" not in body:
                copies += self.all_copies(body)
        self.prune([copy.reads[0] for copy in copies])
        declared = {
            str(name): (str(body["within"]), int(body["distance"]))
            for name, body in self.spec.get("relations", {}).items()
        }
        return Pipeline(
            [node for node in self.nodes if node.made_by is None],
            self.nodes,
            copies,
            self.relation,
            self.keeps,
            self.distance,
            self.disjoint(),
            declared,
        )

    def disjoint(self) -> list[set[str]]:
        """Roots of which nobody is in two: all of them, or some (in specs that are added up)."""
        said = self.spec.get("roots", [])
        if said != "disjoint":
            return [set(names) for names in said]
        return [{name for name, body in self.datasets.items() if "from" not in body}]

    def root(self, name: str, body: Mapping[str, Any]) -> Node:
        """A root of any domain."""
        domain = str(body.get("domain", "table"))
        fixed = domain == "fixed-size-table" or (domain != "graph" and "size" in body)
        node = self.node(name, None, None, domain == "ordered-table", fixed)
        node.said = dict(body)
        return node

    def mapped(self, name: str, part: Mapping[str, Any], parent: Node) -> Op:
        """The op of a map."""
        kind = str(part["kind"])
        if kind not in ("cap", "limit", "sample", "value", "edges", "nodes", "opaque"):
            return super().mapped(name, part, parent)
        op = Op(len(self.ops), name, kind, parent)
        self.ops.append(op)
        if kind == "value":
            op.kind = "point"
        elif kind in ("cap", "limit"):
            op.kind = "limit"
            op.column = str(part["per"]) if kind == "limit" else self.unit
            op.size = int(part["rows"])
        return op

    def derive(self, name: str, body: Mapping[str, Any], parent: Node) -> list[Node]:
        """The children of an op, with what is known of the maps that are new here."""
        made = super().derive(name, body, parent)
        op = made[0].made_by if made else None
        for node in made:
            node.fixed |= op is not None and op.kind == "nodes"
            node.ordered |= op is not None and op.kind == "sample" and parent.ordered
        return made

    def all_copies(self, body: Mapping[str, Any]) -> Iterator[Copy]:
        """The copies of a mechanism: for each table that is read, `count` of them."""
        for node in self.reference(str(body["reads"])):
            said = [self.guarantee(body, each, node) for each in body.get("guarantees", [body])]
            for i in range(int(body.get("count", 1))):
                yield Copy(str(body.get("name", "?")), drawn(node, i), said)

    def guarantee(self, body: Mapping[str, Any], said: Mapping[str, Any], reads: Node) -> Said:
        """One guarantee, as it applies to the copies on one table."""
        node, relation, keeps = self.spoken_of(body, said, reads)
        notion = str(said["notion"])
        delta = parameter_of(said["delta"], reads) if notion == "approx" else Fraction(0)
        value = parameter_of(said[PARAMETERS[notion]], reads)
        return Said(node, relation, keeps, notion, value, delta)


def fresh(op: Op | None) -> bool:
    """Whether every copy has its own draw of an op."""
    return op is not None and op.kind == "sample" and op.said.get("draws") != "one"


def drawn(node: Node, draw: int) -> Instance:
    """One instance of a node: copies with the same number read the same draw of a fresh sample.

    Everything above a sample that is drawn once is drawn once as well.
    """
    for above in node.up():
        op = above.made_by
        if fresh(op):
            return node, draw
        if op is not None and op.kind == "sample":
            break
    return node, 0


def made_from(instance: Instance) -> Instance:
    """The instance that one below a root is made from."""
    node, draw = instance
    assert node.parent is not None
    return drawn(node.parent, draw)


def read(spec: Mapping[str, Any]) -> Pipeline:
    """The tree of a spec."""
    return _Wide(spec).pipeline()
