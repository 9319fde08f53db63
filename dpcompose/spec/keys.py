"""Keys that are missing, unknown, or belong elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpcompose.errors import Path, quoted
from dpcompose.faults import Faults, listing
from dpcompose.spec.datasets import ByKinds, Graph, Mapped, Partition, Split, Table
from dpcompose.spec.fields import Model
from dpcompose.spec.maps import MAP_KINDS
from dpcompose.spec.mechanisms import (
    NOTIONS,
    ApproxBudget,
    GdpBudget,
    LongRelation,
    PostProcessing,
    PureBudget,
    SeveralMechanism,
    Stated,
    ZcdpBudget,
)
from dpcompose.spec.model import Spec
from dpcompose.spec.phrases import (
    BUDGET_FORMS,
    LATER,
    PARAMETERS,
    STATE_IT,
    as_hint,
    keys_of,
    model_at,
)


def missing_key(error: Mapping[str, Any], path: Path, faults: Faults) -> None:
    model, key = model_at(error["loc"]), str(path[-1])
    hint = as_hint(keys_of(model)[key])
    faults.add("DPC102", path[:-1], f"{model.what} needs {quoted(key)}", hint, key=True)


def unknown_key(error: Mapping[str, Any], path: Path, faults: Faults) -> None:
    model, key = model_at(error["loc"]), str(path[-1])
    if (model is Spec and key in {"report", "adversary"}) or (
        issubclass(model, Stated | SeveralMechanism) and key == "mechanism"
    ):
        hint = STATE_IT if key == "mechanism" else LATER
        faults.add("DPC190", path, f"{quoted(key)} is not supported yet", hint, key=True)
        return
    elsewhere = _misplaced(model, key)
    if elsewhere is not None:
        faults.add("DPC105", path, *elsewhere, key=True)
        return
    message = f"unknown key {quoted(key)} in {model.what}"
    faults.add("DPC101", path, message, key=True, wrong=key, legal=list(keys_of(model)))


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
        other = next(each for each, keys in PARAMETERS.items() if key in keys and each != own)
        legal = listing(PARAMETERS[own])
        hint = f"its parameters are {legal}; {name} goes with `notion: {other}`"
        return f"{name} does not belong to `notion: {own}`", hint
    if issubclass(model, PureBudget | ApproxBudget | ZcdpBudget | GdpBudget) and key in notion:
        return f"{name} does not fit {model.what}", f"a budget is {BUDGET_FORMS}"
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
