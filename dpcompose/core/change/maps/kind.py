"""What a kind of map must answer: what a change becomes, what is known of its rows, how it is told.

Each kind has one file here, and one line in `dpcompose.core.change.maps`. Whoever needs to know
something of a map asks the map; a kind that leaves something out is no kind that can be made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from dpcompose.core.change.effects import Fate, TooMany, anything
from dpcompose.core.change.row_facts import Shape, Traits
from dpcompose.core.change.units import Kind, Leaf
from dpcompose.core.mechanisms.family import NUMBER, Need


class Gives(Enum):
    """What a map makes of one row, whatever the other rows are."""

    ONE = "at most one row"
    SEVERAL = "some rows"
    DEPENDS = "that depends on other rows, or on chance"


class Picks(Enum):
    """Which rows a map chooses among those that compete."""

    FIRST = "the first in a fixed order"
    ONE = "one, at random"
    RANDOM = "several, at random"
    SAMPLE = "each by chance, even where none competes"


class Conduct(NamedTuple):
    """How a map treats rows: what is decided without following a change.

    `may_drop`: a row may leave no trace. `drops`: declared, some possible row gives nothing.
    `grows`: one more row above removes none below. `random`: what the map is called where its
    result is drawn at random, else None. `determined`: two specs that declare it alike, under one
    name, speak of one and the same dataset. `several`: one row may give several rows. `picks`:
    which rows it chooses, None where it chooses none.
    """

    gives: Gives
    may_drop: bool
    drops: bool
    grows: bool
    random: str | None
    determined: bool
    several: bool
    picks: Picks | None


class Above(NamedTuple):
    """What a map is to read, as its author knows it; names stand between backquotes.

    `is_root`: it is `root`, its root, itself. `no_unit`: why its rows have no privacy unit, and
    what to do about it. `upwards`: it and what it is made from, each with its map (None: a root or
    a block), nearest first.
    """

    name: str
    traits: Traits
    root: str
    is_root: bool
    no_unit: Callable[[], tuple[str, str]]
    upwards: Callable[[], Iterator[tuple[str, Map | None]]]

    @property
    def public(self) -> str:
        """That rows cannot come or go, since their number is public."""
        return f"the size of {self.name} is public (Example III.4)"


class Refusal(NamedTuple):
    """Why a map has no meaning where it stands: the code, at which of its keys, and a way out."""

    code: str
    at: tuple[str, ...]
    says: str
    hint: str


class Contradiction(Exception):
    """Keys of a map that contradict each other, or are not enough: see `Refusal`.

    `of_key`: it is about the key itself, not about its value.
    """

    def __init__(self, why: Refusal, of_key: bool = True) -> None:
        super().__init__(why.says)
        self.why = why
        self.of_key = of_key


class Readers(NamedTuple):
    """Who reads a dataset or what is made from it: names, and the largest number of copies."""

    names: tuple[str, ...]
    copies: int


#: A sentence on what the author declares, and the key of the map that declares it.
Declared = tuple[str, tuple[str, ...]]


class Map(ABC):
    """A map from one dataset to another."""

    __slots__ = ()

    @abstractmethod
    def becomes(self, leaf: Leaf, traits: Traits) -> list[Fate] | TooMany:
        """Everything that one unit, of a known kind, may become; what is dominated is left out.

        `traits` are those of the dataset that the map reads.
        """

    def of_anything(self, leaf: Leaf) -> Fate:
        """What becomes of a change of which nothing is known."""
        return anything(leaf)

    @abstractmethod
    def traits_after(self, traits: Traits) -> Traits:
        """What is known of what it makes, from what is known of what it reads."""

    @abstractmethod
    def conduct(self) -> Conduct:
        """How it treats rows."""

    @abstractmethod
    def refused(self, above: Above) -> Iterator[Refusal]:
        """Why it has no meaning on what it is to read, which has the shape that it reads."""

    @abstractmethod
    def rows_needed(self, below: int) -> int:
        """How many rows it must read for what it makes to have so many."""

    @abstractmethod
    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        """What the author declares of `name`, the dataset that it makes, and nobody can check."""

    @abstractmethod
    def says(self) -> str:
        """What it is, in words: `a cap at the first 3 rows for each unit`."""


class RowByRow(Map):
    """A map that makes rows of each row by itself, and so has a meaning on every table."""

    __slots__ = ()

    def refused(self, above: Above) -> Iterator[Refusal]:
        """Never."""
        yield from ()


def row_by_row(gives: Gives, *, may_drop: bool, drops: bool) -> Conduct:
    """The conduct of a map that makes rows of each row by itself."""
    return Conduct(
        gives,
        may_drop,
        drops,
        grows=True,
        random=None,
        determined=True,
        several=gives is Gives.SEVERAL,
        picks=None,
    )


class Together(Map):
    """A map that makes something of all rows together."""

    __slots__ = ()

    def rows_needed(self, below: int) -> int:
        """None is known to be needed."""
        return 0


def together(
    *,
    may_drop: bool,
    random: str | None,
    determined: bool,
    several: bool = False,
    picks: Picks | None = None,
) -> Conduct:
    """The conduct of a map that makes something of all rows together."""
    return Conduct(Gives.DEPENDS, may_drop, False, False, random, determined, several, picks)


class OfGraph(Together):
    """A table made of a graph: what a graph is says all that there is to know of it."""

    __slots__ = ()

    def conduct(self) -> Conduct:
        """There are no rows above."""
        return together(may_drop=False, random=None, determined=True)

    def refused(self, above: Above) -> Iterator[Refusal]:
        """Never."""
        yield from ()

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        """Nothing."""
        yield from ()


def fates(made_by: Map, leaf: Leaf, traits: Traits) -> list[Fate] | TooMany:
    """Everything that one unit may become, without what something else in the list dominates."""
    if leaf.kind is Kind.ANY:
        return [made_by.of_anything(leaf)]
    return made_by.becomes(leaf, traits)


# ---------------------------------------------------------------------------------------------
# How a kind is written


class Sort(Enum):
    """What stands at a key of a map."""

    WHOLE = "a whole number"
    NAME = "a name"
    NAMES = "a list of names"
    FLAG = "true or false"
    CHOICE = "one of some words"
    NUMBER = "a number"
    MOVES = "a number, or one for rows added and one for rows replaced"


#: The default of a key that must be given.
REQUIRED = object()


@dataclass(frozen=True, slots=True, eq=False)
class MapKey:
    """A key of a map: its name, what stands there, what it means.

    `default`: REQUIRED, or what it is where it is left out. `choices`: the words of a choice.
    `need`: what numbers must be.
    """

    name: str
    sort: Sort
    says: str
    default: object = REQUIRED
    choices: tuple[str, ...] = ()
    need: Need = NUMBER


@dataclass(frozen=True, slots=True, eq=False)
class MapForm:
    """How a kind is written in a spec.

    `about`: what it is, in a sentence. `reads`: what it can read. `made`: the map, from what stands
    at each key, in their order (a number as a fraction, names as a set, moves as two numbers); it
    raises `Contradiction`. `elsewhere`: keys of other kinds that are easily taken for one of this
    kind, with why they are none.
    """

    name: str
    kind: type[Map]
    about: str
    reads: Shape
    keys: tuple[MapKey, ...]
    made: Callable[..., Map]
    elsewhere: tuple[tuple[str, str], ...] = ()

    def has(self, key: str) -> bool:
        """Whether it has a key."""
        return any(each.name == key for each in self.keys)


DROPS = MapKey(
    "drops", Sort.FLAG, "Declares that some row of the parent gives nothing to this dataset.", False
)
KEEPS = MapKey("keeps", Sort.NAMES, "Columns that every new row has as its source row.", ())
