"""The numbers of a curve, and the routes to them (theory, section 6).

A route is one way of computing an ε at a δ, or a δ at an ε, such as loss distributions or Rényi
divergences. Every route is sound; the least value wins. `main` routes are those that can win, the
others are computed for the reader.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from contextlib import suppress
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from dpcompose.curves.answers import (
    CurveQuestion,
    delta_at,
    delta_by_divergences,
    epsilon_at,
    epsilon_by_divergences,
)
from dpcompose.curves.backends.closed_forms import stated_pairs
from dpcompose.curves.backends.lattice.tuning import FEW
from dpcompose.curves.backends.renyi.renyi_curves import zcdp_of
from dpcompose.curves.curve import (
    BEST,
    ROUGH,
    SHARED,
    Certified,
    Concentrated,
    Curve,
    EvaluationEffort,
    MechanismLoss,
    Part,
    Renyi,
    Response,
    direction,
)
from dpcompose.curves.families.pure_steps import PureSteps
from dpcompose.curves.rounding.doubles import BEYOND_DOUBLES, DIGITS
from dpcompose.curves.rounding.exact import decimal_up
from dpcompose.curves.trade_off import Divergences, TradeOff


class RouteName(StrEnum):
    """The name of a route, that is of one way to compute a bound."""

    OPTIMAL = "optimal composition"
    GAUSSIAN = "exact Gaussian"
    LOSSES = "loss distributions"
    ZCDP = "zCDP conversion"
    RENYI = "Rényi conversion"
    BASIC = "basic composition"
    ADVANCED = "advanced composition"
    CLOSED = "closed-form KOV bound"


#: Those that are there for comparison.
COMPARED = frozenset((RouteName.ADVANCED, RouteName.CLOSED))


class RouteBound(NamedTuple):
    """The bound by one route: `value` is ε or δ, rounded up, None if nothing finite.

    `bracket`: where it comes from loss distributions, how they were computed.
    """

    rule: RouteName
    value: Fraction | None
    bracket: Certified | None = None


class Point(NamedTuple):
    """What is asked of a composition: the least ε at `delta`, or the least δ at `epsilon`; the
    other is None.

    `many`: whether it is one of very many questions about the same parts. `order`: of a δ, only the
    table with a row that comes or goes against the one without it ("with"), or the reverse
    ("without"); None: both.
    """

    delta: Fraction | None = None
    epsilon: Fraction | None = None
    many: bool = False
    order: str | None = None

    @property
    def chosen_number(self) -> Fraction:
        """Returns the δ or ε that is given, whichever it is."""
        given = self.delta if self.delta is not None else self.epsilon
        assert given is not None
        return given


def is_stated(composition: Curve) -> bool:
    """Returns whether all parts are stated ε- or (ε, δ)-guarantees, whose worst mechanisms are
    known."""
    return not composition.gaussian and all(
        isinstance(part, Response | PureSteps) for part, _ in composition.parts
    )


def _pure(part: Part) -> Fraction | None:
    """Returns the ε of a stated guarantee; None for any other part."""
    match part:
        case Response(epsilon):
            return epsilon
        case PureSteps():
            return part.greatest()
        case _:
            return None


def in_renyi_terms(composition: Curve) -> bool:
    """Returns whether all that is known is a Rényi curve, whose conversion is already the best
    known."""
    return bool(composition.parts) and all(
        isinstance(part, Concentrated | Renyi) for part, _ in composition.parts
    )


def realised(composition: Curve) -> bool:
    """Returns whether some mechanism with just these guarantees has just this profile."""
    return all(
        part.attained() if isinstance(part, MechanismLoss) else isinstance(part, Response)
        for part, _ in composition.parts
    )


@lru_cache(maxsize=256)  # many specs are alike
def main_routes(composition: Curve, point: Point) -> tuple[RouteBound, ...]:
    """Returns the bounds of the routes one of which gives the least value at a point."""
    found = []
    if not in_renyi_terms(composition) or composition.gaussian:
        found.append(_profile(composition, point))
    renyi = _renyi(composition, point)
    if renyi is not None:
        found.append(renyi)
    if is_stated(composition):
        found.append(RouteBound(RouteName.BASIC, basic_bound(composition, point)))
    return tuple(found)


def least_route(found: Iterable[RouteBound]) -> RouteBound:
    """Returns the route with the least value; the first of equal ones."""
    return min(found, key=lambda each: (each.value is None, each.value or Fraction(0)))


def _profile(composition: Curve, point: Point) -> RouteBound:
    """Returns the bound by privacy loss distributions, or by a closed form where there is one."""
    if not composition.parts and composition.gaussian:
        rule = RouteName.GAUSSIAN
    elif is_stated(composition):
        rule = RouteName.OPTIMAL
    else:
        rule = RouteName.LOSSES
    bracket = _bracket_at(composition, point, _effort(composition, point))
    return RouteBound(rule, None if bracket is None else bracket.upper, bracket)


def _effort(composition: Curve, point: Point) -> EvaluationEffort:
    """Returns how much work the question is worth."""
    effort = SHARED if point.many else BEST
    if point.order is None or (side := direction(composition)) is None:
        return effort
    # In the table without the row it is the other one that is read first.
    first = (side == "removed") == (point.order == "with")
    return effort._replace(side="removed" if first else "added")


def _bracket_at(composition: Curve, point: Point, effort: EvaluationEffort) -> Certified | None:
    """Returns the certified number by privacy loss distributions; None where there is none."""
    bracket: Certified | None
    try:
        with warnings.catch_warnings():
            # What is not a number gives all away, and says so by its size.
            warnings.simplefilter("ignore", RuntimeWarning)
            if point.delta is not None:
                bracket = epsilon_at(composition, point.delta, effort)
            else:
                assert point.epsilon is not None
                bracket = delta_at(composition, point.epsilon, effort)
    except BEYOND_DOUBLES:
        return None
    one = len(composition.parts) < 2 and all(isinstance(p, Response) for p, _ in composition.parts)
    exact = one and (not composition.gaussian or not composition.parts)
    return bracket if bracket is None or exact else _shortened(bracket)


def _shortened(bracket: Certified) -> Certified:
    """Returns the number rounded up to the digits on which machines agree: transforms differ in the
    last ones."""
    upper = Fraction(decimal_up(bracket.upper, DIGITS))
    lower = bracket.lower
    if lower is not None:
        # Rounded up, and then down by more than that can have added.
        lower = Fraction(decimal_up(lower, DIGITS)) * (1 - Fraction(10, 10**DIGITS))
    return bracket._replace(upper=upper, lower=lower)


def _renyi(composition: Curve, point: Point) -> RouteBound | None:
    """Returns the bound by Rényi divergences; None where they give none."""
    only = all(isinstance(part, Concentrated) for part, _ in composition.parts)
    rule = RouteName.ZCDP if only else RouteName.RENYI
    found, question = None, CurveQuestion(composition)
    with suppress(*BEYOND_DOUBLES):
        if point.delta is not None:
            found = epsilon_by_divergences(question, point.delta)
        else:
            assert point.epsilon is not None
            found = delta_by_divergences(question, point.epsilon)
    if found is None:
        return RouteBound(rule, None) if in_renyi_terms(composition) else None
    return RouteBound(rule, found.upper)


def quick_bound(composition: Curve, point: Point) -> Fraction | None:
    """Returns a bound of the number at a point (see `Point`) that takes little time; None if there
    is none."""
    found = _renyi(composition, point)
    return None if found is None else found.value


def rough_bound(composition: Curve, point: Point) -> Fraction | None:
    """Returns a bound of the number at a point (see `Point`) that takes somewhat more time, and is
    about as low as any; None if there is none."""
    known = quick_bound(composition, point)
    found = None if in_renyi_terms(composition) else _bracket_at(composition, point, ROUGH)
    return known if found is None or (known is not None and known < found.upper) else found.upper


def _stated(composition: Curve) -> list[tuple[Fraction, Fraction, int]]:
    """Returns the stated guarantees as (ε, δ, count)."""
    zero = Fraction(0)
    stated = [
        (epsilon, zero, n) for part, n in composition.parts if (epsilon := _pure(part)) is not None
    ]
    if composition.no_failure != 1:
        stated.append((zero, 1 - composition.no_failure, 1))
    return stated


def basic_bound(composition: Curve, point: Point) -> Fraction | None:
    """Returns Σε at a δ, if the δ_i allow it; at an ε of at least Σε, the total of the δ_i; else
    None."""
    if not is_stated(composition):
        return None

    stated = _stated(composition)
    if point.delta is not None:
        return stated_pairs.basic(stated, point.delta)
    total = sum((epsilon * n for epsilon, _, n in stated), Fraction(0))
    return (
        1 - composition.no_failure if point.epsilon is not None and total <= point.epsilon else None
    )


def compared_routes(composition: Curve, point: Point) -> list[RouteBound]:
    """Returns the bounds at a δ by other, well-known routes, for comparison; the best bound is
    hardly ever among them."""
    if point.delta is None or not composition.parts or not is_stated(composition):
        return []
    if len(composition.parts) > FEW:
        return []
    stated = _stated(composition)
    with suppress(*BEYOND_DOUBLES):
        return [
            RouteBound(RouteName.ADVANCED, stated_pairs.advanced(stated, point.delta)),
            RouteBound(RouteName.CLOSED, stated_pairs.closed_form(stated, point.delta)),
        ]
    return []


# --- the numbers of a curve ----------------------------------------------------------------------


def preload() -> None:
    """Loads numpy, which nearly every ε at a δ needs, and the memory of its threads."""
    import dpcompose.curves.backends.lattice.normal  # noqa: F401


def epsilon_of(curve: Curve, delta: Fraction) -> Certified | None:
    """Returns the least ε at δ, 0 ≤ δ ≤ 1; None where no finite one is known."""
    return _best(curve, Point(delta=delta))


def delta_of(curve: Curve, epsilon: Fraction) -> Certified:
    """Returns the least δ at ε ≥ 0."""
    return _best(curve, Point(epsilon=epsilon)) or Certified(Fraction(1), exact=False)


def _best(curve: Curve, point: Point) -> Certified | None:
    """Returns the number at a chosen δ or ε by the best route; None where no finite one is
    known."""
    best = least_route(main_routes(curve, point))
    if best.value is None:
        return None
    found = best.bracket or Certified(best.value, exact=False)
    return found._replace(upper=best.value, how=str(best.rule))


def rho_of(curve: Curve) -> Certified | None:
    """Returns the sum of the least ρ known for each part; None where a part is not known to be
    zCDP."""
    total = curve.gaussian / 2
    for part, count in curve.parts:
        rho = zcdp_of(part)
        if rho is None:
            return None
        total += rho * count
    return Certified(total, exact=False, how="zCDP adds up") if curve.no_failure == 1 else None


def misses_of(curve: Curve, rate: Fraction) -> Certified:
    """Returns the least rate of misses of a test with a `rate` of false alarms; the certified side
    is `lower`."""
    others = (Divergences(curve),) if in_renyi_terms(curve) else ()

    def delta(epsilon: Fraction, _: int) -> Fraction:
        """Returns δ at ε, the same for both orders of the tables."""
        found = _best(curve, Point(epsilon=epsilon, many=True))
        return Fraction(1) if found is None else found.upper

    trade_off = TradeOff((delta,), others=others)
    hits = trade_off.power(rate) if rate < 1 else Fraction(1)
    return Certified(1 - rate, 1 - hits, False, how="the whole profile", floor=True)
