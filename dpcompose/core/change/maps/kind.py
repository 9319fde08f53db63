"""The interface of the kinds of maps: outcomes of changes, traits of rows, declarations.

Each kind has one file here, and one name in `dpcompose.core.change.maps`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from dpcompose.core.change.effects import MapOutcome, TooMany, anything
from dpcompose.core.change.kind_form import Declared, Refusal
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import NEW_END, OLD_END, ChangeUnit, Kind
from dpcompose.core.numbers.form_keys import FormKey, Sort
from dpcompose.curves.rounding import listing, plural


class Gives(Enum):
    """The number of rows that a map makes of one row, whatever the other rows are."""

    ONE = "at most one row"
    SEVERAL = "some rows"
    DEPENDS = "depends on other rows or on chance"


class RowSelection(Enum):
    """The way in which a map selects rows among those that compete."""

    FIRST = "the first in a fixed order"
    ONE = "one, at random"
    RANDOM = "several, at random"
    SAMPLE = "each by chance, even where none competes"


class MapTraits(NamedTuple):
    """How a map treats rows, whatever the change.

    `may_drop`: a row may leave no trace. `determined`: two specs that declare the map alike, under
    one name, mean the same dataset. `drops`: it is declared that some possible row gives nothing.
    `random`: the map's name in words if its result is drawn at random, else None. `several`: one
    row may give several rows. `picks`: how it selects rows, None if it does not. `by_key`: what it
    makes of the rows of one key depends on these rows alone, by a fixed rule.
    """

    may_drop: bool
    determined: bool
    gives: Gives = Gives.DEPENDS
    drops: bool = False
    random: str | None = None
    several: bool = False
    picks: RowSelection | None = None
    by_key: bool = False

    @property
    def local(self) -> bool:
        """Whether a row affects only what is made of itself, or of its key, by a fixed rule."""
        return self.by_key or self.gives is not Gives.DEPENDS


class Above(NamedTuple):
    """The dataset that a map is to read, with what errors about it must say; names are in
    backquotes.

    `is_root`: it is its root, `root`. `no_unit`: returns why its rows have no privacy unit, and a
    hint. `upwards`: yields it and its ancestors, each with its map (None: a root or a block),
    nearest first.
    """

    name: str
    traits: Traits
    root: str
    is_root: bool
    no_unit: Callable[[], tuple[str, str]]
    upwards: Callable[[], Iterator[tuple[str, Map | None]]]

    def too_few(self, key: str, rows: int) -> str | None:
        """Returns the message that it has fewer than `rows` rows, the value at `key`; None if it
        may have as many."""
        most = self.traits.most
        if most is None or rows <= most:
            return None
        has = "has" if self.traits.size is not None else "has at most"
        return f"`{key}` is {rows}, and {self.name} {has} {plural(most, 'row')}"

    @property
    def public(self) -> str:
        """Returns the clause that rows cannot be added or removed, since their number is public."""
        return f"the size of {self.name} is public (Example III.4)"


class Readers(NamedTuple):
    """The mechanisms that read a dataset or what is made from it, and their largest number of
    copies."""

    names: tuple[str, ...]
    copies: int


class Map(ABC):
    """A map from one dataset to another.

    A kind says what a change becomes, what is known of the rows made, how it treats rows, and its
    name; of all else it says what differs from a map of all rows that is valid on every dataset.
    """

    __slots__ = ()

    @abstractmethod
    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome] | TooMany:
        """Returns what one unit of change of the dataset read may become in the one made.

        Outcomes that others dominate are left out. `leaf`: the unit, of any kind but `ANY`;
        `traits`: those of the dataset that the map reads.
        """

    @abstractmethod
    def traits_after(self, traits: Traits) -> Traits:
        """Returns the traits of the dataset that the map makes, given those of the one that it
        reads."""

    @abstractmethod
    def conduct(self) -> MapTraits:
        """Returns how the map treats rows."""

    @abstractmethod
    def describe(self) -> str:
        """Returns the map in words: `a cap at the first 3 rows for each unit`."""

    def then(self, after: Map) -> Map | None:
        """Returns one map that does what this map and then `after` do, without a larger loss; None
        if none does."""
        return None

    def keeps_column(self, column: str) -> bool:
        """Returns whether every new row has the same value in the column as its source row."""
        return False

    def single_key(self) -> str | None:
        """Returns a column of whose values each has at most one row made, from its own rows alone;
        None if none."""
        return None

    def of_anything(self, leaf: ChangeUnit) -> MapOutcome:
        """Returns what an arbitrary change (`ANY`) of the dataset read becomes."""
        return anything(leaf)

    def refused(self, above: Above) -> Iterable[Refusal]:
        """Returns the errors of this map on the dataset `above`, which has the shape that the map
        reads."""
        return ()

    def rows_needed(self, below: int) -> int:
        """Returns how many rows the map must read at least to make `below` rows."""
        return 0

    def declares(self, name: str, readers: Readers) -> Iterable[Declared]:
        """Returns the declarations on `name`, the dataset made, that the author vouches for and
        nobody can check.

        `readers`: the mechanisms that read it.
        """
        return ()


class RowByRow(Map):
    """A map that makes rows of each row by itself: one of each, if the kind says nothing else."""

    __slots__ = ()

    def conduct(self) -> MapTraits:
        return MapTraits(may_drop=False, determined=True, gives=Gives.ONE)

    def rows_needed(self, below: int) -> int:
        return below


@dataclass(frozen=True, slots=True)
class AtOneKey(Map):
    """Row-by-row maps that keep a column, and then a map to one row for each value of it, as one
    map.

    All rows made of one row have its value in the column, and so are one change of the last map's
    table. All else is as of the last map.
    """

    maps: tuple[Map, ...]
    last: Map

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome] | TooMany:
        """Returns the outcomes under the last map; if one end of a replaced row may give nothing,
        also a row that comes or goes."""
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
        for each in (*self.maps, self.last):
            traits = each.traits_after(traits)
        return traits

    def conduct(self) -> MapTraits:
        return self.last.conduct()

    def declares(self, name: str, readers: Readers) -> Iterable[Declared]:
        return self.last.declares(name, readers)

    def describe(self) -> str:
        return self.last.describe()


def _units(found: list[MapOutcome] | TooMany) -> Iterator[ChangeUnit]:
    for units in [found.units] if isinstance(found, TooMany) else [each.units for each in found]:
        yield from (unit for unit, _ in units)


def fates(made_by: Map, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome] | TooMany:
    """Returns what one unit of change of any kind may become along a map, except what other
    outcomes dominate.

    `traits`: those of the dataset that the map reads.
    """
    if leaf.kind is Kind.ANY:
        return [made_by.of_anything(leaf)]
    return made_by.becomes(leaf, traits)


# --- keys of forms in a spec ----------------------------------------------------------------------

DROPS = FormKey(
    "drops",
    Sort.FLAG,
    "Declares that some row of the parent gives nothing to this dataset.",
    False,
    weaker=("absent",),
)
KEEPS = FormKey("keeps", Sort.COLUMNS, "Columns that every new row has as its source row.", ())


def uses(what: str) -> FormKey:
    """Returns the key of a spec for the only columns on which `what` depends."""
    says = f"The columns on which {what} depends alone."
    return FormKey("uses", Sort.COLUMNS, says, None, weaker=("absent",))


def declared_uses(what: str, columns: frozenset[str] | None) -> Iterator[Declared]:
    """Yields the declaration that `what` depends on `columns` alone; nothing if they are None."""
    if columns is not None:
        yield f"{what} depends on {columns_named(columns)} alone", ("uses",)


def columns_named(columns: frozenset[str]) -> str:
    """Returns the columns in words: `` `age` and `race` ``, or `no column`."""
    return listing(sorted(columns)) if columns else "no column"
