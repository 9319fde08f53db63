"""What each clause of a query makes of the rows of each unit, read off sqlglot's trees.

A clause that looks at one row alone is a map; one that looks at several rows of one unit is a root
of its own; one that mixes units is refused. Columns are followed through plain renames, so that it
is known which one is the unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, NoReturn

from sqlglot import exp

from dpcompose.bridge.open_spec import Value
from dpcompose.bridge.relations import (
    SOURCE,
    Column,
    Draw,
    Lineage,
    Origin,
    Rank,
    SqlModel,
    SqlRows,
    Star,
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
#: Dialects whose RAND() is drawn for each row, uniform from 0 to 1; in others it is a whole number,
#: or one for the whole query. Without a dialect that is assumed, and printed.
_UNIFORM = frozenset(
    " bigquery googlesql duckdb postgres redshift presto trino athena spark databricks mysql".split(
        " "
    )
)
#: How `a < b` and `a <= b` are written with the sides exchanged.
_EXCHANGED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
}


class Scope(NamedTuple):
    """What the columns of a SELECT are columns of: tables by their names, and columns of USING."""

    sources: dict[str, SqlRows]
    merged: dict[str, Lineage]


class Definition(NamedTuple):
    """A query of WITH, where it stands, and the names that it gives to its columns."""

    query: exp.Expr
    reader: Reader
    names: tuple[str, ...]


class Equality(NamedTuple):
    """Two columns that a join makes equal, that of the right table second."""

    left: Column
    right: Column


class Comparison(NamedTuple):
    """A comparison of an expression with a number or a text."""

    kind: type[exp.Expr]
    left: exp.Expr
    right: exp.Literal


class Step(NamedTuple):
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
class Reader:
    """Reads a query at one place of a model. `name`: how its rows are called; `tables`: those of
    the WITH around it; `claimed`: whether the engine claims a guarantee of its rows; `scope`: what
    its columns are, once FROM was read."""

    world: World
    model: SqlModel
    name: str
    tables: Mapping[str, Definition] = field(default_factory=dict)
    claimed: str = PLAIN
    scope: Scope = field(default_factory=lambda: Scope({}, {}))

    def inside(self, name: str) -> Reader:
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

    # --- datasets ---

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

    def after(self, steps: list[Step], found: SqlRows) -> SqlRows:
        """Returns the relation after some steps; the last one has the name of the query."""
        for number, step in enumerate(steps):
            # A subquery of IN has names of its own below that of the query.
            last = number == len(steps) - 1 and step.suffix != "_in"
            found = self._after(step, found, "" if last else step.suffix)
        return found

    def _after(self, step: Step, below: SqlRows, suffix: str) -> SqlRows:
        """Returns the relation after one step."""
        if step.ask:
            return self.several(step.node, below, step.ask, suffix)
        if step.kind is None:
            return self.own(step.node, below, below.most, suffix, step.others)
        counts = [each for each in (step.cap, below.most) if each is not None]
        most = min(counts, default=None)
        made = self.mapped(step.node, below, step.kind, suffix, step.says, most)
        return replace(made, mixed=made.mixed or step.mixes)

    # --- tables ---

    def below(self, query: exp.Expr) -> Reader:
        """Returns the reader of a query, which knows the tables of its WITH."""
        found: exp.Expr = query.args.get("with_") or exp.With()
        tables = dict(self.tables)
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
        """Returns how an item of FROM is called: by its alias, or as its table; empty without."""
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
                lambda: named.reader.relation(named.query),
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
        reader, before = Reader(world, model, model.name), world.drawn
        keys = reader.one_by(model.name)
        if model.public or query is None:
            return SqlRows(open=model.name, one_by=keys)
        if model.inserted:
            says = f"{model.name} is a table that INSERT adds rows to"
            reader.refuse(query, f"{says}: what else it holds is not known")
        if model.error is not None:
            raise model.error
        found = world.remembered(model, lambda: reader.relation(query), lambda: reader.again(query))
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

    # --- where the unit comes from ---

    def at(self, part: exp.Expr) -> Reader:
        """Returns the reader of a part of the model's query."""
        reader, above = self, [part]
        while above[-1].parent is not None and above[-1] is not self.model.query:
            above.append(above[-1].parent)
        for each in reversed(above):
            if isinstance(each, exp.CTE):
                reader = reader.tables[self.key(each.args["alias"].this)].reader
            elif isinstance(each, exp.Query):
                reader = reader.below(each)
        return reader

    def origins_of(self, column: exp.Column, query: exp.Select) -> set[str]:
        """Returns the names that a column of a SELECT has in the tables outside of the project."""
        table = column.args.get("table")
        return self.origins(self.key(column.this), self.key(table) if table else "", query)

    def origins(self, name: str, table: str, query: exp.Select) -> set[str]:
        """Returns the names that a column of a SELECT has in the tables outside of the project.
        `table`: how its table is called in FROM, empty where that is not said."""
        found = set[str]()
        for each in items_of(query):
            if table and self.called(each) != table:
                continue
            named = self.defined(each)
            if isinstance(each, exp.Subquery):
                found |= self.shown_origins(name, each)
            elif named is not None:
                found |= named.reader.shown_origins(name, named.query)
            elif isinstance(each, exp.Table) and isinstance(each.this, exp.Identifier):
                model = self.world.model_of(parts_of(each))
                if model is not None and model is not self.model:
                    inner = Reader(self.world, model, model.name)
                    public = model.query is None or model.public
                    found |= set() if public else inner.shown_origins(name, model.query)
                elif not self.world.answers.of("public", ".".join(parts_of(each)), each.name):
                    found.add(name)
        return found

    def shown_origins(self, name: str, query: exp.Expr | None) -> set[str]:
        """Returns the names that a column which a query shows has in these tables."""
        if query is None:
            return set()
        reader = self.below(query)
        if isinstance(query, exp.Subquery):
            return reader.shown_origins(name, query.this)
        if isinstance(query, exp.SetOperation):
            return reader.shown_origins(name, query.this) | reader.shown_origins(
                name, query.expression
            )
        found = set[str]()
        if not isinstance(query, exp.Select):
            return found
        for each in query.expressions:
            inner = each.unalias().unnest()
            table = inner.args.get("table") if isinstance(inner, exp.Column) else None
            key = "" if table is None else self.key(table)
            if isinstance(inner, exp.Column | exp.Star) and inner.is_star:
                found |= reader.origins(name, key, query)
            elif isinstance(inner, exp.Column) and name == self.key(
                each.args.get("alias") or inner.this
            ):
                return reader.origins(self.key(inner.this), key, query)
        return found

    # --- columns ---

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
        """Returns where a column comes from."""
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
        found = self.inside(f"{self.name}_sub").relation(query)
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
        """Raises Unconvertible where a query has a part that reads private rows, and that nothing
        has read: no place of a query is left out."""
        skip = (exp.Query, exp.With)
        for each in query.walk(prune=lambda part: part is not query and isinstance(part, skip)):
            inner = isinstance(each, exp.Query) and each is not query
            if inner and self.world.number(each) not in self.world.seen:
                self.own_row(each)

    # --- queries ---

    def relation(self, query: exp.Expr) -> SqlRows:
        """Returns the rows of a query. Raises Unconvertible."""
        self.world.seen.add(self.world.number(query))
        reader = self.below(query)
        if isinstance(query, exp.Subquery):
            self.no_rest(query)
            found = reader.relation(query.this)
            reader.read_rest(query)
            return found
        if isinstance(query, exp.Select):
            return reader.select(query)
        if isinstance(query, exp.SetOperation):
            return reader.set_operation(query)
        if isinstance(query, exp.Values):
            return SqlRows()
        self.refuse(query, f"{query.key.upper()} is not read here")

    def select(self, query: exp.Select) -> SqlRows:
        """Returns the rows of a SELECT. Raises Unconvertible."""
        if self.model.clause_of(query) is not None:
            return self.world.claim(self, query)
        found, conditions = self.sources(query)
        shown = SqlRows(columns=tuple(self.columns(query)))
        if not found.private:
            self.read_public(query)
            return replace(shown, one_by=self.kept_keys(query, found, shown))
        self.no_rest(query)
        steps = [*self.where(conditions, found), *self.grouped(query, shown)]
        found = self.after([*steps, *self.qualified(query, shown)], found)
        self.read_rest(query)
        columns = tuple(self.numbered(each, found.dataset) for each in shown.columns)
        return replace(found, columns=columns, open="", nullable=False)

    def numbered(self, each: Column | Star, dataset: str) -> Column | Star:
        """Returns a column; of a number of rows it is known which dataset was numbered."""
        if isinstance(each, Star) or not isinstance(each.lineage, Rank):
            return each
        return each._replace(lineage=each.lineage._replace(on=each.lineage.on or dataset))

    def read_public(self, query: exp.Select) -> None:
        """Raises Unconvertible where a query over public tables reads private rows elsewhere."""
        for each in query.iter_expressions():
            if not isinstance(each, exp.From | exp.With | exp.Join | exp.Lateral):
                self.own_row(each, windows=True)
        self.read_rest(query)

    def kept_keys(
        self, query: exp.Select, found: SqlRows, shown: SqlRows
    ) -> tuple[frozenset[str], ...]:
        """Returns the sets of columns that no two rows of a query over one public table share."""
        if query.args.get("joins") or query.args.get("laterals"):
            return ()
        names = {
            each.lineage.column: each.name
            for each in shown.columns
            if isinstance(each, Column) and isinstance(each.lineage, Origin)
        }
        kept = (each for each in found.one_by if shown.stars or each <= names.keys())
        return tuple(frozenset(names.get(key, key) for key in each) for each in kept)

    def columns(self, query: exp.Select) -> Iterator[Column | Star]:
        """Yields the columns of a SELECT."""
        for number, each in enumerate(query.expressions):
            inner = each.unalias()
            star = inner.this if isinstance(inner, exp.Column) else inner
            if isinstance(star, exp.Star):
                yield from self.star(star, inner.args.get("table"))
                continue
            named = each.args["alias"] if isinstance(each, exp.Alias) else None
            named = each.this if isinstance(each, exp.Column) else named
            # A column without a name is found by nobody.
            yield Column(f" {number}" if named is None else self.key(named), self.lineage(inner))

    def star(self, star: exp.Star, table: exp.Identifier | None) -> Iterator[Column | Star]:
        """Yields the columns that * means, of all tables or of one."""
        if star.args.get("rename"):
            self.refuse(star, "* RENAME is not read here: name the columns")
        replaced = [self.key(one.alias) for one in star.args.get("replace") or ()]
        less = {self.key(one.name) for one in star.args.get("except_") or ()} | {*replaced}
        yield from (Column(each, None) for each in replaced)
        if table is None:
            merged = self.scope.merged.items()
            yield from (Column(name, one) for name, one in merged if name not in less)
        wanted = None if table is None else self.key(table)
        for name, rows in self.scope.sources.items():
            if wanted in (None, name):
                yield Star(rows, frozenset(less))

    # --- FROM ---

    def sources(self, query: exp.Select) -> tuple[SqlRows, list[exp.Expr]]:
        """Returns the joined rows of FROM and the conditions of WHERE; the columns of FROM are
        added to the scope."""
        where, first = query.args.get("where"), query.args.get("from_")
        conditions = conjuncts(None if where is None else where.this)
        if first is None:
            return SqlRows(), conditions
        found = self.source(first.this)
        joins = [*(query.args.get("joins") or ()), *(query.args.get("laterals") or ())]
        for number, each in enumerate(joins):
            suffix = "_joined" if not number else f"_joined_{number + 1}"
            found = self.join(found, each, conditions, suffix)
        return found, conditions

    def source(self, node: exp.Expr) -> SqlRows:
        """Returns one item of FROM, and adds its columns to the scope."""
        alias = node.args.get("alias")
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
            self.world.seen.add(self.world.number(node))
            self.no_rest(node)
            node = node.this
        if isinstance(node, exp.Table):
            found = self.table(node)
        elif isinstance(node, exp.Subquery):
            found = self.inside(f"{self.name}_in").relation(node)
        elif isinstance(node, exp.Values):
            found = SqlRows()
        else:
            found = self.function(node, node)
        found = self.renamed(found, self.names_of(alias), node)
        name = self.key(alias.this) if alias is not None and alias.this else self.called(node)
        name = name or f" {len(self.scope.sources)}"
        if name in self.scope.sources:
            self.refuse(node, f"two tables are called {quoted(name)} here")
        self.scope.sources[name] = found
        return found

    def join(
        self, left: SqlRows, join: exp.Expr, conditions: list[exp.Expr], suffix: str
    ) -> SqlRows:
        """Returns the rows of a join. `conditions`: those of WHERE."""
        if isinstance(join, exp.Lateral) or isinstance(join.this, exp.Unnest | exp.Lateral):
            return self.unnest(left, join, suffix)
        side, kind = (join.args.get(each) or "" for each in ("side", "kind"))
        self.no_rest(join)
        if kind not in ("", "INNER", "OUTER", "CROSS"):
            self.refuse_mixing(join, f"a {kind} join")
        before = dict(self.scope.sources)
        right = self.source(join.this)
        name = next(each for each in self.scope.sources if each not in before)
        tests, using = conjuncts(join.args.get("on")), join.args.get("using") or ()
        for each in tests:
            self.own_row(each)
        equal = [self.equality(each, name) for each in (*tests, *(() if side else conditions))]
        equal += [self.using(each, before, right, side) for each in using]
        pairs = [each for each in equal if each is not None]
        # Columns of a side that may be missing are no unit: all rows without a match share NULL.
        missing = {"LEFT": [name], "RIGHT": [*before], "FULL": [*self.scope.sources]}
        for title in missing.get(side, ()):
            self.scope.sources[title] = replace(self.scope.sources[title], nullable=True)
        if not left.private and not right.private:
            return left
        if left.private and right.private:
            return self.join_private(left, right, pairs, join, suffix)
        keeps = side == "FULL" or side == ("RIGHT" if left.private else "LEFT")
        if keeps and self.claimed != PUBLIC_GROUPS:
            says = "the join keeps unmatched public rows: which ones depends on all units"
            self.refuse(join, says, "keep those of the private side alone")
        alone = len(tests) == 1 or len(using) == 1
        private, public = (left, right) if left.private else (right, left)
        ends = [each if left.private else Equality(each.right, each.left) for each in pairs]
        return self.join_public(private, public, ends, alone, join, suffix)

    def equality(self, test: exp.Expr, right: str) -> Equality | None:
        """Returns the columns that a condition makes equal, that of the table `right` second; None
        for another condition."""
        test = test.unnest()
        sides = [test.left.unnest(), test.right.unnest()] if isinstance(test, exp.EQ) else []
        if not sides or not all(isinstance(each, exp.Column) for each in sides):
            return None
        one, two = (Column(self.key(each.this), self.lineage(each)) for each in sides)
        there, here = (self.may_be_of(each, right) for each in sides)  # type: ignore[arg-type]
        if there == here:
            return None
        return Equality(two, one) if there else Equality(one, two)

    def may_be_of(self, column: exp.Column, table: str) -> bool:
        """Returns whether a column may be one of a table of FROM."""
        if column.table:
            return self.key(column.args["table"]) == table
        return self.scope.sources[table].find(self.key(column.this))[0]

    def using(
        self, column: exp.Identifier, before: dict[str, SqlRows], right: SqlRows, side: str
    ) -> Equality:
        """Returns the columns that USING makes equal, and adds the one that it shows to the scope.
        `before`: the tables on the left."""
        name = self.key(column)
        left = replace(self, scope=Scope(before, self.scope.merged))
        one, two = left.lineage(exp.column(column.copy())), right.find(name)[1]
        both = self.is_unit(one) and self.is_unit(two)
        kept = two if side == "RIGHT" else one if side != "FULL" or both else None
        self.scope.merged[name] = kept
        return Equality(Column(name, one), Column(name, two))

    def join_private(
        self, left: SqlRows, right: SqlRows, pairs: list[Equality], join: exp.Expr, suffix: str
    ) -> SqlRows:
        """Returns the rows of two private tables joined on the unit."""
        if not any(self.is_unit(a.lineage) and self.is_unit(b.lineage) for a, b in pairs):
            unit = self.world.unit
            says = f"a join of private rows that is not on {quoted(unit) if unit else 'the unit'}"
            hint = "a table that is nobody's data: `public: true` in the answers"
            self.refuse_mixing(join, says, self.say_unit or hint)
        most, side = product(left.most, right.most), join.args.get("side") or ""
        if left.most is not None and right.most is not None and most is not None:
            most = max(most, left.most, right.most) if side else most
            most = max(most, left.most + right.most) if side == "FULL" else most
        return replace(self.own(join, left, most, suffix, [right]), one_by=())

    def join_public(
        self, private: SqlRows, public: SqlRows, pairs: list[Equality], alone: bool,
        join: exp.Expr, suffix: str,
    ) -> SqlRows:  # fmt: skip
        """Returns private rows, each joined with rows of a public table, where the first column of
        each of `pairs` equals the second one; `alone`: one condition alone."""
        keys = {each.right.name for each in pairs}
        table = public.open or self.name + suffix
        given = self.world.answers.of("max_rows", table)
        most = None if given is None else int(given)
        most = 1 if any(each <= keys for each in public.one_by) else most
        kind: dict[str, Value] = {"kind": "join-public"}
        kind["max_rows"] = TODO if most is None else str(most)
        if alone and len(pairs) == 1:
            kind["column"] = name_in_yaml(pairs[0].left.name)
        ask = f"how many rows of {table} does one row get at most?"
        asks = {"max_rows": ask} if most is None else {}
        return self.mapped(join, private, kind, suffix, most=product(private.most, most), asks=asks)

    def unnest(self, left: SqlRows, join: exp.Expr, suffix: str) -> SqlRows:
        """Returns rows with the items of an array."""
        lateral = join if isinstance(join, exp.Lateral) else join.this
        node = lateral.this if isinstance(lateral, exp.Lateral) else lateral
        if isinstance(node, exp.Query) or node.find(exp.Query) is not None:
            self.refuse_mixing(join, "a lateral subquery")
        if join.args.get("side") in ("RIGHT", "FULL") and self.claimed != PUBLIC_GROUPS:
            self.refuse(join, "the join keeps unmatched items")
        alias = lateral.args.get("alias")
        name = self.key(alias.this) if alias is not None and alias.this else ""
        names = [each for each in (name, *self.names_of(alias)) if each]
        items = SqlRows(columns=tuple(Column(each, None) for each in names))
        self.scope.sources[name or f" {len(self.scope.sources)}"] = items
        if not left.private:
            return left
        if self.claimed:
            return self.own(join, left, None, suffix)
        return self.several(join, left, "how many items has the array of one row at most?", suffix)

    # --- WHERE ---

    def where(self, conditions: list[exp.Expr], found: SqlRows) -> list[Step]:
        """Returns the steps of the conditions of WHERE."""
        caps, others, plain = list[Step](), list[Step](), list[exp.Expr]()
        for each in conditions:
            number = self.number_of(each)
            rate = rate_of(each) if self.model.dialect in _UNIFORM else None
            if number is not None and number[0].on == found.dataset:
                caps.append(self.capped(each, *number))
            elif (
                isinstance(each, exp.In)
                and each.args.get("query") is not None
                and self.is_unit(each.this)
            ):
                others.append(self.within(each))
            elif rate is not None:
                says = "assumed: RAND() is drawn for each row, uniform from 0 to 1"
                others.append(Step("_sample", each, {"kind": "sample", "poisson": rate}, says))
            else:
                self.own_row(each)
                lineages = map(self.lineage, each.find_all(exp.Column))
                if any(isinstance(one, Rank) for one in lineages):
                    others.append(Step("_windows", each))
                elif not any(
                    self.world.models.get(parts_of(one)) is self.model
                    for one in each.find_all(exp.Table)
                ):
                    plain.append(each)  # else by what it wrote before, on any run or none
        return [*caps, *others, *(Step("_where", each, "filter") for each in plain[:1])]

    def within(self, node: exp.In) -> Step:
        """Returns the step of rows whose unit another query has as well."""
        spec = self.world.spec
        before = set(spec.datasets)
        inner = self.subquery(node.args["query"])
        for each in spec.datasets.keys() - before - self.world.people.keys():
            del spec.datasets[each]  # it only says which units are there
        if not inner.private:
            return Step("_in", node, "filter")
        if len(inner.columns) != 1 or inner.stars or not self.world.shows_unit(inner):
            self.refuse_mixing(node, "a subquery over private rows that gives no unit")
        return Step("_in", node, others=(inner,))

    def number_of(self, test: exp.Expr, shown: SqlRows | None = None) -> tuple[Rank, int] | None:
        """Returns what a condition such as `rn <= 3` keeps: which number of rows, and how many.
        `shown`: the columns of the SELECT, whose names QUALIFY knows."""
        found = comparison(test)
        if found is None or found.kind not in (exp.LT, exp.LTE, exp.EQ) or not found.right.is_int:
            return None
        left, rank = found.left, self.lineage(found.left)
        if rank is None and shown is not None and isinstance(left, exp.Column) and not left.table:
            rank = shown.named(self.key(left.this))
        most = int(found.right.name) - (found.kind is exp.LT)
        if not isinstance(rank, Rank) or most < 1 or (found.kind is exp.EQ and most != 1):
            return None
        return rank, most

    def capped(self, node: exp.Expr, rank: Rank, most: int) -> Step:
        """Returns the step of the first rows of each unit, or of each value of other columns."""
        if len(rank.by) == 1 and self.by_unit(rank):
            kind: Value = {"kind": "cap", "rows": str(most), "keep": rank.keep}
            says = "assumed: no row of another unit decides a tie of the order"
            return Step("_cap", node, kind, says, cap=most)
        if self.by_unit(rank):
            return Step("_cap", node)
        if not rank.by:
            self.refuse_mixing(node, "the first rows of all units together")
        per = name_in_yaml(", ".join(each.name for each in rank.by))
        kind = {"kind": "limit", "per": per, "rows": str(most), "keep": rank.keep}
        says = "rows of one unit push out those of another"
        says += f"; {self.say_unit}" if self.say_unit else ""
        return Step("_cap", node, kind, says, mixes=True)

    # --- GROUP BY, DISTINCT, QUALIFY ---

    def grouped(self, query: exp.Select, shown: SqlRows) -> Iterator[Step]:
        """Yields the steps of GROUP BY, HAVING and DISTINCT inside of a query, and of functions
        that may make several rows."""
        aggregated, having = is_aggregate(query), query.args.get("having")
        for each in query.expressions:
            self.own_row(each, windows=True)
        if aggregated:
            keys = [self.is_unit(each) for each in self.keys(query)]
            if not any(keys):
                says = "an aggregate over several units inside of a query"
                self.refuse_mixing(query, says, self.say_unit)
            yield self.one_for_each_unit("_grouped", query, alone=len(keys) == 1)
            if having is not None:
                self.own_row(having.this)
                yield Step("_having", having, "filter")
        elif any(each.find(exp.Anonymous, exp.AnonymousAggFunc) for each in query.expressions):
            inner = (each.unalias() for each in query.expressions)
            if not any(isinstance(each, exp.Column | exp.Star) for each in inner):
                self.refuse(query, "a function that is not known here may look at several rows")
            if self.model.dialect not in ONE_ROW:
                ask = "how many rows does a function of the SELECT list make of one?"
                yield Step("_called", query, ask=ask)
        distinct = query.args.get("distinct")
        on = distinct.args.get("on") if isinstance(distinct, exp.Distinct) else None
        if on is not None:
            if [self.is_unit(each) for each in on.expressions] != [True] or aggregated:
                self.refuse_mixing(query, "DISTINCT ON other columns than the unit")
            kind: Value = {"kind": "cap", "rows": "1", "keep": "first"}
            yield Step("_distinct", query, kind, cap=1)
        elif isinstance(distinct, exp.Distinct) and not aggregated:
            if not self.world.shows_unit(shown):
                self.refuse_mixing(query, "DISTINCT without the unit")
            alone = len(shown.columns) == 1 and not shown.stars
            yield self.one_for_each_unit("_distinct", query, alone)

    def one_for_each_unit(self, suffix: str, query: exp.Expr, alone: bool) -> Step:
        """Returns the step to one row for each unit (`alone`), or for each unit and more."""
        kind = {"kind": "group", "by": name_in_yaml(self.world.shown_unit)} if alone else None
        return Step(suffix, query, kind, cap=1 if alone else None)

    def keys(self, query: exp.Select) -> list[exp.Expr]:
        """Returns what a SELECT groups by; numbers and names of its columns stand for these."""
        group = query.args.get("group")
        if group is None:
            return []
        self.no_rest(group)
        if group.args.get("all"):
            return [each.unalias() for each in query.expressions if not each.find(exp.AggFunc)]
        named = {each.alias.lower(): each.unalias() for each in query.expressions if each.alias}
        found: list[exp.Expr] = []
        for each in group.expressions:
            inner = each.unnest()
            if isinstance(inner, exp.Literal) and inner.is_int:
                if not 0 < int(inner.name) <= len(query.expressions):
                    self.refuse(each, f"there is no column {inner.name}")
                inner = query.expressions[int(inner.name) - 1].unalias()
            elif isinstance(inner, exp.Column) and not inner.table:
                inner = named.get(inner.name.lower(), inner)
            found += inner.expressions if isinstance(inner, exp.Tuple) else [inner]
        return [each.unnest() for each in found]

    def qualified(self, query: exp.Select, shown: SqlRows) -> list[Step]:
        """Returns the steps of the windows of a query, and of QUALIFY."""
        qualify = query.args.get("qualify")
        tests = conjuncts(None if qualify is None else qualify.this)
        windows = [each for item in query.expressions for each in item.find_all(exp.Window)]
        if is_aggregate(query) and (qualify is not None or windows):
            self.refuse_mixing(query, "a window over aggregates")
        numbers = [self.number_of(each, shown) for each in tests]
        rest = [each for each, number in zip(tests, numbers, strict=True) if number is None]
        # A number of rows that is only shown matters where it is used.
        lazy = [each.unalias().unnest() for each in query.expressions]
        lazy = [each for each in lazy if isinstance(self.lineage(each), Rank)]
        windows = [each for each in windows if not any(each is one for one in lazy)]
        windows += [each for test in rest for each in test.find_all(exp.Window)]
        for window in windows:
            if isinstance(window.this, exp.Rank | exp.DenseRank):
                self.refuse(window, "RANK has ties: use ROW_NUMBER")
            if not any(map(self.is_unit, window.args.get("partition_by") or ())):
                self.refuse_mixing(window, "a window over several units", self.say_unit)
        for each in tests:
            self.own_row(each, windows=True)
        for each in rest:
            ranks = (shown.named(self.key(one.this)) for one in each.find_all(exp.Column))
            if any(isinstance(one, Rank) and not self.by_unit(one) for one in ranks):
                self.refuse_mixing(each, "a number of rows of several units")
        caps = zip(tests, numbers, strict=True)
        return [
            *([Step("_windows", query)] if windows or rest else []),
            *(self.capped(each, *number) for each, number in caps if number is not None),
        ]

    # --- UNION ---

    def set_operation(self, query: exp.SetOperation) -> SqlRows:
        """Returns the rows of UNION, EXCEPT or INTERSECT."""
        branches = [(query.this, "_l"), (query.expression, "_r")]
        while isinstance(query, exp.Union) and is_chained(query, branches[0][0]):
            inner, suffix = branches[0][0].unnest(), branches[0][1]
            branches[:1] = [(inner.this, f"{suffix}_l"), (inner.expression, f"{suffix}_r")]
        found = [self.inside(self.name + suffix).relation(each) for each, suffix in branches]
        private = [each for each in found if each.private]
        for one, _ in branches:  # of a chain of UNION, those between are read as well
            above: exp.Expr | None = one.parent
            while above is not None and above is not query.parent:
                self.world.seen.add(self.world.number(above))
                self.read_rest(above)
                if private:
                    self.no_rest(above)
                above = above.parent
        if not private:
            return SqlRows()
        if len(private) < len(found):
            self.refuse(query, "private rows and public ones in one table: whose rows are they?")
        shown = SqlRows(columns=self.columns_in_all(found))
        is_union = isinstance(query, exp.Union)
        if (not is_union or query.args.get("distinct")) and not self.world.shows_unit(shown):
            says = f"{query.key.upper()} without the unit, or with * of unknown columns"
            self.refuse_mixing(query, says, "name the columns")
        counts = [each.most for each in found if each.most is not None]
        most = sum(counts) if len(counts) == len(found) else None
        made = self.own(query, found[0], most if is_union else found[0].most, others=found[1:])
        return replace(made, columns=shown.columns, open="", one_by=(), nullable=False)

    def columns_in_all(self, found: list[SqlRows]) -> tuple[Column | Star, ...]:
        """Returns the columns of queries that are put below each other: of each it is known only
        whether it is the unit in all of them."""
        listed = [each.listed() for each in found]
        first = listed[0] or []
        if all(each is not None and len(each) == len(first) for each in listed):
            units = [
                all(self.is_unit(each[at].lineage) for each in listed if each)
                for at in range(len(first))
            ]
            return tuple(
                Column(each.name, each.lineage if unit else None)
                for each, unit in zip(first, units, strict=True)
            )
        same = all((each.columns, each.open) == (found[0].columns, found[0].open) for each in found)
        return (found[0].columns or (Star(found[0], frozenset()),)) if same else ()


def draw(
    reader: Reader, values: Mapping[str, Value], says: str, where: str, name: str = "",
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


def is_chained(query: exp.Union, branch: exp.Expr) -> bool:
    """Returns whether the first branch of a UNION is one of the same kind."""
    inner = branch.unnest()
    if not isinstance(inner, exp.Union) or branch.args.get("with_"):
        return False
    return bool(inner.args.get("distinct")) == bool(query.args.get("distinct"))


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


def comparison(test: exp.Expr) -> Comparison | None:
    """Returns a comparison with a number on the right, None for another condition."""
    test = test.unnest()
    if not isinstance(test, exp.LT | exp.LTE | exp.GT | exp.GTE | exp.EQ):
        return None
    kind: type[exp.Expr] = type(test)
    left, right = test.left.unnest(), test.right.unnest()
    if isinstance(left, exp.Literal):
        left, right, kind = right, left, _EXCHANGED.get(kind, kind)
    return Comparison(kind, left, right) if isinstance(right, exp.Literal) else None


def rate_of(test: exp.Expr) -> str | None:
    """Returns the chance of `RAND() < q`, None for another condition."""
    found = comparison(test)
    if found is None or found.kind not in (exp.LT, exp.LTE):
        return None
    chance, left = found.right, found.left
    if type(left) is not exp.Rand or left.this or not chance.is_number or float(chance.name) >= 1:
        return None
    return chance.name


def items_of(query: exp.Expr) -> list[exp.Expr]:
    """Returns the items of FROM of a query: tables, queries and functions."""
    first = query.args.get("from_")
    joins = (each.this for each in query.args.get("joins") or ())
    return [*([] if first is None else [first.this]), *joins, *(query.args.get("laterals") or ())]
