"""The numbers of a curve, and the routes to them (theory, section 6).

A route is one way of computing an ε at a δ, or a δ at an ε, such as loss distributions or Rényi
divergences. Every route is sound; the least value wins. `main` routes are those that can win, the
others are computed for the reader.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from dpcompose.curves.answers import (
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
from dpcompose.curves.rounding.exact import decimal_up, float_up
from dpcompose.curves.trade_off import TradeOff


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


#: The number by each route, an ε or a δ; None where a route gives none that is finite.
RouteNumbers = Mapping[RouteName, Certified | None]


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


def attained_by_samples(composition: Curve, point: Point, upper: Fraction) -> Fraction | None:
    """Returns a number that some Gaussian mechanisms behind samples without replacement attain at a
    point, so that no smaller one holds; None where the composition is of anything else, or the
    question is one of many.

    `upper`: a bound of that number from above.
    """
    if point.many or point.order is not None or not composition.parts or not upper:
        return None
    with suppress(*BEYOND_DOUBLES):
        from dpcompose.curves.backends.lattice import attained

        if not attained.is_of_samples(composition):
            return None
        if point.delta is not None:
            found = attained.epsilon_attained(composition, float_up(point.delta), float_up(upper))
        else:
            assert point.epsilon is not None
            found = attained.delta_attained(composition, float_up(point.epsilon))
        return Fraction(found)
    return None


@lru_cache(maxsize=256)  # many specs are alike
def main_routes(composition: Curve, point: Point) -> RouteNumbers:
    """Returns the numbers at a point by the routes one of which gives the least."""
    found: dict[RouteName, Certified | None] = {}
    only_renyi = in_renyi_terms(composition)
    renyi = _by_divergences(composition, point)
    if not only_renyi or composition.gaussian or _reaches_far(composition, point, renyi):
        by_profile = _by_profile(composition, point, _effort(composition, point))
        found[_profile_route(composition)] = by_profile
    if renyi is not None or only_renyi:
        zcdp = all(isinstance(part, Concentrated) for part, _ in composition.parts)
        if renyi is None and point.epsilon is not None and only_renyi:
            renyi = not_exact(Fraction(1))  # which always holds
        found[RouteName.ZCDP if zcdp else RouteName.RENYI] = renyi
    if is_stated(composition):
        found[RouteName.BASIC] = not_exact(basic_bound(composition, point))
    return found


def _reaches_far(composition: Curve, point: Point, renyi: Certified | None) -> bool:
    """Returns whether a Rényi curve may say more by a loss distribution than order by order.

    Such a law is no larger than what each order says at every ε, and what it says of one table
    holds of the other as well: its profile is at most 1 - e^ε·(1 - δ(-ε)). That counts where δ is
    not far below the total variation, about √(ρ/2), or where few orders are known. What is composed
    with more mechanisms has that law, so that without it a mechanism that is added could lower a
    bound. `renyi`: the number by divergences.
    """
    if any(isinstance(part, Renyi) for part, _ in composition.parts):
        # The law of one that is used once is made once, however many questions there are.
        alone = not composition.gaussian and sum(n for _, n in composition.parts) == 1
        return alone or not point.many
    if point.many:
        return False
    delta = point.delta
    if delta is None:
        delta = Fraction(1) if renyi is None else renyi.upper
    rho = sum((p.rho * n for p, n in composition.parts if isinstance(p, Concentrated)), Fraction(0))
    return 8 * delta**2 >= rho


def not_exact(value: Fraction | None) -> Certified | None:
    """Returns an upper bound as a number of which no more is known; None for None."""
    return None if value is None else Certified(value, exact=False)


def least_first(found: RouteNumbers) -> RouteNumbers:
    """Returns the numbers in ascending order, None last; equal ones keep their order."""
    return dict(sorted(found.items(), key=_order))


def least_route(found: RouteNumbers) -> tuple[RouteName, Certified | None]:
    """Returns the route with the least number, and that number; the first of equal ones."""
    return min(found.items(), key=_order)


def _order(item: tuple[RouteName, Certified | None]) -> tuple[bool, Fraction]:
    """Returns a key to sort routes by their numbers; None comes last."""
    number = item[1]
    return (True, Fraction(0)) if number is None else (False, number.upper)


def upper_of(found: Certified | None) -> Fraction | None:
    """Returns the certified upper bound of a number; None for None."""
    return None if found is None else found.upper


def _profile_route(composition: Curve) -> RouteName:
    """Returns the name of the route that computes the privacy profile itself."""
    if not composition.parts and composition.gaussian:
        return RouteName.GAUSSIAN
    return RouteName.OPTIMAL if is_stated(composition) else RouteName.LOSSES


def _effort(composition: Curve, point: Point) -> EvaluationEffort:
    """Returns how much work the question is worth."""
    effort = SHARED if point.many else BEST
    if point.order is None or (side := direction(composition)) is None:
        return effort
    # In the table without the row it is the other one that is read first.
    first = (side == "removed") == (point.order == "with")
    return effort._replace(side="removed" if first else "added")


def _by_profile(composition: Curve, point: Point, effort: EvaluationEffort) -> Certified | None:
    """Returns the number by privacy loss distributions, or by a closed form where there is one;
    None where there is none."""
    found: Certified | None
    try:
        with warnings.catch_warnings():
            # What is not a number gives all away, and says so by its size.
            warnings.simplefilter("ignore", RuntimeWarning)
            if point.delta is not None:
                found = epsilon_at(composition, point.delta, effort)
            else:
                assert point.epsilon is not None
                found = delta_at(composition, point.epsilon, effort)
    except BEYOND_DOUBLES:
        return None
    one = len(composition.parts) < 2 and all(isinstance(p, Response) for p, _ in composition.parts)
    exact = one and (not composition.gaussian or not composition.parts)
    return found if found is None or exact else _shortened(found)


def _shortened(found: Certified) -> Certified:
    """Returns the number rounded up to the digits on which machines agree: transforms differ in the
    last ones."""
    upper = Fraction(decimal_up(found.upper, DIGITS))
    lower = found.lower
    if lower is not None:
        # Rounded up, and then down by more than that can have added.
        lower = Fraction(decimal_up(lower, DIGITS)) * (1 - Fraction(10, 10**DIGITS))
    return found._replace(upper=upper, lower=lower)


def _by_divergences(composition: Curve, point: Point) -> Certified | None:
    """Returns the number by Rényi divergences; None where they give none."""
    if point.delta is not None:
        return epsilon_by_divergences(composition, point.delta)
    assert point.epsilon is not None
    return delta_by_divergences(composition, point.epsilon)


def quick_bound(composition: Curve, point: Point) -> Fraction | None:
    """Returns a bound of the number at a point (see `Point`) that takes little time; None if there
    is none."""
    return upper_of(_by_divergences(composition, point))


def rough_bound(composition: Curve, point: Point) -> Fraction | None:
    """Returns an upper bound of the number at a point (see `Point`) by one coarse grid: slower than
    `quick_bound`, and usually within a few per cent of the least; None if there is none."""
    known = quick_bound(composition, point)
    found = None if in_renyi_terms(composition) else _by_profile(composition, point, ROUGH)
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


def compared_routes(composition: Curve, point: Point) -> RouteNumbers:
    """Returns the numbers at a δ by other, well-known routes, for comparison; the best bound is
    hardly ever among them."""
    if point.delta is None or not composition.parts or not is_stated(composition):
        return {}
    if len(composition.parts) > FEW:
        return {}
    stated = _stated(composition)
    with suppress(*BEYOND_DOUBLES):
        return {
            RouteName.ADVANCED: not_exact(stated_pairs.advanced(stated, point.delta)),
            RouteName.CLOSED: not_exact(stated_pairs.closed_form(stated, point.delta)),
        }
    return {}


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
    route, found = least_route(main_routes(curve, point))
    return None if found is None else found._replace(how=str(route))


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
    renyi_curves = (curve,) if in_renyi_terms(curve) else ()

    def delta(epsilon: Fraction, _: int) -> Fraction:
        """Returns δ at ε, the same for both orders of the tables."""
        found = _best(curve, Point(epsilon=epsilon, many=True))
        return Fraction(1) if found is None else found.upper

    trade_off = TradeOff((delta,), renyi_curves=renyi_curves)
    hits = trade_off.power(rate) if rate < 1 else Fraction(1)
    return Certified(1 - rate, 1 - hits, False, how="the whole profile", floor=True)
