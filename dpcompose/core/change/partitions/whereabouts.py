"""The whereabouts of a row: the sets of blocks of a partition that one row can be in.

Blocks are given by the numbers of their classes. The worst way for one row to be in them is derived
in `core.partitions`, in numbers and in patterns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar


class _OfARow(ABC):
    """The sets of blocks that one row can be in; a row that replaces it can be in any of them as
    well.

    `stays`: a row that replaces it is in the same blocks. `overlap`: blocks may have rows in
    common. `whole`: a row is in all blocks of a set, so that no block can be left out, or exchanged
    for an equal one.
    """

    __slots__ = ()
    stays: ClassVar[bool] = False
    overlap: ClassVar[bool] = False
    whole: ClassVar[bool] = False

    @property
    @abstractmethod
    def most_blocks(self) -> int:
        """Returns the largest number of blocks that a row can be in, however many there are."""

    @abstractmethod
    def sets(self, blocks: Sequence[int]) -> Iterator[frozenset[int]]:
        """Returns every set of blocks that the row can be in, as indices into `blocks`."""


@dataclass(frozen=True, slots=True)
class Fixed(_OfARow):
    """A row is in exactly one block, and so is a row that replaces it."""

    stays: ClassVar[bool] = True

    @property
    def most_blocks(self) -> int:
        return 1

    def sets(self, blocks: Sequence[int]) -> Iterator[frozenset[int]]:
        return (frozenset((place,)) for place in range(len(blocks)))


@dataclass(frozen=True, slots=True)
class InOne(_OfARow):
    """A row is in one block, or in none: the blocks are disjoint."""

    @property
    def most_blocks(self) -> int:
        return 1

    def sets(self, blocks: Sequence[int]) -> Iterator[frozenset[int]]:
        return _up_to(1, blocks)


@dataclass(frozen=True, slots=True)
class InSome(_OfARow):
    """A row is in any `limit` blocks or fewer."""

    overlap: ClassVar[bool] = True
    limit: int

    @property
    def most_blocks(self) -> int:
        return self.limit

    def sets(self, blocks: Sequence[int]) -> Iterator[frozenset[int]]:
        return _up_to(self.limit, blocks)


@dataclass(frozen=True, slots=True)
class InSets(_OfARow):
    """A row is in all blocks of one of the sets `fed`."""

    overlap: ClassVar[bool] = True
    whole: ClassVar[bool] = True
    fed: tuple[tuple[int, ...], ...]

    @property
    def most_blocks(self) -> int:
        return max(map(len, self.fed), default=0)

    def sets(self, blocks: Sequence[int]) -> Iterator[frozenset[int]]:
        place = {block: at for at, block in reversed(list(enumerate(blocks)))}
        return iter(dict.fromkeys(frozenset(place[i] for i in each) for each in self.fed))


#: All cases: a rule for the worst way handles each of them.
Whereabouts = Fixed | InOne | InSome | InSets


def in_one(uses: Collection[str] | None, kept: Collection[str]) -> Whereabouts:
    """Returns the whereabouts of a row in disjoint blocks that depend on the columns `uses` alone.

    `uses` None: they may depend on the whole row. A row that replaces another is in the same block
    if it agrees with it in all of `uses`; `kept`: the columns in which it agrees.
    """
    return InOne() if uses is None or not set(uses).issubset(kept) else Fixed()


def _up_to(limit: int, blocks: Sequence[int]) -> Iterator[frozenset[int]]:
    """Yields the sets of at most `limit` indices into `blocks`, the small ones first."""
    return (
        frozenset(chosen)
        for size in range(min(limit, len(blocks)) + 1)
        for chosen in combinations(range(len(blocks)), size)
    )
