"""Certified bounds of a problem: the one function that reports and planning call for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from dpcompose.core.model.problem import Problem
from dpcompose.core.notions.guarantee import AskedRisk, Budget, bound_of
from dpcompose.core.search.solver import Solution, Solver, notions, pure_alone
from dpcompose.report import At, Bound, Risk, Verdict
from dpcompose.report.verdict import deltas_of, of_risk, sharper, verdict

if TYPE_CHECKING:
    from dpcompose.curves import TradeOff


class CertifiedRelease(NamedTuple):
    """The certified bounds of a problem.

    `solved`: the worst case in every notion that was tried, strongest first, finite or not.
    `at_delta`: the least ε at each chosen δ; `at_epsilon`: the least δ at each chosen ε. `chosen`:
    whether any δ or ε was chosen. `risk`: an attacker's gain, where that was asked for; `drawn`:
    the same for a picture; `curve`: the trade-off curve behind it, which also judges budgets in
    risk.
    """

    solver: Solver
    solved: tuple[Solution, ...]
    at_delta: tuple[At, ...]
    at_epsilon: tuple[At, ...]
    chosen: bool
    risk: Risk | None = None
    curve: TradeOff | None = None
    drawn: Risk | None = None

    @property
    def solutions(self) -> tuple[Solution, ...]:
        """Returns the worst cases that have a finite bound."""
        return tuple(each for each in self.solved if each.finite)

    @property
    def points(self) -> tuple[At, ...]:
        """Returns the numbers at all chosen δ's and ε's."""
        return *self.at_delta, *self.at_epsilon

    def without_worst(self, says: tuple[str, ...]) -> CertifiedRelease:
        """Returns the bounds, of which no number has the worst change `says`, shown already."""
        at_delta, at_epsilon = (
            tuple(at._replace(worst=()) if at.worst == says else at for at in ats)
            for ats in (self.at_delta, self.at_epsilon)
        )
        return self._replace(at_delta=at_delta, at_epsilon=at_epsilon)

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """Returns the certified bounds, which all hold, in the order of the notions."""
        return tuple(bound_of(each) for found in self.solutions for each in found.quantities)

    def held(self, limit: Budget) -> Verdict:
        """Returns the verdict on a budget, by the best of the bounds and the number at its δ."""
        if limit.of_risk:
            return of_risk(limit, self.curve)
        return sharper(verdict(limit, self.bounds), self.at_delta)


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
    drawn: bool = False,
) -> CertifiedRelease:
    """Returns the least bounds of a problem that theorems certify.

    `limits`: budgets, whose notions and δ's are tried as well. `risk`: the rates at which an
    attacker's gain is stated; it is None where there is no finite bound. `solver`: an existing
    solver of the problem. `compared`: whether numbers at a δ come with other routes, which take
    time and hardly ever win. `judged`: whether only the budgets matter, so that no other number is
    computed. `drawn`: whether a picture is drawn.
    """
    solver = solver or Solver(problem)
    asked = {name for limit in limits for name, _ in limit.parameters}
    several = any(len(mechanism.stated_in) > 1 for mechanism in problem.mechanisms())
    solved: list[Solution] = []
    first: Solution | None = None
    for notion in notions(problem):
        if first is None or several or notion.facts.symbol in asked - {"epsilon"}:
            solved.append(solver.solve(notion))
            if first is None and solved[-1].finite:
                first = solved[-1]
            if first is None and pure_alone(problem):
                break
    wanted = [*deltas, *(delta for limit in limits for delta in deltas_of(limit))]
    given = list(epsilons)
    risky = risk is not None or drawn or any(limit.of_risk for limit in limits)
    if risky and first is None and not (wanted or given or judged):
        given = [Fraction(0)]  # the advantage, δ at ε = 0, may be finite where no notion is
    at_delta: tuple[At, ...] = ()
    at_epsilon: tuple[At, ...] = ()
    # Imported here: most runs choose no point, and need no routes.
    if wanted or given:
        from dpcompose.report.at_points import at_points

        at_delta, at_epsilon = at_points(solver, wanted, given, first, compared)
    curve: TradeOff | None = None
    told: Risk | None = None
    shown: Risk | None = None
    if risky:
        from dpcompose.report.risk import curve_of, drawn_of, risk_of

        curve = curve_of(solver, first)
        if curve is not None and risk is not None:
            told = risk_of(curve, risk, at_delta, () if first is None else first.quantities)
        if curve is not None and drawn:
            bounds = () if first is None else first.quantities
            shown = drawn_of(curve, risk or AskedRisk(), at_delta, bounds)
    chosen = bool(wanted or given)
    return CertifiedRelease(solver, tuple(solved), at_delta, at_epsilon, chosen, told, curve, shown)
