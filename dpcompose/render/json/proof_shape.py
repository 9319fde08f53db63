"""The shape of a proof in results: steps with given numbers, formula and value.

`@4` is the value of step 4 (ε, ρ or μ²), `@4.delta` its δ, and `@4#1` the second of its undominated
pairs, counted from 0. A formula has numbers, names, `+ - * / **`, parentheses and the functions of
`FUNCTIONS`; operations on a list are those on each of its members.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, get_args

from dpcompose.core.notions.notion import Notion
from dpcompose.curves.rounding import decimal_up
from dpcompose.render.json.shapes import JsonShape, Schema, maybe
from dpcompose.report import Proof
from dpcompose.report.reasoning import MOST_CASES, Conclusion, Given, ProofStep, Ref, StepKind

#: The functions of formulas, each with what it gives.
FUNCTIONS = {
    "sum": "the sum of a list",
    "max": "the largest of numbers, or of the members of lists",
    "min": "the least of them",
    "largest": "largest(x, m): the sum of the m largest; largest(x, m, n): each n_i times at most",
    "any": "1 - Π(1 - d_i)",
    "prod": "the product of a list",
    "dot": "dot(w, x): Σ w_i·x_i",
    "rising": "each member of a list, or a larger one before it",
    "exp": "e to the power",
    "ln": "the natural logarithm",
    "sqrt": "the root",
    "tanh": "tanh",
    "sinh": "sinh",
    "normal_cdf": "the standard normal distribution function",
    "normal_quantile": "its inverse",
}
#: Numbers of so many bits are exact; longer ones are rounded up to `_DIGITS`, and very large ones
#: have an exponent.
_EXACT_BITS, _DIGITS, _LARGE_BITS = 400, 40, 10_000
_FRACTION = r"-?[0-9.]+(/[0-9]+|e[+-]?[0-9]+)?"
_EXACT_TEXT: Schema = {"type": "string", "pattern": f"^{_FRACTION}$"}
_TEXT: Schema = {"type": "string", "pattern": rf"^({_FRACTION}|@[0-9]+(#[0-9]+)?(\.delta)?)$"}
#: The keys of values, by notion.
_AMOUNTS = {
    Notion.PURE: "epsilon",
    Notion.APPROX: "epsilon",
    Notion.ZCDP: "rho",
    Notion.GDP: "mu_squared",
}


def exact_text(value: Fraction) -> str:
    """Returns a number as a fraction, `17/10`; one of many digits is rounded up to forty."""
    bits = value.numerator.bit_length(), value.denominator.bit_length()
    if sum(bits) <= _EXACT_BITS:
        return str(value)
    rounded = decimal_up(value, _DIGITS)
    return rounded if max(bits) - min(bits) > _LARGE_BITS else str(Fraction(rounded))


def _one(value: Fraction | Ref) -> str:
    if not isinstance(value, Ref):
        return exact_text(Fraction(value))
    number = "" if value.number is None else f"#{value.number}"
    return f"@{value.step}{number}{'.delta' if value.delta else ''}"


def _given(names: dict[str, Given]) -> dict[str, Any]:
    """Returns what a formula is given, by name."""
    return {
        name: [*map(_one, each.value)]
        if isinstance(each.value, tuple) and not isinstance(each.value, Ref)
        else _one(each.value)
        for name, each in names.items()
    }


def _value(notion: Notion, pair: tuple[Fraction, Fraction]) -> dict[str, str]:
    found = {"notion": notion.value, _AMOUNTS[notion]: exact_text(pair[0])}
    if notion is Notion.APPROX:
        found["delta"] = exact_text(pair[1])
    return found


def _step(step: ProofStep, steps: Sequence[ProofStep]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": step.id,
        "kind": step.kind,
        "theorem": step.theorem,
        "dataset": step.dataset,
        "change": step.change,
        "says": step.says,
        "lines": [span.line for span in step.spans],
        "premises": list(step.premises),
    }
    many = len(step.values) > 1
    if step.given:
        found["given"] = [*map(_given, step.given)] if many else _given(step.given[0])
    if step.formulas:
        for key, told in zip(
            ("formula", "formula_delta"), zip(*step.formulas, strict=True), strict=True
        ):
            if key == "formula" or any(told):
                found[key] = told[0] if len(set(told)) == 1 else list(told)
    if step.check is not None:
        found["check"] = step.check
    if step.method is not None:
        found["method"] = step.method
    if step.cases > 1:
        found["cases"] = step.cases
    if taken := step.taken(steps):
        found["taken"] = [*map(list, taken)]
    if step.omitted:
        found["omitted"] = True
    if step.notion is Notion.PROFILE:
        found["value"] = {"notion": "profile", "law": step.law}
    elif many:
        found["values"] = [_value(step.notion, each) for each in step.values]
    else:
        found["value"] = _value(step.notion, step.values[0])
    return found


def _conclusion(each: Conclusion) -> dict[str, Any]:
    found: dict[str, Any] = {"what": each.what, "step": each.step}
    if each.given is not None:
        key = "epsilon" if each.what == "at_epsilon" else "delta"
        found[key] = exact_text(each.given)
    return found


def _write(proof: Proof) -> dict[str, Any]:
    return {
        "conclusions": [*map(_conclusion, proof.conclusions)],
        "theorems": list(proof.theorems),
        **({} if proof.reading is None else {"reading": proof.reading}),
        "steps": [_step(each, proof.steps) for each in proof.steps],
    }


def _object(description: str, required: str, /, **keys: Schema) -> Schema:
    return {
        "description": description,
        "type": "object",
        "properties": keys,
        "required": required.split(),
    }


_GIVEN: Schema = {
    "type": "object",
    "additionalProperties": {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]},
}
_VALUE = _object(
    "What adds up: ε, ρ, μ squared, or a pair; of a profile what it is made of.",
    "notion",
    notion={"enum": [each.value for each in Notion]},
    epsilon=_EXACT_TEXT,
    delta=_EXACT_TEXT,
    rho=_EXACT_TEXT,
    mu_squared=_EXACT_TEXT,
    law={"type": "string"},
)
_ONE_FORMULA: Schema = {"type": ["string", "null"]}
_FORMULA: Schema = {"anyOf": [_ONE_FORMULA, {"type": "array", "items": _ONE_FORMULA}]}
_STEP = _object(
    "A step: its value follows from earlier steps and given numbers.",
    "id kind theorem dataset change says lines premises",
    id={"type": "integer", "minimum": 1},
    kind={"enum": [*get_args(StepKind)]},
    theorem={
        "type": ["string", "null"],
        "description": "Null: a guarantee as it is stated, or the worst of several changes.",
    },
    dataset={"type": ["string", "null"]},
    change={"type": ["string", "null"]},
    says={"type": "string"},
    lines={"type": "array", "items": {"type": "integer", "minimum": 1}},
    premises={"type": "array", "items": {"type": "integer", "minimum": 1}},
    given={
        "description": "By name: fractions, and values of earlier steps (@4, @4.delta, @4#1); of "
        "several pairs one object each.",
        "anyOf": [_GIVEN, {"type": "array", "items": _GIVEN}],
    },
    formula={
        **_FORMULA,
        "description": "Null where a method finds the number. Functions: "
        + "; ".join(f"{name}: {says}" for name, says in FUNCTIONS.items())
        + ".",
    },
    formula_delta={**_FORMULA, "description": "Of the δ; `epsilon` is the ε of this step."},
    check={
        "type": "string",
        "description": "A formula of δ at the epsilon of the value: at most its delta.",
    },
    method={"type": "string", "description": "How a number without a formula is found."},
    cases={"type": "integer", "description": "So many losses are compared or combined."},
    taken={
        "type": "array",
        "items": {"type": "array", "items": {"type": "integer", "minimum": 1}},
        "description": "The premises of the worst case, each with how often it is counted.",
    },
    omitted={
        "const": True,
        "description": f"Beyond {MOST_CASES} cases the others are given by their numbers.",
    },
    value=_VALUE,
    values={"type": "array", "items": _VALUE},
)
PROOF = maybe(
    JsonShape(
        _object(
            "The steps that give the numbers; each can be computed again from what it is given.",
            "conclusions theorems steps",
            conclusions={
                "type": "array",
                "items": _object(
                    "A printed number, and its step.",
                    "what step",
                    what={"enum": ["headline", "bound", "spent", "at_delta", "at_epsilon"]},
                    step={"type": "integer", "minimum": 1},
                    delta=_EXACT_TEXT,
                    epsilon=_EXACT_TEXT,
                ),
            },
            theorems={
                "type": "array",
                "items": {"type": "string"},
                "description": "Those of the headline, the last one first, as far as losses "
                "combine.",
            },
            reading={
                "type": "string",
                "description": "The theorem by which what these give is read at a δ.",
            },
            steps={"type": "array", "items": _STEP},
        ),
        _write,
    ),
    "Null without a finite guarantee.",
)
