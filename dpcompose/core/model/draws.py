"""What is random besides noise: how often samples are drawn, and who depends on an outcome."""

from __future__ import annotations

from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.model.problem import Dataset

#: So many groups of equal draws of a sample are told apart; counts are raised to the next.
MOST_DRAWS = 20


def draws(child: Dataset, current: int | None) -> list[tuple[int | None, int]]:
    """The draws of a sample as (number of the draw, how many are alike).

    Copy i of every mechanism reads draw i, so that the draws change where some count is reached.
    `current`: below another sample, the number of its draw, with which this one is drawn.
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
        # More copies than there are: each count is raised to the next one kept.
        kept = reached[:: -(-len(reached) // MOST_DRAWS)]
        reached = sorted({*kept, reached[-1]})
    return [
        (next(n for n in lowest if n > start), end - start)
        for start, end in zip([0, *reached], reached, strict=False)
    ]


def read_once(child: Dataset, draw: int | None) -> bool:
    """Whether one release alone depends on an outcome of a random map, and has a statement above.

    Several that share an outcome are not independent, so that each by itself says nothing of both.
    `draw`: below a sample that is drawn afresh for each copy, the number of the draw.
    """
    releases = 0
    found = False
    stack = [(child, 1, 1)]
    while stack:
        dataset, depth, copies = stack.pop()
        for mechanism in dataset.mechanisms:
            if draw is None or mechanism.count >= draw:
                releases += copies * (mechanism.count if draw is None else 1)
                found = found or any(each.up >= depth for each in mechanism.statements)
        if releases > 1:
            return False
        stack.extend((each, depth + 1, copies) for each in dataset.derived)
        for partition in dataset.partitions:
            stack.extend(
                (each.dataset, depth + 1, copies * each.multiplicity) for each in partition.classes
            )
    return found
