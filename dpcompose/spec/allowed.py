"""The words that may stand at a place of a spec, by its JSON Schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from dpcompose.core.change.kind_form import Form
from dpcompose.core.change.maps import MAPS
from dpcompose.core.change.partitions import PARTITIONS
from dpcompose.source import Value
from dpcompose.source.cursor import Cursor
from dpcompose.spec.model import Node, choices, json_schema, words
from dpcompose.spec.phrases import entries_of, required

_MOST_BLOCKS = 100  # of a partition that are offered by name
#: The keys whose values are names that the spec declares elsewhere, beside those of datasets.
_NAMES_OF = {"post_processes": "mechanisms", "protect": "relations", "relation": "relations"}


def allowed_keys(cursor: Cursor) -> dict[str, str]:
    """Returns the keys that may stand at a place with what they mean, needed ones first."""
    if not (cursor.is_key or cursor.is_start):
        return {}
    said = cursor.siblings[-1] if cursor.is_key else {}
    nodes = [each for each in _fitting(_nodes_at(cursor), said) if "properties" in each]
    needed = [key for node in nodes for key in node.get("required", ())]
    entries = [each for node in nodes for each in node["properties"].items()]
    says = {key: about.get("description", "") for key, about in entries}
    return {key: says[key] for key in dict.fromkeys((*needed, *says)) if key not in said}


def allowed_values(cursor: Cursor) -> dict[str, str]:
    """Returns the words that may stand at a place as values, with what they are."""
    if cursor.is_key:
        return {}
    nodes = _nodes_at(cursor)
    return {word: says for node in nodes for word, says in _words(node)}


def references(cursor: Cursor, tree: Value) -> Iterator[str]:
    """Yields the names in a spec that may stand at a place: of datasets and of their blocks, or
    what else a key asks for."""
    if cursor.is_key or not isinstance(tree, dict):
        return
    own = next((each for each in reversed(cursor.path) if isinstance(each, str)), "")
    if any("pattern" in node and isinstance(node["type"], list) for node in _nodes_at(cursor)):
        datasets = tree.get("datasets")
        for name, written in datasets.items() if isinstance(datasets, dict) else ():
            if name not in cursor.path:
                yield from (name, *(f"{name}.{block}" for block in _blocks(written)))
    elif own in _NAMES_OF:
        named = tree.get(_NAMES_OF[own])
        if isinstance(named, dict):
            yield from named
        for each in named if isinstance(named, list) else ():
            if isinstance(each, dict) and isinstance(each.get("name"), str):
                yield str(each["name"])


def _blocks(dataset: Value) -> Iterator[str]:
    """Yields what stands after the dot for the blocks of a dataset, if it is a partition."""
    split = dataset.get("partition") if isinstance(dataset, dict) else None
    if not isinstance(split, dict):
        return
    yield "*"
    blocks, kinds = split.get("blocks"), split.get("kinds")
    listed: list[Any] = blocks if isinstance(blocks, list) else []
    for each in kinds.values() if isinstance(kinds, dict) else ():
        listed = [*listed, *(each if isinstance(each, list) else ())]
    yield from islice(dict.fromkeys(str(each) for each in listed), _MOST_BLOCKS)


# --- the schema ----------------------------------------------------------------------------------


def _nodes_at(cursor: Cursor) -> list[Node]:
    """Returns the parts of the schema for a place, each of which may hold there."""
    nodes = list(choices(json_schema()))
    for step, said in zip(cursor.path, cursor.siblings, strict=False):
        others = {key: text for key, text in said.items() if key != step}
        nodes = [
            choice
            for node in _fitting(nodes, others)
            if (below := _below(node, step)) is not None
            for choice in choices(below)
        ]
    return nodes


def _fitting(nodes: Iterable[Node], said: Mapping[str, str]) -> list[Node]:
    """Returns the mappings that have such keys with such values; all parts if there is none."""
    listed = list(nodes)
    fitting = [
        node
        for node in listed
        if all(
            key in node.get("properties", ()) and node["properties"][key].get("const", text) == text
            for key, text in said.items()
            if key != "dpcompose"
        )
    ]
    return fitting or listed


def _below(node: Node, step: str | int) -> Node | None:
    """Returns the part of a schema for an item or an entry; None where there is none."""
    if isinstance(step, int):
        return node.get("items")
    more = node.get("additionalProperties")
    found: Node | None = node.get("properties", {}).get(step, more)
    return found if isinstance(found, dict) else None


def _words(node: Node) -> Iterator[tuple[str, str]]:
    """Yields the words that are values by themselves, and mappings of a kind with an example."""
    says = node.get("description", "")
    for each in words(node):
        yield str(each), _about(str(each)) or says
    if node.get("type") == "boolean":
        yield from (("true", says), ("false", says))
    for tag, forms in (("kind", MAPS), ("by", PARTITIONS)):
        form = forms.get(node.get("properties", {}).get(tag, {}).get("const", ""))
        if form is not None:
            example = entries_of(form, required(form))
            if example:
                yield f"{{{tag}: {form.name}, {example}}}", form.about


def _about(word: str) -> str:
    """Returns what is said of a kind of map or of partition; empty for other words."""
    forms: dict[str, Form[Any]] = {**MAPS, **PARTITIONS}
    return forms[word].about if word in forms else ""
