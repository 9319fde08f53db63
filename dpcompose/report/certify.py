"""What a problem costs: the one way from it to its bounds, for a report and for planning alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from dpcompose.core.model.problem import Problem
from dpcompose.core.notions.guarantee import AskedRisk, Budget, bound_of
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.solver import Solution, Solver, notions
from dpcompose.report import At, Bound, Risk, Verdict
from dpcompose.report.verdict import deltas_of, of_risk, sharper, verdict

if TYPE_CHECKING:
    from dpcompose.curves import TradeOff


class CertifiedRelease(NamedTuple):
    """What is certified of a problem.

    `solved`: the worst cases in every notion that was looked at, from the strongest on, finite or
    not. `at_delta`: the least ε at each chosen δ; `at_epsilon`: the least δ at each chosen ε.
    `chosen`: whether any was chosen. `risk`: what an attacker gains, where that was asked for;
    `curve`: by which it is told, and limits in risk are judged.
    """

    solver: Solver
    solved: tuple[Solution, ...]
    at_delta: tuple[At, ...]
    at_epsilon: tuple[At, ...]
    chosen: bool
    risk: Risk | None = None
    curve: TradeOff | None = None

    @property
    def solutions(self) -> tuple[Solution, ...]:
        """Returns the finite ones."""
        return tuple(each for each in self.solved if each.finite)

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """Bounds that all hold, in the same order."""
        return tuple(bound_of(each) for found in self.solutions for each in found.quantities)

    def held(self, limit: Budget) -> Verdict:
        """Returns the limit held against the bounds and the numbers at its δ."""
        if limit.of_risk:
            return of_risk(limit, self.curve)
        decision = sharper(verdict(limit, self.bounds), limit, self.at_delta)
        assert decision is not None
        return decision


def certify(
    problem: Problem,
    limits: Sequence[Budget] = (),
    deltas: Iterable[Fraction] = (),
    epsilons: Iterable[Fraction] = (),
    risk: AskedRisk | None = None,
    *,
    solver: Solver | None = None,
    compared: bool = True,
    judged: bool = False,
) -> CertifiedRelease:
    """Returns the least bounds of a problem that theorems certify.

    `limits`: budgets, whose notions and δ are looked at as well. `risk`: where to state what an
    attacker gains; it has no value where there is no finite bound. `solver`: one for the problem.
    `compared`: whether numbers at a δ come with other routes, which take time and hardly ever win.
    `judged`: whether the limits alone matter, so that no number is looked for beside them.
    """
    solver = solver or Solver(problem)
    asked = {name for limit in limits for name, _ in limit.parameters}
    several = any(len(mechanism.stated_in) > 1 for mechanism in problem.mechanisms())
    solved: list[Solution] = []
    first: Solution | None = None
    for notion in notions(problem):
        if first is None or several or _asks(asked, notion):
            solved.append(solver.solve(notion))
            if first is None and solved[-1].finite:
                first = solved[-1]
    wanted = [*deltas, *(delta for limit in limits for delta in deltas_of(limit))]
    given = list(epsilons)
    risky = risk is not None or any(limit.of_risk for limit in limits)
    if risky and first is None and not (wanted or given or judged):
        given = [Fraction(0)]  # the advantage is a number where no notion has one
    at_delta: tuple[At, ...] = ()
    at_epsilon: tuple[At, ...] = ()
    # Most runs choose none, and need not load the routes.
    if wanted or given:
        from dpcompose.report.at_points import at_points

        at_delta, at_epsilon = at_points(solver, wanted, given, first, compared)
    curve: TradeOff | None = None
    told: Risk | None = None
    if risky:
        from dpcompose.report.risk import curve_of, risk_of

        curve = curve_of(solver, first)
        if curve is not None and risk is not None:
            told = risk_of(curve, risk, at_delta, () if first is None else first.quantities)
    chosen = bool(wanted or given)
    return CertifiedRelease(solver, tuple(solved), at_delta, at_epsilon, chosen, told, curve)


def _asks(asked: set[str], notion: Notion) -> bool:
    """Whether a budget may be met in a notion where it is not in a stronger one."""
    return notion.facts.symbol in asked - {"epsilon"}
