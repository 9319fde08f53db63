"""The losses of the blocks, and of all other mechanisms, from the answers of the search."""

from __future__ import annotations

from collections.abc import Sequence

from dpcompose.core.change.units import Kind, all_leaves
from dpcompose.core.hypotheses.beliefs import Belief, Block, Question
from dpcompose.core.loss.algebra import Loss, LossAlgebra
from dpcompose.core.loss.walk import Answer
from dpcompose.core.model.problem import Dataset, Partition
from dpcompose.core.model.protected import initial
from dpcompose.core.model.tree import Place
from dpcompose.core.search.accountant import Accountant
from dpcompose.core.search.solver import Solution, Solver

#: The answers for one row added or removed, by the identity of their places.
Answers = dict[int, list[Answer]]


def questions(
    solver: Solver,
    solution: Solution,
    where: Sequence[Dataset],
    partition: Partition,
    classes: Sequence[tuple[int, int]],
    beliefs: tuple[Belief, Belief],
) -> list[Question]:
    """Returns the beliefs with the losses of the blocks; two questions if a loss has several (ε,
    δ).

    The first then has the least ε of each loss, the second the least δ. `where`: the datasets from
    the root to the one that `partition` splits. `classes`: for each class of blocks that the
    beliefs distinguish, the index of its class in the partition, and its number of blocks.
    `solution` must be finite, in pure or approximate DP.
    """
    accountant = solution.accountant
    answers, algebra = _answers(accountant), solution.algebra
    top = next(place for _, place in solver.tops if place.dataset is where[0])
    outside: list[Loss] = []
    if not solver.problem.roots_disjoint:  # the person's rows in other roots
        for root, place in solver.tops:
            if place is not top:
                state = initial(root, place, solver.problem.goal)
                outside.append(accountant.answer(place, state).loss)
    place = top
    for below in where[1:]:
        index = next(i for i, each in enumerate(place.derived) if each.dataset is below)
        outside += _beside(algebra, answers, place, index)
        place = place.derived[index]
    index = next(i for i, each in enumerate(place.dataset.partitions) if each is partition)
    outside += _beside(algebra, answers, place, len(place.derived) + index)
    blocks: list[Loss] = []
    for c, _ in classes:  # the loss of one block for one row in it
        found = [answer.loss for answer in answers[id(place.blocks[index][c])]]
        blocks.append(found[0] if len(found) == 1 else algebra.worst_case(found))
    counts = [count for _, count in classes]
    pairs = [algebra.pairs(loss) for loss in blocks]
    beside = algebra.pairs(algebra.add(outside))
    ends = [0, -1] if any(len(each) > 1 for each in (beside, *pairs)) else [0]
    return [
        Question(
            tuple(Block(*each[end], count) for each, count in zip(pairs, counts, strict=True)),
            *beliefs,
            beside[end],
        )
        for end in ends
    ]


def _answers(accountant: Accountant) -> Answers:
    """Returns the losses that the search found for one row added or removed, by the identity of
    their places."""
    found: Answers = {}
    for (identity, state), answer in accountant.answers().items():
        leaves = all_leaves(state)
        if sum(leaves.values()) == 1 and next(iter(leaves)).kind is Kind.SINGLE:
            found.setdefault(identity, []).append(answer)
    return found


def _beside(algebra: LossAlgebra, answers: Answers, place: Place, index: int) -> list[Loss]:
    """Returns the losses for one row at a place and below, without what is below one branch.

    `index`: the number of the branch, which is a map or a partition of the place's dataset.
    """
    found = [
        [*answer.own, *(c.loss for i, c in enumerate(answer.choices) if i != index)]
        for answer in answers[id(place)]
    ]
    if len(found) == 1:
        return found[0]
    return [algebra.worst_case(algebra.add(losses) for losses in found)]
