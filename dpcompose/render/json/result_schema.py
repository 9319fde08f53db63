"""The shape of results (`--format json`), version 2, and the shapes that other documents share.

It is a contract, not a dump of internal objects. Bounds are rounded up, budgets and what is left of
them down; nothing is NaN or infinite: null replaces numbers that no double can hold. `exact` gives
a fraction as text wherever the bound is rational.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpcompose.core.at_delta.filters import FILTERS
from dpcompose.core.notions.guarantee import LIMITS
from dpcompose.core.notions.notion import SIGNS, Notion
from dpcompose.render.json.proof_shape import PROOF
from dpcompose.render.json.shapes import (
    AMOUNT,
    CHANCE,
    COUNT,
    DOWN,
    EXACT,
    FLAG,
    LINE,
    NUMBER,
    RESULTS_VERSION,
    TEXT,
    TOO_LARGE,
    JsonShape,
    Schema,
    array_of,
    constant,
    defined,
    document,
    mapping,
    maybe,
    one_of,
    optional,
    published,
)
from dpcompose.render.words.headlines import requested_number
from dpcompose.render.words.numbers import fraction_text, number_down, number_up, other_parameter
from dpcompose.render.words.theorem_text import book
from dpcompose.report import At, Bound, FilterRecord, Report, Verdict

TEXTS = array_of(TEXT)
LINES = array_of(NUMBER, "Lines of the spec.")


def result_schema() -> Schema:
    """Returns the JSON Schema of what `--format json` and a line of `jsonl` print."""
    line = {
        "description": "One result, with the version of the shape; the last one of a run has "
        "`left_out` where something was met that has no result.",
        "allOf": [
            RESULT.schema,
            {
                "type": "object",
                "properties": {
                    "schema_version": RESULTS_VERSION.schema,
                    "left_out": LEFT_OUT.schema,
                },
                "required": ["schema_version"],
            },
        ],
    }
    forms = [defined("document", _RESULTS).schema, defined("line", JsonShape(line)).schema]
    says = "What --format json prints, or one line of --format jsonl."
    return published("dpcompose results", says, JsonShape({"anyOf": forms}))


# --- bounds, and numbers at a point --------------------------------------------------------------


def _write_bound(bound: Bound) -> dict[str, Any]:
    """Returns a bound as a JSON object."""
    found: dict[str, Any] = {"notion": bound.notion.value}
    exact: dict[str, str] = {}
    for name, value, is_exact in bound.parameters:
        found[name] = number_up(value)
        text = fraction_text(value) if is_exact else None
        if text is not None:
            exact[name] = text
    return {**found, "exact": exact}


def _bound() -> JsonShape:
    """Returns the shape of a bound, of which each notion has its own form."""
    forms = []
    for notion in Notion:
        names = [name for name in notion.facts.parameters if name in SIGNS]
        keys = {name: maybe(CHANCE if name == "delta" else AMOUNT, TOO_LARGE) for name in names}
        if notion is not Notion.PROFILE:
            says = f"A bound in {notion.value}."
            forms.append(mapping(says, notion=constant(notion.value), **keys, exact=EXACT).schema)
    says = "A certified guarantee, never below the truth."
    return JsonShape({"description": says, "oneOf": forms}, _write_bound)


BOUND = defined("bound", _bound())
#: Stands for a guarantee that is no bound in one notion.
_PROFILE = mapping("Losses with no common notion: see at_delta.", notion=constant("profile"))
_GUARANTEE = JsonShape(
    {"anyOf": [BOUND.schema, _PROFILE.schema]},
    lambda found: (BOUND if isinstance(found, Bound) else _PROFILE).write(found),
)


def _at(wanted: str, found: str) -> JsonShape:
    """Returns the shape of the least `found` (ε or δ) at a chosen `wanted` (δ or ε).

    Both are rounded up: a bound at some number holds at any larger one.
    """
    forms = {"epsilon": AMOUNT, "delta": CHANCE}
    value = maybe(forms[found], f"The {found} that holds, rounded up; null: no finite one.")
    least = f"No true {found} is below it, rounded down; null: not known."

    def exact(at: At) -> dict[str, str]:
        """Returns the chosen number as a fraction."""
        text = fraction_text(at.given)
        return {} if text is None else {wanted: text}

    lower = maybe(forms[found]._replace(write=number_down), least)
    keys = {
        wanted: forms[wanted].of("given"),
        found: value.of("value"),
        "rule": TEXT.described("The route that won."),
        "says": TEXT,
        f"{found}_lower": lower.of("lower"),
        "others": array_of(
            mapping(
                "A route that was compared.",
                rule=TEXT.of("name"),
                **{found: value.of("value")},
                why=TEXT,
            )
        ),
        "worst_case": array_of(TEXT, "The worst change here, where it is another one.").of("worst"),
        "steps": array_of(TEXT, "The steps of the delta bookkeeping.").of("chain"),
        "exact": EXACT.of(exact),
    }
    says = f"The least {found} certified at a chosen {wanted}."
    return defined(f"at_{wanted}", mapping(says, **keys))


AT_DELTA, AT_EPSILON = _at("delta", "epsilon"), _at("epsilon", "delta")
AT_DELTAS = array_of(AT_DELTA, "Where a delta was chosen.")

# --- theorems, findings, steps -------------------------------------------------------------------


def _write_theorem(identifier: str) -> dict[str, str | None]:
    """Returns an entry of the theorem book as a JSON object."""
    entry = book().get(identifier)
    if entry is None:
        return {"id": identifier, "title": None, "source": None}
    return {"id": entry.id, "title": entry.title, "source": entry.source, "place": entry.place}


THEOREM = defined(
    "theorem",
    mapping(
        "An entry of the theorem book.",
        id=TEXT,
        title=maybe(TEXT, "Null for an id that is not in the book."),
        source=maybe(TEXT, "Null for an id that is not in the book."),
        place=optional(TEXT, "How the source names it."),
    )._replace(write=_write_theorem),
)


def _position(name: str) -> JsonShape:
    """Returns the shape of a part of the position of a finding, which may have none."""
    schema = {"type": ["integer", "null"], "minimum": 1}
    return JsonShape(schema, lambda span: span and getattr(span, name), LINE.get)


_FIX = mapping(
    "What to write instead.",
    certain=FLAG.described("Nothing else is meant: `--fix` writes it."),
    edits=array_of(
        mapping(
            "A stretch of the file, the end excluded, and what takes its place.",
            **{
                name: NUMBER.of(f"span.{name}")
                for name in ("line", "column", "end_line", "end_column")
            },
            text=TEXT,
        )
    ).of("replacements"),
)
_FINDING = {
    "level": one_of("error", "warning", "note"),
    "code": TEXT._replace(schema={**TEXT.schema, "pattern": "^DPC[0-9]{3}$"}),
    "message": TEXT,
    "line": LINE,
    **{name: _position(name) for name in ("column", "end_line", "end_column")},
    "hint": maybe(TEXT, "What to do."),
    "label": JsonShape(TEXT.schema, optional=True).described("A few words on what stands there."),
    "fix": optional(_FIX),
}
FINDING = defined(
    "finding", mapping("A fault of an invalid spec, or a remark on a valid one.", **_FINDING)
)
_IGNORED = defined(
    "ignored",
    mapping(
        "A remark that a comment in the spec ignores.",
        **_FINDING,
        reason=TEXT.described("Why, in the words of the comment."),
    )._replace(write=lambda each: {**FINDING.write(each.finding), "reason": each.reason}),
)
_STEP = defined(
    "step",
    mapping(
        "A step of the derivation.",
        number=NUMBER,
        theorem=maybe(TEXT, "The theorem it is by; null where it says what is given."),
        says=TEXT,
        inputs=array_of(COUNT, "The numbers of the steps it is from."),
        bound=maybe(BOUND, "What it gives."),
        lines=LINES.of(lambda each: [span.line for span in each.spans]),
    ),
)
_ALTERNATIVE = defined(
    "alternative",
    mapping(
        "A theorem that was compared.",
        theorem=maybe(TEXT, "Null: a further bound of the same theorem."),
        bound=maybe(BOUND, "Null where a hypothesis fails."),
        why=TEXT,
    ),
)

# --- what an attacker gains ----------------------------------------------------------------------

_RATES = {
    "advantage": CHANCE.described("Hits less false alarms, at the best rate."),
    "membership": CHANCE.described(
        "Of two equally likely neighbouring tables the one read is told right with this chance at "
        "most, (1 + advantage)/2: with unbounded neighbours, whether a person is in the data."
    ),
    "hits": array_of(
        mapping(
            "A test for which of two neighbouring tables was read: with unbounded neighbours, for "
            "whether a person is in the data.",
            false_alarms=CHANCE.of(0),
            hits=CHANCE.described("The most that it finds.").of(1),
        )
    ),
    "success": array_of(
        mapping(
            "An attack on an attribute, or a record: from 1/2, on one of two equally likely "
            "values, which is not membership.",
            baseline=CHANCE.described(
                "Its chance without the person's data; where rows are replaced, with another "
                "record in its place, or other values in the columns that change."
            ).of(0),
            success=CHANCE.described("The most with what was read.").of(1),
        )
    ),
}
_POINT = mapping(
    "The same by one epsilon and delta alone, where the release has one.",
    epsilon=maybe(AMOUNT, TOO_LARGE).of(lambda risk: risk.point[0]),
    delta=CHANCE.of(lambda risk: risk.point[1]),
    **{name: shape.of(f"from_point.{name}") for name, shape in _RATES.items()},
)
RISK = defined(
    "risk",
    mapping(
        "What an attacker gains at most, by all that is known; every rate is rounded up.",
        **_RATES,
        from_point=optional(_POINT).of(
            lambda risk: risk if risk.point is not None and risk.from_point is not None else None
        ),
    ),
)
_ATTRIBUTE = defined(
    "attribute",
    mapping(
        "What is learnt of some columns of a row by one who knows the others.",
        name=TEXT.described("What the question is called, or the column."),
        changes=array_of(TEXT, "These columns."),
        guarantee=maybe(
            _GUARANTEE,
            "Where a row is replaced in these columns alone; null without a finite one.",
        ).of(lambda each: each.bound or (_PROFILE if each.is_finite else None)),
        at_delta=AT_DELTAS,
        risk=maybe(RISK, "Null where it was not asked for, or nothing is known."),
        mechanisms=array_of(TEXT, "Those that the worst such change reaches."),
        reasons=array_of(TEXT, "Why there is no finite bound."),
    ),
)
_ADVERSARY = defined(
    "adversary",
    mapping(
        "What holds against an adversary with two hypotheses alone.",
        label=TEXT,
        hypotheses=TEXTS,
        epsilon=maybe(AMOUNT, "Null where nothing is known.").of(
            lambda each: each.bound and each.bound.value
        ),
        delta=maybe(CHANCE, "Null where nothing is known.").of(
            lambda each: each.bound and (each.bound.delta or Fraction(0))
        ),
        theorem=maybe(THEOREM, "What gives it."),
        share_of_guarantee=maybe(AMOUNT, "Its epsilon as a share of that of the guarantee.").of(
            "ratio"
        ),
        why=maybe(TEXT, "Why nothing is known."),
        derivation=array_of(_STEP).of("chain"),
        alternatives=array_of(_ALTERNATIVE),
        assumptions=TEXTS,
        at_delta=array_of(AT_DELTA),
    ),
)

# --- budgets -------------------------------------------------------------------------------------


def _parameters(says: str, rounded: Callable[[Fraction], float | None]) -> JsonShape:
    """Returns the shape of parameters by their names, each rounded."""
    numbers = {name: maybe(AMOUNT, "Null where no double can hold it.") for name in LIMITS}
    return JsonShape(
        {
            "description": says,
            "type": "object",
            "properties": {name: each.schema for name, each in numbers.items()},
            "additionalProperties": False,
            "minProperties": 1,
        },
        lambda found: {name: rounded(value) for name, value in found},
    )


def _exact_budget(owner: Any) -> dict[str, str | None]:
    """Returns the limit, and what is left where it is a difference of stated numbers, not rounded
    or converted, as fractions; `owner`: a report or a total."""
    verdict: Verdict = owner.verdict
    bound = owner.bound if isinstance(owner, Report) else next(iter(owner.bounds), None)
    exact = {name: fraction_text(value) for name, value in verdict.limit.parameters}
    by, main = verdict.by or bound, verdict.limit.parameters[0][0]
    stated = by is not None and by.exact and by.notion.facts.symbol == main
    if verdict.slack is not None and verdict.at is None and stated:
        exact["slack"] = fraction_text(verdict.slack)
    return exact


_BUDGET = defined(
    "budget",
    mapping(
        "The budget, and whether it is met.",
        limit=_parameters("Its parameters, rounded down.", number_down).of(
            "verdict.limit.parameters"
        ),
        ok=FLAG.of("verdict.ok"),
        slack=maybe(DOWN, "What is left, rounded down; negative: exceeded.").of("verdict.slack"),
        exact=EXACT.of(_exact_budget),
        why=maybe(TEXT, "Why it cannot be compared, or is not met.").of("verdict.why"),
        at_delta=optional(
            mapping(
                "The number at a delta that was held against it.",
                delta=CHANCE.of("given"),
                epsilon=maybe(AMOUNT, TOO_LARGE).of("value"),
                rule=TEXT,
            )
        ).of("verdict.at"),
        of=optional(
            JsonShape({"const": "adversary"}, lambda _: "adversary"),
            "Whom it is against, where not anybody.",
        ).of("verdict.of_adversary"),
    ),
)
BUDGET = maybe(_BUDGET, "Null without one.").of(lambda owner: owner if owner.verdict else None)


def _exact_record(record: FilterRecord) -> dict[str, str]:
    """Returns what is spent as fractions, where it is not rounded."""
    found = {name: fraction_text(value) for name, value in record.spent or ()}
    return {name: text for name, text in found.items() if record.exact and text is not None}


FILTER = defined(
    "filter",
    mapping(
        "What a filter has counted of a record of releases: facts, of which none is a guarantee.",
        notion=one_of(*(each.value for each in FILTERS)).of("notion.value"),
        named=FLAG.described("Whether the spec names the notion."),
        limit=_parameters("What may be spent in all, rounded down.", number_down),
        spent=maybe(_parameters("By the record, rounded up.", number_up), "Not finite."),
        left=_parameters("What a further release may spend, rounded down.", number_down),
        at_delta=array_of(
            mapping(
                "What the whole interaction has at a delta, by the limit.",
                delta=CHANCE.of(0),
                epsilon=maybe(AMOUNT, TOO_LARGE).of(1),
            )
        ),
        adaptivity=maybe(
            mapping(
                "What it costs that parameters are chosen along the way.",
                delta=CHANCE.of(0),
                epsilon=maybe(AMOUNT, "What is counted at the delta; null: too large.").of(1),
                epsilon_fixed=maybe(AMOUNT, "With parameters that are fixed in advance.").of(2),
            ),
            "Null where no delta is given.",
        ).of("cost"),
        exact=EXACT.of(_exact_record),
    ),
)

# --- a result ------------------------------------------------------------------------------------

LEFT_OUT = defined(
    "left_out",
    mapping(
        "What a run met and has no result for.",
        unread=COUNT.described("Files that could not be read: see standard error."),
        skipped=COUNT.described("YAML files in folders that are no specs."),
        dangling=COUNT.described("Links that lead to no file."),
        folders=COUNT.described("Links to folders that are not looked into elsewhere."),
        hidden=optional(COUNT, "Specs in hidden folders and node_modules."),
        absent=optional(COUNT, "Empty folders where there are submodules."),
        names=array_of(TEXT, "The first of those that were not said to be unread."),
    ),
)
_PROTECT = defined(
    "protect",
    mapping(
        "The neighbouring relation that is protected.",
        relation=TEXT,
        keeps=optional(array_of(TEXT, "Columns that a replaced row keeps.")),
        changes=optional(array_of(TEXT, "The columns that alone a replaced row changes.")),
        distance=NUMBER,
    ),
)
_WORST_CASE = defined(
    "worst_case",
    mapping(
        "The worst neighbouring change.",
        change=array_of(TEXT, "One sentence for each thing that happens.").of("says"),
        datasets=array_of(TEXT, "What it changes."),
        mechanisms=array_of(
            mapping(
                "A mechanism that feels it.",
                name=TEXT.of("mechanism"),
                dataset=TEXT,
                copies=COUNT,
                each=BOUND.described("The loss of one copy."),
                total=BOUND.described("The loss of all copies."),
                line=LINE,
            )
        ).of("touches"),
        omitted=COUNT.described("How many more feel it."),
    ),
)
_ADVICE = defined(
    "advice",
    mapping(
        "What the author could say, if it is true, and what that brings: the spec that says so was "
        "analysed.",
        key=TEXT.described("What it is about: a key of specs, or a word."),
        **{"if": TEXT.described("When it is true.").of("condition")},
        write=array_of(
            mapping("What to write at an entry.", says=TEXT.of("write"), line=LINE),
            "All of it together.",
        ).of("places"),
        number=TEXT.described("What becomes less: ε, ρ, μ, or ε at a δ."),
        before=maybe(AMOUNT, "Null where it is not finite."),
        after=maybe(AMOUNT, TOO_LARGE),
        saves=maybe(DOWN, "Rounded down; null where it was not finite."),
    ),
)
_ASSUMED_RELATIONS = defined(
    "assumed_relations",
    mapping(
        "Statements that do not say for which neighbours they hold, where that changes the number.",
        count=COUNT.described("How many, each with a finding (DPC202).").of(
            lambda report: len(report.assumed_relations)
        ),
        otherwise=optional(
            mapping(
                "The number if each of them holds for one row only; of `analyze`.",
                number=TEXT.described("Which number: ε, ρ, μ, or ε at a δ.").of(0),
                value=maybe(AMOUNT, "Null where it is not finite.").of(1),
            )
        ),
    ),
)
_RECHECK = defined(
    "recheck",
    mapping(
        "What the stand-alone checker has gone through.",
        claims=COUNT.described("The claims that prove all bounds; 0: there is none.").of(
            "rechecked.claims"
        ),
        seconds=AMOUNT._replace(write=lambda seconds: round(seconds, 3))
        .described("How long that took.")
        .of("rechecked.seconds"),
        unchecked=array_of(
            mapping(
                "Claims that it has no rule for.",
                claims=COUNT.described("How many.").of(1),
                why=TEXT.described("What it has no rule for.").of(0),
            ),
            "Empty where every claim was checked.",
        ).of("rechecked.unchecked"),
        points=array_of(
            mapping(
                "An epsilon at a delta that follows from the claims.",
                delta=CHANCE.of(0),
                within=AMOUNT.described("To which part of the epsilon: 0.001 is 0.1 %.").of(1),
            ),
            "Empty where none follows.",
        ).of("rechecked.points"),
        leaves_out=array_of(
            one_of("at_delta", "at_epsilon", "risk", "adversary"),
            "Keys with numbers that it has not.",
        ).of("not_rechecked"),
        uncompared=array_of(TEXT, "What of the spec it has not compared with the certificate.").of(
            "rechecked.uncompared"
        ),
    ),
)


def _headline(report: Report) -> tuple[str, Fraction | None, Fraction | None] | None:
    """Returns the number that leads a report: its name, its value, and its δ or ε."""
    at, bound = requested_number(report), report.bound
    if report.status != "ok":
        return None
    if at is not None:
        return other_parameter(at), at.value, at.given
    if bound is None:
        return None
    (name, value, _), *rest = bound.parameters
    return name, value, next((each for _, each, _ in rest), None)


RESULT = defined(
    "result",
    mapping(
        "The result of one spec.",
        file=TEXT,
        document=optional(NUMBER, "Which document of the file, from 1, where it has several."),
        title=TEXT,
        population=optional(TEXT, "Whose data it is, where the spec says so."),
        status=one_of("ok", "no-guarantee", "invalid"),
        protect=maybe(_PROTECT, "Null for an invalid spec.").of(
            lambda report: None if report.relation is None else report
        ),
        headline=maybe(
            mapping(
                "The number that leads: that of the budget, of the first δ asked for, or the "
                "bound.",
                number=one_of("epsilon", "delta", "rho", "mu").of(0),
                value=maybe(AMOUNT, "Rounded up; null: too large.").of(1),
                at=maybe(AMOUNT, "The δ of an ε, or the ε of a δ; null where there is none.").of(2),
            ),
            "Null where there is no finite bound.",
        ).of(_headline),
        guarantee=maybe(_GUARANTEE, "Null without a finite one.").of(
            lambda report: (report.bound or _PROFILE) if report.status == "ok" else None
        ),
        at_delta=AT_DELTAS,
        at_epsilon=optional(array_of(AT_EPSILON, "Where an epsilon was chosen.")),
        risk=optional(RISK, "What an attacker gains at most, where that was asked for."),
        worst_case=maybe(_WORST_CASE, "Null where there is none.").of("worst"),
        proof=PROOF,
        alternatives=array_of(_ALTERNATIVE),
        assumptions=array_of(
            mapping(
                "What the result rests on and cannot be checked from the spec.",
                says=TEXT,
                line=LINE,
                because=optional(TEXT),
            )
        ),
        reasons=array_of(TEXT, "Why there is no finite guarantee."),
        shares=array_of(
            mapping(
                "What one mechanism adds at the worst change.",
                mechanism=TEXT,
                bound=BOUND,
                line=LINE,
                share=maybe(CHANCE, "Its part of what adds up, rounded up; null: not known.").of(
                    "of_whole"
                ),
                epsilon_without=maybe(
                    AMOUNT,
                    "The epsilon at the first chosen delta without it, rounded up; null: not "
                    "known.",
                ).of("without"),
                group=optional(TEXT, "The group that the spec gives it."),
            )
        ),
        groups=optional(
            array_of(
                mapping(
                    "A group of mechanisms.",
                    group=TEXT.of(0),
                    share=maybe(CHANCE, "Of the sum.").of(1),
                ),
                "Where mechanisms are in groups, and parts add up.",
            )
        ).of("group_shares"),
        accuracy=optional(
            array_of(
                mapping(
                    "What the noise of a mechanism does to each answer, in its units.",
                    mechanism=TEXT,
                    line=LINE,
                    noise=maybe(
                        TEXT, "The mechanism, with its noise on numbers; null: not known."
                    ).of(lambda each: each.noise or None),
                    standard_deviation=maybe(AMOUNT, "Rounded up.").of("deviation"),
                    level=CHANCE,
                    within=maybe(AMOUNT, "The noise is at most this with the chance `level`."),
                ),
                "With --accuracy.",
            )
        ),
        findings=array_of(FINDING),
        ignored=optional(array_of(_IGNORED, "Where comments ignore findings.")),
        budget=BUDGET,
        filter=optional(FILTER, "Where parameters are chosen along the way.").of("record"),
        attributes=optional(array_of(_ATTRIBUTE, "Who learns what, where that is asked.")),
        adversary=optional(_ADVERSARY, "Where the spec has one; weaker than the guarantee."),
        advice=array_of(_ADVICE, "What would make the number less, if true; of `analyze`."),
        assumed_relations=optional(_ASSUMED_RELATIONS, "Where statements have no relation.").of(
            lambda report: report if report.assumed_relations else None
        ),
        recheck=optional(_RECHECK, "With --recheck, where there is a result.").of(
            lambda report: None if report.rechecked is None else report
        ),
    ),
)
_RESULTS = document(
    "All results of a run.",
    schema_version=RESULTS_VERSION,
    results=array_of(RESULT, "In the order of the files."),
    left_out=optional(LEFT_OUT, "Where something was met that has no result."),
)
