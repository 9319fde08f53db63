"""Shapes: one declaration says how a value becomes JSON, and gives the JSON Schema of it.

The schemas say which keys there are, not which there are not: later versions of dpcompose may add
keys to a version, so readers should ignore unknown keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from dpcompose.places import version
from dpcompose.render.words.numbers import number_down, number_up

Schema = dict[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
#: The shapes that have a name, to which others refer.
_DEFINITIONS: dict[str, Schema] = {}


class JsonShape(NamedTuple):
    """A kind of value: the `schema` of its JSON, and the function that returns (`write`) this JSON.

    As a key of an object: `get` returns the value of the key, None for the attribute, or the key of
    a dictionary, of the same name; `optional`: the key is left out where there is nothing.
    """

    schema: Schema
    write: Callable[[Any], Any] = lambda value: value
    get: Callable[[Any], Any] | None = None
    optional: bool = False

    def of(self, get: Callable[[Any], Any] | str | int) -> JsonShape:
        """Returns the shape of a key with another name than its attribute: a path of attributes, an
        index or a function."""
        if isinstance(get, str):
            get = attrgetter(get)
        return self._replace(get=itemgetter(get) if isinstance(get, int) else get)

    def described(self, text: str) -> JsonShape:
        """Returns the shape with a description."""
        return self._replace(schema={**self.schema, "description": text})


def mapping(says: str, /, **keys: JsonShape) -> JsonShape:
    """Returns the shape of an object with these keys, in their order."""

    def write(value: Any) -> dict[str, Any]:
        """Returns the object; an optional key is there unless its value is None, 0 or empty."""
        found = {}
        for name, shape in keys.items():
            if shape.get is not None:
                part = shape.get(value)
            else:
                part = value[name] if isinstance(value, dict) else getattr(value, name)
            if not shape.optional or part or part == "":
                found[name] = shape.write(part)
        return found

    return JsonShape(
        {
            "description": says,
            "type": "object",
            "properties": {name: shape.schema for name, shape in keys.items()},
            "required": [name for name, shape in keys.items() if not shape.optional],
        },
        write,
    )


def array_of(items: JsonShape, says: str | None = None) -> JsonShape:
    """Returns the shape of an array of `items`."""
    schema = {"type": "array", "items": items.schema}
    return JsonShape(
        {**({"description": says} if says else {}), **schema}, lambda v: [*map(items.write, v)]
    )


def defined(name: str, shape: JsonShape) -> JsonShape:
    """Returns a reference to a shape, which has a name from now on."""
    _DEFINITIONS[name] = shape.schema
    return shape._replace(schema={"$ref": f"#/$defs/{name}"})


def optional(shape: JsonShape, says: str | None = None) -> JsonShape:
    """Returns the shape of a key that is left out where there is nothing; `says`: when it is
    there."""
    return (shape.described(says) if says else shape)._replace(optional=True)


def maybe(shape: JsonShape, says: str) -> JsonShape:
    """Returns a shape that is null for None; `says`: what null means."""
    schema, write = shape.schema, shape.write
    if "type" in schema:
        schema = {**schema, "description": says, "type": [schema["type"], "null"]}
    else:
        schema = {"description": says, "anyOf": [schema, {"type": "null"}]}
    return shape._replace(schema=schema, write=lambda v: None if v is None else write(v))


def one_of(*values: str) -> JsonShape:
    """Returns the shape of one of some words."""
    return JsonShape({"enum": list(values)})


def constant(value: str | int | bool) -> JsonShape:
    """Returns the shape of a key that has always the same value."""
    return JsonShape({"const": value}, get=lambda _: value)


def document(says: str, /, **keys: JsonShape) -> JsonShape:
    """Returns the shape of a whole document, with the keys that all documents start with."""
    return mapping(says, **{**HEAD, **keys})


TEXT = JsonShape({"type": "string"})
FLAG = JsonShape({"type": "boolean"})
COUNT = JsonShape({"type": "integer", "minimum": 0})
NUMBER = JsonShape({"type": "integer", "minimum": 1})
LINE = JsonShape(
    {"type": ["integer", "null"], "minimum": 1, "description": "Line, from 1."},
    lambda span: span.line if span else None,
    attrgetter("span"),
)
#: Numbers that are not negative, rounded up and down; one that may be; and chances, rounded up.
AMOUNT = JsonShape({"type": "number", "minimum": 0}, number_up)
AMOUNT_DOWN = AMOUNT._replace(write=number_down)
DOWN = JsonShape({"type": "number"}, number_down)
CHANCE = JsonShape({"type": "number", "minimum": 0, "maximum": 1}, number_up)
TOO_LARGE = "Rounded up; null where no double can hold it."
#: The fractions of numbers, by the keys of these.
EXACT = JsonShape(
    {
        "description": "Fractions as text, such as 17/10, for the numbers that are rational and "
        "whose fraction is not too long.",
        "type": "object",
        "additionalProperties": {"type": ["string", "null"], "pattern": "^-?[0-9]+(/[0-9]+)?$"},
    }
)
VERSION = constant(1).described("Version of this shape.")
#: The version of results, and of what holds results.
RESULTS_VERSION = constant(2).described("Version of this shape.")
#: The keys that all documents start with.
HEAD: Mapping[str, JsonShape] = {
    "dpcompose": TEXT.described("Version of the program.").of(lambda _: version()),
    "schema_version": VERSION,
}


def published(title: str, description: str, root: JsonShape) -> Schema:
    """Returns a whole schema (draft 2020-12): `root`, and the definitions that it needs."""
    needed: set[str] = set()
    wanted = list(_definition_names(root.schema))
    while wanted:
        name = wanted.pop()
        if name not in needed:
            needed.add(name)
            wanted += _definition_names(_DEFINITIONS[name])
    found = {name: each for name, each in _DEFINITIONS.items() if name in needed}
    return {
        "$schema": _DIALECT,
        "title": title,
        "description": description,
        **{key: value for key, value in root.schema.items() if key != "description"},
        **({"$defs": found} if found else {}),
    }


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
