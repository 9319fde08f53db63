"""The loss of the protected change over all roots together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, product

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.units import State, directed
from dpcompose.core.loss.algebra import Loss, LossAlgebra, Walk
from dpcompose.core.model.problem import Goal, Problem, Root
from dpcompose.core.model.protected import initial
from dpcompose.core.model.tree import STEP, Place
from dpcompose.core.notions.notion import Notion

#: The most protected steps that are distributed among disjoint roots; more are charged to each.
MOST_SHARED = 64
#: The most parts of the roots whose directions are combined (2^5 combinations); with more, the
#: worse direction counts at every step.
MOST_DIRECTED = 6

#: A root with its worst change, and the loss.
Shown = tuple[Place, State, Loss]
#: For each protected step the number of its parts that change a root, the largest first.
_Taken = tuple[int, ...]
_Way = tuple[Loss, tuple[_Taken, ...]]


def joint(problem: Problem, tops: Sequence[tuple[Root, Place]], algebra: LossAlgebra) -> Walk:
    """Bounds the loss of the protected change over all roots; the result also has the worst change
    in each.

    `tops`: the roots with their trees. Of roots declared disjoint (`Problem.apart`) one step
    changes one, and several steps are distributed, as are those that a declared step consists of. A
    change that does not consist of steps of one person may change all.
    """
    goal = problem.goal
    groups = [sorted(each) for each in problem.apart if len(each) > 1]
    groups = [] if shared_steps(goal, [top for _, top in tops]) is None else groups
    alone = sorted(set(range(len(tops))).difference(*groups))
    parts = [[tops[i] for i in part] for part in [*([i] for i in alone), *groups]]
    leaning = [any(top.leans for _, top in part) for part in parts]
    at_delta = algebra.notion is Notion.PROFILE
    directions = _directions(at_delta and _one_way(goal), leaning)
    losses: list[Loss] = []
    shown: list[Shown] = []
    for part, signs in zip(parts, directions, strict=True):
        found: list[tuple[Loss, list[Shown]]] = []
        for sign in signs:
            answers: list[Shown] = []
            for root, top in part:
                state = initial(root, top, goal)
                if sign is not None and top.leans:
                    state = directed(state, sign)
                answers.append((top, state, (yield (top, state))))
            if len(part) == 1:
                found.append((answers[0][2], answers))
            else:
                found.append((yield from _shared_out(goal, part, algebra, answers)))
        several = len(found) > 1
        losses.append(algebra.worst_case(loss for loss, _ in found) if several else found[0][0])
        shown += max(found, key=lambda each: algebra.key(each[0]))[1] if several else found[0][1]
    return losses[0] if len(losses) == 1 else algebra.add(losses), shown


def _directions(one_way: bool, leaning: Sequence[bool]) -> list[tuple[int | None, ...]]:
    """Returns for each group of disjoint roots the signs of its change to try (None: both at once).

    `one_way`: rows are all added or all removed; `leaning`: whether the loss of the group depends
    on which. A row may be added to one root and removed from another, so that each combination of
    signs is a composition of its own. Patterns are read in both orders of the tables at the end, so
    that one sign is enough for the first group whose loss depends on it.
    """
    first = leaning.index(True) if True in leaning else -1
    if not one_way or sum(leaning) > MOST_DIRECTED:
        return [(None,)] * len(leaning)
    return [
        (None,) if not leans else (0,) if place == first else (0, 1)
        for place, leans in enumerate(leaning)
    ]


def _one_way(goal: Goal) -> bool:
    """Returns whether all rows of the protected change are removed, or all are added."""
    kind = goal.relation.kind
    return kind in (RelationKind.UNBOUNDED, RelationKind.USER) and goal.distance == 1


def shared_steps(goal: Goal, tops: Sequence[Place]) -> tuple[int, int] | None:
    """Returns the number of protected steps, and of how many parts each consists that change one
    root.

    `tops`: the places of the roots. A declared relation on which no guarantee is stated counts as
    one step of all its parts. None where one step may change all roots.
    """
    relation = goal.relation
    if relation.kind is not RelationKind.DECLARED:
        return None if relation.kind is RelationKind.FREE_LUNCH else (1, goal.distance)
    within = relation.within
    if within is None or within.kind is RelationKind.FREE_LUNCH:
        return None
    if any(STEP in top.levels for top in tops):
        return goal.distance, relation.distance
    return 1, goal.distance * relation.distance


def _shared_out(
    goal: Goal,
    tops: Sequence[tuple[Root, Place]],
    algebra: LossAlgebra,
    answers: Sequence[Shown],
) -> Walk:
    """Bounds the loss of the protected steps over disjoint roots, each of which takes some parts of
    a step.

    The result also has the worst change in each root. `answers`: the loss of each root if it took
    all.
    """
    steps = shared_steps(goal, [top for _, top in tops])
    assert steps is not None
    if steps == (1, 1):
        loss = algebra.worst_case(each[2] for each in answers)
        return loss, [max(answers, key=lambda each: algebra.key(each[2]))]
    if math.prod(steps) > MOST_SHARED or not _are_few(algebra, len(tops), *steps):
        return algebra.add(each[2] for each in answers), list(answers)
    whole = (steps[1],) * steps[0]
    losses: list[dict[_Taken, Shown]] = []
    best: dict[_Taken, _Way] = {whole: (algebra.zero, ())}
    for place, (root, top) in enumerate(tops):
        known: dict[_Taken, Shown] = {}
        losses.append(known)
        found: dict[_Taken, list[_Way]] = {}
        for left, (before, way) in best.items():
            # The last root takes all that is left.
            for each in [left] if place == len(tops) - 1 else _shares(left):
                taken = tuple(sorted((n for n in each if n), reverse=True))
                if taken and taken not in known:
                    state = initial(root, top, goal, taken)
                    known[taken] = (top, state, (yield (top, state)))
                here: Loss = known[taken][2] if taken else algebra.zero
                rest = tuple(sorted((n - m for n, m in zip(left, each, strict=True)), reverse=True))
                total = algebra.add([before, here])
                found.setdefault(rest, []).append((total, (*way, taken)))
        best = {left: _worst_way(algebra, each) for left, each in found.items()}
    [(loss, taken_in)] = best.values()
    return loss, [known[each] for known, each in zip(losses, taken_in, strict=True) if each]


def _are_few(algebra: LossAlgebra, roots: int, steps: int, inner: int) -> bool:
    """Returns whether the ways of distributing the steps over the roots are few enough to compare
    all.

    `inner`: the number of parts of each step.
    """
    kinds = (inner + 1) * (inner + 2) // 2
    ways = math.comb(steps + kinds - 1, steps)
    return roots * ways <= algebra.most_ways


def _shares(left: _Taken) -> Iterator[_Taken]:
    """Yields every way of taking some of the parts left of each step, regardless of their order."""
    alike = [
        combinations_with_replacement(range(n + 1), count) for n, count in Counter(left).items()
    ]
    for chosen in product(*alike):
        yield tuple(n for some in chosen for n in some)


def _worst_way(algebra: LossAlgebra, ways: Sequence[_Way]) -> _Way:
    """Returns a loss that bounds those of all ways, with the worst way of distributing the
    steps."""
    _, shown = max(ways, key=lambda way: (algebra.key(way[0]), way[1]))
    return algebra.worst_case(loss for loss, _ in ways), shown
