"""What SQL makes of the rows of each unit: queries as datasets of a spec, with sqlglot's trees.

A query that looks at one row alone is a map; one that looks at several rows of one unit is a root
of its own; one that mixes units is refused. Columns are followed through plain renames, so that it
is known which one is the unit. Nothing is run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, NoReturn, TypeAlias

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect, NormalizationStrategy

from dpcompose.bridge.open_spec import OpenSpec, Value
from dpcompose.bridge.sql_answers import Answers
from dpcompose.bridge.values import Unconvertible
from dpcompose.bridge.writer import name as name_in_yaml
from dpcompose.errors import quoted
from dpcompose.spec.reading import OPEN as TODO

_MIXES = "whether a row is here depends on other units"
_SAY_UNIT = "if this column is the unit: --unit, or `unit:` in the answers"
#: Dialects in which no function in a SELECT list makes several rows of one.
_ONE_ROW = frozenset("bigquery snowflake presto trino athena tsql mysql sqlite oracle".split())
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
_RANDOM = (exp.Rand, exp.Randn)


class Origin(NamedTuple):
    """A column of a table outside of the project."""

    table: str
    column: str


class Rank(NamedTuple):
    """The number of a row among those with the same values of some columns, as ROW_NUMBER has it.

    `by`: these columns; `on`: the dataset that was numbered; `keep`: which rows are first.
    """

    by: tuple[tuple[str, Lineage], ...]
    on: str
    keep: str


Lineage = Origin | Rank | None
#: The schemas by which models and sources of dbt are named in its queries.
DBT, SOURCE = "dbt", "dbt_source"


@dataclass(frozen=True)
class SqlRows:
    """Rows that a query gives. `dataset`: their name in the spec, empty where they are public.

    `columns`: each by its name, or the columns of another relation less some. `open`: any other
    name is a column of the table `open`. `most`: the rows of one unit, None where not known.
    `one_by`: sets of columns that no two rows share. `tables`: the private tables that it reads.
    `policies`: the views whose policies charge for it. `nullable`: whether a join may have left out
    its columns. `mixed`: whether rows of one unit push out those of another.
    """

    dataset: str = ""
    columns: Columns = ()
    open: str = ""
    most: int | None = None
    one_by: tuple[frozenset[str], ...] = ()
    tables: frozenset[str] = frozenset()
    nullable: bool = False
    policies: frozenset[str] = frozenset()
    mixed: bool = False

    @property
    def private(self) -> bool:
        """Returns whether the rows are those of people."""
        return bool(self.dataset)

    def find(self, name: str) -> tuple[bool, Lineage]:
        """Returns whether the relation surely has a column, and where that comes from."""
        if self.open:
            return True, None if self.nullable else Origin(self.open, name)
        stars: list[SqlRows] = []
        for one, other in self.columns:
            if not isinstance(one, str):
                stars += [one] if name not in other else []  # type: ignore[operator]
            elif one == name:
                # A * before it may have a column of this name as well.
                sure = isinstance(other, Rank) or all(
                    each.find(name)[1] == other for each in stars if each.is_open
                )
                return True, other if sure and not self.nullable else None  # type: ignore[return-value]
        for number, each in enumerate(stars):
            there, lineage = each.find(name)
            if there:
                unsure = self.nullable or any(before.is_open for before in stars[:number])
                return True, None if unsure else lineage
        return False, None

    @property
    def is_open(self) -> bool:
        """Returns whether there may be columns whose names are not known."""
        return bool(self.open) or any(
            not isinstance(one, str) and one.is_open for one, _ in self.columns
        )


#: Columns by name, and all columns of relations less some.
Columns: TypeAlias = "tuple[tuple[str, Lineage] | tuple[SqlRows, frozenset[str]], ...]"
#: A step of a query: the end of its name, and what it makes of the relation before.
Step: TypeAlias = tuple[str, Callable[[SqlRows, str], SqlRows]]


#: How readers are called that are tests.
TEST = "the test "


@dataclass(eq=False)
class SqlModel:
    """One query of a project, and how it is stored.

    `kind`: how it is stored, in dbt's words; `query` where it is run by itself. `clauses`: what was
    cut out of it, by the name of its marker column. `key`: how others refer to it. `first`: the
    line of the file on which the text of the query begins. `own_output`: whether it reads what it
    wrote before.
    """

    name: str
    query: exp.Query | None
    file: str
    kind: str = "query"
    dialect: str = ""
    clauses: Mapping[str, Any] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    schema: str = ""
    first: int = 1
    released: bool | None = None
    public: bool = False
    dbt: bool = False
    tests: Mapping[str, list[str]] = field(default_factory=dict)
    error: Unconvertible | None = None
    inserted: bool = False
    readers: list[str] = field(default_factory=list)
    own_output: bool = False

    def where(self, node: exp.Expr | None = None) -> str:
        """Returns the file and the line of a part of the query."""
        lines = [] if node is None else [
            int(each.meta["line"]) for each in node.walk() if "line" in each.meta
        ]  # fmt: skip
        return f"{self.file}:{self.first + min(lines, default=1) - 1}"


@dataclass
class Project:
    """All that a format finds in its files.

    `budgets`: limits of engines that document neither notion nor δ; `notes`: what was not read.
    """

    models: list[SqlModel] = field(default_factory=list)
    policies: list[Any] = field(default_factory=list)
    budgets: list[Any] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    answers: Answers = field(default_factory=Answers)
    refusals: list[Unconvertible] = field(default_factory=list)
    macros: dict[str, str] = field(default_factory=dict)
    dialect: str = ""


class Standing(NamedTuple):
    """Where a query stands: in which model, below which WITH, and what its rows are called.

    `claimed`: whether its rows are those of which the engine claims a guarantee.
    """

    model: SqlModel
    name: str
    tables: Mapping[str, tuple[exp.Query, Standing, tuple[str, ...]]]
    claimed: str = PLAIN


class Draw(NamedTuple):
    """A mechanism of a query: its name, its keys, its comment, its place and its questions."""

    name: str
    values: Mapping[str, Value]
    says: str
    where: str
    asks: Mapping[str, str]


class Scope(NamedTuple):
    """What the columns of one SELECT are columns of."""

    sources: dict[str, SqlRows]
    merged: dict[str, Lineage]


class World:
    """All relations of a project, and the spec that is made of them.

    `claim`: what makes a mechanism of a query that an engine answers with noise. `unit`: the column
    of the privacy unit, as engines compare names; `shown`: as it is written. `policies`: the views
    whose policies charge for what is asked of them. `draws`: the mechanisms; `drawn`: how often
    each is drawn by what is being read; `notes`: what is not counted; `samples`: the models that
    draw the rows of datasets; `exact`: the notes on models whose exact aggregates are not counted.
    """

    one_row = _ONE_ROW

    def __init__(
        self, spec: OpenSpec, answers: Answers, models: Mapping[tuple[str, ...], SqlModel],
        claim: Callable[[World, exp.Select, Standing], SqlRows],
        policies: Mapping[tuple[str, ...], Any],
    ) -> None:  # fmt: skip
        self.spec, self.answers, self.models, self.claim = spec, answers, models, claim
        self.policies = policies
        self.unit: str | None = None
        self.shown_unit = TODO
        self.draws: list[Draw] = []
        self.drawn = Counter[int]()
        self.notes: list[str] = []
        self.people: dict[str, str] = {}
        self.samples: dict[str, SqlModel] = {}
        self.exact: dict[str, str] = {}
        self._reserved = {each.name: each for each in models.values()}
        self._names: set[str] = set()
        self._parts: dict[int, exp.Expr] = {}
        self._read: set[int] = set()
        self._called: dict[object, str] = {}
        self._known: dict[object, tuple[SqlRows, Counter[int]] | None] = {}

    def called(self, thing: object, name: str, front: str, owner: SqlModel | None = None) -> str:
        """Returns the name of a dataset: a second one of a name gets `front` in front of it."""
        if thing not in self._called:
            tries = [name, *([f"{front}__{name}"] if front else [])]
            tries += [f"{name}_{number}" for number in range(2, len(self._names) + 3)]
            free = next(
                each for each in tries
                if each not in self._names and self._reserved.get(each, owner) in (owner, None)
            )  # fmt: skip
            self._names.add(free)
            self._called[thing] = free
        return self._called[thing]

    def same(self, node: exp.Expr) -> int:
        """Returns what is the same for one part of a query alone: sqlglot's parts are equal where
        their text is, which says nothing of the tables around them."""
        self._parts[id(node)] = node  # as long as it is kept no other part has its number
        return id(node)

    def draw(
        self, context: Standing, values: Mapping[str, Value], says: str, where: str, name: str = "",
        asks: Mapping[str, str] = {},
    ) -> None:  # fmt: skip
        """Notes a mechanism that the query draws, named by its model unless `name` is given."""
        self.drawn[len(self.draws)] += 1
        self.draws.append(Draw(name or context.model.name, values, says, where, asks))

    def refuse(self, context: Standing, node: exp.Expr, says: str, hint: str = "") -> NoReturn:
        """Raises Unconvertible with the file and the line of a part of a query."""
        raise Unconvertible(context.model.where(node), says, hint or None)

    def is_unit(self, lineage: Lineage) -> bool:
        """Returns whether a column is the privacy unit."""
        if not isinstance(lineage, Origin):
            return False
        return lineage.table in self.people and lineage.column == self.unit

    # --- datasets ---

    def dataset(
        self, context: Standing, node: exp.Expr, values: Mapping[str, Value], suffix: str = "",
        says: str = "", **questions: str,
    ) -> str:  # fmt: skip
        """Writes a dataset of the query and returns its name. `says`: what is assumed; `questions`:
        what stands behind each TODO."""
        front = context.model.name
        owner = context.model if context.name == front and context.model.key else None
        thing = (context.model, context.name, self.same(node), suffix)
        name = self.called(thing, context.name + suffix, front, owner)
        where = context.model.where(node)
        self.spec.relation(name, values, f"from {where}{says and '; '}{says}", where, questions)
        return name

    def mapped(
        self, context: Standing, node: exp.Expr, below: SqlRows, kind: Value,
        suffix: str = "", says: str = "", most: int | None = None, **questions: str,
    ) -> SqlRows:  # fmt: skip
        """Returns the relation that a map makes of another one. `most`: the rows of one unit."""
        values: dict[str, Value] = {"from": below.dataset, "map": kind}
        name = self.dataset(context, node, values, suffix, says, **questions)
        if isinstance(kind, Mapping) and kind.get("kind") == "sample":
            self.samples[name] = context.model
        return replace(below, dataset=name, most=most)

    def own(
        self, context: Standing, node: exp.Expr, below: SqlRows, most: int | None,
        suffix: str = "",
    ) -> SqlRows:  # fmt: skip
        """Returns a root of its own, for rows that depend on all rows of their unit alone."""
        if below.mixed:
            says = "rows of one unit push out those of another above: this is no root of its own"
            self.refuse(context, node, f"{says}: {_MIXES}")
        given = self.answers.of("max_rows_per_unit", context.name + suffix)
        most = most if given is None else int(given)
        values: dict[str, Value] = {"unit": name_in_yaml(self.shown_unit)}
        values |= {} if most is None else {"max_rows_per_unit": str(most)}
        says = "it depends on the rows of each unit alone, so that one step changes this root too: "
        says += "the roots are not disjoint"
        name = self.dataset(context, node, values, suffix, says)
        return replace(below, dataset=name, most=most)

    def outside(self, context: Standing, table: exp.Table) -> SqlRows:
        """Returns a table outside of the project."""
        parts = tuple(each.name for each in table.parts)
        plain, schema = parts[-1], parts[-2] if len(parts) > 1 else ""
        names = (".".join(parts), ".".join(parts[-2:]), plain)
        if schema == SOURCE:
            names = (plain, plain.replace("__", ".", 1), plain.partition("__")[2])
        keys = self.one_by(context, *names)
        thing = ("table", parts)
        if self.answers.of("public", *names):
            return SqlRows(open=self.called(thing, plain, schema), one_by=keys)
        most = self.answers.of("max_rows_per_unit", *names)
        most = (
            1
            if self.unit and frozenset({self.unit}) in keys
            else None
            if most is None
            else int(most)
        )
        name = self.called(thing, plain, schema)
        self.people[name] = plain
        values: dict[str, Value] = {"unit": name_in_yaml(self.shown_unit)}
        values |= {} if most is None else {"max_rows_per_unit": str(most)}
        ask = {} if self.unit else {"unit": "which column is the privacy unit (--unit)?"}
        where = context.model.where(table)
        self.spec.relation(name, values, f"from {where}", where, ask)
        found = SqlRows(name, open=name, most=most, one_by=keys, tables=frozenset({name}))
        return self.charged(found, parts)

    def one_by(self, context: Standing, *names: str) -> tuple[frozenset[str], ...]:
        """Returns sets of columns that no two rows of a relation share."""
        found = self.answers.keys_of(*names)
        return tuple(frozenset(self.key(each, context) for each in one) for one in found)

    def charged(self, found: SqlRows, parts: tuple[str, ...]) -> SqlRows:
        """Returns a relation, which the policy of its view charges for if there is one."""
        if parts not in self.policies:
            return found
        return replace(
            found, tables=frozenset({".".join(parts)}), policies=frozenset({".".join(parts)})
        )

    def key(self, name: exp.Identifier | str, context: Standing) -> str:
        """Returns a name as its engine compares it: in lower case, unless it tells cases apart."""
        if isinstance(name, str):
            name = exp.to_identifier(name)
        strategy = Dialect.get_or_raise(context.model.dialect or None).normalization_strategy
        text = name.name
        if strategy is NormalizationStrategy.CASE_SENSITIVE:
            return text
        upper = strategy is NormalizationStrategy.UPPERCASE
        exact = strategy in (NormalizationStrategy.LOWERCASE, NormalizationStrategy.UPPERCASE)
        if not (exact and name.args.get("quoted")):
            return text.lower()
        return text.lower() if upper and text.isupper() else f'"{text}"' if upper else text

    # --- queries ---

    def relation(self, query: exp.Expr, context: Standing) -> SqlRows:
        """Returns the rows of a query. Raises Unconvertible."""
        self._read.add(self.same(query))
        if isinstance(query, exp.Subquery):
            self.no_rest(query, context, "joins limit offset sample pivots")
            below = self.with_tables(query, context)
            found = self.relation(query.this, below)
            self.read_rest(query, Scope({}, {}), below)
            return found
        context = self.with_tables(query, context)
        if isinstance(query, exp.Select):
            return self.select(query, context)
        if isinstance(query, exp.SetOperation):
            return self.set_operation(query, context)
        if isinstance(query, exp.Values):
            return SqlRows()
        self.refuse(context, query, f"{query.key.upper()} is not read here")

    def with_tables(self, query: exp.Expr, context: Standing) -> Standing:
        """Returns the context below the WITH of a query."""
        found = query.args.get("with_")
        tables = dict(context.tables)
        for each in found.expressions if found is not None else ():
            below = context._replace(tables=dict(tables), name=each.alias, claimed=PLAIN)
            own = self.key(each.args["alias"].this, context)
            if (
                found is not None
                and found.args.get("recursive")
                and any(
                    not table.db and table.name and self.key(table.name, context) == own
                    for table in each.this.find_all(exp.Table)
                )
            ):
                self.refuse(context, each, f"a recursive WITH: {_MIXES}")
            tables[own] = (each.this, below, self.names_of(each.args["alias"], context))
        return context._replace(tables=tables)

    def names_of(self, alias: exp.Expr | None, context: Standing) -> tuple[str, ...]:
        """Returns the names that an alias gives to columns."""
        columns = [] if alias is None else alias.args.get("columns") or []
        return tuple(self.key(each, context) for each in columns)

    def remembered(
        self, thing: object, context: Standing, node: exp.Expr, make: Callable[[], SqlRows]
    ) -> SqlRows:
        """Returns a relation that is made once; its draws are counted each time that it is read."""
        if thing not in self._known:
            before = self.drawn.copy()
            self._known[thing] = None
            try:
                made = make()
            except Unconvertible:
                del self._known[thing]
                raise
            self._known[thing] = (made, self.drawn - before)
            return made
        known = self._known[thing]
        if known is None:
            self.refuse(context, node, "the query reads itself")
        self.drawn = self.drawn + known[1]
        return known[0]

    def table(self, table: exp.Table, context: Standing) -> SqlRows:
        """Returns the rows of a table: one of WITH, a model, or one outside of the project."""
        self.no_rest(table, context, "sample pivots when version joins")
        if not isinstance(table.this, exp.Identifier):
            return self.rows_of_function(table, table.this, context)
        named = None if table.db else context.tables.get(self.key(table.this, context))
        if named is not None:
            query, below, names = named
            found = self.remembered(
                self.same(query), context, table, lambda: self.relation(query, below)
            )
            return self.renamed(found, names, context, table)
        model = self.model_of(tuple(each.name for each in table.parts))
        if model is context.model and model is not None:
            model.own_output = True
            return SqlRows(open=model.name)
        if model is None:
            return self.outside(context, table)
        return self.read_model(model)

    def model_of(self, parts: tuple[str, ...]) -> SqlModel | None:
        """Returns the model that a name means: all of its name, or a qualified end of it."""
        if parts in self.models:
            return self.models[parts]
        fits = [
            each for key, each in self.models.items()
            if min(len(key), len(parts)) > 1
            and (key[-len(parts) :] == parts or parts[-len(key) :] == key)
        ]  # fmt: skip
        return fits[0] if len(fits) == 1 else None

    def read_model(self, model: SqlModel) -> SqlRows:
        """Returns the rows of a model. What it draws is charged where it is stored, if it is."""
        query = model.query
        context, before = Standing(model, model.name, {}), self.drawn
        keys = self.one_by(context, model.name)
        if model.public or query is None:
            return SqlRows(open=model.name, one_by=keys)
        if model.inserted:
            says = (
                f"{model.name} is a table that INSERT adds rows to: what else it holds is not known"
            )
            self.refuse(context, query, says)
        if model.error is not None:
            raise model.error
        found = self.remembered(model, context, query, lambda: self.relation(query, context))
        if model.kind != "ephemeral":
            self.drawn = before
        if found.private and model.own_output:
            says = f"it reads rows of several units that it wrote before: {_MIXES}"
            self.refuse(context, query, says)
        if keys:
            found = replace(found, one_by=(*found.one_by, *keys))
        if found.private and model.kind in ("incremental", "snapshot"):
            # Each run adds rows, so that a unit has more of them than one run gives.
            stored = self.remembered(
                (model, "stored"),
                context,
                query,
                lambda: self.own(context, query, found, None, "_stored"),
            )
            found = stored
        unit = self.unit or ""
        if found.private and frozenset({unit}) in keys and self.is_unit(found.find(unit)[1]):
            found = replace(found, most=1)
        return self.charged(found, model.key)

    def view(self, parts: tuple[str, ...], where: str, unit: str) -> SqlRows:
        """Returns the rows of a view with a policy, here or elsewhere. Raises Unconvertible."""
        model = self.models.get(parts)
        file, _, line = where.rpartition(":")
        context = Standing(model or SqlModel(parts[-1], None, file, first=int(line)), parts[-1], {})
        table = exp.Table(
            this=exp.to_identifier(parts[-1]),
            db=exp.to_identifier(parts[-2]) if len(parts) > 1 else None,
        )
        found = self.outside(context, table) if model is None else self.read_model(model)
        if not found.private or not self.is_unit(found.find(self.key(unit, context))[1]):
            raise Unconvertible(
                where, f"{quoted(unit)} of {parts[-1]} is not the privacy unit of a table"
            )
        return found

    def draws_of(self, model: SqlModel) -> Counter[int]:
        """Returns how often each mechanism is drawn when a model, which was read, is run."""
        known = self._known.get(model)
        return Counter() if known is None else known[1]

    def draws_others(self, model: SqlModel) -> bool:
        """Returns whether a model holds a query that draws noise: its own, or that of an ephemeral
        model that it reads."""
        if model.clauses or model.query is None:
            return bool(model.clauses)
        tables = (
            self.model_of(tuple(one.name for one in each.parts))
            for each in model.query.find_all(exp.Table)
        )
        return any(
            each is not None
            and each is not model
            and each.kind == "ephemeral"
            and self.draws_others(each)
            for each in tables
        )

    # --- the unit ---

    def context_of(self, model: SqlModel, node: exp.Expr) -> Standing:
        """Returns where a part of a model's query stands."""
        context = Standing(model, model.name, {})
        above: list[exp.Expr] = [node]
        while above[-1].parent is not None and above[-1] is not model.query:
            above.append(above[-1].parent)
        for each in reversed(above):
            if isinstance(each, exp.CTE):
                context = context.tables[self.key(each.args["alias"].this, context)][1]
            elif isinstance(each, exp.Query):
                context = self.with_tables(each, context)
        return context

    def roots_of(self, column: exp.Column, query: exp.Select, context: Standing) -> set[str]:
        """Returns the names that a column has in the tables outside of the project."""
        name, found = self.key(column.this, context), set[str]()
        first = query.args.get("from_")
        for each in (
            []
            if first is None
            else [first.this, *(join.this for join in query.args.get("joins") or ())]
        ):
            alias = each.args.get("alias")
            called = alias.this if alias is not None and alias.this else each.this
            if column.table and not (
                isinstance(called, exp.Identifier)
                and self.key(called, context) == self.key(column.args["table"], context)
            ):
                continue
            if isinstance(each, exp.Subquery):
                found |= self.roots_in(each, context, name)
            elif isinstance(each, exp.Table) and isinstance(each.this, exp.Identifier):
                named = None if each.db else context.tables.get(self.key(each.this, context))
                model = self.model_of(tuple(one.name for one in each.parts))
                if named is not None:
                    found |= self.roots_in(named[0], named[1], name)
                elif model is not None and model is not context.model:
                    below = Standing(model, model.name, {})
                    found |= (
                        set()
                        if model.query is None or model.public
                        else self.roots_in(model.query, below, name)
                    )
                elif not self.answers.of(
                    "public", ".".join(one.name for one in each.parts), each.name
                ):
                    found.add(name)
        return found

    def roots_in(self, query: exp.Expr, context: Standing, name: str) -> set[str]:
        """Returns the names that a column of a query has in the tables outside of the project."""
        context = self.with_tables(query, context)
        if isinstance(query, exp.Subquery):
            return self.roots_in(query.this, context, name)
        if isinstance(query, exp.SetOperation):
            return self.roots_in(query.this, context, name) | self.roots_in(
                query.expression, context, name
            )
        found: set[str] = set()
        if not isinstance(query, exp.Select):
            return found
        for each in query.expressions:
            inner = each.unalias().unnest()
            if isinstance(inner, exp.Star) or (
                isinstance(inner, exp.Column) and isinstance(inner.this, exp.Star)
            ):
                star = exp.column(
                    name,
                    table=inner.args.get("table") if isinstance(inner, exp.Column) else None,
                    quoted=True,
                )
                found |= self.roots_of(star, query, context)
            elif (
                isinstance(inner, exp.Column)
                and self.key(each.args.get("alias") or inner.this, context) == name
            ):
                return self.roots_of(inner, query, context)
        return found

    def rows_of_function(self, node: exp.Expr, function: exp.Expr, context: Standing) -> SqlRows:
        """Returns the rows of a function in FROM, which is public where it reads no column."""
        if function.find(exp.Column, exp.Query, exp.Table) is not None:
            self.refuse(context, node, f"a function in FROM: {_MIXES}")
        return SqlRows()

    def renamed(
        self, below: SqlRows, names: tuple[str, ...], context: Standing, node: exp.Expr
    ) -> SqlRows:
        """Returns a relation whose columns have other names, in their order."""
        if not names or not below.private:
            return below
        flat = self.flat(below)
        if flat is None or len(flat) < len(names):
            self.refuse(context, node, "columns are renamed whose number is not known here")
        rest = [each[0] for each in flat[len(names) :]]
        found = zip((*names, *rest), (each[1] for each in flat), strict=True)
        return replace(below, columns=tuple(found), open="", one_by=())

    def flat(self, below: SqlRows) -> list[tuple[str, Lineage]] | None:
        """Returns all columns in their order, None where they are not known."""
        if below.is_open:
            return None
        found: list[tuple[str, Lineage]] = []
        for one, other in below.columns:
            if isinstance(one, str):
                found.append((one, other))  # type: ignore[arg-type]
            else:
                found += [each for each in self.flat(one) or () if each[0] not in other]  # type: ignore[operator]
        return [(name, None if below.nullable else each) for name, each in found]

    def no_rest(self, node: exp.Expr, context: Standing, words: str) -> None:
        """Raises Unconvertible where a node has a part that is not read here."""
        for word in words.split():
            if node.args.get(word):
                says = {"sample": "TABLESAMPLE draws blocks of rows", "pivots": "PIVOT"}.get(
                    word, word.upper()
                )
                self.refuse(context, node, f"{says}: {_MIXES}")

    # --- columns ---

    def lineage(self, column: exp.Column, scope: Scope, context: Standing) -> Lineage:
        """Returns where a column comes from."""
        name = self.key(column.this, context)
        if column.table:
            source = scope.sources.get(self.key(column.args["table"], context))
            return None if source is None else source.find(name)[1]
        if name in scope.merged:
            return scope.merged[name]
        if len(scope.sources) == 1:
            return next(iter(scope.sources.values())).find(name)[1]
        sources = scope.sources.values()
        sure = [
            each for each in sources if not each.open and not each.is_open and each.find(name)[0]
        ]
        sure = sure or [
            each for each in sources if each.private and self.is_unit(each.find(name)[1])
        ]
        found = sure or [each for each in sources if each.find(name)[0]]
        same = {each.find(name)[1] for each in found}
        return same.pop() if len(same) == 1 else None

    def unit_in(self, node: exp.Expr | None, scope: Scope, context: Standing) -> bool:
        """Returns whether an expression is the privacy unit."""
        node = node.unnest() if node is not None else None
        return isinstance(node, exp.Column) and self.is_unit(self.lineage(node, scope, context))

    def own_row(
        self, node: exp.Expr, scope: Scope, context: Standing, windows: bool = False
    ) -> None:
        """Raises Unconvertible where an expression looks at more than its row and public tables.

        `windows`: whether windows are looked at elsewhere.
        """
        for each in node.walk(prune=lambda part: isinstance(part, exp.Query)):
            if isinstance(each, exp.Query):
                if self.subquery(each, scope, context).private:
                    self.refuse(context, each, f"a subquery over private rows: {_MIXES}")
            elif isinstance(each, exp.Window) and not windows:
                self.refuse(context, each, f"a window: {_MIXES}")
            elif isinstance(each, exp.Anonymous) and each.name.lower() not in self.spec.functions:
                self.spec.functions.append(each.name.lower())
            elif isinstance(each, _MAKES_ROWS):
                self.refuse(context, each, "it makes several rows of one: write it in FROM")
            elif isinstance(each, exp.Column) and not isinstance(each.this, exp.Star):
                found = self.lineage(each, scope, context)
                if isinstance(found, Rank) and not all(self.is_unit(by) for _, by in found.by):
                    self.refuse(context, each, f"a number of rows of several units: {_MIXES}")

    def subquery(self, query: exp.Query, scope: Scope, context: Standing) -> SqlRows:
        """Returns the rows of a query in an expression, which may be run for each row. Raises
        Unconvertible where that draws fresh noise each time."""
        drawn = self.drawn.copy()
        found = self.relation(query, context._replace(name=f"{context.name}_sub", claimed=PLAIN))
        if self.drawn != drawn:
            for column in query.find_all(exp.Column):
                if self.may_be_outer(column, query, scope, context):
                    says = f"fresh noise for each row: {quoted(column.sql())} may be a column of a "
                    says += "table outside of this subquery"
                    hint = "join with the noisy rows, or write the subquery's own table in front"
                    self.refuse(context, column, says, hint)
        return found

    def may_be_outer(
        self, column: exp.Column, query: exp.Query, scope: Scope, context: Standing
    ) -> bool:
        """Returns whether a column in a subquery may be one of the tables around the subquery."""
        if not scope.sources or column.name in context.model.clauses:
            return False
        if isinstance(column.this, exp.Star) and not column.table:
            return False
        if not column.table:
            name = self.key(column.this, context)
            return any(each.find(name)[0] for each in scope.sources.values())
        name = self.key(column.args["table"], context)
        below: exp.Expr = column
        hidden = False
        while below is not query and below.parent is not None:
            # A query in FROM or in WITH does not see the other tables of that FROM.
            derived = isinstance(below.parent, exp.From | exp.Join | exp.CTE)
            hidden = hidden or (derived and isinstance(below, exp.Query))
            below = below.parent
            if isinstance(below, exp.Query):
                names = self.tables_in(below, context) if isinstance(below, exp.Select) else ()
                if name in names and not hidden:
                    return False
                hidden = False
        return True

    def tables_in(self, query: exp.Select, context: Standing) -> set[str]:
        """Returns the names of the tables in the FROM of a SELECT."""
        first = query.args.get("from_")
        joins = [*(query.args.get("joins") or ()), *(query.args.get("laterals") or ())]
        found: set[str] = set()
        for each in [*([] if first is None else [first.this]), *(join.this for join in joins)]:
            alias = each.args.get("alias")
            called = alias.this if alias is not None and alias.this else each.this
            if isinstance(called, exp.Identifier):
                found.add(self.key(called, context))
        return found

    def read_rest(self, query: exp.Expr, scope: Scope, context: Standing) -> None:
        """Raises Unconvertible where a query has a part that reads private rows, and that nothing
        has read: no place of a query is left out."""
        skip = (exp.Query, exp.With)
        for each in query.walk(prune=lambda part: part is not query and isinstance(part, skip)):
            if (
                isinstance(each, exp.Query)
                and each is not query
                and self.same(each) not in self._read
            ):
                self.own_row(each, scope, context)

    # --- FROM ---

    def sources(
        self, query: exp.Select, context: Standing
    ) -> tuple[SqlRows, Scope, list[exp.Expr]]:
        """Returns the joined rows of FROM, their columns, and the conditions of WHERE."""
        where = query.args.get("where")
        conditions = (
            list(where.this.flatten())
            if where is not None and isinstance(where.this, exp.And)
            else []
        )
        conditions = conditions or ([where.this] if where is not None else [])
        scope = Scope({}, {})
        first = query.args.get("from_")
        if first is None:
            return SqlRows(), scope, conditions
        found = self.source(first.this, scope, context)
        for number, each in enumerate(
            [*(query.args.get("joins") or ()), *(query.args.get("laterals") or ())]
        ):
            suffix = "_joined" if not number else f"_joined_{number + 1}"
            found = self.join(found, each, scope, conditions, context, suffix)
        return found, scope, conditions

    def source(self, node: exp.Expr, scope: Scope, context: Standing) -> SqlRows:
        """Returns one item of FROM, and adds its columns to the scope."""
        alias = node.args.get("alias")
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
            self._read.add(self.same(node))
            node = node.this
        if isinstance(node, exp.Table):
            found = self.table(node, context)
            if node.args.get("joins"):
                self.refuse(context, node, "a join in parentheses is not read here")
        elif isinstance(node, exp.Subquery):
            found = self.relation(node, context._replace(name=f"{context.name}_in", claimed=PLAIN))
        elif isinstance(node, exp.Values):
            found = SqlRows()
        else:
            found = self.rows_of_function(node, node, context)
        found = self.renamed(found, self.names_of(alias, context), context, node)
        name = self.key(alias.this, context) if alias is not None and alias.this else ""
        name = name or (
            self.key(node.this, context)
            if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier)
            else f" {len(scope.sources)}"
        )
        if name in scope.sources:
            self.refuse(context, node, f"two tables are called {quoted(name)} here")
        scope.sources[name] = found
        return found

    def join(
        self, left: SqlRows, join: exp.Expr, scope: Scope, conditions: list[exp.Expr],
        context: Standing, suffix: str,
    ) -> SqlRows:  # fmt: skip
        """Returns the rows of a join."""
        if isinstance(join, exp.Lateral) or isinstance(join.this, exp.Unnest | exp.Lateral):
            return self.unnest(left, join, scope, context, suffix)
        side, kind = (join.args.get(each) or "" for each in ("side", "kind"))
        if join.args.get("method") or kind not in ("", "INNER", "OUTER", "CROSS"):
            self.refuse(context, join, f"this kind of join is not read here: {_MIXES}")
        before = dict(scope.sources)
        right = self.source(join.this, scope, context)
        name = next(each for each in scope.sources if each not in before)
        tests = conjuncts(join.args.get("on"))
        for each in tests:
            self.own_row(each, scope, context)
        alone = len(tests) == 1 or len(join.args.get("using") or ()) == 1
        tests += [] if side else conditions
        equal = [pair for each in tests if (pair := self.equality(each, name, scope, context))]
        for each in join.args.get("using") or ():
            key = self.key(each, context)
            one = self.lineage(exp.column(each.copy()), Scope(before, scope.merged), context)
            two = right.find(key)[1]
            equal.append((key, one, key, two))
            both = self.is_unit(one) and self.is_unit(two)
            kept = two if side == "RIGHT" else one if side != "FULL" or both else None
            scope.merged[key] = kept
        # Columns of a side that may be missing are no unit: all rows without a match share NULL.
        missing = {"LEFT": [name], "RIGHT": [*before], "FULL": [*scope.sources]}.get(side, [])
        scope.sources.update(
            {each: replace(scope.sources[each], nullable=True) for each in missing}
        )
        if not left.private and not right.private:
            return left
        if not left.private or not right.private:
            private, public = (left, right) if left.private else (right, left)
            keeps = side == "FULL" or side == ("RIGHT" if left.private else "LEFT")
            if keeps and context.claimed != PUBLIC_GROUPS:
                says = "the join keeps unmatched public rows: which ones depends on all units"
                self.refuse(context, join, says, "keep those of the private side alone")
            pairs = [(a, b) if left.private else (b, a) for a, _, b, _ in equal]
            return self.join_public(private, public, pairs, alone, join, context, suffix)
        if not any(self.is_unit(one) and self.is_unit(two) for _, one, _, two in equal):
            unit = quoted(self.unit) if self.unit else "the unit"
            says = f"a join of private rows that is not on {unit}: {_MIXES}"
            hint = "a table that is nobody's data: `public: true` in the answers"
            self.refuse(context, join, says, hint if self.unit else _SAY_UNIT)
        most = None
        if left.most is not None and right.most is not None:
            most = left.most * right.most
            most = max(most, left.most, right.most) if side else most
            most = max(most, left.most + right.most) if side == "FULL" else most
        either = replace(left, mixed=left.mixed or right.mixed)
        made = self.own(context, join, either, most, suffix)
        tables, policies = left.tables | right.tables, left.policies | right.policies
        return replace(made, tables=tables, policies=policies, one_by=())

    def equality(
        self, test: exp.Expr, right: str, scope: Scope, context: Standing
    ) -> tuple[str, Lineage, str, Lineage] | None:
        """Returns the columns that a condition makes equal, that of the table `right` second, with
        where they come from; None for another condition."""
        test = test.unnest()
        if not isinstance(test, exp.EQ):
            return None
        sides = [test.left.unnest(), test.right.unnest()]
        found = []
        for each in sides:
            if not isinstance(each, exp.Column):
                return None
            there = {right} & {self.key(each.args["table"], context)} if each.table else {
                name for name, one in scope.sources.items() if
                one.find(self.key(each.this, context))[0]
            } & {right}  # fmt: skip
            found.append(
                (self.key(each.this, context), self.lineage(each, scope, context), bool(there))
            )
        one, two = found
        if one[2] and not two[2]:
            one, two = two, one
        return (*one[:2], *two[:2]) if two[2] and not one[2] else None

    def join_public(
        self, private: SqlRows, public: SqlRows, pairs: list[tuple[str, str]], alone: bool,
        join: exp.Expr, context: Standing, suffix: str,
    ) -> SqlRows:  # fmt: skip
        """Returns private rows, each joined with rows of a public table, where the first column of
        each of `pairs` equals the second one; `alone`: one condition alone."""
        keys = {each for _, each in pairs}
        single = any(each <= keys for each in public.one_by)
        table = public.open or context.name + suffix
        given = self.answers.of("max_rows", table)
        most = 1 if single else None if given is None else int(given)
        kind: dict[str, Value] = {
            "kind": "join-public",
            "max_rows": TODO if most is None else str(most),
        }
        if alone and len(pairs) == 1:
            kind["column"] = name_in_yaml(pairs[0][0])
        ask = (
            {"max_rows": f"how many rows of {table} does one row get at most?"}
            if most is None
            else {}
        )
        rows = None if most is None or private.most is None else private.most * most
        return self.mapped(context, join, private, kind, suffix, most=rows, **ask)

    def unnest(
        self, left: SqlRows, join: exp.Expr, scope: Scope, context: Standing, suffix: str
    ) -> SqlRows:
        """Returns rows with the items of an array."""
        lateral = join if isinstance(join, exp.Lateral) else join.this
        node = lateral.this if isinstance(lateral, exp.Lateral) else lateral
        if isinstance(node, exp.Query) or node.find(exp.Query) is not None:
            self.refuse(context, join, f"a lateral subquery: {_MIXES}")
        if join.args.get("side") in ("RIGHT", "FULL") and context.claimed != PUBLIC_GROUPS:
            self.refuse(context, join, "the join keeps unmatched items")
        alias = lateral.args.get("alias")
        name = self.key(alias.this, context) if alias is not None and alias.this else ""
        columns = (name, *self.names_of(alias, context))
        scope.sources[name or f" {len(scope.sources)}"] = SqlRows(
            columns=tuple((each, None) for each in columns if each)
        )
        if not left.private:
            return left
        if context.claimed:
            return self.own(context, join, left, None, suffix)
        ask = "how many items has the array of one row at most?"
        return self.several(context, join, left, ask, suffix)

    def several(
        self, context: Standing, node: exp.Expr, below: SqlRows, ask: str, suffix: str
    ) -> SqlRows:
        """Returns rows of which one row above gives several; `ask`: the question how many."""
        given = self.answers.of("max_rows", context.name + suffix)
        kind: dict[str, Value] = {
            "kind": "flatten",
            "max_rows": TODO if given is None else str(given),
        }
        rows = None if given is None or below.most is None else below.most * int(given)
        asked = {"max_rows": ask} if given is None else {}
        return self.mapped(context, node, below, kind, suffix, most=rows, **asked)

    # --- SELECT ---

    def select(self, query: exp.Select, context: Standing) -> SqlRows:
        """Returns the rows of a SELECT. Raises Unconvertible."""
        if query.expressions and query.expressions[0].name in context.model.clauses:
            return self.claim(self, query, context)
        found, scope, conditions = self.sources(query, context)
        shown = self.columns_of(query, scope, context)
        if not found.private:
            for each in query.iter_expressions():
                if not isinstance(each, exp.From | exp.With | exp.Join | exp.Lateral):
                    self.own_row(each, scope, context, windows=True)
            self.read_rest(query, scope, context)
            names = {
                one.column: name
                for name, one in shown
                if isinstance(one, Origin) and isinstance(name, str)
            }
            star = any(not isinstance(one, str) for one, _ in shown)
            keys = tuple(
                frozenset(names.get(key, key) for key in each)
                for each in found.one_by
                if not (query.args.get("joins") or query.args.get("laterals"))
                and (star or each <= names.keys())
            )
            return SqlRows(columns=shown, one_by=keys)
        self.no_rest(query, context, "limit offset fetch connect match pivots sample windows")
        steps = self.filters(conditions, found, scope, context)
        steps += self.grouping(query, found, scope, context)
        steps += self.qualified(query, found, scope, context)
        found = self.after(steps, found)
        self.read_rest(query, scope, context)
        columns: list[Any] = [
            (
                one,
                other._replace(on=other.on or found.dataset) if isinstance(other, Rank) else other,
            )
            for one, other in shown
        ]
        return replace(found, columns=tuple(columns), open="", nullable=False)

    def after(self, steps: list[Step], found: SqlRows) -> SqlRows:
        """Returns the relation after some steps; the last one has the name of the query."""
        for number, (suffix, step) in enumerate(steps):
            found = step(found, suffix if number < len(steps) - 1 or suffix == "_in" else "")
        return found

    def columns_of(self, query: exp.Select, scope: Scope, context: Standing) -> Columns:
        """Returns the columns of a SELECT."""
        found: list[Any] = []
        for each in query.expressions:
            inner = each.unalias()
            star = (
                inner
                if isinstance(inner, exp.Star)
                else inner.this
                if isinstance(inner, exp.Column)
                else None
            )
            if isinstance(star, exp.Star):
                table = inner.args.get("table") if inner is not star else None
                less = frozenset(
                    self.key(one.name, context)
                    for word in ("except_", "replace", "rename")
                    for one in star.args.get(word) or ()
                )
                replaced = [
                    (self.key(one.alias, context), None) for one in star.args.get("replace") or ()
                ]
                if star.args.get("rename"):
                    self.refuse(context, each, "* RENAME is not read here: name the columns")
                sources = (
                    scope.sources
                    if table is None
                    else {
                        key: one
                        for key, one in scope.sources.items()
                        if key == self.key(table, context)
                    }
                )
                found += replaced
                found += [
                    (key, one)
                    for key, one in scope.merged.items()
                    if table is None and key not in less
                ]
                found += [(one, less) for one in sources.values()]
            else:
                name = (
                    self.key(each.args["alias"], context)
                    if isinstance(each, exp.Alias)
                    else self.key(each.this, context)
                    if isinstance(each, exp.Column)
                    else f" {len(found)}"
                )
                found.append((name, self.lineage_of(inner, scope, context)))
        return tuple(found)

    def lineage_of(self, node: exp.Expr, scope: Scope, context: Standing) -> Lineage:
        """Returns where an expression comes from: a column, or a number of rows."""
        node = node.unnest()
        if isinstance(node, exp.Column):
            return self.lineage(node, scope, context)
        if (
            isinstance(node, exp.Window)
            and isinstance(node.this, exp.RowNumber)
            and not node.args.get("alias")
        ):
            parts = node.args.get("partition_by") or []
            by = tuple(
                (
                    each.sql()
                    if not isinstance(each, exp.Column)
                    else self.key(each.this, context),
                    self.lineage_of(each, scope, context),
                )
                for each in parts
            )
            order = node.args.get("order")
            keep = "random" if order is not None and order.find(*_RANDOM) else "first"
            return Rank(by, "", keep)
        return None

    def filters(
        self, conditions: list[exp.Expr], found: SqlRows, scope: Scope, context: Standing
    ) -> list[Step]:
        """Returns the steps of the conditions of WHERE."""
        caps, others, plain = list[Step](), list[Step](), list[exp.Expr]()
        for each in conditions:
            number = self.number_of(each, scope, context)
            rate = self.rate_of(each) if context.model.dialect in _UNIFORM else None
            if number is not None and number[0].on == found.dataset:
                caps.append(("_cap", partial(self.capped, context, each, *number)))
            elif (
                isinstance(each, exp.In)
                and each.args.get("query") is not None
                and self.unit_in(each.this, scope, context)
            ):
                others.append(("_in", partial(self.within, context, scope, each)))
            elif rate is not None:
                kind: Value = {"kind": "sample", "poisson": rate}
                says = "assumed: RAND() is drawn for each row, uniform from 0 to 1"
                others.append(("_sample", partial(self.step, context, each, kind, says=says)))
            else:
                self.own_row(each, scope, context)
                tables = (
                    tuple(one.name for one in table.parts) for table in each.find_all(exp.Table)
                )
                ranks = (self.lineage(one, scope, context) for one in each.find_all(exp.Column))
                if any(isinstance(one, Rank) for one in ranks):
                    others.append(("_windows", partial(self.windowed, context, each)))
                elif not any(self.models.get(one) is context.model for one in tables):
                    plain.append(each)  # else by what it wrote before, on any run or none
        if plain:
            others.append(("_where", partial(self.step, context, plain[0], "filter")))
        return caps + others

    def step(
        self, context: Standing, node: exp.Expr, kind: Value, below: SqlRows, suffix: str,
        says: str = "",
    ) -> SqlRows:  # fmt: skip
        """Returns the relation that a map makes, with as many rows of a unit at most."""
        return self.mapped(context, node, below, kind, suffix, says, most=below.most)

    def windowed(self, context: Standing, node: exp.Expr, below: SqlRows, suffix: str) -> SqlRows:
        """Returns rows that depend on several rows of their unit."""
        return self.own(context, node, below, below.most, suffix)

    def within(
        self, context: Standing, scope: Scope, node: exp.In, below: SqlRows, suffix: str
    ) -> SqlRows:
        """Returns the rows of the units that another query has as well."""
        before = set(self.spec.datasets)
        inner = self.subquery(node.args["query"], scope, context)
        for each in self.spec.datasets.keys() - before - self.people.keys():
            del self.spec.datasets[each]  # it only says which units are there
        if not inner.private:
            return self.step(context, node, "filter", below, suffix)
        flat = [one for name, one in inner.columns if isinstance(name, str)]
        if len(inner.columns) != 1 or not flat or not self.is_unit(flat[0]):  # type: ignore[arg-type]
            self.refuse(context, node, f"a subquery over private rows that gives no unit: {_MIXES}")
        either = replace(below, mixed=below.mixed or inner.mixed)
        made = self.own(context, node, either, below.most, suffix)
        return replace(
            made, tables=below.tables | inner.tables, policies=below.policies | inner.policies
        )

    def capped(
        self,
        context: Standing,
        node: exp.Expr,
        rank: Rank,
        most: int,
        below: SqlRows,
        suffix: str,
    ) -> SqlRows:
        """Returns the first rows of each unit, or of each value of other columns."""
        if len(rank.by) == 1 and self.is_unit(rank.by[0][1]):
            rows = most if below.most is None else min(most, below.most)
            kind: Value = {"kind": "cap", "rows": str(most), "keep": rank.keep}
            says = "assumed: no row of another unit decides a tie of the order"
            return self.mapped(context, node, below, kind, suffix, says, most=rows)
        if any(self.is_unit(each) for _, each in rank.by):
            return self.own(context, node, below, below.most, suffix)
        if not rank.by:
            self.refuse(context, node, f"the first rows of all units together: {_MIXES}")
        per = ", ".join(name for name, _ in rank.by)
        kind = {"kind": "limit", "per": name_in_yaml(per), "rows": str(most), "keep": rank.keep}
        says = "rows of one unit push out those of another" + (
            "" if self.unit else f"; {_SAY_UNIT}"
        )
        made = self.mapped(context, node, below, kind, suffix, says, most=below.most)
        return replace(made, mixed=True)

    def number_of(
        self, test: exp.Expr, scope: Scope, context: Standing, shown: Columns = ()
    ) -> tuple[Rank, int] | None:
        """Returns what a condition such as `rn <= 3` keeps: which number of rows, and how many."""
        test = test.unnest()
        if not isinstance(test, exp.LTE | exp.LT | exp.EQ | exp.GTE | exp.GT):
            return None
        left, right = test.left.unnest(), test.right.unnest()
        less = isinstance(test, exp.LTE | exp.LT)
        if isinstance(left, exp.Literal):
            left, right, less = right, left, isinstance(test, exp.GTE | exp.GT)
        rank = self.lineage_of(left, scope, context)
        if rank is None and isinstance(left, exp.Column) and not left.table:
            rank = dict(each for each in shown if isinstance(each[0], str)).get(
                self.key(left.this, context)
            )
        if not isinstance(rank, Rank) or not isinstance(right, exp.Literal) or not right.is_int:
            return None
        most = int(right.name) - isinstance(test, exp.LT | exp.GT)
        if isinstance(test, exp.EQ):
            less = most == 1
        return (rank, most) if less and most > 0 else None

    def rate_of(self, test: exp.Expr) -> str | None:
        """Returns the chance of `RAND() < q`, None for another condition."""
        test = test.unnest()
        left, right = (test.left, test.right) if isinstance(test, exp.Binary) else (None, None)
        if isinstance(test, exp.GT | exp.GTE):
            left, right = right, left
        if (
            not isinstance(test, exp.LT | exp.LTE | exp.GT | exp.GTE)
            or type(left) is not exp.Rand
            or left.this
        ):
            return None
        return (
            right.name
            if isinstance(right, exp.Literal) and right.is_number and float(right.name) < 1
            else None
        )

    def grouping(
        self, query: exp.Select, found: SqlRows, scope: Scope, context: Standing
    ) -> list[Step]:
        """Returns the step of GROUP BY or DISTINCT inside of a query, and what a function makes."""
        distinct, having = query.args.get("distinct"), query.args.get("having")
        aggregated = is_aggregate(query)
        for each in query.expressions:
            self.own_row(each, scope, context, windows=True)
        steps: list[Step] = []
        if aggregated:
            keys = [self.unit_in(each, scope, context) for each in self.keys(query, context)]
            if not any(keys):
                self.refuse(
                    context,
                    query,
                    f"an aggregate over several units inside of a query: {_MIXES}",
                    "" if self.unit else _SAY_UNIT,
                )
            alone = len(keys) == 1
            steps.append(("_grouped", partial(self.grouped, context, query, alone)))
            if having is not None:
                self.own_row(having.this, scope, context)
                steps.append(("_having", partial(self.step, context, having, "filter")))
        elif any(each.find(exp.Anonymous, exp.AnonymousAggFunc) for each in query.expressions):
            plain = any(
                isinstance(each.unalias(), exp.Column | exp.Star) for each in query.expressions
            )
            if not plain:
                self.refuse(
                    context, query, "a function that is not known here may look at several rows"
                )
            if context.model.dialect not in _ONE_ROW:
                ask = "how many rows does a function of the SELECT list make of one?"
                steps.append(
                    (
                        "_called",
                        lambda below, suffix: self.several(context, query, below, ask, suffix),
                    )
                )
        if isinstance(distinct, exp.Distinct):
            on = distinct.args.get("on")
            if on is not None:
                units = [self.unit_in(each, scope, context) for each in on.expressions]
                if units != [True] or aggregated:
                    self.refuse(
                        context, query, f"DISTINCT ON other columns than the unit: {_MIXES}"
                    )
                kind: Value = {"kind": "cap", "rows": "1", "keep": "first"}
                steps.append(
                    (
                        "_distinct",
                        lambda below, suffix: self.mapped(
                            context, query, below, kind, suffix, most=1
                        ),
                    )
                )
            elif not aggregated:
                shown = self.columns_of(query, scope, context)
                if not self.shows_unit(shown):
                    self.refuse(context, query, f"DISTINCT without the unit: {_MIXES}")
                steps.append(
                    (
                        "_distinct",
                        partial(
                            self.grouped,
                            context,
                            query,
                            len(shown) == 1 and isinstance(shown[0][0], str),
                        ),
                    )
                )
        return steps

    def shows_unit(self, shown: Columns) -> bool:
        """Returns whether the unit is among some columns."""
        return any(
            self.is_unit(other)  # type: ignore[arg-type]
            if isinstance(one, str)
            else self.unit not in other and self.is_unit(one.find(str(self.unit))[1])  # type: ignore[operator]
            for one, other in shown
        )

    def grouped(
        self, context: Standing, node: exp.Expr, alone: bool, below: SqlRows, suffix: str
    ) -> SqlRows:
        """Returns one row for each unit (`alone`), or rows that depend on those of their unit."""
        if not alone:
            return self.own(context, node, below, below.most, suffix)
        kind: Value = {"kind": "group", "by": name_in_yaml(self.shown_unit)}
        return self.mapped(context, node, below, kind, suffix, most=1)

    def keys(self, query: exp.Select, context: Standing) -> list[exp.Expr]:
        """Returns what a SELECT groups by; numbers and names of its columns stand for these."""
        group = query.args.get("group")
        if group is None:
            return []
        for word in ("rollup", "cube", "grouping_sets", "totals"):
            if group.args.get(word):
                self.refuse(context, group, f"{word.upper()} is not read here")
        if group.args.get("all"):
            return [each.unalias() for each in query.expressions if not each.find(exp.AggFunc)]
        named = {each.alias.lower(): each.unalias() for each in query.expressions if each.alias}
        found = []
        for each in group.expressions:
            inner = each.unnest()
            if isinstance(inner, exp.Literal) and inner.is_int:
                if not 0 < int(inner.name) <= len(query.expressions):
                    self.refuse(context, each, f"there is no column {inner.name}")
                inner = query.expressions[int(inner.name) - 1].unalias()
            elif isinstance(inner, exp.Column) and not inner.table:
                inner = named.get(inner.name.lower(), inner)
            found += inner.expressions if isinstance(inner, exp.Tuple) else [inner]
        return [each.unnest() for each in found]

    def qualified(
        self, query: exp.Select, found: SqlRows, scope: Scope, context: Standing
    ) -> list[Step]:
        """Returns the steps of the windows of a query, and of QUALIFY."""
        qualify = query.args.get("qualify")
        tests = conjuncts(None if qualify is None else qualify.this)
        shown = self.columns_of(query, scope, context)
        lazy = [each.unalias().unnest() for each in query.expressions]
        lazy = [each for each in lazy if isinstance(self.lineage_of(each, scope, context), Rank)]
        steps: list[Step] = []
        numbers = [self.number_of(each, scope, context, shown) for each in tests]
        if is_aggregate(query) and (
            qualify is not None or any(each.find(exp.Window) for each in query.expressions)
        ):
            self.refuse(context, query, f"a window over aggregates: {_MIXES}")
        rest = [each for each, number in zip(tests, numbers, strict=True) if number is None]
        others = [
            window
            for each in query.expressions
            for window in each.find_all(exp.Window)
            if not any(window is one for one in lazy)
        ]
        others += [window for each in rest for window in each.find_all(exp.Window)]
        for window in others:
            if isinstance(window.this, exp.Rank | exp.DenseRank):
                self.refuse(context, window, "RANK has ties: use ROW_NUMBER")
            if not any(
                self.unit_in(each, scope, context) for each in window.args.get("partition_by") or ()
            ):
                self.refuse(
                    context,
                    window,
                    f"a window over several units: {_MIXES}",
                    "" if self.unit else _SAY_UNIT,
                )
        for each in tests:
            self.own_row(each, scope, context, windows=True)
        for each in rest:
            ranks = [
                one
                for column in each.find_all(exp.Column)
                if isinstance(
                    one := dict(pair for pair in shown if isinstance(pair[0], str)).get(
                        self.key(column.this, context)
                    ),
                    Rank,
                )
            ]
            if any(not any(self.is_unit(by) for _, by in one.by) for one in ranks):
                self.refuse(context, each, f"a number of rows of several units: {_MIXES}")
        if others or (rest and not numbers):
            steps.append(
                (
                    "_windows",
                    lambda below, suffix: self.own(context, query, below, below.most, suffix),
                )
            )
        for each, number in zip(tests, numbers, strict=True):
            if number is not None:
                steps.append(("_cap", partial(self.capped, context, each, *number)))
        return steps

    # --- UNION ---

    def set_operation(self, query: exp.SetOperation, context: Standing) -> SqlRows:
        """Returns the rows of UNION, EXCEPT or INTERSECT."""
        branches = [(query.this, "_l"), (query.expression, "_r")]
        while (
            isinstance(query, exp.Union)
            and isinstance(branches[0][0].unnest(), exp.Union)
            and not branches[0][0].args.get("with_")
        ):
            inner = branches[0][0].unnest()
            if bool(inner.args.get("distinct")) != bool(query.args.get("distinct")):
                break
            branches[:1] = [
                (inner.this, f"{branches[0][1]}_l"),
                (inner.expression, f"{branches[0][1]}_r"),
            ]
        found = [
            self.relation(each, context._replace(name=context.name + suffix, claimed=PLAIN))
            for each, suffix in branches
        ]
        for one, _ in branches:  # of a chain of UNION, those between are read as well
            above = one.parent
            while above is not None and above is not query:
                self._read.add(self.same(above))
                self.read_rest(above, Scope({}, {}), context)
                above = above.parent
        self.read_rest(query, Scope({}, {}), context)
        if not any(each.private for each in found):
            return SqlRows()
        self.no_rest(query, context, "limit offset")
        if not all(each.private for each in found):
            self.refuse(
                context, query, "private rows and public ones in one table: whose rows are they?"
            )
        flat = [self.flat(each) for each in found]
        columns: Columns = ()
        if all(each is not None and len(each) == len(flat[0] or ()) for each in flat):
            columns = tuple(
                (name, one if all(self.is_unit(other[at][1]) for other in flat if other) else None)
                for at, (name, one) in enumerate(flat[0] or ())
            )
        elif all(each.columns == found[0].columns and each.open == found[0].open for each in found):
            columns = found[0].columns or ((found[0], frozenset()),)
        if (not isinstance(query, exp.Union) or query.args.get("distinct")) and not self.shows_unit(
            columns
        ):
            self.refuse(
                context,
                query,
                f"{query.key.upper()} without the unit, or with * of unknown columns: {_MIXES}",
                "name the columns",
            )
        counts = [each.most for each in found]
        most = sum(each for each in counts if each is not None) if None not in counts else None
        most = most if isinstance(query, exp.Union) else found[0].most
        either = replace(found[0], mixed=any(each.mixed for each in found))
        made = self.own(context, query, either, most)
        return replace(
            made,
            columns=columns,
            open="",
            one_by=(),
            nullable=False,
            tables=frozenset().union(*(each.tables for each in found)),
            policies=frozenset().union(*(each.policies for each in found)),
        )


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
