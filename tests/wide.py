"""Random specs over the whole language: users, graphs, values, several roots, mixed notions.

Those of `oracle.generate` stay where truth can be enumerated; these do not. A part that would make
a spec invalid is drawn again, so that every rule of what may follow what stays in one place.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

from dpcompose.errors import InvalidSpec
from dpcompose.resolve import resolve
from dpcompose.source import load

Spec = dict[str, Any]

ROOTS: dict[str, list[tuple[dict[str, Any], list[Any]]]] = {
    "rows": [
        ({}, ["unbounded", "bounded", {"relation": "bounded", "keeps": ["c"]}, "near"]),
        ({"domain": "ordered-table"}, ["unbounded", "bounded"]),
        ({"domain": "fixed-size-table", "size": 50}, ["bounded"]),
    ],
    "users": [({"unit": "u"}, ["user", "user", "unbounded", "bounded", "near"])],
    "graph": [({"domain": "graph", "max_degree": 4}, ["edge", "node", "node-rewired"])],
}
RELATIONS = {
    "unbounded": 6,
    "bounded": 6,
    "user": 4,
    "edge": 3,
    "node": 2,
    "node-rewired": 2,
    "near": 2,
    "euclidean": 6,
    "free-lunch": 1,
}
NOTIONS = [["pure"], ["zcdp"], ["gdp"], ["approx"], ["pure", "zcdp"], ["pure", "gdp", "zcdp"]]
PARAMETERS = {"pure": "epsilon", "approx": "epsilon", "zcdp": "rho", "gdp": "mu"}
BLOCKS = ["p", "q", "r", "s"]
TRIES = 12


def valid(spec: Spec) -> bool:
    """Whether a spec has a meaning."""
    try:
        resolve(load(json.dumps(spec), "wide"))
    except InvalidSpec:
        return False
    return True


def wide_spec(seed: int) -> Spec:
    """The spec of one seed: always the same."""
    rng = Random(seed)
    kind = rng.choice(["rows", "users", "users", "graph"])
    root, protected = rng.choice(ROOTS[kind])
    protect = rng.choice(protected)
    if isinstance(protect, str) and rng.random() < 0.2:
        protect = {"relation": protect, "distance": 2}
    spec: Spec = {
        "dpcompose": 1,
        "protect": protect,
        "datasets": {"root": root},
        "mechanisms": [],
    }
    within = {"users": "user", "graph": "edge"}.get(kind, "unbounded")
    spec["relations"] = {"near": {"within": within, "distance": 2}}
    if rng.random() < 0.2:
        spec["datasets"]["other"] = dict(root)
        spec["roots"] = rng.choice(["disjoint", "shared"])
        if spec["roots"] == "shared":
            del spec["roots"]
    places = list(spec["datasets"])
    for number in range(rng.randint(1, 4)):
        _derive(spec, places, f"d{number}", rng)
    notions = rng.choice(NOTIONS)
    for number in range(rng.randint(1, 4)):
        _release(spec, places, f"m{number}", notions, rng)
    if not spec["mechanisms"]:
        relation = protect["relation"] if isinstance(protect, dict) else protect
        only = {"name": "m", "reads": "root", "notion": "pure", "epsilon": 1}
        spec["mechanisms"] = [only if relation != "near" else {**only, "relation": within}]
    return spec


def _derive(spec: Spec, places: list[str], name: str, rng: Random) -> None:
    """Add a dataset that has a meaning, below a place drawn from the later ones."""
    for _ in range(TRIES):
        parent = places[max(rng.randrange(len(places)), rng.randrange(len(places)))]
        body = {"from": parent, **_made(rng)}
        tried = {**spec, "datasets": {**spec["datasets"], name: body}}
        read = _blocks(name, body)
        probe = {"name": "probe", "reads": read[-1], "notion": "pure", "epsilon": 1}
        if any(valid({**tried, "mechanisms": [{**probe, **said}]}) for said in _probes()):
            spec["datasets"][name] = body
            places += read
            return


def _probes() -> list[dict[str, Any]]:
    """Statements of which one has a meaning on every dataset."""
    return [{"relation": relation} for relation in ("free-lunch", "bounded", "edge", "euclidean")]


def _blocks(name: str, body: dict[str, Any]) -> list[str]:
    """What can be read of a dataset."""
    if "partition" not in body:
        return [name]
    partition = body["partition"]
    blocks = partition.get("blocks") or list(partition["kinds"])
    if isinstance(blocks, int):
        return [f"{name}.0", f"{name}.*"]
    if "kinds" in partition:
        blocks = list(dict.fromkeys(block for fed in partition["kinds"].values() for block in fed))
    return [f"{name}.{blocks[0]}", f"{name}.*"]


def _made(rng: Random) -> dict[str, Any]:
    """A map or a partition of any kind."""
    column = rng.choice(["c", "d", "u"])
    maps: list[Any] = [
        "filter",
        {"kind": "filter", "drops": True},
        {"kind": "row", "keeps": ["u", "c"]},
        {"kind": "flatten", "max_rows": rng.choice([2, 3, 40])},
        {"kind": "flatten", "max_rows": 2, "keeps": ["u"]},
        {"kind": "group", "by": column},
        {"kind": "limit", "per": column, "rows": 2, "keep": rng.choice(["first", "random"])},
        {"kind": "cap", "rows": rng.choice([2, 5]), "keep": rng.choice(["first", "random"])},
        {"kind": "cap", "rows": 3, "keep": "first"},
        {"kind": "stable", "stability": 2},
        {"kind": "value", "metric": "euclidean", "sensitivity": 2, "diameter": 9},
        {"kind": "value", "metric": "euclidean", "sensitivity": {"unbounded": 2, "bounded": 3}},
        "edges",
        "nodes",
        "edges",
        "opaque",
    ]
    blocks: Any = rng.choice([2, 3, BLOCKS[:3], BLOCKS])
    part: dict[str, Any] = rng.choice(
        [
            {"by": "value", "blocks": blocks},
            {"by": "key", "column": column, "blocks": blocks},
            {"by": "position", "blocks": blocks},
            {"by": "membership", "blocks": blocks, "max_blocks": 2},
            {"by": "kinds", "kinds": {"k": ["p", "q"], "l": ["q", "r"], "m": ["s"]}},
        ]
    )
    if rng.random() < 0.3:
        part["max_blocks_per_unit"] = 2
    if rng.random() < 0.3:
        part["max_rows_per_block"] = 2
    return {"map": rng.choice(maps)} if rng.random() < 0.6 else {"partition": part}


def _release(spec: Spec, places: list[str], name: str, notions: list[str], rng: Random) -> None:
    """Add a mechanism, with as many of a few statements as have a meaning."""
    for _ in range(TRIES):
        place = rng.choice([*places, *places[-3:]])
        said: list[dict[str, Any]] = []
        body: dict[str, Any] = {"name": name, "reads": place, "guarantees": said}
        if rng.random() < 0.15:
            body["count"] = rng.choice([2, 1000])
        for _ in range(rng.randint(3, 7)):
            said.append(_statement(spec, place, rng.choice(notions), rng))
            if not valid({**spec, "mechanisms": [*spec["mechanisms"], body]}):
                said.pop()
        if said:
            spec["mechanisms"].append(body)
            return


def _statement(spec: Spec, place: str, notion: str, rng: Random) -> dict[str, Any]:
    above = [place]
    while (parent := spec["datasets"][above[-1].partition(".")[0]].get("from")) is not None:
        above.append(parent)
    (relation,) = rng.choices(list(RELATIONS), list(RELATIONS.values()))
    body: dict[str, Any] = {"notion": notion, "relation": relation}
    blocks = spec["datasets"][place.partition(".")[0]].get("partition", {}).get("blocks")
    number = rng.choice(["1/3", "0", 1, 2]) if rng.random() < 0.2 else rng.randint(1, 15) / 10
    body[PARAMETERS[notion]] = number
    if place.endswith(".*") and isinstance(blocks, list) and rng.random() < 0.5:
        body[PARAMETERS[notion]] = {block: rng.randint(1, 15) / 10 for block in blocks}
    if notion == "approx":
        body["delta"] = rng.choice(["1e-6", "1/30000", "0"])
    if rng.random() < 0.4 and (where := rng.choice(above)) != place:
        body["stated_on"] = where
    return body
