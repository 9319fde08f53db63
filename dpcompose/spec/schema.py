"""The JSON Schema of the spec language, for editors."""

from __future__ import annotations

from typing import Any

from dpcompose.spec.maps import MAP_KINDS
from dpcompose.spec.model import Spec

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """Returns the JSON Schema (draft 2020-12) of a spec."""
    schema: dict[str, Any] = _without_nulls(Spec.model_json_schema())
    mapped = schema["$defs"]["Mapped"]["properties"]["map"]
    alone = [kind for kind, model in MAP_KINDS.items() if _required(model) == {"kind"}]
    forms = [{"enum": alone, "title": "kind"}, *mapped.pop("anyOf")]
    mapped["anyOf"] = forms
    return {"$schema": _DIALECT, "title": "dpcompose spec"} | schema


def _required(model: Any) -> set[str]:
    return {name for name, field in model.model_fields.items() if field.is_required()}


def _without_nulls(node: Any) -> Any:
    """Returns a JSON Schema without the type null that stands for keys left out, in which a value
    has any of its forms."""
    if isinstance(node, list):
        return [_without_nulls(each) for each in node]
    if not isinstance(node, dict):
        return node
    tidy = {key: _without_nulls(value) for key, value in node.items()}
    if tidy.get("default", ...) is None:
        del tidy["default"]
    if "oneOf" in tidy:  # the reader chooses a form by its keys, and those of two may be alike
        tidy["anyOf"] = tidy.pop("oneOf")
    options = tidy.get("anyOf")
    if isinstance(options, list) and {"type": "null"} in options:
        options.remove({"type": "null"})
        if len(options) == 1:
            del tidy["anyOf"]
            tidy = options[0] | tidy
    return tidy
