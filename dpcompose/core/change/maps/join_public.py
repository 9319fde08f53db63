"""Joins with a public table: each row is repeated for each matching row of that table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dpcompose.core.change.kind_form import Declared, Form, excluded
from dpcompose.core.change.maps.flatten import EXACT, MAX_ROWS, SeveralRows
from dpcompose.core.change.maps.kind import DROPS, Readers, columns_named, uses
from dpcompose.core.numbers.form_keys import FormKey, Sort


@dataclass(frozen=True, slots=True)
class JoinPublic(SeveralRows):
    """A map that joins each row with several rows of a public table; new rows have all columns of
    both.

    `uses`: the columns that alone decide which rows of the public table match; None if the whole
    row may decide. `said_by`: the key that declares `uses`.
    """

    max_rows: int
    uses: frozenset[str] | None = None
    exact: bool = False
    drops: bool = False
    said_by: str = field(default="uses", compare=False)

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        yield f"`{name}` joins each row with {self.rows} of a public table", ("max_rows",)
        if self.uses is not None:
            named = columns_named(self.uses)
            says = f"which rows `{name}` joins a row with depends on its {named} alone"
            yield says, (self.said_by,)
        yield f"`{name}` leaves the columns and the order of rows as they are", ()

    def describe(self) -> str:
        return f"a join with {self.rows} of a public table for each row"


def _join_from_keys(
    column: str | None, uses: frozenset[str] | None, max_rows: int, exact: bool, drops: bool
) -> JoinPublic:
    """Returns the join that the keys of a map declare; `column` is short for `uses` of one column.

    Raises `Contradiction` if both are given, or `exact` and `drops`.
    """
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
