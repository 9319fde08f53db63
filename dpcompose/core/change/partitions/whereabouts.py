"""In which blocks of a partition one row can be: what all rules about blocks follow from.

Blocks go by the numbers of their classes. Every single way in which a row can be in them, and the
worst way at once, in numbers and in patterns, are derived in `core.partitions`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar


class _OfARow(ABC):
    """The blocks that one row can be in; a row put in its place can be in any of them as well.

    `stays`: a row put in its place is in the same blocks. `overlap`: blocks may have rows in
    common. `whole`: blocks come as whole sets, so that none can be left out, or taken for an equal
    one.
    """

    __slots__ = ()
    stays: ClassVar[bool] = False
    overlap: ClassVar[bool] = False
    whole: ClassVar[bool] = False

    @property
    @abstractmethod
    def most_blocks(self) -> int:
        """Returns in how many blocks a row is at most: in how many blocks it is at most, however
        many there are."""

    @abstractmethod
    def sets(self, blocks: Sequence[int]) -> Iterator[frozenset[int]]:
        """Every set of blocks in which it can be, by their places in a list of numbers."""


@dataclass(frozen=True, slots=True)
class Fixed(_OfARow):
    """A row is in exactly one block, and so is a row put in its place."""

    stays: ClassVar[bool] = True

    @property
    def most_blocks(self) -> int:
        """Returns in how many blocks a row is at most: one."""
        return 1

    def sets(self, blocks: Sequence[int]) -> Iterator[frozenset[int]]:
        """Each block by itself."""
        return (frozenset((place,)) for place in range(len(blocks)))


@dataclass(frozen=True, slots=True)
class InOne(_OfARow):
    """A row is in one block, or in none: the blocks are disjoint."""

    @property
    def most_blocks(self) -> int:
        """Returns in how many blocks a row is at most: one."""
        return 1

    def sets(self, blocks: Sequence[int]) -> Iterator[frozenset[int]]:
        """None, and each block by itself."""
        return _up_to(1, blocks)


@dataclass(frozen=True, slots=True)
class InSome(_OfARow):
    """A row is in any `limit` blocks or fewer."""

    overlap: ClassVar[bool] = True
    limit: int

    @property
    def most_blocks(self) -> int:
        """Returns in how many blocks a row is at most: the limit."""
        return self.limit

    def sets(self, blocks: Sequence[int]) -> Iterator[frozenset[int]]:
        """The small ones first."""
        return _up_to(self.limit, blocks)


@dataclass(frozen=True, slots=True)
class InSets(_OfARow):
    """A row is in all blocks of one of some sets."""

    overlap: ClassVar[bool] = True
    whole: ClassVar[bool] = True
    fed: tuple[tuple[int, ...], ...]

    @property
    def most_blocks(self) -> int:
        """Returns in how many blocks a row is at most: as many as the largest set has."""
        return max(map(len, self.fed), default=0)

    def sets(self, blocks: Sequence[int]) -> Iterator[frozenset[int]]:
        """Each set once."""
        place = {block: at for at, block in reversed(list(enumerate(blocks)))}
        return iter(dict.fromkeys(frozenset(place[i] for i in each) for each in self.fed))


#: All that there is: a rule for the worst way has an answer for each.
Whereabouts = Fixed | InOne | InSome | InSets


def in_one(uses: Collection[str] | None, kept: Collection[str]) -> Whereabouts:
    """Returns the whereabouts of rows in disjoint blocks, which `uses` alone decides (None: the
    whole row may).

    A row put in its place is in the same one where it agrees in all of these: `kept`.
    """
    return InOne() if uses is None or not set(uses).issubset(kept) else Fixed()


def _up_to(limit: int, blocks: Sequence[int]) -> Iterator[frozenset[int]]:
    return (
        frozenset(chosen)
        for size in range(min(limit, len(blocks)) + 1)
        for chosen in combinations(range(len(blocks)), size)
    )
