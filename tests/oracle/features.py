"""Which features of the language a spec uses: the rows and columns of the matrix of pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MAPS = "filter row flatten group limit cap stable value edges nodes opaque".split()
RANDOM = ["random limit", "random cap"]
PARTITIONS = ["by value", "by key", "by position", "by membership", "by kinds"]
SAMPLES = ["poisson", "without replacement", "draws: one", "fresh copies"]
RELATIONS = "unbounded bounded user edge node node-rewired free-lunch declared".split()
PLACES = ["own statement", "above fixed maps", "above random maps"]
OTHERS = ["distance", "several statements", "count", "joint roots", "disjoint roots"]
NOTIONS = ["pure", "approx", "zcdp", "gdp"]
LAST = ["at δ", "total"]
#: Every feature, in the order of the matrix.
FEATURES = [*MAPS, *RANDOM, *PARTITIONS, *SAMPLES]
FEATURES += [f"protect {relation}" for relation in RELATIONS]
FEATURES += [*PLACES, *OTHERS, *NOTIONS, *LAST]


def used(specs: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """The features of one spec, or of several that are added up."""
    found = frozenset[str]().union(*map(features, specs))
    return found | {"total"} if len(specs) > 1 else found


def features(spec: Mapping[str, Any]) -> frozenset[str]:
    """The features that a spec uses in what its mechanisms read."""
    datasets = {name: dict(body or {}) for name, body in spec["datasets"].items()}
    found: set[str] = set()
    protect = spec["protect"]
    relation = protect["relation"] if isinstance(protect, dict) else protect
    found.add(f"protect {relation if relation in RELATIONS else 'declared'}")
    if isinstance(protect, dict) and protect.get("distance", 1) > 1:
        found.add("distance")
    if spec.get("report"):
        found.add("at δ")
    roots = set()
    for mechanism in spec["mechanisms"]:
        path = above(datasets, str(mechanism["reads"]))
        roots.add(path[-1])
        found |= {feature for name in path for feature in of_dataset(datasets[name])}
        if mechanism.get("count", 1) > 1:
            found.add("count")
            if any(_fresh(datasets[name]) for name in path):
                found.add("fresh copies")
        said = mechanism.get("guarantees", [mechanism])
        if len(said) > 1:
            found.add("several statements")
        for each in said:
            found.add(str(each["notion"]))
            where = str(each.get("stated_on", mechanism.get("stated_on", path[0])))
            between = path[: path.index(where.partition(".")[0])]
            random = any(_random(datasets[name]) for name in between)
            place = "above random maps" if random else "above fixed maps"
            found.add(place if between else "own statement")
    if len(roots) > 1:
        found.add("disjoint roots" if spec.get("roots") == "disjoint" else "joint roots")
    return frozenset(found)


def above(datasets: Mapping[str, Mapping[str, Any]], reads: str) -> list[str]:
    """The names of the dataset read and of all above it, up to the root."""
    path = [reads.partition(".")[0]]
    while "from" in datasets[path[-1]]:
        path.append(str(datasets[path[-1]]["from"]).partition(".")[0])
    return path


def kind_of(body: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The kind of a derived dataset, and what is said of it."""
    if "map" in body:
        how = body["map"]
        return (how, {}) if isinstance(how, str) else (str(how["kind"]), how)
    how = body.get("partition", {})
    return (f"by {how['by']}" if how else "", how)


def of_dataset(body: Mapping[str, Any]) -> set[str]:
    """The features of one dataset."""
    kind, how = kind_of(body)
    if kind == "sample":
        found = {"poisson" if "poisson" in how else "without replacement"}
        return found | ({"draws: one"} if how.get("draws") == "one" else set())
    if kind in ("limit", "cap") and how.get("keep") == "random":
        return {f"random {kind}"}
    return {kind} if kind else set()


def _random(body: Mapping[str, Any]) -> bool:
    kind, how = kind_of(body)
    return kind == "sample" or how.get("keep") == "random"


def _fresh(body: Mapping[str, Any]) -> bool:
    kind, how = kind_of(body)
    return kind == "sample" and how.get("draws") != "one"


GRAPHS = frozenset({"protect edge", "protect node", "protect node-rewired"})
ROWS = frozenset({"protect unbounded", "protect bounded", "protect user"})
#: Pairs that no spec with a bound can have, with the reason.
NEVER: list[tuple[frozenset[str], frozenset[str], str]] = [
    (
        frozenset(f"protect {relation}" for relation in RELATIONS),
        frozenset(f"protect {relation}" for relation in RELATIONS),
        "one relation is protected",
    ),
    (
        frozenset({"joint roots"}),
        frozenset({"disjoint roots"}),
        "roots hold the same people or they do not",
    ),
    (frozenset({"edges", "nodes"}), ROWS, "graphs have no rows to protect"),
    (GRAPHS, frozenset({"cap", "random cap"}), "a graph has no column of units"),
    (
        frozenset({"edges", "nodes"}),
        frozenset({"cap", "random cap"}),
        "a graph has no column of units",
    ),
    (
        GRAPHS | {"edges", "nodes"},
        frozenset({"by position"}),
        "tables made from graphs have no order",
    ),
    (
        frozenset({"without replacement"}),
        frozenset({"protect unbounded", "protect user"}),
        "tables of one public size have no such neighbours",
    ),
]


def never(one: str, other: str) -> str | None:
    """Why two features never occur together in a spec with a bound, if so."""
    for first, second, why in NEVER:
        if (one in first and other in second) or (one in second and other in first):
            return why
    return None
