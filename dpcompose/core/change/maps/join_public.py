"""Joins with a public table: each row is repeated for each matching row of that table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

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
from dpcompose.core.change.kind_form import Declared, Form, excluded
from dpcompose.core.change.maps.flatten import (
    EXACT,
    MAX_ROWS,
    check_exact,
    many,
    several_of_each,
    sources_needed,
    traits_of_several,
)
from dpcompose.core.change.maps.kind import (
    DROPS,
    MapTraits,
    Readers,
    RowByRow,
    columns_named,
    uses,
)
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import PAIR, ChangeUnit, Kind
from dpcompose.core.mechanisms.family import FormKey, Sort


@dataclass(frozen=True, slots=True)
class JoinPublic(RowByRow):
    """Joins each row with at most (`exact`: exactly) `max_rows` rows of a public table.

    Every new row has all columns of its source. `uses`: the columns that alone decide which rows of
    the public table match; None if the whole row may decide. `said_by`: the key that declares
    `uses`.
    """

    max_rows: int
    uses: frozenset[str] | None = None
    exact: bool = False
    drops: bool = False
    said_by: str = field(default="uses", compare=False)

    def keeps_column(self, column: str) -> bool:
        """Returns True: all columns are kept."""
        return True

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome] | TooMany:
        """Returns up to `max_rows` units of the same kind; each end of a replaced row is joined.

        Both ends give as many rows if they agree in the columns `uses`.
        """
        if leaf.kind is Kind.PAIR:
            pair = PAIR._replace(kept=leaf.kept)
            as_many = self.exact or agrees(leaf, self.uses)
            return [one(pair, self.max_rows)] if as_many else two_sided(self.max_rows, pair)
        if leaf.kind is Kind.USER:
            if traits.unit is None:
                return [user_rows(leaf, self.max_rows)]
            return [with_unit(leaf, self.max_rows)]
        return [one(single(leaf), self.max_rows)]

    def traits_after(self, traits: Traits) -> Traits:
        """Returns the traits of rows in the order of their sources; their number is known if
        `exact`."""
        return traits_of_several(
            traits, traits.unit, traits.columns or (), self.max_rows, self.exact
        )

    def conduct(self) -> MapTraits:
        return several_of_each(self.drops)

    def rows_needed(self, below: int) -> int:
        """Returns the number of source rows for `below` rows if `exact`, else 0."""
        return sources_needed(below, self.max_rows, self.exact)

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        rows = many(self.max_rows, self.exact)
        yield f"`{name}` joins each row with {rows} of a public table", ("max_rows",)
        if self.uses is not None:
            named = columns_named(self.uses)
            says = f"which rows `{name}` joins a row with depends on its {named} alone"
            yield says, (self.said_by,)
        yield f"`{name}` leaves the columns and the order of rows as they are", ()

    def describe(self) -> str:
        return f"a join with {many(self.max_rows, self.exact)} of a public table for each row"


def _join_from_keys(
    column: str | None,
    uses: frozenset[str] | None,
    max_rows: int,
    exact: bool,
    drops: bool,
) -> JoinPublic:
    """Returns the join that the keys of a map declare; `column` is short for `uses` of one column.

    Raises `Contradiction` if both are given, or `exact` and `drops`.
    """
    check_exact(exact, drops)
    if column is None:
        return JoinPublic(max_rows, uses, exact, drops)
    if uses is not None:
        raise excluded("column", "uses", "uses", "`column: c` is short for `uses: [c]`")
    return JoinPublic(max_rows, frozenset({column}), exact, drops, "column")


FORM = Form(
    "join-public",
    JoinPublic,
    "Joins each row with at most `max_rows` rows of a public table; it keeps all its columns.",
    (
        FormKey(
            "column",
            Sort.COLUMN,
            "The column of the join, if it alone decides which rows a row is joined with.",
            None,
        ),
        uses("which rows a row is joined with"),
        MAX_ROWS,
        EXACT,
        DROPS,
    ),
    _join_from_keys,
    elsewhere=(("keeps", "a join keeps all columns"), ("on", "it is joined on its `column`")),
)
