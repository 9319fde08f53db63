"""Every kind of map, partition, mechanism and notion: who knows it, and who is said not to know it.

A new kind that the checker, the oracle, the library or the handbook lacks fails here by its name.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import LIBRARY

from dpcompose.core.change.maps import MAPS
from dpcompose.core.change.partitions import PARTITIONS
from dpcompose.core.mechanisms import FORMS
from dpcompose.core.notions.notion import Notion
from dpcompose.pipeline import analyze

TESTS = Path(__file__).parents[1]
SPECS = [*LIBRARY.values(), *sorted((TESTS / "acceptance").glob("*.yaml"))]
KINDS = [
    *(("map", each) for each in MAPS),
    *(("partition", each) for each in PARTITIONS),
    *(("mechanism", each) for each in FORMS),
    *(("notion", each.value) for each in Notion),
]
BY_CURVE = "it is certified by its curve, for which the checker has no rule"
#: What the stand-alone checker does not confirm, and why.
UNCHECKED = {
    ("map", "allocate"): BY_CURVE,
    ("map", "batches"): "the library's spec with it is a sample that is drawn in groups",
    ("map", "group"): "the specs with it are beside maps that the checker does not follow",
    ("map", "limit"): "the spec with it has no finite bound",
    ("map", "shuffle"): BY_CURVE,
    ("mechanism", "discrete-gaussian"): BY_CURVE,
    ("mechanism", "geometric"): BY_CURVE,
    ("mechanism", "key-selection"): BY_CURVE,
    ("mechanism", "noisy-histogram"): BY_CURVE,
    ("mechanism", "select"): BY_CURVE,
    ("mechanism", "skellam"): BY_CURVE,
    ("mechanism", "tree"): BY_CURVE,
}
#: What no shipped spec uses, and why.
WITHOUT_EXAMPLE = {
    ("map", "group"): "the handbook and the specs of acceptance have examples",
    ("map", "limit"): "the handbook and the specs of acceptance have examples",
    ("map", "edges"): "the pages of graphs have examples; no published release is known",
    ("map", "nodes"): "the pages of graphs have examples; no published release is known",
    ("map", "opaque"): "it stands for code that nobody can say anything about",
    ("mechanism", "discrete-gaussian"): "the census specs state its ρ, as published",
    ("mechanism", "exponential"): "the handbook has examples; no published release is known",
    ("notion", "rdp"): "the handbook has examples; no published release is known",
    ("notion", "profile"): "the handbook has examples; no published release is known",
}
MEASURED = "its numbers are compared with exact laws in tests of its own file"
#: What the random specs of the oracle do not draw, and why.
WITHOUT_ORACLE = {
    ("map", "allocate"): MEASURED,
    ("map", "batches"): MEASURED,
    ("map", "shuffle"): MEASURED,
    **{
        ("mechanism", name): MEASURED
        for name in FORMS
        if name not in ("laplace", "gaussian", "geometric", "discrete-gaussian")
    },
    ("notion", "rdp"): MEASURED,
    ("notion", "profile"): MEASURED,
}


def kinds_of(spec: dict[str, Any]) -> set[tuple[str, str]]:
    """The kinds that a spec uses."""
    found: set[tuple[str, str]] = set()
    for dataset in (spec.get("datasets") or {}).values():
        made = (dataset or {}).get("map")
        if made is not None:
            found.add(("map", made if isinstance(made, str) else made["kind"]))
        if (dataset or {}).get("partition"):
            found.add(("partition", dataset["partition"]["by"]))
    for mechanism in spec.get("mechanisms") or []:
        for each in (mechanism, *(mechanism.get("guarantees") or [])):
            found |= {(key, str(each[key])) for key in ("mechanism", "notion") if key in each}
    return found


@cache
def kinds_by_spec() -> dict[Path, set[tuple[str, str]]]:
    """The kinds of every shipped spec and of those of acceptance, the short specs first."""
    paths = [path for path in SPECS if path.stem != "expected"]
    return {
        path: kinds_of(yaml.safe_load(path.read_text(encoding="utf-8")))
        for path in sorted(paths, key=lambda path: path.stat().st_size)
    }


def users(kind: tuple[str, str]) -> list[Path]:
    """The shipped specs, and those of acceptance, that use a kind."""
    return [path for path, kinds in kinds_by_spec().items() if kind in kinds]


@cache
def is_confirmed(path: Path) -> bool:
    """Whether the stand-alone checker has a rule for every claim of a spec."""
    found = analyze(path.read_bytes(), path.name, recheck=True).rechecked
    return found is not None and found.claims > 0 and not found.unchecked


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=" ".join)
def test_the_checker_knows_a_kind_or_is_said_not_to(kind: tuple[str, str]) -> None:
    confirmed = any(is_confirmed(path) for path in users(kind)[:8])
    if not users(kind):
        assert kind in {**UNCHECKED, **WITHOUT_EXAMPLE}
    else:
        assert confirmed == (kind not in UNCHECKED), users(kind)


@pytest.mark.parametrize("kind", KINDS, ids=" ".join)
def test_a_shipped_spec_uses_a_kind_or_none_is_said_to(kind: tuple[str, str]) -> None:
    shipped = [path for path in users(kind) if path in LIBRARY.values()]
    assert bool(shipped) == (kind not in WITHOUT_EXAMPLE)


@pytest.mark.parametrize("kind", KINDS, ids=" ".join)
def test_the_oracle_draws_a_kind_or_is_said_not_to(kind: tuple[str, str]) -> None:
    text = "".join(
        each.read_text(encoding="utf-8") for each in sorted((TESTS / "oracle").glob("*.py"))
    )
    forms = (f'"{kind[1]}"', f"kind: {kind[1]}", f"mechanism: {kind[1]},", f"by: {kind[1]}")
    assert any(form in text for form in forms) == (kind not in WITHOUT_ORACLE)
