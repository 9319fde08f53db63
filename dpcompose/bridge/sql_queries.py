"""Queries: SELECT with its clauses in their order, and UNION, EXCEPT and INTERSECT."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from dpcompose.bridge.relations import Column, Origin, Rank, SqlRows, Star
from dpcompose.bridge.sql_clauses import steps_of_groups, steps_of_where, steps_of_windows
from dpcompose.bridge.sql_joins import read_from
from dpcompose.bridge.sql_reader import QueryReader


def read_query(reader: QueryReader, query: exp.Expr) -> SqlRows:
    """Returns the rows of a query. Raises Unconvertible."""
    reader.world.seen.add(reader.world.number(query))
    reader = reader.below(query)
    if isinstance(query, exp.Subquery):
        reader.no_rest(query)
        found = read_query(reader, query.this)
        reader.read_rest(query)
        return found
    if isinstance(query, exp.Select):
        return read_select(reader, query)
    if isinstance(query, exp.SetOperation):
        return read_set_operation(reader, query)
    if isinstance(query, exp.Values):
        return SqlRows()
    reader.refuse(query, f"{query.key.upper()} is not read here")


def read_select(reader: QueryReader, query: exp.Select) -> SqlRows:
    """Returns the rows of a SELECT. Raises Unconvertible."""
    if reader.model.clause_of(query) is not None:
        return reader.world.claim(reader, query)
    found, conditions = read_from(reader, query)
    shown = SqlRows(columns=tuple(columns_of(reader, query)))
    if not found.private:
        read_public(reader, query)
        return replace(shown, one_by=keys_kept(reader, query, found, shown))
    reader.no_rest(query)
    parts = (
        lambda: steps_of_where(reader, conditions, found),
        lambda: [*steps_of_groups(reader, query, shown)],
        lambda: steps_of_windows(reader, query, shown),
    )
    steps = [each for part in reader.world.all_of(parts) for each in part]
    rows = reader.after(steps, found)
    reader.read_rest(query)
    columns = tuple(with_dataset(reader, each, rows.dataset) for each in shown.columns)
    return replace(rows, columns=columns, open="", nullable=False)


def with_dataset(reader: QueryReader, each: Column | Star, dataset: str) -> Column | Star:
    """Returns a column; of a number of rows it is known which dataset was numbered."""
    if isinstance(each, Star) or not isinstance(each.lineage, Rank):
        return each
    return each._replace(lineage=each.lineage._replace(on=each.lineage.on or dataset))


def read_public(reader: QueryReader, query: exp.Select) -> None:
    """Raises Unconvertible where a query over public tables reads private rows elsewhere."""
    for each in query.iter_expressions():
        if not isinstance(each, exp.From | exp.With | exp.Join | exp.Lateral):
            reader.own_row(each, windows=True)
    reader.read_rest(query)


def keys_kept(
    reader: QueryReader, query: exp.Select, found: SqlRows, shown: SqlRows
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


def columns_of(reader: QueryReader, query: exp.Select) -> Iterator[Column | Star]:
    """Yields the columns that a SELECT lists, in order, each with its source; a `*` is for those of
    its table."""
    for number, each in enumerate(query.expressions):
        inner = each.unalias()
        star = inner.this if isinstance(inner, exp.Column) else inner
        if isinstance(star, exp.Star):
            yield from columns_of_star(reader, star, inner.args.get("table"))
            continue
        named = each.args["alias"] if isinstance(each, exp.Alias) else None
        named = each.this if isinstance(each, exp.Column) else named
        # A column without a name is found by nobody.
        yield Column(f" {number}" if named is None else reader.key(named), reader.lineage(inner))


def columns_of_star(
    reader: QueryReader, star: exp.Star, table: exp.Identifier | None
) -> Iterator[Column | Star]:
    """Yields the columns that * means, of all tables or of one."""
    if star.args.get("rename"):
        reader.refuse(star, "* RENAME is not read here: name the columns")
    replaced = [reader.key(one.alias) for one in star.args.get("replace") or ()]
    less = {reader.key(one.name) for one in star.args.get("except_") or ()} | {*replaced}
    yield from (Column(each, None) for each in replaced)
    if table is None:
        merged = reader.scope.merged.items()
        yield from (Column(name, one) for name, one in merged if name not in less)
    wanted = None if table is None else reader.key(table)
    for name, rows in reader.scope.sources.items():
        if wanted in (None, name):
            yield Star(rows, frozenset(less))


def read_set_operation(reader: QueryReader, query: exp.SetOperation) -> SqlRows:
    """Returns the rows of UNION, EXCEPT or INTERSECT."""
    branches, parts = [(query.this, "_l"), (query.expression, "_r")], [query]
    while isinstance(query, exp.Union) and is_chained(query, branches[0][0]):
        outer, suffix = branches[0]
        inner = outer.unnest()
        branches[:1] = [(inner.this, f"{suffix}_l"), (inner.expression, f"{suffix}_r")]
        parts += [inner, *([outer] if outer is not inner else [])]
    found = [read_query(reader.inside(reader.name + suffix), each) for each, suffix in branches]
    private = [each for each in found if each.private]
    reader.world.seen.update(map(reader.world.number, parts))
    for each in parts:  # of a chain of UNION, those between are read as well
        reader.read_rest(each)
        if private:
            reader.no_rest(each)
    if not private:
        return SqlRows()
    if len(private) < len(found):
        reader.refuse(query, "private rows and public ones in one table: whose rows are they?")
    shown = SqlRows(columns=columns_in_all(reader, found))
    is_union = isinstance(query, exp.Union)
    if (not is_union or query.args.get("distinct")) and not reader.world.shows_unit(shown):
        says = f"{query.key.upper()} without the unit, or with * of unknown columns"
        reader.refuse_mixing(query, says, "name the columns")
    counts = [each.most for each in found if each.most is not None]
    most = sum(counts) if len(counts) == len(found) else None
    made = reader.own(query, found[0], most if is_union else found[0].most, others=found[1:])
    return replace(made, columns=shown.columns, open="", one_by=(), nullable=False)


def columns_in_all(reader: QueryReader, found: list[SqlRows]) -> tuple[Column | Star, ...]:
    """Returns the columns of queries that are put below each other: of each it is known only
    whether it is the unit in all of them."""
    listed = [each.listed() for each in found]
    first = listed[0] or []
    if all(each is not None and len(each) == len(first) for each in listed):
        units = [
            all(reader.is_unit(each[at].lineage) for each in listed if each)
            for at in range(len(first))
        ]
        return tuple(
            Column(each.name, each.lineage if unit else None)
            for each, unit in zip(first, units, strict=True)
        )
    same = all((each.columns, each.open) == (found[0].columns, found[0].open) for each in found)
    return (found[0].columns or (Star(found[0], frozenset()),)) if same else ()


def is_chained(query: exp.Union, branch: exp.Expr) -> bool:
    """Returns whether the first branch of a UNION is one of the same kind."""
    inner = branch.unnest()
    wrapped = inner is branch or inner is branch.this  # else parts between them would be missed
    if not isinstance(inner, exp.Union) or not wrapped or branch.args.get("with_"):
        return False
    return bool(inner.args.get("distinct")) == bool(query.args.get("distinct"))
