"""What pydantic found wrong, as faults with a path, in the words of the spec language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dpcompose.errors import Path
from dpcompose.faults import Faults
from dpcompose.spec.keys import missing_key, unknown_key
from dpcompose.spec.model import PLAIN_TAGS, TAGS, Spec
from dpcompose.spec.phrases import as_hint, keys_of, model_at, name_of, shown
from dpcompose.spec.unions import no_member

#: What is expected where a union has no member for the value at all.
_SHAPES = {
    "map": "a kind such as `filter`, or a mapping with `kind`",
    "partition": "a mapping such as `{by: value, blocks: 4}`",
    "protect": "a relation, or a mapping such as `{relation: bounded, distance: 3}`",
    "relation": "a relation, or a mapping such as `{relation: bounded, keeps: [user_id]}`",
    "mechanisms": "a mapping such as `{name: count, reads: people, notion: pure, epsilon: 1}`",
    "guarantees": "a mapping such as `{notion: pure, epsilon: 1}`",
    "points": "a list of pairs, such as `[[2, 0.1], [4, 0.3]]`",
    "point": "a pair of numbers such as `[2, 0.1]`",
    "budget": "a mapping such as `{epsilon: 1}`",
    "report": "a mapping such as `{delta: 1e-6}`",
    "hypotheses": "`none-vs-uniform`, or a list of two hypotheses such as `[none, uniform]`",
    "hypothesis": "`none`, `uniform`, a mapping such as `{at_least: 2}`, or a list of such",
    "datasets": "a mapping: `{}` for a root, or `from` with `map` or `partition`",
}
_TYPES = {
    "string_type": "a text",
    "bool_type": "`true` or `false`",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}


def report(errors: Iterable[Mapping[str, Any]], faults: Faults) -> set[Path]:
    """Add a fault for each error; returns the paths where the faults are."""
    places: set[Path] = set()
    for error in errors:
        path = tuple(step for step in error["loc"] if step not in TAGS and step not in PLAIN_TAGS)
        places.add(path)
        handler = _HANDLERS.get(error["type"], _wrong_type)
        handler(error, path, faults)
    return places


# --- values --------------------------------------------------------------------------------------


def _wrong_type(error: Mapping[str, Any], path: Path, faults: Faults) -> None:
    value, context = error["input"], error.get("ctx", {})
    what = context.get("what") or _TYPES.get(error["type"], "something else")
    if path == ("report",):
        what = _SHAPES["report"]
    hint = context.get("hint")
    if error["type"] == "bool_type" and isinstance(value, str):
        hint = "YAML 1.2 has no other spellings"
    code = context.get("code", "DPC103")
    faults.add(code, path, f"{name_of(path)} must be {what}, not {shown(value)}", hint)


def _no_value(error: Mapping[str, Any], path: Path, faults: Faults) -> None:
    message = f"{name_of(path)} has no value"
    faults.add("DPC103", path, message, "give it a value, or remove the key", key=True)


def _choice(error: Mapping[str, Any], path: Path, faults: Faults) -> None:
    model, value = model_at(error["loc"]), error["input"]
    expected = error["ctx"]["expected"].replace("'", "`")
    hint = as_hint(keys_of(model).get(str(path[-1]), ""))
    faults.add("DPC104", path, f"{name_of(path)} must be {expected}, not {shown(value)}", hint)


def _empty(error: Mapping[str, Any], path: Path, faults: Faults) -> None:
    faults.add("DPC108", path, f"{name_of(path)} must not be empty", "name at least one")


def _long(error: Mapping[str, Any], path: Path, faults: Faults) -> None:
    context = error["ctx"]
    many, most = context["actual_length"], context["max_length"]
    message = f"{name_of(path)} has {many} entries, more than {most}"
    faults.add("DPC117", path, message, "leave some out", key=True)


def _shape(error: Mapping[str, Any], path: Path, faults: Faults) -> None:
    """A value that is no mapping where one is due."""
    field = next(str(step) for step in reversed(path) if isinstance(step, str))
    value, hint = error["input"], None
    if field == "points" and path[-1] != field:
        field = "point"
    if field == "hypotheses" and path[-1] != field:
        field = "hypothesis"
    if field == "protect":
        hint = as_hint(keys_of(Spec)["protect"])
    if len(path) == 2 and path[0] == "datasets":
        field = "datasets"
        if value is None:
            hint = f"write `{path[1]}: {{}}` for a root"
    faults.add(
        "DPC103", path, f"{name_of(path)} must be {_SHAPES[field]}, not {shown(value)}", hint
    )


_Handler = Callable[[Mapping[str, Any], Path, Faults], None]
_HANDLERS: dict[str, _Handler] = {
    "missing": missing_key,
    "extra_forbidden": unknown_key,
    "no_value": _no_value,
    "literal_error": _choice,
    "too_short": _empty,
    "too_long": _long,
    "union_tag_not_found": _shape,
    "union_tag_invalid": no_member,
}
