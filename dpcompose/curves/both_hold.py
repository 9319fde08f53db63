"""Several guarantees of one mechanism as one curve, for one step and for several in a row.

What holds by several guarantees has at every ε the least of their δ's, and with them the least
convex curve in e^ε below these, as every profile is convex there (`profile.from_points`). Over t
steps of a path all of them hold at each step, so that the power function of this curve is put into
itself (Dong, Roth and Su 2022, Theorem 2.14): less than any of them says alone over t steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from dpcompose.curves.answers import delta_at
from dpcompose.curves.backends.renyi import renyi_curves
from dpcompose.curves.curve import (
    Concentrated,
    Curve,
    MechanismLoss,
    Points,
    Renyi,
    Response,
    curve_of,
)
from dpcompose.curves.rounding.exact import ONE, ZERO, float_up

#: They are looked at together at so many ε, the largest at most so large, or where this little δ is
#: left; more finely where the curve leaves them for a chord.
_POINTS, _MOST_EPSILON, _MINUTE, _FINER = 96, 64, Fraction(1, 10**15), 16
#: Where that may be looked for first, and in so many places.
_LEAST_EPSILON, _MOST_CHORDS = Fraction(1, 1024), 4
#: Over several steps the curve is told at so many ε.
_MOST_TOLD = 512
#: A longer path is known by what each guarantee says of it alone.
MOST_STEPS = 64


def of_several_kinds(options: Sequence[Curve]) -> bool:
    """Returns whether curves of different forms hold for one mechanism; (ε, δ) points count as one
    form, since one curve holds them all."""
    return len(set(map(_form, options))) > 1


def _form(curve: Curve) -> object:
    """Returns a key that is equal for curves of one form."""
    part = curve.part
    if curve.no_failure != 1 or isinstance(part, Points):
        return Points
    return "gaussian" if part is None else type(part)


def least_curve(options: Sequence[Curve]) -> Curve | None:
    """Returns several bounds of one privacy loss as one curve, the least at each ε; None if nothing
    is known."""
    found, top, _ = _looked_at(options)
    chords = [ends for ends in pairwise(_corners(found)) if top < _POINTS * (ends[1] - ends[0])]
    if len(chords) <= _MOST_CHORDS:
        width = top / _POINTS
        for corner in {each for ends in chords for each in ends if each <= top}:
            for n in range(-_FINER, _FINER + 1):
                epsilon = corner + width * n / _FINER
                if 0 < epsilon <= top and epsilon not in found:
                    found[epsilon] = _least_delta(options, epsilon)
    return _option_of_points(sorted(found.items()))


def over_steps(options: Sequence[Curve], steps: int) -> Curve | None:
    """Returns several bounds of the loss of one step as one curve for tables that are `steps` steps
    apart; None if nothing is known."""
    from dpcompose.curves.backends.lattice import powers

    if steps > MOST_STEPS:
        return None
    import numpy as np

    found, top, pure = _looked_at(options)
    corners = _corners(found)
    once = powers.symmetric_at(
        np.array([float(each) for each in corners]),
        np.array([float_up(found[each]) for each in corners]),
    )
    whole = once
    for _ in range(steps - 1):
        whole = powers.path(once, whole)
    # Where it bends, or at some of so many places.
    far = float(top) * steps
    losses = np.unique(np.clip(whole.losses, 0.0, far))
    if len(losses) > _MOST_TOLD:
        losses = np.arange(_MOST_TOLD, dtype=np.float64) * (far / (_MOST_TOLD - 1))
    pairs = zip(losses.tolist(), whole.at(losses).tolist(), strict=True)
    points = [(Fraction(epsilon), Fraction(delta)) for epsilon, delta in pairs]
    if pure is not None:
        points = [*(each for each in points if each[0] < pure * steps), (pure * steps, ZERO)]
    return _option_of_points(points)


def _looked_at(
    options: Sequence[Curve],
) -> tuple[dict[Fraction, Fraction], Fraction, Fraction | None]:
    """Returns the least δ at each of some ε; the ε up to which all options are looked at; and an ε
    with δ = 0, None if there is none."""
    top, pure = _reach(options)
    places = {top * n / _POINTS for n in range(_POINTS + 1)}
    for each in options:
        match each.part:
            case Response(epsilon):
                places.add(min(epsilon, top))
            case Points(points):
                places.update(min(epsilon, top) for epsilon, _ in points[:_POINTS])
    found = {epsilon: _least_delta(options, epsilon) for epsilon in sorted(places)}
    if pure is not None:
        found[pure] = ZERO
    return found, top, pure


def _option_of_points(points: Sequence[tuple[Fraction, Fraction]]) -> Curve | None:
    """Returns the curve of some points (ε, δ), ascending; None if less than two of them say
    anything."""
    falling: list[tuple[Fraction, Fraction]] = []
    for epsilon, delta in points:
        if delta < 1 and (not falling or delta < falling[-1][1]):
            falling.append((epsilon, delta))
    return curve_of(Points(tuple(falling))) if len(falling) > 1 else None


def _reach(options: Sequence[Curve]) -> tuple[Fraction, Fraction | None]:
    """Returns the ε up to which the curve is looked at, and the least ε at which δ is 0, None if
    there is none."""
    pure = min((each for each in map(_pure, options) if each is not None), default=None)
    top = _LEAST_EPSILON
    least = _least_delta(options, top)
    while top < _MOST_EPSILON and least > _MINUTE and (pure is None or top < pure):
        further = _least_delta(options, 2 * top)
        if further >= least and top >= 1:
            break
        top, least = 2 * top, further
    return (top if pure is None else min(top, pure)), pure


def _corners(found: dict[Fraction, Fraction]) -> list[Fraction]:
    """Returns about the ε at which the least convex curve below the points `found` (δ by ε)
    bends."""
    kept: list[tuple[float, float, Fraction]] = []
    for epsilon, delta in sorted(found.items()):
        x, y = math.exp(min(epsilon, Fraction(_MOST_EPSILON))), float(delta)
        while len(kept) > 1:
            (a, b, _), (c, d, _) = kept[-2:]
            if (d - b) * (x - a) < (y - b) * (c - a):
                break
            kept.pop()
        kept.append((x, y, epsilon))
    return [epsilon for _, _, epsilon in kept]


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
