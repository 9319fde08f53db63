"""An attacker's greatest gain for the report, by the whole trade-off curve and by one (ε, δ)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from dpcompose.core.at_delta import worst_trade_off
from dpcompose.core.notions.guarantee import AskedRisk, Quantity
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.solver import Solution, Solver
from dpcompose.curves import TradeOff
from dpcompose.curves.rounding import number
from dpcompose.report import At, Risk, Verdict

#: The rate of false alarms at which a label states the hits of a test.
FALSE_ALARMS = Fraction(1, 100)


def curve_of(solver: Solver, solution: Solution | None) -> TradeOff | None:
    """Returns the trade-off curve of a problem; None where some change has no finite bound.

    `solution`: a finite solution of the problem, whose bounds are used as well.
    """
    bounds = () if solution is None else solution.quantities
    patterned = solver.patterns()
    if not (patterned or bounds):
        return None
    return worst_trade_off.of_patterns(patterned, bounds)


def right_guess(bounds: Sequence[tuple[Notion, Fraction, Fraction]]) -> Fraction:
    """Returns how often a guess between two equally likely neighbouring tables is right at most.

    `bounds`: notion, ε, ρ or μ, and δ of bounds that all hold; at least one. It is (1 + a)/2 for
    the advantage a, which is the least that their trade-off curves allow (theory, section 11).
    """
    quantities = [
        Quantity(notion, notion.amount_of(value), delta) for notion, value, delta in bounds
    ]
    return (1 + worst_trade_off.of_patterns((), quantities).advantage) / 2


def risk_of(
    curve: TradeOff,
    asked: AskedRisk,
    points: Sequence[At] = (),
    bounds: Iterable[Quantity] = (),
) -> Risk:
    """Returns the risk by a trade-off curve, and beside it the risk by one (ε, δ) alone.

    That (ε, δ) is the first of `points` with an ε at a δ, or else the first of `bounds`.
    """
    point = _point(points, bounds)
    told = _risk_of_curve(curve, asked)
    if point is None:
        return told
    alone = worst_trade_off.of_quantity(Quantity(Notion.APPROX, *point))
    return told._replace(point=point, from_point=_risk_of_curve(alone, asked))


def _risk_of_curve(curve: TradeOff, asked: AskedRisk) -> Risk:
    """Returns the advantage, hit rates and success rates at the rates asked for, by one curve."""
    # A baseline is a rate of false alarms: how often the guess is right on the other table.
    return Risk(
        curve.advantage,
        tuple((each, curve.power(each)) for each in asked.false_alarms),
        tuple((each, curve.success(each)) for each in asked.baselines),
    )


def _point(points: Sequence[At], bounds: Iterable[Quantity]) -> tuple[Fraction, Fraction] | None:
    """Returns the first (ε, δ): an ε at a chosen δ, or else a bound; None without any."""
    for at in points:
        if at.wanted == "delta" and at.value is not None:
            return at.value, at.given
    for bound in bounds:
        if bound.notion in (Notion.PURE, Notion.APPROX):
            return Fraction(bound.amount), Fraction(bound.delta)
    return None


def met_by_curve_alone(
    decision: Verdict, points: Sequence[At], bounds: Iterable[Quantity]
) -> tuple[str, str] | None:
    """Returns the message and hint that a budget in risk is met only by the whole curve, else None.

    That is where one (ε, δ) alone would not meet it.
    """
    limit, slack = decision.limit, decision.slack
    point = _point(points, bounds)
    if not (limit.of_risk and decision.ok) or slack is None or point is None:
        return None
    alone = worst_trade_off.amount_of_risk(
        worst_trade_off.of_quantity(Quantity(Notion.APPROX, *point)), limit
    )
    main, most = limit.parameters[0]
    if alone <= most:
        return None
    epsilon, delta = point
    told = f"ε = {number(epsilon)}" + (f", δ = {number(delta)}" if delta else "")
    return (
        f"the budget is met by the whole curve, with {main} {number(most - slack)}; {told} alone "
        f"allows {number(alone)}",
        "whoever knows only that ε has to reckon with more: tell the risk beside it",
    )
