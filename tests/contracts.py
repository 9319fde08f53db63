"""What every JSON document of a command is held against: its schema, with no other keys."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import jsonschema

from dpcompose.render.json.result_schema import result_schema
from dpcompose.render.json.schemas import (
    assumptions_schema,
    diff_schema,
    fit_schema,
    registry_schema,
    savings_schema,
    total_schema,
)

SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "result": result_schema,
    "diff": diff_schema,
    "total": total_schema,
    "fit": fit_schema,
    "savings": savings_schema,
    "registry": registry_schema,
    "assumptions": assumptions_schema,
}


def closed(node: Any) -> Any:
    """A schema in which an object has no other keys than those that are written."""
    if isinstance(node, list):
        return [closed(each) for each in node]
    if not isinstance(node, dict):
        return node
    shut = {key: closed(value) for key, value in node.items()}
    if node.get("type") in ("object", ["object", "null"]) and "properties" in node:
        shut["additionalProperties"] = False
    return shut


@cache
def validator(of: str) -> Any:
    """For a document of `schema` `of`; every key that is misspelt makes it invalid."""
    schema = closed(SCHEMAS[of]())
    if of == "result":
        schema["$defs"]["line"] = {}  # a combination of objects cannot be closed
        schema.update({"$ref": "#/$defs/document", "anyOf": [{}]})
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def checked(of: str, text: str) -> dict[str, Any]:
    """The document in `text`, which is what its schema says."""
    document: dict[str, Any] = json.loads(text)
    validator(of).validate(document)
    return document
