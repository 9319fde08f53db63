"""The JSON Schemas of what `diff`, `total`, `fit`, `savings`, `registry`, `accept` and
`--certificate` write."""

from __future__ import annotations

from dpcompose.planning.comparison import EVENTS
from dpcompose.render.result_schema import DEFINITIONS
from dpcompose.render.schema_parts import (
    AMOUNT,
    COUNT,
    EXACT,
    LINE,
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

_FRACTION: Schema = {"type": "string", "pattern": "^[0-9]+(/[1-9][0-9]*)?$"}
_PLACE: Schema = {"type": "integer", "minimum": 1, "description": "Line, from 1."}
_DIRECTION: Schema = {"enum": ["same", "decreased", "increased", "incomparable"]}


def diff_schema() -> Schema:
    """Returns the JSON Schema of `diff --format json`."""
    return published(
        "dpcompose changes",
        "What diff --format json prints.",
        document(
            "All changes.",
            {"left_out": defined("left_out", "Where something was met that has no result.")},
            changes=array_of(_ANY_CHANGE, "In the order of the files."),
        ),
        {**DEFINITIONS, "change": _CHANGE, "invalid": _INVALID},
    )


def total_schema() -> Schema:
    """Returns the JSON Schema of `total --format json`."""
    return published(
        "dpcompose totals",
        "What total --format json prints.",
        document(
            "The totals of all populations.",
            totals=array_of(_TOTAL, "In the order of the specs."),
            without_population=array_of(TEXT, "Specs that name none, and were left out."),
            findings=array_of(
                mapping("A finding with its file.", file=TEXT, finding=defined("finding")),
                "What a revision had, and is gone or says less.",
            ),
        ),
        DEFINITIONS,
    )


def fit_schema() -> Schema:
    """Returns the JSON Schema of `fit --format json`."""
    return published(
        "dpcompose fit",
        "What fit --format json prints.",
        document(
            "A spec with scaled parameters that keeps its budget.",
            file=TEXT,
            number={**TEXT, "description": "What the budget limits, such as ε at δ = 1e-6."},
            spent=maybe(AMOUNT, TOO_LARGE),
            limit=maybe(AMOUNT, TOO_LARGE),
            exact={"type": "boolean", "description": "Whether no larger scale would do."},
            scale={**_FRACTION, "description": "What parameters were multiplied by."},
            mechanisms=array_of(TEXT, "Those that were scaled."),
            changes=array_of(_SCALED, "In the order of the spec."),
            remarks=array_of(TEXT, "What an author has to look at."),
            spec={**TEXT, "description": "The new spec, as YAML."},
        ),
        DEFINITIONS,
    )


def savings_schema() -> Schema:
    """Returns the JSON Schema of `savings --format json`."""
    return published(
        "dpcompose savings",
        "What savings --format json prints.",
        document(
            "What halving each mechanism takes off a number of a spec.",
            file=TEXT,
            number={**TEXT, "description": "Which number, such as ε, or ε at δ = 1e-6."},
            total=maybe(AMOUNT, TOO_LARGE),
            savings=array_of(_SAVING, "The largest first."),
        ),
        DEFINITIONS,
    )


def registry_schema() -> Schema:
    """Returns the JSON Schema of `registry check --format json`."""
    entry = mapping(
        "An entry of the registry.",
        file=TEXT,
        valid={"type": "boolean", "description": "Whether it fits the schema of the registry."},
        findings=array_of(defined("finding"), "By their places."),
    )
    return published(
        "dpcompose registry",
        "What registry check --format json prints.",
        document("All entries.", entries=array_of(entry, "In the order of the files.")),
        DEFINITIONS,
    )


def assumptions_schema() -> Schema:
    """Returns the JSON Schema of what `accept` writes."""
    return published(
        "dpcompose assumptions",
        "What accept writes, and check --assumptions reads.",
        mapping(
            "What the authors of specs vouch for.",
            dpcompose_assumptions=VERSION,
            accepted=array_of(_ACCEPTED, "By spec, document and entry."),
        ),
        DEFINITIONS,
    )


_ACCEPTED = mapping(
    "An entry of a spec that somebody accepted.",
    spec={**TEXT, "description": "The file of the spec, from the folder of this file."},
    document={**COUNT, "minimum": 1, "description": "Which document of the file, from 1."},
    of={**TEXT, "description": "The entry, such as `mechanism total`."},
    claim={"type": "object", "description": "What it declares, numbers as exact fractions."},
    hash={**TEXT, "pattern": "^sha256:[0-9a-f]{64}$", "description": "Of all of the above."},
    by={**TEXT, "description": "Who accepted it."},
    on={**TEXT, "description": "On which day."},
)

_DOCUMENT: Schema = {"document": DEFINITIONS["result"]["properties"]["document"]}
_MAYBE_TEXT = maybe(TEXT, "Null: it was not there.")
_FILES: Schema = {
    "file": {**TEXT, "description": "The file that it is in, or was in before it was removed."},
    "old_file": maybe(TEXT, "The file that it was in, without a revision; null for a new spec."),
    "new_file": maybe(TEXT, "The file that it is in; null for a spec that was removed."),
}
_ANY_CHANGE: Schema = {"anyOf": [defined("change"), defined("invalid")]}

_INVALID = mapping(
    "A spec of which a version is invalid.",
    _DOCUMENT,
    **_FILES,
    direction={"const": "invalid"},
    invalid=array_of(defined("result"), "The invalid versions, the old one first."),
)

_NUMBER = mapping(
    "A number before and now.",
    name={**TEXT, "description": "Which one: ε, δ, ρ, μ, or ε at a δ."},
    old=maybe(AMOUNT, "Rounded up; null where there was none."),
    new=maybe(AMOUNT, "Rounded up; null where there is none."),
    direction=_DIRECTION,
    exact=EXACT,
)

_MOVED = mapping(
    "A mechanism that adds another amount at the worst change.",
    mechanism=TEXT,
    old=maybe(defined("bound"), "Null: it added nothing."),
    new=maybe(defined("bound"), "Null: it adds nothing."),
    line=LINE,
)

_EDIT = mapping(
    "An entry of the spec that differs.",
    kind={"enum": ["spec", "constant", "relation", "dataset", "mechanism"]},
    name={**TEXT, "description": "Empty for the keys at the top of the spec."},
    how={"enum": ["added", "removed", "changed"]},
    keys=array_of(
        mapping(
            "A key that differs; a long value is cut.",
            key={**TEXT, "description": "Its path in the entry; empty for the entry itself."},
            old=_MAYBE_TEXT,
            new=maybe(TEXT, "Null: it is gone."),
        ),
        "Empty for an entry that was added or removed.",
    ),
    line={**_PLACE, "description": "In the new spec, or in the old one where it was removed."},
)

_CHANGE = mapping(
    "A spec before and now, both valid.",
    _DOCUMENT,
    **_FILES,
    direction={
        **_DIRECTION,
        "description": "Of the bound; of a new spec increased, of one that was removed decreased.",
    },
    says={**TEXT, "description": "The change in a sentence."},
    why=maybe(TEXT, "Why the bounds cannot be compared."),
    because=array_of(TEXT, "What made the bound another one."),
    numbers=array_of(_NUMBER, "The parameters of the bound, and the ε at each δ."),
    mechanisms=array_of(_MOVED),
    edits=array_of(_EDIT),
    assumed=array_of(TEXT, "What is newly assumed."),
    no_longer_assumed=array_of(TEXT),
    free=array_of(TEXT, "Mechanisms that post-process now, and did not."),
    settings=array_of(TEXT, "What the settings files around the spec say now, and did not."),
    events=array_of({"enum": list(EVENTS)}, "What --fail-on can stop at."),
    failing=array_of({"enum": list(EVENTS)}, "Those of them that it was told to."),
    findings=array_of(defined("finding"), "Those that the spec did not have before."),
    old=maybe(defined("result"), "Null for a new spec."),
    new=maybe(defined("result"), "Null for a spec that was removed."),
)

_TOTAL = mapping(
    "What all releases on one population cost together.",
    population=maybe(TEXT, "Null where all specs are added up."),
    files=array_of(TEXT, "What was added up."),
    protect={**TEXT, "description": "The neighbours that are protected, in words."},
    status={"enum": ["ok", "no-guarantee", "refused"]},
    refused=maybe(TEXT, "Why the releases cannot be added up."),
    groups=array_of(
        mapping("Releases that protect the same.", protect=TEXT, files=array_of(TEXT)),
        "Where they are refused since they protect different things.",
    ),
    guarantee=maybe(defined("bound"), "Null without one: see at_delta."),
    others=array_of(defined("bound"), "Further bounds, which hold as well."),
    at_delta=array_of(defined("at_delta"), "Where a delta was chosen."),
    filter=maybe(defined("filter"), "Null where all parameters were fixed, or without a budget."),
    before=maybe(defined("filter"), "The record without what is new, with `check --ledger`."),
    record=maybe(
        mapping(
            "What became of the releases that a revision had.",
            revision=TEXT,
            releases=COUNT,
            corrected=array_of(TEXT, "What says more than it did."),
            rewritten=array_of(TEXT, "What is gone or says less, and is counted as it was."),
        ),
        "Null where none was looked at.",
    ),
    over_time=array_of(
        mapping(
            "The record after one more release.",
            file=TEXT,
            came={**TEXT, "description": "When it came, in words."},
            filter=maybe(defined("filter"), "Null where it is not counted."),
        ),
        "With --over-time.",
    ),
    realised=maybe(defined("bound"), "What is spent, where no budget makes a guarantee of it."),
    fixed=maybe(TEXT, "Why all parameters were fixed before the first output."),
    remaining=maybe(
        {
            "type": "object",
            "properties": {
                name: maybe(AMOUNT, "Rounded down; null: nothing stated so is counted.")
                for name in ("epsilon", "rho", "mu")
            },
            "additionalProperties": False,
        },
        "With --remaining: what one more mechanism on the whole table may have.",
    ),
    theorem=maybe(defined("theorem"), "What gives the guarantee."),
    worst_case=array_of(TEXT, "The worst change, a sentence for each thing that happens."),
    releases=array_of(
        mapping(
            "A release by itself.",
            file=TEXT,
            guarantee=maybe(defined("bound"), "Null without a finite one."),
        )
    ),
    shares=array_of(
        mapping(
            "What one mechanism adds at the worst change.",
            mechanism=TEXT,
            file=TEXT,
            line={**COUNT, "description": "Line, from 1; 0 where it is not known."},
            bound=defined("bound"),
        )
    ),
    assumptions=array_of(TEXT, "What rests on the names of populations and datasets."),
    reasons=array_of(TEXT, "Why there is no finite guarantee."),
    budget=maybe(defined("budget"), "Null without one."),
)

_SCALED = mapping(
    "A number of a spec that was changed.",
    entry={**TEXT, "description": "The mechanism, or the constant."},
    key={**TEXT, "description": "Its key, such as epsilon."},
    old=maybe(TEXT, "As it was written."),
    new=maybe(TEXT, "As it is written now."),
    line=_PLACE,
)
_SAVING = mapping(
    "What halving a mechanism saves, or doubling its noise.",
    mechanism=TEXT,
    saves=maybe(AMOUNT, "Rounded down; null where it was not tried."),
    why=maybe(TEXT, "Why it saves nothing, or was not tried."),
    line=_PLACE,
)


_LOSS: Schema = {
    "description": "ε, ρ or μ²; null: none is claimed; in approx [ε, δ] of which each holds; in "
    "responses multisets of [ε, δ, count].",
    "anyOf": [
        _FRACTION,
        {"type": "null"},
        array_of(array_of(_FRACTION)),
        array_of(array_of({"type": "array", "minItems": 3, "maxItems": 3})),
    ],
}
_CHANGE_LINE: Schema = array_of(
    {"type": "array", "minItems": 2, "maxItems": 3},
    "[unit, count] or [unit, count, what it became].",
)
_RULE: Schema = {"anyOf": [TEXT, {"type": "array", "minItems": 2}]}
_RELATION_LINE: Schema = mapping("A neighbouring relation.", kind=TEXT)
_STATEMENT_LINE: Schema = mapping(
    "A guarantee for one step of a relation.",
    {
        "delta": _FRACTION,
        "points": {"type": "array"},
        "noise": {"type": "object"},
        "shift": _FRACTION,
    },
    relation=_RELATION_LINE,
    up={**COUNT, "description": "How many datasets above the one read it is stated."},
    notion=TEXT,
    value=_FRACTION,
)
_MECHANISM_LINE: Schema = mapping(
    "A mechanism that reads a dataset.",
    name=TEXT,
    count={**COUNT, "minimum": 1},
    statements=array_of(_STATEMENT_LINE),
)
_IDS: Schema = array_of(COUNT)
_MAP_LINE: Schema = mapping("A map, by its kind and keys.", kind=TEXT)


def certificate_schema() -> Schema:
    """Returns the JSON Schema of a line of a certificate (CERTIFICATE.md)."""
    lines = {
        "header": mapping(
            "The first line.",
            version={"const": 1},
            spec={**TEXT, "description": "SHA-256 of the spec."},
            protect=_RELATION_LINE,
            distance={**COUNT, "minimum": 1},
            apart=array_of(_IDS),
        ),
        "dataset": mapping(
            "A dataset, after its parent.",
            {
                "root": mapping("What is public of a root.", domain=TEXT),
                "parent": COUNT,
                "map": _MAP_LINE,
                "through": array_of(TEXT),
                "draws": {**COUNT, "minimum": 1},
                "one_release": {"const": True},
                "partition": COUNT,
                "class": COUNT,
                "history": array_of({"type": "integer", "minimum": -1}),
                "mechanisms": array_of(_MECHANISM_LINE),
            },
            id=COUNT,
            name=TEXT,
        ),
        "partition": mapping(
            "A partition, after the dataset that it splits.",
            id=COUNT,
            of=COUNT,
            name=TEXT,
            by=_MAP_LINE,
            sizes=array_of({**COUNT, "minimum": 1}),
            drops={"type": "boolean"},
            max_blocks_per_unit={"type": ["integer", "null"]},
            max_rows_per_block={"type": ["integer", "null"]},
        ),
        "proof": mapping(
            "The proof of a bound in one notion begins.",
            id=COUNT,
            notion={"enum": ["pure", "approx", "zcdp", "gdp", "profile"]},
            multiplied={"type": "boolean"},
        ),
        "claim": mapping(
            "What a change of a dataset loses at most.",
            {"pure": {"const": True}},
            id=COUNT,
            dataset=COUNT,
            change=_CHANGE_LINE,
            loss=_LOSS,
            charges=array_of(_LOSS),
            rules=array_of(_RULE),
            premises=_IDS,
        ),
        "bound": mapping("What follows.", id=COUNT, roots=_IDS, loss=_LOSS),
        "point": mapping(
            "An ε at a δ that follows from a bound.",
            {"order": _FRACTION},
            proof=COUNT,
            delta=_FRACTION,
            epsilon=_FRACTION,
        ),
    }
    for name, line in lines.items():
        line["properties"] = {"line": {"const": name}, **line["properties"]}
        line["required"] = ["line", *line["required"]]
    says = "A line of what --certificate writes, for the stand-alone checker."
    return published("dpcompose certificate", says, {"anyOf": list(lines.values())}, {})
