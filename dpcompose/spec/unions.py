"""Mappings that belong to no member of a union: of which kind they are is missing or unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpcompose.errors import Path, quoted
from dpcompose.faults import Faults, listing
from dpcompose.spec.concrete import CONCRETE
from dpcompose.spec.datasets import DOMAINS
from dpcompose.spec.guarantees import NOTIONS
from dpcompose.spec.maps import MAP_KINDS
from dpcompose.spec.partitions import PARTITION_KINDS
from dpcompose.spec.phrases import BUDGET_FORMS, NOISE_PARAMETERS, PARAMETERS, shown


def no_member(error: Mapping[str, Any], path: Path, faults: Faults) -> None:
    """A mapping that belongs to no member of a union; the tag says what decided it."""
    value = error["input"]
    match error["ctx"]["tag"]:
        case "?kind":
            _kind(value, path, faults, "kind", "map", MAP_KINDS)
        case "?by":
            _kind(value, path, faults, "by", "partition", PARTITION_KINDS)
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
            faults.add("DPC102", path, f"a budget needs one of {BUDGET_FORMS}", key=True)
        case "?mechanism":
            _concrete(value, path, faults)
        case _:
            _notion(value, path, faults)


def _kind(
    value: Mapping[str, Any],
    path: Path,
    faults: Faults,
    key: str,
    noun: str,
    legal: Mapping[str, object],
) -> None:
    kind = value.get(key)
    # A map can be its kind alone; then there is no key, and `path` leads to it.
    at = (*path, key)
    if key not in value:
        faults.add(
            "DPC102", path, f"a {noun} needs `{key}`", f"one of {listing(legal, 20)}", key=True
        )
    elif isinstance(kind, str):
        faults.add("DPC104", at, f"unknown kind of {noun} {quoted(kind)}", wrong=kind, legal=legal)
    else:
        faults.add("DPC103", at, f"`{key}` must be a kind of {noun}, not {shown(kind)}")


def _concrete(value: Mapping[str, Any], path: Path, faults: Faults) -> None:
    kind, at = value["mechanism"], (*path, "mechanism")
    if isinstance(kind, str):
        message = f"unknown concrete mechanism {quoted(kind)}"
        faults.add("DPC104", at, message, wrong=kind, legal=CONCRETE)
    else:
        message = f"`mechanism` must be a concrete mechanism, not {shown(kind)}"
        faults.add("DPC103", at, message, f"one of {listing(CONCRETE)}")


def _notion(value: Mapping[str, Any], path: Path, faults: Faults) -> None:
    notion, legal = value.get("notion"), list(NOTIONS)
    at = (*path, "notion")
    if "notion" not in value:
        _no_notion(value, path, faults)
    elif isinstance(notion, str):
        faults.add("DPC104", at, f"unknown notion {quoted(notion)}", wrong=notion, legal=legal)
    else:
        faults.add("DPC103", at, f"`notion` must be a notion, not {shown(notion)}")


def _no_notion(value: Mapping[str, Any], path: Path, faults: Faults) -> None:
    hint = f"notions: {listing(NOTIONS)}"
    meant = _meant(value, "notion", PARAMETERS)
    needs = "a guarantee needs `notion`"
    if "guarantees" not in path:
        needs = "a mechanism needs `notion`, `mechanism`, `guarantees` or `post_processes`"
        if not meant and (meant := _meant(value, "mechanism", NOISE_PARAMETERS)):
            hint = f"concrete mechanisms: {listing(CONCRETE)}"
    elif "mechanism" in value:
        needs = "a guarantee needs `notion`, and a concrete mechanism is no guarantee"
        hint = "give `mechanism` an entry of its own under `mechanisms`"
    faults.add("DPC102", path, needs, f"{meant}{hint}", key=True)


def _meant(value: Mapping[str, Any], key: str, parameters: Mapping[str, tuple[str, ...]]) -> str:
    """What `key` was probably meant to be, by the parameters that are given."""
    given = [each for each, keys in parameters.items() if all(key in value for key in keys)]
    best = max(given, key=lambda each: len(parameters[each]), default=None)
    return "" if best is None else f"did you mean `{key}: {best}`? "
