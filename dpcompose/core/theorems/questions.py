"""The checks of the theorems on an adversary's two hypotheses; each raises Refused or returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.model.problem import Problem
from dpcompose.core.theorem import Refused

if TYPE_CHECKING:
    from dpcompose.core.hypotheses.beliefs import Found, Question


class Asked(NamedTuple):
    """A bound against an adversary, with the problem and the two hypotheses that it is for."""

    problem: Problem
    question: Question
    found: Found


def a_row(asked: Asked) -> None:
    """Refuses unless one row added or removed is protected."""
    goal = asked.problem.goal
    if goal.relation.kind is not RelationKind.UNBOUNDED or goal.distance != 1:
        raise Refused("the hypotheses are about one row added or removed, which is not protected")


def nobody_first(asked: Asked) -> None:
    """Refuses unless one hypothesis is the empty set of blocks, with certainty."""
    if all(side.present for side in (asked.question.first, asked.question.second)):
        raise Refused("neither hypothesis is that the person is in no block")


def one_set(asked: Asked) -> None:
    """Refuses unless one hypothesis is a single set of blocks."""
    if all(side.point is None for side in (asked.question.first, asked.question.second)):
        raise Refused("both hypotheses hold several sets of blocks possible")


def all_sets(asked: Asked) -> None:
    """Refuses unless every hypothesis with the person is uniform over all non-empty sets."""
    from dpcompose.core.hypotheses.beliefs import Between

    question = asked.question
    everyone = Between(1, question.size)
    present = [side for side in (question.first, question.second) if side.present]
    if {part for side in present for part, _ in side.parts} != {everyone}:
        raise Refused("not all sets of blocks but the empty one are held possible, equally")


def have_equal_losses(asked: Asked) -> None:
    """Refuses unless all blocks have the same (ε, δ)."""
    if len({(block.epsilon, block.delta) for block in asked.question.blocks}) > 1:
        raise Refused("the blocks do not all lose the same")


def pure(asked: Asked) -> None:
    """Refuses unless the bound has δ = 0."""
    if asked.found.delta:
        raise Refused("some block has a δ")


def pairs_each(asked: Asked) -> None:
    """Refuses unless every block is (ε, δ)-DP with δ below 1."""
    if any(block.delta >= 1 for block in asked.question.blocks):
        raise Refused("some block may give everything away")


def weighted(asked: Asked) -> None:
    """Refuses unless the weights of each hypothesis are positive and sum to 1."""
    for side in (asked.question.first, asked.question.second):
        weights = [weight for _, weight in side.parts]
        if min(weights) <= 0 or sum(weights) != 1:
            raise Refused("the weights of a hypothesis are not positive numbers that sum to 1")
