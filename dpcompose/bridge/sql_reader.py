"""A query at its place: what its names mean, where its columns come from, and what it writes.

What looks at one row alone is a map; what looks at several rows of one unit is a root of its own;
what mixes units is refused. Columns are followed through plain renames, so that it is known which
one is the unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, NoReturn

from sqlglot import exp

from dpcompose.bridge.open_spec import Value
from dpcompose.bridge.relations import (
    SOURCE,
    Column,
    Draw,
    Lineage,
    Rank,
    SqlModel,
    SqlRows,
    World,
    key_of,
    parts_of,
)
from dpcompose.bridge.values import Unconvertible
from dpcompose.bridge.writer import name as name_in_yaml
from dpcompose.errors import quoted
from dpcompose.spec.reading import OPEN as TODO

MIXES = "whether a row is here depends on other units"
_SAY_UNIT = "if this column is the unit: --unit, or `unit:` in the answers"
#: What is read of each part of a query; all else that sqlglot finds in one is refused by name.
_READ = {
    exp.Select: "with_ expressions from_ joins laterals where group having qualify order distinct "
    "kind hint",
    exp.Subquery: "with_ this alias order",
    exp.SetOperation: "with_ this expression distinct order",
    exp.Table: "this alias db catalog hints",
    exp.Join: "this on side kind using hint global_",
    exp.Group: "expressions all",
}
#: A WITH has so many queries at most.
_MOST_WITH = 500
#: How parts are called in a refusal; others are called as in SQL.
_UNREAD = {
    "sample": "TABLESAMPLE draws blocks of rows",
    "pivots": "PIVOT",
    "method": "this kind of join",
    "by_name": "UNION BY NAME",
    "connect": "CONNECT BY",
    "match": "MATCH_RECOGNIZE",
}
#: Dialects in which no function in a SELECT list makes several rows of one.
ONE_ROW = frozenset("bigquery snowflake presto trino athena tsql mysql sqlite oracle".split())
_MAKES_ROWS = (exp.UDTF, exp.Explode, exp.GenerateSeries, exp.Inline)
#: What a SELECT is of: nothing special, a claim of the engine, one for groups that are public.
PLAIN, CLAIMED, PUBLIC_GROUPS = "", "claim", "public groups"


class Scope(NamedTuple):
    """What the columns of a SELECT are columns of: tables by their names, and columns of USING."""

    sources: dict[str, SqlRows]
    merged: dict[str, Lineage]


class Definition(NamedTuple):
    """A query of WITH, where it stands, and the names that it gives to its columns."""

    query: exp.Expr
    reader: QueryReader
    names: tuple[str, ...]


class ClauseStep(NamedTuple):
    """What one clause makes of the rows before it: a dataset whose name ends with `suffix`.

    `kind`: the map, None for a root of its own; `cap`: a unit has so many rows at most; `ask`: how
    many rows one row becomes, where it may be several; `others`: further rows that it depends on;
    `mixes`: whether rows of one unit push out those of another.
    """

    suffix: str
    node: exp.Expr
    kind: Value | None = None
    says: str = ""
    cap: int | None = None
    ask: str = ""
    others: tuple[SqlRows, ...] = ()
    mixes: bool = False


@dataclass(frozen=True)
class QueryReader:
    """Reads a query at one place of a model. `name`: how its rows are called; `tables`: those of
    the WITH around it; `claimed`: whether the engine claims a guarantee of its rows; `scope`: what
    its columns are, once FROM was read."""

    world: World
    model: SqlModel
    name: str
    tables: Mapping[str, Definition] = field(default_factory=dict)
    claimed: str = PLAIN
    scope: Scope = field(default_factory=lambda: Scope({}, {}))

    def inside(self, name: str) -> QueryReader:
        """Returns a reader of a query inside of this one."""
        return replace(self, name=name, claimed=PLAIN, scope=Scope({}, {}))

    def refuse(self, node: exp.Expr, says: str, hint: str = "") -> NoReturn:
        """Raises Unconvertible with the file and the line of a part of the query."""
        raise Unconvertible(self.model.where(node), says, hint or None)

    def refuse_mixing(self, node: exp.Expr, says: str, hint: str = "") -> NoReturn:
        """Raises Unconvertible for a part of the query that mixes the rows of several units."""
        self.refuse(node, f"{says}: {MIXES}", hint)

    @property
    def say_unit(self) -> str:
        """Returns the hint to say which column is the unit, empty where that is known."""
        return "" if self.world.unit else _SAY_UNIT

    def key(self, name: exp.Identifier | str) -> str:
        """Returns a name as the engine compares it."""
        return key_of(name, self.model.dialect)

    def dataset(
        self, node: exp.Expr, values: Mapping[str, Value], suffix: str = "", says: str = "",
        asks: Mapping[str, str] = {},
    ) -> str:  # fmt: skip
        """Writes a dataset of the query and returns its name. `says`: what is assumed; `asks`: the
        question behind each TODO."""
        world, model = self.world, self.model
        owner = model if self.name == model.name and model.key else None
        thing = (model, self.name, world.number(node), suffix)
        name = world.called(thing, self.name + suffix, model.name, owner)
        where = model.where(node)
        world.spec.relation(name, values, f"from {where}{says and '; '}{says}", where, asks)
        return name

    def root(self, most: int | None) -> dict[str, Value]:
        """Returns the keys of a root: its unit, and how many rows one unit has, where known."""
        unit: dict[str, Value] = {"unit": name_in_yaml(self.world.shown_unit)}
        return unit if most is None else {**unit, "max_rows_per_unit": str(most)}

    def mapped(
        self, node: exp.Expr, below: SqlRows, kind: Value, suffix: str = "", says: str = "",
        most: int | None = None, asks: Mapping[str, str] = {},
    ) -> SqlRows:  # fmt: skip
        """Returns the relation that a map makes of another one. `most`: the rows of one unit."""
        values: dict[str, Value] = {"from": below.dataset, "map": kind}
        name = self.dataset(node, values, suffix, says, asks)
        if isinstance(kind, Mapping) and kind.get("kind") == "sample":
            self.world.samples[name] = self.model
        return replace(below, dataset=name, most=most)

    def own(
        self, node: exp.Expr, below: SqlRows, most: int | None, suffix: str = "",
        others: Iterable[SqlRows] = (),
    ) -> SqlRows:  # fmt: skip
        """Returns a root of its own, for rows that depend on all rows of their unit alone: those
        `below`, and of `others`."""
        reads = (below, *others)
        if any(each.mixed for each in reads):
            says = "rows of one unit push out those of another above: this is no root of its own"
            self.refuse_mixing(node, says)
        given = self.world.answers.of("max_rows_per_unit", self.name + suffix)
        most = most if given is None else int(given)
        says = "it depends on the rows of each unit alone, so that one step changes this root too: "
        says += "the roots are not disjoint"
        return replace(
            below,
            dataset=self.dataset(node, self.root(most), suffix, says),
            most=most,
            tables=frozenset().union(*(each.tables for each in reads)),
            policies=frozenset().union(*(each.policies for each in reads)),
        )

    def several(self, node: exp.Expr, below: SqlRows, ask: str, suffix: str) -> SqlRows:
        """Returns rows of which one row above gives several; `ask`: the question how many."""
        given = self.world.answers.of("max_rows", self.name + suffix)
        most = None if given is None else int(given)
        kind = {"kind": "flatten", "max_rows": TODO if most is None else str(most)}
        asks = {"max_rows": ask} if most is None else {}
        return self.mapped(node, below, kind, suffix, most=product(below.most, most), asks=asks)

    def after(self, steps: list[ClauseStep], found: SqlRows) -> SqlRows:
        """Returns the relation after some steps; the last one has the name of the query."""
        for number, step in enumerate(steps):
            # A subquery of IN has names of its own below that of the query.
            last = number == len(steps) - 1 and step.suffix != "_in"
            found = self._after(step, found, "" if last else step.suffix)
        return found

    def _after(self, step: ClauseStep, below: SqlRows, suffix: str) -> SqlRows:
        """Returns the relation after one step."""
        if step.ask:
            return self.several(step.node, below, step.ask, suffix)
        if step.kind is None:
            return self.own(step.node, below, below.most, suffix, step.others)
        counts = [each for each in (step.cap, below.most) if each is not None]
        most = min(counts, default=None)
        made = self.mapped(step.node, below, step.kind, suffix, step.says, most)
        return replace(made, mixed=made.mixed or step.mixes)

    def below(self, query: exp.Expr) -> QueryReader:
        """Returns the reader of a query, which knows the tables of its WITH."""
        found: exp.Expr = query.args.get("with_") or exp.With()
        tables = dict(self.tables)
        if len(found.expressions) > _MOST_WITH:
            self.refuse(found, f"WITH has more than {_MOST_WITH} queries")
        for each in found.expressions:
            alias = each.args["alias"]
            own, reader = self.key(alias.this), replace(self.inside(each.alias), tables={**tables})
            named = (one for one in each.this.find_all(exp.Table) if not one.db and one.name)
            if found.args.get("recursive") and any(self.key(one.name) == own for one in named):
                self.refuse_mixing(each, "a recursive WITH")
            tables[own] = Definition(each.this, reader, self.names_of(alias))
        return replace(self, tables=tables, scope=Scope({}, {}))

    def names_of(self, alias: exp.Expr | None) -> tuple[str, ...]:
        """Returns the names that an alias gives to columns."""
        columns = [] if alias is None else alias.args.get("columns") or []
        return tuple(self.key(each) for each in columns)

    def called(self, item: exp.Expr) -> str:
        """Returns the name of a table or subquery in FROM: its alias, else that of the table; empty
        for a subquery without an alias."""
        alias = item.args.get("alias")
        if alias is not None and alias.this:
            return self.key(alias.this)
        named = isinstance(item, exp.Table) and isinstance(item.this, exp.Identifier)
        return self.key(item.this) if named else ""

    def defined(self, table: exp.Expr) -> Definition | None:
        """Returns the query of WITH that a name in FROM means, if it does."""
        plain = isinstance(table, exp.Table) and isinstance(table.this, exp.Identifier)
        return self.tables.get(self.key(table.this)) if plain and not table.args.get("db") else None

    def table(self, table: exp.Table) -> SqlRows:
        """Returns the rows of a table: one of WITH, a model, or one outside of the project."""
        self.no_rest(table)
        if not isinstance(table.this, exp.Identifier):
            return self.function(table, table.this)
        named = self.defined(table)
        if named is not None:
            found = self.world.remembered(
                self.world.number(named.query),
                lambda: self.world.read(named.reader, named.query),
                lambda: self.again(table),
            )
            return self.renamed(found, named.names, table)
        model = self.world.model_of(parts_of(table))
        if model is not None and model is self.model:
            model.own_output = True
            return SqlRows(open=model.name)
        return self.outside(table) if model is None else self.read_model(model)

    def again(self, node: exp.Expr) -> NoReturn:
        """Raises Unconvertible where a query reads itself."""
        self.refuse(node, "the query reads itself")

    def outside(self, table: exp.Table) -> SqlRows:
        """Returns a table outside of the project."""
        world, parts = self.world, parts_of(table)
        plain, schema = parts[-1], parts[-2] if len(parts) > 1 else ""
        names = (".".join(parts), ".".join(parts[-2:]), plain)
        if schema == SOURCE:
            names = (plain, plain.replace("__", ".", 1), plain.partition("__")[2])
        keys = self.one_by(*names)
        name = world.called(("table", parts), plain, schema)
        if world.answers.of("public", *names):
            return SqlRows(open=name, one_by=keys)
        given = world.answers.of("max_rows_per_unit", *names)
        most = None if given is None else int(given)
        most = 1 if world.unit and frozenset({world.unit}) in keys else most
        world.people[name] = plain
        ask = {} if world.unit else {"unit": "which column is the privacy unit (--unit)?"}
        where = self.model.where(table)
        world.spec.relation(name, self.root(most), f"from {where}", where, ask)
        found = SqlRows(name, open=name, most=most, one_by=keys, tables=frozenset({name}))
        return world.charged(found, parts)

    def one_by(self, *names: str) -> tuple[frozenset[str], ...]:
        """Returns sets of columns that no two rows of a relation share."""
        found = self.world.answers.keys_of(*names)
        return tuple(frozenset(self.key(each) for each in one) for one in found)

    def read_model(self, model: SqlModel) -> SqlRows:
        """Returns the rows of a model. What it draws is charged where it is stored, if it is."""
        world, query = self.world, model.query
        reader, before = QueryReader(world, model, model.name), world.drawn
        keys = reader.one_by(model.name)
        if model.public or query is None:
            return SqlRows(open=model.name, one_by=keys)
        if model.inserted:
            says = f"{model.name} is a table that INSERT adds rows to"
            reader.refuse(query, f"{says}: what else it holds is not known")
        if model.error is not None:
            raise model.error
        found = world.remembered(
            model, lambda: world.read(reader, query), lambda: reader.again(query)
        )
        if model.kind != "ephemeral":
            world.drawn = before
        if not found.private:
            return world.charged(replace(found, one_by=(*found.one_by, *keys)), model.key)
        if model.own_output:
            reader.refuse_mixing(query, "it reads rows of several units that it wrote before")
        found = replace(found, one_by=(*found.one_by, *keys))
        if model.kind in ("incremental", "snapshot"):
            # Each run adds rows, so that a unit has more of them than one run gives.
            rows = found
            found = world.remembered(
                (model, "stored"), lambda: reader.own(query, rows, None, "_stored"),
                lambda: reader.again(query),
            )  # fmt: skip
        unit = world.unit or ""
        if frozenset({unit}) in keys and world.is_unit(found.find(unit)[1]):
            found = replace(found, most=1)
        return world.charged(found, model.key)

    def function(self, node: exp.Expr, function: exp.Expr) -> SqlRows:
        """Returns the rows of a function in FROM, which is public where it reads no column."""
        if function.find(exp.Column, exp.Query, exp.Table) is not None:
            self.refuse_mixing(node, "a function in FROM")
        return SqlRows()

    def renamed(self, below: SqlRows, names: tuple[str, ...], node: exp.Expr) -> SqlRows:
        """Returns a relation whose columns have other names, in their order."""
        if not names or not below.private:
            return below
        columns = below.listed()
        if columns is None or len(columns) < len(names):
            self.refuse(node, "columns are renamed whose number is not known here")
        new = [Column(name, each.lineage) for name, each in zip(names, columns, strict=False)]
        return replace(below, columns=(*new, *columns[len(names) :]), open="", one_by=())

    def no_rest(self, node: exp.Expr, more: str = "", less: str = "") -> None:
        """Raises Unconvertible where a node has a part that is not read. `more`, `less`: names of
        parts that are read here, or not."""
        read = next(words for kind, words in _READ.items() if isinstance(node, kind))
        words = {*read.split(), *more.split()} - {*less.split()}
        for word, value in node.args.items():
            if value and word not in words:
                says = _UNREAD.get(word, word.strip("_").replace("_", " ").upper())
                self.refuse_mixing(node, says)

    def lineage(self, node: exp.Expr | None) -> Lineage:
        """Returns where an expression comes from: a column of a table, or a number of rows."""
        node = None if node is None else node.unnest()
        if isinstance(node, exp.Column):
            return self._lineage(node)
        number = isinstance(node, exp.Window) and isinstance(node.this, exp.RowNumber)
        if node is None or not number or node.args.get("alias"):
            return None
        by = tuple(
            Column(
                self.key(each.this) if isinstance(each, exp.Column) else each.sql(),
                self.lineage(each),
            )
            for each in node.args.get("partition_by") or []
        )
        order = node.args.get("order")
        chance = order is not None and order.find(exp.Rand, exp.Randn) is not None
        return Rank(by, "", "random" if chance else "first")

    def _lineage(self, column: exp.Column) -> Lineage:
        """Returns the column of a source table that a column of this query stands for; None where
        it is of no table, or not known."""
        name, sources = self.key(column.this), self.scope.sources
        if column.table:
            source = sources.get(self.key(column.args["table"]))
            return None if source is None else source.find(name)[1]
        if name in self.scope.merged:
            return self.scope.merged[name]
        there = [each for each in sources.values() if each.find(name)[0]]
        if len(sources) > 1:
            sure = [each for each in there if not each.is_open]
            units = (each for each in there if each.private and self.is_unit(each.find(name)[1]))
            there = sure or list(units) or there
        same = {each.find(name)[1] for each in there}
        return same.pop() if len(same) == 1 else None

    def is_unit(self, node: exp.Expr | Lineage) -> bool:
        """Returns whether an expression, or where it comes from, is the privacy unit."""
        return self.world.is_unit(self.lineage(node) if isinstance(node, exp.Expr) else node)

    def by_unit(self, rank: Rank, every: bool = False) -> bool:
        """Returns whether a number of rows is one among those of a unit. `every`: whether it may
        be by nothing else."""
        units = [self.is_unit(each.lineage) for each in rank.by]
        return all(units) if every else any(units)

    def own_row(self, node: exp.Expr, windows: bool = False) -> None:
        """Raises Unconvertible where an expression looks at more than its row and public tables.

        `windows`: whether windows are looked at elsewhere.
        """
        functions = self.world.spec.functions
        for each in node.walk(prune=lambda part: isinstance(part, exp.Query)):
            if isinstance(each, exp.Query):
                if self.subquery(each).private:
                    self.refuse_mixing(each, "a subquery over private rows")
            elif isinstance(each, exp.Window) and not windows:
                self.refuse_mixing(each, "a window")
            elif isinstance(each, exp.Anonymous) and each.name.lower() not in functions:
                functions.append(each.name.lower())
            elif isinstance(each, _MAKES_ROWS):
                self.refuse(each, "it makes several rows of one: write it in FROM")
            elif isinstance(each, exp.Column) and not each.is_star:
                found = self.lineage(each)
                if isinstance(found, Rank) and not self.by_unit(found, every=True):
                    self.refuse_mixing(each, "a number of rows of several units")

    def subquery(self, query: exp.Query) -> SqlRows:
        """Returns the rows of a query in an expression, which may be run for each row. Raises
        Unconvertible where that draws fresh noise each time."""
        drawn = self.world.drawn.copy()
        found = self.world.read(self.inside(f"{self.name}_sub"), query)
        if self.world.drawn != drawn:
            outer = (each for each in query.find_all(exp.Column) if self.may_be_outer(each, query))
            for column in outer:
                says = f"fresh noise for each row: {quoted(column.sql())} may be a column of a "
                says += "table outside of this subquery"
                hint = "join with the noisy rows, or write the subquery's own table in front"
                self.refuse(column, says, hint)
        return found

    def may_be_outer(self, column: exp.Column, query: exp.Query) -> bool:
        """Returns whether a column in a subquery may be one of the tables around the subquery."""
        if not self.scope.sources or column.name in self.model.clauses:
            return False
        if not column.table:
            name = self.key(column.this)
            there = (each.find(name)[0] for each in self.scope.sources.values())
            return not column.is_star and any(there)
        table, hidden = self.key(column.args["table"]), False
        below: exp.Expr = column
        while below is not query and below.parent is not None:
            # A query in FROM or in WITH does not see the other tables of that FROM.
            derived = isinstance(below.parent, exp.From | exp.Join | exp.CTE)
            hidden = hidden or (derived and isinstance(below, exp.Query))
            below = below.parent
            if isinstance(below, exp.Query):
                if not hidden and table in map(self.called, items_of(below)):
                    return False
                hidden = False
        return True

    def read_rest(self, query: exp.Expr) -> None:
        """Raises Unconvertible where some subquery that reads private rows was met by no clause of
        the conversion, so that its rows would not be counted."""
        skip = (exp.Query, exp.With)
        for each in query.walk(prune=lambda part: part is not query and isinstance(part, skip)):
            inner = isinstance(each, exp.Query) and each is not query
            if inner and self.world.number(each) not in self.world.seen:
                self.own_row(each)


def draw(
    reader: QueryReader, values: Mapping[str, Value], says: str, where: str, name: str = "",
    asks: Mapping[str, str] = {},
) -> None:  # fmt: skip
    """Notes a mechanism that a query draws, named by its model unless `name` is given."""
    reader.world.draw(Draw(name or reader.model.name, values, says, where, asks))


def product(one: int | None, two: int | None) -> int | None:
    """Returns the product of two numbers, None where one is not known."""
    return None if one is None or two is None else one * two


def conjuncts(test: exp.Expr | None) -> list[exp.Expr]:
    """Returns the conditions that AND joins."""
    test = None if test is None else test.unnest()
    return [] if test is None else list(test.flatten()) if isinstance(test, exp.And) else [test]


def is_aggregate(query: exp.Select) -> bool:
    """Returns whether a SELECT aggregates rows itself, not in a window or a subquery."""
    if query.args.get("group") is not None or query.args.get("having") is not None:
        return True
    waiting: list[exp.Expr] = list(query.expressions)
    while waiting:
        each = waiting.pop()
        if isinstance(each, exp.AggFunc):
            return True
        if isinstance(each, exp.Window):
            waiting += [*each.this.iter_expressions(), *(each.args.get("partition_by") or ())]
        elif not isinstance(each, exp.Query):
            waiting += each.iter_expressions()
    return False


def items_of(query: exp.Expr) -> list[exp.Expr]:
    """Returns the items of FROM of a query: tables, queries and functions."""
    first = query.args.get("from_")
    joins = (each.this for each in query.args.get("joins") or ())
    return [*([] if first is None else [first.this]), *joins, *(query.args.get("laterals") or ())]
