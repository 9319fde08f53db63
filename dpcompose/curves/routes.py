"""The routes from a composition to an ε at a δ, or to a δ at an ε (theory, section 6).

A route is one way of computing the number, such as loss distributions or Rényi divergences. Every
route is sound; the least value wins. `main` routes are those that can win, the others are computed
for the reader.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache, wraps
from typing import NamedTuple

from dpcompose.curves.backends.closed_forms import stated_pairs
from dpcompose.curves.backends.lattice.fewer_losses import MOST_IN_ALL
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
from dpcompose.curves.families.pure_steps import PureSteps, as_responses
from dpcompose.curves.rounding.doubles import BEYOND_DOUBLES, DIGITS
from dpcompose.curves.rounding.exact import decimal_up

#: What is known of compositions of more parts is not kept for the next time: they take room.
MOST_REMEMBERED = 16


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


#: Gives bounds of a composition at a point.
Routes = Callable[[Curve, Point], list[RouteBound]]


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


def _remembered(routes: Routes) -> Routes:
    """Returns the function with a cache for small compositions, since many specs are alike."""
    known = lru_cache(maxsize=256)(routes)

    @wraps(routes)
    def ask(composition: Curve, point: Point) -> list[RouteBound]:
        few = len(composition.parts) <= MOST_REMEMBERED
        return list((known if few else routes)(composition, point))

    return ask


@_remembered
def main_routes(composition: Curve, point: Point) -> list[RouteBound]:
    """Returns the bounds of the routes one of which gives the least value at a point."""
    found = []
    only_renyi = in_renyi_terms(composition)
    if not only_renyi or composition.gaussian:
        found.append(_profile(composition, point))
    renyi = _renyi(composition, point)
    if renyi is not None:
        paths = any(isinstance(part, PureSteps) for part, _ in composition.parts)
        found.append(_not_by_rounding(renyi, found) if paths else renyi)
    if is_stated(composition):
        found.append(RouteBound(RouteName.BASIC, basic_bound(composition, point)))
    return found


def least_route(found: list[RouteBound]) -> RouteBound:
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
    effort = _effort(composition, point)
    bracket = _bracket_at(composition, point, effort)
    whole = as_responses(composition)
    if whole is not composition:
        # What is gained over several steps may be less than what is lost by rounding.
        other = _bracket_at(whole, point, effort)
        if other is not None and (bracket is None or other.upper <= bracket.upper):
            bracket = other._replace(lower=None)
    return RouteBound(rule, None if bracket is None else bracket.upper, bracket)


def _effort(composition: Curve, point: Point) -> EvaluationEffort:
    """Returns how much work the question is worth."""
    effort = SHARED if point.many else BEST
    if point.order is None or (side := direction(composition)) is None:
        return effort
    # In the table without the row it is the other one that is read first.
    return effort._replace(side=side if point.order == "with" else _EXCHANGED[side])


#: The other order of the tables.
_EXCHANGED = {"removed": "added", "added": "removed"}


def _bracket_at(composition: Curve, point: Point, effort: EvaluationEffort) -> Certified | None:
    """Returns the certified number by privacy loss distributions; None where there is none."""
    from dpcompose.curves.answers import delta_at, epsilon_at

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


def _not_by_rounding(route: RouteBound, before: list[RouteBound]) -> RouteBound:
    """Returns the route; it gets the value of the best route in `before` where it is better only by
    the digits that rounding left."""
    best = least_route(before).value if before else None
    if best is None or route.value is None:
        return route
    if best * (1 - Fraction(10, 10**DIGITS)) <= route.value < best:
        return route._replace(value=best)
    return route


def _renyi(composition: Curve, point: Point) -> RouteBound | None:
    """Returns the bound by Rényi divergences; None where they give none."""
    from dpcompose.curves.backends.renyi import renyi_curves as renyi

    parts = composition.parts
    only = all(isinstance(part, Concentrated) for part, _ in parts)
    rule = RouteName.ZCDP if only else RouteName.RENYI
    try:
        if point.delta is not None:
            value = renyi.epsilon_at(composition, point.delta)
        else:
            assert point.epsilon is not None
            value = renyi.delta_at(composition, point.epsilon)
            value = None if value >= 1 else value
    except BEYOND_DOUBLES:
        value = None
    return None if value is None and not in_renyi_terms(composition) else RouteBound(rule, value)


def quick_bound(composition: Curve, point: Point) -> Fraction | None:
    """Returns a bound at a point that takes little time; None if there is none."""
    found = _renyi(composition, point)
    return None if found is None else found.value


@lru_cache(maxsize=256)  # a spec is often analysed with small changes
def rough_bound(composition: Curve, point: Point) -> Fraction | None:
    """Returns a bound at a point that takes somewhat more time, and is about as low as any; None if
    there is none."""
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


@_remembered
def compared_routes(composition: Curve, point: Point) -> list[RouteBound]:
    """Returns the bounds at a δ by other, well-known routes, for comparison; the best bound is
    hardly ever among them."""
    if point.delta is None or not composition.parts or not is_stated(composition):
        return []
    if len(composition.parts) > MOST_IN_ALL:
        return []
    stated = _stated(composition)
    with suppress(*BEYOND_DOUBLES):
        return [
            RouteBound(RouteName.ADVANCED, stated_pairs.advanced(stated, point.delta)),
            RouteBound(RouteName.CLOSED, stated_pairs.closed_form(stated, point.delta)),
        ]
    return []
