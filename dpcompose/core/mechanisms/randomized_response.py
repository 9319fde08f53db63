"""Randomized response: every row answers by itself, with one of k values, mostly the true one."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcompose.core.exact import gaussian_mean_up, tanh_up
from dpcompose.core.mechanisms.family import NUMBER, Family, Form, Key
from dpcompose.core.profile.parts import Composition, MechanismLoss
from dpcompose.core.profile.sizes import RESPONSE, least
from dpcompose.core.words import number, plural
from dpcompose.values import dataclass

if TYPE_CHECKING:
    from dpcompose.core.profile.cumulants import Cumulant
    from dpcompose.core.profile.masses import Masses

ZERO = Fraction(0)


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
        return gaussian_mean_up(self.epsilon(shift))

    def loss(self, shift: Fraction) -> Composition:
        """Every row answers by itself: so many rows are so many independent answers."""
        return Composition(((KaryResponse(self.k, self.odds), math.ceil(shift)),))

    def says(self, shift: Fraction) -> str:
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
        from dpcompose.core.profile.cumulants import Cumulant, not_below, of_response

        return Cumulant(of_response(self.k, not_below(self.epsilon)))

    def quadratic(self) -> Fraction:
        return ZERO

    def greatest(self) -> Fraction:
        return self.epsilon

    def rho(self) -> Fraction:
        return self.epsilon * tanh_up(self.epsilon / 2)

    def mu(self) -> Fraction:
        return gaussian_mean_up(self.epsilon)

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

    def moved(self, shift: Fraction) -> KaryResponse:
        return KaryResponse(self.k, shift)

    def dominates(self, other: MechanismLoss) -> bool:
        return False

    def attained(self) -> bool:
        return True

    def says(self) -> str:
        return f"{self.k}-ary randomized response of ε = {number(self.epsilon)}"


FORM = Form(
    name="randomized-response",
    family=RandomizedResponse,
    about="Every row answers by itself, with one of k values, mostly the true one.",
    key=Key("epsilon", "The odds of the true value to each other are e^epsilon.", NUMBER, False),
    sensitivity=None,
    relative=False,
    values=True,
    states=("pure",),
    trusted="{}: each row is answered by itself, with exactly the odds stated",
)
