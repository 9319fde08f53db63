"""The sparse vector technique: reports which queries are above a threshold, up to a few."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpcompose.core.mechanisms.family import (
    BY_FAMILY,
    NOISE,
    NUMBER,
    ONE_DIRECTION,
    Family,
    FamilyForm,
    FormKey,
    Sort,
    Trusted,
    drawn_by,
)
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Hypothesis, theorem
from dpcompose.curves import Curve, curve_of
from dpcompose.curves.families import equal_steps, geometric_mu, geometric_rho
from dpcompose.curves.rounding import ZERO, plural


@dataclass(frozen=True, slots=True)
class SparseVector(Family):
    """Answers which queries are above a threshold, and stops after `positives` positive answers.

    A shift is a number of steps of the relation. Only pure DP is known of it, so that over several
    steps its loss is that of geometric noise (Dong, Roth and Su 2022, Theorem 2.14).
    """

    threshold_epsilon: Fraction
    answer_epsilon: Fraction
    value_epsilon: Fraction
    positives: int
    monotone: bool

    def epsilon(self, shift: Fraction) -> Fraction:
        return self._each * math.ceil(shift)

    def rho(self, shift: Fraction) -> Fraction:
        return geometric_rho(math.ceil(shift), 1 / self._each) if shift else ZERO

    def mu(self, shift: Fraction) -> Fraction:
        return geometric_mu(math.ceil(shift), 1 / self._each)

    def loss(self, shift: Fraction) -> Curve:
        return curve_of(equal_steps(self._each, math.ceil(shift)))

    def describe(self, shift: Fraction) -> str:
        values = " and their values" if self.value_epsilon else ""
        return f"sparse vector, {plural(self.positives, 'positive answer')}{values}"

    @property
    def _each(self) -> Fraction:
        """The ε for one step of the relation."""
        return sparse_vector(self.threshold_epsilon, self.answer_epsilon, self.value_epsilon)


@theorem(
    "sparse-vector",
    title="Above threshold, and the sparse vector technique",
    place="Documentation",
    source="dpcompose",
    formula="ε = ε₁ + ε₂ + ε₃",
    notion=Notion.PURE,
    uses=BY_FAMILY,
    hypotheses=(
        Hypothesis(
            "noise of sparse vector",
            "for every two neighbours each query moves by at most Δ. Once, Laplace noise of scale "
            "Δ/ε₁ is added to the thresholds; to each query fresh noise of scale 2cΔ/ε₂, or cΔ/ε₂ "
            "where all queries move in one direction; what is released stops after the c-th answer "
            "above; the value of each is released with fresh noise of scale cΔ/ε₃, or not at all",
            "declared",
            test=drawn_by(SparseVector),
        ),
    ),
)
def sparse_vector(threshold: Fraction, answer: Fraction, value: Fraction) -> Fraction:
    """Returns the ε of the sparse vector technique for one step of the relation.

    `threshold`, `answer`, `value`: the ε of the noise on thresholds, on queries, and on released
    values (0 if no values are released).
    """
    return threshold + answer + value


def _refusal(values: Mapping[str, object], relation: str) -> tuple[str, str, str] | None:
    """Returns why `monotone` does not fit a relation, as (key, message, hint); None if it does."""
    if not values["monotone"] or relation in ONE_DIRECTION:
        return None
    return (
        "monotone",
        f"`monotone: true` does not go with `relation: {relation}`",
        "where a row takes the place of another, some queries rise and others fall: leave it out, "
        "with noise of scale 2·positives·Δ/answer_epsilon, or state it for `relation: unbounded`",
    )


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
        FormKey(
            "monotone",
            Sort.FLAG,
            "For two neighbours all queries move in one direction, as counts do where rows come "
            "or go.",
            default=False,
        ),
    ),
    sensitivity=None,
    norm=None,
    states=("pure",),
    trusted=Trusted(
        "{}: thresholds and queries have the noise of sparse vector, for their sensitivity, and "
        "it stops in time",
        "noise of sparse vector as stated",
    ),
    by_steps=True,
    refusal=_refusal,
)
