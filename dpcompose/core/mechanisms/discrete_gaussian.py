"""Discrete Gaussian noise: mass proportional to e^(-n²/(2·sigma²)) on the whole numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from dpcompose.core.mechanisms.family import (
    EXACTLY_DRAWN,
    NOISE,
    WHOLE_L2,
    Family,
    FamilyForm,
    ParameterKey,
)
from dpcompose.core.numbers.exact import sqrt_up
from dpcompose.core.numbers.words import number
from dpcompose.core.profile.cumulants import NOTHING, Cumulant
from dpcompose.core.profile.parts import Composition, Concentrated, MechanismLoss
from dpcompose.core.profile.sizes import MOST_POINTS, even, least

if TYPE_CHECKING:
    from dpcompose.core.profile.masses import Masses
    from dpcompose.core.profile.transforms import DiscreteGaussianTransforms


@dataclass(frozen=True, slots=True)
class DiscreteGaussian(Family):
    """Adds to whole numbers noise of mass proportional to e^(-n²/(2·sigma²)).

    Sensitivities in L1 (the number of unit steps), so that one coordinate stands for all; or in L2
    (`norm`), where ρ alone is known: steps in several coordinates are worse at some δ than as far a
    step in one. `unit`: the square of the unit in which a shift in L2 is told.
    """

    sigma: Fraction
    norm: Literal["L1", "L2"] = "L1"
    unit: Fraction = Fraction(1)

    def epsilon(self, shift: Fraction) -> None:
        return None

    def rho(self, shift: Fraction) -> Fraction:
        """ρ = s²/(2σ²) (Canonne, Kamath and Steinke 2020), which the order α = 2 attains."""
        return (shift / self.sigma) ** 2 * self.unit / 2

    def mu(self, shift: Fraction) -> None:
        return None

    def loss(self, shift: Fraction) -> Composition:
        if self.norm == "L2":
            return Composition(((Concentrated(self.rho(shift)), 1),))
        moved = DiscreteGaussianLoss(math.ceil(shift), self.sigma * self.sigma)
        return Composition(((moved, 1),))

    def describe(self, shift: Fraction) -> str:
        norm = " in L2" if self.norm == "L2" else ""
        moved = f"sensitivity {number(sqrt_up(shift * shift * self.unit))}{norm}"
        return f"discrete Gaussian noise of σ = {number(self.sigma)}, {moved}"


@dataclass(frozen=True, slots=True)
class DiscreteGaussianLoss(MechanismLoss):
    """Discrete normal noise, mass proportional to e^(-n²/(2·variance)), moved by `shift` ≥ 1."""

    shift: int
    variance: Fraction

    def masses(self, step: Fraction) -> Masses:
        """The loss is (s²-2s·n)/(2·variance) at each whole n; by its ρ where these are too many."""
        from dpcompose.core.profile.divergences import divergence

        return self._atom_masses(step) or divergence((), self.rho(), step)

    def _atom_masses(self, step: Fraction) -> Masses | None:
        import numpy as np

        from dpcompose.core.profile.discrete import MAX_ATOMS, MAX_SHIFT, on_lattice
        from dpcompose.core.profile.masses import EPS, NORMAL_TAIL

        if self.variance > MAX_ATOMS**2 or self.shift > MAX_SHIFT:
            return None
        sigma = math.sqrt(self.variance)
        reach = math.ceil(NORMAL_TAIL * sigma) + 1
        if reach > MAX_ATOMS:
            return None
        places = np.arange(-reach, reach + 1, dtype=np.int64)
        exponents = places.astype(np.float64) ** 2 * float(1 / (2 * self.variance))
        weights = np.exp(-exponents)
        # Pairwise sums are within some 40 roundings; leaving out the ends makes the masses larger.
        total = float(weights.sum()) * (1 - 64 * EPS)
        p = weights / total * (1 + (2 * exponents + 16) * EPS)
        # The two tails: w(N)·Σ_j e^(-N·j/variance) ≤ w(N)·variance/N each.
        infinite = 4 * float(weights[0]) / total * (1 + sigma)
        unit = Fraction(self.shift) / (2 * self.variance)
        return on_lattice(self.shift - 2 * places, unit, p, step, infinite)

    def cumulant(self) -> Cumulant:
        return NOTHING

    def quadratic(self) -> Fraction:
        # Canonne, Kamath and Steinke 2020 (The Discrete Gaussian), Theorem 4.
        return Fraction(self.shift * self.shift) / (2 * self.variance)

    def greatest(self) -> None:
        return None

    def rho(self) -> Fraction:
        return self.quadratic()

    def mu(self) -> None:
        return None

    def transforms(self) -> type[DiscreteGaussianTransforms] | None:
        from dpcompose.core.profile.transforms import DiscreteGaussianTransforms

        # Of less noise more terms count; of more shift, more digits.
        some = self.variance >= 1 and self.shift < 10**6
        return DiscreteGaussianTransforms if some else None

    def natural_step(self) -> Fraction | None:
        few = self.variance * 4 < MOST_POINTS**2
        return even(self.shift, self.shift / (2 * self.variance)) if few else None

    def anchor(self) -> Fraction | None:
        return self.natural_step()

    def spread(self) -> float:
        return math.sqrt(least(self.shift * self.shift / self.variance, 1e300))

    def line(self) -> Fraction:
        return Fraction(self.shift)

    def with_shift(self, shift: Fraction) -> DiscreteGaussianLoss:
        return DiscreteGaussianLoss(int(shift), self.variance)

    def coarse(self, bits: int) -> Concentrated:
        return Concentrated(self.rho())

    def dominates(self, other: MechanismLoss) -> bool:
        return False

    def attained(self) -> bool:
        return True

    def describe(self) -> str:
        return f"discrete Gaussian noise of variance {number(self.variance)} moved by {self.shift}"


FORM = FamilyForm(
    name="discrete-gaussian",
    family=DiscreteGaussian,
    about="Discrete normal noise on whole numbers; its sensitivity is in L2.",
    key=ParameterKey(
        "sigma", "The noise n has a mass proportional to e^(-n²/(2·sigma²)).", NOISE, True
    ),
    sensitivity=WHOLE_L2,
    norm="L2",
    relative=False,
    values=False,
    states=("zcdp",),
    trusted=EXACTLY_DRAWN,
    whole=True,
    giving=lambda stated: sqrt_up(1 / (2 * stated.value)),
)
