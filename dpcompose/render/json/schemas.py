"""The shapes of what `diff`, `total`, `fit`, `savings` and `registry` print as JSON, and the JSON
Schemas of these, of what `accept` writes and of certificates."""

from __future__ import annotations

from typing import Any

from dpcompose.planning.comparison import EVENTS
from dpcompose.render.json.result_schema import (
    AT_DELTAS,
    BOUND,
    BUDGET,
    FILTER,
    FINDING,
    LEFT_OUT,
    RESULT,
    TEXTS,
    THEOREM,
)
from dpcompose.render.json.shapes import (
    AMOUNT,
    AMOUNT_DOWN,
    COUNT,
    EXACT,
    FLAG,
    LINE,
    NUMBER,
    TEXT,
    TOO_LARGE,
    VERSION,
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
from dpcompose.render.plans.diff_views import headline
from dpcompose.render.words.numbers import fraction_text

_FRACTION = JsonShape({"type": "string", "pattern": "^[0-9]+(/[1-9][0-9]*)?$"}, str)
_PLACE = LINE._replace(schema={**LINE.schema, "type": "integer"})

# --- diff ----------------------------------------------------------------------------------------

_DIRECTION = one_of("same", "decreased", "increased", "incomparable")


def _exact(told: Any) -> dict[str, str | None]:
    """Returns a number before and now as fractions, where it is the exact bound, not rounded up;
    numbers at a δ are not.

    `told`: the number, and the change that it is of.
    """
    each, change = told
    found: dict[str, str | None] = {}
    for key in ("old", "new"):
        value, report = getattr(each, key), getattr(change, key)
        if value is None or report is None or report.bound is None or " at " in each.name:
            continue
        if report.bound.delta_exact if each.name == "δ" else report.bound.exact:
            found[key] = fraction_text(value)
    return found


_FILES = {
    "file": TEXT.described("The file that it is in, or was in before it was removed.").of(
        lambda each: each.files[1] or each.files[0]
    ),
    "document": optional(NUMBER, "Which document of the file, from 1, where it has several.").of(
        lambda each: each.source_to_show.document
    ),
    "old_file": maybe(TEXT, "The file that it was in, without a revision; null for a new spec.").of(
        lambda each: each.files[0]
    ),
    "new_file": maybe(TEXT, "The file that it is in; null for a spec that was removed.").of(
        lambda each: each.files[1]
    ),
}
INVALID = defined(
    "invalid",
    mapping(
        "A spec of which a version is invalid.",
        **{
            **_FILES,
            "document": _FILES["document"].of(lambda each: each.reports[-1].document),
        },
        direction=constant("invalid"),
        invalid=array_of(RESULT, "The invalid versions, the old one first.").of("reports"),
    ),
)
_MOVED = mapping(
    "A mechanism that adds another amount at the worst change.",
    mechanism=TEXT,
    old=maybe(BOUND, "Null: it added nothing.").of(lambda each: each.old and each.old.bound),
    new=maybe(BOUND, "Null: it adds nothing.").of(lambda each: each.new and each.new.bound),
    line=LINE.of(lambda each: each.new and each.new.span),
)
_EDIT = mapping(
    "An entry of the spec that differs.",
    kind=one_of("spec", "constant", "relation", "dataset", "mechanism"),
    name=TEXT.described("Empty for the keys at the top of the spec."),
    how=one_of("added", "removed", "changed"),
    keys=array_of(
        mapping(
            "A key that differs; a long value is cut.",
            key=TEXT.described("Its path in the entry; empty for the entry itself.").of("name"),
            old=maybe(TEXT, "Null: it was not there."),
            new=maybe(TEXT, "Null: it is gone."),
        ),
        "Empty for an entry that was added or removed.",
    ),
    line=_PLACE.described("In the new spec, or in the old one where it was removed."),
)
CHANGE = defined(
    "change",
    mapping(
        "A spec before and now, both valid.",
        **_FILES,
        direction=_DIRECTION.described(
            "Of the bound; of a new spec increased, of one that was removed decreased."
        ),
        says=TEXT.described("The change in a sentence.").of(headline),
        why=maybe(TEXT, "Why the bounds cannot be compared."),
        because=array_of(TEXT, "What made the bound another one."),
        numbers=array_of(
            mapping(
                "A number before and now.",
                name=TEXT.described("Which one: ε, δ, ρ, μ, or ε at a δ.").of(
                    lambda told: told[0].name
                ),
                old=maybe(AMOUNT, "Rounded up; null where there was none.").of(
                    lambda told: told[0].old
                ),
                new=maybe(AMOUNT, "Rounded up; null where there is none.").of(
                    lambda told: told[0].new
                ),
                direction=_DIRECTION.of(lambda told: told[0].direction),
                exact=EXACT.of(_exact),
            ),
            "The parameters of the bound, and the ε at each δ.",
        ).of(lambda change: [(each, change) for each in change.numbers]),
        mechanisms=array_of(_MOVED).of("moved"),
        edits=array_of(_EDIT),
        assumed=array_of(TEXT, "What is newly assumed."),
        no_longer_assumed=TEXTS,
        free=array_of(TEXT, "Mechanisms that post-process now, and did not."),
        settings=array_of(TEXT, "What the settings files around the spec say now, and did not."),
        events=array_of(one_of(*EVENTS), "What --fail-on can stop at."),
        failing=array_of(one_of(*EVENTS), "Those of them that it was told to."),
        findings=array_of(FINDING, "Those that the spec did not have before."),
        old=maybe(RESULT, "Null for a new spec."),
        new=maybe(RESULT, "Null for a spec that was removed."),
    ),
)
_ANY_CHANGE = JsonShape(
    {"anyOf": [CHANGE.schema, INVALID.schema]},
    lambda each: (INVALID if hasattr(each, "reports") else CHANGE).write(each),
)
CHANGES = document(
    "All changes.",
    changes=array_of(_ANY_CHANGE, "In the order of the files."),
    left_out=optional(LEFT_OUT, "Where something was met that has no result."),
)


def diff_schema() -> Schema:
    """Returns the JSON Schema of `diff --format json`."""
    return published("dpcompose changes", "What diff --format json prints.", CHANGES)


# --- total ---------------------------------------------------------------------------------------

_REST = maybe(AMOUNT_DOWN, "Rounded down; null: nothing stated so is counted.")
_REMAINING = JsonShape(
    {
        "type": "object",
        "properties": dict.fromkeys(("epsilon", "rho", "mu"), _REST.schema),
        "additionalProperties": False,
    },
    lambda found: {name: _REST.write(value) for name, value in found},
)
_TOTAL = mapping(
    "What all releases on one population cost together.",
    population=maybe(TEXT, "Null where all specs are added up."),
    files=array_of(TEXT, "What was added up."),
    protect=TEXT.described("The neighbours that are protected, in words.").of("relation"),
    status=one_of("ok", "no-guarantee", "refused").of(
        lambda total: "refused" if total.refused else "ok" if total.finite else "no-guarantee"
    ),
    refused=maybe(TEXT, "Why the releases cannot be added up."),
    groups=array_of(
        mapping("Releases that protect the same.", protect=TEXT.of(0), files=TEXTS.of(1)),
        "Where they are refused since they protect different things.",
    ),
    guarantee=maybe(BOUND, "Null without one: see at_delta.").of(
        lambda total: total.bounds[0] if total.bounds else None
    ),
    others=array_of(BOUND, "Further bounds, which hold as well.").of(
        lambda total: total.bounds[1:]
    ),
    at_delta=AT_DELTAS,
    theorem=maybe(THEOREM, "What gives the guarantee."),
    worst_case=array_of(TEXT, "The worst change, a sentence for each thing that happens.").of(
        "worst"
    ),
    releases=array_of(
        mapping(
            "A release by itself.",
            file=TEXT.of(0),
            guarantee=maybe(BOUND, "Null without a finite one.").of(1),
        )
    ).of("alone"),
    shares=array_of(
        mapping(
            "What one mechanism adds at the worst change.",
            mechanism=TEXT,
            file=TEXT,
            line=COUNT.described("Line, from 1; 0 where it is not known.").of(
                lambda each: each.span.line if each.span else 0
            ),
            bound=BOUND,
        )
    ),
    filter=maybe(FILTER, "Null where all parameters were fixed, or without a budget.").of("record"),
    before=maybe(FILTER, "The record without what is new, with `check --ledger`."),
    record=maybe(
        mapping(
            "What became of the releases that a revision had.",
            revision=TEXT,
            releases=COUNT,
            corrected=array_of(TEXT, "What says more than it did."),
            rewritten=array_of(TEXT, "What is gone or says less, and is counted as it was."),
        ),
        "Null where none was looked at.",
    ).of("checked"),
    over_time=array_of(
        mapping(
            "The record after one more release.",
            file=TEXT.of("label"),
            came=TEXT.described("When it came, in words."),
            filter=maybe(FILTER, "Null where it is not counted.").of("record"),
        ),
        "With --over-time.",
    ).of("steps"),
    realised=maybe(BOUND, "What is spent, where no budget makes a guarantee of it."),
    fixed=maybe(TEXT, "Why all parameters were fixed before the first output.").of("planned"),
    remaining=maybe(
        _REMAINING,
        "With --remaining: what one more mechanism on the whole table may have.",
    ),
    assumptions=array_of(TEXT, "What nobody has checked, of the data and of equal names.").of(
        "assumed"
    ),
    reasons=array_of(TEXT, "Why there is no finite guarantee."),
    budget=BUDGET,
)
TOTALS = document(
    "The totals of all populations.",
    totals=array_of(_TOTAL, "In the order of the specs."),
    without_population=array_of(TEXT, "Specs that name none, and were left out.").of("unnamed"),
    findings=array_of(
        mapping("A finding with its file.", file=TEXT.of(0), finding=FINDING.of(2)),
        "What a revision had, and is gone or says less.",
    ),
)


def total_schema() -> Schema:
    """Returns the JSON Schema of `total --format json`."""
    return published("dpcompose totals", "What total --format json prints.", TOTALS)


# --- fit and savings -----------------------------------------------------------------------------

_MEANWHILE = array_of(
    TEXT, "What is assumed of the data between outputs, where the worst blocks count alone."
)
FIT = document(
    "A spec with scaled parameters that keeps its budget.",
    file=TEXT,
    number=TEXT.described("What the budget limits, such as ε at δ = 1e-6."),
    spent=maybe(AMOUNT, TOO_LARGE),
    limit=maybe(AMOUNT_DOWN, TOO_LARGE),
    exact=FLAG.described("Whether no larger scale would do."),
    scale=_FRACTION.described("What parameters were multiplied by."),
    mechanisms=array_of(TEXT, "Those that were scaled."),
    changes=array_of(
        mapping(
            "A number of a spec that was changed.",
            entry=TEXT.described("The mechanism, or the constant.").of(
                lambda change: change[0].name
            ),
            key=TEXT.described("Its key, such as epsilon.").of(lambda change: change[1].name),
            old=maybe(TEXT, "As it was written.").of(lambda change: change[1].old),
            new=maybe(TEXT, "As it is written now.").of(lambda change: change[1].new),
            line=_PLACE.of(lambda change: change[0].span),
        ),
        "In the order of the spec.",
    ),
    assumptions=_MEANWHILE,
    remarks=array_of(TEXT, "What an author has to look at."),
    spec=TEXT.described("The new spec, as YAML."),
)
SAVINGS = document(
    "What halving each mechanism takes off a number of a spec.",
    file=TEXT,
    number=TEXT.described("Which number, such as ε, or ε at δ = 1e-6."),
    total=maybe(AMOUNT, TOO_LARGE),
    savings=array_of(
        mapping(
            "What halving a mechanism saves, or doubling its noise.",
            mechanism=TEXT,
            saves=maybe(AMOUNT_DOWN, "Rounded down; null where it was not tried."),
            why=maybe(TEXT, "Why it saves nothing, or was not tried."),
            line=_PLACE,
        ),
        "The largest first.",
    ),
    assumptions=_MEANWHILE,
)


def fit_schema() -> Schema:
    """Returns the JSON Schema of `fit --format json`."""
    return published("dpcompose fit", "What fit --format json prints.", FIT)


def savings_schema() -> Schema:
    """Returns the JSON Schema of `savings --format json`."""
    return published("dpcompose savings", "What savings --format json prints.", SAVINGS)


# --- registry and accept -------------------------------------------------------------------------

ENTRIES = document(
    "All entries.",
    entries=array_of(
        mapping(
            "An entry of the registry.",
            file=TEXT,
            valid=FLAG.described("Whether it fits the schema of the registry.").of(
                lambda report: report.status != "unreadable"
            ),
            findings=array_of(FINDING, "By their places."),
        ),
        "In the order of the files.",
    ),
)
_ACCEPTED = mapping(
    "An entry of a spec that somebody accepted.",
    spec=TEXT.described("The file of the spec, from the folder of this file."),
    document=NUMBER.described("Which document of the file, from 1."),
    of=TEXT.described("The entry, such as `mechanism total`."),
    claim=JsonShape(
        {"type": "object", "description": "What it declares, numbers as exact fractions."}
    ),
    hash=JsonShape({**TEXT.schema, "pattern": "^sha256:[0-9a-f]{64}$"}).described(
        "Of all of the above."
    ),
    by=TEXT.described("Who accepted it."),
    on=TEXT.described("On which day."),
)


def registry_schema() -> Schema:
    """Returns the JSON Schema of `registry check --format json`."""
    return published("dpcompose registry", "What registry check --format json prints.", ENTRIES)


def assumptions_schema() -> Schema:
    """Returns the JSON Schema of what `accept` writes."""
    accepted = mapping(
        "What the authors of specs vouch for.",
        dpcompose_assumptions=VERSION,
        accepted=array_of(_ACCEPTED, "By spec, document and entry."),
    )
    says = "What accept writes, and check --assumptions reads."
    return published("dpcompose assumptions", says, accepted)


# --- certificates --------------------------------------------------------------------------------

_PAIR = {"type": "array", "minItems": 2}
_LOSS = JsonShape(
    {
        "description": "ε, ρ or μ²; null: none is claimed; in approx [ε, δ] of which each holds; "
        "in responses multisets of [ε, δ, count].",
        "anyOf": [
            _FRACTION.schema,
            {"type": "null"},
            array_of(array_of(_FRACTION)).schema,
            array_of(array_of(JsonShape({"type": "array", "minItems": 3, "maxItems": 3}))).schema,
        ],
    }
)
_CHANGE_LINE = array_of(
    JsonShape({**_PAIR, "maxItems": 3}), "[unit, count] or [unit, count, what it became]."
)
_RELATION_LINE = mapping("A neighbouring relation.", kind=TEXT)
_MECHANISM_LINE = mapping(
    "A mechanism that reads a dataset.",
    name=TEXT,
    count=NUMBER,
    statements=array_of(
        mapping(
            "A guarantee for one step of a relation.",
            relation=_RELATION_LINE,
            up=COUNT.described("How many datasets above the one read it is stated."),
            notion=TEXT,
            value=_FRACTION,
            delta=optional(_FRACTION),
            points=optional(JsonShape({"type": "array"})),
            noise=optional(JsonShape({"type": "object"})),
            shift=optional(_FRACTION),
        )
    ),
)
_IDS = array_of(COUNT)
_MAP_LINE = mapping("A map, by its kind and keys.", kind=TEXT)
_MOST = JsonShape({"type": ["integer", "null"]})


def certificate_schema() -> Schema:
    """Returns the JSON Schema of a line of a certificate (CERTIFICATE.md)."""
    lines = [
        mapping(
            "The first line.",
            line=constant("header"),
            version=constant(1),
            spec=TEXT.described("SHA-256 of the spec."),
            protect=_RELATION_LINE,
            distance=NUMBER,
            apart=array_of(_IDS),
        ),
        mapping(
            "A dataset, after its parent.",
            line=constant("dataset"),
            id=COUNT,
            name=TEXT,
            root=optional(mapping("What is public of a root.", domain=TEXT)),
            parent=optional(COUNT),
            map=optional(_MAP_LINE),
            through=optional(TEXTS),
            draws=optional(NUMBER),
            one_release=optional(constant(True)),
            partition=optional(COUNT),
            **{"class": optional(COUNT)},
            history=optional(array_of(JsonShape({"type": "integer", "minimum": -1}))),
            mechanisms=optional(array_of(_MECHANISM_LINE)),
        ),
        mapping(
            "A partition, after the dataset that it splits.",
            line=constant("partition"),
            id=COUNT,
            of=COUNT,
            name=TEXT,
            by=_MAP_LINE,
            sizes=array_of(NUMBER),
            drops=FLAG,
            max_blocks_per_unit=_MOST,
            max_rows_per_block=_MOST,
        ),
        mapping(
            "The proof of a bound in one notion begins.",
            line=constant("proof"),
            id=COUNT,
            notion=one_of("pure", "approx", "zcdp", "gdp", "profile"),
            multiplied=FLAG,
        ),
        mapping(
            "What a change of a dataset loses at most.",
            line=constant("claim"),
            id=COUNT,
            dataset=COUNT,
            change=_CHANGE_LINE,
            loss=_LOSS,
            charges=array_of(_LOSS),
            rules=array_of(JsonShape({"anyOf": [TEXT.schema, _PAIR]})),
            premises=_IDS,
            pure=optional(constant(True)),
        ),
        mapping("What follows.", line=constant("bound"), id=COUNT, roots=_IDS, loss=_LOSS),
        mapping(
            "An ε at a δ that follows from a bound.",
            line=constant("point"),
            proof=COUNT,
            delta=_FRACTION,
            epsilon=_FRACTION,
            order=optional(_FRACTION),
        ),
    ]
    says = "A line of what --certificate writes, for the stand-alone checker."
    return published(
        "dpcompose certificate", says, JsonShape({"anyOf": [line.schema for line in lines]})
    )
