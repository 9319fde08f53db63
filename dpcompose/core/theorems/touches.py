"""The theorems on one step of a derivation: what a guarantee says of a change that is felt."""

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
    """A mechanism that feels a change.

    `notion`: in which its loss is asked for. `used`: its guarantees that give the loss, `steps`:
    how many steps of theirs each unit of the change is (None: no number of them). `state`: the
    change of what it reads.
    """

    notion: Notion
    used: Sequence[Placed]
    steps: Sequence[int | None]
    state: State

    @property
    def first(self) -> Placed:
        """Returns the guarantee that is told."""
        return self.used[0]


def reads_as(source: Notion, target: Notion) -> Test:
    """Returns the test that a guarantee of one notion is read as one of another."""

    def holds(touch: ChargedStep) -> None:
        stated = touch.first.statement.guarantee.notion
        if (stated, touch.notion) != (source, target):
            raise Refused(f"a guarantee of {stated.value} is read as one of {touch.notion.value}")

    return holds


def in_notion(notion: Notion) -> Test:
    """Returns the test that the loss is asked for in a notion."""

    def holds(touch: ChargedStep) -> None:
        if touch.notion is not notion:
            raise Refused(f"the loss is one of {touch.notion.value}")

    return holds


def stated_above(touch: ChargedStep) -> None:
    """The guarantee is stated on what the input is made from."""
    if not touch.first.statement.up:
        raise Refused("the guarantee is stated on the dataset that the mechanism reads")


def for_replaced_rows(touch: ChargedStep) -> None:
    """The guarantee is for one replaced row."""
    if touch.first.statement.relation.kind is not RelationKind.BOUNDED:
        raise Refused("the guarantee is not for replaced rows")


def picks_rows(touch: ChargedStep) -> None:
    """What is read is some of the rows of the table of the statement, and never all values."""
    if not touch.first.padded:
        raise Refused("what is read is not the rows with certain values, others being dropped")


def rows_come_or_go(touch: ChargedStep) -> None:
    """Some unit of the change is no replaced row, at the table of the statement."""
    level = touch.first.level
    units = (inner for item, _ in touch.state for inner, _ in units_at(item, level))
    if all(inner.leaf.kind is Kind.PAIR for inner in units):
        raise Refused("all rows that change are replaced ones")


def per_distance(touch: ChargedStep) -> None:
    """The guarantee is per unit of Euclidean distance."""
    if touch.first.statement.relation.kind is not RelationKind.EUCLIDEAN:
        raise Refused("the guarantee is for one step, not for a unit of distance")


def several_steps(touch: ChargedStep) -> None:
    """Some unit of the change is more than one step of the guarantee."""
    if not any(steps and steps > 1 for steps in touch.steps):
        raise Refused("the change is one step of the guarantee")
