"""Which documents of a file are the same specs in another version of it, in whatever order.

A wrong pair may hide an increase: of two specs of which the first one gives away more now, and the
second one is gone, the first would seem to be the second with less. So only documents of the same
text, or of names that no other document has, are paired where their positions differ; what has no
partner then is new, or gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from dpcompose.errors import InvalidSpec
from dpcompose.source import Value, load

#: The positions of a document in the old and in the new version; None: it is not there.
Pair = tuple[int | None, int | None]

_MARKS = "---", "..."


class SpecNames(NamedTuple):
    """What a spec is called, and what it names."""

    population: str
    title: str
    datasets: frozenset[str]
    mechanisms: tuple[str, ...]


def names(tree: Value) -> SpecNames:
    """Returns the names in the tree of a spec, as far as they are there."""
    spec = tree if isinstance(tree, dict) else {}
    datasets, mechanisms = spec.get("datasets"), spec.get("mechanisms")
    listed = mechanisms if isinstance(mechanisms, list) else []
    return SpecNames(
        str(spec.get("population")),
        str(spec.get("title")),
        frozenset(datasets if isinstance(datasets, dict) else ()),
        tuple(sorted(str(each.get("name")) for each in listed if isinstance(each, dict))),
    )


#: What tells two specs of a file apart, the narrowest first; the last one is what they are about.
_KEYS: tuple[Callable[[SpecNames], Hashable], ...] = (
    lambda each: each,
    lambda each: each._replace(title=""),
    lambda each: (each.population, each.datasets),
)


def pairs(old: Sequence[bytes | str], new: Sequence[bytes | str]) -> list[Pair]:
    """Returns the documents of two versions of a file in pairs, by their positions: those of the
    new version in their order, then those that are gone.

    Documents of equal text are paired; then those of which both versions have one alone by its
    population, its datasets and its mechanisms; the others only where both have the same position,
    and, if others moved, the same population and datasets.
    """
    was, now = ([_text(each) for each in some] for some in (old, new))
    partner: dict[int, int] = {}  # of the new documents
    left = set(range(len(old)))

    def take(at: int, before: int) -> None:
        """Pairs two documents that have no partner yet."""
        if at not in partner and before in left:
            partner[at] = before
            left.remove(before)

    for at, text in enumerate(now[: len(was)]):
        if text == was[at]:
            take(at, at)
    there: dict[str, list[int]] = {}
    for before in sorted(left, reverse=True):
        there.setdefault(was[before], []).append(before)
    for at, text in enumerate(now):
        if at not in partner and there.get(text):
            take(at, there[text].pop())
    if left and len(partner) < len(new):
        known = [[_names(each) for each in some] for some in (old, new)]
        for key in _KEYS:
            for before, at in _alone(key, *known):
                take(at, before)
        moved = any(at != before for at, before in partner.items())
        for at, both in enumerate(zip(*known, strict=False)):
            if not moved or len({each and _KEYS[-1](each) for each in both}) == 1:
                take(at, at)
    found: list[Pair] = [(partner.get(at), at) for at in range(len(new))]
    return [*found, *((before, None) for before in sorted(left))]


def _alone(
    key: Callable[[SpecNames], Hashable],
    old: Sequence[SpecNames | None],
    new: Sequence[SpecNames | None],
) -> list[tuple[int, int]]:
    """Returns the positions of documents of which each version has one alone by a key."""
    keys = [[each and key(each) for each in some] for some in (old, new)]
    counts = [Counter(each) for each in keys]
    return [
        (keys[0].index(each), at)
        for at, each in enumerate(keys[1])
        if each is not None and counts[0][each] == counts[1][each] == 1
    ]


def _text(data: bytes | str) -> str:
    """Returns the text of a document without the marks and blanks around it."""
    text = data.decode("utf-8", "surrogateescape") if isinstance(data, bytes) else data
    text = text.strip()
    for mark in _MARKS:
        text = text.removeprefix(mark).removesuffix(mark).strip()
    return text


def _names(data: bytes | str) -> SpecNames | None:
    """Returns the names in a document; None where it cannot be read, or has none."""
    try:
        found = names(load(data, "").value)
    except InvalidSpec:
        return None
    return found if found.datasets else None
