"""Which column is the privacy unit, followed down to the tables outside of the project."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from dpcompose.bridge.bigquery import unit_column
from dpcompose.bridge.relations import Project, SqlModel, World, key_of, parts_of
from dpcompose.bridge.sql_reader import QueryReader, items_of
from dpcompose.bridge.values import Unconvertible
from dpcompose.errors import quoted


def reader_of(reader: QueryReader, part: exp.Expr) -> QueryReader:
    """Returns the reader of a part of the model's query."""
    reader, above = reader, [part]
    while above[-1].parent is not None and above[-1] is not reader.model.query:
        above.append(above[-1].parent)
    for each in reversed(above):
        if isinstance(each, exp.CTE):
            reader = reader.tables[reader.key(each.args["alias"].this)].reader
        elif isinstance(each, exp.Query):
            reader = reader.below(each)
    return reader


def origins_of(reader: QueryReader, column: exp.Column, query: exp.Select) -> set[str]:
    """Returns the names that a column of a SELECT has in the tables outside of the project."""
    table = column.args.get("table")
    return origins(reader, reader.key(column.this), reader.key(table) if table else "", query)


def origins(reader: QueryReader, name: str, table: str, query: exp.Expr) -> set[str]:
    """Returns the names that a column of a SELECT has in the tables outside of the project.
    `table`: how its table is called in FROM, empty where that is not said."""
    found = set[str]()
    for each in items_of(query):
        if table and reader.called(each) != table:
            continue
        named = reader.defined(each)
        if isinstance(each, exp.Subquery):
            found |= shown_origins(reader, name, each)
        elif named is not None:
            found |= shown_origins(named.reader, name, named.query)
        elif isinstance(each, exp.Table) and isinstance(each.this, exp.Identifier):
            model = reader.world.model_of(parts_of(each))
            if model is not None and model is not reader.model:
                inner = QueryReader(reader.world, model, model.name)
                public = model.query is None or model.public
                found |= set() if public else shown_origins(inner, name, model.query)
            elif not reader.world.answers.of("public", ".".join(parts_of(each)), each.name):
                found.add(name)
    return found


def shown_origins(reader: QueryReader, name: str, query: exp.Expr | None) -> set[str]:
    """Returns the names that a column which a query shows has in these tables."""
    if query is None:
        return set()
    known, key = reader.world.origins, (reader.world.number(query), name)
    if key not in known:
        known[key] = set()
        known[key] = _shown_origins(reader.below(query), name, query)
    return known[key]


def _shown_origins(reader: QueryReader, name: str, query: exp.Expr) -> set[str]:
    """Does the same for a query that is looked at for the first time, with the reader below it."""
    if isinstance(query, exp.Subquery):
        return shown_origins(reader, name, query.this)
    if isinstance(query, exp.SetOperation):
        sides = (query.this, query.expression)
        return set().union(*(shown_origins(reader, name, each) for each in sides))
    found = set[str]()
    for each in query.expressions if isinstance(query, exp.Select) else ():
        inner = each.unalias().unnest()
        if not isinstance(inner, exp.Column | exp.Star):
            continue
        table = inner.args.get("table")
        called = "" if table is None else reader.key(table)
        if inner.is_star:
            found |= origins(reader, name, called, query)
        elif name == reader.key(each.args.get("alias") or inner.this):
            return origins(reader, reader.key(inner.this), called, query)
    return found


def find_unit(world: World, models: Iterable[SqlModel], project: Project) -> None:
    """Notes the one column that is the privacy unit in all tables. Raises Unconvertible where two
    queries have different ones."""
    said: dict[str, tuple[str, str]] = {}
    dialect = next((each.dialect for each in project.models), "")

    def say(names: Iterable[str], shown: str, where: str) -> None:
        """Notes a unit by its name in the tables, and where it is said."""
        for each in sorted(names):
            said.setdefault(each, (shown if key_of(shown, dialect) == each else each, where))

    if project.answers.unit is not None:
        unit = project.answers.unit
        say([key_of(unit, dialect)], unit, "the answers")
    for model in models:
        for select in () if model.query is None else model.query.find_all(exp.Select):
            clause = model.clause_of(select)
            column = None if clause is None else unit_column(clause)
            if column is not None:
                reader = reader_of(QueryReader(world, model, model.name), select)
                names = origins_of(reader, column, select)
                say(names, column.name, f"{model.file}:{model.first + clause.line - 1}")
    for policy in project.policies:
        shown = str(policy.item.get("privacy_unit_column", ""))
        found, key = world.models.get(policy.view), key_of(shown, dialect)
        if found is not None and found.query is not None:
            inner = shown_origins(QueryReader(world, found, found.name), key, found.query)
            say(inner, shown, policy.where)
        elif shown:
            say([key], shown, policy.where)
    for budget in project.budgets:
        say([key_of(budget.unit, dialect)] if budget.unit else [], budget.unit, budget.where)
    if len(said) > 1:
        (one, first), (two, second), *_ = said.values()
        says = f"the privacy unit is {quoted(two)} here and {quoted(one)} at {first}"
        raise Unconvertible(second, says, "one spec has one unit: --only makes two specs")
    for name, (shown, _) in said.items():
        world.unit, world.shown_unit = name, shown
