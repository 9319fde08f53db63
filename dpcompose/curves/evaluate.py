"""The numbers of a curve: the least bound of all routes, with the name of the route that gives
it."""

from __future__ import annotations

from fractions import Fraction

from dpcompose.curves.backends.renyi.renyi_curves import zcdp_of
from dpcompose.curves.curve import Certified, Curve
from dpcompose.curves.routes import Point, in_renyi_terms, least_route, main_routes
from dpcompose.curves.trade_off import Divergences, TradeOff


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
