"""Assumptions of a report, with the reasons that the author gives in the spec (key `because`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpcompose.errors import Path
from dpcompose.report import Assumption
from dpcompose.report.assumptions import Fact
from dpcompose.source import Source

_KEY = "because"


def reason(source: Source, path: Path) -> str | None:
    """Returns the reason given nearest to `path` within its entry; None without any."""
    entry = source.at(path[:2])
    if not isinstance(entry, dict):
        return None
    # A dataset with a partition can have a reason in either of the two mappings.
    inner = entry.get(str(path[2])) if len(path) > 2 else entry.get("partition")
    for each in (inner, entry):
        text = each.get(_KEY) if isinstance(each, dict) else None
        if isinstance(text, str) and text.strip():
            return str(text)
    return None


def assumed(source: Source, facts: Iterable[Fact]) -> tuple[Assumption, ...]:
    """Returns the assumptions: facts with position and reason, then other entries with a reason.

    What a mechanism guarantees is no fact of its own, so it is listed only where it has a reason.
    """
    given = _KEY in source.lines.text
    found: list[Assumption] = []
    told: set[str | int] = set()  # names of the datasets that have a fact
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
    """Yields an assumption for each entry with a reason, except the datasets in `told`."""
    for name, path in _entries(source):
        why = None if path[0] == "datasets" and path[1] in told else reason(source, path)
        if why is not None:
            verb = "declared" if path[0] == "datasets" else "stated"
            says = f"`{name}` is as it is {verb}"
            yield Assumption(says, source.span(path), why, "reasons")


def _entries(source: Source) -> Iterator[tuple[str, Path]]:
    """Yields the name and path of every dataset and every mechanism of a valid spec."""
    datasets, mechanisms = source.at(("datasets",)), source.at(("mechanisms",))
    for name in datasets if isinstance(datasets, dict) else ():
        yield name, ("datasets", name)
    for number, entry in enumerate(mechanisms if isinstance(mechanisms, list) else ()):
        if isinstance(entry, dict):
            yield str(entry.get("name")), ("mechanisms", number)
