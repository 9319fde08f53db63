"""Flattens: several rows of each row."""

from __future__ import annotations

from collections.abc import Collection, Iterator
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
from dpcompose.core.mechanisms.family import FormKey, Sort
from dpcompose.curves.rounding import plural


@dataclass(frozen=True, slots=True)
class Flatten(RowByRow):
    """Makes at most (`exact`: exactly) `max_rows` rows of each row.

    `keeps` names the columns that each new row copies from its source row. `uses`: the only columns
    on which the number of new rows and their other columns depend; None: not declared.
    """

    max_rows: int
    exact: bool = False
    drops: bool = False
    keeps: frozenset[str] = frozenset()
    uses: frozenset[str] | None = None

    def then(self, after: Map) -> Map | None:
        """Returns one flatten to the product of the rows, of flattens exact alike without `uses`;
        or None."""
        if not isinstance(after, Flatten) or self.exact != after.exact:
            return None
        if self.uses is not None or after.uses is not None:
            return None
        rows = self.max_rows * after.max_rows
        return replace(self, max_rows=rows, keeps=self.keeps & after.keeps)

    def keeps_column(self, column: str) -> bool:
        """Returns whether `keeps` names the column."""
        return column in self.keeps

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome] | TooMany:
        """Returns up to `max_rows` units of the same kind; of a replaced row each end gives rows.

        Both ends give as many if the number is exact or depends on columns that they agree in, and
        the same rows if these depend on nothing else.
        """
        if leaf.kind is Kind.PAIR:
            same = agrees(leaf, self.uses)
            if same and agrees(leaf, self.keeps):
                return [MapOutcome(())]
            pair = PAIR._replace(kept=tuple(each for each in leaf.kept if each in self.keeps))
            as_many = self.exact or same
            return [one(pair, self.max_rows)] if as_many else two_sided(self.max_rows, pair)
        if leaf.kind is Kind.USER:
            if traits.unit is None or traits.unit not in self.keeps:
                return [user_rows(leaf, self.max_rows)]
            return [with_unit(leaf, self.max_rows)]
        return [one(single(leaf), self.max_rows)]

    def traits_after(self, traits: Traits) -> Traits:
        """Returns the traits of rows in the order of their sources; their number is known if
        `exact`."""
        unit = traits.unit if traits.unit in self.keeps else None
        return traits_of_several(traits, unit, self.keeps, self.max_rows, self.exact)

    def conduct(self) -> MapTraits:
        return several_of_each(self.drops)

    def rows_needed(self, below: int) -> int:
        """Returns the number of source rows for `below` rows if `exact`, else 0."""
        return sources_needed(below, self.max_rows, self.exact)

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        yield f"`{name}` makes {many(self.max_rows, self.exact)} of each row", ("max_rows",)
        yield from declared_uses(f"which rows `{name}` makes of a row", self.uses)

    def describe(self) -> str:
        of = "" if self.uses is None else f" of {columns_named(self.uses | self.keeps)}"
        return f"a flatten{of} to {many(self.max_rows, self.exact)} a row"


def _flatten_from_keys(
    max_rows: int,
    exact: bool,
    drops: bool,
    keeps: frozenset[str],
    uses: frozenset[str] | None,
) -> Flatten:
    """Returns the flatten that the keys of a map declare; `Contradiction` for `exact` with
    `drops`."""
    check_exact(exact, drops)
    return Flatten(max_rows, exact, drops, keeps, uses)


def traits_of_several(
    traits: Traits, unit: str | None, keeps: Collection[str], rows: int, exact: bool
) -> Traits:
    """Returns the traits of at most (`exact`: exactly) `rows` rows for each source row, in their
    order."""
    columns, others = traits.columns_of_new(keeps)
    return Traits(
        unit=unit,
        ordered=traits.ordered,
        fixed=traits.fixed and exact,
        size=None if traits.size is None or not exact else traits.size * rows,
        most=None if traits.most is None else traits.most * rows,
        columns=columns,
        others=others,
    )


def several_of_each(drops: bool) -> MapTraits:
    """Returns the `conduct` of a map that makes several rows of each row by itself."""
    return MapTraits(may_drop=True, determined=True, gives=Gives.SEVERAL, drops=drops, several=True)


def sources_needed(below: int, rows: int, exact: bool) -> int:
    """Returns how many source rows `below` rows need; 0 unless each gives exactly `rows`."""
    return -(-below // rows) if exact else 0


def many(rows: int, exact: bool) -> str:
    """Returns `at most 3 rows` or `exactly 3 rows`."""
    return f"{'exactly' if exact else 'at most'} {plural(rows, 'row')}"


def check_exact(exact: bool, drops: bool) -> None:
    """Raises `Contradiction` if each row gives exactly so many rows, and some row none."""
    if exact and drops:
        says = "`exact: true` and `drops: true` contradict each other"
        hint = "if some row gives nothing, not every row gives `max_rows` rows: remove one"
        raise Contradiction("DPC105", "drops", says, hint)


MAX_ROWS = FormKey("max_rows", Sort.WHOLE, "The most rows that one row gives.")
EXACT = FormKey("exact", Sort.FLAG, "Every row gives exactly `max_rows` rows.", False)

FORM = Form(
    "flatten",
    Flatten,
    "Makes at most `max_rows` rows of each row.",
    (MAX_ROWS, EXACT, DROPS, KEEPS, uses("which rows a row gives, beside what they keep,")),
    _flatten_from_keys,
)
