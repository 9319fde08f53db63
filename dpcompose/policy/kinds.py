"""The names under which settings forbid unchecked declarations of a spec (`forbid`), or ask for a
reason (`require-because`): disjoint blocks, a cap, a declared relation, and so on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from dpcompose.core.change.maps import MAPS
from dpcompose.core.change.partitions import PARTITIONS
from dpcompose.core.mechanisms import FORMS
from dpcompose.errors import Path
from dpcompose.report.assumptions import reason
from dpcompose.source import Source, Value
from dpcompose.spec.guarantees import NOTIONS

#: The first words of the kinds that have an entry of their own, where a `because:` can stand.
OF_ENTRIES = ("root", "graph", "map", "partition", "mechanism", "notion", "post-processing")

#: Keys of entries and maps that are kinds of their own, wherever they stand in an entry.
OF_KEYS = (
    "stated_on",
    "count",
    "sensitivity",
    "post_processes",
    "interactive",
    "joint",
    "max_rows_per_unit",
)
_INNER = ("guarantees", "map", "partition", "relation")  # what holds such keys as well


@cache
def kinds() -> tuple[str, ...]:
    """Returns every kind, and the patterns such as `map.*` for all kinds of a family."""
    families: dict[str, Iterable[str]] = {
        "map": MAPS,
        "partition": PARTITIONS,
        "mechanism": FORMS,
        "notion": NOTIONS,
    }
    return (
        *("root", "graph", "post-processing", "drops", "keeps", "changes", "uses"),
        *("roots.disjoint",),
        *("adversary", *OF_KEYS),
        *(f"{family}.{kind}" for family, members in families.items() for kind in ("*", *members)),
    )


class DeclaredThing(NamedTuple):
    """Something that a spec declares: its kinds, what to call it, its place, and why it is so."""

    kinds: tuple[str, ...]
    name: str
    path: Path
    because: str | None

    def is_of(self, wanted: tuple[str, ...]) -> str | None:
        """Returns the first of its kinds that is among `wanted`, if there is one."""
        for kind in self.kinds:
            if kind in wanted or f"{kind.split('.')[0]}.*" in wanted:
                return kind
        return None


def declarations(source: Source) -> Iterator[DeclaredThing]:
    """Yields what a valid spec declares, in the order of the language."""
    tree = source.value
    if not isinstance(tree, dict):
        return
    if tree.get("roots") is not None:
        yield DeclaredThing(("roots.disjoint",), "roots", ("roots",), None)
    protect = tree.get("protect")
    for key in ("keeps", "changes"):
        if isinstance(protect, dict) and protect.get(key):
            yield DeclaredThing(_as(key), "protect", ("protect",), None)
    of_adversary: tuple[Path, ...] = (("adversary",), ("budget", "adversary"))
    for path in of_adversary:
        if source.at(path) is not None:
            yield DeclaredThing(("adversary",), "adversary", path, None)
    datasets, mechanisms = tree.get("datasets"), tree.get("mechanisms")
    for name, entry in datasets.items() if isinstance(datasets, dict) else ():
        path = ("datasets", name)
        yield DeclaredThing(_of_dataset(entry), name, path, reason(source, path))
        yield from _of_keys(entry, name, path)
    for number, entry in enumerate(mechanisms if isinstance(mechanisms, list) else ()):
        if isinstance(entry, dict):
            path = ("mechanisms", number)
            name = str(entry.get("name"))
            yield DeclaredThing(_of_mechanism(entry), name, path, reason(source, path))
            yield from _of_keys(entry, name, path)


def _of_keys(entry: Value, name: str, path: Path) -> Iterator[DeclaredThing]:
    """Yields the keys of an entry, its map and its guarantees that are kinds of their own."""
    stack: list[tuple[Value, Path]] = [(entry, path)]
    while stack:
        each, at = stack.pop()
        if isinstance(each, list):
            stack += [(item, (*at, index)) for index, item in reversed([*enumerate(each)])]
        if not isinstance(each, dict):
            continue
        for key in (*OF_KEYS, "keeps", "changes", "uses"):
            if each.get(key) or (key == "uses" and key in each):
                yield DeclaredThing(_as(key), name, (*at, key), None)
        stack += [(each[key], (*at, key)) for key in _INNER if key in each]


def _as(key: str) -> tuple[str, ...]:
    """Returns the kinds of a key; `changes` is also of the kind `keeps`, for all other columns."""
    return (key, "keeps") if key == "changes" else (key,)


def _of_dataset(entry: Value) -> tuple[str, ...]:
    """Returns the kinds of a dataset."""
    if not isinstance(entry, dict):
        return ("root",)
    made, split = entry.get("map"), entry.get("partition")
    if made is not None:
        kind = made.get("kind") if isinstance(made, dict) else made
        inner, found = made, f"map.{kind}"
    elif split is not None:
        kind = split.get("by") if isinstance(split, dict) else split
        inner, found = split, f"partition.{kind}"
    else:
        return ("graph",) if entry.get("domain") == "graph" else ("root",)
    drops = isinstance(inner, dict) and inner.get("drops") is True
    return (found, "drops") if drops else (found,)


def _of_mechanism(entry: dict[str, Value]) -> tuple[str, ...]:
    """Returns the kinds of a mechanism."""
    if "post_processes" in entry:
        return ("post-processing",)
    if "mechanism" in entry:
        return (f"mechanism.{entry['mechanism']}",)
    several = entry.get("guarantees")
    stated = several if isinstance(several, list) else [entry]
    return tuple(f"notion.{each.get('notion')}" for each in stated if isinstance(each, dict))
