"""Problems of several releases, solved as one: what is in no island in common adds up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpcompose.core.change.units import State
from dpcompose.core.loss.algebras import Loss
from dpcompose.core.loss.walk import Answer
from dpcompose.core.model.problem import Problem
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.guarantee import Budget
from dpcompose.core.search.accountant import Accountant
from dpcompose.core.search.solver import Solver
from dpcompose.planning.ledgers import Remaining, left_if_fixed
from dpcompose.planning.merging import Merged


class MergedSolver(Solver):
    """Solves a merged problem: the losses of its islands add up."""

    def __init__(self, merged: Merged) -> None:
        super().__init__(merged.problem)
        self.names = [list(names.values()) for names in merged.names]
        self._islands: list[Solver] = []
        tops = {id(root): (root, top) for root, top in self.tops}
        for problem in merged.islands:
            island = Solver.__new__(Solver)
            island.problem = problem
            island.tops = [tops[id(root)] for root in problem.roots]
            self._islands.append(island)

    def _joint(self, accountant: Accountant) -> tuple[Loss, list[tuple[Place, State, Answer]]]:
        found = [island._joint(accountant) for island in self._islands]
        loss = accountant.algebra.add(each for each, _ in found)
        return loss, [answer for _, answers in found for answer in answers]


def remaining_if_fixed(merged: Merged, limits: Sequence[Budget]) -> Remaining:
    """Returns what one more mechanism may have, if all parameters are fixed in advance."""

    def solver(problem: Problem) -> Solver:
        roots = dict(zip(map(id, merged.problem.roots), problem.roots, strict=True))
        islands = tuple(
            replace(each, roots=[roots[id(root)] for root in each.roots]) for each in merged.islands
        )
        return MergedSolver(replace(merged, problem=problem, islands=islands))

    return left_if_fixed(merged.problem, _met_by_all(merged), solver, limits)


def _met_by_all(merged: Merged) -> set[int]:
    """Returns the numbers of roots of which every protected step changes one.

    The first root that always changes, or a group of roots of which nobody is in two.
    """
    numbers = {id(root): i for i, root in enumerate(merged.problem.roots)}
    groups: list[set[int]] = []
    for island in merged.islands:
        apart = {i for each in island.apart for i in each}
        alone = [root for i, root in enumerate(island.roots) if i not in apart]
        if alone:
            return {numbers[id(alone[0])]}
        groups += [{numbers[id(island.roots[i])] for i in each} for each in island.apart]
    return groups[0]
