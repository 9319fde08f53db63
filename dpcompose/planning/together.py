"""Problems of several releases, solved as one: what is in no island in common adds up."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from fractions import Fraction

from dpcompose.core.change.units import State
from dpcompose.core.loss.algebra import Loss
from dpcompose.core.loss.walk import Answer
from dpcompose.core.model.problem import Mechanism, Statement
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.guarantee import Budget, Guarantee
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.accountant import Accountant
from dpcompose.core.search.solver import Solver
from dpcompose.planning.ledgers import STATED, Remaining, largest
from dpcompose.planning.merging import Merged
from dpcompose.report.certify import certify


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
        """Returns the summed worst losses of all islands, and the place, change and answer of each
        root."""
        found = [island._joint(accountant) for island in self._islands]
        loss = accountant.algebra.add(each for each, _ in found)
        return loss, [answer for _, answers in found for answer in answers]


def remaining_if_fixed(merged: Merged, limits: Sequence[Budget]) -> Remaining:
    """Returns the largest ε, ρ and μ of one more mechanism if all parameters are fixed in advance.

    The total with such a mechanism is certified for each number that is tried.
    """

    def fits(tried: Merged) -> bool:
        """Returns whether every limit holds for these merged releases."""
        solver = MergedSolver(tried)
        found = certify(tried.problem, limits, solver=solver, compared=False)
        return all(found.held(each).ok for each in limits)

    if not fits(merged):
        return tuple((each.facts.symbol, Fraction(0)) for each in STATED)
    values = [value for limit in limits for name, value in limit.parameters if name != "delta"]
    most, roots = 4 * max([Fraction(1), *values]), _met_by_all(merged)
    found: list[tuple[str, Fraction | None]] = []
    for notion in STATED:

        def holds(value: Fraction, notion: Notion = notion) -> bool:
            return fits(_with_one_more(merged, roots, Guarantee(notion, value)))

        # What loses nothing does not fit where nothing that is stated so does.
        value = largest(holds, most) if holds(Fraction(0)) else None
        found.append((notion.facts.symbol, value))
    return tuple(found)


def _with_one_more(merged: Merged, on: Collection[int], stated: Guarantee) -> Merged:
    """Returns the merged problem with one more mechanism, which reads all roots with numbers
    `on`."""
    problem = merged.problem
    names = {each.name for each in problem.mechanisms()}
    name = "one more"
    while name in names:
        name += "*"
    one = Mechanism(name, (Statement(problem.goal.relation, 0, stated, ()),), 1, ())
    roots = {
        id(root): replace(
            root, dataset=replace(root.dataset, mechanisms=[*root.dataset.mechanisms, one])
        )
        if i in on
        else root
        for i, root in enumerate(problem.roots)
    }
    islands = tuple(
        replace(each, roots=[roots[id(root)] for root in each.roots]) for each in merged.islands
    )
    return replace(merged, problem=replace(problem, roots=[*roots.values()]), islands=islands)


def _met_by_all(merged: Merged) -> set[int]:
    """Returns the numbers of a set of roots of which every protected step changes exactly one.

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
