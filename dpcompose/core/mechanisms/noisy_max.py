"""Selection by noisy scores: the largest, the k largest, and permute-and-flip."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dpcompose.core.mechanisms.exponential import Exponential
from dpcompose.core.mechanisms.family import (
    FamilyForm,
    Why,
    drawn_by,
    family_theorem,
    monotone_key,
    noise_key,
    refused_monotone,
)
from dpcompose.core.mechanisms.laplace import Laplace
from dpcompose.core.notions.concrete_mechanism import OverSteps
from dpcompose.core.notions.notion import Notion, told_over_steps
from dpcompose.core.numbers.form_keys import NOISE, POSITIVE, FormKey, Sort
from dpcompose.core.theorem import Assumption
from dpcompose.curves.families import BoundedRange, GeometricLoss, LaplaceLoss
from dpcompose.curves.rounding import ONE, ZERO, number, plural, sqrt_up

#: The noise that scores may get.
NOISES = ("laplace", "exponential", "gumbel", "geometric")


@dataclass(frozen=True, slots=True)
class NoisyMax(OverSteps):
    """Releases the name of the candidate with the largest noisy score.

    Over several steps of the relation the ranges of the scores add up. `law`: the name of the noise
    on each score. `range_epsilon`: how far two scores may move apart in one step, divided by the
    scale of the noise; this is the ε of one pick.
    """

    range_epsilon: Fraction
    law: str = "laplace"
    monotone: bool = False

    picks: ClassVar[int] = 1

    def part(self, shift: Fraction) -> LaplaceLoss | BoundedRange | GeometricLoss:
        """Returns the dominating pair of one pick of a candidate at a shift, or of all picks."""
        steps = math.ceil(shift)
        match self._pair:
            case "gumbel":
                return BoundedRange(self.range_epsilon * steps)
            case "geometric":
                # In units of Δ: scores move apart by 2, or by 1 if all move in one direction.
                apart = 1 if self.monotone else 2
                return GeometricLoss(apart * steps, apart / self.range_epsilon)
            case "pure":
                return GeometricLoss(steps, 1 / (self._count * self.range_epsilon))
        return LaplaceLoss(self.range_epsilon * steps)

    def told(self, shift: Fraction, notion: Notion) -> tuple[str | None, dict[str, Any]]:
        """Returns the formula of ε, and of ρ and μ² as those of the noise of each pick."""
        steps, each = math.ceil(shift), self.range_epsilon
        if notion is Notion.PURE:
            return "p * e * c", {"p": self._count, "e": each, "c": steps}
        part = self.part(shift)
        formula: str | None
        if isinstance(part, GeometricLoss):
            formula, given = told_over_steps(1 / part.scale, part.shift, notion)
        else:
            noise = Laplace(ONE) if isinstance(part, LaplaceLoss) else Exponential(ONE)
            formula, given = noise.told(each * steps, notion)
        return f"p * ({formula})", {"p": self.times(shift), **given}

    def times(self, shift: Fraction) -> int:
        return 1 if self._pair == "pure" else self._count

    def mu(self, shift: Fraction) -> Fraction:
        return sqrt_up(self.mu_squared(shift))

    def mu_squared(self, shift: Fraction) -> Fraction:
        return self.times(shift) * self.part(shift).mu() ** 2

    def epsilon(self, shift: Fraction) -> Fraction:
        return noisy_max(self.range_epsilon, Fraction(self._count)) * math.ceil(shift)

    def describe(self, shift: Fraction) -> str:
        return f"noisy max, {self.law} noise, ε = {number(self.range_epsilon)}"

    @property
    def _count(self) -> int:
        """Returns the number of candidates that are named."""
        return self.picks

    @property
    def _pair(self) -> str:
        """Returns the noise whose dominating pair bounds each pick; `pure` if only the ε of all
        picks is known."""
        return self.law


@dataclass(frozen=True, slots=True)
class PermuteAndFlip(NoisyMax):
    """Permute-and-flip, which has the law of noisy max with exponential noise (Ding and others
    2021)."""

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


@family_theorem(
    "noisy-max",
    title="Noisy max, permute-and-flip and peeling: the Laplace pair",
    formula="ε = k·ε₁; δ(ε) ≤ 1 - e^((ε-ε₁)/2) for one pick",
    notion=Notion.PURE,
    given=drawn_by("noise of noisy max", NoisyMax),
)
def noisy_max(epsilon: Fraction, picks: Fraction) -> Fraction:
    """Returns the ε of a selection by noisy scores, for one step of the relation.

    `epsilon`: of one pick; `picks`: how many candidates are picked.
    """
    return epsilon * picks


def _refusal(values: Mapping[str, object], relation: str) -> Why | None:
    """Returns why the parameters of a noisy-max mechanism contradict each other or do not fit the
    neighbouring relation, as (key, message, hint); None if they do not.

    `values`: the parameters by their keys in the spec, of which either `epsilon` or `scale` and
    `sensitivity` are given; `monotone` needs a relation under which all scores move in one
    direction.
    """
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
    return refused_monotone(values, relation, "scores", "2Δ/epsilon")


def _range_epsilon(
    epsilon: Fraction, scale: Fraction, sensitivity: Fraction, monotone: bool
) -> Fraction:
    """Returns the ε of one pick of a selection: as given, or from the noise on each score.

    Numbers that a spec leaves out are 0. `scale`: of the noise; `sensitivity`: of a score;
    `monotone`: all scores move in one direction, so that they move apart by one sensitivity, not
    two.
    """
    return epsilon or (1 if monotone else 2) * sensitivity / scale


_EPSILON = FormKey(
    "epsilon",
    Sort.NUMBER,
    "The scale of the noise is 2Δ/epsilon, or Δ/epsilon if `monotone`, Δ the sensitivity of each "
    "score.",
    default=None,
    need=NOISE,
)
_SCALE = noise_key(
    "scale", "In place of `epsilon`: the scale of the noise on each score.", default=None
)
_MOVED = FormKey(
    "sensitivity",
    Sort.NUMBER,
    "With `scale`: how far one row moves each score; with `relation`, one step of that.",
    default=None,
    need=POSITIVE,
    fact=True,
)
_NOISE = FormKey("noise", Sort.CHOICE, "The noise on each score.", "laplace", choices=NOISES)
_MONOTONE = monotone_key("scores")
_TRUSTED = Assumption(
    "{}: scores have the noise stated, for their sensitivity, and no noisy score is released",
    shortly="noise on scores as stated, names only",
)

FORM = FamilyForm(
    name="noisy-max",
    family=NoisyMax,
    about="The candidate whose score is largest after noise, by name.",
    keys=(_EPSILON, _SCALE, _MOVED, _NOISE, _MONOTONE),
    states=("pure",),
    trusted=_TRUSTED,
    by_steps=True,
    make=lambda epsilon, scale, sensitivity, noise, monotone: NoisyMax(
        _range_epsilon(epsilon, scale, sensitivity, monotone), noise, monotone
    ),
    refusal=_refusal,
)
PERMUTE_AND_FLIP = FORM._replace(
    name="permute-and-flip",
    family=PermuteAndFlip,
    about="A candidate that is tossed for in random order, likelier the higher its score.",
    keys=(_EPSILON, _SCALE, _MOVED, _MONOTONE),
    make=lambda epsilon, scale, sensitivity, monotone: PermuteAndFlip(
        _range_epsilon(epsilon, scale, sensitivity, monotone), monotone=monotone
    ),
)
TOP_K = FORM._replace(
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
    make=lambda epsilon, scale, sensitivity, noise, monotone, k, peeling: TopK(
        _range_epsilon(epsilon, scale, sensitivity, monotone), noise, monotone, k, peeling
    ),
)
