"""A composed curve replaced by certified points (ε, δ) of its profile, to be asked often."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from dpcompose.curves.backends.closed_forms.max_loss import greatest_sum
from dpcompose.curves.curve import Curve, Points, Renyi, Response, curve_of, is_tight
from dpcompose.curves.rounding.exact import ONE, ZERO

#: From point to point δ falls by about this factor of e. Between two of them the profile is taken
#: to be a line in e^ε, which is above it by an eighth of the square of this, relatively.
_FALL = 0.02

#: A composition of so few losses is quicker to ask itself.
MOST_DIRECT = 3


@lru_cache(maxsize=64)
def by_points(curve: Curve) -> Curve:
    """Returns a curve that dominates `curve` and is quick to ask: points (ε, δ) of the profile of
    the whole composition, composed once.

    It is `curve` itself where that is of few losses, is one part or has a formula, or where one of
    several parts is known by Rényi divergences, which say more of the whole than of its points. Of
    a Rényi curve alone the points say what its law does, and `quick_bound` what each order does.
    """
    several = len(curve.parts) + bool(curve.gaussian) > 1
    tight = all(is_tight(part) and not isinstance(part, Renyi) for part, _ in curve.parts)
    few = sum(count for _, count in curve.parts) + bool(curve.gaussian) <= MOST_DIRECT
    if few or _is_quick(curve) or (several and not tight):
        return curve
    from dpcompose.curves.backends.lattice.loss_distribution import base_law
    from dpcompose.curves.backends.lattice.samples import curve_of as power_of

    rest = replace(curve, no_failure=ONE)
    found: list[tuple[Fraction, Fraction]] = []
    for loss, delta in power_of(rest, base_law).thinned(_FALL):
        if delta < 1 and (not found or delta < found[-1][1]):
            found.append((Fraction(loss), Fraction(delta)))
    greatest = greatest_sum(rest)
    if greatest is not None:
        found = [each for each in found if each[0] < greatest] + [(greatest, ZERO)]
    return curve_of(Points(tuple(found)), ZERO, curve.no_failure) if found else curve


def _is_quick(curve: Curve) -> bool:
    """Returns whether a question about a curve takes one evaluation of a formula or of a sum."""
    if len(curve.parts) + bool(curve.gaussian) > 1:
        return False
    return all(
        isinstance(part, Response) or (count == 1 and not isinstance(part, Renyi))
        for part, count in curve.parts
    )
