"""SQL files: their statements, and plain aggregates, to which noise is added elsewhere."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple, NoReturn

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from dpcompose.bridge.bigquery import Clause, Policy, cut, policies_in, view_of
from dpcompose.bridge.open_spec import Value
from dpcompose.bridge.relations import (
    Project,
    Scope,
    SqlModel,
    SqlRows,
    Standing,
    World,
    is_aggregate,
)
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


def aggregate_of(
    world: World, query: exp.Expr, context: Standing
) -> tuple[exp.Select, Standing, dict[str, str]] | None:
    """Returns the SELECT that aggregates what a query shows, where it stands, and the names of its
    columns; None for a query that shows rows, or noisy numbers."""
    names: dict[str, str] | None = None
    for _ in range(100):
        if isinstance(query, exp.Subquery):
            world.no_rest(query, context, "joins limit offset sample pivots")
            context, query = world.with_tables(query, context), query.this
            continue
        if not isinstance(query, exp.Select):
            return None
        context = world.with_tables(query, context)
        if query.expressions and query.expressions[0].name in context.model.clauses:
            return None
        if is_aggregate(query) or _noisy(query):
            return query, context, names or {}
        source = query.args.get("from_")
        simple = all(
            isinstance(each.unalias(), exp.Star | exp.Column) for each in query.expressions
        )
        if (
            source is None
            or not simple
            or any(query.args.get(each) for each in "joins where laterals qualify distinct".split())
        ):
            return None
        inner = source.this
        if not any(
            isinstance(each.unalias(), exp.Star) or each.find(exp.Star)
            for each in query.expressions
        ):
            shown = {each.unalias().name.lower(): each.alias_or_name for each in query.expressions}
            names = (
                shown
                if names is None
                else {key: names[one.lower()] for key, one in shown.items() if one.lower() in names}
            )
        ordered = any(query.args.get(each) for each in ("order", "limit", "offset"))
        named = None
        if isinstance(inner, exp.Table) and not inner.db and isinstance(inner.this, exp.Identifier):
            named = context.tables.get(world.key(inner.this, context))
        if named is None and not isinstance(inner, exp.Subquery):
            return None
        outer = query
        query, context = (inner, context) if named is None else named[:2]
        context = context._replace(name=context.name)
        found = aggregate_of(world, query, context)
        if found is not None and ordered:
            world.refuse(
                context,
                outer,
                "ORDER BY or LIMIT over exact aggregates: which rows are shown is exact",
            )
        return found and (found[0], found[1], names or found[2])
    return None


def _noisy(query: exp.Select) -> bool:
    """Returns whether a SELECT has a noisy aggregate of Presto."""
    return any(_presto(each) for item in query.expressions for each in item.find_all(exp.Anonymous))


def _presto(node: exp.Expr) -> bool:
    """Returns whether an expression is a noisy aggregate of Presto."""
    return isinstance(node, exp.Anonymous) and node.name.lower().startswith("noisy_")


def release_aggregates(
    world: World, model: SqlModel, query: exp.Select, context: Standing, names: dict[str, str]
) -> None:
    """Makes a mechanism of each aggregate of a query. Raises Unconvertible."""
    found, scope, conditions = world.sources(query, context)
    if not found.private:
        for each in query.iter_expressions():
            if not isinstance(each, exp.From | exp.With | exp.Join | exp.Lateral):
                world.own_row(each, scope, context, windows=True)
        world.read_rest(query, scope, context)
        return
    world.no_rest(
        query, context, "limit offset fetch qualify distinct windows connect match pivots"
    )
    steps = world.filters(conditions, found, scope, context)
    for word, says in (
        ("having", "HAVING on an aggregate: which groups pass is exact"),
        (
            "order",
            "ORDER BY an aggregate: the order of the rows is exact; sort them after the noise",
        ),
    ):
        part = query.args.get(word)
        aliases = {
            each.alias.lower()
            for each in query.expressions
            if each.alias and each.find(exp.AggFunc)
        }
        if part is not None and (
            part.find(exp.AggFunc)
            or any(each.name.lower() in aliases for each in part.find_all(exp.Column))
        ):
            world.refuse(context, part, says)
        if part is not None and word == "having":
            world.own_row(part.this, scope, context)
            steps.append(
                (
                    "_having",
                    lambda below, suffix: world.step(context, query, "filter", below, suffix),
                )
            )
        for number in part.expressions if part is not None and word == "order" else ():
            at = number.this
            if (
                isinstance(at, exp.Literal)
                and at.is_int
                and query.expressions[int(at.name) - 1 : int(at.name)]
                and query.expressions[int(at.name) - 1].find(exp.AggFunc)
            ):
                world.refuse(context, number, says)
    keys = world.keys(query, context)
    if (
        any(each.find(exp.Anonymous) for each in keys)
        and context.model.dialect not in world.one_row
    ):
        ask = "how many rows does a function of GROUP BY make of one?"
        steps.append(
            ("_called", lambda below, suffix: world.several(context, query, below, ask, suffix))
        )
    found = world.after(steps, found)
    for key in keys:
        world.own_row(key, scope, context)
        if world.unit_in(key, scope, context):
            world.refuse(
                context, query, "one group for each unit: the groups themselves tell who is there"
            )
    reads = found.dataset
    blocks = ""
    if keys:
        shown = [
            each.alias_or_name for each in query.expressions if each.unalias().unnest() in keys
        ]
        blocks = "_by_" + "_".join(names.get(each.lower(), each) for each in shown)
        groups = world.answers.of("groups", model.name)
        question = "which groups are published, each with noise, also where it is empty?"
        asks = {} if groups is not None else {"blocks": question + accepted(model, shown)}
        spread: dict[str, Value] = {"by": "value", "blocks": world.spec.blocks(groups)}
        values: dict[str, Value] = {"from": reads, "partition": spread}
        at = context._replace(name=model.name)
        found = SqlRows(
            world.dataset(
                at, query, values, blocks, "assumed: empty groups are published too", **asks
            )
        )
        reads = f"{found.dataset}.*"
    for number, each in enumerate(query.expressions, 1):
        inner = each.unalias().unnest()
        if inner in keys or isinstance(inner, exp.Literal | exp.Null):
            continue
        title = names.get(each.alias_or_name.lower(), each.alias_or_name) or f"column {number}"
        release_one(world, model, inner, title, reads, bool(keys), context, scope, blocks)
    world.read_rest(query, scope, context)


def accepted(model: SqlModel, columns: list[str]) -> str:
    """Returns what a test of dbt says of the values of the columns that make groups."""
    said = [f"{each}: {', '.join(model.tests[each])}" for each in columns if each in model.tests]
    return f" accepted_values says {'; '.join(said)}" if said else ""


def release_one(
    world: World,
    model: SqlModel,
    node: exp.Expr,
    title: str,
    reads: str,
    grouped: bool,
    context: Standing,
    scope: Scope,
    blocks: str,
) -> None:
    """Makes a mechanism of one aggregate."""
    where = model.where(node)
    says, asks = f"from {where}", dict[str, str]()
    values: dict[str, Value] = {"reads": reads}
    if _presto(node):
        values |= presto(world, model, node, grouped, context, scope)
        if world.answers.of("never_empty", model.name) is not True:
            world.refuse(
                context,
                node,
                "it is NULL, exactly, where there are no rows",
                "if there always are: `never_empty: true` in the answers",
            )
    else:
        moved = sensitivity(world, model, node, context, scope)
        if unit_counted(world, node, scope, context):
            kind: Value = {"kind": "cap", "rows": "1", "keep": "first"}
            at = context._replace(name=model.name)
            values["reads"] = world.dataset(
                at, node, {"from": reads, "map": kind}, f"_{title}_units", "each unit counts once"
            )
        noise = world.answers.of("noise", model.name) or {}
        given = noise.get(title) if isinstance(noise, dict) else None
        if given is None:
            if not (
                model.released
                or (
                    model.released is None
                    and model.kind in ("query", "table", "view")
                    and not model.dbt
                )
            ):
                world.notes.append(
                    f"{where}: {title} of {model.name} is exact and not counted; published, it has "
                    "no guarantee"
                )
                return
            values |= {"mechanism": "laplace", "scale": TODO}
            asks["scale"] = (
                f"which noise is added to {title}, outside of SQL? `noise:` of the answers names it"
            )
        else:
            for key, each in Item(given, f"noise of {title}").value.items():
                values[str(key)] = (
                    name_in_yaml(each) if not re.fullmatch(r"[\d.e+/-]+", str(each)) else str(each)
                )
        values["sensitivity"] = TODO if moved is None else number_in_spec(moved)
        if moved is None:
            asks["sensitivity"] = (
                "how far does one row move it? `bounds:` of the answers gives the range"
            )
        else:
            says += "; assumed: no NaN" if node.find(exp.Sum) else ""
    world.draw(context, values, says, where, f"{model.name} {title}", asks)


def number_in_spec(value: Fraction) -> str:
    """Returns an exact number as a spec writes it."""
    return str(value)


def unit_counted(world: World, node: exp.Expr, scope: Scope, context: Standing) -> bool:
    """Returns whether an aggregate counts the units themselves."""
    distinct = node.this if isinstance(node, exp.Count) else None
    return (
        isinstance(distinct, exp.Distinct)
        and len(distinct.expressions) == 1
        and world.unit_in(distinct.expressions[0], scope, context)
    )


def sensitivity(
    world: World, model: SqlModel, node: exp.Expr, context: Standing, scope: Scope
) -> Fraction | None:
    """Returns how far one row moves an aggregate; None for a sum whose bounds are not known. Raises
    Unconvertible."""
    node = node.unnest()

    def refuse(says: str) -> NoReturn:
        world.refuse(context, node, says)

    if isinstance(node, exp.Filter):
        world.own_row(node.expression, scope, context)
        return sensitivity(world, model, node.this, context, scope)
    if isinstance(node, exp.Mul | exp.Div):
        left, right = node.left.unnest(), node.right.unnest()
        if isinstance(node, exp.Mul) and literal(left) is not None:
            left, right = right, left
        times = literal(right)
        if times is not None and left.find(exp.AggFunc):
            moved = sensitivity(world, model, left, context, scope)
            if isinstance(node, exp.Mul) or moved is None:
                return None if moved is None else moved * abs(times)
            if not times:
                refuse("a division by zero")
            whole = isinstance(right, exp.Literal) and right.is_int
            typed = Dialect.get_or_raise(model.dialect or None).TYPED_DIVISION or not model.dialect
            moved /= abs(times)
            # Where / of whole numbers is rounded, neighbours may end on two sides of a step.
            return Fraction(-(-moved.numerator // moved.denominator)) if whole and typed else moved
        refuse("a ratio or a product of aggregates: release each one")
    for each in node.iter_expressions():
        world.own_row(each, scope, context)
        if isinstance(node, exp.AggFunc) and each.find(exp.AggFunc):
            refuse("an aggregate of aggregates")
    if isinstance(node, exp.CountIf) or (
        isinstance(node, exp.Count) and not isinstance(node, exp.ApproxDistinct)
    ):
        return Fraction(1)
    if isinstance(node, exp.Sum):
        if isinstance(node.this, exp.Distinct):
            refuse("SUM(DISTINCT …): release a sum")
        return most_of(world, model, node.this, context)
    if isinstance(node, exp.Avg):
        refuse("AVG: release SUM and COUNT, each with noise")
    if isinstance(node, exp.AggFunc):
        refuse(f"{node.sql_name()} is not bounded by one row")
    if node.find(exp.AggFunc):
        refuse(f"{node.key.upper()} around an aggregate: do it after the noise")
    refuse("a column that is neither grouped nor aggregated")


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


def most_of(world: World, model: SqlModel, node: exp.Expr, context: Standing) -> Fraction | None:
    """Returns the largest amount of the values of an expression, None where it is not known."""
    node = node.unnest()
    value = literal(node)
    if value is not None:
        return abs(value)
    if isinstance(node, exp.Least | exp.Greatest):
        inner = next(
            (
                each.unnest()
                for each in (node.this, *node.expressions)
                if isinstance(
                    each.unnest(), exp.Greatest if isinstance(node, exp.Least) else exp.Least
                )
            ),
            None,
        )
        both = [one for one in (node, inner) if one is not None]
        found = [literal(each) for one in both for each in (one.this, *one.expressions)]
        ends = [each for each in found if each is not None]
        if (
            inner is not None
            and len(ends) == 2
            and len(node.expressions) == len(inner.expressions) == 1
        ):
            return max(map(abs, ends))
        return None
    if isinstance(node, exp.Case | exp.If):
        ways = [each.args["true"] for each in node.args.get("ifs") or [node]]
        other = node.args.get("default") if isinstance(node, exp.Case) else node.args.get("false")
        found = [
            most_of(world, model, each, context)
            for each in (*ways, *([] if other is None else [other]))
            if not isinstance(each.unnest(), exp.Null)
        ]
        return (
            max((each for each in found if each is not None), default=Fraction(0))
            if None not in found
            else None
        )
    if isinstance(node, exp.Coalesce):
        found = [most_of(world, model, each, context) for each in (node.this, *node.expressions)]
        return None if None in found else max(each for each in found if each is not None)
    if isinstance(node, exp.Column):
        bounds = world.answers.of("bounds", model.name) or {}
        given = bounds.get(node.name)
        if given is not None:
            return max(abs(exact(str(each))) for each in given)
    return None


def presto(
    world: World, model: SqlModel, node: exp.Expr, grouped: bool, context: Standing, scope: Scope
) -> dict[str, Value]:
    """Returns the keys of a noisy aggregate of Presto. Raises Unconvertible."""
    name, given = node.name.lower(), node.expressions
    if grouped:
        world.refuse(context, node, f"{name} with GROUP BY: which groups are there is exact")
    for each in given:
        world.own_row(each, scope, context)
        if each.find(exp.AggFunc):
            world.refuse(context, node, "an aggregate of aggregates")
    counts = name in ("noisy_count_gaussian", "noisy_count_if_gaussian") and len(given) == 2
    if not counts and not (name == "noisy_sum_gaussian" and len(given) == 4):
        world.refuse(
            context,
            node,
            f"{name} with {len(given)} arguments has no bound of one row, or no fresh noise",
        )
    numbers = [value for each in given[1:] if (value := literal(each)) is not None]
    if len(numbers) < len(given) - 1 or numbers[0] <= 0:
        world.refuse(context, node, "the noise and the bounds are positive numbers, written out")
    moved = Fraction(1) if counts else max(abs(numbers[1]), abs(numbers[2]))
    return {
        "mechanism": "gaussian",
        "sigma": number_in_spec(numbers[0]),
        "sensitivity": number_in_spec(moved),
    }


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
        raise Unconvertible(
            f"{file}:1", f"sqlglot does not read this: {str(error)[:200]}"
        ) from None
    words = [each.text.upper() for each in tokens]
    found: list[EngineBudget] = []
    unit, tables, start, rest = "", list[str](), 0, list(text)
    for end in (*(at for at, word in enumerate(words) if word == ";"), len(words)):
        part = words[start:end]
        pairs = list(pairwise(part))
        if ("PRIVACY", "POLICY") in pairs:
            for at, pair in enumerate(pairs, start):
                if pair == ("ENTITY", "KEY") and at + 3 < end:
                    unit = tokens[at + 3].text
                if pair == ("ALTER", "TABLE"):
                    last = at + 2
                    while last + 2 < end and words[last + 1] == ".":
                        last += 2
                    tables.append(tokens[last].text)
            if "PRIVACY_BUDGET" in part:
                given = {
                    words[at]: tokens[at + 2].text
                    for at in range(start, end - 2)
                    if words[at + 1] == "=>"
                }
                line = tokens[words.index("PRIVACY_BUDGET", start)].line
                found.append(
                    EngineBudget(
                        given.get("BUDGET_LIMIT", "233"),
                        "",
                        (),
                        f"{file}:{line}",
                        given.get("BUDGET_WINDOW", "Weekly"),
                    )
                )
            for at in range(tokens[start].start, tokens[end - 1].end + 1):
                rest[at] = "\n" if rest[at] == "\n" else " "
        start = end + 1
    return [
        each._replace(unit=unit, tables=tuple(tables) or ("protected",)) for each in found
    ], "".join(rest)


def clean_rooms(text: str, file: str) -> list[EngineBudget]:
    """Returns the budget in the JSON of AWS Clean Rooms. Raises Unconvertible."""
    waiting = [Item(from_json(text), file)]
    while waiting:
        item = waiting.pop()
        if isinstance(item.value, dict):
            if "usersNoisePerQuery" in item.value:
                return [
                    EngineBudget(
                        item.at("epsilon").number(), "", ("collaboration",), f"{file}:1", "monthly"
                    )
                ]
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
        world.spec.relation(
            table,
            {"unit": name_in_yaml(world.shown_unit)},
            f"from {budget.where}",
            budget.where,
            unit,
        )
        values: dict[str, Value] = {
            "reads": name_in_yaml(table),
            "notion": "approx",
            "epsilon": budget.epsilon,
        }
        values |= {"delta": TODO, "count": TODO, "relation": TODO}
        world.spec.release(
            f"all queries of {table}", values, f"from {budget.where}", budget.where, asks
        )
