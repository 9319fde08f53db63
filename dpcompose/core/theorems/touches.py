"""The checks of theorems on one charge of a derivation; each raises Refused or returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.units import Kind, State
from dpcompose.core.loss.cost import units_at
from dpcompose.core.model.placed import Placed
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Refused, Test


class ChargedStep(NamedTuple):
    """The charge of one mechanism for the change of its input.

    `notion`: that of the loss. `used`: the guarantees that give the loss; `steps`: for each unit of
    the change, the number of their steps (None: no number of them). `state`: the change of the
    dataset that the mechanism reads.
    """

    notion: Notion
    used: Sequence[Placed]
    steps: Sequence[int | None]
    state: State

    @property
    def first(self) -> Placed:
        """Returns the guarantee that is cited."""
        return self.used[0]


def reads_as(source: Notion, target: Notion) -> Test:
    """Returns the check that a guarantee stated in `source` is read as one in `target`."""

    def holds(touch: ChargedStep) -> None:
        stated = touch.first.statement.guarantee.notion
        if (stated, touch.notion) != (source, target):
            raise Refused(f"a guarantee of {stated.value} is read as one of {touch.notion.value}")

    return holds


def in_notion(notion: Notion) -> Test:
    """Returns the check that the loss is in a notion."""

    def holds(touch: ChargedStep) -> None:
        if touch.notion is not notion:
            raise Refused(f"the loss is one of {touch.notion.value}")

    return holds


def stated_above(touch: ChargedStep) -> None:
    """Refuses unless the guarantee is stated on an ancestor of the dataset read."""
    if not touch.first.statement.up:
        raise Refused("the guarantee is stated on the dataset that the mechanism reads")


def for_replaced_rows(touch: ChargedStep) -> None:
    """Refuses unless the guarantee is for one replaced row."""
    if touch.first.statement.relation.kind is not RelationKind.BOUNDED:
        raise Refused("the guarantee is not for replaced rows")


def picks_rows(touch: ChargedStep) -> None:
    """Refuses unless the mechanism reads only rows with certain values, not with all."""
    if not touch.first.padded:
        raise Refused("what is read is not the rows with certain values, others being dropped")


def rows_come_or_go(touch: ChargedStep) -> None:
    """Refuses if all units of change at the table of the statement are replaced rows."""
    level = touch.first.level
    units = (inner for item, _ in touch.state for inner, _ in units_at(item, level))
    if all(inner.leaf.kind is Kind.PAIR for inner in units):
        raise Refused("all rows that change are replaced ones")


def per_distance(touch: ChargedStep) -> None:
    """Refuses unless the guarantee is per unit of Euclidean distance."""
    if touch.first.statement.relation.kind is not RelationKind.EUCLIDEAN:
        raise Refused("the guarantee is for one step, not for a unit of distance")


def several_steps(touch: ChargedStep) -> None:
    """Refuses unless some unit of the change is more than one step of the guarantee."""
    if not any(steps and steps > 1 for steps in touch.steps):
        raise Refused("the change is one step of the guarantee")
