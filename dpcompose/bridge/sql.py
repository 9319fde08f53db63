"""SQL files: their statements, and plain aggregates, to which noise is added elsewhere."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import ceil
from typing import NamedTuple

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from dpcompose.bridge.bigquery import Clause, Policy, cut, policies_in, view_of
from dpcompose.bridge.open_spec import Value
from dpcompose.bridge.relations import Project, SqlModel, World
from dpcompose.bridge.sql_clauses import keys_of, steps_of_where
from dpcompose.bridge.sql_joins import read_from
from dpcompose.bridge.sql_queries import read_public
from dpcompose.bridge.sql_reader import ONE_ROW, ClauseStep, QueryReader, draw, is_aggregate
from dpcompose.bridge.values import Item, Unconvertible, exact, from_json
from dpcompose.bridge.writer import name as name_in_yaml
from dpcompose.core.numbers.expressions import MAX_EXPONENT, MAX_LENGTH, NUMBER, ExpressionError
from dpcompose.errors import quoted
from dpcompose.spec.reading import OPEN as TODO

#: Parentheses, CASE and subqueries are nested so deep at most: sqlglot calls itself for each.
MOST_NESTED = 40
#: Kinds of characters that move the cursor or end a line.
_UNSEEN = frozenset(("Cc", "Zl", "Zp", "Cs"))
#: What sqlglot does not read is refused here, in words of our own.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
#: Statements that read no rows for anybody.
_HARMLESS = (exp.Drop, exp.Set, exp.Use, exp.Grant, exp.Comment, exp.Semicolon)
_HOW = {"VIEW": "view", "TABLE": "table"}


def parsed(
    text: str, dialect: str, where: Callable[[int], str]
) -> list[tuple[exp.Expr, dict[str, Clause]]]:
    """Returns the statements of SQL, each with the clauses that were cut out of it.

    `where`: the place of a line. Raises Unconvertible.
    """
    read = "bigquery" if dialect == "googlesql" else dialect or None
    try:
        tokens = sqlglot.tokenize(text, read=read)
        depth = 0
        for each in tokens:
            if each.token_type == TokenType.NUMBER:
                known_number(each.text, where(each.line))
            depth += (each.token_type in _OPENING) - (each.token_type in _CLOSING)
            if depth > MOST_NESTED:
                raise Unconvertible(
                    where(each.line), f"parentheses or CASE are nested deeper than {MOST_NESTED}"
                )
        clean, clauses = cut(tokens, text, where)
        found = sqlglot.parse(clean, read=read)
    except SqlglotError as error:
        says = _ANSI.sub("", str(error)).split("\n")[0]
        line = re.search(r"Line (\d+), Col: \d+", says)
        hint = None if dialect else "--dialect says which SQL this is"
        raise Unconvertible(
            where(int(line[1]) if line else 1), f"sqlglot does not read this: {says[:200]}", hint
        ) from None
    except (RecursionError, MemoryError):
        raise Unconvertible(where(1), "the SQL is nested too deep") from None
    for statement in found:
        for word in () if statement is None else statement.find_all(exp.Identifier):
            if any(unicodedata.category(letter) in _UNSEEN for letter in word.name):
                says = f"the name {quoted(word.name)} has characters that control a terminal"
                raise Unconvertible(where(int(word.meta.get("line", 1))), says)
    return [(each, clauses) for each in found if each is not None]


def known_number(text: str, where: str) -> None:
    """Raises Unconvertible for a number of SQL that is too long, or too large or small."""
    if not NUMBER.fullmatch(text):
        return  # a number in another notation, whose value is not used
    digits, _, exponent = text.lower().partition("e")
    if len(text) > MAX_LENGTH or abs(int(exponent or 0)) > MAX_EXPONENT:
        says = f"the number {quoted(text[:30])} is longer than {MAX_LENGTH} characters"
        if len(text) <= MAX_LENGTH:
            says = f"the exponent of {quoted(digits[:30])}e{exponent[:30]} is beyond {MAX_EXPONENT}"
        raise Unconvertible(where, says)


def models_of(
    text: str, file: str, name: str, dialect: str, refusals: list[Unconvertible] | None = None
) -> tuple[list[SqlModel], list[Policy]]:
    """Returns the queries of a file and the policies that it sets. Raises Unconvertible.

    `name`: what a query of the file is called; a second one is `query 2`. `refusals`: takes what
    is wrong with each statement, so that the others are read; without it the first one is raised.
    """
    models: list[SqlModel] = []
    policies: list[Policy] = []
    for statement, clauses in parsed(text, dialect, lambda line: f"{file}:{line}"):
        model = SqlModel(name, None, file, dialect=dialect, clauses=clauses)
        try:
            if describe(statement, model, sum(each.kind == "query" for each in models) + 1):
                models.append(model)
            policies += policies_of(statement, model.where(statement))
        except Unconvertible as error:
            if refusals is None:
                raise
            refusals.append(error)
    return models, policies


def describe(statement: exp.Expr, model: SqlModel, number: int) -> bool:
    """Returns whether a statement is a query, and notes in its model what it is called and how it
    is stored. Raises Unconvertible for a statement that is not read here.

    `number`: that of the query in its file.
    """
    where = model.where(statement)
    if isinstance(statement, exp.Create | exp.Insert) and isinstance(
        statement.expression, exp.Query | exp.Subquery
    ):
        target = statement.this.this if isinstance(statement.this, exp.Schema) else statement.this
        kind = _HOW.get(str(statement.args.get("kind") or "TABLE").upper(), "")
        if not kind or not isinstance(target, exp.Table):
            raise Unconvertible(where, f"CREATE {statement.args.get('kind')} is not read here")
        if isinstance(statement, exp.Create) and statement.find(exp.MaterializedProperty):
            kind = "materialized_view"
        parts = tuple(each.name for each in target.parts)
        model.name, model.key, model.kind = parts[-1], parts, kind
        model.schema = parts[-2] if len(parts) > 1 else ""
        model.query, model.inserted = statement.expression, isinstance(statement, exp.Insert)
        return True
    if isinstance(statement, exp.Query | exp.Subquery):
        model.name = model.name if number == 1 else f"query {number}"
        model.query = statement
        return True
    if isinstance(statement, exp.Create | exp.Alter):
        if statement.find(exp.Query):
            raise Unconvertible(where, f"{statement.key.upper()} is not read here")
    elif not isinstance(statement, _HARMLESS):
        kind = statement.name if isinstance(statement, exp.Command) else statement.key
        raise Unconvertible(where, f"{kind.upper()} is not read here", "give the queries")
    return False


def policies_of(statement: exp.Expr, where: str) -> list[Policy]:
    """Returns the policies that a statement sets. Raises Unconvertible."""
    found: list[Policy] = []
    for each in statement.find_all(exp.Property):
        if each.name.lower() == "privacy_policy":
            target = statement.find(exp.Table)
            assert target is not None
            view = tuple(part.name for part in target.parts)
            found += policies_in(from_json(each.args["value"].name), view, where)
    return found


def is_of(files: Mapping[str, str]) -> bool:
    """Returns whether files are SQL at all."""
    return any(name.endswith(".sql") for name in files)


def clauses_in(files: Mapping[str, str]) -> bool:
    """Returns whether files have a clause or a policy of BigQuery."""
    words = re.compile(
        r"\bwith\s+(differential_privacy|anonymization|aggregation_threshold)\b|privacy_?policy",
        re.I,
    )
    return any(
        words.search(text) and "privacy_budget" not in text.lower() for text in files.values()
    )


def read_files(files: Mapping[str, str], dialect: str, found: Project) -> Project:
    """Reads files of SQL, and JSON of `bq show`, into a project."""
    taken: set[str] = set()
    for file, text in files.items():
        found.within_time()
        name = file.rpartition("/")[2].rpartition(".")[0] or file
        name = name if name not in taken else file.rpartition(".")[0]
        taken.add(name)
        try:
            if file.endswith(".sql"):
                budgets, rest = budgets_in(text, file)
                models, policies = models_of(rest, file, name, dialect, found.refusals)
                found.budgets += budgets
                found.models += models
                found.policies += policies
            elif "usersNoisePerQuery" in text:
                found.budgets += clean_rooms(text, file)
            elif file.endswith(".json"):
                view, query, policy = view_of(text, file)
                if query:
                    made, policies = models_of(query, file, view[-1], dialect)
                    for each in made:
                        each.key, each.kind, each.schema = view, "view", view[-2]
                    found.models += made
                found.policies += policies_in(policy, view, f"{file}:1") if policy else ()
        except Unconvertible as error:
            found.refusals.append(error)
    return found


# --- plain aggregates ----------------------------------------------------------------------------


class Aggregate(NamedTuple):
    """The SELECT with the aggregates of a query, below those that only pick or rename its columns.

    `reader`: the one at its place. `names`: the names of its columns in the result, by those that
    it gives them, in lower case.
    """

    query: exp.Select
    reader: QueryReader
    names: dict[str, str]


#: What a SELECT may have that only shows the columns of the query below it.
_PASSES_ON = {"with_", "expressions", "from_", "order", "limit", "offset", "kind", "hint"}
_SHOWN, _ORDERS = (exp.Star, exp.Column), ("order", "limit", "offset")
#: What may not look at an aggregate.
_ON_AGGREGATES = {
    "having": "HAVING on an aggregate: which groups pass is exact",
    "order": "ORDER BY an aggregate: the order of the rows is exact; sort them after the noise",
}
#: A number in the answers, which YAML holds as it is.
_NUMBER = re.compile(r"[\d.e+/-]+")


def aggregate_of(reader: QueryReader, query: exp.Expr) -> Aggregate | None:
    """Returns the aggregates that a query shows; None for a query that shows rows, or noisy
    numbers."""
    while isinstance(query, exp.Subquery):
        reader.no_rest(query)
        reader, query = reader.below(query), query.this
    reader = reader.below(query)
    if not isinstance(query, exp.Select) or reader.model.clause_of(query) is not None:
        return None
    if is_aggregate(query) or _noisy(query):
        return Aggregate(query, reader, {})
    source, shown = query.args.get("from_"), [each.unalias() for each in query.expressions]
    only = not any(query.args[each] for each in query.args.keys() - _PASSES_ON)
    if source is None or not only or not all(isinstance(each, _SHOWN) for each in shown):
        return None
    named = reader.defined(source.this)
    if named is not None:
        found = aggregate_of(named.reader, named.query)
    else:
        found = aggregate_of(reader, source.this) if isinstance(source.this, exp.Subquery) else None
    if found is not None and any(query.args.get(each) for each in _ORDERS):
        says = "ORDER BY or LIMIT over exact aggregates: which rows are shown is exact"
        found.reader.refuse(query, says)
    if found is None or any(each.is_star for each in shown):
        return found
    new = {each.unalias().name.lower(): each.alias_or_name for each in query.expressions}
    below = found.names or {each: each for each in new}
    names = {one: new[two.lower()] for one, two in below.items() if two.lower() in new}
    return found._replace(names=names)


def _noisy(query: exp.Select) -> bool:
    """Returns whether a SELECT has a noisy aggregate of Presto."""
    return any(_presto(each) for item in query.expressions for each in item.find_all(exp.Anonymous))


def _presto(node: exp.Expr) -> bool:
    """Returns whether an expression is a noisy aggregate of Presto."""
    return isinstance(node, exp.Anonymous) and node.name.lower().startswith("noisy_")


def release_aggregates(found: Aggregate) -> None:
    """Makes a mechanism of each aggregate of a query. Raises Unconvertible."""
    query, reader, names = found
    rows, conditions = read_from(reader, query)
    if not rows.private:
        read_public(reader, query)
        return
    reader.no_rest(query, less="qualify distinct")
    steps = steps_of_where(reader, conditions, rows)
    keys = keys_of(reader, query)
    steps += _having_and_order(reader, query)
    if reader.model.dialect not in ONE_ROW and any(each.find(exp.Anonymous) for each in keys):
        ask = "how many rows does a function of GROUP BY make of one?"
        steps.append(ClauseStep("_called", query, ask=ask))
    rows = reader.after(steps, rows)
    for key in keys:
        reader.own_row(key)
        if reader.is_unit(key):
            says = "one group for each unit: the groups themselves tell who is there"
            reader.refuse(query, says)
    groups = Groups(rows.dataset)
    if keys:
        shown = [each for each in query.expressions if each.unalias().unnest() in keys]
        called = [each.alias_or_name for each in shown]
        groups = _partition(reader, query, rows.dataset, called, names)
    released = []
    for number, each in enumerate(query.expressions, 1):
        inner, own = each.unalias().unnest(), each.alias_or_name
        if inner not in keys and not isinstance(inner, exp.Literal | exp.Null):
            title = names.get(own.lower(), own) or f"column {number}"
            released.append(partial(_release_one, reader, groups, inner, title))
    reader.world.all_of(released)
    reader.read_rest(query)


def _having_and_order(reader: QueryReader, query: exp.Select) -> list[ClauseStep]:
    """Returns the step of HAVING on keys. Raises Unconvertible for HAVING and ORDER BY on
    aggregates."""
    aggregates = [each for each in query.expressions if each.find(exp.AggFunc)]
    aliases = {each.alias.lower() for each in aggregates if each.alias}
    for word, says in _ON_AGGREGATES.items():
        part = query.args.get(word)
        columns = () if part is None else part.find_all(exp.Column)
        numbers = [each.this for each in part.expressions] if word == "order" and part else []
        at = [int(each.name) - 1 for each in numbers if each.is_int and each.name.isdigit()]
        if part is not None and (
            part.find(exp.AggFunc)
            or any(each.name.lower() in aliases for each in columns)
            or any(each in aggregates for number in at for each in query.expressions[number:][:1])
        ):
            reader.refuse(part, says)
    having = query.args.get("having")
    if having is None:
        return []
    reader.own_row(having.this)
    return [ClauseStep("_having", query, "filter")]


class Groups(NamedTuple):
    """What aggregates are of: a dataset; with GROUP BY the blocks of a partition, whose name has
    the end `suffix`."""

    reads: str
    suffix: str = ""


def _partition(
    reader: QueryReader, query: exp.Select, below: str, keys: list[str], names: Mapping[str, str]
) -> Groups:
    """Writes the partition of GROUP BY. `keys`: the columns that it shows."""
    model, world = reader.model, reader.world
    suffix = "_by_" + "_".join(names.get(each.lower(), each) for each in keys)
    groups = world.answers.of("groups", model.name)
    ask = "which groups are published, each with noise, also where it is empty?"
    said = [f"{each}: {', '.join(model.tests[each])}" for each in keys if each in model.tests]
    ask += f" accepted_values says {'; '.join(said)}" if said else ""
    spread: dict[str, Value] = {"by": "value", "blocks": world.spec.blocks(groups)}
    values: dict[str, Value] = {"from": below, "partition": spread}
    says, asks = "assumed: empty groups are published too", {} if groups else {"blocks": ask}
    name = replace(reader, name=model.name).dataset(query, values, suffix, says, asks)
    return Groups(f"{name}.*", suffix)


def _release_one(reader: QueryReader, groups: Groups, node: exp.Expr, title: str) -> None:
    """Makes a mechanism of one aggregate."""
    model, world = reader.model, reader.world
    where = model.where(node)
    says, asks = f"from {where}", dict[str, str]()
    values: dict[str, Value] = {"reads": groups.reads}
    if _presto(node):
        values |= presto(reader, node, bool(groups.suffix))
        draw(reader, values, says, where, f"{model.name} {title}")
        return
    moved = sensitivity(reader, node)
    if isinstance(node, exp.Count) and _counts_units(reader, node.this):
        kind: Value = {"kind": "cap", "rows": "1", "keep": "first"}
        capped: dict[str, Value] = {"from": groups.reads, "map": kind}
        at = replace(reader, name=model.name)
        each_once = "each unit counts once"
        values["reads"] = at.dataset(node, capped, f"_{title}_units", each_once)
    noise = world.answers.of("noise", model.name) or {}
    if title in noise:
        for key, value in Item(noise[title], f"noise of {title}").value.items():
            number = _NUMBER.fullmatch(str(value))
            values[str(key)] = str(value) if number else name_in_yaml(value)
    elif is_released(model):
        values |= {"mechanism": "laplace", "scale": TODO}
        ask = f"which noise is added to {title}, outside of SQL? `noise:` of the answers names it"
        asks["scale"] = ask
    else:
        note = f"{title} of {model.name} is exact and not counted; published, it has no guarantee"
        world.notes.append(f"{where}: {note}")
        return
    values["sensitivity"] = TODO if moved is None else str(moved)
    if moved is None:
        ask = "how far does one row move it? `bounds:` of the answers gives the range"
        asks["sensitivity"] = ask
    elif node.find(exp.Sum):
        says += "; assumed: no NaN"
    draw(reader, values, says, where, f"{model.name} {title}", asks)


def is_released(model: SqlModel) -> bool:
    """Returns whether what a model shows is published: as it is said, or, in plain SQL, always."""
    return not model.dbt if model.released is None else model.released


def _counts_units(reader: QueryReader, counted: exp.Expr) -> bool:
    """Returns whether COUNT(DISTINCT …) counts the units themselves."""
    distinct = isinstance(counted, exp.Distinct) and len(counted.expressions) == 1
    return distinct and reader.is_unit(counted.expressions[0])


def sensitivity(reader: QueryReader, node: exp.Expr) -> Fraction | None:
    """Returns how far one row moves an aggregate; None for a sum whose bounds are not known. Raises
    Unconvertible."""
    node = node.unnest()
    if isinstance(node, exp.Filter):
        reader.own_row(node.expression)
        return sensitivity(reader, node.this)
    if isinstance(node, exp.Mul | exp.Div):
        return _scaled(reader, node)
    for each in node.iter_expressions():
        reader.own_row(each)
        if isinstance(node, exp.AggFunc) and each.find(exp.AggFunc):
            reader.refuse(node, "an aggregate of aggregates")
    if isinstance(node, exp.CountIf | exp.Count):
        return Fraction(1)
    if isinstance(node, exp.Sum) and not isinstance(node.this, exp.Distinct):
        return most_of(reader, node.this)
    reader.refuse(node, _why_unbounded(node))


def _why_unbounded(node: exp.Expr) -> str:
    """Returns why nothing is known of how far one row moves an expression."""
    if isinstance(node, exp.Sum):
        return "SUM(DISTINCT …): release a sum"
    if isinstance(node, exp.Avg):
        return "AVG: release SUM and COUNT, each with noise"
    if isinstance(node, exp.AggFunc):
        return f"{node.sql_name()} is not bounded by one row"
    if node.find(exp.AggFunc):
        return f"{node.key.upper()} around an aggregate: do it after the noise"
    return "a column that is neither grouped nor aggregated"


def _scaled(reader: QueryReader, node: exp.Mul | exp.Div) -> Fraction | None:
    """Returns how far one row moves an aggregate that is multiplied or divided by a number."""
    left, right = node.left.unnest(), node.right.unnest()
    if isinstance(node, exp.Mul) and literal(left) is not None:
        left, right = right, left
    times = literal(right)
    if times is None or not left.find(exp.AggFunc):
        reader.refuse(node, "a ratio or a product of aggregates: release each one")
    moved = sensitivity(reader, left)
    if isinstance(node, exp.Mul) or moved is None:
        return None if moved is None else moved * abs(times)
    if not times:
        reader.refuse(node, "a division by zero")
    dialect = reader.model.dialect
    whole = isinstance(right, exp.Literal) and right.is_int
    typed = Dialect.get_or_raise(dialect or None).TYPED_DIVISION or not dialect
    moved /= abs(times)
    # Where / of whole numbers is rounded, neighbours may end on two sides of a step.
    return Fraction(ceil(moved)) if whole and typed else moved


def literal(node: exp.Expr) -> Fraction | None:
    """Returns the value of a number, None for anything else."""
    node = node.unnest()
    if isinstance(node, exp.Neg):
        inner = literal(node.this)
        return None if inner is None else -inner
    if isinstance(node, exp.Cast):
        return literal(node.this) if node.this.unnest().is_number else None
    if isinstance(node, exp.Boolean):
        return Fraction(int(bool(node.this)))
    if not isinstance(node, exp.Literal) or not node.is_number:
        return None
    try:
        return exact(node.name)
    except ExpressionError:
        return None  # in a notation that specs do not have, such as 007


def most_of(reader: QueryReader, node: exp.Expr) -> Fraction | None:
    """Returns the largest amount of the values of an expression, None where it is not known."""
    node = node.unnest()
    value = literal(node)
    if value is not None:
        return abs(value)
    if isinstance(node, exp.Least | exp.Greatest):
        return _most_clamped(node)
    if isinstance(node, exp.Case | exp.If):
        other = node.args.get("default") if isinstance(node, exp.Case) else node.args.get("false")
        ways = [each.args["true"] for each in node.args.get("ifs") or [node]]
        ways += [] if other is None else [other]
        return _most_of_all(reader, [each for each in ways if not each.unnest().is_type("null")])
    if isinstance(node, exp.Coalesce):
        return _most_of_all(reader, [node.this, *node.expressions])
    if isinstance(node, exp.Column):
        bounds = (reader.world.answers.of("bounds", reader.model.name) or {}).get(node.name)
        return None if bounds is None else max(abs(exact(str(each))) for each in bounds)
    return None


def _most_of_all(reader: QueryReader, ways: list[exp.Expr]) -> Fraction | None:
    """Returns the largest amount of several expressions, None where one is not known."""
    found = [most_of(reader, each) for each in ways]
    known = [each for each in found if each is not None]
    return max(known, default=Fraction(0)) if len(known) == len(found) else None


def _most_clamped(node: exp.Least | exp.Greatest) -> Fraction | None:
    """Returns the largest amount of LEAST(GREATEST(x, a), b), in either order."""
    other = exp.Greatest if isinstance(node, exp.Least) else exp.Least
    sides = [each.unnest() for each in (node.this, *node.expressions)]
    inner = next((each for each in sides if isinstance(each, other)), None)
    both = [*sides, *([] if inner is None else (inner.this, *inner.expressions))]
    ends = [end for each in both if (end := literal(each)) is not None]
    # Four sides: a number and the inner function, a number and what is clamped.
    return max(map(abs, ends)) if len(both) == 4 and len(ends) == 2 else None


def presto(reader: QueryReader, node: exp.Expr, grouped: bool) -> dict[str, Value]:
    """Returns the keys of a noisy aggregate of Presto. Raises Unconvertible."""
    name, given = node.name.lower(), node.expressions
    if grouped:
        reader.refuse(node, f"{name} with GROUP BY: which groups are there is exact")
    for each in given:
        reader.own_row(each)
        if each.find(exp.AggFunc):
            reader.refuse(node, "an aggregate of aggregates")
    counts = name in ("noisy_count_gaussian", "noisy_count_if_gaussian") and len(given) == 2
    if not counts and not (name == "noisy_sum_gaussian" and len(given) == 4):
        says = f"{name} with {len(given)} arguments has no bound of one row, or no fresh noise"
        reader.refuse(node, says)
    numbers = [value for each in given[1:] if (value := literal(each)) is not None]
    if len(numbers) < len(given) - 1 or numbers[0] <= 0:
        reader.refuse(node, "the noise and the bounds are positive numbers, written out")
    if reader.world.answers.of("never_empty", reader.model.name) is not True:
        hint = "if there always are: `never_empty: true` in the answers"
        reader.refuse(node, "it is NULL, exactly, where there are no rows", hint)
    moved = Fraction(1) if counts else max(abs(numbers[1]), abs(numbers[2]))
    return {"mechanism": "gaussian", "sigma": str(numbers[0]), "sensitivity": str(moved)}


# --- budgets of other engines --------------------------------------------------------------------


class EngineBudget(NamedTuple):
    """A limit of an engine that documents neither its notion nor its δ. `tables`: what it is on."""

    epsilon: str
    unit: str
    tables: tuple[str, ...]
    where: str
    window: str


def budgets_in(text: str, file: str) -> tuple[list[EngineBudget], str]:
    """Returns the privacy policies of Snowflake, and the SQL without their statements. Raises
    Unconvertible."""
    if "privacy_budget" not in text.lower():
        return [], text
    try:
        tokens = sqlglot.tokenize(text, read="snowflake")
    except SqlglotError as error:
        says = f"sqlglot does not read this: {str(error)[:200]}"
        raise Unconvertible(f"{file}:1", says) from None
    words = [each.text.upper() for each in tokens]
    found: list[EngineBudget] = []
    unit, tables, start, rest = "", list[str](), 0, list(text)
    for end in (*(at for at, word in enumerate(words) if word == ";"), len(words)):
        part, begin = words[start:end], start
        start = end + 1
        pairs = list(pairwise(part))
        if ("PRIVACY", "POLICY") not in pairs:
            continue
        for at, pair in enumerate(pairs, begin):
            if pair == ("ENTITY", "KEY") and at + 3 < end:
                unit = tokens[at + 3].text
            if pair == ("ALTER", "TABLE"):
                last = at + 2
                while last + 2 < end and words[last + 1] == ".":
                    last += 2
                tables.append(tokens[last].text)
        if "PRIVACY_BUDGET" in part:
            arrows = (at for at in range(begin, end - 2) if words[at + 1] == "=>")
            given = {words[at]: tokens[at + 2].text for at in arrows}
            where = f"{file}:{tokens[words.index('PRIVACY_BUDGET', begin)].line}"
            limit, window = given.get("BUDGET_LIMIT", "233"), given.get("BUDGET_WINDOW", "Weekly")
            found.append(EngineBudget(limit, "", (), where, window))
        for at in range(tokens[begin].start, tokens[end - 1].end + 1):
            rest[at] = "\n" if rest[at] == "\n" else " "
    protected = tuple(tables) or ("protected",)
    return [each._replace(unit=unit, tables=protected) for each in found], "".join(rest)


def clean_rooms(text: str, file: str) -> list[EngineBudget]:
    """Returns the budget in the JSON of AWS Clean Rooms. Raises Unconvertible."""
    waiting = [Item(from_json(text), file)]
    while waiting:
        item = waiting.pop()
        if isinstance(item.value, dict):
            if "usersNoisePerQuery" in item.value:
                epsilon = item.at("epsilon").number()
                return [EngineBudget(epsilon, "", ("collaboration",), f"{file}:1", "monthly")]
            waiting += [Item(each, item.below(key)) for key, each in item.value.items()]
        elif isinstance(item.value, list):
            waiting += item.items()
    return []


def release_budget(world: World, budget: EngineBudget) -> None:
    """Makes a skeleton of a mechanism of each table under a budget of another engine."""
    asks = {
        "delta": "which δ does the engine keep? its documentation names none",
        "count": f"how many windows ({budget.window}) times budgets are there? each starts anew",
        "relation": "which neighbours does the engine mean? its documentation does not say",
    }
    for table in budget.tables:
        unit = {} if world.unit else {"unit": "which column is the privacy unit (--unit)?"}
        root: dict[str, Value] = {"unit": name_in_yaml(world.shown_unit)}
        world.spec.relation(table, root, f"from {budget.where}", budget.where, unit)
        values: dict[str, Value] = {"reads": name_in_yaml(table), "notion": "approx"}
        values |= {"epsilon": budget.epsilon, **dict.fromkeys(asks, TODO)}
        says = f"from {budget.where}"
        world.spec.release(f"all queries of {table}", values, says, budget.where, asks)
