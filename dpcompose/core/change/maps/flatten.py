"""Flattens: several rows of each row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dpcompose.core.change.effects import (
    MapOutcome,
    TooMany,
    agrees,
    one,
    single,
    two_sided,
    user_rows,
    with_unit,
)
from dpcompose.core.change.kind_form import Contradiction, Declared, Form
from dpcompose.core.change.maps.kind import (
    DROPS,
    KEEPS,
    Gives,
    Map,
    MapTraits,
    Readers,
    RowByRow,
    columns_named,
    declared_uses,
    uses,
)
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import PAIR, ChangeUnit, Kind
from dpcompose.core.numbers.form_keys import FormKey, Sort
from dpcompose.curves.rounding import plural


class SeveralRows(RowByRow):
    """A map that makes at most (`exact`: exactly) `max_rows` rows of each row, in their order.

    `uses`: the only columns on which the number of new rows and their other columns depend; None:
    not declared. `drops`: it is declared that some possible row gives none.
    """

    __slots__ = ()
    max_rows: int
    exact: bool
    drops: bool
    uses: frozenset[str] | None

    def __post_init__(self) -> None:
        """Raises `Contradiction` if each row gives exactly so many rows, and some row none."""
        if self.exact and self.drops:
            says = "`exact: true` and `drops: true` contradict each other"
            hint = "if some row gives nothing, not every row gives `max_rows` rows: remove one"
            raise Contradiction("DPC105", "drops", says, hint)

    @property
    def keeps(self) -> frozenset[str] | None:
        """Returns the columns that each new row copies from its source row; None: all of them."""
        return None

    def keeps_column(self, column: str) -> bool:
        return self.keeps is None or column in self.keeps

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome] | TooMany:
        """Returns up to `max_rows` units of the same kind; of a replaced row each end gives rows.

        Both ends give as many if the number is exact or depends on columns that they agree in, and
        the same rows if these depend on nothing else.
        """
        if leaf.kind is Kind.PAIR:
            same = agrees(leaf, self.uses)
            if same and agrees(leaf, self.keeps):
                return [MapOutcome(())]
            pair = PAIR._replace(kept=tuple(filter(self.keeps_column, leaf.kept)))
            as_many = self.exact or same
            return [one(pair, self.max_rows)] if as_many else two_sided(self.max_rows, pair)
        if leaf.kind is Kind.USER:
            if traits.unit is None or not self.keeps_column(traits.unit):
                return [user_rows(leaf, self.max_rows)]
            return [with_unit(leaf, self.max_rows)]
        return [one(single(leaf), self.max_rows)]

    def traits_after(self, traits: Traits) -> Traits:
        """Returns the traits of rows in the order of their sources; their number is known if
        `exact`."""
        keeps_unit = traits.unit is not None and self.keeps_column(traits.unit)
        columns, others = traits.columns_of_new([*filter(self.keeps_column, traits.columns or ())])
        size = traits.size if self.exact else None
        return Traits(
            unit=traits.unit if keeps_unit else None,
            ordered=traits.ordered,
            fixed=traits.fixed and self.exact,
            size=None if size is None else size * self.max_rows,
            most=None if traits.most is None else traits.most * self.max_rows,
            columns=columns,
            others=others,
        )

    def conduct(self) -> MapTraits:
        return MapTraits(True, True, gives=Gives.SEVERAL, drops=self.drops, several=True)

    def rows_needed(self, below: int) -> int:
        """Returns the number of source rows for `below` rows if `exact`, else 0."""
        return -(-below // self.max_rows) if self.exact else 0

    @property
    def rows(self) -> str:
        """Returns `at most 3 rows` or `exactly 3 rows`."""
        return f"{'exactly' if self.exact else 'at most'} {plural(self.max_rows, 'row')}"


@dataclass(frozen=True, slots=True)
class Flatten(SeveralRows):
    """A map that makes several rows of each row, which copy the columns `keeps` from it."""

    max_rows: int
    exact: bool = False
    drops: bool = False
    keeps: frozenset[str] = frozenset()
    uses: frozenset[str] | None = None

    def then(self, after: Map) -> Map | None:
        """Returns one flatten in place of two in a row, to at most the product of their rows; None
        if there is none.

        Both must be `exact`, or neither, and have no `uses`.
        """
        if not isinstance(after, Flatten) or self.exact != after.exact:
            return None
        if self.uses is not None or after.uses is not None:
            return None
        rows = self.max_rows * after.max_rows
        return replace(self, max_rows=rows, keeps=self.keeps & after.keeps)

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        yield f"`{name}` makes {self.rows} of each row", ("max_rows",)
        yield from declared_uses(f"which rows `{name}` makes of a row", self.uses)

    def describe(self) -> str:
        of = "" if self.uses is None else f" of {columns_named(self.uses | self.keeps)}"
        return f"a flatten{of} to {self.rows} a row"


MAX_ROWS = FormKey("max_rows", Sort.WHOLE, "The most rows that one row gives.", weaker=("larger",))
EXACT = FormKey("exact", Sort.FLAG, "Every row gives exactly `max_rows` rows.", False)

FORM = Form(
    "flatten",
    Flatten,
    "Makes at most `max_rows` rows of each row.",
    (MAX_ROWS, EXACT, DROPS, KEEPS, uses("which rows a row gives, beside what they keep,")),
)
