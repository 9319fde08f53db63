"""The sparse vector technique: reports which queries are above a threshold, up to a few."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

from dpcompose.core.mechanisms.family import (
    FamilyForm,
    drawn_by,
    family_theorem,
    monotone_key,
    refused_monotone,
)
from dpcompose.core.notions.concrete_mechanism import OverSteps
from dpcompose.core.notions.notion import Notion, told_over_steps
from dpcompose.core.numbers.form_keys import NOISE, NUMBER, FormKey, Sort
from dpcompose.core.theorem import Assumption
from dpcompose.curves.families import GeometricLoss
from dpcompose.curves.rounding import plural


@dataclass(frozen=True, slots=True)
class SparseVector(OverSteps):
    """Answers which queries are above a threshold, and stops after `positives` positive answers.

    Only pure DP is known of it. The ε are those of the noise on thresholds, on queries, and on
    released values.
    """

    stays_open: ClassVar[str | None] = "a sparse vector"
    threshold_epsilon: Fraction
    answer_epsilon: Fraction
    value_epsilon: Fraction
    positives: int
    monotone: bool

    def told(self, shift: Fraction, notion: Notion) -> tuple[str | None, dict[str, Any]]:
        """Returns the formula of ε, a sum of those of the noises, and of ρ and μ² over steps."""
        each = sparse_vector(self.threshold_epsilon, self.answer_epsilon, self.value_epsilon)
        if notion is not Notion.PURE:
            return told_over_steps(each, math.ceil(shift), notion)
        noises = [self.threshold_epsilon, self.answer_epsilon, self.value_epsilon]
        return "c * sum(e)", {"c": math.ceil(shift), "e": noises}

    def part(self, shift: Fraction) -> GeometricLoss:
        each = sparse_vector(self.threshold_epsilon, self.answer_epsilon, self.value_epsilon)
        return GeometricLoss(math.ceil(shift), 1 / each)

    def describe(self, shift: Fraction) -> str:
        values = " and their values" if self.value_epsilon else ""
        return f"sparse vector, {plural(self.positives, 'positive answer')}{values}"


@family_theorem(
    "sparse-vector",
    title="Above threshold, and the sparse vector technique",
    formula="ε = ε₁ + ε₂ + ε₃",
    notion=Notion.PURE,
    given=drawn_by("noise of sparse vector", SparseVector),
)
def sparse_vector(threshold: Fraction, answer: Fraction, value: Fraction) -> Fraction:
    """Returns the ε of the sparse vector technique for one step of the relation.

    `threshold`, `answer`, `value`: the ε of the noise on thresholds, on queries, and on released
    values (0 if no values are released).
    """
    return threshold + answer + value


FORM = FamilyForm(
    name="sparse-vector",
    family=SparseVector,
    about="Which of many queries are above a threshold, until so many are.",
    keys=(
        FormKey(
            "threshold_epsilon",
            Sort.NUMBER,
            "The noise on the thresholds has scale Δ/threshold_epsilon, Δ the sensitivity of each "
            "query.",
            need=NOISE,
        ),
        FormKey(
            "answer_epsilon",
            Sort.NUMBER,
            "The noise on each query has scale 2·positives·Δ/answer_epsilon, or half of it if "
            "`monotone`.",
            need=NOISE,
        ),
        FormKey(
            "value_epsilon",
            Sort.NUMBER,
            "The value of each query above is released with fresh noise of scale "
            "positives·Δ/value_epsilon; left out: no values.",
            default=None,
            need=NUMBER,
        ),
        FormKey("positives", Sort.WHOLE, "After so many answers above it stops."),
        monotone_key("queries"),
    ),
    states=("pure",),
    trusted=Assumption(
        "{}: thresholds and queries have the noise of sparse vector, for their sensitivity, and "
        "it stops in time",
        shortly="noise of sparse vector as stated",
    ),
    by_steps=True,
    refusal=partial(refused_monotone, moved="queries", scale="2·positives·Δ/answer_epsilon"),
)
