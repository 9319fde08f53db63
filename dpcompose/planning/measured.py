"""What a problem costs, in numbers alone: for planning, and for adding up releases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpcompose.core.model.problem import Problem
from dpcompose.core.notions.notion import Notion
from dpcompose.core.notions.quantity import Budget
from dpcompose.core.search.solver import Solution, Solver, notions
from dpcompose.report import At, Bound, Verdict
from dpcompose.report.at_points import at_points
from dpcompose.report.explanation import bound_of
from dpcompose.report.verdict import deltas_of, sharper, verdict


@dataclass(frozen=True, slots=True)
class Measured:
    """The bounds of a problem, all of which hold, from the strongest notion on.

    `solutions`: the finite ones, in the same order. `at_delta`: the least ε at each chosen δ.
    """

    solutions: tuple[Solution, ...]
    bounds: tuple[Bound, ...]
    at_delta: tuple[At, ...]

    def held(self, limit: Budget) -> Verdict:
        """The limit held against the bounds."""
        decision = sharper(verdict(limit, self.bounds), limit, self.at_delta)
        assert decision is not None
        return decision


def measure(
    problem: Problem,
    limits: Sequence[Budget] = (),
    deltas: Iterable[Fraction] = (),
    solver: Solver | None = None,
) -> Measured:
    """The bounds of a problem, as `analyze` would certify them.

    `limits`: budgets, whose notions and δ are looked at as well. `solver`: one for the problem.
    """
    solver = solver or Solver(problem)
    asked = {name for limit in limits for name, _ in limit.parameters}
    several = any(
        len({each.guarantee.notion for each in mechanism.statements}) > 1
        for mechanism in problem.mechanisms()
    )
    finite: list[Solution] = []
    for notion in notions(problem):
        if not finite or several or _asks(asked, notion):
            solution = solver.solve(notion)
            if solution.finite:
                finite.append(solution)
    wanted = [*deltas, *(delta for limit in limits for delta in deltas_of(limit))]
    at_delta, _ = at_points(solver, wanted, (), finite[0] if finite else None)
    bounds = tuple(bound_of(quantity) for each in finite for quantity in each.quantities)
    return Measured(tuple(finite), bounds, at_delta)


def _asks(asked: set[str], notion: Notion) -> bool:
    """Whether a budget may be met in a notion where it is not in a stronger one."""
    return notion.facts.symbol in asked - {"epsilon"}
