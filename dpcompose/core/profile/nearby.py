"""Many compositions that differ from one in little, each asked for its ε at one δ.

What the one is composed on is kept, and what differs is exchanged there. Every answer is certified
as one that is found directly, and as near to the least; where it would be further from it, or
nothing can be exchanged, none is given.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpcompose.core.numbers.exact import float_up
from dpcompose.core.profile.changed_law import ChangedLaws
from dpcompose.core.profile.changed_line import ChangedLines
from dpcompose.core.profile.parts import (
    Bracket,
    Composition,
    MechanismLoss,
    Response,
    just_so,
)
from dpcompose.core.profile.renyi import cumulant_at, epsilon_by, near_best
from dpcompose.core.profile.rounding import float_of
from dpcompose.core.profile.variants import Variant, apart

#: Fewer parts with closed forms are quickly composed anew; so many may differ.
_FEW, _MOST_CHANGED = 12, 4
#: So many compositions are kept, each for δ's that are as near as this in ln δ.
_KEPT, _CLOSE_LOG = 4, 0.1
#: Divergences that say less than another way by this factor there surely do.
_SURELY = 1.01


class Nearby:
    """Compositions that were asked for, and what they are composed on once others are near them."""

    def __init__(self) -> None:
        self._known: list[_Answered] = []
        self._orders: list[tuple[Composition, list[tuple[float, float]]]] = []

    def epsilon(self, asked: Composition, log_delta: float, most: float) -> float | None:
        """An ε with ln δ(ε) ≤ `log_delta`, next to the least; None where it is to be found anew.

        No two parts are alike, and `stay` is 1. `most`: the sum of the greatest losses.
        """
        quick = all(isinstance(part, Response | MechanismLoss) for part, _ in asked.parts)
        if len(asked.parts) < (_FEW if quick else 2):
            return None
        for each in self._known:
            if abs(each.log_delta - log_delta) <= _CLOSE_LOG:
                variant = Variant.beside(each.whole, asked, log_delta, most)
                if len(variant.less.parts) + len(variant.more.parts) <= _MOST_CHANGED:
                    return each.epsilon(variant)
        self._known = [_Answered(asked, log_delta, most), *self._known[: _KEPT - 1]]
        return None

    def order(self, asked: Composition, delta: Fraction, epsilon: Fraction) -> float | None:
        """The s = α-1 at which Rényi divergences say most, None where that is to be found anew;
        infinite where they hardly say more than an ε.

        No divergences do of losses that are known; else it is seen around the order that is best
        for another composition.
        """
        if all(just_so(part) for part, _ in asked.parts):
            return math.inf
        left = asked.left(delta)
        for whole, known in self._orders:
            less, more = apart(whole, asked)
            if len(less.parts) + len(more.parts) <= _MOST_CHANGED:
                if not known or not 0 < left < 1:
                    return None
                other = float_of(asked.gaussian) - float_of(whole.gaussian)
                values = []
                for s, cumulant in known:
                    here = cumulant + cumulant_at(more, s) - cumulant_at(less, s)
                    here += other * s * (1 + s) / 2
                    values.append(epsilon_by(here, s, math.log(left)))
                if min(values) > _SURELY * float_of(epsilon):
                    return math.inf
                return _lowest([s for s, _ in known], values)
        self._orders = [(asked, near_best(asked, delta)), *self._orders[: _KEPT - 1]]
        return None

    def learn(self, asked: Composition, found: Bracket) -> None:
        """What a composition came to that was to be found anew."""
        if self._known and self._known[0].whole is asked:
            self._known[0].found = found


class _Answered:
    """A composition that was asked for at a δ."""

    def __init__(self, whole: Composition, log_delta: float, most: float) -> None:
        self.whole, self.log_delta, self._most = whole, log_delta, most
        self.found: Bracket | None = None

    def epsilon(self, variant: Variant) -> float | None:
        """What a variant comes to, by exchanging parts; None where that is not the way."""
        changed = variant.less.parts or variant.more.parts
        same = not changed and variant.asked.gaussian == self.whole.gaussian
        if same and self.found is not None and variant.log_delta >= self.log_delta:
            return float_up(self.found.upper)
        way = self._lines or self._laws
        return None if way is None else way.epsilon(variant)

    @cached_property
    def _lines(self) -> ChangedLines | None:
        return ChangedLines.of(self.whole, self.log_delta, self._most)

    @cached_property
    def _laws(self) -> ChangedLaws | None:
        found = self.found
        return None if found is None else ChangedLaws.of(self.whole, self.log_delta, found)


def _lowest(places: list[float], values: list[float]) -> float | None:
    """Where a smooth curve through some points is least; None where that is not between them."""
    if not all(map(math.isfinite, values)):
        return None
    middle = places[len(places) // 2]
    far = math.log(places[-1] / middle)
    # ln s over the width, so that all powers are alike.
    curve = np.polyfit([math.log(place / middle) / far for place in places], values, 4)
    roots = [complex(root) for root in np.roots(np.polyder(curve))]
    inside = [root.real for root in roots if abs(root.imag) < 1e-12 and abs(root.real) < 1]
    return middle * math.exp(far * inside[0]) if len(inside) == 1 else None
