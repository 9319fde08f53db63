"""The differential privacy clause of GoogleSQL, and BigQuery's policies, as mechanisms of a spec.

sqlglot does not parse the clause: it is cut out of the token stream, and a marker column stands in
its place. Sources: GoogleSQL's query syntax, "Differential privacy clause"; BigQuery's "Analysis
rules".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from dpcompose.bridge.open_spec import Value
from dpcompose.bridge.relations import CLAIMED, PUBLIC_GROUPS, SqlRows, Standing, World
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


def claim(world: World, query: exp.Select, context: Standing) -> SqlRows:
    """Makes a mechanism of a query with a clause, and returns its noisy rows. Raises
    Unconvertible."""
    clause = context.model.clauses[query.expressions[0].name]
    where = f"{context.model.file}:{context.model.first + clause.line - 1}"

    def refuse(says: str, hint: str | None = None) -> NoReturn:
        """Raises Unconvertible with the place of the clause."""
        raise Unconvertible(where, says, hint)

    if clause.kind == "AGGREGATION_THRESHOLD":
        refuse("AGGREGATION_THRESHOLD gives exact answers above a threshold: nothing bounds them")
    public = "PUBLIC_GROUPS" in clause.options.get("group_selection_strategy", "").upper()
    below = context._replace(claimed=PUBLIC_GROUPS if public else CLAIMED)
    found, scope, conditions = world.sources(query, below)
    if not found.private:
        refuse("the clause reads no private rows", "is a table answered `public` that is not?")
    found = world.after(world.filters(conditions, found, scope, below), found)
    for each in (
        *query.expressions[1:],
        *(query.args.get(word) for word in ("group", "having", "qualify", "order")),
    ):
        if each is not None:
            world.own_row(each, scope, context, windows=True)
    world.read_rest(query, scope, context)
    named = unit_column(clause)
    if named is None and "privacy_unit_column" in clause.options:
        refuse("the privacy unit is computed, which no column of a table is")
    policies = found.policies
    charged = not policies or found.tables != frozenset(policies)
    if named is None and not policies and context.model.dialect != "googlesql":
        refuse("the clause names no privacy_unit_column")
    if named is not None and not world.is_unit(world.lineage(named, scope, context)):
        unit = quoted(world.unit or "?")
        refuse(f"{quoted(named.sql())} is not the privacy unit {unit} of a table read here")
    for aggregate in query.find_all(exp.Count):
        if isinstance(aggregate.this, exp.Distinct):
            world.refuse(context, aggregate, "COUNT(DISTINCT …) does not run in this clause")
    numbers = {}
    for name, most in (("epsilon", _NO_NOISE), ("delta", 1)):
        text = clause.options.get(name)
        if text is None:
            if policies:
                continue
            refuse(f"the clause has no {name}")
        try:
            numbers[name] = parse(str(text), {})
        except ExpressionError as error:
            refuse(f"{name} is {quoted(str(text))}: {error.message}")
        if numbers[name] >= most or numbers[name] < 0:
            refuse(
                f"{name} = {text}: no noise is added"
                if name == "epsilon"
                else f"{name} = {text} promises nothing"
            )
    for view in policies:
        limits = next(each.item for key, each in world.policies.items() if ".".join(key) == view)
        for name, key in (("epsilon", "max_epsilon_per_query"), ("delta", "delta_per_query")):
            if (
                name in numbers
                and limits.get(key) is not None
                and numbers[name] > Item(limits[key], key).signed()
            ):
                refuse(f"{name} = {clause.options[name]} is above {key} = {limits[key]} of {view}")
    if policies and not charged:
        return SqlRows(open=context.name)
    for name in ("epsilon", "delta"):
        if name not in numbers:
            refuse(f"the clause has no {name}, and reads more than a view with a policy")
    values: dict[str, Value] = {"reads": found.dataset, "notion": "approx"}
    values |= {name: clause.options[name] for name in numbers}
    says = [f"from {where}", _split_of(query, numbers["epsilon"])]
    groups, rows = (
        clause.options.get("max_groups_contributed"),
        clause.options.get("max_rows_contributed"),
    )
    unbounded = [each.upper() for each in (groups, rows) if each is not None]
    if groups is None and rows is None:
        if context.model.dialect == "googlesql":
            unbounded = ["NULL"]
        elif query.args.get("group") is not None:
            says.append("assumed: BigQuery's default, max_groups_contributed 1")
    if "NULL" in unbounded and found.most != 1 and query.args.get("group") is not None:
        values["reads"] = f"{_partition(world, query, context, found, where)}.*"
    for each, other in (("max_groups_contributed", groups), ("max_rows_contributed", rows)):
        if other is not None and other.upper() != "NULL" and not other.isdigit():
            refuse(f"{each} is {quoted(other)}: a whole number or NULL is due")
    says.append("assumed: the engine keeps its claim")
    world.draw(context, values, "; ".join(says), where)
    return SqlRows(open=context.name)


def _split_of(query: exp.Select, epsilon: Fraction) -> str:
    """Returns how the engine splits ε over the aggregates of a query and its count of units."""
    found = [each for item in query.expressions for each in item.find_all(exp.Func)]
    number = sum(
        isinstance(each, exp.AggFunc)
        or (isinstance(each, exp.Anonymous) and each.name.upper().startswith("ANON_"))
        for each in found
    )
    share = epsilon / (number + 1)
    says = f"the engine splits ε over {number} aggregates and a hidden count of units, {share} each"
    return f"{says}, half of it for bounds that it chooses"


def _partition(
    world: World, query: exp.Select, context: Standing, found: SqlRows, where: str
) -> str:
    """Returns the partition of a query that does not bound in how many groups one unit is."""
    name = context.model.name
    most, groups = (world.answers.of(key, name) for key in ("max_groups", "groups"))
    most = found.most if most is None else most
    asks = (
        {}
        if groups is not None
        else {"blocks": "how many groups are there? each has a guarantee of its own"}
    )
    if most is None:
        asks["max_blocks_per_unit"] = "in how many groups are the rows of one unit at most?"
    spread: dict[str, Value] = {"by": "value", "blocks": world.spec.blocks(groups)}
    spread["max_blocks_per_unit"] = TODO if most is None else str(most)
    below = context._replace(name=name)
    values: dict[str, Value] = {"from": found.dataset, "partition": spread}
    return world.dataset(
        below, query, values, "_groups", "the guarantee is one in each group", **asks
    )


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


def release_policies(world: World, policies: list[Policy]) -> None:
    """Makes a mechanism of each view with a policy: all that its subscribers ask. Raises
    Unconvertible."""
    given: Any
    by_view: dict[tuple[str, ...], list[Policy]] = {}
    for each in policies:
        by_view.setdefault(each.view, []).append(each)
    for view, settings in by_view.items():
        last = settings[-1]
        found = world.view(view, last.where, str(last.item.get("privacy_unit_column")))
        item = Item(dict(last.item), last.where)
        epsilon, delta = item.at("epsilon_budget"), item.at("delta_budget")
        values: dict[str, Value] = {
            "reads": found.dataset,
            "notion": "approx",
            "epsilon": epsilon.number(),
        }
        values["delta"] = delta.number()
        if delta.signed() >= 1 or epsilon.signed() >= _NO_NOISE:
            raise Unconvertible(
                last.where,
                f"budgets of ε = {epsilon.number()}, δ = {delta.number()} promise nothing",
            )
        if any(each.item != last.item for each in settings):
            raise Unconvertible(last.where, f"the policy of {view[-1]} is set to different budgets")
        name = view[-1]
        given, asks = world.answers.of("releases", name, ".".join(view)), {}
        times = (
            given
            if given is not None
            else None
            if last.times is None
            else str(sum(each.times or 1 for each in settings))
        )
        groups = "1"
        says = f"from {last.where}; the engine stops when the budget is spent"
        if times is None:
            asks["count"] = "how often is the policy set? each time starts a fresh budget"
        elif given is None:
            says += f"; assumed: set {times} times" if times != "1" else "; assumed: set once"
        if (
            item.find("max_groups_contributed") is None
            or item.at("max_groups_contributed").value is None
        ):
            groups = world.answers.of("max_groups", name, ".".join(view))
            if groups is None:
                asks["count"] = (
                    "in how many groups are the rows of one unit at most? a subscriber may ask "
                    "for max_groups_contributed = NULL"
                )
        if asks:
            values["count"] = TODO
        elif (total := int(times or 1) * int(groups or 1)) != 1:
            values["count"] = str(total)
        world.spec.release(f"all queries of {name}", values, says, last.where, asks)
        if len(by_view) == 1:
            limit: dict[str, Value] = {"epsilon": values["epsilon"], "delta": values["delta"]}
            world.spec.budget = (
                limit,
                f"from {last.where}: the budget of the only policy",
                last.where,
                {},
            )
        else:
            ask = "what may all policies and queries together cost?"
            both: dict[str, Value] = {"epsilon": TODO, "delta": TODO}
            world.spec.budget = (
                both,
                f"from {last.where}",
                last.where,
                {"epsilon": ask, "delta": ask},
            )


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
