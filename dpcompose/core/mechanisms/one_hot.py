"""Noise on a histogram: each row adds a number of at least 0 to one coordinate of a vector."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from dpcompose.core.mechanisms.discrete_gaussian import MOST_STEPS, DiscreteGaussian
from dpcompose.core.notions.concrete_mechanism import Family
from dpcompose.core.notions.notion import Notion
from dpcompose.curves import Curve
from dpcompose.curves.rounding import ZERO, sqrt_up


@dataclass(frozen=True, slots=True)
class OneHot(Family):
    """The same noise on every coordinate of a histogram, whose rows each add to one coordinate.

    If the coordinates that decrease do so by at most s/2 in sum, and those that increase too, for a
    shift s, the composition of two independent losses at shift s/2 each dominates. The decreasing
    coordinates are dominated by one that decreases by their sum, and the increasing ones likewise:
    along the path of tables that moves one coordinate after the other, trade-off functions are
    composed as functions (Dong, Roth and Su 2022, Theorem 2.14), and for noise with monotone
    likelihood ratios that gives the trade-off function of the sum of the shifts. One row replaced
    has s = 2c, where c is the most that a row adds; this also covers a row that stays in its
    coordinate, or is only added or only removed. The shifts of several rows add up. `each`: c,
    where every row that is added, removed or replaced has s = 2c; else 0. `less`: how much less
    than s/2 the shift of one of the two losses is.
    """

    noise: Family
    each: Fraction = ZERO
    less: Fraction = ZERO
    norm: ClassVar[str] = "L1"

    def told(self, shift: Fraction, notion: Notion) -> tuple[str | None, dict[str, Any]]:
        """Returns the sum of the formulas of the two losses; of μ² it is at most that of one
        coordinate which moves by the sum."""
        halves = self._halves(shift)
        whole = () if notion is Notion.PURE or notion is Notion.ZCDP else (sum(halves, ZERO),)
        parts: list[str] = []
        given: dict[str, Any] = {}
        for number, moved in enumerate((*halves, *whole), start=1):
            if not moved:
                parts.append("0")
                continue
            formula, values = self.noise.told(moved, notion)
            if formula is None:
                return None, {}
            for name in values:
                formula = re.sub(rf"\b{name}\b", f"{name}{number}", formula)
            parts.append(formula)
            given.update((f"{name}{number}", value) for name, value in values.items())
        total = f"{parts[0]} + {parts[1]}"
        return (f"min({total}, {parts[2]})" if whole else total), given

    def epsilon(self, shift: Fraction) -> Fraction | None:
        one, other = map(self.noise.epsilon, self._halves(shift))
        return None if one is None or other is None else one + other

    def rho(self, shift: Fraction) -> Fraction | None:
        one, other = map(self.noise.rho, self._halves(shift))
        return None if one is None or other is None else one + other

    def mu(self, shift: Fraction) -> Fraction | None:
        square = self.mu_squared(shift)
        return None if square is None else sqrt_up(square)

    def mu_squared(self, shift: Fraction) -> Fraction | None:
        """Returns a bound on μ² at a shift, at most that of one coordinate moved by all of it; None
        if unknown."""
        # At most that of one coordinate that moves by the sum (`MechanismLoss.line`).
        one, other, whole = map(
            self.noise.mu_squared, (*self._halves(shift), sum(self._halves(shift), ZERO))
        )
        return None if one is None or other is None or whole is None else min(one + other, whole)

    def loss(self, shift: Fraction) -> Curve:
        """Returns the composed privacy loss of two coordinates, each moved by half of the shift."""
        one, other = map(self.noise.loss, self._halves(shift))
        if one == other:
            parts = tuple((part, 2 * count) for part, count in one.parts)
        else:
            parts = one.parts + other.parts
        return Curve(parts, one.gaussian + other.gaussian, one.no_failure * other.no_failure)

    def describe(self, shift: Fraction) -> str:
        return f"{self.noise.describe(shift / 2)} in each of two coordinates"

    def _halves(self, shift: Fraction) -> tuple[Fraction, Fraction]:
        """Returns how far the coordinates that fall move together, and how far those that rise, for
        a shift of all of them together (L1); the second is `less` smaller."""
        return shift / 2, shift / 2 - self.less


def least_known(moved: Mapping[Family, Fraction]) -> Iterator[tuple[Family, Fraction]]:
    """Yields the best descriptions of one loss: the mechanisms of which no other one is known to
    have a smaller loss.

    `moved`: the mechanisms with their shifts; so are the results. With k rows added or removed in
    all, the plain noise has the shift k·c, where a row replaced counts as two. If `OneHot` has
    (k+1)·c, k is odd, and neither direction has more than (k+1)/2 rows; so one of them has at most
    (k-1)/2 rows, and its sum is c less than that of the other.
    """
    known: dict[Family, Fraction] = {}
    for mechanism, shift in moved.items():
        plain = moved.get(mechanism.noise) if isinstance(mechanism, OneHot) else None
        if isinstance(mechanism, OneHot) and plain is not None:
            odd = 0 < mechanism.each == shift - plain < plain
            mechanism = replace(mechanism, less=mechanism.each if odd else ZERO)
        known[mechanism] = shift
    for mechanism, shift in known.items():
        others = ((one, at) for one, at in known.items() if one != mechanism)
        if not any(_is_within(one, at, mechanism, shift) for one, at in others):
            yield mechanism, shift


def _is_within(one: Family, shift: Fraction, other: Family, moved: Fraction) -> bool:
    """Returns whether the loss of `one` at `shift` is known to be no larger than that of `other` at
    `moved`.

    It is never so in both orders.
    """
    match one, other:
        case OneHot(DiscreteGaussian(sigma)) | DiscreteGaussian(sigma, "L1"), DiscreteGaussian(
            told, "L2"
        ):
            # One of the vectors that it may be, or less than its ρ.
            mine, its = one.rho(shift), other.rho(moved)
            return sigma == told and mine is not None and its is not None and mine <= its
        case DiscreteGaussian(sigma, "L2"), DiscreteGaussian(told, "L1"):
            # All its vectors, where they are told apart, take no more steps.
            steps, less = one.steps(shift), one.rho(shift) < other.rho(moved)
            return sigma == told and less and steps <= moved and steps <= MOST_STEPS
        case OneHot(noise, _, less), _:
            return noise == other and shift - less <= moved
        case _, OneHot(noise):
            return noise == one and shift <= moved / 2
    return False
