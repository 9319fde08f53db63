"""The words of the spec language, as its models say them: what each means, and where it stands.

The models are their one home: the JSON Schema, messages and `dpcompose explain` are made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from inspect import get_annotations

from dpcompose.core.change.maps import MAPS
from dpcompose.core.change.partitions import PARTITIONS
from dpcompose.core.mechanisms import FORMS
from dpcompose.spec.asked import RELATIONS
from dpcompose.spec.datasets import DOMAINS, map_model, partition_model
from dpcompose.spec.fields import Model
from dpcompose.spec.guarantees import NOTIONS
from dpcompose.spec.mechanisms import mechanism_model
from dpcompose.spec.model import Node, Spec, choices, json_schema, models, words


class WordSort(StrEnum):
    """The sorts of words; the value is the heading above the words of a sort."""

    KEY = "a key"
    RELATION = "a neighbouring relation"
    DOMAIN = "a domain of a root"
    MAP = "a kind of map"
    PARTITION = "a kind of partition"
    NOTION = "a privacy notion"
    MECHANISM = "a concrete mechanism"
    VALUE = "a value"


@dataclass(frozen=True, slots=True)
class Meaning:
    """One meaning of a word of the spec language: the text `says` explains it.

    `of`: the mappings in which a key stands, or the keys at which another word stands. Of a key,
    `holds`: what may stand there; `needed`: it must be given; `default`: its value where it is left
    out, empty where there is none to tell. `keys`: those of a kind, a notion or a mechanism.
    """

    word: str
    sort: WordSort
    of: tuple[str, ...]
    says: str
    holds: tuple[str, ...] = ()
    needed: bool = False
    default: str = ""
    keys: tuple[Meaning, ...] = ()


#: The keys that name a kind: its sort, where it stands, all kinds, and what returns their models.
_TAGS: dict[str, tuple[WordSort, str, Iterable[str], Callable[[str], type[Model]]]] = {
    "kind": (WordSort.MAP, "map", MAPS, map_model),
    "by": (WordSort.PARTITION, "partition", PARTITIONS, partition_model),
    "notion": (WordSort.NOTION, "notion", NOTIONS, NOTIONS.__getitem__),
    "mechanism": (WordSort.MECHANISM, "mechanism", FORMS, mechanism_model),
}
#: Keys of every mechanism, told where they stand by themselves.
_COMMON = frozenset({"name", "reads", "count", "because", "uses", "interactive", "tags"})


@cache
def vocabulary() -> dict[str, tuple[Meaning, ...]]:
    """Returns the meanings of every word of the language, by word, keys first."""
    found: dict[str, list[Meaning]] = {}
    for each in [*_keys(), *_kinds(), *_named_meanings(), *_values()]:
        found.setdefault(each.word, []).append(each)
    return {word: tuple(each) for word, each in found.items()}


def _keys() -> Iterator[Meaning]:
    """Yields each meaning of each key, once for all mappings in which the key has that meaning."""
    alike: dict[tuple[str, str], list[tuple[str, Meaning]]] = {}
    for model in models():
        for name, key in _keys_of(model):
            alike.setdefault((key.word, key.says), []).append((_home(model, name), key))
    for (word, says), found in alike.items():
        homes = tuple(dict.fromkeys(home for home, _ in found))
        holds = tuple(dict.fromkeys(each for _, key in found for each in key.holds))
        needed = all(key.needed for _, key in found)
        default = next((key.default for _, key in found if key.default), "")
        yield Meaning(word, WordSort.KEY, homes, says, holds, needed, default)


def _keys_of(model: type[Model]) -> Iterator[tuple[str, Meaning]]:
    """Yields the meaning of each key of a model, by the name of its field."""
    properties = _properties(model)
    for name, field in model.model_fields.items():
        word = field.alias or name
        needed, default = field.is_required(), "" if field.is_required() else field.default
        said = f"`{str(default).lower() if isinstance(default, bool) else default}`"
        yield (
            name,
            Meaning(
                word,
                WordSort.KEY,
                (model.what,),
                field.description or "",
                tuple(_values_in_words(properties[word])),
                needed,
                said if default not in (None, "", [], {}) else "",
            ),
        )


def _properties(model: type[Model]) -> dict[str, Node]:
    """Returns the properties in the JSON Schema of a model, by key."""
    schema = json_schema()
    own = schema if model is Spec else schema["$defs"][model.__name__]
    found: dict[str, Node] = own["properties"]
    return found


def _home(model: type[Model], name: str) -> str:
    """Returns what messages call the mapping that declares a key: the base-most class of `model`
    that has it."""
    declared = [base for base in model.__mro__ if name in get_annotations(base)]
    return str(vars(declared[-1]).get("what") or model.what)


def _kinds() -> Iterator[Meaning]:
    """Yields the meaning of each kind of map, partition, notion and mechanism, with its keys."""
    for sort, key, kinds, model_of in _TAGS.values():
        for name in kinds:
            model = model_of(name)
            own = [meaning for _, meaning in _keys_of(model)]
            keys = tuple(each for each in own if each.word not in {*_TAGS, *_COMMON})
            yield Meaning(name, sort, (key,), str(model.__doc__), keys=keys)


def _named_meanings() -> Iterator[Meaning]:
    """Yields the meaning of each built-in relation and each domain."""
    for name, says in RELATIONS.items():
        of = ("relation",) if name in ("euclidean", "l1") else ("protect", "relation", "within")
        yield Meaning(str(name), WordSort.RELATION, of, f"{says[0].upper()}{says[1:]}.")
    for name, says in DOMAINS.items():
        yield Meaning(name, WordSort.DOMAIN, ("domain",), f"{says[0].upper()}{says[1:]}.")


def _values() -> Iterator[Meaning]:
    """Yields the meaning of each word that is a value at a key, except kinds, relations and
    domains."""
    seen = set()
    for model in models():
        properties = _properties(model)
        for word, node in properties.items():
            if word not in {*_TAGS, "map", "domain", "protect", "relation", "within"}:
                for value in _words(node):
                    if (value, word) not in seen:
                        seen.add((value, word))
                        yield Meaning(value, WordSort.VALUE, (word,), node.get("description", ""))


def _words(node: Node) -> Iterator[str]:
    """Yields the texts that a part of a JSON Schema lists as values, or as items."""
    for each in choices(node):
        yield from (word for word in words(each) if isinstance(word, str))
        if "items" in each:
            yield from _words(each["items"])


def either(says: Iterable[str]) -> str:
    """Returns the phrases without duplicates as a choice: `a, b or c`."""
    *first, last = dict.fromkeys(says)
    return f"{', '.join(first)} or {last}" if first else last


@cache
def _models_by_name() -> dict[str, type[Model]]:
    """Returns all models by the names of their classes."""
    return {model.__name__: model for model in models()}


def _values_in_words(node: Node) -> list[str]:
    """Returns phrases for the values that a part of a JSON Schema allows, such as `a number
    below 1`."""
    if "$ref" in node:
        return [_model(node).what]
    if "const" in node or "enum" in node:
        return [f"`{each}`" for each in words(node)]
    options = node.get("anyOf", [])
    if len(options) == 2 and options[0].get("type") == "number":
        return ["a number below 1" if "exclusiveMaximum" in options[0] else "a number"]
    if len(options) == 2 and options[0].get("type") == "integer":
        return _values_in_words(options[0])
    referred = [_model(each) for each in options if "$ref" in each]
    if len(referred) > _MOST_TOLD:
        return [_common_base_phrase(referred)]
    if options:
        return [says for each in options for says in _values_in_words(each)]
    match node["type"]:
        case "integer":
            return [f"a whole number from {node['minimum']} on"]
        case "boolean":
            return ["`true`", "`false`"]
        case "array":
            pair = node.get("maxItems") == 2
            return [
                "a pair of numbers"
                if pair
                else f"a list of: {either(_values_in_words(node['items']))}"
            ]
        case "object":
            return [
                f"a mapping from names to: {either(_values_in_words(node['additionalProperties']))}"
            ]
        case _:
            return ["`name`, `name.block` or `name.*`" if "pattern" in node else "a name"]


#: Of more models than these, what they have in common is told.
_MOST_TOLD = 5


def _model(node: Node) -> type[Model]:
    """Returns the model that a reference in a JSON Schema names."""
    return _models_by_name()[node["$ref"].rpartition("/")[2]]


def _common_base_phrase(among: list[type[Model]]) -> str:
    """Returns a phrase for the nearest common base of some models."""
    bases = [base for base in among[0].__mro__ if all(issubclass(each, base) for each in among)]
    return next(str(vars(base)["what"]) for base in bases if "what" in vars(base))
