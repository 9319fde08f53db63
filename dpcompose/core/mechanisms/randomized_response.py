"""Randomized response: every row answers by itself, with one of k values, mostly the true one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from dpcompose.core.mechanisms.family import (
    BY_FAMILY,
    NUMBER,
    Family,
    FamilyForm,
    ParameterKey,
    Trusted,
    drawn_by,
)
from dpcompose.core.notions.notion import Notion
from dpcompose.core.numbers.exact import (
    MAX_EXPONENT,
    ZERO,
    bits_up,
    exp_up,
    gaussian_mean_up,
    log1p_up,
    sqrt_up,
    tanh_up,
)
from dpcompose.core.numbers.words import number, plural
from dpcompose.core.profile.cumulants import Cumulant, not_below, of_response
from dpcompose.core.profile.largest import largest_ratio
from dpcompose.core.profile.parts import Composition, MechanismLoss
from dpcompose.core.profile.sizes import RESPONSE, least
from dpcompose.core.theorem import Example, Hypothesis, theorem

if TYPE_CHECKING:
    from dpcompose.core.profile.masses import Masses

#: More than what is rounded up in a quantile of the normal law, relatively.
_SLIGHTLY = Fraction(1, 10**30)


@dataclass(frozen=True, slots=True)
class RandomizedResponse(Family):
    """Keeps one of `k` values with odds e^ε to 1 against each other one; a shift of 1 is a row."""

    k: int
    odds: Fraction

    def epsilon(self, shift: Fraction) -> Fraction:
        return self.odds * math.ceil(shift)

    def rho(self, shift: Fraction) -> Fraction:
        return KaryResponse(self.k, self.odds).rho() * math.ceil(shift)

    def mu(self, shift: Fraction) -> Fraction:
        """Independent answers: μ² adds up."""
        rows = math.ceil(shift)
        return sqrt_up(Fraction(rows)) * KaryResponse(self.k, self.odds).mu()

    def loss(self, shift: Fraction) -> Composition:
        """Every row answers by itself: so many rows are so many independent answers."""
        return Composition(((KaryResponse(self.k, self.odds), math.ceil(shift)),))

    def describe(self, shift: Fraction) -> str:
        return f"randomized response over {plural(self.k, 'value')}"


@dataclass(frozen=True, slots=True)
class KaryResponse(MechanismLoss):
    """Randomized response over `k` ≥ 2 values: loss +ε, -ε, or 0 (another value came out)."""

    k: int
    epsilon: Fraction

    def masses(self, step: Fraction) -> Masses:
        from dpcompose.core.profile.discrete import kary_response

        return kary_response(self.k, self.epsilon, step)

    def cumulant(self) -> Cumulant:
        return Cumulant(of_response(self.k, not_below(self.epsilon)))

    def quadratic(self) -> Fraction:
        return ZERO

    def greatest(self) -> Fraction:
        return self.epsilon

    def rho(self) -> Fraction:
        return randomized_response_zcdp(self.k, self.epsilon)

    def mu(self) -> Fraction:
        return randomized_response_gdp(self.k, self.epsilon)

    def natural_step(self) -> Fraction:
        return self.epsilon

    def anchor(self) -> Fraction:
        return self.epsilon

    def spread(self) -> float:
        odds = math.exp(least(self.epsilon, 700))
        share = (odds + 1) / (odds + min(self.k, 1e300) - 1)
        return least(self.epsilon, RESPONSE) * math.sqrt(share)

    def line(self) -> None:
        return None

    def with_shift(self, shift: Fraction) -> KaryResponse:
        return KaryResponse(self.k, shift)

    def coarse(self, bits: int) -> KaryResponse:
        return KaryResponse(self.k, bits_up(self.epsilon, bits))

    def dominates(self, other: MechanismLoss) -> bool:
        return False

    def attained(self) -> bool:
        return True

    def describe(self) -> str:
        return f"{self.k}-ary randomized response of ε = {number(self.epsilon)}"


@lru_cache(maxsize=256)
def _largest(k: int, epsilon: Fraction) -> Fraction:
    """No divergence exceeds ε."""
    least = not_below(epsilon)
    return largest_ratio(of_response(k, least), lambda ratio: least / ratio)


ODDS = Hypothesis(
    "the odds",
    "every row answers by itself, the true value with odds of e^ε to 1 against each other one",
    "declared",
    test=drawn_by(RandomizedResponse),
)


@theorem(
    "randomized-response-zcdp",
    title="Randomized response as zCDP",
    place="Documentation",
    source="dpcompose",
    formula="ρ = max D_α/α = ε(e^ε-1)/(e^ε+k-1) for k ≤ 2 + 2e^(ε/2)",
    notion=Notion.ZCDP,
    uses=BY_FAMILY,
    hypotheses=(ODDS,),
    example=Example(
        (2, Fraction(1)),
        tanh_up(Fraction(1, 2)),
        "Two values with ε = 1 are ρ = tanh(1/2), about 0.46212; four values are 0.30048.",
    ),
    statement="""\
    Randomized response over k values is ρ-zCDP with the largest D_α/α, rounded up. That is
    ρ = ε(e^ε-1)/(e^ε+k-1) for k ≤ 2 + 2e^(ε/2), and no smaller ρ will do.

    Proof. With t = α - 1/2, e^((α-1)·D_α) is c + d·cosh(εt), d = 2e^(ε/2)/(e^ε+k-1) and
    c = (k-2)/(e^ε+k-1). Where c ≤ d all zeros have t² < 0: as a function of t² it is entire, of
    order 1/2, so that its logarithm is concave by Hadamard's theorem and lies below its tangent at
    t² = 1/4; α(α-1) = t² - 1/4. The slope there is the mean loss, ε(e^ε-1)/(e^ε+k-1).

    For more values the largest D_α/α is at some order above 1. It is found to nine digits, and
    bounded from above: with s = α - 1, (α-1)·D_α is convex in s and so is 1/(s(s+1)), so that
    between two orders each is at most its chord; D_α ≤ ε bounds all high orders.
    """,
)
def randomized_response_zcdp(k: int, epsilon: Fraction) -> Fraction:
    x = epsilon
    pure = x * tanh_up(x / 2)
    if k == 2 or x > MAX_EXPONENT:
        return pure
    if (k - 2) ** 2 <= 4 * (1 + x + x**2 / 2 + x**3 / 6):
        odds = exp_up(x)
        return min(pure, x * (odds - 1) / (odds + k - 1))
    return min(pure, _largest(k, x))


@theorem(
    "randomized-response-gdp",
    title="Randomized response as Gaussian DP",
    place="Documentation",
    source="dpcompose",
    formula="μ = Φ⁻¹(p) - Φ⁻¹(q), p = e^ε·q, q = 1/(e^ε+k-1)",
    notion=Notion.GDP,
    uses=BY_FAMILY,
    hypotheses=(ODDS,),
    example=Example(
        (2, ZERO),
        ZERO,
        "Even odds are μ = 0. Two values with ε = 1 are μ = 1.2320; four values are 0.87328.",
    ),
    statement="""\
    Randomized response over k values is μ-GDP with μ = Φ⁻¹(p) - Φ⁻¹(q), rounded up, for the
    chances p = e^ε/(e^ε+k-1) of the true value and q = 1/(e^ε+k-1) of each other one. No smaller μ
    will do.

    Proof. The trade-off function is broken at (q, 1-p) and at (1-p, q), and straight between these
    and to (0, 1) and (1, 0). The Gaussian one is convex and meets both ends: it lies below if it
    does so at the two breaks, which say the same.
    """,
)
def randomized_response_gdp(k: int, epsilon: Fraction) -> Fraction:
    found = gaussian_mean_up(epsilon)
    if k == 2 or epsilon > MAX_EXPONENT or not epsilon:
        return found
    odds = exp_up(epsilon)
    near = gaussian_mean_up(log1p_up(odds + k - 3))
    if odds > k - 1:
        # 1-p = 1/(1+e^(ε-ln(k-1))).
        return min(found, (near + gaussian_mean_up(log1p_up(odds / (k - 1) - 1))) / 2)
    # p = 1/(1+e^x) for e^x = (k-1)/e^ε: rounded down, as it is taken away.
    far = gaussian_mean_up(log1p_up((k - 1) / odds - 1) * (1 - _SLIGHTLY))
    return min(found, (near - far * (1 - _SLIGHTLY)) / 2)


FORM = FamilyForm(
    name="randomized-response",
    family=RandomizedResponse,
    about="Every row answers by itself, with one of k values, mostly the true one.",
    key=ParameterKey(
        "epsilon", "The odds of the true value to each other are e^epsilon.", NUMBER, False
    ),
    sensitivity=None,
    norm=None,
    relative=False,
    values=True,
    states=("pure",),
    trusted=Trusted("{}: each row is answered by itself, with exactly the odds stated"),
)
