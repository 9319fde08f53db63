"""How often a sample is drawn, and how many releases depend on the outcome of one random map."""

from __future__ import annotations

from collections.abc import Iterator

from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.model.problem import Dataset

#: The most groups of equal draws of a sample; with more, counts are raised to the next one kept.
MOST_DRAWS = 20


def draws(child: Dataset, current: int | None) -> list[tuple[int | None, int]]:
    """Returns the draws of the sample `child` in groups of equal ones: (number of the draw, group
    size).

    Copy i of every mechanism reads draw i, so that a group ends where the copies of some mechanism
    end. `current`: below another sample, the number of its draw, with which this one is drawn.
    """
    assert isinstance(child.made_by, Sample)
    if child.made_by.shared or current is not None:
        return [(current, 1)]
    counts: set[int] = set()
    stack = [child]
    while stack:
        dataset = stack.pop()
        counts.update(mechanism.count for mechanism in dataset.mechanisms)
        stack.extend(dataset.derived)
        for partition in dataset.partitions:
            stack.extend(each.dataset for each in partition.classes)
    reached = lowest = sorted(counts) or [1]
    if len(reached) > MOST_DRAWS:
        # This counts more copies than there are, which is sound.
        kept = reached[:: -(-len(reached) // MOST_DRAWS)]
        reached = sorted({*kept, reached[-1]})
    return [
        (next(n for n in lowest if n > start), end - start)
        for start, end in zip([0, *reached], reached, strict=False)
    ]


class Releases:
    """Counts the releases that depend on a dataset, and stores the counts."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int | None], tuple[int, int]] = {}

    def read_once(self, child: Dataset, draw: int | None) -> bool:
        """Returns whether only one release depends on a random map, with a guarantee stated above
        the map.

        Several releases that share an outcome are not independent, so that their own guarantees do
        not cover them together. `child`: the dataset that the map makes. `draw`: below a sample
        that is drawn afresh for each copy, the number of the draw.
        """
        releases, furthest = self._count(child, draw)
        return releases == 1 and furthest > 0

    def furthest(self, dataset: Dataset) -> int:
        """Returns how far above a dataset any guarantee of a mechanism at or below it is stated, in
        levels."""
        return self._count(dataset, None)[1]

    def _count(self, top: Dataset, draw: int | None) -> tuple[int, int]:
        """Returns the number of releases at and below a dataset (2 for more), and the result of
        `furthest`.

        `draw`: see `read_once`.
        """
        stack = [top]
        while stack:
            dataset = stack[-1]
            below = list(_below(dataset))
            missing = [each for each, _ in below if (id(each), draw) not in self._known]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            found = [(self._known[id(each), draw], times) for each, times in below]
            releases = sum(n * times for (n, _), times in found)
            ups = [up - 1 for (n, up), _ in found if n]
            for mechanism in dataset.mechanisms:
                if draw is None or mechanism.count >= draw:
                    releases += mechanism.count if draw is None else 1
                    ups.extend(each.up for each in mechanism.statements)
            self._known[id(dataset), draw] = min(releases, 2), max(ups, default=0)
        return self._known[id(top), draw]


def _below(dataset: Dataset) -> Iterator[tuple[Dataset, int]]:
    """Yields the datasets made from a dataset, with how many there are of each."""
    for each in dataset.derived:
        yield each, 1
    for partition in dataset.partitions:
        for block in partition.classes:
            yield block.dataset, block.multiplicity
