"""Bounds with columns against the truth of small universes."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import pytest
import yaml
from volume import seeds

from dpcompose.pipeline import analyze

from .columned import Spec, Universe

COLUMNS = ["a", "b", "c"]


def some(rng: Random, least: int = 1) -> list[str]:
    """Some of the columns."""
    return sorted(rng.sample(COLUMNS, rng.randint(least, len(COLUMNS))))


def random_spec(rng: Random) -> dict[str, Any]:
    """A spec with one root, maps and partitions that use columns, and pure guarantees."""
    datasets: dict[str, Any] = {"t": {"columns": COLUMNS}}
    at: dict[str, set[str]] = {"t": set(COLUMNS)}  # the columns of what can be read
    closed = {"t"}
    readable = ["t"]
    for n in range(rng.randint(1, 3)):
        parent = rng.choice(readable[-3:])
        here = sorted(at[parent])
        kind = rng.choice(
            ["filter", "columns", "row", "flatten", "join-public", "value", "key", "limit", "group"]
        )
        if not here or any("public" in each or "new" in each for each in here):
            break
        chosen = sorted(rng.sample(here, rng.randint(1, len(here))))
        uses = {"uses": chosen} if rng.random() < 0.75 else {}
        keeps = {"keeps": sorted(rng.sample(here, rng.randint(0, len(here))))}
        name = f"d{n}"
        how: dict[str, Any] = {"kind": kind}
        after, names = set(here), [name]
        match kind:
            case "filter":
                how |= uses
            case "columns":
                how["only"], after = chosen, set(chosen)
            case "row":
                how |= uses | keeps
                after = set(keeps["keeps"])
            case "flatten":
                how |= uses | keeps | {"max_rows": rng.randint(1, 2)}
                if rng.random() < 0.3:
                    how["exact"] = True
                after = set(keeps["keeps"])
            case "join-public":
                how |= uses | {"max_rows": 2}
            case "value":
                how = {"by": "value", "blocks": 2, **uses}
                names = [f"{name}.0", f"{name}.1"]
            case "key":
                how = {"by": "key", "column": rng.choice(here), "blocks": 2}
                names = [f"{name}.0", f"{name}.1"]
            case "limit":
                how |= {"per": rng.choice(here), "rows": 1, "keep": "first"}
            case "group":
                how["by"] = rng.choice(here)
                after = {how["by"]}
        part = "partition" if kind in ("value", "key") else "map"
        datasets[name] = {"from": parent, part: how}
        for each in names:
            at[each] = after
            if kind in ("filter", "columns", "value", "key", "limit") and parent in closed:
                closed.add(each)
            readable.append(each)
    protect: dict[str, Any] = {"relation": "bounded", "changes": some(rng)}
    if rng.random() < 0.25:
        protect["distance"] = 2
    spec = {"dpcompose": 1, "protect": protect, "datasets": datasets}
    spec["mechanisms"] = [
        _mechanism(rng, n, spec, readable, closed) for n in range(rng.randint(1, 3))
    ]
    return spec


def _mechanism(
    rng: Random, n: int, spec: dict[str, Any], readable: list[str], closed: set[str]
) -> dict[str, Any]:
    reads = rng.choice(readable[1:] or readable)
    said: dict[str, Any] = {"name": f"m{n}", "reads": reads, "notion": "pure"}
    said["epsilon"] = rng.choice([1, 2, 3, 5])
    path = Universe(spec, 0).path(reads)
    stated_on = rng.choice(path)
    if stated_on != reads:
        said["stated_on"] = stated_on
    relations: list[Any] = ["bounded", "unbounded"]
    if stated_on in closed:
        relations += ["default", {"relation": "bounded", "changes": some(rng)}]
        relations += [{"relation": "bounded", "keeps": some(rng)}]
    relation = rng.choice(relations)
    if relation != "default":
        said["relation"] = relation
    return said


def bound_of(spec: Spec, protect: Any) -> Fraction | None:
    """What is certified; None where nothing is. A mechanism's relation is as the spec says."""
    stated = [{"relation": spec["protect"], **each} for each in spec["mechanisms"]]
    for each in stated:
        if isinstance(each["relation"], dict):
            each["relation"] = {k: v for k, v in each["relation"].items() if k != "distance"}
    report = analyze(yaml.safe_dump({**spec, "protect": protect, "mechanisms": stated}))
    assert report.status != "invalid", (report.findings, yaml.safe_dump(dict(spec)))
    return None if report.bound is None else report.bound.value


def asked_of(rng: Random, spec: Spec) -> list[Any]:
    """What is protected, some other columns, and all of them."""
    return [spec["protect"], {"relation": "bounded", "changes": some(rng)}, "bounded"]


def compared(spec: Spec, protect: Any, draws: int) -> tuple[Fraction, Fraction] | None:
    """The truth of some universes and what is certified; None where nothing is."""
    bound = bound_of(spec, protect)
    if bound is None:
        return None
    worst = Fraction(0)
    for draw in range(draws):
        found = Universe(spec, draw).worst(protect)
        assert found is not None and found <= bound, (yaml.safe_dump(spec), protect, found)
        worst = max(worst, found)
    return worst, bound


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(10, range(100), quick=3))
def test_no_bound_is_below_the_truth(seed: int) -> None:
    """Whatever maps use, keep and select, and whatever columns change."""
    for n in range(10):
        rng = Random(f"columns {seed} {n}")
        spec = random_spec(rng)
        for protect in asked_of(rng, spec):
            compared(spec, protect, 4)


@pytest.mark.slow
def test_bounds_are_the_truth_where_small_universes_can_hold_it() -> None:
    """Of rows by themselves: two tables with few groups do not hold the worst of limits."""
    equal = finite = n = 0
    while finite < 40:
        rng, n = Random(f"equal {n}"), n + 1
        spec = random_spec(rng)
        kinds = {each.get("map", {}).get("kind") for each in spec["datasets"].values()}
        if kinds & {"limit", "group", "flatten", "join-public"}:
            continue
        for protect in asked_of(rng, spec):
            found = compared(spec, protect, 12)
            if found is not None:
                finite += 1
                equal += found[0] == found[1]
    assert equal * 10 >= finite * 9, (equal, finite)
