"""The trade-off curve of the worst change, from the patterns of a problem or from one bound."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import partial

from dpcompose.core.at_delta.chosen import choose, of_bound
from dpcompose.core.loss.compositions import compositions
from dpcompose.core.loss.pattern import UndominatedLosses
from dpcompose.core.notions.guarantee import Budget, Quantity
from dpcompose.core.notions.notion import Notion
from dpcompose.curves import (
    Concentrated,
    Curve,
    Point,
    TradeOff,
    direction,
    in_renyi_terms,
    upper_of,
)
from dpcompose.curves.rounding import MAX_EXPONENT, ONE, exp_up

#: The most patterns whose curves are computed one by one.
MOST_APART = 100


def of_patterns(patterned: UndominatedLosses, bounds: Sequence[Quantity] = ()) -> TradeOff:
    """Returns the trade-off curve of the worst change: the least type II error for each type I
    error.

    `patterned`: the patterns of a problem; `bounds` hold for every change. Not both may be empty.
    """

    def profile(
        patterns: UndominatedLosses, directed: bool, epsilon: Fraction, order: int
    ) -> Fraction:
        """Returns the least δ known at `epsilon` for these patterns and the bounds (1 if none is
        known).

        `directed`: in one order of the tables only, that with the row first if `order` is above 0.
        """
        which = ("with" if order > 0 else "without") if directed else None
        point = Point(epsilon=epsilon, many=True, order=which)
        if patterns:
            found = [choose(patterns, point, bounds, compared=False).value]
        else:
            found = [upper_of(of_bound(each, point)[1]) for each in bounds]
        pairs = [each for each in bounds if each.notion in (Notion.PURE, Notion.APPROX)]
        found += [_of_pair(Fraction(each.amount), Fraction(each.delta), epsilon) for each in pairs]
        return min((each for each in found if each is not None), default=ONE)

    # With many patterns, a search for the greatest δ at each ε leaves most of them out.
    apart = 0 < len(patterned) <= MOST_APART
    several = tuple((each,) for each in patterned) if apart else (patterned,)
    corners, renyi_curves = tuple(_corners(bounds)), tuple(_renyi_curves(patterned, bounds))

    def curve(directed: bool) -> TradeOff:
        """Returns the trade-off curve in one order of the tables (`directed`), or in both."""
        profiles = tuple(partial(profile, each, directed) for each in several)
        return TradeOff(profiles, corners, renyi_curves, directed)

    found = curve(directed=False)
    if any(direction(way) for each in patterned for way in compositions(each)):
        found.one_order = curve(directed=True)
    return found


def of_quantity(bound: Quantity) -> TradeOff:
    """Returns the trade-off curve of a bound in one notion: the least type II error for each type I
    error."""
    return of_patterns((), (bound,))


def _of_pair(epsilon: Fraction, delta: Fraction, at: Fraction) -> Fraction:
    """Returns the least δ at the ε `at` that holds for every (`epsilon`, `delta`)-DP mechanism.

    Below ε it is 1 - (1-δ)·(1+e^at)/(1+e^ε).
    """
    if at >= epsilon:
        return delta
    if epsilon > MAX_EXPONENT:
        return ONE
    # e^at rounded down.
    return 1 - (1 - delta) * (1 + 1 / exp_up(-at)) / (1 + exp_up(epsilon))


def _corners(bounds: Iterable[Quantity]) -> Iterable[Fraction]:
    """Yields the ε at which the curves of pure and approximate bounds have corners."""
    for bound in bounds:
        if bound.notion in (Notion.PURE, Notion.APPROX):
            yield Fraction(bound.amount)


def _renyi_curves(patterned: UndominatedLosses, bounds: Sequence[Quantity]) -> Iterable[Curve]:
    """Yields the curves of a single pattern, or of zCDP bounds where there is none, of which only
    Rényi divergences are known.

    Yields nothing for a pattern of which more is known.
    """
    if len(patterned) == 1:
        for composition in compositions(patterned[0]):
            if in_renyi_terms(composition):
                yield composition
    for bound in () if patterned else bounds:
        if bound.notion is Notion.ZCDP:
            yield Curve(((Concentrated(Fraction(bound.amount)), 1),))


def amount_of_risk(curve: TradeOff, limit: Budget) -> Fraction:
    """Returns the risk that a trade-off curve allows, of the sort that a budget limits.

    That is the advantage, or the chance of success from a baseline.
    """
    asked = dict(limit.parameters)
    return curve.success(asked["baseline"]) if "baseline" in asked else curve.advantage
