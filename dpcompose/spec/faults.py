"""What pydantic found wrong, as faults with a path, in the words of the spec language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dpcompose.core.exact_expr import number_hint
from dpcompose.errors import Path, quoted
from dpcompose.faults import Faults, listing
from dpcompose.source import Number
from dpcompose.spec.datasets import (
    DOMAINS,
    PARTITION_KINDS,
    ByKinds,
    Graph,
    Mapped,
    Partition,
    Split,
    Table,
)
from dpcompose.spec.fields import Model
from dpcompose.spec.maps import MAP_KINDS
from dpcompose.spec.mechanisms import (
    NOTIONS,
    ApproxBudget,
    Declared,
    GdpBudget,
    LongRelation,
    PostProcessing,
    PureBudget,
    SeveralMechanism,
    Stated,
    ZcdpBudget,
)
from dpcompose.spec.model import PLAIN_TAGS, TAGS, Spec

#: Said of what the contract of the spec language has and this version has not.
_LATER = "this version of dpcompose cannot analyse it: remove it, or model the release without it"
_STATE_IT = "state its guarantee: `notion: pure` with `epsilon`, for example"
_PARAMETERS = {
    "pure": ("epsilon",),
    "approx": ("epsilon", "delta"),
    "zcdp": ("rho",),
    "gdp": ("mu",),
}
_BUDGET_FORMS = "`{epsilon}`, `{epsilon, delta}`, `{rho}` or `{mu}`"

#: What is expected where a union has no member for the value at all.
_SHAPES = {
    "map": "a kind such as `filter`, or a mapping with `kind`",
    "partition": "a mapping such as `{by: value, blocks: 4}`",
    "protect": "a relation, or a mapping such as `{relation: bounded, distance: 3}`",
    "relation": "a relation, or a mapping such as `{relation: bounded, keeps: [user_id]}`",
    "mechanisms": "a mapping such as `{name: count, reads: people, notion: pure, epsilon: 1}`",
    "guarantees": "a mapping such as `{notion: pure, epsilon: 1}`",
    "budget": "a mapping such as `{epsilon: 1}`",
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


def shown(value: object) -> str:
    """How a message quotes a value that is not what it should be."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "`true`" if value else "`false`"
        case str():
            looks = not isinstance(value, Number) and number_hint(value) is None
            return f'`"{value}"`' if looks else quoted(value)
        case list():
            return "a list"
        case _:
            return "a mapping"


def _model(loc: Path) -> type[Model]:
    """The model that an error at `loc` speaks of."""
    if loc and loc[0] == "relations":
        return Declared
    tags = [step for step in loc if step in TAGS]
    return TAGS[str(tags[-1])] if tags else Spec


def _keys(model: type[Model]) -> dict[str, str]:
    """The legal keys of a model, with what they mean."""
    return {
        field.alias or name: field.description or "" for name, field in model.model_fields.items()
    }


def _said(description: str) -> str | None:
    """The description of a field as a hint."""
    text = description.rstrip(".")
    return text[:1].lower() + text[1:] if text else None


def _name(path: Path) -> str:
    """What a message calls the value at `path`."""
    if path and isinstance(path[-1], int):
        return f"item {path[-1] + 1} of {quoted(str(path[-2]))}"
    if len(path) > 1 and path[-2] in {"epsilon", "delta", "rho", "mu"}:
        return f"{quoted(str(path[-2]))} of {quoted(str(path[-1]))}"
    return quoted(str(path[-1])) if path else "the spec"


# --- keys ----------------------------------------------------------------------------------------


def _missing(error: Mapping[str, Any], path: Path, faults: Faults) -> None:
    model, key = _model(error["loc"]), str(path[-1])
    hint = _said(_keys(model)[key])
    faults.add("DPC102", path[:-1], f"{model.what} needs {quoted(key)}", hint, key=True)


def _unknown_key(error: Mapping[str, Any], path: Path, faults: Faults) -> None:
    model, key = _model(error["loc"]), str(path[-1])
    if (model is Spec and key in {"report", "adversary"}) or (
        issubclass(model, Stated | SeveralMechanism) and key == "mechanism"
    ):
        hint = _STATE_IT if key == "mechanism" else _LATER
        faults.add("DPC190", path, f"{quoted(key)} is not supported yet", hint, key=True)
        return
    elsewhere = _misplaced(model, key)
    if elsewhere is not None:
        faults.add("DPC105", path, *elsewhere, key=True)
        return
    message = f"unknown key {quoted(key)} in {model.what}"
    faults.add("DPC101", path, message, key=True, wrong=key, legal=list(_keys(model)))


def _misplaced(model: type[Model], key: str) -> tuple[str, str] | None:
    """What to say of a key that is legal, but not here; None if it is legal nowhere near."""
    name = quoted(key)
    notion = {"epsilon", "delta", "rho", "mu"}
    statement = notion | {"notion", "relation", "stated_on"}
    reading = statement | {"reads", "guarantees", "count", "mechanism"}
    if issubclass(model, PostProcessing) and key in reading:
        return (
            f"{name} and `post_processes` exclude each other",
            "what post-processes uses released outputs only; give what reads data its own entry",
        )
    if issubclass(model, SeveralMechanism) and key in statement:
        return f"{name} and `guarantees` exclude each other", f"put {name} into the list"
    if issubclass(model, Stated) and key in notion:
        (own,) = (each for each in NOTIONS if f"`{each}`" in model.what)
        other = next(each for each, keys in _PARAMETERS.items() if key in keys and each != own)
        legal = listing(_PARAMETERS[own])
        hint = f"its parameters are {legal}; {name} goes with `notion: {other}`"
        return f"{name} does not belong to `notion: {own}`", hint
    if issubclass(model, PureBudget | ApproxBudget | ZcdpBudget | GdpBudget) and key in notion:
        return f"{name} does not fit {model.what}", f"a budget is {_BUDGET_FORMS}"
    if model is LongRelation and key == "distance":
        return (
            "a guarantee is stated for one step of a relation, it has no `distance`",
            "declare a relation of this distance under `relations`",
        )
    return _misplaced_in_dataset(model, key)


def _misplaced_in_dataset(model: type[Model], key: str) -> tuple[str, str] | None:
    name = quoted(key)
    if model is Table and key == "max_degree":
        return f"{name} belongs to a graph", "write `domain: graph`"
    if model is Graph and key in {"unit", "size"}:
        return f"{name} does not belong to a graph", "a graph has vertices and edges, not rows"
    if issubclass(model, Mapped | Split) and key in {"domain", "unit", "size", "max_degree"}:
        return f"{name} does not belong to a derived dataset", f"give {name} to the root"
    if issubclass(model, Mapped | Split) and key in {"kind", "by", "blocks", "kinds"}:
        inside = "map" if model is Mapped else "partition"
        return f"{name} stands outside of `{inside}`", f"move it into the mapping of `{inside}`"
    if issubclass(model, Partition):
        owners = {"column": "key", "max_blocks": "membership", "kinds": "kinds"}
        if key in owners:
            return f"{name} does not belong to {model.what}", f"write `by: {owners[key]}`"
        if model is ByKinds and key == "blocks":
            return f"{name} does not belong to {model.what}", "the blocks are those of `kinds`"
    if model in MAP_KINDS.values() and key == "drops":
        return (
            f"{name} does not belong to {model.what}",
            "only filters, flattens and partitions can drop rows",
        )
    return None


# --- values --------------------------------------------------------------------------------------


def _wrong_type(error: Mapping[str, Any], path: Path, faults: Faults) -> None:
    value, context = error["input"], error.get("ctx", {})
    what = context.get("what") or _TYPES.get(error["type"], "something else")
    hint = context.get("hint")
    if error["type"] == "bool_type" and isinstance(value, str):
        hint = "YAML 1.2 has no other spellings"
    code = context.get("code", "DPC103")
    faults.add(code, path, f"{_name(path)} must be {what}, not {shown(value)}", hint)


def _no_value(error: Mapping[str, Any], path: Path, faults: Faults) -> None:
    message = f"{_name(path)} has no value"
    faults.add("DPC103", path, message, "give it a value, or remove the key", key=True)


def _choice(error: Mapping[str, Any], path: Path, faults: Faults) -> None:
    model, value = _model(error["loc"]), error["input"]
    expected = error["ctx"]["expected"].replace("'", "`")
    hint = _said(_keys(model).get(str(path[-1]), ""))
    faults.add("DPC104", path, f"{_name(path)} must be {expected}, not {shown(value)}", hint)


def _empty(error: Mapping[str, Any], path: Path, faults: Faults) -> None:
    faults.add("DPC108", path, f"{_name(path)} must not be empty", "name at least one")


def _shape(error: Mapping[str, Any], path: Path, faults: Faults) -> None:
    """A value that is no mapping where one is due."""
    field = next(str(step) for step in reversed(path) if isinstance(step, str))
    value, hint = error["input"], None
    if field == "protect":
        hint = _said(_keys(Spec)["protect"])
    if len(path) == 2 and path[0] == "datasets":
        field = "datasets"
        if value is None:
            hint = f"write `{path[1]}: {{}}` for a root"
    faults.add("DPC103", path, f"{_name(path)} must be {_SHAPES[field]}, not {shown(value)}", hint)


# --- unions --------------------------------------------------------------------------------------


def _no_member(error: Mapping[str, Any], path: Path, faults: Faults) -> None:
    """A mapping that belongs to no member of a union; the tag says what decided it."""
    value = error["input"]
    match error["ctx"]["tag"]:
        case "?kind":
            _kind(value, path, faults, "kind", "map", MAP_KINDS, later={"sample"})
        case "?by":
            _kind(value, path, faults, "by", "partition", PARTITION_KINDS, later=set())
        case "?domain":
            name = value["domain"]
            message = f"unknown domain {quoted(name)}"
            faults.add("DPC104", (*path, "domain"), message, wrong=name, legal=DOMAINS)
        case "?both":
            message = "`map` and `partition` exclude each other"
            faults.add("DPC105", (*path, "partition"), message, "make two datasets of it", key=True)
        case "?neither":
            message = "a dataset with `from` needs `map` or `partition`"
            faults.add("DPC102", path, message, "a filter is `map: filter`", key=True)
        case "?budget":
            faults.add("DPC102", path, f"a budget needs one of {_BUDGET_FORMS}", key=True)
        case "?mechanism":
            message = "a concrete mechanism is not supported yet"
            hint = _STATE_IT
            faults.add("DPC190", (*path, "mechanism"), message, hint, key=True)
        case _:
            _notion(value, path, faults)


def _kind(
    value: Mapping[str, Any],
    path: Path,
    faults: Faults,
    key: str,
    noun: str,
    legal: Mapping[str, object],
    later: set[str],
) -> None:
    kind = value.get(key)
    # A map can be its kind alone; then there is no key, and `path` leads to it.
    at = (*path, key)
    if key not in value:
        faults.add(
            "DPC102", path, f"a {noun} needs `{key}`", f"one of {listing(legal, 20)}", key=True
        )
    elif isinstance(kind, str) and kind in later:
        message = f"a {noun} of kind {quoted(kind)} is not supported yet"
        faults.add("DPC190", at, message, _LATER)
    elif isinstance(kind, str):
        faults.add("DPC104", at, f"unknown kind of {noun} {quoted(kind)}", wrong=kind, legal=legal)
    else:
        faults.add("DPC103", at, f"`{key}` must be a kind of {noun}, not {shown(kind)}")


def _notion(value: Mapping[str, Any], path: Path, faults: Faults) -> None:
    notion, legal = value.get("notion"), list(NOTIONS)
    at = (*path, "notion")
    if "notion" not in value:
        is_mechanism = "guarantees" not in path
        what = "`notion`, `guarantees` or `post_processes`" if is_mechanism else "`notion`"
        needs = f"a {'mechanism' if is_mechanism else 'guarantee'} needs {what}"
        given = [each for each, keys in _PARAMETERS.items() if all(key in value for key in keys)]
        meant = f"did you mean `notion: {given[-1]}`? " if given else ""
        faults.add("DPC102", path, needs, f"{meant}notions: {listing(legal)}", key=True)
    elif isinstance(notion, str) and notion in {"rdp", "profile"}:
        hint = f"state the guarantee as one of {listing(legal)}"
        faults.add("DPC190", at, f"the notion {quoted(notion)} is not supported yet", hint)
    elif isinstance(notion, str):
        faults.add("DPC104", at, f"unknown notion {quoted(notion)}", wrong=notion, legal=legal)
    else:
        faults.add("DPC103", at, f"`notion` must be a notion, not {shown(notion)}")


_Handler = Callable[[Mapping[str, Any], Path, Faults], None]
_HANDLERS: dict[str, _Handler] = {
    "missing": _missing,
    "extra_forbidden": _unknown_key,
    "no_value": _no_value,
    "literal_error": _choice,
    "too_short": _empty,
    "union_tag_not_found": _shape,
    "union_tag_invalid": _no_member,
}
