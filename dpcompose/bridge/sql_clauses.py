"""WHERE, GROUP BY, DISTINCT, QUALIFY and windows: what each makes of the rows of each unit."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from sqlglot import exp

from dpcompose.bridge.open_spec import Value
from dpcompose.bridge.relations import Rank, SqlRows, parts_of
from dpcompose.bridge.sql_reader import ONE_ROW, ClauseStep, QueryReader, conjuncts, is_aggregate
from dpcompose.bridge.writer import name as name_in_yaml

_NO_TIE = "assumed: no row of another unit decides a tie of the order"
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


class NumberTest(NamedTuple):
    """A comparison of an expression with a number or a text."""

    kind: type[exp.Expr]
    left: exp.Expr
    right: exp.Literal


def steps_of_where(
    reader: QueryReader, conditions: list[exp.Expr], found: SqlRows
) -> list[ClauseStep]:
    """Returns the steps of the conditions of WHERE: caps, what looks at several rows, and one
    filter for all that look at one row."""
    steps = reader.world.all_of(partial(step_of, reader, each, found) for each in conditions)
    known = [each for each in steps if each is not None]
    caps = [each for each in known if each.suffix == "_cap"]
    filters = [each for each in known if each.suffix == "_where"]
    return [*caps, *(each for each in known if each not in (*caps, *filters)), *filters[:1]]


def step_of(reader: QueryReader, test: exp.Expr, found: SqlRows) -> ClauseStep | None:
    """Returns the step of one condition, None for one that a run of the model may leave out."""
    number = number_of(reader, test)
    if number is not None and number[0].on == found.dataset:
        return step_of_cap(reader, test, *number)
    query = test.args.get("query") if isinstance(test, exp.In) else None
    if isinstance(test, exp.In) and query is not None and reader.is_unit(test.this):
        return step_of_in(reader, test)
    rate = rate_of(test) if reader.model.dialect in _UNIFORM else None
    if rate is not None:
        says = "assumed: RAND() is drawn for each row, uniform from 0 to 1"
        return ClauseStep("_sample", test, {"kind": "sample", "poisson": rate}, says)
    reader.own_row(test)
    if any(isinstance(reader.lineage(each), Rank) for each in test.find_all(exp.Column)):
        return ClauseStep("_windows", test)
    models = (reader.world.models.get(parts_of(each)) for each in test.find_all(exp.Table))
    # By what the model wrote before it selects on any run, or on none.
    own = any(each is reader.model for each in models)
    return None if own else ClauseStep("_where", test, "filter")


def step_of_in(reader: QueryReader, node: exp.In) -> ClauseStep:
    """Returns the step of rows whose unit another query has as well."""
    spec = reader.world.spec
    before = set(spec.datasets)
    inner = reader.subquery(node.args["query"])
    for each in spec.datasets.keys() - before - reader.world.people.keys():
        del spec.datasets[each]  # it only says which units are there
    if not inner.private:
        return ClauseStep("_in", node, "filter")
    if len(inner.columns) != 1 or inner.stars or not reader.world.shows_unit(inner):
        reader.refuse_mixing(node, "a subquery over private rows that gives no unit")
    return ClauseStep("_in", node, others=(inner,))


def number_of(
    reader: QueryReader, test: exp.Expr, shown: SqlRows | None = None
) -> tuple[Rank, int] | None:
    """Returns what a condition such as `rn <= 3` keeps: which number of rows, and how many.
    `shown`: the columns of the SELECT, whose names QUALIFY knows."""
    if isinstance(test, exp.Between) and test.args["low"].sql() == "1":
        test = exp.LTE(this=test.this, expression=test.args["high"])  # rows have numbers from 1 on
    found = comparison(test)
    if found is None or found.kind not in (exp.LT, exp.LTE, exp.EQ) or not found.right.is_int:
        return None
    left, rank = found.left, reader.lineage(found.left)
    if rank is None and shown is not None and isinstance(left, exp.Column) and not left.table:
        rank = shown.named(reader.key(left.this))
    most = int(found.right.name) - (found.kind is exp.LT)
    if not isinstance(rank, Rank) or most < 1 or (found.kind is exp.EQ and most != 1):
        return None
    return rank, most


def step_of_cap(reader: QueryReader, node: exp.Expr, rank: Rank, most: int) -> ClauseStep:
    """Returns the step of the first rows of each unit, or of each value of other columns."""
    if len(rank.by) == 1 and reader.by_unit(rank):
        kind: Value = {"kind": "cap", "rows": str(most), "keep": rank.keep}
        return ClauseStep("_cap", node, kind, _NO_TIE, cap=most)
    if reader.by_unit(rank):
        return ClauseStep("_cap", node)
    if not rank.by:
        reader.refuse_mixing(node, "the first rows of all units together")
    per = name_in_yaml(", ".join(each.name for each in rank.by))
    kind = {"kind": "limit", "per": per, "rows": str(most), "keep": rank.keep}
    says = "assumed: ties of the order are decided in the same way whoever is there; "
    says += "rows of one unit push out those of another"
    says += f"; {reader.say_unit}" if reader.say_unit else ""
    return ClauseStep("_cap", node, kind, says, mixes=True)


def steps_of_groups(reader: QueryReader, query: exp.Select, shown: SqlRows) -> Iterator[ClauseStep]:
    """Yields the steps of GROUP BY, HAVING and DISTINCT inside of a query, and of functions
    that may make several rows."""
    aggregated, having = is_aggregate(query), query.args.get("having")
    for each in query.expressions:
        reader.own_row(each, windows=True)
    if aggregated:
        keys = [reader.is_unit(each) for each in keys_of(reader, query)]
        if not any(keys):
            says = "an aggregate over several units inside of a query"
            reader.refuse_mixing(query, says, reader.say_unit)
        yield step_of_units(reader, "_grouped", query, alone=len(keys) == 1)
        if having is not None:
            reader.own_row(having.this)
            yield ClauseStep("_having", having, "filter")
    elif any(each.find(exp.Anonymous, exp.AnonymousAggFunc) for each in query.expressions):
        inner = (each.unalias() for each in query.expressions)
        if not any(isinstance(each, exp.Column | exp.Star) for each in inner):
            reader.refuse(query, "a function that is not known here may look at several rows")
        if reader.model.dialect not in ONE_ROW:
            ask = "how many rows does a function of the SELECT list make of one?"
            yield ClauseStep("_called", query, ask=ask)
    distinct = query.args.get("distinct")
    on = distinct.args.get("on") if isinstance(distinct, exp.Distinct) else None
    if on is not None:
        if [reader.is_unit(each) for each in on.expressions] != [True] or aggregated:
            reader.refuse_mixing(query, "DISTINCT ON other columns than the unit")
        kind: Value = {"kind": "cap", "rows": "1", "keep": "first"}
        yield ClauseStep("_distinct", query, kind, _NO_TIE, cap=1)
    elif isinstance(distinct, exp.Distinct) and not aggregated:
        if not reader.world.shows_unit(shown):
            reader.refuse_mixing(query, "DISTINCT without the unit")
        alone = len(shown.columns) == 1 and not shown.stars
        yield step_of_units(reader, "_distinct", query, alone)


def step_of_units(reader: QueryReader, suffix: str, query: exp.Expr, alone: bool) -> ClauseStep:
    """Returns the step to one row for each unit (`alone`), or for each unit and more."""
    kind = {"kind": "group", "by": name_in_yaml(reader.world.shown_unit)} if alone else None
    return ClauseStep(suffix, query, kind, cap=1 if alone else None)


def keys_of(reader: QueryReader, query: exp.Select) -> list[exp.Expr]:
    """Returns what a SELECT groups by; numbers and names of its columns stand for these."""
    group = query.args.get("group")
    if group is None:
        return []
    reader.no_rest(group)
    if group.args.get("all"):
        return [each.unalias() for each in query.expressions if not each.find(exp.AggFunc)]
    named = {each.alias.lower(): each.unalias() for each in query.expressions if each.alias}
    found: list[exp.Expr] = []
    for each in group.expressions:
        inner = each.unnest()
        if isinstance(inner, exp.Literal) and inner.is_int:
            if not 0 < int(inner.name) <= len(query.expressions):
                reader.refuse(each, f"there is no column {inner.name}")
            inner = query.expressions[int(inner.name) - 1].unalias()
        elif isinstance(inner, exp.Column) and not inner.table:
            inner = named.get(inner.name.lower(), inner)
        found += inner.expressions if isinstance(inner, exp.Tuple) else [inner]
    return [each.unnest() for each in found]


def steps_of_windows(reader: QueryReader, query: exp.Select, shown: SqlRows) -> list[ClauseStep]:
    """Returns the steps of the windows of a query, and of QUALIFY."""
    qualify = query.args.get("qualify")
    tests = conjuncts(None if qualify is None else qualify.this)
    windows = [each for item in query.expressions for each in item.find_all(exp.Window)]
    if is_aggregate(query) and (qualify is not None or windows):
        reader.refuse_mixing(query, "a window over aggregates")
    numbers = [number_of(reader, each, shown) for each in tests]
    rest = [each for each, number in zip(tests, numbers, strict=True) if number is None]
    # A number of rows that is only shown matters where it is used.
    lazy = [each.unalias().unnest() for each in query.expressions]
    lazy = [each for each in lazy if isinstance(reader.lineage(each), Rank)]
    windows = [each for each in windows if not any(each is one for one in lazy)]
    windows += [each for test in rest for each in test.find_all(exp.Window)]
    for window in windows:
        if isinstance(window.this, exp.Rank | exp.DenseRank):
            reader.refuse(window, "RANK has ties: use ROW_NUMBER")
        if not any(map(reader.is_unit, window.args.get("partition_by") or ())):
            reader.refuse_mixing(window, "a window over several units", reader.say_unit)
    for each in tests:
        reader.own_row(each, windows=True)
    for each in rest:
        ranks = (shown.named(reader.key(one.this)) for one in each.find_all(exp.Column))
        if any(isinstance(one, Rank) and not reader.by_unit(one) for one in ranks):
            reader.refuse_mixing(each, "a number of rows of several units")
    caps = zip(tests, numbers, strict=True)
    return [
        *([ClauseStep("_windows", query)] if windows or rest else []),
        *(step_of_cap(reader, each, *number) for each, number in caps if number is not None),
    ]


def comparison(test: exp.Expr) -> NumberTest | None:
    """Returns a comparison with a number on the right, None for another condition."""
    test = test.unnest()
    if not isinstance(test, exp.LT | exp.LTE | exp.GT | exp.GTE | exp.EQ):
        return None
    kind: type[exp.Expr] = type(test)
    left, right = test.left.unnest(), test.right.unnest()
    if isinstance(left, exp.Literal):
        left, right, kind = right, left, _EXCHANGED.get(kind, kind)
    return NumberTest(kind, left, right) if isinstance(right, exp.Literal) else None


def rate_of(test: exp.Expr) -> str | None:
    """Returns the chance of `RAND() < q`, None for another condition."""
    found = comparison(test)
    if found is None or found.kind not in (exp.LT, exp.LTE):
        return None
    chance, left = found.right, found.left
    if type(left) is not exp.Rand or left.this or not chance.is_number or float(chance.name) >= 1:
        return None
    return chance.name
