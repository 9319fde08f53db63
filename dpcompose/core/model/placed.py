"""A statement as seen from the dataset that its mechanism reads."""

from __future__ import annotations

from typing import NamedTuple

from dpcompose.core.change.row_facts import Traits
from dpcompose.core.model.problem import Statement


class Placed(NamedTuple):
    """A statement, with how it applies to changes followed down to the dataset read.

    `level`: the index of its dataset in the levels of a state (the last: the dataset read).
    `padded`: a bounded statement also covers added rows there (the padding lemma). `usable`: False
    where a random map lies between, so that the mechanism's input is no function of that dataset.
    `by_edges`: the path from a graph goes through its table of edges, where edges can be counted.
    `counted`: the level at which the remaining rows of a unit may be counted in place of all; None
    for the dataset read. `one_end`: whether an end of a replaced row that does not reach the
    dataset read may be left out.
    """

    statement: Statement
    level: int
    traits: Traits
    padded: bool = False
    usable: bool = True
    by_edges: bool = False
    counted: int | None = None
    one_end: bool = True
