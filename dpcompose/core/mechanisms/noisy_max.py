"""Selection by noisy scores: the largest, the k largest, and permute-and-flip."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpcompose.core.mechanisms.family import (
    BY_FAMILY,
    NOISE,
    ONE_DIRECTION,
    Family,
    FamilyForm,
    FormKey,
    Need,
    Sort,
    Trusted,
    drawn_by,
)
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Example, Hypothesis, theorem
from dpcompose.curves import Curve, Part, curve_of
from dpcompose.curves.families import (
    BoundedRange,
    LaplaceLoss,
    bounded_range_mu,
    bounded_range_rho,
    equal_steps,
    geometric_mu,
    geometric_rho,
    laplace_mu,
    laplace_rho,
)
from dpcompose.curves.rounding import ZERO, number, plural, sqrt_up

#: The noise that scores may get.
NOISES = ("laplace", "exponential", "gumbel", "geometric")


@dataclass(frozen=True, slots=True)
class NoisyMax(Family):
    """Names the candidate whose score is largest after noise; `range_epsilon` is the ε of one pick.

    A shift is a number of steps of the relation; over several steps the ranges of the scores add
    up. `law`: the name of the noise on each score. `range_epsilon`: how far two scores may move
    apart in one step, divided by the scale of the noise.
    """

    range_epsilon: Fraction
    law: str = "laplace"
    monotone: bool = False

    picks: ClassVar[int] = 1

    def epsilon(self, shift: Fraction) -> Fraction:
        return noisy_max(self.range_epsilon, Fraction(self._count)) * math.ceil(shift)

    def rho(self, shift: Fraction) -> Fraction:
        if not shift:
            return ZERO
        moved = self.range_epsilon * math.ceil(shift)
        match self._pair:
            case "gumbel":
                return self._count * bounded_range_rho(moved)
            case "geometric":
                return self._count * geometric_rho(*self._lattice(shift))
            case "pure":
                return geometric_rho(math.ceil(shift), 1 / (self._count * self.range_epsilon))
        return self._count * laplace_rho(moved)

    def mu(self, shift: Fraction) -> Fraction:
        return sqrt_up(self.mu_squared(shift))

    def mu_squared(self, shift: Fraction) -> Fraction:
        """Returns the square of the least μ that is known, rounded up."""
        if not shift:
            return ZERO
        moved = self.range_epsilon * math.ceil(shift)
        match self._pair:
            case "gumbel":
                return self._count * bounded_range_mu(moved) ** 2
            case "geometric":
                return self._count * geometric_mu(*self._lattice(shift)) ** 2
            case "pure":
                return geometric_mu(math.ceil(shift), 1 / (self._count * self.range_epsilon)) ** 2
        return self._count * laplace_mu(moved) ** 2

    def loss(self, shift: Fraction) -> Curve:
        moved = self.range_epsilon * math.ceil(shift)
        part: Part
        match self._pair:
            case "gumbel":
                part = BoundedRange(moved)
            case "geometric":
                steps, scale = self._lattice(shift)
                part = equal_steps(1 / scale, steps)
            case "pure":
                return curve_of(equal_steps(self._count * self.range_epsilon, math.ceil(shift)))
            case _:
                part = LaplaceLoss(moved)
        return Curve(((part, self._count),))

    def describe(self, shift: Fraction) -> str:
        return f"noisy max, {self.law} noise, ε = {number(self.range_epsilon)}"

    @property
    def _count(self) -> int:
        """The number of picks."""
        return self.picks

    @property
    def _pair(self) -> str:
        """The pair that bounds each pick, by its noise: `pure` if only ε-DP of all is known."""
        return self.law

    def _lattice(self, shift: Fraction) -> tuple[int, Fraction]:
        """Returns whole steps of the range, and the scale of geometric noise, for Δ = 1."""
        each = 1 if self.monotone else 2
        return each * math.ceil(shift), each / self.range_epsilon


@dataclass(frozen=True, slots=True)
class PermuteAndFlip(NoisyMax):
    """Noisy max with exponential noise, drawn in another way (Ding and others 2021)."""

    law: str = "exponential"

    def describe(self, shift: Fraction) -> str:
        return f"permute-and-flip, ε = {number(self.range_epsilon)}"


@dataclass(frozen=True, slots=True)
class TopK(NoisyMax):
    """Names, in order, the k candidates whose scores are largest after noise; no scores.

    `peeling`: each pick draws all noise anew.
    """

    k: int = 1
    peeling: bool = False

    def describe(self, shift: Fraction) -> str:
        each = f"ε = {number(self.range_epsilon)} each"
        return f"top {plural(self.k, 'candidate')}, {self.law} noise, {each}"

    @property
    def _count(self) -> int:
        return self.k

    @property
    def _pair(self) -> str:
        # Gumbel noise added once picks as the exponential mechanism does, without replacement.
        return self.law if self.peeling or self.law == "gumbel" or self.k == 1 else "pure"


@theorem(
    "noisy-max",
    title="Noisy max, permute-and-flip and peeling: the Laplace pair",
    place="Documentation",
    source="dpcompose",
    formula="ε = k·ε₁; δ(ε) ≤ 1 - e^((ε-ε₁)/2) for one pick",
    notion=Notion.PURE,
    uses=BY_FAMILY,
    hypotheses=(
        Hypothesis(
            "noise of noisy max",
            "for every two neighbours two scores move apart by at most d (2Δ, or Δ where all "
            "scores move in one direction); independent Laplace, exponential or Gumbel noise of "
            "scale d/ε₁, or geometric noise of ratio e^(-ε₁/d) for whole scores, is added to each "
            "score; the name of the largest is released, not its score",
            "declared",
            test=drawn_by(NoisyMax),
        ),
    ),
    example=Example(
        (Fraction(1), Fraction(1)),
        Fraction(1),
        "ε₁ = 1 is δ = 0.2212 at ε = 1/2, where 1-DP alone allows 0.2870.",
    ),
    statement="""\
    The name of the largest noisy score has at most the privacy loss of the Laplace pair of ε₁: two
    Laplace densities, ε₁ scales apart. It is ε₁-DP and (ε₁ + e^-ε₁ - 1)-zCDP. k picks with fresh
    noise compose k such pairs.

    Proof. Let λ = ε₁/d. For each of these noises, P(E > x+s) ≥ e^(-λs)·P(E > x). For a set S of
    candidates let X be the largest noisy score in S minus the largest of the others. On the other
    table P(S) is at most P(X > -d) = G(d), here it is G(0). Going through the first candidate of S
    above v, P(max of S > v+s) ≥ e^(-λs)·P(max of S > v); averaged over the maximum of the others,
    P(X > x+s) ≥ e^(-λs)·P(X > x), and the same holds for -X. So the slope of G is at most
    λ·min(G, 1-G), with equality for Laplace: G(d) ≤ β(G(0)), β the power function of the Laplace
    pair. Tests that toss a coin are mixtures of sets, and β is concave. For whole scores and
    geometric noise the same holds in d steps of 1 each, which is the geometric pair.

    Permute-and-flip has the law of noisy max with exponential noise (Ding and others 2021). With
    Gumbel noise it is the exponential mechanism, and the loss has a range of ε₁; the k largest of
    one draw are k such picks without replacement. Two equal scores moved by ±Δ, exponential noise:
    the chance 1/2 becomes 1 - e^-ε₁/2, all that the pair allows.
    """,
)
def noisy_max(epsilon: Fraction, picks: Fraction) -> Fraction:
    """Returns the ε of so many picks for one step of the relation; `epsilon`: of one pick."""
    return epsilon * picks


def _refusal(values: Mapping[str, object], relation: str) -> tuple[str, str, str] | None:
    """Returns why values do not fit each other or a relation, as (key, message, hint), or None."""
    epsilon, scale, moved = (values[each] != ZERO for each in ("epsilon", "scale", "sensitivity"))
    if epsilon and (scale or moved):
        other = "scale" if scale else "sensitivity"
        return other, f"`{other}` and `epsilon` exclude each other", "ε is 2·sensitivity/scale"
    if not epsilon and not (scale and moved):
        missing = "sensitivity" if scale else "scale" if moved else "epsilon"
        return (
            "mechanism",
            f"a selection by noisy scores needs `{missing}`",
            "`epsilon`, or the `scale` of the noise and the `sensitivity` of each score",
        )
    if not values.get("monotone") or relation in ONE_DIRECTION:
        return None
    return (
        "monotone",
        f"`monotone: true` does not go with `relation: {relation}`",
        "where a row takes the place of another, some scores rise and others fall: leave it out, "
        "with noise of scale 2Δ/epsilon, or state it for `relation: unbounded`",
    )


def _range_epsilon(
    epsilon: Fraction, scale: Fraction, sensitivity: Fraction, monotone: bool
) -> Fraction:
    """Returns the ε of one pick; 0 stands for numbers that a spec leaves out."""
    return epsilon or (1 if monotone else 2) * sensitivity / scale


_EPSILON = FormKey(
    "epsilon",
    Sort.NUMBER,
    "The scale of the noise is 2Δ/epsilon, or Δ/epsilon if `monotone`, Δ the sensitivity of each "
    "score.",
    default=None,
    need=NOISE,
)
_SCALE = FormKey(
    "scale",
    Sort.NUMBER,
    "In place of `epsilon`: the scale of the noise on each score.",
    default=None,
    need=NOISE,
    noise=True,
)
_MOVED = FormKey(
    "sensitivity",
    Sort.NUMBER,
    "With `scale`: how far each score moves for two neighbours.",
    default=None,
    need=Need("above 0", "DPC111", None, lambda value: value > 0),
    fact=True,
)
_NOISE = FormKey("noise", Sort.CHOICE, "The noise on each score.", "laplace", choices=NOISES)
_MONOTONE = FormKey(
    "monotone",
    Sort.FLAG,
    "For two neighbours all scores move in one direction, as counts do where rows come or go.",
    default=False,
)
_TRUSTED = Trusted(
    "{}: scores have the noise stated, for their sensitivity, and no noisy score is released",
    "noise on scores as stated, names only",
)

FORM = FamilyForm(
    name="noisy-max",
    family=NoisyMax,
    about="The candidate whose score is largest after noise, by name.",
    keys=(_EPSILON, _SCALE, _MOVED, _NOISE, _MONOTONE),
    sensitivity=None,
    norm=None,
    states=("pure",),
    trusted=_TRUSTED,
    by_steps=True,
    make=lambda epsilon, scale, sensitivity, noise, monotone: NoisyMax(
        _range_epsilon(epsilon, scale, sensitivity, monotone), noise, monotone
    ),
    refusal=_refusal,
)
PERMUTE_AND_FLIP = FamilyForm(
    name="permute-and-flip",
    family=PermuteAndFlip,
    about="A candidate that is tossed for in random order, likelier the higher its score.",
    keys=(_EPSILON, _SCALE, _MOVED, _MONOTONE),
    sensitivity=None,
    norm=None,
    states=("pure",),
    trusted=_TRUSTED,
    by_steps=True,
    make=lambda epsilon, scale, sensitivity, monotone: PermuteAndFlip(
        _range_epsilon(epsilon, scale, sensitivity, monotone), monotone=monotone
    ),
    refusal=_refusal,
)
TOP_K = FamilyForm(
    name="top-k",
    family=TopK,
    about="The k candidates whose scores are largest after noise, by name and in order.",
    keys=(
        _EPSILON._replace(says=f"Of each pick. {_EPSILON.says}"),
        _SCALE,
        _MOVED,
        _NOISE._replace(default="gumbel"),
        _MONOTONE,
        FormKey("k", Sort.WHOLE, "How many candidates are named."),
        FormKey("peeling", Sort.FLAG, "Each pick draws all noise anew.", default=False),
    ),
    sensitivity=None,
    norm=None,
    states=("pure",),
    trusted=_TRUSTED,
    by_steps=True,
    make=lambda epsilon, scale, sensitivity, noise, monotone, k, peeling: TopK(
        _range_epsilon(epsilon, scale, sensitivity, monotone), noise, monotone, k, peeling
    ),
    refusal=_refusal,
)
