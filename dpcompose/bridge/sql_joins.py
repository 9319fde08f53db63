"""FROM: what tables and joins make of the rows of each unit."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from sqlglot import exp

from dpcompose.bridge.open_spec import Value
from dpcompose.bridge.relations import Column, SqlRows
from dpcompose.bridge.sql_reader import PUBLIC_GROUPS, QueryReader, Scope, conjuncts, product
from dpcompose.bridge.writer import name as name_in_yaml
from dpcompose.errors import quoted
from dpcompose.spec.reading import OPEN as TODO


class Equality(NamedTuple):
    """Two columns that a join makes equal, that of the right table second."""

    left: Column
    right: Column


def read_from(reader: QueryReader, query: exp.Select) -> tuple[SqlRows, list[exp.Expr]]:
    """Returns the joined rows of FROM and the conditions of WHERE; the columns of FROM are
    added to the scope."""
    where, first = query.args.get("where"), query.args.get("from_")
    conditions = conjuncts(None if where is None else where.this)
    if first is None:
        return SqlRows(), conditions
    found = read_item(reader, first.this)
    joins = [*(query.args.get("joins") or ()), *(query.args.get("laterals") or ())]
    for number, each in enumerate(joins):
        suffix = "_joined" if not number else f"_joined_{number + 1}"
        found = read_join(reader, found, each, conditions, suffix)
    return found, conditions


def read_item(reader: QueryReader, node: exp.Expr) -> SqlRows:
    """Returns one item of FROM, and adds its columns to the scope."""
    alias = node.args.get("alias")
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
        reader.world.seen.add(reader.world.number(node))
        reader.no_rest(node)
        node = node.this
    if isinstance(node, exp.Table):
        found = reader.table(node)
    elif isinstance(node, exp.Subquery):
        found = reader.world.read(reader.inside(f"{reader.name}_in"), node)
    elif isinstance(node, exp.Values):
        found = SqlRows()
    else:
        found = reader.function(node, node)
    found = reader.renamed(found, reader.names_of(alias), node)
    name = reader.key(alias.this) if alias is not None and alias.this else reader.called(node)
    name = name or f" {len(reader.scope.sources)}"
    if name in reader.scope.sources:
        reader.refuse(node, f"two tables are called {quoted(name)} here")
    reader.scope.sources[name] = found
    return found


def read_join(
    reader: QueryReader, left: SqlRows, join: exp.Expr, conditions: list[exp.Expr], suffix: str
) -> SqlRows:
    """Returns the rows of a join. `conditions`: those of WHERE."""
    if isinstance(join, exp.Lateral) or isinstance(join.this, exp.Unnest | exp.Lateral):
        return read_unnest(reader, left, join, suffix)
    side, kind = (join.args.get(each) or "" for each in ("side", "kind"))
    reader.no_rest(join)
    if kind not in ("", "INNER", "OUTER", "CROSS"):
        reader.refuse_mixing(join, f"a {kind} join")
    before = dict(reader.scope.sources)
    right = read_item(reader, join.this)
    name = next(each for each in reader.scope.sources if each not in before)
    tests, using = conjuncts(join.args.get("on")), join.args.get("using") or ()
    for each in tests:
        reader.own_row(each)
    equal = [equality(reader, each, name) for each in (*tests, *(() if side else conditions))]
    equal += [equality_of_using(reader, each, before, right, side) for each in using]
    pairs = [each for each in equal if each is not None]
    # Columns of a side that may be missing are no unit: all rows without a match share NULL.
    missing = {"LEFT": [name], "RIGHT": [*before], "FULL": [*reader.scope.sources]}
    for title in missing.get(side, ()):
        reader.scope.sources[title] = replace(reader.scope.sources[title], nullable=True)
    if not left.private and not right.private:
        return left
    if left.private and right.private:
        return join_private(reader, left, right, pairs, join, suffix)
    keeps = side == "FULL" or side == ("RIGHT" if left.private else "LEFT")
    if keeps and reader.claimed != PUBLIC_GROUPS:
        says = "the join keeps unmatched public rows: which ones depends on all units"
        reader.refuse(join, says, "keep those of the private side alone")
    alone = len(tests) == 1 or len(using) == 1
    private, public = (left, right) if left.private else (right, left)
    ends = [each if left.private else Equality(each.right, each.left) for each in pairs]
    return join_public(reader, private, public, ends, alone, join, suffix)


def equality(reader: QueryReader, test: exp.Expr, right: str) -> Equality | None:
    """Returns the columns that a condition makes equal, that of the table `right` second; None
    for another condition."""
    test = test.unnest()
    sides = [test.left.unnest(), test.right.unnest()] if isinstance(test, exp.EQ) else []
    if not sides or not all(isinstance(each, exp.Column) for each in sides):
        return None
    one, two = (Column(reader.key(each.this), reader.lineage(each)) for each in sides)
    there, here = (may_be_of(reader, each, right) for each in sides)  # type: ignore[arg-type]
    if there == here:
        return None
    return Equality(two, one) if there else Equality(one, two)


def may_be_of(reader: QueryReader, column: exp.Column, table: str) -> bool:
    """Returns whether a column may be one of a table of FROM."""
    if column.table:
        return reader.key(column.args["table"]) == table
    return reader.scope.sources[table].find(reader.key(column.this))[0]


def equality_of_using(
    reader: QueryReader,
    column: exp.Identifier,
    before: dict[str, SqlRows],
    right: SqlRows,
    side: str,
) -> Equality:
    """Returns the columns that USING makes equal, and adds the one that it shows to the scope.
    `before`: the tables on the left."""
    name = reader.key(column)
    left = replace(reader, scope=Scope(before, reader.scope.merged))
    one, two = left.lineage(exp.column(column.copy())), right.find(name)[1]
    both = reader.is_unit(one) and reader.is_unit(two)
    kept = two if side == "RIGHT" else one if side != "FULL" or both else None
    reader.scope.merged[name] = kept
    return Equality(Column(name, one), Column(name, two))


def join_private(
    reader: QueryReader,
    left: SqlRows,
    right: SqlRows,
    pairs: list[Equality],
    join: exp.Expr,
    suffix: str,
) -> SqlRows:
    """Returns the rows of two private tables joined on the unit."""
    if not any(reader.is_unit(a.lineage) and reader.is_unit(b.lineage) for a, b in pairs):
        unit = reader.world.unit
        says = f"a join of private rows that is not on {quoted(unit) if unit else 'the unit'}"
        hint = "a table that is nobody's data: `public: true` in the answers"
        reader.refuse_mixing(join, says, reader.say_unit or hint)
    most, side = product(left.most, right.most), join.args.get("side") or ""
    if left.most is not None and right.most is not None and most is not None:
        most = max(most, left.most, right.most) if side else most
        most = max(most, left.most + right.most) if side == "FULL" else most
    return replace(reader.own(join, left, most, suffix, [right]), one_by=())


def join_public(
    reader: QueryReader, private: SqlRows, public: SqlRows, pairs: list[Equality], alone: bool,
    join: exp.Expr, suffix: str,
) -> SqlRows:  # fmt: skip
    """Returns private rows, each joined with rows of a public table, where the first column of
    each of `pairs` equals the second one; `alone`: one condition alone."""
    keys = {each.right.name for each in pairs}
    table = public.open or reader.name + suffix
    given = reader.world.answers.of("max_rows", table)
    most = None if given is None else int(given)
    most = 1 if any(each <= keys for each in public.one_by) else most
    kind: dict[str, Value] = {"kind": "join-public"}
    kind["max_rows"] = TODO if most is None else str(most)
    if alone and len(pairs) == 1:
        kind["column"] = name_in_yaml(pairs[0].left.name)
    ask = f"how many rows of {table} does one row get at most?"
    asks = {"max_rows": ask} if most is None else {}
    return reader.mapped(join, private, kind, suffix, most=product(private.most, most), asks=asks)


def read_unnest(reader: QueryReader, left: SqlRows, join: exp.Expr, suffix: str) -> SqlRows:
    """Returns rows with the items of an array."""
    lateral = join if isinstance(join, exp.Lateral) else join.this
    node = lateral.this if isinstance(lateral, exp.Lateral) else lateral
    if isinstance(node, exp.Query) or node.find(exp.Query) is not None:
        reader.refuse_mixing(join, "a lateral subquery")
    if join.args.get("side") in ("RIGHT", "FULL") and reader.claimed != PUBLIC_GROUPS:
        reader.refuse(join, "the join keeps unmatched items")
    alias = lateral.args.get("alias")
    name = reader.key(alias.this) if alias is not None and alias.this else ""
    names = [each for each in (name, *reader.names_of(alias)) if each]
    items = SqlRows(columns=tuple(Column(each, None) for each in names))
    reader.scope.sources[name or f" {len(reader.scope.sources)}"] = items
    if not left.private:
        return left
    if reader.claimed:
        return reader.own(join, left, None, suffix)
    return reader.several(join, left, "how many items has the array of one row at most?", suffix)
