"""Discrete Gaussian noise: mass proportional to e^(-n²/(2·sigma²)) on the whole numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Literal

from dpcompose.core.mechanisms.family import EXACTLY_DRAWN, FamilyForm, noise_key
from dpcompose.core.notions.concrete_mechanism import Family
from dpcompose.core.notions.notion import Notion
from dpcompose.core.numbers.form_keys import WHOLE_L2
from dpcompose.curves import Concentrated, Curve, maximum
from dpcompose.curves.families import DiscreteGaussianLoss
from dpcompose.curves.rounding import ZERO, number, sqrt_up

#: Whole vectors of a larger L1 norm are too many to be told apart; of this one seven are left.
MOST_STEPS = 9


@dataclass(frozen=True, slots=True)
class DiscreteGaussian(Family):
    """Adds to whole numbers noise of mass proportional to e^(-n²/(2·sigma²)).

    `norm`: sensitivities are in L1 (the number of unit steps), so that a shift of one coordinate
    dominates; or in L2, where at some δ steps in several coordinates are worse than one step as far
    in one coordinate, and at others less. `unit`: the square of the unit of shifts in L2; `most`:
    the most steps for each such unit (0: not known).
    """

    FORMULAS: ClassVar[dict[Notion, str]] = {Notion.ZCDP: "(s / sigma) ** 2 * u / 2"}
    sigma: Fraction
    norm: Literal["L1", "L2"] = "L1"
    unit: Fraction = Fraction(1)
    most: Fraction = ZERO

    def steps(self, shift: Fraction) -> int:
        """Returns how many unit steps a vector of whole numbers moves at most at a shift: its L1
        norm, which is at most the square of that in L2."""
        if self.norm == "L1":
            return math.ceil(shift)
        steps = self._squared(shift)
        return min(steps, math.floor(shift * self.most)) if self.most else steps

    def _squared(self, shift: Fraction) -> int:
        """Returns the largest square of the L2 norm of a vector of whole numbers at a shift."""
        return math.floor(shift * shift * self.unit)

    def parameters(self, shift: Fraction) -> dict[str, Any]:
        return {"sigma": self.sigma, "u": self.unit}

    def rho(self, shift: Fraction) -> Fraction:
        """Returns ρ = s²/(2σ²) for the `shift` s (Canonne, Kamath and Steinke 2020), attained at
        the order α = 2."""
        return (shift / self.sigma) ** 2 * self.unit / 2

    def loss(self, shift: Fraction) -> Curve:
        """Returns the loss at a shift: exact for one coordinate; in L2 the largest one of all whole
        vectors of these norms, or a bound by ρ where they are too many.

        The noise is independent in each coordinate and symmetric, so that a vector v has the
        composition of one coordinate moved by each |v_i|. One of several vectors, whichever, has
        the greatest of their profiles.
        """
        variance, steps = self.sigma * self.sigma, self.steps(shift)
        if self.norm == "L1":
            return Curve(((DiscreteGaussianLoss(steps, variance), 1),))
        if steps > MOST_STEPS:
            return Curve(((Concentrated(self.rho(shift)), 1),))
        return maximum(
            Curve(tuple((DiscreteGaussianLoss(x, variance), n) for x, n in Counter(way).items()))
            for way in worst_vectors(steps, self._squared(shift))
        )

    def describe(self, shift: Fraction) -> str:
        norm = " in L2" if self.norm == "L2" else ""
        moved = f"sensitivity {number(sqrt_up(shift * shift * self.unit))}{norm}"
        return f"discrete Gaussian noise of σ = {number(self.sigma)}, {moved}"


@lru_cache(maxsize=256)
def worst_vectors(steps: int, squared: int) -> tuple[tuple[int, ...], ...]:
    """Returns the vectors of whole numbers with Σ v_i ≤ `steps` and Σ v_i² ≤ `squared` of which one
    loses the most, each sorted.

    A vector is left out where a larger one is among them, which loses no less: with one coordinate
    more, which post-processing may drop; with one that moves further; or with one in place of two,
    that moves by their sum, since the trade-off functions of the two steps of a path compose to
    that of their sum (`OneHot`). Every vector is reached from none by adding ones, and each larger
    one has a larger Σ v_i or Σ v_i², so that all end at those that are kept.
    """
    seen: set[tuple[int, ...]] = {()}
    kept, last = list[tuple[int, ...]](), [*seen]
    while last:
        vector = last.pop()
        larger = {
            each
            for each in _larger(vector)
            if sum(each) <= steps and sum(x * x for x in each) <= squared
        }
        if not larger:
            kept.append(vector)
        last += larger - seen
        seen |= larger
    return tuple(sorted(kept))


def _larger(vector: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yields the vectors that are one step larger: one coordinate more, one that moves by one more,
    or two that are one."""
    yield (*vector, 1)
    for i, x in enumerate(vector):
        rest = vector[:i] + vector[i + 1 :]
        yield tuple(sorted((*rest, x + 1), reverse=True))
        for j, y in enumerate(rest):
            yield tuple(sorted((*rest[:j], *rest[j + 1 :], x + y), reverse=True))


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
