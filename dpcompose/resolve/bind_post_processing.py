"""What is computed from released outputs alone: that its inputs exist and do not go in circles."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from dpcompose.core.model.problem import Derived
from dpcompose.errors import quoted
from dpcompose.faults import Faults


def check_post_processing(
    entries: Collection[Derived], known: Collection[str], faults: Faults
) -> None:
    """Reports inputs that are no mechanisms, and post-processing that uses its own output.

    `known`: the names of all mechanisms.
    """
    for entry in entries:
        for i, name in enumerate(entry.inputs):
            if name not in known:
                at = (*entry.path, "post_processes", i)
                message = f"unknown mechanism {quoted(name)}"
                faults.add("DPC130", at, message, wrong=name, legal=known)
    by_name = {entry.name: entry for entry in entries}
    for cycle in _cycles(by_name):
        around = " uses ".join(quoted(entry.name) for entry in [*cycle, cycle[0]])
        path = (*cycle[0].path, "post_processes")
        message = f"{quoted(cycle[0].name)} uses its own output: {around}"
        faults.add("DPC124", path, message, "outputs are used after they are released")


def _cycles(entries: Mapping[str, Derived]) -> Iterator[list[Derived]]:
    """Yields one cycle for each connected part of the graph that has a cycle; never recurses."""
    done: set[str] = set()
    for start in entries:
        trail: dict[str, Iterator[str]] = {}
        at: str | None = start if start not in done else None
        while at is not None:
            below = trail.setdefault(at, iter(entries[at].inputs))
            following = next((x for x in below if x in entries and x not in done), None)
            if following is None:
                done.add(at)
                trail.pop(at)
                at = next(reversed(trail), None)
            elif following in trail:
                names = list(trail)
                yield [entries[name] for name in names[names.index(following) :]]
                done.update(names)
                at = None
            else:
                at = following
