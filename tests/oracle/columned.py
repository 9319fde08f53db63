"""Small universes whose rows have columns, and the truth there: what replaced rows can cost.

A row is a set of named values, a table a multiset of rows. Every map is a fixed one that keeps to
what the spec declares of it, drawn at random: what `uses` some columns is a random function of
these. A guarantee is attained by noise on the distance to a point, so that the worst loss for two
tables is the sum of the mechanisms' ε's, each times the number of steps between what they read,
by shortest paths over all tables of the dataset that the guarantee speaks of.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from random import Random
from typing import Any

Spec = Mapping[str, Any]
Row = tuple[tuple[str, int], ...]
Table = tuple[Row, ...]
#: How many rows the tables have that are compared, and how many more those on the way may have.
MOST, MARGIN = 2, 1


class Universe:
    """One behaviour of all maps of a spec with one root, and what its mechanisms lose there."""

    def __init__(self, spec: Spec, seed: int) -> None:
        self.spec = spec
        self.seed = seed
        self.datasets: Mapping[str, Any] = spec["datasets"]
        (self.root,) = (name for name, body in self.datasets.items() if "from" not in body)
        self.columns: list[str] = self.datasets[self.root]["columns"]
        self.rows: dict[str, list[Row]] = {
            self.root: [
                tuple(sorted(zip(self.columns, values, strict=True)))
                for values in product((0, 1), repeat=len(self.columns))
            ]
        }
        self._steps: dict[tuple[str, str, str], dict[Table, list[Table]]] = {}
        self._from: dict[tuple[str, str, str, Table], dict[Table, int]] = {}
        self._made: dict[tuple[str, Table], Table] = {}
        self._of_rows: dict[tuple[str, Row], list[Row]] = {}

    # --- what maps do -----------------------------------------------------------------------------

    def _drawn(self, *what: Any) -> Random:
        return Random(repr((self.seed, *what)))

    def path(self, reads: str) -> list[str]:
        """The datasets from the root down to what is read; a block is `name.block`."""
        found = [reads]
        while found[-1].partition(".")[0] != self.root:
            found.append(self.datasets[found[-1].partition(".")[0]]["from"])
        return found[::-1]

    def made(self, child: str, table: Table) -> Table:
        """What a dataset or a block is, made of its parent."""
        key = (child, table)
        if key not in self._made:
            self._made[key] = tuple(sorted(self._make(child, table)))
        return self._made[key]

    def _make(self, child: str, table: Table) -> Iterable[Row]:
        name, _, block = child.partition(".")
        body = self.datasets[name]
        how = body.get("map") or body["partition"]
        kind = how.get("kind") or how["by"]
        if kind in ("limit", "group"):
            groups: dict[int, list[Row]] = {}
            for row in table:
                groups.setdefault(dict(row)[how.get("per") or how["by"]], []).append(row)
            for key, rows in groups.items():
                if kind == "limit":
                    rows.sort(key=lambda row: (self._drawn(name, row).random(), row))
                    yield from rows[: how["rows"]]
                else:
                    said = self._drawn(name, tuple(sorted(rows))).randrange(3)
                    yield ((how["by"], key), ("new", said))
            return
        for row in table:
            if (child, row) not in self._of_rows:
                self._of_rows[child, row] = [*self._of_row(name, kind, how, block, row)]
            yield from self._of_rows[child, row]

    def _of_row(self, name: str, kind: str, how: Spec, block: str, row: Row) -> Iterator[Row]:
        seen = row if how.get("uses") is None else tuple(c for c in row if c[0] in how["uses"])
        drawn = self._drawn(name, seen)
        kept = tuple(c for c in row if c[0] in how.get("keeps", ()))
        if kind == "filter":
            if drawn.random() < 0.6:
                yield row
        elif kind == "columns":
            yield tuple(c for c in row if c[0] in how["only"])
        elif kind == "row":
            yield tuple(sorted((*kept, ("new", drawn.randrange(3)))))
        elif kind == "flatten":
            most = how["max_rows"]
            for _ in range(most if how.get("exact") else drawn.randint(0, most)):
                yield tuple(sorted((*kept, ("new", drawn.randrange(3)))))
        elif kind == "join-public":
            for i in range(drawn.randint(0, how["max_rows"])):
                yield (*row, ("public", i))
        elif kind == "key":
            if str(dict(row)[how["column"]]) == block:
                yield row
        else:
            assert kind == "value", kind
            if str(drawn.randrange(how["blocks"] + 1)) == block:
                yield row

    def row_type(self, name: str) -> list[Row]:
        """Every row that a dataset can have."""
        if name not in self.rows:
            parent = self.path(name)[-2]
            tables: Iterable[Table] = ((row,) for row in self.row_type(parent))
            how = self.datasets[name.partition(".")[0]].get("map", {})
            if how.get("kind") == "group":
                tables = self.tables(parent, MOST + MARGIN)
            self.rows[name] = sorted({r for t in tables for r in self.made(name, t)})
        return self.rows[name]

    def tables(self, name: str, most: int) -> Iterator[Table]:
        """Every table of a dataset with so many rows at most."""
        for size in range(most + 1):
            yield from combinations_with_replacement(self.row_type(name), size)

    def along(self, names: Sequence[str], table: Table) -> Table:
        """The end of a path of datasets, the first of which is the table's own."""
        for name in names[1:]:
            table = self.made(name, table)
        return table

    # --- neighbours -------------------------------------------------------------------------------

    def _kept(self, relation: Any) -> Callable[[str], bool] | None:
        """Which columns a replaced row keeps; None where rows are added or removed."""
        if relation == "unbounded":
            return None
        said = {"relation": relation} if isinstance(relation, str) else relation
        if "changes" in said:
            return lambda column: column not in said["changes"]
        return lambda column: column in said.get("keeps", ())

    def neighbours(self, name: str, relation: Any, most: int) -> Iterator[tuple[Table, Table]]:
        """Every two tables of a dataset that are one step apart, one way."""
        keeps = self._kept(relation)
        for rest in self.tables(name, most - 1):
            if keeps is None:
                for row in self.row_type(name):
                    yield rest, tuple(sorted((*rest, row)))
                continue
            alike: dict[Row, list[Row]] = {}
            for row in self.row_type(name):
                alike.setdefault(tuple(c for c in row if keeps(c[0])), []).append(row)
            for rows in alike.values():
                for i, one in enumerate(rows):
                    for other in rows[i + 1 :]:
                        yield tuple(sorted((*rest, one))), tuple(sorted((*rest, other)))

    def steps(self, stated_on: str, reads: str, relation: Any, one: Table, other: Table) -> Any:
        """How many steps of a guarantee what is read is apart; None for no number of them."""
        key = (stated_on, reads, repr(relation))
        if key not in self._steps:
            names = self.path(reads)
            names = names[names.index(stated_on) :]
            most = (MOST + MARGIN) * (1 if stated_on == self.root else 2)
            edges: dict[Table, dict[Table, None]] = {}
            for a, b in self.neighbours(stated_on, relation, min(most, 4)):
                here, there = self.along(names, a), self.along(names, b)
                if here != there:
                    edges.setdefault(here, {})[there] = None
                    edges.setdefault(there, {})[here] = None
            self._steps[key] = {each: [*to] for each, to in edges.items()}
        at = (*key, one)
        if at not in self._from:
            found, waiting = {one: 0}, deque([one])
            while waiting:
                here = waiting.popleft()
                for there in self._steps[key].get(here, ()):
                    if there not in found:
                        found[there] = found[here] + 1
                        waiting.append(there)
            self._from[at] = found
        return self._from[at].get(other)

    # --- the truth --------------------------------------------------------------------------------

    def worst(self, protect: Any) -> Fraction | None:
        """The largest sum of losses over neighbouring roots; None if it is not finite."""
        said = {"relation": protect} if isinstance(protect, str) else protect
        worst = 0
        for one, other in self._pairs(said):
            total = 0
            for mechanism in self.spec["mechanisms"]:
                lost = self._lost(mechanism, one, other)
                if lost is None:
                    return None
                total += lost
            worst = max(worst, total)
        return Fraction(worst)

    def _pairs(self, said: Spec) -> Iterator[tuple[Table, Table]]:
        """The roots that are compared: `distance` replaced rows apart."""
        if said.get("distance", 1) == 1:
            yield from self.neighbours(self.root, said, MOST)
            return
        keeps = self._kept(said)
        assert keeps is not None and said["distance"] == MOST

        @cache
        def like(row: Row) -> list[Row]:
            kept = [c for c in row if keeps(c[0])]
            return [r for r in self.row_type(self.root) if [c for c in r if keeps(c[0])] == kept]

        for one in combinations_with_replacement(self.row_type(self.root), MOST):
            for other in product(*map(like, one)):
                yield one, tuple(sorted(other))

    def _lost(self, mechanism: Spec, one: Table, other: Table) -> int | None:
        names = self.path(mechanism["reads"])
        here, there = self.along(names, one), self.along(names, other)
        if here == there:
            return 0
        relation = mechanism.get("relation", self.spec["protect"])
        stated_on = mechanism.get("stated_on", mechanism["reads"])
        needed = self.steps(stated_on, mechanism["reads"], relation, here, there)
        return None if needed is None else int(mechanism["epsilon"]) * int(needed)
