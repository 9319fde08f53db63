"""Skellam noise: the difference of two Poisson counts of mean variance/2 each, on whole numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpcompose.core.mechanisms.family import (
    BY_FAMILY,
    EXACTLY_DRAWN,
    STEPS,
    Family,
    FamilyForm,
    FormKey,
    Need,
    Sort,
    drawn_by,
)
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Hypothesis, theorem
from dpcompose.curves import Curve
from dpcompose.curves.families import LEAST_VARIANCE, SkellamLoss, skellam_rho
from dpcompose.curves.rounding import ZERO, number


@dataclass(frozen=True, slots=True)
class Skellam(Family):
    """Adds to whole numbers the difference of two Poisson counts of mean `variance`/2 each.

    Sensitivities in L1 (the number of unit steps), so that a shift of one coordinate dominates.
    """

    variance: Fraction

    def epsilon(self, shift: Fraction) -> None:
        return None

    def rho(self, shift: Fraction) -> Fraction:
        return skellam_zcdp(math.ceil(shift), self.variance) if shift else ZERO

    def mu(self, shift: Fraction) -> None:
        return None

    def loss(self, shift: Fraction) -> Curve:
        return Curve(((self._shifted(shift), 1),))

    def _shifted(self, shift: Fraction) -> SkellamLoss:
        """Returns the loss at a shift, rounded up to whole steps."""
        return SkellamLoss(math.ceil(shift), self.variance)

    def describe(self, shift: Fraction) -> str:
        return f"Skellam noise of variance {number(self.variance)}, sensitivity {number(shift)}"


@theorem(
    "skellam-zcdp",
    title="Skellam noise as zCDP",
    place="Documentation",
    source="dpcompose",
    formula="ρ = max D_α/α, a little above s²/(2·variance)",
    notion=Notion.ZCDP,
    uses=BY_FAMILY,
    hypotheses=(
        Hypothesis(
            "Skellam noise",
            "the difference of two Poisson counts of mean variance/2 each is drawn for each whole "
            "number; a change moves them by at most s in all (L1)",
            "declared",
            drawn_by(Skellam),
        ),
    ),
)
def skellam_zcdp(shift: int, variance: Fraction) -> Fraction:
    """Returns a ρ of Skellam noise of a variance moved by `shift` steps, rounded up."""
    return skellam_rho(shift, variance)


FORM = FamilyForm(
    name="skellam",
    family=Skellam,
    about="The difference of two Poisson counts, on whole numbers; its sensitivity is in L1.",
    keys=(
        FormKey(
            "variance",
            Sort.NUMBER,
            "The variance of the noise: two Poisson counts of half of it each.",
            need=Need(
                "at least 1/1000000",
                "DPC114",
                "with so little noise next to nothing is protected",
                lambda value: value >= LEAST_VARIANCE,
            ),
            noise=True,
            exactly=True,
        ),
    ),
    sensitivity=STEPS,
    norm="L1",
    states=("zcdp",),
    trusted=EXACTLY_DRAWN,
    whole=True,
)
