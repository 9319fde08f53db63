"""The privacy loss of two-sided geometric noise (discrete Laplace)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcompose.curves.backends.lattice.sizes import WIDEST, double_of, even
from dpcompose.curves.backends.lattice.tuning import MOST_POINTS
from dpcompose.curves.backends.renyi.cumulants import (
    Cumulant,
    gap,
    not_below,
    softplus,
)
from dpcompose.curves.curve import MechanismLoss
from dpcompose.curves.rounding.doubles import FORMULA_MARGIN, digits_of, mpf_of, up
from dpcompose.curves.rounding.exact import (
    FURTHEST,
    MANY,
    MAX_EXPONENT,
    ZERO,
    bits_up,
    exp_up,
    gaussian_mean_up,
    log1p_up,
    note_rounding,
    tanh_up,
)
from dpcompose.curves.rounding.words import number

if TYPE_CHECKING:
    from dpcompose.curves.backends.lattice.masses import Floats, Masses
    from dpcompose.curves.backends.vertical_line.transforms import ResponseTransforms


@dataclass(frozen=True, slots=True)
class GeometricLoss(MechanismLoss):
    """Two-sided geometric noise, mass proportional to e^(-|n|/scale), moved by a whole `shift` ≥
    1."""

    shift: int
    scale: Fraction

    def masses(self, step: Fraction) -> Masses:
        """Returns the privacy loss distribution: with r = e^(-1/scale) and s the shift, P-mass
        1/(1+r) at the loss s/scale, (1-r)/(1+r)·r^x at (s-2x)/scale for 0 < x < s, r^s/(1+r) at
        -s/scale."""
        import numpy as np

        from dpcompose.curves.backends.lattice.closed_laws import on_lattice, response
        from dpcompose.curves.backends.lattice.tuning import MAX_POINTS, TAIL
        from dpcompose.curves.rounding.doubles import EPS

        # Far down, atoms of little mass are raised to the last one that is listed.
        count = min(self.shift, math.ceil(-math.log(TAIL) * self.scale) + 1)
        if 2 * count > MAX_POINTS or self.shift > FURTHEST or self.scale * 500 < 1:
            return response(self.greatest(), step)
        rate = float(1 / self.scale)
        places = np.arange(count + 1, dtype=np.int64)
        ratio = math.exp(-rate)
        p: Floats = np.exp(-rate * places) * (-math.expm1(-rate) / (1 + ratio))
        p[0] = 1 / (1 + ratio)
        p[-1] = math.exp(-rate * count) / (1 + ratio)
        p *= 1 + (64 - math.log(TAIL)) * EPS
        return on_lattice(self.shift - 2 * places, 1 / self.scale, p, step)

    def cumulant(self) -> Cumulant:
        return Cumulant(_cumulant(self.shift, not_below(1 / self.scale)))

    def greatest(self) -> Fraction:
        return self.shift / self.scale

    def rho(self) -> Fraction:
        return geometric_rho(self.shift, self.scale)

    def mu(self) -> Fraction:
        return geometric_mu(self.shift, self.scale)

    def transforms(self) -> type[ResponseTransforms] | None:
        from dpcompose.curves.backends.vertical_line.transforms import ResponseTransforms

        return ResponseTransforms if self.shift == 1 else None

    def natural_step(self) -> Fraction | None:
        return even(self.shift, 1 / self.scale) if self.shift < MOST_POINTS else None

    def spread(self) -> float:
        return double_of(self.greatest(), WIDEST)

    def line(self) -> Fraction:
        return Fraction(self.shift)

    def with_shift(self, shift: Fraction) -> GeometricLoss:
        return GeometricLoss(int(shift), self.scale)

    def coarse(self, bits: int) -> GeometricLoss:
        return GeometricLoss(self.shift, 1 / bits_up(1 / self.scale, bits))

    def describe(self) -> str:
        return f"geometric noise of scale {number(self.scale)} moved by {self.shift}"


def _cumulant(shift: int, rate: float) -> Callable[[float], float]:
    # The losses L and -L have masses p and p·e^-L: E - 1 = Σ p·(e^(sL) - 1)·(1 - e^(-(1+s)L)) over
    # L > 0. All x ≤ 0 lose shift·rate, 0 < x < shift/2 lose (shift-2x)·rate; a block of x counts
    # as its first, which loses most.

    inside = (shift - 1) // 2
    width = max(1, -(-inside // MANY))
    starts = [(x, min(width, inside + 1 - x)) for x in range(1, inside + 1, width)]
    one, beyond = gap(rate), 1 + math.exp(-rate)

    def of(s: float) -> float:
        decay = (1 + 2 * s) * rate

        def pair(x: int) -> float:
            loss = (shift - 2 * x) * rate
            return gap(s * loss) * gap((1 + s) * loss)

        total = pair(0) + one * math.fsum(
            math.exp(-decay * x) * (gap(decay * n) / gap(decay)) * pair(x) for x, n in starts
        )
        return softplus(s * shift * rate + math.log(total) - math.log(beyond))

    return of


def geometric_rho(shift: int, scale: Fraction) -> Fraction:
    """Returns the least ρ known for which geometric noise is ρ-zCDP, rounded up: its mean loss, or
    that of a pure ε."""
    from mpmath import mp

    pure = shift / scale * tanh_up(shift / scale / 2)
    if shift == 1 or scale * 500 < 1:
        return pure
    digits = max(0, digits_of(scale)) + max(0, digits_of(Fraction(shift)))
    with mp.workdps(60 + 3 * digits):
        rate = 1 / mpf_of(scale)
        inside = -2 * mp.exp(-rate) * mp.expm1(-rate * shift) / -mp.expm1(-2 * rate)
        note_rounding()
        return min(pure, up((shift - inside) * rate, FORMULA_MARGIN))


def geometric_mu(shift: int, scale: Fraction) -> Fraction:
    """Returns the least μ known for which geometric noise is μ-GDP, rounded up."""
    halves = ((shift + 1) // 2, shift + 1 - (shift + 1) // 2)
    found = gaussian_mean_up(shift / scale)
    if not shift or scale * 500 < 1 or halves[1] / scale > MAX_EXPONENT:
        return found
    ratio = exp_up(-1 / scale)
    each = [log1p_up((1 + ratio) * exp_up(n / scale) - 2) for n in halves]
    return min(found, sum((gaussian_mean_up(epsilon) for epsilon in each), ZERO) / 2)
