"""The JSON Schema of results (`--format json`), version 1."""

from __future__ import annotations

from typing import get_args

from dpcompose.core.at_delta.filters import FILTERS
from dpcompose.core.notions.guarantee import LIMITS
from dpcompose.core.notions.notion import SIGNS, Notion
from dpcompose.render.schema_parts import (
    AMOUNT,
    COUNT,
    EXACT,
    LINE,
    PROBABILITY,
    TEXT,
    TOO_LARGE,
    VERSION,
    Schema,
    array_of,
    defined,
    document,
    mapping,
    maybe,
    published,
)
from dpcompose.report import NodeKind


def result_schema() -> Schema:
    """Returns the JSON Schema of what `--format json` and a line of `jsonl` print."""
    return published(
        "dpcompose results",
        "What --format json prints, or one line of --format jsonl.",
        {"anyOf": [defined("document"), defined("line")]},
        DEFINITIONS,
    )


_BOUND_PARAMETERS = {
    notion.value: tuple(name for name in notion.facts.parameters if name in SIGNS)
    for notion in Notion
    if notion is not Notion.PROFILE
}


def _bound() -> Schema:
    """Returns the schema of a bound, one form for each notion."""
    notions = []
    for notion, names in _BOUND_PARAMETERS.items():
        numbers = {
            name: maybe(PROBABILITY if name == "delta" else AMOUNT, TOO_LARGE) for name in names
        }
        notions.append(
            mapping(f"A bound in {notion}.", notion={"const": notion}, **numbers, exact=EXACT)
        )
    return {"description": "A certified guarantee, never below the truth.", "oneOf": notions}


def _chosen(wanted: str, found: str) -> Schema:
    """Returns the schema of the least `found` (ε or δ) at a chosen `wanted` (δ or ε)."""
    forms = {"epsilon": AMOUNT, "delta": PROBABILITY}
    value = maybe(forms[found], f"The {found} that holds, rounded up; null: no finite one.")
    least = f"No true {found} is below it, rounded down; null: not known."
    return mapping(
        f"The least {found} certified at a chosen {wanted}.",
        **{
            wanted: forms[wanted],
            found: value,
            "rule": {**TEXT, "description": "The route that won."},
            "says": TEXT,
            f"{found}_lower": maybe(forms[found], least),
            "others": array_of(
                mapping("A route that was compared.", rule=TEXT, **{found: value}, why=TEXT)
            ),
            "worst_case": array_of(TEXT, "The worst change here, where it is another one."),
            "steps": array_of(TEXT, "The steps of the delta bookkeeping."),
            "exact": EXACT,
        },
    )


_FINDING: Schema = {
    "level": {"enum": ["error", "warning", "note"]},
    "code": {**TEXT, "pattern": "^DPC[0-9]{3}$"},
    "message": TEXT,
    "line": LINE,
    "column": {"type": ["integer", "null"], "minimum": 1},
    "end_line": {"type": ["integer", "null"], "minimum": 1},
    "end_column": {"type": ["integer", "null"], "minimum": 1},
    "hint": maybe(TEXT, "What to do."),
}

_POSITION: Schema = {"type": "integer", "minimum": 1}
#: The optional keys of a finding.
_TOLD: Schema = {
    "label": {**TEXT, "description": "A few words on what stands there."},
    "fix": mapping(
        "What to write instead.",
        certain={"type": "boolean", "description": "Nothing else is meant: `--fix` writes it."},
        edits=array_of(
            mapping(
                "A stretch of the file, the end excluded, and what takes its place.",
                line=_POSITION,
                column=_POSITION,
                end_line=_POSITION,
                end_column=_POSITION,
                text=TEXT,
            )
        ),
    ),
}

_RESULT: Schema = mapping(
    "The result of one spec.",
    {
        "document": {
            "description": "Which document of the file, from 1, where it has several.",
            "type": "integer",
            "minimum": 1,
        },
        "population": {**TEXT, "description": "Whose data it is, where the spec says so."},
        "at_epsilon": array_of(defined("at_epsilon"), "Where an epsilon was chosen."),
        "risk": defined("risk", "What an attacker gains at most, where that was asked for."),
        "groups": array_of(
            mapping("A group of mechanisms.", group=TEXT, share=maybe(PROBABILITY, "Of the sum.")),
            "Where mechanisms are in groups, and parts add up.",
        ),
        "ignored": array_of(defined("ignored"), "Where comments ignore findings."),
        "filter": defined("filter", "Where parameters are chosen along the way."),
        "attributes": array_of(defined("attribute"), "Who learns what, where that is asked."),
        "adversary": defined("adversary", "Where the spec has one; weaker than the guarantee."),
        "accuracy": array_of(
            mapping(
                "What the noise of a mechanism does to each answer, in its units.",
                mechanism=TEXT,
                line=LINE,
                noise=maybe(TEXT, "The mechanism, with its noise on numbers; null: not known."),
                standard_deviation=maybe(AMOUNT, "Rounded up."),
                level=PROBABILITY,
                within=maybe(AMOUNT, "The noise is at most this with the chance `level`."),
            ),
            "With --accuracy.",
        ),
        "recheck": defined("recheck", "With --recheck, where there is a result."),
        "assumed_relations": defined("assumed_relations", "Where statements have no relation."),
    },
    file=TEXT,
    title=TEXT,
    status={"enum": ["ok", "no-guarantee", "invalid"]},
    protect=maybe(defined("protect"), "Null for an invalid spec."),
    headline=maybe(
        mapping(
            "The number that leads: that of the budget, of the first δ asked for, or the bound.",
            number={"enum": ["epsilon", "delta", "rho", "mu"]},
            value=maybe(AMOUNT, "Rounded up; null: too large."),
            at=maybe(AMOUNT, "The δ of an ε, or the ε of a δ; null where there is none."),
        ),
        "Null where there is no finite bound.",
    ),
    guarantee=maybe(
        {
            "anyOf": [
                defined("bound"),
                mapping("Losses with no common notion: see at_delta.", notion={"const": "profile"}),
            ]
        },
        "Null without a finite one.",
    ),
    at_delta=array_of(defined("at_delta"), "Where a delta was chosen."),
    theorem=maybe(defined("theorem"), "What gives the guarantee."),
    worst_case=maybe(defined("worst_case"), "Null where there is none."),
    derivation=array_of(defined("step")),
    tree=array_of(defined("node"), "The proof, line by line, in the order of reading."),
    alternatives=array_of(defined("alternative")),
    assumptions=array_of(
        mapping(
            "What the result rests on and cannot be checked from the spec.",
            {"because": TEXT},
            says=TEXT,
            line=LINE,
        )
    ),
    reasons=array_of(TEXT, "Why there is no finite guarantee."),
    shares=array_of(
        mapping(
            "What one mechanism adds at the worst change.",
            {"group": {**TEXT, "description": "The group that the spec gives it."}},
            mechanism=TEXT,
            bound=defined("bound"),
            line=LINE,
            share=maybe(PROBABILITY, "Its part of what adds up, rounded up; null: not known."),
            epsilon_without=maybe(
                AMOUNT,
                "The epsilon at the first chosen delta without it, rounded up; null: not known.",
            ),
        )
    ),
    findings=array_of(defined("finding")),
    advice=array_of(defined("advice"), "What would make the number less, if true; of `analyze`."),
    budget=maybe(defined("budget"), "Null without one."),
)

_RISK: dict[str, Schema] = {
    "advantage": {**PROBABILITY, "description": "Hits less false alarms, at the best rate."},
    "membership": {
        **PROBABILITY,
        "description": "Of two equally likely neighbouring tables the one read is told right with "
        "this chance at most, (1 + advantage)/2: with unbounded neighbours, whether a person is in "
        "the data.",
    },
    "hits": array_of(
        mapping(
            "A test for which of two neighbouring tables was read: with unbounded neighbours, for "
            "whether a person is in the data.",
            false_alarms=PROBABILITY,
            hits={**PROBABILITY, "description": "The most that it finds."},
        )
    ),
    "success": array_of(
        mapping(
            "An attack on an attribute, or a record: from 1/2, on one of two equally likely "
            "values, which is not membership.",
            baseline={
                **PROBABILITY,
                "description": "Its chance without the person's data; where rows are replaced, "
                "with another record in its place, or other values in the columns that change.",
            },
            success={**PROBABILITY, "description": "The most with what was read."},
        )
    ),
}
_PARAMETERS: Schema = {
    "type": "object",
    "properties": {name: maybe(AMOUNT, "Null where no double can hold it.") for name in LIMITS},
    "additionalProperties": False,
    "minProperties": 1,
}

#: Shapes that the documents of several commands share.
DEFINITIONS: dict[str, Schema] = {
    "document": document(
        "All results of a run.",
        {"left_out": defined("left_out", "Where something was met that has no result.")},
        results=array_of(defined("result"), "In the order of the files."),
    ),
    "line": {
        "description": "One result, with the version of the shape; the last one of a run has "
        "`left_out` where something was met that has no result.",
        "allOf": [
            defined("result"),
            {
                "type": "object",
                "properties": {"schema_version": VERSION, "left_out": defined("left_out")},
                "required": ["schema_version"],
            },
        ],
    },
    "left_out": mapping(
        "What a run met and has no result for.",
        {
            "hidden": {
                **COUNT,
                "description": "Specs in hidden folders and node_modules.",
            },
            "absent": {**COUNT, "description": "Empty folders where there are submodules."},
        },
        unread={**COUNT, "description": "Files that could not be read: see standard error."},
        skipped={**COUNT, "description": "YAML files in folders that are no specs."},
        dangling={**COUNT, "description": "Links that lead to no file."},
        folders={**COUNT, "description": "Links to folders that are not looked into elsewhere."},
        names=array_of(TEXT, "The first of those that were not said to be unread."),
    ),
    "result": _RESULT,
    "protect": mapping(
        "The neighbouring relation that is protected.",
        {
            "keeps": array_of(TEXT, "Columns that a replaced row keeps."),
            "changes": array_of(TEXT, "The columns that alone a replaced row changes."),
        },
        relation=TEXT,
        distance={"type": "integer", "minimum": 1},
    ),
    "attribute": mapping(
        "What is learnt of some columns of a row by one who knows the others.",
        name={**TEXT, "description": "What the question is called, or the column."},
        changes=array_of(TEXT, "These columns."),
        guarantee=maybe(
            {
                "anyOf": [
                    defined("bound"),
                    mapping("See at_delta.", notion={"const": "profile"}),
                ]
            },
            "Where a row is replaced in these columns alone; null without a finite one.",
        ),
        at_delta=array_of(defined("at_delta"), "Where a delta was chosen."),
        risk=maybe(defined("risk"), "Null where it was not asked for, or nothing is known."),
        mechanisms=array_of(TEXT, "Those that the worst such change reaches."),
        reasons=array_of(TEXT, "Why there is no finite bound."),
    ),
    "bound": _bound(),
    "at_delta": _chosen("delta", "epsilon"),
    "at_epsilon": _chosen("epsilon", "delta"),
    "risk": mapping(
        "What an attacker gains at most, by all that is known; every rate is rounded up.",
        {
            "from_point": mapping(
                "The same by one epsilon and delta alone, where the release has one.",
                epsilon=maybe(AMOUNT, TOO_LARGE),
                delta=PROBABILITY,
                **_RISK,
            )
        },
        **_RISK,
    ),
    "theorem": mapping(
        "An entry of the theorem book.",
        {"place": {**TEXT, "description": "How the source names it."}},
        id=TEXT,
        title=maybe(TEXT, "Null for an id that is not in the book."),
        source=maybe(TEXT, "Null for an id that is not in the book."),
    ),
    "worst_case": mapping(
        "The worst neighbouring change.",
        change=array_of(TEXT, "One sentence for each thing that happens."),
        datasets=array_of(TEXT, "What it changes."),
        mechanisms=array_of(
            mapping(
                "A mechanism that feels it.",
                name=TEXT,
                dataset=TEXT,
                copies=COUNT,
                each=defined("bound", "The loss of one copy."),
                total=defined("bound", "The loss of all copies."),
                line=LINE,
            )
        ),
        omitted={**COUNT, "description": "How many more feel it."},
    ),
    "advice": mapping(
        "What the author could say, if it is true, and what that brings: the spec that says so was "
        "analysed.",
        key={**TEXT, "description": "What it is about: a key of specs, or a word."},
        write=array_of(
            mapping("What to write at an entry.", says=TEXT, line=LINE), "All of it together."
        ),
        number={**TEXT, "description": "What becomes less: ε, ρ, μ, or ε at a δ."},
        before=maybe(AMOUNT, "Null where it is not finite."),
        after=maybe(AMOUNT, TOO_LARGE),
        saves=maybe({"type": "number"}, "Rounded down; null where it was not finite."),
        **{"if": {**TEXT, "description": "When it is true."}},
    ),
    "step": mapping(
        "A step of the derivation.",
        number={"type": "integer", "minimum": 1},
        theorem=maybe(TEXT, "The theorem it is by; null where it says what is given."),
        says=TEXT,
        inputs=array_of(COUNT, "The numbers of the steps it is from."),
        bound=maybe(defined("bound"), "What it gives."),
        lines=array_of({"type": "integer", "minimum": 1}, "Lines of the spec."),
    ),
    "node": mapping(
        "A line of the proof tree.",
        number={"type": "integer", "minimum": 1},
        depth={"description": "How far below a root.", **COUNT},
        kind={"enum": list(get_args(NodeKind))},
        name={**TEXT, "description": "The dataset or the mechanism; empty for the whole."},
        says=TEXT,
        bound=maybe(defined("bound"), "What it costs; of a reading, the epsilon and the delta."),
        theorem=maybe(TEXT, "The theorem it is by."),
        lines=array_of({"type": "integer", "minimum": 1}, "Lines of the spec."),
    ),
    "alternative": mapping(
        "A theorem that was compared.",
        theorem=maybe(TEXT, "Null: a further bound of the same theorem."),
        bound=maybe(defined("bound"), "Null where a hypothesis fails."),
        why=TEXT,
    ),
    "finding": mapping(
        "A fault of an invalid spec, or a remark on a valid one.", _TOLD, **_FINDING
    ),
    "ignored": mapping(
        "A remark that a comment in the spec ignores.",
        _TOLD,
        **_FINDING,
        reason={**TEXT, "description": "Why, in the words of the comment."},
    ),
    "budget": mapping(
        "The budget, and whether it is met.",
        {
            "at_delta": mapping(
                "The number at a delta that was held against it.",
                delta=PROBABILITY,
                epsilon=maybe(AMOUNT, TOO_LARGE),
                rule=TEXT,
            ),
            "of": {"description": "Whom it is against, where not anybody.", "const": "adversary"},
        },
        limit={**_PARAMETERS, "description": "Its parameters, rounded down."},
        ok={"type": "boolean"},
        slack=maybe({"type": "number"}, "What is left, rounded down; negative: exceeded."),
        exact=EXACT,
        why=maybe(TEXT, "Why it cannot be compared, or is not met."),
    ),
    "filter": mapping(
        "What a filter has counted of a record of releases: facts, of which none is a guarantee.",
        notion={"enum": [each.value for each in FILTERS]},
        named={"type": "boolean", "description": "Whether the spec names the notion."},
        limit={**_PARAMETERS, "description": "What may be spent in all, rounded down."},
        spent=maybe({**_PARAMETERS, "description": "By the record, rounded up."}, "Not finite."),
        left={**_PARAMETERS, "description": "What a further release may spend, rounded down."},
        at_delta=array_of(
            mapping(
                "What the whole interaction has at a delta, by the limit.",
                delta=PROBABILITY,
                epsilon=maybe(AMOUNT, TOO_LARGE),
            )
        ),
        adaptivity=maybe(
            mapping(
                "What it costs that parameters are chosen along the way.",
                delta=PROBABILITY,
                epsilon=maybe(AMOUNT, "What is counted at the delta; null: too large."),
                epsilon_fixed=maybe(AMOUNT, "With parameters that are fixed in advance."),
            ),
            "Null where no delta is given.",
        ),
        exact=EXACT,
    ),
    "assumed_relations": mapping(
        "Statements that do not say for which neighbours they hold, where that changes the number.",
        {
            "otherwise": mapping(
                "The number if each of them holds for one row only; of `analyze`.",
                number={**TEXT, "description": "Which number: ε, ρ, μ, or ε at a δ."},
                value=maybe(AMOUNT, "Null where it is not finite."),
            )
        },
        count={**COUNT, "description": "How many, each with a finding (DPC202)."},
    ),
    "recheck": mapping(
        "What the stand-alone checker has gone through.",
        claims={**COUNT, "description": "The claims that prove all bounds; 0: there is none."},
        seconds={**AMOUNT, "description": "How long that took."},
        unchecked=array_of(
            mapping(
                "Claims that it has no rule for.",
                claims={**COUNT, "description": "How many."},
                why={**TEXT, "description": "What it has no rule for."},
            ),
            "Empty where every claim was checked.",
        ),
        points=array_of(
            mapping(
                "An epsilon at a delta that follows from the claims.",
                delta=PROBABILITY,
                within={**AMOUNT, "description": "To which part of the epsilon: 0.001 is 0.1 %."},
            ),
            "Empty where none follows.",
        ),
        leaves_out=array_of(
            {"enum": ["at_delta", "at_epsilon", "risk", "adversary"]},
            "Keys with numbers that it has not.",
        ),
    ),
    "adversary": mapping(
        "What holds against an adversary with two hypotheses alone.",
        label=TEXT,
        hypotheses=array_of(TEXT),
        epsilon=maybe(AMOUNT, "Null where nothing is known."),
        delta=maybe(PROBABILITY, "Null where nothing is known."),
        theorem=maybe(defined("theorem"), "What gives it."),
        share_of_guarantee=maybe(AMOUNT, "Its epsilon as a share of that of the guarantee."),
        why=maybe(TEXT, "Why nothing is known."),
        derivation=array_of(defined("step")),
        alternatives=array_of(defined("alternative")),
        assumptions=array_of(TEXT),
        at_delta=array_of(defined("at_delta")),
    ),
}
