"""Mappings that belong to no member of a union: of which kind they are is missing or unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpcompose.errors import Path, quoted
from dpcompose.faults import Faults, listing
from dpcompose.spec.datasets import DOMAINS, PARTITION_KINDS
from dpcompose.spec.maps import MAP_KINDS
from dpcompose.spec.mechanisms import NOTIONS
from dpcompose.spec.phrases import BUDGET_FORMS, LATER, PARAMETERS, STATE_IT, shown


def no_member(error: Mapping[str, Any], path: Path, faults: Faults) -> None:
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
            faults.add("DPC102", path, f"a budget needs one of {BUDGET_FORMS}", key=True)
        case "?mechanism":
            message = "a concrete mechanism is not supported yet"
            hint = STATE_IT
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
        faults.add("DPC190", at, message, LATER)
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
        given = [each for each, keys in PARAMETERS.items() if all(key in value for key in keys)]
        meant = f"did you mean `notion: {given[-1]}`? " if given else ""
        faults.add("DPC102", path, needs, f"{meant}notions: {listing(legal)}", key=True)
    elif isinstance(notion, str) and notion in {"rdp", "profile"}:
        hint = f"state the guarantee as one of {listing(legal)}"
        faults.add("DPC190", at, f"the notion {quoted(notion)} is not supported yet", hint)
    elif isinstance(notion, str):
        faults.add("DPC104", at, f"unknown notion {quoted(notion)}", wrong=notion, legal=legal)
    else:
        faults.add("DPC103", at, f"`notion` must be a notion, not {shown(notion)}")
