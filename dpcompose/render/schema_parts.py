"""The parts that the JSON Schemas of all documents share.

They say which keys there are, not which there are not: later versions of dpcompose may add keys to
version 1, so readers should ignore unknown keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Schema = dict[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def published(
    title: str, description: str, root: Schema, definitions: Mapping[str, Schema]
) -> Schema:
    """Returns a whole schema (draft 2020-12): `root`, and the `definitions` that it needs."""
    needed: set[str] = set()
    wanted = list(_definition_names(root))
    while wanted:
        name = wanted.pop()
        if name not in needed:
            needed.add(name)
            wanted += _definition_names(definitions[name])
    found = {name: each for name, each in definitions.items() if name in needed}
    return {
        "$schema": _DIALECT,
        "title": title,
        "description": description,
        **{key: value for key, value in root.items() if key != "description"},
        **({"$defs": found} if found else {}),
    }


def in_draft_7(schema: Schema) -> Schema:
    """Returns a schema of ours in draft 7, for editors that know no later one."""
    return {**_older(schema), "$schema": "http://json-schema.org/draft-07/schema#"}


def _older(node: Any) -> Any:
    """Returns a part of a schema in draft 7, where a reference hides all that stands beside it."""
    if isinstance(node, list):
        return [_older(each) for each in node]
    if not isinstance(node, dict):
        return node
    said = {"definitions" if key == "$defs" else key: _older(each) for key, each in node.items()}
    if "$ref" not in said:
        return said
    reference = {"$ref": said.pop("$ref").replace("#/$defs/", "#/definitions/")}
    return {**said, "allOf": [reference]} if said else reference


def _definition_names(schema: object) -> Iterator[str]:
    """Yields the names of the definitions that a schema refers to."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "$ref":
                yield value.rpartition("/")[2]
            else:
                yield from _definition_names(value)
    elif isinstance(schema, list):
        for each in schema:
            yield from _definition_names(each)


def mapping(says: str, optional: Schema | None = None, /, **required: Schema) -> Schema:
    """Returns the schema of an object with `required` and `optional` keys."""
    return {
        "description": says,
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
    }


def array_of(items: Schema, says: str | None = None) -> Schema:
    """Returns the schema of an array of `items`."""
    return {**({"description": says} if says else {}), "type": "array", "items": items}


def defined(name: str, says: str | None = None) -> Schema:
    """Returns a reference to the definition `name`; `says`: its description here."""
    return {"$ref": f"#/$defs/{name}", **({"description": says} if says else {})}


def maybe(schema: Schema, says: str) -> Schema:
    """Returns a schema that also allows null; `says`: what null means."""
    if "type" in schema:
        return {**schema, "description": says, "type": [schema["type"], "null"]}
    return {"description": says, "anyOf": [schema, {"type": "null"}]}


def document(says: str, optional: Schema | None = None, /, **required: Schema) -> Schema:
    """Returns the schema of a whole document, with the keys that all documents start with."""
    program = {**TEXT, "description": "Version of the program."}
    return mapping(says, optional, dpcompose=program, schema_version=VERSION, **required)


TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
LINE: Schema = {"type": ["integer", "null"], "minimum": 1, "description": "Line, from 1."}
AMOUNT: Schema = {"type": "number", "minimum": 0}
PROBABILITY: Schema = {"type": "number", "minimum": 0, "maximum": 1}
VERSION: Schema = {"description": "Version of this shape.", "const": 1}
TOO_LARGE = "Rounded up; null where no double can hold it."
EXACT: Schema = {
    "description": "Fractions as text, such as 17/10, for the numbers that are rational and whose "
    "fraction is not too long.",
    "type": "object",
    "additionalProperties": {"type": ["string", "null"], "pattern": "^-?[0-9]+(/[0-9]+)?$"},
}
