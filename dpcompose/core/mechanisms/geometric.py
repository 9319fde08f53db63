"""Two-sided geometric noise (discrete Laplace): mass proportional to e^(-|n|/scale)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcompose.core.mechanisms.family import (
    BY_FAMILY,
    EXACTLY_DRAWN,
    NOISE,
    STEPS,
    Family,
    FamilyForm,
    ParameterKey,
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
    note_rounding,
    tanh_up,
)
from dpcompose.core.numbers.words import number
from dpcompose.core.profile.cumulants import Cumulant, gap, not_below, of_response, softplus
from dpcompose.core.profile.parts import Composition, MechanismLoss
from dpcompose.core.profile.rounding import digits_of, mpf_of, up
from dpcompose.core.profile.sizes import MOST_POINTS, even, least
from dpcompose.core.theorem import Example, Hypothesis, theorem

if TYPE_CHECKING:
    from dpcompose.core.profile.masses import Floats, Masses
    from dpcompose.core.profile.transforms import GeometricTransforms, ResponseTransforms
    from dpcompose.core.theorems.touches import FeltStep

#: A standard deviation of the loss that none exceeds by much.
_WIDEST = 1.7
#: Noise moved by this much, or by this many scales, counts as a response.
_FARTHEST = 10**12
#: Noise moved by no more than this is summed up loss by loss in transforms.
_FEW_STEPS = 32
#: In how many blocks the values of the noise are summed.
_BLOCKS = 400
#: Covers the rounding of an evaluation in 60 digits.
_MARGIN = Fraction(1, 10**40)


@dataclass(frozen=True, slots=True)
class Geometric(Family):
    """Adds to whole numbers noise of mass proportional to e^(-|n|/scale); sensitivities in L1."""

    scale: Fraction

    def epsilon(self, shift: Fraction) -> Fraction:
        return shift / self.scale

    def rho(self, shift: Fraction) -> Fraction:
        return self._shifted(shift).rho() if shift else ZERO

    def mu(self, shift: Fraction) -> Fraction:
        return self._shifted(shift).mu() if shift else ZERO

    def loss(self, shift: Fraction) -> Composition:
        return Composition(((self._shifted(shift), 1),))

    def _shifted(self, shift: Fraction) -> GeometricLoss:
        return GeometricLoss(math.ceil(shift), self.scale)

    def describe(self, shift: Fraction) -> str:
        return f"geometric noise of scale {number(self.scale)}, sensitivity {number(shift)}"


@dataclass(frozen=True, slots=True)
class GeometricLoss(MechanismLoss):
    """Two-sided geometric noise, mass proportional to e^(-|n|/scale), moved by `shift` ≥ 1."""

    shift: int
    scale: Fraction

    def masses(self, step: Fraction) -> Masses:
        """With r = e^(-1/scale), P-mass 1/(1+r) at loss s/scale, (1-r)/(1+r)·r^x at (s-2x)/scale
        for 0 < x < s, r^s/(1+r) at -s/scale."""
        import numpy as np

        from dpcompose.core.profile.discrete import (
            LOG_TAIL,
            MAX_ATOMS,
            MAX_SHIFT,
            on_lattice,
            response,
        )
        from dpcompose.core.profile.masses import EPS

        # Far down, atoms of little mass are raised to the last one that is listed.
        count = min(self.shift, math.ceil(LOG_TAIL * self.scale) + 1)
        if count > MAX_ATOMS or self.shift > MAX_SHIFT or self.scale * 500 < 1:
            return response(self.greatest(), step)
        rate = float(1 / self.scale)
        places = np.arange(count + 1, dtype=np.int64)
        ratio = math.exp(-rate)
        p: Floats = np.exp(-rate * places) * (-math.expm1(-rate) / (1 + ratio))
        p[0] = 1 / (1 + ratio)
        p[-1] = math.exp(-rate * count) / (1 + ratio)
        p *= 1 + (float(LOG_TAIL) + 64) * EPS
        return on_lattice(self.shift - 2 * places, 1 / self.scale, p, step)

    def cumulant(self) -> Cumulant:
        known = self.shift < _FARTHEST and self.shift < _FARTHEST * self.scale
        if not known:
            return Cumulant(of_response(2, not_below(self.greatest())))
        return Cumulant(_cumulant(self.shift, not_below(1 / self.scale)))

    def quadratic(self) -> Fraction:
        return ZERO

    def greatest(self) -> Fraction:
        return self.shift / self.scale

    def rho(self) -> Fraction:
        return geometric_zcdp(self.shift, self.scale)

    def mu(self) -> Fraction:
        return geometric_gdp(self.shift, self.scale)

    def transforms(self) -> type[ResponseTransforms | GeometricTransforms] | None:
        from dpcompose.core.profile.transforms import GeometricTransforms, ResponseTransforms

        if self.shift > _FEW_STEPS:
            return None
        return ResponseTransforms if self.shift == 1 else GeometricTransforms

    def natural_step(self) -> Fraction | None:
        return even(self.shift, 1 / self.scale) if self.shift < MOST_POINTS else None

    def anchor(self) -> Fraction | None:
        return self.natural_step()

    def spread(self) -> float:
        return least(self.greatest(), _WIDEST)

    def line(self) -> Fraction:
        return Fraction(self.shift)

    def with_shift(self, shift: Fraction) -> GeometricLoss:
        return GeometricLoss(int(shift), self.scale)

    def coarse(self, bits: int) -> GeometricLoss:
        return GeometricLoss(self.shift, 1 / bits_up(1 / self.scale, bits))

    def dominates(self, other: MechanismLoss) -> bool:
        return False

    def attained(self) -> bool:
        return True

    def describe(self) -> str:
        return f"geometric noise of scale {number(self.scale)} moved by {self.shift}"


def _cumulant(shift: int, rate: float) -> Callable[[float], float]:
    # The losses L and -L have masses p and p·e^-L: E - 1 = Σ p·(e^(sL) - 1)·(1 - e^(-(1+s)L)) over
    # L > 0. All x ≤ 0 lose shift·rate, 0 < x < shift/2 lose (shift-2x)·rate; a block of x counts
    # as its first, which loses most.

    inside = (shift - 1) // 2
    width = max(1, -(-inside // _BLOCKS))
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


def _geometric(touch: FeltStep) -> None:
    """Geometric noise, or a pure guarantee over several steps, than which it loses no less."""
    guarantee = touch.first.statement.guarantee
    steps = sum(each or 0 for each in touch.steps)
    if guarantee.noise is not None or guarantee.notion is not Notion.PURE or steps < 2:
        drawn_by(Geometric)(touch)


NOISY = Hypothesis(
    "geometric noise",
    "noise n of mass proportional to e^(-|n|/scale) is drawn for each whole number, and a change "
    "moves them by at most s in all (L1); or the mechanism is (1/scale)-DP, and the change is s "
    "steps",
    "declared",
    test=_geometric,
)


@theorem(
    "geometric-zcdp",
    title="Geometric noise as zCDP",
    place="Documentation",
    source="dpcompose",
    formula="ρ = (s - 2r(1-r^s)/(1-r²))/scale, r = e^(-1/scale)",
    notion=Notion.ZCDP,
    uses=BY_FAMILY,
    hypotheses=(NOISY,),
    example=Example(
        (1, Fraction(1)),
        tanh_up(Fraction(1, 2)),
        "One step at scale 1 is ρ = tanh(1/2), about 0.46212; two steps are 1.2642, not 1.5232.",
    ),
    statement="""\
    Two-sided geometric noise moved by s steps is ρ-zCDP with ρ = (s - 2r(1-r^s)/(1-r²))/scale,
    rounded up, r = e^(-1/scale), and no smaller ρ will do. For s = 1 it is that of ε = 1/scale. So
    is whatever is (1/scale)-DP, over s steps: no trade-off function of such a mechanism is below
    that of the noise (Dong, Roth and Su 2022, Theorem 2.14).

    Proof. With λ = 1/scale, t = α - 1/2 and w = e^(2λt), e^((α-1)·D_α) is a constant times
    w^(-s/2)·(A·w^s + w^(s-1) + … + w + A), A = 1/(1-r). Times w - 1 the bracket is 0 where
    w^s·(w-r)/(1-rw) = 1. Both factors are inside of the unit circle for |w| < 1 and outside of it
    for |w| > 1: all zeros have |w| = 1, which is t² < 0. As a function of t² it is entire, of order
    1/2 and with negative zeros alone, so that its logarithm is concave in t² by Hadamard's theorem
    and lies below its tangent at t² = 1/4; α(α-1) = t² - 1/4. The slope there is the limit of D_α/α
    as α tends to 1, the mean loss λ(E|N-s| - E|N|).
    """,
)
def geometric_zcdp(shift: int, scale: Fraction) -> Fraction:
    from mpmath import mp

    pure = shift / scale * tanh_up(shift / scale / 2)
    if shift == 1 or scale * 500 < 1:
        return pure
    digits = max(0, digits_of(scale)) + max(0, digits_of(Fraction(shift)))
    with mp.workdps(60 + 3 * digits):
        rate = 1 / mpf_of(scale)
        inside = -2 * mp.exp(-rate) * mp.expm1(-rate * shift) / -mp.expm1(-2 * rate)
        note_rounding()
        return min(pure, up((shift - inside) * rate, _MARGIN))


@theorem(
    "geometric-gdp",
    title="Geometric noise as Gaussian DP",
    place="Documentation",
    source="dpcompose",
    formula="μ = z(T(n)) + z(T(s+1-n)), n = ⌊(s+1)/2⌋, T(n) = r^n/(1+r)",
    notion=Notion.GDP,
    uses=BY_FAMILY,
    hypotheses=(NOISY,),
    example=Example(
        (0, Fraction(1)),
        ZERO,
        "No step is μ = 0. One step at scale 1 is the μ of ε = 1, about 1.2320; two steps are "
        "1.9037, not 2.3580.",
    ),
    statement="""\
    Two-sided geometric noise moved by s steps is μ-GDP with μ = z(T(n)) + z(T(m)), rounded up:
    z(q) = Φ⁻¹(1-q), T(n) = r^n/(1+r), r = e^(-1/scale), n and m the two halves of s + 1 rounded
    down and up. No smaller μ will do. So is whatever is (1/scale)-DP, over s steps.

    Proof. The trade-off function is broken at the thresholds n = 1, …, s, which err with T(n) and
    T(s+1-n), and has straight ends to (0, 1) and (1, 0). The Gaussian one is convex: it lies below
    if it does so at the breaks, so that the least μ is the largest z(T(n)) + z(T(s+1-n)). The slope
    of z(e^-y) in y is Mills' ratio of z, which falls: z(T(n)) is concave in n, and the sum largest
    in the middle.

    T(n) = 1/(1 + e^ε) where e^ε = (1+r)·r^-n - 1: each z is half the μ of a pure ε.
    """,
)
def geometric_gdp(shift: int, scale: Fraction) -> Fraction:
    halves = ((shift + 1) // 2, shift + 1 - (shift + 1) // 2)
    found = gaussian_mean_up(shift / scale)
    if not shift or scale * 500 < 1 or halves[1] / scale > MAX_EXPONENT:
        return found
    ratio = exp_up(-1 / scale)
    each = [log1p_up((1 + ratio) * exp_up(n / scale) - 2) for n in halves]
    return min(found, sum((gaussian_mean_up(epsilon) for epsilon in each), ZERO) / 2)


FORM = FamilyForm(
    name="geometric",
    family=Geometric,
    about="Two-sided geometric noise on whole numbers; its sensitivity is in L1.",
    key=ParameterKey(
        "scale", "The noise n has a mass proportional to e^(-|n|/scale).", NOISE, True
    ),
    sensitivity=STEPS,
    norm="L1",
    relative=False,
    values=False,
    states=("pure",),
    trusted=EXACTLY_DRAWN,
    whole=True,
)
