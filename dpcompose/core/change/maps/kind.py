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

from dpcompose.core.change.effects import MapOutcome, TooMany, anything
from dpcompose.core.change.kind_form import Declared, Form, Refusal
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import NEW_END, OLD_END, ChangeUnit, Kind
from dpcompose.core.mechanisms.family import FormKey, Sort
from dpcompose.curves.rounding import listing


class Gives(Enum):
    """How many rows a map makes of one row, whatever the other rows are."""

    ONE = "at most one row"
    SEVERAL = "some rows"
    DEPENDS = "that depends on other rows, or on chance"


class RowSelection(Enum):
    """Which rows a map chooses among those that compete."""

    FIRST = "the first in a fixed order"
    ONE = "one, at random"
    RANDOM = "several, at random"
    SAMPLE = "each by chance, even where none competes"


class MapTraits(NamedTuple):
    """How a map treats rows: what is decided without following a change.

    `may_drop`: a row may leave no trace. `drops`: declared, some possible row gives nothing.
    `random`: what the map is called where its result is drawn at random, else None. `determined`:
    two specs that declare it alike, under one name, speak of one and the same dataset. `several`:
    one row may give several rows. `picks`: which rows it chooses, None where it chooses none.
    """

    gives: Gives
    may_drop: bool
    drops: bool
    random: str | None
    determined: bool
    several: bool
    picks: RowSelection | None


class Above(NamedTuple):
    """The dataset that a map is to read, with what its author must know of it; names stand between
    backquotes.

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
        """Returns the sentence that rows cannot come or go, since their number is public."""
        return f"the size of {self.name} is public (Example III.4)"


class Readers(NamedTuple):
    """Who reads a dataset or what is made from it: names, and the largest number of copies."""

    names: tuple[str, ...]
    copies: int


class Map(ABC):
    """A map from one dataset to another."""

    __slots__ = ()

    @abstractmethod
    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome] | TooMany:
        """Returns what one unit becomes: everything that one unit, of a known kind, may become;
        what is dominated is left out.

        `traits` are those of the dataset that the map reads.
        """

    def then(self, after: Map) -> Map | None:
        """Returns two maps as one: the one map that does what this one does and then `after`, where
        there is one that loses no more."""
        return None

    def keeps_column(self, column: str) -> bool:
        """Whether every row that it makes has the column as the row that it is made of."""
        return False

    def single_key(self) -> str | None:
        """Returns the column of each of whose values it makes at most one row, of its rows
        alone."""
        return None

    def of_anything(self, leaf: ChangeUnit) -> MapOutcome:
        """Returns the outcome of a change of which nothing is known."""
        return anything(leaf)

    @abstractmethod
    def traits_after(self, traits: Traits) -> Traits:
        """Returns the traits of the output table, given those of the input."""

    @abstractmethod
    def conduct(self) -> MapTraits:
        """Returns the traits of the map: how it treats rows."""

    @abstractmethod
    def refused(self, above: Above) -> Iterator[Refusal]:
        """Yields why it has no meaning on what it is to read, which has the shape that it reads."""

    @abstractmethod
    def rows_needed(self, below: int) -> int:
        """Returns how many rows the table must have: how many rows it must read for what it makes
        to have so many."""

    @abstractmethod
    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        """Yields what the author declares: what the author declares of `name`, the dataset that it
        makes, and nobody can check."""

    @abstractmethod
    def describe(self) -> str:
        """Returns the map in words: `a cap at the first 3 rows for each unit`."""


class RowByRow(Map):
    """A map that makes rows of each row by itself, and so has a meaning on every table."""

    __slots__ = ()

    def refused(self, above: Above) -> Iterator[Refusal]:
        """Never."""
        yield from ()


def row_by_row(gives: Gives, *, may_drop: bool, drops: bool) -> MapTraits:
    """Returns the conduct of a map that makes rows of each row by itself."""
    return MapTraits(
        gives,
        may_drop,
        drops,
        random=None,
        determined=True,
        several=gives is Gives.SEVERAL,
        picks=None,
    )


class Together(Map):
    """A map that makes something of all rows together."""

    __slots__ = ()

    def rows_needed(self, below: int) -> int:
        """Returns how many rows the table must have: none is known to be needed."""
        return 0


def together(
    *,
    may_drop: bool,
    random: str | None,
    determined: bool,
    several: bool = False,
    picks: RowSelection | None = None,
) -> MapTraits:
    """Returns the conduct of a map that makes something of all rows together."""
    return MapTraits(Gives.DEPENDS, may_drop, False, random, determined, several, picks)


@dataclass(frozen=True, slots=True)
class AtOneKey(Together):
    """Maps of each row by itself that keep a column, and then one row for each of its values.

    All that is made of one row has the row's value, and so is one change of the last table.
    """

    maps: tuple[Map, ...]
    last: Map

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome] | TooMany:
        """Returns what one unit becomes: what the last map makes of it; the row of its value may
        also come or go where one end of a replaced row may give nothing."""
        found = self.last.becomes(leaf, traits)
        if leaf.kind is not Kind.PAIR or isinstance(found, TooMany):
            return found
        reached = {leaf}
        ends: list[MapOutcome] = []
        for each in self.maps:
            made = [fates(each, one, traits) for one in reached]
            reached = {unit for some in made for unit in _units(some)}
            if any(unit.kind is not Kind.PAIR for unit in reached):
                ends = [MapOutcome(((end, 1),)) for end in (OLD_END, NEW_END)]
            reached = {unit for unit in reached if unit.kind is Kind.PAIR}
            traits = each.traits_after(traits)
        return [*found, *ends] if reached or ends else [MapOutcome(())]

    def traits_after(self, traits: Traits) -> Traits:
        """Returns the traits of the output table: those after one map and the next."""
        for each in (*self.maps, self.last):
            traits = each.traits_after(traits)
        return traits

    def conduct(self) -> MapTraits:
        """Returns the traits of the map: that of the last map."""
        return self.last.conduct()

    def refused(self, above: Above) -> Iterator[Refusal]:
        """Never: each map has a meaning."""
        yield from ()

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        """Yields what the author declares: what the last map declares."""
        return self.last.declares(name, readers)

    def describe(self) -> str:
        """Returns the map in words."""
        return self.last.describe()


def _units(found: list[MapOutcome] | TooMany) -> Iterator[ChangeUnit]:
    for units in [found.units] if isinstance(found, TooMany) else [each.units for each in found]:
        yield from (unit for unit, _ in units)


class OfGraph(Together):
    """A table made of a graph: what a graph is says all that there is to know of it."""

    __slots__ = ()

    def conduct(self) -> MapTraits:
        """Returns the traits of the map: there are no rows above."""
        return together(may_drop=False, random=None, determined=True)

    def refused(self, above: Above) -> Iterator[Refusal]:
        """Never."""
        yield from ()

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        """Yields what the author declares: nothing."""
        yield from ()


def fates(made_by: Map, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome] | TooMany:
    """Everything that one unit may become, without what something else in the list dominates."""
    if leaf.kind is Kind.ANY:
        return [made_by.of_anything(leaf)]
    return made_by.becomes(leaf, traits)


# ---------------------------------------------------------------------------------------------
# How a kind is written


@dataclass(frozen=True, slots=True, eq=False)
class MapForm(Form[Map]):
    """How a kind of map is written."""


DROPS = FormKey(
    "drops", Sort.FLAG, "Declares that some row of the parent gives nothing to this dataset.", False
)
KEEPS = FormKey("keeps", Sort.COLUMNS, "Columns that every new row has as its source row.", ())


def uses(what: str) -> FormKey:
    """Returns the key that names the columns on which `what` depends alone."""
    return FormKey("uses", Sort.COLUMNS, f"The columns on which {what} depends alone.", None)


def declared_uses(what: str, columns: frozenset[str] | None) -> Iterator[Declared]:
    """Yields the declaration that something depends on such columns alone, if it is one."""
    if columns is not None:
        yield f"{what} depends on {columns_named(columns)} alone", ("uses",)


def columns_named(columns: frozenset[str]) -> str:
    """`` `age` and `race` ``, or `no column`."""
    return listing(sorted(columns)) if columns else "no column"
