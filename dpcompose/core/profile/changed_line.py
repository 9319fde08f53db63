"""Sums over a line (`line_sum`) of compositions that differ in one loss from one that is known.

The transform of a composition is the product of those of its losses: where one is exchanged, theirs
alone are computed, at the places of the sum that is known. They are taken so that they do for it
without any one of its losses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpcompose.core.profile.contour import line_of, sums_on_lines
from dpcompose.core.profile.cumulants import not_below
from dpcompose.core.profile.grids import sides
from dpcompose.core.profile.line_sum import LineLogs, LineSum, VerticalLine
from dpcompose.core.profile.masses import Floats
from dpcompose.core.profile.parts import Composition
from dpcompose.core.profile.root import epsilon_of
from dpcompose.core.profile.variants import Variant

#: What a loss tells is taken out where it is known to this share.
_CLEAR = 1e-3
#: What the next period adds is at most about e^-NATS of δ, and what is uncertain this share of it.
_NATS, _CLOSE = 24.0, 1e-10
#: Steeper tilts, by which the next period is seen to add little.
_STEEPER = (1.4, 1.8, 1.2, 2.6, 1.1)
#: No less of a Gaussian, and of ε, is left than this share.
_LEFT = 0.5


class ChangedLines:
    """The sums of a composition at a δ, one for each order of the tables."""

    def __init__(self, whole: Composition, sums: list[_KnownSum]) -> None:
        self._whole, self._sums = whole, sums

    @classmethod
    def of(cls, whole: Composition, log_delta: float, most: float) -> ChangedLines | None:
        """None where a composition is not told by such sums, or by closed forms beside them."""
        found = sums_on_lines(whole, log_delta, most)
        sums = [
            _known(whole, side, epsilon, each, log_delta)
            for side, (epsilon, each) in zip(sides(whole.parts), found, strict=False)
            if each is not None and each.few is None
        ]
        known = [each for each in sums if each is not None]
        return cls(whole, known) if found and len(known) == len(found) else None

    def epsilon(self, variant: Variant) -> float | None:
        """The least ε of a variant; None where this is not the way to it."""
        return variant.worst(self._whole, (each.epsilon for each in self._sums))


@dataclass(frozen=True, slots=True, eq=False)
class _KnownSum:
    """A sum with the transform of its losses, without the Gaussian, at its places and for steeper
    tilts. `smoothing`: how much of a Gaussian more there is than that of the composition."""

    side: str
    found: LineSum
    at: float
    t: Floats
    beyond: float
    told: LineLogs
    steeper: tuple[float, ...]
    gaussian: float
    smoothing: float

    def epsilon(self, variant: Variant) -> float | None:
        """For this order of the tables."""
        square, log_delta = variant.asked.gaussian, variant.log_delta
        without = line_of(Composition(variant.less.parts), self.side)
        instead = line_of(Composition(variant.more.parts), self.side)
        gaussian = not_below(square) if square else 0.0
        if without is None or instead is None or gaussian < _LEFT * self.gaussian:
            return None
        theta = self.found.theta
        taken, put = without.on_line(theta, self.t), instead.on_line(theta, self.t)
        if taken is None or put is None or not float(taken.errors.max()) < _CLEAR:
            return None
        told, smoothing, at = self.told.plus(taken, -1).plus(put), self.smoothing, self.at
        # What is smoothed is a share of ε.
        for _ in range(2 if smoothing else 1):
            smoothing = self.smoothing * min(max(at / self.at, _LEFT), 1.0)
            rest = VerticalLine((), gaussian + smoothing)
            smooth = rest.on_line(theta, self.t)
            assert smooth is not None  # it has a closed form
            changed = rest.summed(theta, self.found.period, self.t, self.beyond, told.plus(smooth))
            found = epsilon_of(changed.log_delta, log_delta, at, variant.most, at + 8 / theta)
            if found is None or found < _LEFT * self.at:
                return None
            at = found
        if not changed.is_close(at, _CLOSE):
            return None
        for factor, known in zip(_STEEPER, self.steeper, strict=True):
            steep = known + _mass(instead, factor * theta) + _mass(rest, factor * theta)
            steep -= _mass(without, factor * theta)
            # Chernoff's bound of δ one period further up, over δ.
            gained = steep - factor * theta * at - log_delta + _NATS
            if gained <= (factor - 1) * theta * self.found.period:
                return at
        return None


def _known(
    whole: Composition, side: str, epsilon: float, found: LineSum, log_delta: float
) -> _KnownSum | None:
    theta, line = found.theta, found.line
    gaussian = not_below(whole.gaussian) if whole.gaussian else 0.0
    smoothing = max(line.square - gaussian, 0.0)
    size = log_delta + theta * epsilon - found.log_mass
    spare = VerticalLine(line.kinds, _LEFT * line.square)
    places = spare.spared(theta, found.period, size)
    losses = VerticalLine(line.kinds, 0.0)
    told = None if places is None else losses.on_line(theta, places[0])
    if places is None or told is None:
        return None
    steeper = tuple(_mass(losses, factor * theta) for factor in _STEEPER)
    return _KnownSum(side, found, epsilon, *places, told, steeper, gaussian, smoothing)


def _mass(line: VerticalLine, theta: float) -> float:
    """K(θ); infinite where it is not known."""
    found = line.on_line(theta, np.zeros(1))
    return math.inf if found is None else found.log_mass
