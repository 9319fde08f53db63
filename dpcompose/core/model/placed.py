"""A stated guarantee as it applies to the dataset that its mechanism reads."""

from __future__ import annotations

from typing import NamedTuple

from dpcompose.core.change.row_facts import Traits
from dpcompose.core.model.problem import Statement


class Placed(NamedTuple):
    """A stated guarantee, with how it applies to changes followed down to the dataset that is read.

    `level`: the position of the dataset on which it is stated in the levels of a change (the last:
    the dataset read); `traits`: those of that dataset. `padded`: a guarantee for replaced rows also
    covers added rows there (the padding lemma). `usable`: False where a random map lies between, so
    that the mechanism's input is no function of that dataset. `by_edges`: the path from a graph
    goes through its table of edges, where edges can be counted. `counted`: the level at which the
    remaining rows of a unit may be counted in place of all; None for the dataset read. `one_end`:
    whether the old or the new row of a replacement may be left out if it does not reach the dataset
    read. `halves`: the guarantee speaks of the table with neither row of a replacement, and what
    each of the two rows does to the dataset read does not depend on the other (see `cost.halves`).
    """

    statement: Statement
    level: int
    traits: Traits
    padded: bool = False
    usable: bool = True
    by_edges: bool = False
    counted: int | None = None
    one_end: bool = True
    halves: bool = False
