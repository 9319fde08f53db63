"""What one protected change, or several, do to all roots together."""

from __future__ import annotations

from collections.abc import Sequence

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.units import State
from dpcompose.core.loss.algebras import Loss, Scalars
from dpcompose.core.loss.pattern_algebra import Algebra
from dpcompose.core.loss.walk import Walk
from dpcompose.core.model.problem import Goal, Problem, Root
from dpcompose.core.model.protected import initial
from dpcompose.core.model.tree import STEP, Place

#: Up to so many protected steps are shared out among disjoint roots; more are charged to each.
MOST_SHARED = 64
#: Losses that are not one number are added up in so many ways.
MOST_WAYS = 500

#: A root with the change in it that is shown, and its loss.
Shown = tuple[Place, State, Loss]
_Way = tuple[Loss, tuple[int, ...]]


def joint(problem: Problem, tops: Sequence[tuple[Root, Place]], algebra: Algebra) -> Walk:
    """The worst loss over all roots together, and what happens in each.

    Of roots that are apart one step changes one, and several steps are shared out, those that a
    declared step is made of as well. What is not made of steps of one person may change all.
    """
    goal = problem.goal
    answers: list[Shown] = []
    for root, top in tops:
        state = initial(root, top, goal)
        loss = yield (top, state)
        answers.append((top, state, loss))
    steps = shared_steps(goal, [top for _, top in tops])
    groups = [] if steps is None else [sorted(each) for each in problem.apart if len(each) > 1]
    alone = sorted(set(range(len(answers))).difference(*groups))
    losses = [answers[i][2] for i in alone]
    shown = [answers[i] for i in alone]
    for group in groups:
        assert steps is not None
        loss, found = yield from _shared_out(
            goal, steps, [tops[i] for i in group], algebra, [answers[i] for i in group]
        )
        losses.append(loss)
        shown += found
    return losses[0] if len(losses) == 1 else algebra.add(losses), shown


def shared_steps(goal: Goal, tops: Sequence[Place]) -> int | None:
    """How many steps, each in one of the roots that are apart, the protected change is made of.

    None where one step may change all of them, or where it is several steps of a declared relation
    of which some statement speaks: which of those reach a root is not followed.
    """
    relation = goal.relation
    if relation.kind is not RelationKind.DECLARED:
        return None if relation.kind is RelationKind.FREE_LUNCH else goal.distance
    within = relation.within
    if within is None or within.kind is RelationKind.FREE_LUNCH:
        return None
    if goal.distance > 1 and any(STEP in top.levels for top in tops):
        return None
    return goal.distance * relation.distance


def _shared_out(
    goal: Goal,
    steps: int,
    tops: Sequence[tuple[Root, Place]],
    algebra: Algebra,
    answers: Sequence[Shown],
) -> Walk:
    """The worst that the protected steps do to roots of which nobody is in two."""
    if steps == 1:
        loss = algebra.worst(each[2] for each in answers)
        return loss, [max(answers, key=lambda each: algebra.key(each[2]))]
    ways = len(tops) * steps * (steps + 1) // 2
    if steps > MOST_SHARED or not (isinstance(algebra, Scalars) or ways <= MOST_WAYS):
        return algebra.add(each[2] for each in answers), list(answers)
    best: list[_Way] = [(algebra.zero, ())] * (steps + 1)
    by_steps: list[list[Shown]] = []
    for root, top in tops:
        row: list[Shown] = []
        for taken in range(1, steps + 1):
            state = initial(root, top, goal, taken)
            loss = yield (top, state)
            row.append((top, state, loss))
        by_steps.append(row)
        columns = [algebra.zero, *(each[2] for each in row)]
        best = [
            _worst(
                algebra,
                [
                    (
                        algebra.add([best[total - taken][0], columns[taken]]),
                        (*best[total - taken][1], taken),
                    )
                    for taken in range(total + 1)
                ],
            )
            for total in range(steps + 1)
        ]
    loss, taken_in = best[steps]
    return loss, [row[n - 1] for row, n in zip(by_steps, taken_in, strict=True) if n]


def _worst(algebra: Algebra, ways: Sequence[_Way]) -> _Way:
    """A loss that covers all, with the way that looks worst."""
    _, shown = max(ways, key=lambda way: (algebra.key(way[0]), way[1]))
    return algebra.worst(loss for loss, _ in ways), shown
