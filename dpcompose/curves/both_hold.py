"""Several guarantees of one mechanism as one curve.

A mechanism with several guarantees has at every ε at most the least of their δ's. Every profile is
convex in e^ε, so that the least convex curve below these δ's holds too (`from_points`): at some ε
it is below each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpcompose.curves.answers import delta_at
from dpcompose.curves.backends.lattice.tuning import PLACES
from dpcompose.curves.backends.renyi import renyi_curves
from dpcompose.curves.curve import (
    Concentrated,
    Curve,
    Grouped,
    MechanismLoss,
    Points,
    Renyi,
    Response,
    curve_of,
)
from dpcompose.curves.rounding.doubles import OUTSIDE
from dpcompose.curves.rounding.exact import ONE, ZERO


def of_several_kinds(options: Sequence[Curve]) -> bool:
    """Returns whether curves of different forms hold for one mechanism; (ε, δ) points count as one
    form, since one curve holds them all."""
    return len(set(map(_form, options))) > 1


def _form(curve: Curve) -> object:
    """Returns a key that is equal for curves of one form."""
    part = curve.part
    within = part.base if isinstance(part, Grouped) else curve
    if within.no_failure != 1 or any(isinstance(each, Points) for each, _ in within.parts):
        return Points
    return "gaussian" if part is None else type(part)


def least_curve(options: Sequence[Curve]) -> Curve | None:
    """Returns several bounds of one privacy loss as one curve, the least at each ε; None if nothing
    is known."""
    top, pure = _reach(options)
    places = {top * n / PLACES for n in range(PLACES + 1)}
    for each in options:
        match each.part:
            case Response(epsilon):
                places.add(min(epsilon, top))
            case Points(points):
                places.update(min(epsilon, top) for epsilon, _ in points[:PLACES])
    found = {epsilon: _least_delta(options, epsilon) for epsilon in places}
    if pure is not None:
        found[pure] = ZERO
    falling: list[tuple[Fraction, Fraction]] = []
    for epsilon, delta in sorted(found.items()):
        if delta < 1 and (not falling or delta < falling[-1][1]):
            falling.append((epsilon, delta))
    return curve_of(Points(tuple(falling))) if len(falling) > 1 else None


def over_steps(options: Sequence[Curve], steps: int) -> Curve | None:
    """Returns several bounds of the loss of one step as one curve for tables that are `steps` steps
    apart; None if nothing is known.

    All bounds hold at each step, so that the power function of their least curve is put into itself
    (Dong, Roth and Su 2022, Theorem 2.14).
    """
    once = least_curve(options)
    return None if once is None else once.at_distance(steps)


def _reach(options: Sequence[Curve]) -> tuple[Fraction, Fraction | None]:
    """Returns the ε up to which the curve is looked at, and the least ε at which δ is 0, None if
    there is none."""
    pure = min((each for each in map(_pure, options) if each is not None), default=None)
    top = Fraction(1, PLACES)
    least = _least_delta(options, top)
    while least > OUTSIDE and (pure is None or top < pure):
        further = _least_delta(options, 2 * top)
        # Beyond, δ does not fall any more.
        if further >= least and top >= 1:
            break
        top, least = 2 * top, further
    return (top if pure is None else min(top, pure)), pure


def _least_delta(options: Sequence[Curve], epsilon: Fraction) -> Fraction:
    """Returns the least δ at ε that some option gives, rounded up."""
    found = [ONE]
    for each in options:
        if isinstance(each.part, Concentrated | Renyi):
            found.append(renyi_curves.delta_at(each, epsilon))
        else:
            found.append(delta_at(each, epsilon).upper)
    return min(found)


def _pure(curve: Curve) -> Fraction | None:
    """Returns the ε at δ = 0 of a curve that has one in closed form; else None."""
    if curve.no_failure != 1 or curve.gaussian:
        return None
    match curve.part:
        case None:
            return ZERO
        case Response(epsilon):
            return epsilon
        case MechanismLoss() as loss:
            return loss.greatest()
        case _:
            return None
