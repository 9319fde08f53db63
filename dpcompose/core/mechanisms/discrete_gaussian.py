"""Discrete Gaussian noise: mass proportional to e^(-n²/(2·sigma²)) on the whole numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from dpcompose.core.mechanisms.family import EXACTLY_DRAWN, Family, FamilyForm, noise_key
from dpcompose.core.numbers.form_keys import WHOLE_L2
from dpcompose.curves import Concentrated, Curve, maximum
from dpcompose.curves.families import DiscreteGaussianLoss
from dpcompose.curves.rounding import number, sqrt_up

#: Up to this square of the L2 norm all shifts are listed: five at 12.
MOST_SQUARED = 12


@dataclass(frozen=True, slots=True)
class DiscreteGaussian(Family):
    """Adds to whole numbers noise of mass proportional to e^(-n²/(2·sigma²)).

    `norm`: sensitivities are in L1 (the number of unit steps), so that a shift of one coordinate
    dominates; or in L2, where at some δ steps in several coordinates are worse than one step as far
    in one coordinate, and at others less. `unit`: the square of the unit of shifts in L2.
    """

    sigma: Fraction
    norm: Literal["L1", "L2"] = "L1"
    unit: Fraction = Fraction(1)

    def rho(self, shift: Fraction) -> Fraction:
        """Returns ρ = s²/(2σ²) for the `shift` s (Canonne, Kamath and Steinke 2020), attained at
        the order α = 2."""
        return (shift / self.sigma) ** 2 * self.unit / 2

    def loss(self, shift: Fraction) -> Curve:
        """Returns the loss at a shift: exact for one coordinate; in L2 the largest loss of all
        whole vectors of that norm, or a bound by ρ where they are too many.

        Whole numbers move by whole numbers. The noise is independent in each coordinate and
        symmetric, so that a vector v has the composition of one coordinate moved by each |v_i|. A
        vector of a smaller norm, with coordinates moved by one beside it until Σ v_i² is the square
        of the norm rounded down, loses no less: dropping them is post-processing. What is one of
        the remaining vectors, whichever, has the greatest of their profiles.
        """
        variance = self.sigma * self.sigma
        if self.norm == "L1":
            return Curve(((DiscreteGaussianLoss(math.ceil(shift), variance), 1),))
        square = math.floor(shift * shift * self.unit)
        if square > MOST_SQUARED:
            return Curve(((Concentrated(self.rho(shift)), 1),))
        return maximum(
            Curve(tuple((DiscreteGaussianLoss(moved, variance), n) for moved, n in way))
            for way in _sums_of_squares(square, math.isqrt(square))
        )

    def describe(self, shift: Fraction) -> str:
        norm = " in L2" if self.norm == "L2" else ""
        moved = f"sensitivity {number(sqrt_up(shift * shift * self.unit))}{norm}"
        return f"discrete Gaussian noise of σ = {number(self.sigma)}, {moved}"


def _sums_of_squares(total: int, most: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yields the ways to write `total` as a sum of squares of whole numbers from 1 to `most`, each
    number with its count."""
    if most <= 1:
        yield ((1, total),) if total else ()
        return
    for count in range(total // most**2 + 1):
        for rest in _sums_of_squares(total - count * most**2, most - 1):
            yield ((most, count), *rest) if count else rest


FORM = FamilyForm(
    name="discrete-gaussian",
    family=DiscreteGaussian,
    about="Discrete normal noise on whole numbers; its sensitivity is in L2.",
    keys=(
        noise_key(
            "sigma", "The noise n has a mass proportional to e^(-n²/(2·sigma²)).", exactly=True
        ),
    ),
    sensitivity=WHOLE_L2,
    norm="L2",
    states=("zcdp",),
    trusted=EXACTLY_DRAWN,
    whole=True,
    giving=lambda stated: sqrt_up(1 / (2 * stated.value)),
)
