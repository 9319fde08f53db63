"""Skellam noise: the difference of two Poisson counts of mean variance/2 each, on whole numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpcompose.core.mechanisms.family import EXACTLY_DRAWN, FamilyForm, drawn_by, family_theorem
from dpcompose.core.notions.concrete_mechanism import EqualLosses
from dpcompose.core.notions.notion import Notion
from dpcompose.core.numbers.form_keys import STEPS, FormKey, Need, Sort
from dpcompose.curves.families import LEAST_VARIANCE, SkellamLoss, skellam_rho
from dpcompose.curves.rounding import number


@dataclass(frozen=True, slots=True)
class Skellam(EqualLosses):
    """Adds to whole numbers the difference of two Poisson counts of mean `variance`/2 each.

    Sensitivities in L1 (the number of unit steps), so that a shift of one coordinate dominates.
    """

    variance: Fraction

    def part(self, shift: Fraction) -> SkellamLoss:
        """Returns the loss at a shift, rounded up to whole steps."""
        return SkellamLoss(math.ceil(shift), self.variance)

    def describe(self, shift: Fraction) -> str:
        return f"Skellam noise of variance {number(self.variance)}, sensitivity {number(shift)}"


family_theorem(
    "skellam-zcdp",
    title="Skellam noise as zCDP",
    formula="ρ = max D_α/α, a little above s²/(2·variance)",
    notion=Notion.ZCDP,
    given=drawn_by("Skellam noise", Skellam),
)(skellam_rho)


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
