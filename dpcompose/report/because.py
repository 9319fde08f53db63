"""Why the author of a spec says that what it declares is true: the key `because`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpcompose.errors import Path
from dpcompose.report import Assumption
from dpcompose.report.assumptions import Fact
from dpcompose.source import Source

_KEY = "because"


def reason(source: Source, path: Path) -> str | None:
    """Returns the reason given nearest to `path`, in the entry that it belongs to; None without
    any."""
    entry = source.at(path[:2])
    if not isinstance(entry, dict):
        return None
    # Of an entry with a partition, each of the two can hold it.
    inner = entry.get(str(path[2])) if len(path) > 2 else entry.get("partition")
    for each in (inner, entry):
        text = each.get(_KEY) if isinstance(each, dict) else None
        if isinstance(text, str) and text.strip():
            return str(text)
    return None


def assumed(source: Source, facts: Iterable[Fact]) -> tuple[Assumption, ...]:
    """`facts`, each with its place and the reason given there; then all other entries with one.

    What a mechanism guarantees is no fact of its own, so it is listed where it has a reason.
    """
    given = _KEY in source.lines.text
    found: list[Assumption] = []
    told: set[str | int] = set()  # datasets with a fact
    for says, path, shortly in facts:
        why = None
        if given and path and path[0] == "datasets":
            told.add(path[1])
            why = reason(source, path)
        span = None if path is None else source.span(path)
        found.append(Assumption(says, span, why, str(path[0]) if path else "", shortly))
    if given:
        found += _others(source, told)
    return tuple(found)


def _others(source: Source, told: set[str | int]) -> Iterator[Assumption]:
    for name, path in _entries(source):
        why = None if path[0] == "datasets" and path[1] in told else reason(source, path)
        if why is not None:
            verb = "declared" if path[0] == "datasets" else "stated"
            says = f"`{name}` is as it is {verb}"
            yield Assumption(says, source.span(path), why, "reasons")


def _entries(source: Source) -> Iterator[tuple[str, Path]]:
    """Every dataset and every mechanism of a valid spec."""
    datasets, mechanisms = source.at(("datasets",)), source.at(("mechanisms",))
    for name in datasets if isinstance(datasets, dict) else ():
        yield name, ("datasets", name)
    for number, entry in enumerate(mechanisms if isinstance(mechanisms, list) else ()):
        if isinstance(entry, dict):
            yield str(entry.get("name")), ("mechanisms", number)
