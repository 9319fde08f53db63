"""The true privacy loss of a small spec, by exhaustive enumeration.

For one choice of universe (see `world`) the tables over a few rows are listed, each table is sent
through the maps and partitions to every dataset that is read, and the loss between two
neighbouring tables is the sum over the mechanisms of the shortest path, in the statement's own
neighbour graph, between what the mechanism reads.  For a statement on an ancestor the vertices of
that graph are the ancestor's tables up to equality of the dataset read.  The truth is the maximum
over all neighbouring tables and over all variants of the universe.

Sizes, and why cutting off there makes no difference:

* Adding the same rows to both tables never lengthens a path when every table is allowed, so if
  all maps act on single rows, tables of one row show everything; two rows are used where that is
  cheap.  With group and limit a row's effect depends on the rows beside it: up to four rows.
* A path for a statement needs tables no larger than the larger of its ends (unbounded steps can
  take rows away first, bounded steps keep the size once the smaller end is padded with rows that
  leave no trace); one row more is allowed where that is cheap.
* A row that comes or goes moves all rows behind it, so blocks by position change by as many rows
  as one likes: there the limit for large tables is taken instead of a cut-off value.
* Rows that leave a trace at neither end of a path can be exchanged for one that leaves none, or
  else for any row that occurs, without breaking the path.  So the small spaces hold the rows that
  do occur at an end, one row without trace if there is any, and one other row.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from heapq import heappop, heappush
from itertools import islice, product, takewhile
from typing import Any

from .space import Piece, Space, Table, how_many, put, small_space, step_counts, tables
from .tree import Mechanism, Node, Op, Statement, Step, Tree, Unsupported, read
from .world import Columns, Sizes, Variant, World, richest, variants

MOST_VARIANTS = 32
MOST_TABLES = 8_000
MOST_PAIRS = 150_000
ALWAYS_WHOLE = False
Cost = int | float


@dataclass
class Notes:
    """What had to be cut short; empty when the universe was searched completely."""

    cut: set[str] = field(default_factory=set)


class _Unit:
    """How losses are measured and added in a notion."""

    def __init__(self, tree: Tree) -> None:
        self.notion = tree.notion
        weights = [said.weight for m in tree.mechanisms for said in m.statements]
        self.scale = math.lcm(*(weight.denominator for weight in weights))

    def weight(self, weight: Fraction) -> Cost:
        """The length of one step, as a whole number unless square roots are needed."""
        if self.notion == "zcdp":
            return math.sqrt(weight)
        return int(weight * self.scale)

    def loss(self, distance: Cost) -> Cost:
        """What a mechanism adds to the sum when its input moves by a distance."""
        return distance if self.notion == "pure" else distance * distance

    def result(self, total: Cost) -> Fraction | float:
        """The sum, as the parameter of the notion."""
        if math.isinf(total):
            return math.inf
        if self.notion == "zcdp":
            return float(total)
        if self.notion == "pure":
            return Fraction(int(total), self.scale)
        return math.sqrt(Fraction(int(total), self.scale**2))


@dataclass(frozen=True)
class _Seen:
    """What a mechanism sees of a table at the root.

    Kept with it are the sizes of the tables that are cut into blocks by position on the way: if
    they differ between two neighbours, a row came or went and all rows behind it have moved.
    """

    table: Table
    sizes: dict[Op, int]


class _Meter:
    """Distances between tables of the dataset read, for the statements on one node."""

    def __init__(
        self,
        world: World,
        mechanism: Mechanism,
        node: Node,
        statements: list[Statement],
        unit: _Unit,
        notes: Notes,
        size: int,
    ) -> None:
        self.world = world
        self.node = node
        self.size = size
        self.reads = mechanism.reads
        self.notes = notes
        self.path = mechanism.path(node)
        self.shifts = [op for op, _ in path_to(node) if _by_position(op)]
        lengths: dict[str, Cost] = {}
        self.keeps: tuple[str, ...] = ()
        for said in statements:
            old = lengths.get(said.relation, math.inf)
            lengths[said.relation] = min(old, unit.weight(said.weight))
        bounded = {said.keeps for said in statements if said.relation == "bounded"}
        self.keeps = bounded.pop() if bounded else ()
        self.unbounded = lengths.get("unbounded", math.inf)
        self.bounded = lengths.get("bounded", math.inf)
        self.small = not ALWAYS_WHOLE and all(op.rowwise for op, _ in self.path)
        self._giving: dict[int, list[tuple[Table, Columns]]] = {}
        self._others: dict[tuple[bool, Columns], list[tuple[Table, Columns]]] = {}
        self._known: dict[tuple[Table, Table], Cost] = {}
        self._spaces: list[Space | None] = []

    def distance(self, start: _Seen, end: _Seen) -> Cost:
        """The shortest path between two tables of the dataset read."""
        if start.table == end.table:
            return 0
        if self.shifted(start, end):
            return math.inf
        return self._path(start.table, end.table)

    def shifted(self, start: _Seen, end: _Seen) -> bool:
        """Whether as many rows change as one likes, so that the statements bound nothing."""
        if all(start.sizes[op] == end.sizes[op] for op in self.shifts):
            return False
        if not self.unbounded or not self.bounded:
            self.notes.cut.add("a shift of rows, and steps that cost nothing")
            return False
        return True

    def _path(self, start: Table, end: Table) -> Cost:
        if self.small:
            return self._in_small_space(start, end)
        if not self._spaces:
            self._spaces.append(self._whole_space())
        space = self._spaces[0]
        if space is None:
            return min(self.unbounded, self.bounded)
        first, last = space.vertex[start], space.vertex[end]
        return space.distance(first, last, self.unbounded, self.bounded)

    # Row by row: only the rows that occur at one of the ends matter.

    def _list_pieces(self) -> None:
        """What single rows of the node give to the dataset read, with the columns kept."""
        world, node = self.world, self.node
        if node.parent is not None and self.path:
            world.fresh_rows(node, 1)
        seen: set[tuple[Table, Columns]] = set()
        for row in range(len(world.rows[node])):
            piece = (world.along(self.path, (row,)), world.columns(node, row, self.keeps))
            if piece not in seen:
                seen.add(piece)
                for symbol in dict.fromkeys(piece[0]):
                    self._giving.setdefault(symbol, []).append(piece)
                self._others.setdefault((not piece[0], piece[1]), []).append(piece)

    def _in_small_space(self, start: Table, end: Table) -> Cost:
        size = self.size
        if not any(op.kind == "flatten" for op, _ in self.path):
            before = len(start)
            if self.node.ordered:
                start, end = _without_common_ends(start, end)
            else:
                start, end = _without_common_rows(start, end)
            size -= before - len(start)
        if (start, end) not in self._known:
            self._known[start, end] = self._shortest(start, end, size)
        return self._known[start, end]

    def _shortest(self, start: Table, end: Table, fixed_size: int) -> Cost:
        names = _names(start, end)
        pieces, size, only = self.small_domain(start, end, fixed_size, names)
        if how_many(len(pieces), size, self.node.ordered, only) > 4 * MOST_TABLES:
            self.notes.cut.add("too many rows changed at once")
            return min(self.unbounded, self.bounded)
        first, last = (_renamed(table, names, self.node.ordered) for table in (start, end))
        kinds = (not math.isinf(self.unbounded), not math.isinf(self.bounded))
        counts = step_counts(pieces, size, self.node.ordered, only, first, last, kinds)
        return min(
            (_times(n, self.unbounded) + _times(m, self.bounded) for n, m in counts),
            default=math.inf,
        )

    def small_domain(
        self, start: Table, end: Table, fixed_size: int, names: dict[int, int]
    ) -> tuple[tuple[Piece, ...], int, int | None]:
        """The rows, the largest size and the only size of the tables between two ends.

        New names are added for the rows that occur at neither end.
        """
        if not self._others:
            self._list_pieces()
        ordered = self.node.ordered
        symbols = dict.fromkeys((*start, *end))
        chosen = list(
            dict.fromkeys(
                piece
                for symbol in symbols
                for piece in self._giving[symbol]
                if all(other in symbols for other in piece[0])
            )
        )
        size = max(_rows_for(start, chosen), _rows_for(end, chosen))
        for pieces in self._others.values():
            apart = (p for p in pieces if not any(symbol in symbols for symbol in p[0]))
            chosen += islice(apart, 1)
        labels: dict[Columns, int] = {}
        renamed: list[Piece] = []
        for seen, kept in chosen:
            for symbol in seen:
                names.setdefault(symbol, len(names))
            label = labels.setdefault(kept, len(labels))
            renamed.append((_renamed(seen, names, ordered), label))
        only = fixed_size if self.node.fixed else None
        if only is None and how_many(len(renamed), size + 1, ordered) <= 300:
            size += 1
        return tuple(sorted(renamed)), size, only

    # Otherwise: all tables of the node.

    def _whole_space(self) -> Space | None:
        """All tables of the node, up to equality of the dataset read.

        They have at least one row more than those that occur, or there is no space at all: a
        shortest path may have to take rows in before it takes others out.
        """
        world, node = self.world, self.node
        if node.parent is not None:
            world.fresh_rows(node, 1)
        first = 0
        while first < len(self.path) and self.path[first][0].rowwise:
            first += 1
        distinct: dict[tuple[Table, Columns], int] = {}
        for row in range(len(world.rows[node])):
            seen = world.along(self.path[:first], (row,))
            distinct.setdefault((seen, world.columns(node, row, self.keeps)), row)
        rows = list(distinct.values())
        labels = [kept for _, kept in distinct]
        only = self.size if node.fixed else None
        top = 1
        while top < self.size + 2 and how_many(len(rows), top + 1, node.ordered) <= MOST_TABLES:
            top += 1
        if only is None and top <= self.size:
            self.notes.cut.add("a statement's tables do not reach far enough")
            return None

        def image(table: Table) -> Table:
            made = tuple(rows[n] for n in table)
            return world.along(self.path, made if node.ordered else tuple(sorted(made)))

        return Space(labels, top, node.ordered, only, image)


def _times(steps: int, weight: Cost) -> Cost:
    return steps * weight if steps else 0


def _names(start: Table, end: Table) -> dict[int, int]:
    """Small numbers for the rows of two tables, the same for tables that look alike."""

    def rank(symbol: int) -> tuple[int, ...]:
        return (-start.count(symbol), -end.count(symbol), (start + end).index(symbol))

    return {symbol: n for n, symbol in enumerate(sorted({*start, *end}, key=rank))}


def _renamed(table: Table, names: dict[int, int], ordered: bool) -> Table:
    """A table under new names."""
    new = [names[symbol] for symbol in table]
    return tuple(new if ordered else sorted(new))


def _mixed(meters: list[_Meter], start: _Seen, end: _Seen) -> Cost:
    """The shortest path that may use the statements on several datasets in turn."""
    if start.table == end.table:
        return 0
    ordered = meters[0].reads.ordered
    names = _names(start.table, end.table)
    used: list[tuple[_Meter, Space]] = []
    for meter in meters:
        if not meter.shifted(start, end):
            pieces, size, only = meter.small_domain(start.table, end.table, meter.size, names)
            if how_many(len(pieces), size, ordered, only) > 4 * MOST_TABLES:
                return 0
            used.append((meter, small_space(pieces, size, meter.node.ordered, only)))
    goal = _renamed(end.table, names, ordered)
    waiting: list[tuple[Cost, Table]] = [(0, _renamed(start.table, names, ordered))]
    settled: set[Table] = set()
    while waiting:
        cost, table = heappop(waiting)
        if table == goal:
            return cost
        if table in settled:
            continue
        settled.add(table)
        for meter, space in used:
            weights = (meter.unbounded, meter.bounded)
            for weight, others in zip(weights, space.steps_from(table), strict=True):
                if not math.isinf(weight):
                    for other in others:
                        heappush(waiting, (cost + weight, other))
    return math.inf


def _rows_for(table: Table, pieces: list[tuple[Table, Columns]]) -> int:
    """How many rows it takes at least to give a table."""
    left = list(table)
    rows = 0
    for seen in sorted({seen for seen, _ in pieces}, key=len, reverse=True):
        while seen and all(left.count(symbol) >= seen.count(symbol) for symbol in seen):
            for symbol in seen:
                left.remove(symbol)
            rows += 1
    assert not left
    return rows


def _without_common_rows(start: Table, end: Table) -> tuple[Table, Table]:
    """Two tables without the rows they share."""
    first, last = list(start), list(end)
    for row in start:
        if row in last:
            first.remove(row)
            last.remove(row)
    return tuple(first), tuple(last)


def _without_common_ends(start: Table, end: Table) -> tuple[Table, Table]:
    """Two ordered tables without the rows with which both begin or end."""
    while start and end and start[0] == end[0]:
        start, end = start[1:], end[1:]
    while start and end and start[-1] == end[-1]:
        start, end = start[:-1], end[:-1]
    return start, end


class _Roots:
    """The tables at the root, and which of them are neighbours."""

    def __init__(self, world: World) -> None:
        tree = world.tree
        self.world = world
        root = tree.root
        self.ordered = root.ordered
        first = [_rowwise(mechanism.path(root)) for mechanism in tree.mechanisms]
        distinct: dict[tuple[object, ...], int] = {}
        for n in range(world.sizes.identities):
            for code in world.all_behaviours(root):
                row = world.row(root, n, code)
                effects = tuple(world.along(steps, (row,)) for steps in first)
                kept = world.columns(root, row, tree.keeps)
                distinct.setdefault((effects, kept), row)
        self.rows = sorted(distinct.values())
        self.labels = [world.columns(root, row, tree.keeps) for row in self.rows]
        self.beside = self.rows
        self.size = self._size()
        if self.size < rows_needed(tree) and tree.distance == 1:
            self.beside = [row for row in self.rows if world.rows[root][row][0] == 0]
            self.size = self._size()
        self.tables: list[Table] = []
        self.number: dict[Table, int] = {}
        if tree.unit:
            self._add_users()
            return
        for rest in self._rests():
            if not root.fixed:
                self._add(rest)
            for position in self._positions(rest):
                for row in self.rows:
                    self._add(put(rest, position, row, self.ordered))

    def _add_users(self) -> None:
        """The tables of one user, and the table without anybody."""
        tree = self.world.tree
        self.size = rows_needed(tree)
        if how_many(len(self.rows), self.size, self.ordered) > MOST_TABLES:
            raise Unsupported("a user has too many rows")
        for table in tables(len(self.rows), self.size, self.ordered):
            rows = tuple(self.rows[n] for n in table)
            if all(self._allowed(op, rows) for op in tree.ops):
                self._add(rows)

    def _allowed(self, op: Op, rows: Table) -> bool:
        """Whether the rows of one user touch no more of a partition than is declared."""
        if op.most_blocks is None and op.most_in_block is None:
            return True
        world = self.world
        parent = world.along(path_to(op.parent), rows)
        sizes = [len(world.apply(op, n, parent)) for n in range(len(op.children))]
        touched = sum(size > 0 for size in sizes)
        return (op.most_blocks is None or touched <= op.most_blocks) and (
            op.most_in_block is None or max(sizes) <= op.most_in_block
        )

    def _add(self, table: Table) -> None:
        if self.number.setdefault(table, len(self.tables)) == len(self.tables):
            self.tables.append(table)

    def _rests(self) -> Iterator[Table]:
        """What two neighbours may have in common."""
        only = self.size - 1 if self.world.tree.root.fixed else None
        for table in tables(len(self.beside), self.size - 1, self.ordered, only):
            yield tuple(self.beside[n] for n in table)

    def _positions(self, rest: Table) -> Iterable[int]:
        """Where a row may be put in."""
        return range(len(rest) + 1) if self.ordered else (0,)

    def _size(self) -> int:
        """How many rows a table at the root may have."""
        tree = self.world.tree
        need = rows_needed(tree)
        extra = 1 if all(op.rowwise for op in tree.ops) else 2
        each = len(self.rows) * (len(self.rows) / 2 if tree.relation == "bounded" else 1)
        size = 1
        while size < need + extra:
            work = each * how_many(len(self.beside), size, self.ordered)
            work *= size + 1 if self.ordered else 1
            if work > (MOST_PAIRS if size < need else MOST_PAIRS / 20):
                break
            size += 1
        return size

    def effort(self) -> float:
        """Roughly how many pairs of tables there are."""
        bounded = self.world.tree.relation == "bounded"
        return len(self.tables) * (len(self.rows) / 2 if bounded else 1)

    def pairs(self) -> Iterator[tuple[int, int]]:
        """All pairs of neighbours (numbers of tables), each once."""
        distance = self.world.tree.distance
        if distance == 1:
            yield from self._neighbours()
            return
        near: dict[int, set[int]] = {n: {n} for n in range(len(self.tables))}
        for first, second in self._neighbours():
            near[first].add(second)
            near[second].add(first)
        for start in near:
            reached = {start}
            for _ in range(distance):
                reached = {other for table in reached for other in near[table]}
            yield from ((start, other) for other in reached if other > start)

    def _neighbours(self) -> Iterator[tuple[int, int]]:
        tree = self.world.tree
        if tree.unit:
            yield from ((self.number[()], n) for n in range(1, len(self.tables)))
            return
        for rest in self._rests():
            for position in self._positions(rest):
                more = [self.number[put(rest, position, row, self.ordered)] for row in self.rows]
                if tree.relation == "unbounded":
                    yield from ((self.number[rest], other) for other in more)
                    continue
                for n, first in enumerate(more):
                    for m in range(n):
                        if self.labels[n] == self.labels[m]:
                            yield first, more[m]


def _rowwise(steps: list[Step]) -> list[Step]:
    """The first steps of a path, as long as they treat rows one by one."""
    return list(takewhile(lambda step: step[0].rowwise, steps))


class _Reader:
    """The mechanisms that read one node: what they lose together between two tables."""

    def __init__(self, node: Node, mixed: bool) -> None:
        self.node = node
        self.mixed = mixed
        self.meters: list[tuple[int, list[_Meter]]] = []
        self.tables: list[int] = []
        self.distinct: list[_Seen] = []
        self.known: dict[tuple[int, int], Cost] = {}

    def see(self, world: World, roots: _Roots) -> None:
        """Work out what is read for each table at the root."""
        steps = path_to(self.node)
        cuts = [n for n, (op, _) in enumerate(steps) if _by_position(op)]
        numbers: dict[tuple[Table, tuple[int, ...]], int] = {}
        for table in roots.tables:
            seen = world.along(steps, table)
            sizes = tuple(len(world.along(steps[:n], table)) for n in cuts)
            number = numbers.setdefault((seen, sizes), len(numbers))
            self.tables.append(number)
            if number == len(self.distinct):
                by_op = dict(zip((steps[n][0] for n in cuts), sizes, strict=True))
                self.distinct.append(_Seen(seen, by_op))

    def loss(self, unit: _Unit, first: int, second: int) -> Cost:
        """The loss between what is read at two tables of the root."""
        key = (first, second) if first < second else (second, first)
        if key not in self.known:
            start, end = self.distinct[key[0]], self.distinct[key[1]]
            self.known[key] = sum(
                count * unit.loss(self.distance(meters, start, end))
                for count, meters in self.meters
            )
        return self.known[key]

    def distance(self, meters: list[_Meter], start: _Seen, end: _Seen) -> Cost:
        """The distance for one mechanism: the least over the datasets that it is stated on."""
        if self.mixed and len(meters) > 1 and all(meter.small for meter in meters):
            return _mixed(meters, start, end)
        return min(meter.distance(start, end) for meter in meters)


def path_to(node: Node) -> list[Step]:
    """The steps from the root to a node."""
    steps = [(above.made_by, above.index) for above in node.up() if above.made_by is not None]
    return steps[::-1]


def _by_position(op: Op) -> bool:
    """Whether rows that move along come into other blocks."""
    return op.kind == "position" and len(op.children) > 1


def shifting(tree: Tree, op: Op) -> bool:
    """Whether a row may come or go in the parent of an op, so that others move."""
    return tree.relation == "unbounded" or any(
        above.kind not in ("row", "position") and not (above.kind == "flatten" and above.exact)
        for above, _ in path_to(op.parent)
    )


def rows_needed(tree: Tree) -> int:
    """How many rows a table at the root must have to show every change.

    With a limit to m rows per key, a row that comes or goes meets m others; a replaced row can
    leave one key and come to another.  A group is like a limit to one row.  With k blocks by
    position, k + 1 rows let every block feel a shift.  A user has as many rows as all caps let
    through together.
    """
    need = 2 if tree.root.fixed else 1
    if tree.unit:
        return sum(
            op.size if op.kind == "limit" else 1 for op in tree.ops if op.column == tree.unit
        )
    for op in tree.ops:
        beside = {"limit": op.size, "group": 1}.get(op.kind, 0)
        if op.kind == "position":
            need = max(need, len(op.children) + 1)
        elif beside:
            need = max(need, 1 + beside * (2 if tree.relation == "bounded" else 1))
    return need + tree.distance - 1


def _worst(roots: _Roots, unit: _Unit, notes: Notes, mixed: bool) -> Cost:
    """The largest loss over neighbouring tables of one universe."""
    world = roots.world
    tree = world.tree
    if roots.size < rows_needed(tree):
        notes.cut.add("the tables at the root are too small")
    if any(shifting(tree, op) for op in world.tied):
        notes.cut.add("rows that move to another block make related choices there")
    if not roots.rows:
        return 0
    readers: dict[Node, _Reader] = {}
    for mechanism in tree.mechanisms:
        reader = readers.setdefault(mechanism.reads, _Reader(mechanism.reads, mixed))
        groups: dict[Node, list[Statement]] = {}
        for said in mechanism.statements:
            groups.setdefault(said.node, []).append(said)
        meters = []
        for node, statements in groups.items():
            size = max(len(world.along(path_to(node), table)) for table in roots.tables)
            meters.append(_Meter(world, mechanism, node, statements, unit, notes, size))
        reader.meters.append((mechanism.count, meters))
    for reader in readers.values():
        reader.see(world, roots)
    worst: Cost = 0
    views = [(reader, reader.tables, reader.known) for reader in readers.values()]
    for first, second in roots.pairs():
        total: Cost = 0
        for reader, seen, known in views:
            a, b = seen[first], seen[second]
            if a != b:
                loss = known.get((a, b) if a < b else (b, a))
                total += reader.loss(unit, a, b) if loss is None else loss
        if total > worst:
            worst = total
            if math.isinf(worst):
                break
    return worst


def _chosen(tree: Tree, notes: Notes) -> Iterator[dict[int, Variant]]:
    """The universes to try: one variant for each op, where it can matter.

    It can matter where a statement about replaced rows on an ancestor reaches through the op;
    for blocks by position, where a statement about rows that come or go does.
    The poorest universes come first, since they are where no bound may hold.
    """
    fed: dict[int, dict[Node, None]] = {}
    for mechanism in tree.mechanisms:
        for said in mechanism.statements:
            for op, _ in mechanism.path(said.node):
                if (said.relation == "unbounded") == (op.kind == "position"):
                    fed.setdefault(op.number, {})[mechanism.reads] = None
    every = {
        op.number: variants(op, list(fed.get(op.number, ())))
        if op.number in fed or op.kind == "stable"
        else [richest(op)]
        for op in tree.ops
    }
    if math.prod(len(each) for each in every.values()) <= MOST_VARIANTS:
        for choice in product(*(each[::-1] for each in every.values())):
            yield dict(zip(every, choice, strict=True))
        return
    notes.cut.add("too many variants")
    yield {number: each[0] for number, each in every.items()}
    yield {number: each[-1] for number, each in every.items()}
    for number, each in every.items():
        for variant in each[1:]:
            yield {other: all_[0] for other, all_ in every.items()} | {number: variant}


def _sizes(tree: Tree) -> Sizes:
    """The sizes of the universe: one user's rows come and go all at once, so they may be alike."""
    return Sizes(1, 1, 1) if tree.unit else Sizes()


def search(
    spec: Mapping[str, Any], sizes: Sizes | None = None, mixed: bool = False
) -> tuple[Fraction | float, Notes]:
    """The truth in the notion's parameter, and what was cut short on the way.

    Where a mechanism has statements on several datasets the least of their distances counts.
    With `mixed`, paths may also use them in turn (where all rows are treated one by one), which
    can be shorter still.
    """
    limits = (MOST_VARIANTS, MOST_TABLES, MOST_PAIRS, ALWAYS_WHOLE)
    return _searched(json.dumps(spec, default=str), sizes, mixed, limits)


@lru_cache(maxsize=1024)  # doubts about a truth, and several tests, ask for it again
def _searched(
    spec: str, sizes: Sizes | None, mixed: bool, limits: tuple[int, ...]
) -> tuple[Fraction | float, Notes]:
    tree = read(json.loads(spec))
    unit = _Unit(tree)
    notes = Notes()
    worst: Cost = 0
    for chosen in _chosen(tree, notes):
        roots = _Roots(World(tree, chosen, sizes or _sizes(tree)))
        worst = max(worst, _worst(roots, unit, notes, mixed))
        if math.isinf(worst):
            break
    return unit.result(worst), notes


def truth(spec: Mapping[str, Any]) -> dict[str, Fraction | float]:
    """The least bound that holds for a spec: `pure`, `zcdp` or `gdp`, with its parameter.

    The value is infinite when there is no finite bound.
    """
    return {read(spec).notion: search(spec)[0]}


def effort(spec: Mapping[str, Any]) -> float:
    """Roughly how many pairs of tables are looked at; infinite if that would not be enough."""
    notes = Notes()
    total = 0.0
    try:
        tree = read(spec)
        for chosen in _chosen(tree, notes):
            roots = _Roots(World(tree, chosen, _sizes(tree)))
            if roots.size < rows_needed(tree) or notes.cut:
                return math.inf
            total += roots.effort()
    except Unsupported:
        return math.inf
    return total
