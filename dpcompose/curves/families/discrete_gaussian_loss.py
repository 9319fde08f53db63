"""The privacy loss of discrete Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcompose.curves.backends.lattice.sizes import double_of, even
from dpcompose.curves.backends.lattice.tuning import MOST_POINTS
from dpcompose.curves.backends.renyi.cumulants import NOTHING, Cumulant
from dpcompose.curves.curve import Concentrated, MechanismLoss
from dpcompose.curves.rounding.exact import FURTHEST
from dpcompose.curves.rounding.words import number

if TYPE_CHECKING:
    from dpcompose.curves.backends.lattice.masses import Masses


@dataclass(frozen=True, slots=True)
class DiscreteGaussianLoss(MechanismLoss):
    """Discrete Gaussian noise, mass proportional to e^(-n²/(2·variance)), moved by a whole `shift`
    ≥ 1."""

    shift: int
    variance: Fraction

    def masses(self, step: Fraction) -> Masses:
        """Returns the privacy loss distribution: the loss is (s²-2s·n)/(2·variance) at each whole
        n, with s the shift; the one of its ρ where these are too many."""
        from dpcompose.curves.backends.lattice.closed_laws import divergence

        return self._atom_masses(step) or divergence((), self.rho(), step)

    def _atom_masses(self, step: Fraction) -> Masses | None:
        import numpy as np

        from dpcompose.curves.backends.lattice.closed_laws import on_lattice
        from dpcompose.curves.backends.lattice.tuning import MAX_POINTS, NORMAL_TAIL
        from dpcompose.curves.rounding.doubles import EPS

        if self.variance > MAX_POINTS**2 or self.shift > FURTHEST:
            return None
        sigma = math.sqrt(self.variance)
        reach = math.ceil(NORMAL_TAIL * sigma) + 1
        if 2 * reach > MAX_POINTS:
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

    def natural_step(self) -> Fraction | None:
        few = self.variance * 4 < MOST_POINTS**2
        return even(self.shift, self.shift / (2 * self.variance)) if few else None

    def spread(self) -> float:
        return math.sqrt(double_of(self.shift * self.shift / self.variance, 1e300))

    def line(self) -> Fraction:
        return Fraction(self.shift)

    def with_shift(self, shift: Fraction) -> DiscreteGaussianLoss:
        return DiscreteGaussianLoss(int(shift), self.variance)

    def coarse(self, bits: int) -> Concentrated:
        return Concentrated(self.rho())

    def describe(self) -> str:
        return f"discrete Gaussian noise of variance {number(self.variance)} moved by {self.shift}"
