"""What one protected change, or several, do to all roots together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.units import State
from dpcompose.core.loss.algebras import Loss, Scalars
from dpcompose.core.loss.pattern_algebra import Algebra
from dpcompose.core.loss.walk import Walk
from dpcompose.core.model.problem import Problem, Root
from dpcompose.core.model.protected import initial
from dpcompose.core.model.tree import Place

#: Up to so many protected steps are shared out among disjoint roots; more are charged to each.
MOST_SHARED = 64

#: A root with the change in it that is shown, and its loss.
Shown = tuple[Place, State, Loss]


def joint(problem: Problem, tops: Sequence[tuple[Root, Place]], algebra: Algebra) -> Walk:
    """The worst loss over all roots together, and what happens in each.

    Of roots that are apart one step changes one, and several steps are shared out. What is not one
    step of one person (a free-lunch or a declared step) may change all.
    """
    goal = problem.goal
    answers: list[Shown] = []
    for root, top in tops:
        state = initial(root, top, goal)
        loss = yield (top, state)
        answers.append((top, state, loss))
    whole = goal.relation.kind in (RelationKind.FREE_LUNCH, RelationKind.DECLARED)
    groups = [] if whole else [sorted(each) for each in problem.apart if len(each) > 1]
    alone = sorted(set(range(len(answers))).difference(*groups))
    losses = [answers[i][2] for i in alone]
    shown = [answers[i] for i in alone]
    for group in groups:
        loss, found = yield from _shared_out(
            problem, [tops[i] for i in group], algebra, [answers[i] for i in group]
        )
        losses.append(loss)
        shown += found
    return losses[0] if len(losses) == 1 else algebra.add(losses), shown


def _shared_out(
    problem: Problem,
    tops: Sequence[tuple[Root, Place]],
    algebra: Algebra,
    answers: Sequence[Shown],
) -> Walk:
    """The worst that the protected steps do to roots of which nobody is in two."""
    goal = problem.goal
    if goal.distance == 1:
        loss = algebra.worst(each[2] for each in answers)
        return loss, [max(answers, key=lambda each: algebra.key(each[2]))]
    if goal.distance > MOST_SHARED or not isinstance(algebra, Scalars):
        return algebra.add(each[2] for each in answers), list(answers)
    best: list[tuple[Loss, tuple[int, ...]]] = [(algebra.zero, ())] * (goal.distance + 1)
    by_steps: list[list[Shown]] = []
    for root, top in tops:
        row: list[Shown] = []
        for steps in range(1, goal.distance + 1):
            state = initial(root, top, replace(goal, distance=steps))
            loss = yield (top, state)
            row.append((top, state, loss))
        by_steps.append(row)
        columns = [algebra.zero, *(each[2] for each in row)]
        best = [
            max(
                (best[total - steps][0] + columns[steps], (*best[total - steps][1], steps))
                for steps in range(total + 1)
            )
            for total in range(goal.distance + 1)
        ]
    loss, taken = best[goal.distance]
    return loss, [row[n - 1] for row, n in zip(by_steps, taken, strict=True) if n]
