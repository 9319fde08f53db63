"""The differential privacy clause of GoogleSQL, and BigQuery's policies, as mechanisms of a spec.

sqlglot does not parse the clause: it is cut out of the token stream, and a marker column stands in
its place. Sources: GoogleSQL's query syntax, "Differential privacy clause"; BigQuery's "Analysis
rules".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from dpcompose.bridge.open_spec import Value
from dpcompose.bridge.relations import SqlModel, SqlRows, World
from dpcompose.bridge.sql_clauses import steps_of_where
from dpcompose.bridge.sql_joins import read_from
from dpcompose.bridge.sql_reader import CLAIMED, PUBLIC_GROUPS, QueryReader, draw
from dpcompose.bridge.values import Item, Unconvertible, from_json
from dpcompose.core.numbers.expressions import ExpressionError, parse
from dpcompose.errors import quoted
from dpcompose.spec.reading import OPEN as TODO

_CLAUSES = ("DIFFERENTIAL_PRIVACY", "ANONYMIZATION", "AGGREGATION_THRESHOLD")
#: Arguments of aggregates that bound contributions or say what is reported.
_ARGUMENTS = ("CONTRIBUTION_BOUNDS_PER_GROUP", "CONTRIBUTION_BOUNDS_PER_ROW", "REPORT_FORMAT")
_OPTIONS = (
    "epsilon delta kappa k_threshold privacy_unit_column max_groups_contributed "
    "max_rows_contributed group_selection_strategy min_privacy_units_per_group"
).split()
#: Options that bound in how much of a query one unit is. NULL for any of them disables bounding
#: across groups, and the claim is then for (unit, group) alone (GoogleSQL's
#: `anonymization_rewriter.cc`, step 4).
_BOUNDS_OF_UNITS = ("max_groups_contributed", "max_rows_contributed", "kappa")
#: From this ε on the engine adds no noise.
_NO_NOISE = 10**15


@dataclass
class Clause:
    """A differential privacy clause. `options`: the text of each, by its name in lower case."""

    kind: str
    line: int
    options: dict[str, str] = field(default_factory=dict)

    def count(self, name: str) -> int | None:
        """Returns a whole number of the options; None for NULL, and where it is absent."""
        text = self.options.get(name, "NULL")
        return int(text) if text.isdigit() else None


class Policy(NamedTuple):
    """A differential privacy policy of a view. `where`: its file and line; `times`: how often it is
    set, None where that is not known."""

    view: tuple[str, ...]
    item: Mapping[str, Any]
    where: str
    times: int | None = 1


def cut(tokens: list[Token], text: str, where: Any) -> tuple[str, dict[str, Clause]]:
    """Returns SQL in which a marker column stands for each clause, and the clauses by their marker.

    `where`: a function from a line to a place. Raises Unconvertible.
    """
    found: dict[str, Clause] = {}
    pieces: list[tuple[int, int, str]] = []
    at, words = 0, [each.text.upper() for each in tokens]
    while at < len(tokens):
        start = at
        if (
            tokens[at].token_type == TokenType.WITH
            and words[at + 1 : at + 2]
            and words[at + 1] in _CLAUSES
        ):
            clause = Clause(words[at + 1], tokens[at].line)
            at += 2
            if words[at : at + 2] == ["OPTIONS", "("]:
                end = _closing(tokens, at + 1)
                for option in _split(tokens[at + 2 : end]):
                    if len(option) < 3 or option[1].token_type != TokenType.EQ:
                        raise Unconvertible(where(clause.line), "an option is NAME = VALUE")
                    name = option[0].text.lower()
                    if name in clause.options:
                        raise Unconvertible(
                            where(option[0].line), f"the option {quoted(name)} is given twice"
                        )
                    if name not in (*_OPTIONS, "threshold"):
                        raise Unconvertible(
                            where(option[0].line), f"the option {quoted(name)} is not known here"
                        )
                    clause.options[name] = text[option[2].start : option[-1].end + 1]
                at = end + 1
            name = f"dpcompose_clause_{len(found)}"
            found[name] = clause
            pieces.append((tokens[start].start, tokens[at - 1].end + 1, f"{name},"))
            continue
        if (
            tokens[at].token_type == TokenType.COMMA
            and words[at + 1 : at + 2]
            and words[at + 1] in _ARGUMENTS
            and words[at + 2 : at + 3] == ["=>"]
        ):
            at += 3
            at = _closing(tokens, at) + 1 if words[at : at + 1] == ["("] else at + 1
            pieces.append((tokens[start].start, tokens[at - 1].end + 1, ""))
            continue
        if words[at] == "CLAMPED" and words[at + 1 : at + 2] == ["BETWEEN"]:
            depth = 0
            while at < len(tokens) and (depth or words[at] not in (")", ",")):
                depth += (words[at] == "(") - (words[at] == ")")
                at += 1
            pieces.append((tokens[start].start, tokens[at - 1].end + 1, ""))
            continue
        at += 1
    parts, done = [], 0
    for begin, end, new in pieces:
        parts += [text[done:begin], new, "\n" * text.count("\n", begin, end)]
        done = end
    return "".join([*parts, text[done:]]), found


def _closing(tokens: list[Token], at: int) -> int:
    """Returns where the parenthesis at a token is closed."""
    depth = 0
    for number in range(at, len(tokens)):
        kind = tokens[number].token_type
        depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
        if not depth:
            return number
    raise Unconvertible("", f"line {tokens[at].line}: a parenthesis is not closed")


def _split(tokens: list[Token]) -> Iterator[list[Token]]:
    """Yields the parts of a list between its commas."""
    part: list[Token] = []
    depth = 0
    for each in tokens:
        depth += (each.token_type == TokenType.L_PAREN) - (each.token_type == TokenType.R_PAREN)
        if each.token_type == TokenType.COMMA and not depth:
            yield part
            part = []
        else:
            part.append(each)
    if part:
        yield part


def unit_column(clause: Clause) -> exp.Column | None:
    """Returns the column of the privacy unit that a clause names; None where it names none, or
    something else than a column."""
    import sqlglot

    text = clause.options.get("privacy_unit_column")
    try:
        found = None if text is None else sqlglot.parse_one(text, read="bigquery")
    except sqlglot.errors.SqlglotError:
        return None
    return found if isinstance(found, exp.Column) else None


def claim(reader: QueryReader, query: exp.Select) -> SqlRows:
    """Makes a mechanism of a query with a clause, and returns its noisy rows. Raises
    Unconvertible."""
    model, world = reader.model, reader.world
    clause = model.clause_of(query)
    options = clause.options
    where = f"{model.file}:{model.first + clause.line - 1}"

    def refuse(says: str, hint: str | None = None) -> NoReturn:
        """Raises Unconvertible with the place of the clause."""
        raise Unconvertible(where, says, hint)

    if clause.kind == "AGGREGATION_THRESHOLD":
        refuse("AGGREGATION_THRESHOLD gives exact answers above a threshold: nothing bounds them")
    public = "PUBLIC_GROUPS" in options.get("group_selection_strategy", "").upper()
    reader = replace(reader, claimed=PUBLIC_GROUPS if public else CLAIMED)
    found, conditions = read_from(reader, query)
    if not found.private:
        refuse("the clause reads no private rows", "is a table answered `public` that is not?")
    reader.no_rest(query, more="limit offset")  # of the noisy rows
    found = reader.after(steps_of_where(reader, conditions, found), found)
    rest = (query.args.get(word) for word in ("group", "having", "qualify", "order"))
    for each in (*query.expressions[1:], *rest):
        if each is not None:
            reader.own_row(each, windows=True)
    reader.read_rest(query)
    named = unit_column(clause)
    if named is None and "privacy_unit_column" in options:
        refuse("the privacy unit is computed, which no column of a table is")
    if named is None and not found.policies and model.dialect != "googlesql":
        refuse("the clause names no privacy_unit_column")
    if named is not None and not reader.is_unit(named):
        unit = quoted(world.unit or "?")
        refuse(f"{quoted(named.sql())} is not the privacy unit {unit} of a table read here")
    for aggregate in query.find_all(exp.Count):
        if isinstance(aggregate.this, exp.Distinct):
            reader.refuse(aggregate, "COUNT(DISTINCT …) does not run in this clause")
    numbers = _numbers(options, found, refuse)
    for view in found.policies:
        limits = next(each.item for key, each in world.policies.items() if ".".join(key) == view)
        for name, key in (("epsilon", "max_epsilon_per_query"), ("delta", "delta_per_query")):
            limit = limits.get(key)
            if name in numbers and limit is not None and numbers[name] > Item(limit, key).signed():
                refuse(f"{name} = {options[name]} is above {key} = {limit} of {view}")
    if found.policies and found.tables == found.policies:
        return SqlRows(open=reader.name)  # the policies charge for it
    for name in ("epsilon", "delta"):
        if name not in numbers:
            refuse(f"the clause has no {name}, and reads more than a view with a policy")
    says = [f"from {where}", _split_of(query, numbers["epsilon"])]
    given = {name: options.get(name) for name in _BOUNDS_OF_UNITS}
    for name, text in given.items():
        if text is not None and text.upper() != "NULL" and not text.isdigit():
            refuse(f"{name} is {quoted(text)}: a whole number or NULL is due")
    unbounded = any(text is not None and text.upper() == "NULL" for text in given.values())
    if all(text is None for text in given.values()):
        unbounded = model.dialect == "googlesql"
        if not unbounded and query.args.get("group") is not None:
            says.append("assumed: BigQuery's default, max_groups_contributed 1")
    reads = found.dataset
    if unbounded and found.most != 1 and query.args.get("group") is not None:
        reads = f"{_partition(reader, query, found)}.*"
    says.append("assumed: the engine keeps its claim")
    values: dict[str, Value] = {"reads": reads, "notion": "approx"}
    draw(reader, values | {name: options[name] for name in numbers}, "; ".join(says), where)
    return SqlRows(open=reader.name)


def _numbers(
    options: Mapping[str, str], found: SqlRows, refuse: Callable[[str], NoReturn]
) -> dict[str, Fraction]:
    """Returns ε and δ of a clause; what is missing is that of the policy of the view it reads."""
    numbers: dict[str, Fraction] = {}
    for name, most, promises in (
        ("epsilon", _NO_NOISE, "no noise is added"),
        ("delta", 1, "promises nothing"),
    ):
        text = options.get(name)
        if text is None:
            if found.policies:
                continue
            refuse(f"the clause has no {name}")
        try:
            numbers[name] = parse(str(text), {})
        except ExpressionError as error:
            refuse(f"{name} is {quoted(str(text))}: {error.message}")
        if numbers[name] >= most or numbers[name] < 0:
            refuse(f"{name} = {text}{':' if name == 'epsilon' else ''} {promises}")
    return numbers


def _split_of(query: exp.Select, epsilon: Fraction) -> str:
    """Returns how the engine splits ε over the aggregates of a query and its count of units."""
    found = [each for item in query.expressions for each in item.find_all(exp.Func)]
    number = sum(
        isinstance(each, exp.AggFunc)
        or (isinstance(each, exp.Anonymous) and each.name.upper().startswith("ANON_"))
        for each in found
    )
    share = epsilon / (number + 1)
    several = "one aggregate" if number == 1 else f"{number} aggregates"
    says = f"the engine splits ε over {several} and a hidden count of units, {share} each"
    return f"{says}, half of it for bounds that it chooses"


def _partition(reader: QueryReader, query: exp.Select, found: SqlRows) -> str:
    """Returns the partition of a query that does not bound in how many groups one unit is."""
    name = reader.model.name
    most, groups = (reader.world.answers.of(key, name) for key in ("max_groups", "groups"))
    most = found.most if most is None else most
    asks = {}
    if groups is None:
        asks["blocks"] = "how many groups are there? each has a guarantee of its own"
    if most is None:
        asks["max_blocks_per_unit"] = "in how many groups are the rows of one unit at most?"
    spread: dict[str, Value] = {"by": "value", "blocks": reader.world.spec.blocks(groups)}
    spread["max_blocks_per_unit"] = TODO if most is None else str(most)
    values: dict[str, Value] = {"from": found.dataset, "partition": spread}
    says = "the guarantee is one in each group"
    return replace(reader, name=name).dataset(query, values, "_groups", says, asks)


# --- policies ------------------------------------------------------------------------------------

_RULES = ("differential_privacy_policy", "differentialPrivacyPolicy")


def policies_in(
    tree: Any, view: tuple[str, ...], where: str, times: int | None = 1
) -> Iterator[Policy]:
    """Yields the policy in a view's option, which is JSON. Raises Unconvertible."""
    if not isinstance(tree, dict):
        raise Unconvertible(where, "a privacy policy is a mapping")
    for key, value in tree.items():
        if key.replace("_", "").lower() == "aggregationthresholdpolicy":
            raise Unconvertible(
                where, "an aggregation threshold gives exact answers above it: nothing bounds them"
            )
        if key in _RULES:
            yield Policy(
                view,
                {_snake(name): each for name, each in Item(value, where).value.items()},
                where,
                times,
            )
        elif key.replace("_", "").lower() != "joinrestrictionpolicy":
            raise Unconvertible(where, f"the policy {quoted(key)} is not known here")


def _snake(name: str) -> str:
    """Returns a name of BigQuery's JSON as its SQL writes it."""
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name)


def view_rows(world: World, parts: tuple[str, ...], where: str, unit: str) -> SqlRows:
    """Returns the rows of a view with a policy, here or elsewhere. Raises Unconvertible."""
    model = world.models.get(parts)
    file, _, line = where.rpartition(":")
    reader = QueryReader(
        world, model or SqlModel(parts[-1], None, file, first=int(line)), parts[-1]
    )
    table = exp.table_(parts[-1], db=parts[-2] if len(parts) > 1 else None)
    found = reader.outside(table) if model is None else reader.read_model(model)
    if not found.private or not reader.is_unit(found.find(reader.key(unit))[1]):
        says = f"{quoted(unit)} of {parts[-1]} is not the privacy unit of a table"
        raise Unconvertible(where, says)
    return found


def release_policies(world: World, policies: list[Policy]) -> None:
    """Makes a mechanism of each view with a policy: all that its subscribers ask. Raises
    Unconvertible."""
    by_view: dict[tuple[str, ...], list[Policy]] = {}
    for each in policies:
        by_view.setdefault(each.view, []).append(each)
    for settings in by_view.values():
        budget = _release_policy(world, settings)
        where, asks = f"from {settings[-1].where}", dict[str, str]()
        if len(by_view) > 1:
            asks = dict.fromkeys(budget, "what may all policies and queries together cost?")
        says = f"{where}{'' if asks else ': the budget of the only policy'}"
        limits: dict[str, Value] = {**budget, **dict.fromkeys(asks, TODO)}
        world.spec.budget = (limits, says, settings[-1].where, asks)


def _release_policy(world: World, settings: list[Policy]) -> dict[str, str]:
    """Makes a mechanism of a view, whose policy is set once or again, and returns its budget."""
    view, given, where, _ = settings[-1]
    found = view_rows(world, view, where, str(given.get("privacy_unit_column")))
    item = Item(dict(given), where)
    budgets = {each: item.at(f"{each}_budget") for each in ("epsilon", "delta")}
    budget = {name: each.number() for name, each in budgets.items()}
    if budgets["delta"].signed() >= 1 or budgets["epsilon"].signed() >= _NO_NOISE:
        says = f"budgets of ε = {budget['epsilon']}, δ = {budget['delta']} promise nothing"
        raise Unconvertible(where, says)
    if any(each.item != given for each in settings):
        raise Unconvertible(where, f"the policy of {view[-1]} is set to different budgets")
    names, asks = (view[-1], ".".join(view)), dict[str, str]()
    says = f"from {where}; the engine stops when the budget is spent"
    times = world.answers.of("releases", *names)
    if times is None and settings[-1].times is None:
        asks["count"] = "how often is the policy set? each time starts a fresh budget"
    elif times is None:
        times = sum(each.times or 1 for each in settings)
        says += f"; assumed: set {'once' if times == 1 else f'{times} times'}"
    groups: Any = 1
    if given.get("max_groups_contributed") is None:
        groups = world.answers.of("max_groups", *names)
    if groups is None:
        asks["count"] = "in how many groups are the rows of one unit at most? a subscriber may ask "
        asks["count"] += "for max_groups_contributed = NULL"
    values: dict[str, Value] = {"reads": found.dataset, "notion": "approx", **budget}
    if asks:
        values["count"] = TODO
    elif int(times) * int(groups) != 1:
        values["count"] = str(int(times) * int(groups))
    world.spec.release(f"all queries of {view[-1]}", values, says, where, asks)
    return budget


# --- the JSON of `bq show` -----------------------------------------------------------------------


def view_of(text: str, where: str) -> tuple[tuple[str, ...], str, Any]:
    """Returns a view as `bq show --format=prettyjson` prints it: its name, its query, and its
    policy, None without one. Raises Unconvertible."""
    tree = Item(from_json(text), where)
    place, view = tree.at("tableReference"), tree.find("view") or tree.find("materializedView")
    parts = tuple(place.at(key).text() for key in ("projectId", "datasetId", "tableId"))
    policy = tree.find("privacyPolicy") or (view and view.find("privacyPolicy"))
    query = view.at("query").text() if view is not None else ""
    return parts, query, policy.value if policy is not None else None
