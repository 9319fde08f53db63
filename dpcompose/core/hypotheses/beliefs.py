"""Beliefs of an adversary: sets of blocks that may hold one person's data, with weights.

An adversary distinguishes two beliefs, p0 and p1. The losses of the blocks are those of one row
added or removed; the loss of all other mechanisms that read the person's data (`beside`) is charged
whenever the person is in the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import nlargest
from itertools import combinations
from math import comb
from typing import Literal

from dpcompose.core.hypotheses.sums import MOST_BLOCKS, how_many
from dpcompose.curves.rounding import ZERO


@dataclass(frozen=True, slots=True)
class Block:
    """`count` equal blocks, each (ε, δ)-private for one row added or removed."""

    epsilon: Fraction
    delta: Fraction = ZERO
    count: int = 1


@dataclass(frozen=True, slots=True)
class Exactly:
    """One set of blocks, by their indices; each must have `count` 1."""

    blocks: frozenset[int]

    @property
    def high(self) -> int:
        """Returns the number of blocks of the set."""
        return len(self.blocks)


@dataclass(frozen=True, slots=True)
class Between:
    """Uniform over all sets of `low` to `high` blocks."""

    low: int
    high: int


Part = Exactly | Between


@dataclass(frozen=True, slots=True)
class Belief:
    """What an adversary believes about one person: a distribution over sets of blocks that hold the
    person's rows.

    `parts`: groups of sets with their weights, positive and of sum 1.
    """

    parts: tuple[tuple[Part, Fraction], ...]

    @property
    def point(self) -> frozenset[int] | None:
        """Returns the only possible set of blocks; None if there are several."""
        sets: set[frozenset[int] | None] = set()
        for part, _ in self.parts:
            if isinstance(part, Exactly):
                sets.add(part.blocks)
            else:
                sets.add(None if part.high else frozenset())
        return sets.pop() if len(sets) == 1 else None

    @property
    def present(self) -> bool:
        """Returns whether some possible set of blocks is not empty: the person may be present."""
        return any(part.high for part, _ in self.parts)


NONE = Belief(((Exactly(frozenset()), Fraction(1)),))


@dataclass(frozen=True, slots=True)
class Question:
    """Two beliefs, `first` and `second`, that an adversary tells apart, with the losses of the
    blocks.

    `beside`: the (ε, δ) of all mechanisms outside the blocks that read the person's data.
    """

    blocks: tuple[Block, ...]
    first: Belief
    second: Belief
    beside: tuple[Fraction, Fraction] = (ZERO, ZERO)

    @property
    def size(self) -> int:
        """Returns how many blocks there are."""
        return sum(block.count for block in self.blocks)


Rule = Literal[
    "point mass",
    "every outcome",
    "by size",
    "exact transport",
    "Algorithm 3",
    "nested sets",
    "through nobody",
    "samples of one half",
    "differential privacy",
]


@dataclass(frozen=True, slots=True)
class Found:
    """A certified (ε, δ) for distinguishing the two beliefs, in both directions.

    `attained`: some pure mechanisms, with no loss beside the blocks, have exactly this ε. `pairs`:
    the number of pairs of sets that were matched (couplings).
    """

    rule: Rule
    epsilon: Fraction
    delta: Fraction
    attained: bool = False
    pairs: int = 0


def sets_of(question: Question, belief: Belief, most: int) -> dict[frozenset[int], Fraction] | None:
    """Returns every set of blocks of a belief with its weight.

    None if there are more than `most` sets, or if equal blocks are merged.
    """
    found: dict[frozenset[int], Fraction] = {}
    for part, weight in belief.parts:
        if isinstance(part, Exactly):
            found[part.blocks] = found.get(part.blocks, ZERO) + weight
            continue
        if any(block.count != 1 for block in question.blocks):
            return None
        number = how_many(question.size, part.low, part.high) if question.size <= 64 else most + 1
        if number > most:
            return None
        for each in _subsets(question.size, part):
            found[each] = found.get(each, ZERO) + weight / number
    return found if len(found) <= most else None


def _subsets(size: int, part: Between) -> Iterator[frozenset[int]]:
    """Yields every set of `low` to `high` blocks out of `size`."""
    for j in range(part.low, part.high + 1):
        for each in combinations(range(size), j):
            yield frozenset(each)


def epsilon_of(blocks: Iterable[Block]) -> Fraction:
    """Returns the total ε of blocks."""
    return sum((block.epsilon * block.count for block in blocks), ZERO)


def delta_of(blocks: Iterable[Block]) -> Fraction:
    """Returns the total δ of blocks."""
    return sum((block.delta * block.count for block in blocks), ZERO)


def largest(blocks: Sequence[Block], many: int) -> Fraction:
    """Returns the sum of the `many` largest ε of the blocks."""
    left, total = many, ZERO
    for block in nlargest(many, blocks, key=lambda block: block.epsilon):
        taken = min(left, block.count)
        total += block.epsilon * taken
        left -= taken
    return total


def split_up(question: Question, most: int) -> Question:
    """Returns the question with equal blocks listed one by one, if there are at most `most`."""
    if question.size > most or all(block.count == 1 for block in question.blocks):
        return question
    blocks: list[Block] = []
    where: dict[int, int] = {}
    for index, block in enumerate(question.blocks):
        where[index] = len(blocks)
        blocks += [Block(block.epsilon, block.delta)] * block.count

    def with_new_indices(part: Part) -> Part:
        """Returns the part with its blocks renumbered by `where`; one of set sizes unchanged."""
        if isinstance(part, Between):
            return part
        return Exactly(frozenset(where[i] for i in part.blocks))

    first, second = (
        Belief(tuple((with_new_indices(part), weight) for part, weight in belief.parts))
        for belief in (question.first, question.second)
    )
    return Question(tuple(blocks), first, second, question.beside)


# ---------------------------------------------------------------------------------------------
# Equality as distributions, however they are written


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
