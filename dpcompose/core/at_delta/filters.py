"""Privacy filters: budgets for parameters that are chosen along the way (theory, section 10).

A filter is a budget in one notion whose losses add up, chosen before the first output. If every
release is refused with which the sum would exceed it for some neighbouring pair, the whole
interaction satisfies the budget. Only sums are filters: optimal composition, privacy loss
distributions and the best of several routes need parameters that are fixed in advance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from dpcompose.core.at_delta.chosen import of_bound
from dpcompose.core.notions.guarantee import Budget, Quantity
from dpcompose.core.notions.notion import Notion
from dpcompose.curves import Certified, Concentrated, Curve, Point, RouteName, quick_bound
from dpcompose.curves.rounding import (
    ZERO,
    capped,
    capped_down,
    float_up,
    log_inverse_up,
    sqrt_down,
    sqrt_up,
)

#: The notions in which there is a filter.
FILTERS = (Notion.PURE, Notion.APPROX, Notion.ZCDP, Notion.GDP)
#: The search ends at limits that are smaller than expected by this factor.
_FAR = 10**12
#: For a larger ε a closed form is used, which is then as sharp.
_LARGE = Fraction(10**12)
#: The relative precision of the largest limit.
_CLOSE = Fraction(1, 10**15)
#: The same for budgets in risk, whose curves are computed to about this precision.
_CLOSE_AT_RISK = Fraction(1, 10**10)

Parameters = tuple[tuple[str, Fraction], ...]


class PrivacyFilter(NamedTuple):
    """A limit on the total loss of an interaction whose parameters are chosen along the way.

    `amount`: in the unit of the notion that adds up (ε, ρ, μ²), with a δ, both rounded down.
    `stated`: they are the budget's own parameters, not a conversion.
    """

    notion: Notion
    amount: Fraction
    delta: Fraction = ZERO
    stated: bool = True

    def admits(self, spent: Quantity) -> bool:
        """Returns whether a total loss, `spent`, is within the limit."""
        return spent.amount <= self.amount and spent.delta <= self.delta

    @property
    def limit(self) -> Parameters:
        """Returns the limit in the notion's own parameters, rounded down."""
        return self._parameters(self.amount, self.delta)

    def left(self, spent: Quantity) -> Parameters:
        """Returns the loss left for further releases, in the notion's parameters, rounded down.

        `spent`: the total so far. 0 where nothing is left.
        """
        amount, delta = self.amount - spent.amount, self.delta - spent.delta
        return self._parameters(max(Fraction(amount), ZERO), max(Fraction(delta), ZERO))

    def _parameters(self, amount: Fraction, delta: Fraction) -> Parameters:
        """Returns an amount (ε, ρ or μ²) and a δ as parameters by their names in specs, rounded
        down."""
        value = sqrt_down(amount) if self.notion is Notion.GDP else amount
        found = [(self.notion.facts.symbol, value)]
        return (*found, ("delta", delta)) if self.notion is Notion.APPROX else tuple(found)

    @property
    def total_loss(self) -> Quantity:
        """Returns the certified loss of the whole interaction: the limit."""
        return Quantity(self.notion, self.amount, self.delta)

    def at(self, point: Point) -> tuple[RouteName, Certified | None]:
        """Returns the ε or δ of the whole interaction at a point, by conversion of the limit, after
        the name of its route."""
        return of_bound(self.total_loss, point)


def default_notion(budget: Budget) -> Notion:
    """Returns the notion in which a budget is kept, where the spec names none for the filter.

    It does not depend on the releases: later ones are chosen after outputs, and would select the
    filter.
    """
    given = dict(budget.parameters)
    if "epsilon" in given:
        return Notion.ZCDP if given.get("delta") else Notion.PURE
    return Notion.GDP if "mu" in given else Notion.ZCDP


@lru_cache(maxsize=64)
def filter_of(budget: Budget, notion: Notion) -> PrivacyFilter | None:
    """Returns the budget as a filter in a notion; None if no sum of losses in it keeps the budget.

    For an (ε, δ): the largest ρ whose conversion at δ is at most ε, the largest μ whose exact curve
    is, or the budget itself; for a budget in risk the largest ε, ρ or μ whose trade-off curve meets
    it. What is not exact is rounded down.
    """
    given = dict(budget.parameters)
    epsilon, delta = given.get("epsilon"), given.get("delta", ZERO)
    if budget.of_risk:
        return (
            None
            if notion is Notion.APPROX
            else PrivacyFilter(notion, largest_at_risk(budget, notion), stated=False)
        )
    if epsilon is not None:
        match notion:
            case Notion.PURE:
                return PrivacyFilter(notion, epsilon)
            case Notion.APPROX:
                return PrivacyFilter(notion, epsilon, delta)
            case Notion.ZCDP if delta:
                return PrivacyFilter(notion, largest_rho(epsilon, delta), stated=False)
            case Notion.GDP if delta:
                return PrivacyFilter(notion, largest_mu_squared(epsilon, delta), stated=False)
        return None
    if "rho" in given and notion is Notion.ZCDP:
        return PrivacyFilter(notion, given["rho"])
    if "rho" in given and notion is Notion.GDP:
        return PrivacyFilter(notion, 2 * given["rho"], stated=False)
    if "mu" in given and notion is Notion.GDP:
        return PrivacyFilter(notion, given["mu"] ** 2)
    return None


def largest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Returns the largest ρ whose conversion of zCDP at `delta` > 0 is at most `epsilon`.

    Rounded down (Canonne, Kamath and Steinke 2020, Corollary 13).
    """

    if epsilon > _LARGE:
        return _closed(epsilon, delta)

    def holds(rho: Fraction) -> bool:
        found = quick_bound(Curve(((Concentrated(rho), 1),)), Point(delta=delta))
        return found is not None and found <= epsilon

    return _largest(holds, _near(epsilon, delta))


def largest_mu_squared(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Returns the largest μ² whose Gaussian curve at `epsilon` is at most `delta` > 0.

    Rounded down (Balle and Wang 2018, Theorem 8).
    """
    if epsilon > _LARGE:
        return 2 * _closed(epsilon, delta)  # what is μ-GDP is zCDP with ρ = μ²/2

    def holds(square: Fraction) -> bool:
        return Curve((), square).delta(epsilon=epsilon).upper <= delta

    return _largest(holds, 2 * _near(epsilon, delta))


def largest_at_risk(budget: Budget, notion: Notion) -> Fraction:
    """Returns the largest ε, ρ or μ² whose trade-off curve meets a budget in risk, rounded down.

    Risk: an advantage, or a chance of success from a baseline.
    """
    from dpcompose.core.at_delta.worst_trade_off import amount_of_risk, of_quantity

    (_, limit), *rest = budget.parameters
    root = limit
    for _, baseline in rest:  # about √ρ for these chances
        root = sqrt_down(log_inverse_up(baseline)) - sqrt_up(log_inverse_up(limit))

    def holds(amount: Fraction) -> bool:
        return amount_of_risk(of_quantity(Quantity(notion, amount)), budget) <= limit

    return _largest(holds, max(root * root, limit * limit / _FAR), _CLOSE_AT_RISK)


def _closed(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Returns a ρ with ρ + 2·sqrt(ρ·ln(1/δ)) ≤ ε, rounded down; its conversion is at most ε."""
    log = log_inverse_up(delta)
    root = sqrt_down(log + epsilon) - sqrt_up(log)
    return capped_down(root * root)


def _near(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Returns a ρ with ρ + 2·sqrt(ρ·ln(1/δ)) about ε, somewhat less than the largest possible ρ."""
    log = math.log(delta.denominator) - math.log(delta.numerator)
    # √(ln(1/δ)+ε) - √ln(1/δ), without a difference of numbers that are almost equal.
    root = epsilon / Fraction(math.sqrt(log + float_up(epsilon)) + math.sqrt(log))
    return max(capped(root * root), capped(delta * delta))


def _largest(
    holds: Callable[[Fraction], bool], near: Fraction, close: Fraction = _CLOSE
) -> Fraction:
    """Returns about the largest number for which `holds` is true, rounded down.

    `holds` must be true below each number for which it is true. The search starts at `near`;
    `close` is the relative precision. 0 if no number is found for which it is true.
    """
    low, high = near, 4 * near
    while holds(high):
        low, high = high, 4 * high
    while not holds(low):
        low, high = low / 16, low
        if low < near / _FAR:
            return ZERO
    while high - low > low * close:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
