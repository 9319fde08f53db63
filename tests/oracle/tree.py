"""Read a spec (as plain Python data) into a tree of dataset instances and mechanism copies.

A dataset that is derived from every block of a partition exists once per block.  Here each of
these copies is a node of its own, and each map or partition applied to a node is an `Op`.  Only
the part of the language that the enumeration can express is accepted; anything else raises
`Unsupported`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

ROWWISE = frozenset({"filter", "row", "flatten", "value", "key", "membership", "kinds"})
PARTITIONS = frozenset({"value", "key", "membership", "kinds", "position"})
PARAMETER = {"pure": "epsilon", "zcdp": "rho", "gdp": "mu"}


class Unsupported(Exception):
    """The spec is outside the part of the language that the enumeration covers."""


@dataclass(eq=False, repr=False)
class Node:
    """One instance of a dataset: a root, the copy of a derived dataset, or one block of it."""

    number: int
    name: str
    block: str | None
    made_by: Op | None
    index: int
    ordered: bool
    fixed: bool
    ops: list[Op] = field(default_factory=list)
    said: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parent(self) -> Node | None:
        """The node this one is computed from, or nothing for a root."""
        return self.made_by.parent if self.made_by else None

    def up(self) -> Iterator[Node]:
        """This node and its ancestors, nearest first."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent


@dataclass(eq=False, repr=False)
class Op:
    """One application of a map or a partition to one node."""

    number: int
    name: str
    kind: str
    parent: Node
    column: str = ""
    keeps: tuple[str, ...] = ()
    joins: bool = False
    size: int = 0
    exact: bool = False
    drops: bool = False
    kinds: tuple[tuple[int, ...], ...] = ()
    most_blocks: int | None = None
    most_in_block: int | None = None
    children: list[Node] = field(default_factory=list)
    live: frozenset[int] = frozenset()
    said: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rowwise(self) -> bool:
        """Whether each row of the parent is treated on its own."""
        return self.kind in ROWWISE


Step = tuple[Op, int]


@dataclass(frozen=True)
class Statement:
    """One guarantee of one mechanism copy: a weight for each step between tables of a node."""

    node: Node
    relation: str
    keeps: tuple[str, ...]
    weight: Fraction


@dataclass(eq=False, repr=False)
class Mechanism:
    """One copy of a mechanism: the node it reads and what is stated about it."""

    name: str
    reads: Node
    statements: list[Statement]
    count: int

    def path(self, top: Node) -> list[Step]:
        """The steps that lead from an ancestor down to the dataset read."""
        steps: list[Step] = []
        for node in self.reads.up():
            if node is top:
                return steps[::-1]
            if node.made_by is not None:
                steps.append((node.made_by, node.index))
        raise Unsupported(f"{self.name}: stated on a dataset it does not come from")


@dataclass(eq=False, repr=False)
class Tree:
    """Everything about a spec that the enumeration needs."""

    root: Node
    nodes: list[Node]
    ops: list[Op]
    mechanisms: list[Mechanism]
    notion: str
    relation: str
    keeps: tuple[str, ...]
    distance: int
    unit: str = ""


def number(value: Any) -> Fraction:
    """An exact fraction from a number as it stands in a spec."""
    return value if isinstance(value, Fraction) else Fraction(str(value).replace(" ", ""))


class Reader:
    """Builds the tree of one spec."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self.spec = spec
        self.datasets: dict[str, dict[str, Any]] = {
            str(name): dict(body or {}) for name, body in spec["datasets"].items()
        }
        self.nodes: list[Node] = []
        self.ops: list[Op] = []
        self.made: dict[str, list[Node]] = {}
        protect = spec["protect"]
        body = protect if isinstance(protect, dict) else {"relation": protect}
        self.relation = str(body["relation"])
        self.keeps = tuple(body.get("keeps", ()))
        self.distance = int(body.get("distance", 1))
        self.unit = ""

    def check(self) -> None:
        """Refuse what the enumeration does not cover."""
        if self.relation not in ("unbounded", "bounded", "user"):
            raise Unsupported(f"protect: {self.relation}")
        if self.relation == "user" and self.distance > 1:
            raise Unsupported("several users")

    def read(self) -> Tree:
        """The whole tree."""
        self.check()
        roots = [name for name, body in self.datasets.items() if "from" not in body]
        if len(roots) != 1:
            raise Unsupported("exactly one root, please")
        for name in self.datasets:
            self.instances(name)
        mechanisms: list[Mechanism] = []
        notions: set[str] = set()
        for body in self.spec["mechanisms"]:
            if "post_processes" not in body:
                mechanisms += self.copies(body, notions)
        if len(notions) != 1:
            raise Unsupported("one notion for all mechanisms, please")
        self.prune([mechanism.reads for mechanism in mechanisms])
        return Tree(
            self.made[roots[0]][0],
            self.nodes,
            [op for op in self.ops if op.live],
            mechanisms,
            notions.pop(),
            self.relation,
            self.keeps,
            self.distance,
            self.unit,
        )

    def prune(self, reads: list[Node]) -> None:
        """Forget what nobody reads: it only multiplies the kinds of rows."""
        live = {above for node in reads for above in node.up()}
        for op in self.ops:
            op.live = frozenset(n for n, child in enumerate(op.children) if child in live)
        for node in self.nodes:
            node.ops = [op for op in node.ops if op.live]

    # Datasets.

    def reference(self, text: str) -> list[Node]:
        """All instances a reference stands for: `name`, `name.block` or `name.*`."""
        name, _, block = text.partition(".")
        if name not in self.datasets:
            raise Unsupported(f"no dataset {name}")
        return [node for node in self.instances(name) if block in ("", "*", node.block)]

    def instances(self, name: str) -> list[Node]:
        """The copies of a dataset (the blocks of all copies, for a partition)."""
        if name not in self.made:
            body = self.datasets[name]
            if "from" not in body:
                self.made[name] = [self.root(name, body)]
            else:
                parents = self.reference(str(body["from"]))
                self.made[name] = [
                    node for parent in parents for node in self.derive(name, body, parent)
                ]
        return self.made[name]

    def node(self, name: str, block: str | None, op: Op | None, ordered: bool, fixed: bool) -> Node:
        """A new node."""
        index = len(op.children) if op else 0
        made = Node(len(self.nodes), name, block, op, index, ordered, fixed)
        self.nodes.append(made)
        if op is not None:
            op.children.append(made)
        return made

    def root(self, name: str, body: Mapping[str, Any]) -> Node:
        """The root."""
        domain = str(body.get("domain", "table"))
        if self.relation == "user":
            self.unit = str(body.get("unit", ""))
            if not self.unit:
                raise Unsupported("users without a unit column")
        if domain not in ("table", "ordered-table", "fixed-size-table"):
            raise Unsupported(f"domain: {domain}")
        positions = any(
            part.get("partition", {}).get("by") == "position" for part in self.datasets.values()
        )
        fixed = domain == "fixed-size-table"
        return self.node(
            name, None, None, domain == "ordered-table" or (fixed and positions), fixed
        )

    def derive(self, name: str, body: Mapping[str, Any], parent: Node) -> list[Node]:
        """One copy of a derived dataset: one node for a map, one per block for a partition."""
        if "map" in body:
            what = body["map"]
            part = dict(what) if isinstance(what, dict) else {"kind": what}
            op = self.mapped(name, part, parent)
            keeps_order = op.kind in ("filter", "row", "flatten")
            fixed = parent.fixed and (op.kind == "row" or (op.kind == "flatten" and op.exact))
            self.node(name, None, op, parent.ordered and keeps_order, fixed)
        else:
            part = dict(body["partition"])
            op, names = self.partitioned(name, part, parent)
            positions = op.kind == "position"
            for block in names:
                self.node(name, block, op, parent.ordered, positions and parent.fixed)
        op.drops = part.get("drops", False) is True
        op.said = part
        parent.ops.append(op)
        return op.children

    def mapped(self, name: str, part: Mapping[str, Any], parent: Node) -> Op:
        """The op of a map."""
        kind = str(part["kind"])
        op = Op(len(self.ops), name, kind, parent)
        self.ops.append(op)
        if kind == "row":
            op.keeps = tuple(part.get("keeps", ()))
        elif kind == "flatten":
            op.size, op.exact = int(part["max_rows"]), bool(part.get("exact", False))
        elif kind == "join-public":
            # A flatten of which every new row has the columns of its source.
            op.kind, op.joins, op.column = "flatten", True, str(part.get("column", ""))
            op.size, op.exact = int(part["max_rows"]), bool(part.get("exact", False))
        elif kind == "group":
            op.column = str(part["by"])
        elif kind == "limit":
            op.column, op.size = str(part["per"]), int(part["rows"])
            if part.get("keep") != "first":
                raise Unsupported("limit: only keep: first")
        elif kind == "cap":
            op.kind, op.column, op.size = "limit", self.unit, int(part["rows"])
            if not self.unit or part.get("keep") != "first":
                raise Unsupported("cap: only under user neighbours, and keep: first")
        elif kind == "stable":
            op.size = int(part["stability"])
        elif kind != "filter":
            raise Unsupported(f"map: {kind}")
        return op

    def partitioned(self, name: str, part: Mapping[str, Any], parent: Node) -> tuple[Op, list[str]]:
        """The op of a partition and the names of its blocks."""
        by = str(part["by"])
        if by not in PARTITIONS:
            raise Unsupported(f"partition by {by}")
        op = Op(len(self.ops), name, by, parent)
        op.most_blocks = part.get("max_blocks_per_unit")
        op.most_in_block = part.get("max_rows_per_block")
        self.ops.append(op)
        if by == "kinds":
            names = list(dict.fromkeys(str(b) for fed in part["kinds"].values() for b in fed))
            op.kinds = tuple(
                tuple(names.index(str(block)) for block in fed) for fed in part["kinds"].values()
            )
            return op, names
        blocks = part["blocks"]
        names = [str(b) for b in (range(blocks) if isinstance(blocks, int) else blocks)]
        if by == "key":
            op.column = str(part["column"])
        elif by == "membership":
            op.size = min(int(part["max_blocks"]), len(names))
        elif by == "position" and not parent.ordered:
            raise Unsupported("a position partition of a table without order")
        return op, names

    # Mechanisms.

    def copies(self, body: Mapping[str, Any], notions: set[str]) -> Iterator[Mechanism]:
        """One mechanism for each table that is read."""
        name = str(body.get("name", "?"))
        for node in self.reference(str(body["reads"])):
            statements: list[Statement] = []
            for said in body.get("guarantees", [body]):
                notion = str(said["notion"])
                if notion not in PARAMETER:
                    raise Unsupported(f"notion: {notion}")
                notions.add(notion)
                statements.append(self.statement(body, said, node, PARAMETER[notion]))
            kept = {(said.node, said.keeps) for said in statements if said.relation == "bounded"}
            if len(kept) > len({node for node, _ in kept}):
                raise Unsupported("replacements with and without kept columns")
            if self.unit:
                self.check_cap(node)
            yield Mechanism(name, node, statements, int(body.get("count", 1)))

    def check_cap(self, reads: Node) -> None:
        """Check that one user changes only so many rows, and that users do not interact."""
        ops = [node.made_by for node in reads.up() if node.made_by is not None][::-1]
        for op in ops:
            if op.kind in ("limit", "group") and op.column == self.unit:
                return
            if op.kind not in ("filter", "value", "membership", "kinds"):
                break
        raise Unsupported("users without a cap, or a cap below other maps")

    def statement(
        self, body: Mapping[str, Any], said: Mapping[str, Any], reads: Node, parameter: str
    ) -> Statement:
        """One guarantee, as it applies to one copy."""
        node, relation, keeps = self.spoken_of(body, said, reads)
        if relation not in ("unbounded", "bounded"):
            raise Unsupported(f"relation: {relation}")
        if relation == "unbounded" and node.fixed:
            raise Unsupported("an unbounded statement on tables of one size")
        return Statement(node, relation, keeps, parameter_of(said[parameter], reads))

    def spoken_of(
        self, body: Mapping[str, Any], said: Mapping[str, Any], reads: Node
    ) -> tuple[Node, str, tuple[str, ...]]:
        """The dataset that a guarantee is about, and its relation with the columns kept."""
        node = reads
        where = said.get("stated_on", body.get("stated_on"))
        if where is not None:
            meant = self.reference(str(where))
            found = [above for above in reads.up() if above in meant]
            if not found:
                raise Unsupported(f"stated_on: {where} is not above {reads.name}")
            node = found[0]
        relation = said.get("relation", body.get("relation"))
        return (node, self.relation, self.keeps) if relation is None else (node, str(relation), ())


def parameter_of(value: Any, reads: Node) -> Fraction:
    """A number that may be stated for each block."""
    if isinstance(value, dict):
        by_block = {str(block): each for block, each in value.items()}
        value = next(by_block[above.block] for above in reads.up() if above.block is not None)
    return number(value)


def read(spec: Mapping[str, Any]) -> Tree:
    """The tree of a spec."""
    tree = Reader(spec).read()
    if tree.root.fixed and tree.relation == "unbounded":
        raise Unsupported("no unbounded neighbours among tables of one size")
    return tree
