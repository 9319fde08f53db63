"""The checks of theorems on one charge of a derivation; each raises Refused or returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.units import Kind, State
from dpcompose.core.loss.cost import units_at
from dpcompose.core.model.placed import Placed
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Refused, Test, check


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
    return check(
        ChargedStep,
        lambda it: (it.first.statement.guarantee.notion, it.notion) == (source, target),
        "a guarantee of {0.first.statement.guarantee.notion.value} is read as one of "
        "{0.notion.value}",
    )


def in_notion(notion: Notion) -> Test:
    """Returns the check that the loss is in a notion."""
    return check(ChargedStep, lambda it: it.notion is notion, "the loss is one of {0.notion.value}")


stated_above = check(
    ChargedStep,
    lambda it: it.first.statement.up,
    "the guarantee is stated on the dataset that the mechanism reads",
)
for_replaced_rows = check(
    ChargedStep,
    lambda it: it.first.statement.relation.kind is RelationKind.BOUNDED,
    "the guarantee is not for replaced rows",
)
picks_rows = check(
    ChargedStep,
    lambda it: it.first.padded,
    "what is read is not the rows with certain values, others being dropped",
)


def rows_come_or_go(touch: ChargedStep) -> None:
    """Refuses if all units of change at the table of the statement are replaced rows."""
    level = touch.first.level
    units = (inner for item, _ in touch.state for inner, _ in units_at(item, level))
    if all(inner.leaf.kind is Kind.PAIR for inner in units):
        raise Refused("all rows that change are replaced ones")


per_distance = check(
    ChargedStep,
    lambda it: it.first.statement.relation.kind is RelationKind.EUCLIDEAN,
    "the guarantee is for one step, not for a unit of distance",
)
several_steps = check(
    ChargedStep,
    lambda it: any(steps and steps > 1 for steps in it.steps),
    "the change is one step of the guarantee",
)
