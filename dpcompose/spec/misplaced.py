"""Keys that are legal, but not where they stand: what to say of them."""

from __future__ import annotations

from dpcompose.core.change.maps import MAPS
from dpcompose.core.change.partitions import PARTITIONS
from dpcompose.core.notions.guarantee import RISKS
from dpcompose.errors import quoted
from dpcompose.faults import listing
from dpcompose.spec.asked import (
    AdvantageBudget,
    ApproxBudget,
    GdpBudget,
    PureBudget,
    SuccessBudget,
    ZcdpBudget,
)
from dpcompose.spec.concrete import (
    CONCRETE,
    NOISE_KEYS,
    ByRows,
    BySteps,
    Concrete,
    kind_of,
    noise_keys,
)
from dpcompose.spec.datasets import Graph, Mapped, Split, Table
from dpcompose.spec.guarantees import NOTIONS, Stated
from dpcompose.spec.maps import MAP_KINDS, AnyMap
from dpcompose.spec.mechanism_entry import ReadingEntry
from dpcompose.spec.mechanisms import PostProcessing, SeveralMechanism
from dpcompose.spec.models import Model
from dpcompose.spec.partitions import PARTITION_KINDS, AnyPartition
from dpcompose.spec.phrases import BUDGET_FORMS, PARAMETERS
from dpcompose.spec.relations import LongRelation

_BUDGETS = (PureBudget, ApproxBudget, ZcdpBudget, GdpBudget, AdvantageBudget, SuccessBudget)
#: The parameters of a stated guarantee, and all that it says.
_PARAMETERS = frozenset(key for keys in PARAMETERS.values() for key in keys)
_STATEMENT = _PARAMETERS | {"notion", "relation", "stated_on"}


#: Which kinds have the key `drops`.
_KINDS = listing([each.name for each in MAPS.values() if each.has("drops")])
_DROPPING = f"only maps of the kinds {_KINDS}, and partitions, can drop rows"


def misplaced(model: type[Model], key: str) -> tuple[str, str] | None:
    """Returns the message and the hint for a key that is legal elsewhere; None if it is legal
    nowhere near."""
    name = quoted(key)
    if issubclass(model, PostProcessing) and key in _STATEMENT | NOISE_KEYS | {
        "reads",
        "guarantees",
        "count",
        "mechanism",
    }:
        return (
            f"{name} and `post_processes` exclude each other",
            "what post-processes uses released outputs only; give what reads data its own entry",
        )
    if issubclass(model, SeveralMechanism):
        if key in _STATEMENT:
            return f"{name} and `guarantees` exclude each other", f"put {name} into the list"
        if key in NOISE_KEYS | {"mechanism"}:
            hint = "a concrete mechanism has the guarantees of its noise: remove one of the two"
            return f"{name} and `guarantees` exclude each other", hint
    if issubclass(model, Stated):
        return _misplaced_in_guarantee(model, key)
    own = kind_of(model)
    if own is not None:
        return _misplaced_in_concrete(model, own, key)
    if model in _BUDGETS and key in {*_PARAMETERS, *RISKS}:
        return f"{name} does not fit {model.what}", f"a budget is {BUDGET_FORMS}"
    if model is LongRelation and key == "distance":
        return (
            "a guarantee is stated for one step of a relation, it has no `distance`",
            "declare a relation of this distance under `relations`",
        )
    return _misplaced_in_dataset(model, key)


def _misplaced_in_guarantee(model: type[Stated], key: str) -> tuple[str, str] | None:
    """Returns the message and the hint for a key that belongs to another notion or mechanism; None
    for an unknown key."""
    name = quoted(key)
    own = next(each for each, base in NOTIONS.items() if issubclass(model, base))
    if key in _PARAMETERS:
        other = next(each for each, keys in PARAMETERS.items() if key in keys and each != own)
        mine = PARAMETERS[own]
        verb = "parameter is" if len(mine) == 1 else "parameters are"
        hint = f"its {verb} {listing(mine)}; {name} goes with `notion: {other}`"
        return f"{name} does not belong to `notion: {own}`", hint
    if key == "mechanism":
        hint = "a concrete mechanism has the guarantee of its noise: remove one of the two"
        return "`mechanism` and `notion` exclude each other", hint
    if key in NOISE_KEYS:
        hint = f"{name} goes with a concrete mechanism: {listing(_owners(key))}"
        return f"{name} does not belong to `notion: {own}`", hint
    return None


def _misplaced_in_concrete(model: type[Model], own: str, key: str) -> tuple[str, str] | None:
    """Returns the message and the hint for a key that belongs to a notion or another mechanism;
    None for an unknown key."""
    name = quoted(key)
    says = f"{name} does not belong to `mechanism: {own}`"
    if key == "notion":
        hint = "a concrete mechanism has the guarantee of its noise: remove one of the two"
        return "`notion` and `mechanism` exclude each other", hint
    if not issubclass(model, ReadingEntry) and key in ReadingEntry.model_fields:
        return f"a run of `select` has no {name} of its own", "it belongs to the selection"
    if own == "select" and key in NOISE_KEYS | _STATEMENT:
        return says, f"{name} belongs to the run: `of: {{…, {key}: …}}`"
    if key == "stated_on":
        hint = (
            "sensitivities speak of the dataset that is read; "
            "a guarantee stated on another one has a `notion`"
        )
        return says, hint
    if issubclass(model, ByRows) and key in {"sensitivity", "relation"}:
        return says, "each row answers by itself: its guarantee is for one row replaced"
    if issubclass(model, BySteps) and key == "sensitivity":
        return says, "its noise is scaled by it, and what is left is for one step of `relation`"
    if key == "delta":
        return says, "it is not stated: ask for ε at a δ by `report: {delta: 1e-6}`"
    if key not in NOISE_KEYS | _PARAMETERS:
        return None
    parameters = f"its parameters are {listing(noise_keys(own))}"
    if (own, key) == ("geometric", "alpha"):
        return says, f"{parameters}; a mass proportional to α^|n| has the scale 1/ln(1/α)"
    if key == "epsilon" and issubclass(model, Concrete):
        return says, f"{parameters}; ε follows from them"
    owners = _owners(key)
    return says, f"{parameters}; {name} goes with {listing(owners)}" if owners else parameters


def _owners(key: str) -> list[str]:
    """Returns the concrete mechanisms with this parameter."""
    return [f"mechanism: {kind}" for kind in CONCRETE if key in noise_keys(kind)]


def _misplaced_in_dataset(model: type[Model], key: str) -> tuple[str, str] | None:
    """Returns the message and the hint for a key that belongs to another kind of dataset, map or
    partition; None for an unknown key."""
    name = quoted(key)
    if model is Table and key == "max_degree":
        return f"{name} belongs to a graph", "write `domain: graph`"
    if model is Graph and key in {"unit", "size"}:
        return f"{name} does not belong to a graph", "a graph has vertices and edges, not rows"
    if issubclass(model, Mapped | Split) and key in {"domain", "unit", "size", "max_degree"}:
        return f"{name} does not belong to a derived dataset", f"give {name} to the root"
    says = f"{name} does not belong to {model.what}"
    if issubclass(model, AnyPartition):
        by = next(each for each, own in PARTITION_KINDS.items() if issubclass(model, own))
        owner = next((each.name for each in PARTITIONS.values() if each.has(key)), None)
        hint = dict(PARTITIONS[by].elsewhere).get(key, owner and f"write `by: {owner}`")
    elif issubclass(model, AnyMap):
        kind = next(each for each, own in MAP_KINDS.items() if issubclass(model, own))
        hint = dict(MAPS[kind].elsewhere).get(key, _DROPPING if key == "drops" else None)
    else:
        return None
    return None if hint is None else (says, hint)
