"""The checks of the theorems on an adversary's two hypotheses; each raises Refused or returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.model.problem import Problem
from dpcompose.core.theorem import Refused, check

if TYPE_CHECKING:
    from dpcompose.core.hypotheses.beliefs import Found, Question


class Asked(NamedTuple):
    """A bound against an adversary, with the problem and the two hypotheses that it is for."""

    problem: Problem
    question: Question
    found: Found


a_row = check(
    Asked,
    lambda it: (
        it.problem.goal.relation.kind is RelationKind.UNBOUNDED and it.problem.goal.distance == 1
    ),
    "the hypotheses are about one row added or removed, which is not protected",
)
nobody_first = check(
    Asked,
    lambda it: not (it.question.first.present and it.question.second.present),
    "neither hypothesis is that the person is in no block",
)
one_set = check(
    Asked,
    lambda it: {it.question.first.point, it.question.second.point} != {None},
    "both hypotheses hold several sets of blocks possible",
)


def all_sets(asked: Asked) -> None:
    """Refuses unless every hypothesis with the person is uniform over all non-empty sets."""
    from dpcompose.core.hypotheses.beliefs import Between

    question = asked.question
    everyone = Between(1, question.size)
    present = [side for side in (question.first, question.second) if side.present]
    if {part for side in present for part, _ in side.parts} != {everyone}:
        raise Refused("not all sets of blocks but the empty one are held possible, equally")


have_equal_losses = check(
    Asked,
    lambda it: len({(block.epsilon, block.delta) for block in it.question.blocks}) < 2,
    "the blocks do not all lose the same",
)
pure = check(Asked, lambda it: not it.found.delta, "some block has a δ")
pairs_each = check(
    Asked,
    lambda it: all(block.delta < 1 for block in it.question.blocks),
    "some block may give everything away",
)


def weighted(asked: Asked) -> None:
    """Refuses unless the weights of each hypothesis are positive and sum to 1."""
    for side in (asked.question.first, asked.question.second):
        weights = [weight for _, weight in side.parts]
        if min(weights) <= 0 or sum(weights) != 1:
            raise Refused("the weights of a hypothesis are not positive numbers that sum to 1")
