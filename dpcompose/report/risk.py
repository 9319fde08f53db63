"""An attacker's greatest gain for the report, by the whole trade-off curve and by one (ε, δ)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from dpcompose.core.at_delta import worst_trade_off
from dpcompose.core.notions.guarantee import AskedRisk, Quantity
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.solver import Solution, Solver
from dpcompose.curves import TradeOff
from dpcompose.curves.rounding import exp_up, number
from dpcompose.report import At, Risk, Verdict


def curve_of(solver: Solver, solution: Solution | None) -> TradeOff | None:
    """Returns the trade-off curve of a problem; None where some change has no finite bound.

    `solution`: a finite solution of the problem, whose bounds are used as well.
    """
    bounds = () if solution is None else solution.quantities
    patterned = solver.patterns
    if not (patterned or bounds):
        return None
    return worst_trade_off.of_patterns(patterned, bounds)


def right_guess(bounds: Sequence[tuple[Notion, Fraction, Fraction]]) -> Fraction:
    """Returns the greatest chance that a guess between two equally likely neighbouring tables is
    right.

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


#: The rates of false alarms of a picture, closest to each other where the curve is steepest.
_RATES = tuple(Fraction(k, 40) ** 2 for k in (*range(1, 12), *range(12, 40, 2)))
#: Points (ε, δ), with ε rising.
Profile = Sequence[tuple[Fraction, Fraction]]
#: So many steps of ε are computed, each in so many parts on its chord; and up to which ε, or δ.
_STEPS, _PARTS, _LARGEST, _SMALL = 24, 3, 64, Fraction(1, 10**9)


def drawn_of(
    curve: TradeOff,
    asked: AskedRisk,
    points: Sequence[At] = (),
    bounds: Iterable[Quantity] = (),
) -> Risk:
    """Returns the risk by a trade-off curve, with points along the privacy profile, and the
    trade-off that follows from these points alone."""
    found = risk_of(curve, asked, points, bounds)
    known = [each.value for each in points if each.wanted == "delta" and each.value]
    end = Fraction(math.ceil(5 * max(known)), 4) if known else Fraction(1, 4)
    while not known and end < _LARGEST and curve.delta(end) > _SMALL:
        end *= 2
    profile = [(each, curve.delta(each)) for each in (end * k / _STEPS for k in range(_STEPS + 1))]
    return found._replace(
        trade_off=tuple((each, _most_hits(profile, each)) for each in _RATES),
        profile=tuple(_with_chords(profile)),
    )


def _with_chords(profile: Profile) -> Iterator[tuple[Fraction, Fraction]]:
    """Yields the points of a profile with some between them, on chords in e^ε: the δ of a profile
    is convex in e^ε, so that it is nowhere above them."""
    yield profile[0]
    for (low, more), (high, less) in pairwise(profile):
        width = 1 / exp_up(-high) - exp_up(low)
        for k in range(1, _PARTS):
            point = low + (high - low) * k / _PARTS
            part = (exp_up(high) - 1 / exp_up(-point)) / width
            yield point, min(more, less + part * (more - less))
        yield high, less


def _most_hits(profile: Profile, rate: Fraction) -> Fraction:
    """Returns the highest hit rate at a rate of false alarms that the (ε, δ) of a profile allow."""
    found = [Fraction(1)]
    for epsilon, delta in profile:
        rise = exp_up(epsilon)
        found += [delta + rise * rate, 1 - max(Fraction(0), 1 - delta - rate) / rise]
    return min(found)


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
