"""Equality of two beliefs as distributions, however they are written."""

from __future__ import annotations

from fractions import Fraction
from math import comb

from dpcompose.core.hypotheses.beliefs import Belief, Exactly
from dpcompose.core.hypotheses.sums import MOST_BLOCKS, how_many
from dpcompose.curves.rounding import ZERO

#: The most sizes whose sets are counted. With more, no weight that fits in a spec can be equal.
_MOST_SIZES = 2000
#: Of more blocks than this, there are more sets of three than a hypothesis can name.
_FEW = 100


def equal(one: Belief, other: Belief, size: int) -> bool:
    """Returns whether both beliefs give every set out of `size` blocks the same weight.

    Each size has one weight for all sets that no part names; the weight of a named set is added to
    it.
    """
    by_size: dict[tuple[int, int], Fraction] = {}
    named: dict[frozenset[int], Fraction] = {}
    for sign, belief in ((1, one), (-1, other)):
        for part, weight in belief.parts:
            if isinstance(part, Exactly):
                named[part.blocks] = named.get(part.blocks, ZERO) + sign * weight
            else:
                key = part.low, part.high
                by_size[key] = by_size.get(key, ZERO) + sign * weight
    steps: dict[int, Fraction] = {}  # by how much the weight of a set grows at a size
    for (low, high), weight in by_size.items():
        if not weight:
            continue
        if not _countable(size, low, high):
            return False
        each = weight / how_many(size, low, high)
        steps[low] = steps.get(low, ZERO) + each
        steps[high + 1] = steps.get(high + 1, ZERO) - each
    return _nothing_left(steps, named, size)


def _countable(size: int, low: int, high: int) -> bool:
    """Returns whether the sets of `low` to `high` blocks out of `size` can be counted."""
    inside = high - low + 1
    if inside <= _MOST_SIZES:
        return True
    return size + 1 - inside <= _MOST_SIZES and size <= MOST_BLOCKS


def _nothing_left(
    steps: dict[int, Fraction], named: dict[frozenset[int], Fraction], size: int
) -> bool:
    """Returns whether the weights by size and of named sets add up to 0 for every set.

    `steps`: the increase of the weight of unnamed sets at each size.
    """
    sets: dict[int, list[Fraction]] = {}
    for blocks, weight in named.items():
        sets.setdefault(len(blocks), []).append(weight)
    level, start = ZERO, 0
    for at in sorted({*steps, size + 1}):
        if level and at - start > len(sets):
            return False  # no set of some size is named
        counts = range(start, at) if level else [each for each in sets if start <= each < at]
        for count in counts:
            weights = sets.get(count, [])
            if any(level + weight for weight in weights):
                return False
            if level and not _are_all(weights, size, count):
                return False
        level, start = level + steps.get(at, ZERO), at
    return True


def _are_all(weights: list[Fraction], size: int, count: int) -> bool:
    """Returns whether there are as many weights as sets of `count` blocks out of `size`."""
    if not weights or (min(count, size - count) > 2 and size > _FEW):
        return False
    return len(weights) == comb(size, count)
