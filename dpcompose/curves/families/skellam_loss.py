"""The privacy loss of Skellam noise.

Its mass at n is e^-v·I_n(v), v the variance (Agarwal, Kairouz and Liu 2021, "The Skellam Mechanism
for Differentially Private Federated Learning"). A Poisson law is log-concave, and so is the sum of
two independent log-concave ones: the ratio I_n/I_(n-s) falls in n. So the two tables' laws have a
monotone likelihood ratio, a larger shift dominates a smaller one, and along a path shifts add up.

Here r_n = I_(n+1)/I_n. It is 1/(2(n+1)/v + r_(n+1)), and falls in n; so r_n² + 2(n+1)/v·r_n > 1,
which says that -ln r_n < asinh((n+1)/v).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcompose.curves.backends.lattice.sizes import double_of
from dpcompose.curves.backends.lattice.tuning import MOST_POINTS
from dpcompose.curves.backends.renyi.cumulants import Cumulant
from dpcompose.curves.backends.renyi.largest import largest_ratio
from dpcompose.curves.curve import Concentrated, MechanismLoss
from dpcompose.curves.rounding.doubles import BITS, EPS, ROUNDING
from dpcompose.curves.rounding.exact import ZERO, float_up
from dpcompose.curves.rounding.words import number

if TYPE_CHECKING:
    from dpcompose.curves.backends.lattice.masses import Masses


#: Less noise than this is refused. Noise of a variance above its inverse is bounded by noise of the
#: inverse: it is the sum of that and of independent Skellam noise.
LEAST_VARIANCE = Fraction(1, 10**6)


@dataclass(frozen=True, slots=True)
class SkellamLoss(MechanismLoss):
    """Skellam noise with v = `variance`, moved by s = `shift` ≥ 1: its loss is ln I_n(v)/I_(n-s)(v)
    at the outcome n."""

    shift: int
    variance: Fraction

    def masses(self, step: Fraction) -> Masses:
        import numpy as np

        from dpcompose.curves.backends.lattice.closed_laws import divergence
        from dpcompose.curves.backends.lattice.masses import scatter

        # A very large shift is bounded by its zCDP, as a path of single steps.
        if self.shift > MOST_POINTS:
            return divergence((), self.rho(), step)
        law = _law(self.shift, self.variance)
        # What lies beyond, below and above, gives all away.
        middle = [law.middle] if law.middle else []
        losses = np.concatenate([law.losses, [0.0] * len(middle), -law.losses * (1 - 16 * EPS)])
        p = np.concatenate([law.p, middle, law.p * np.exp(-law.losses) * (1 + 1e-12)])
        return scatter(losses, p, step, 2 * law.beyond)

    def cumulant(self) -> Cumulant:
        if self.shift > MOST_POINTS:
            rho = float_up(self.rho())
            return Cumulant(lambda s: s * (1 + s) * rho)
        return Cumulant(_cumulant(self.shift, self.variance))

    def greatest(self) -> None:
        return None

    def rho(self) -> Fraction:
        return skellam_rho(self.shift, self.variance)

    def spread(self) -> float:
        return math.sqrt(double_of(self.shift * self.shift / self.variance, 1e300))

    def line(self) -> Fraction:
        return Fraction(self.shift)

    def with_shift(self, shift: Fraction) -> SkellamLoss:
        return SkellamLoss(int(shift), self.variance)

    def coarse(self, bits: int) -> Concentrated:
        return Concentrated(self.rho())

    def attained(self) -> bool:
        return self.shift <= MOST_POINTS and self.variance <= 1 / LEAST_VARIANCE

    def describe(self) -> str:
        return f"Skellam noise of variance {number(self.variance)} moved by {self.shift}"


class _Law(NamedTuple):
    """The outcomes with a loss above 0, rounded up, and their P-chances, rounded up.

    Each has a mirror image of loss -l and chance p·e^-l. `middle`: the chance of no loss. `beyond`:
    the chance of all outcomes below those listed, of which the last is `last` and the next are in
    a ratio of at most `ratio`.
    """

    losses: Any
    p: Any
    middle: float
    beyond: float
    last: int
    ratio: float


@lru_cache(maxsize=16)
def _law(shift: int, variance: Fraction) -> _Law:
    import numpy as np

    v = min(variance, 1 / LEAST_VARIANCE)
    reach = math.ceil(17 * math.sqrt(v) + 2 * float(v) ** 0.75) + 60
    steps = _ratios(v, reach + shift + 1)
    # ln(1/r) from 1-r has all its digits also where r is next to 1; sums of them are exact.
    one = 1 << BITS
    logs = [-math.log1p(-((one - r) / one)) if 2 * r > one else -math.log(r / one) for r in steps]
    whole = list(accumulate((int(math.ldexp(each, 120)) for each in logs), initial=0))
    weights = np.cumprod(np.array([1.0, *(r / one for r in steps)]))
    total = math.fsum(weights[: reach + 1].tolist()) * 2 - 1
    chances = weights / total * (1 + (4 * len(weights) + 64) * EPS)
    # All n < shift/2, as distances: ln I_n/I_(n-shift) = Σ ln 1/r_j over |n| ≤ j < shift-n.
    places = range(-reach, -(-shift // 2))
    losses = [(whole[shift - n] - whole[abs(n)]) / (1 << 120) for n in places]
    p = chances[[abs(n) for n in places]]
    ratio = steps[reach] / one * (1 + 4 * EPS)
    beyond = float(chances[reach]) * ratio / (1 - ratio) * (1 + 8 * EPS)
    middle = 0.0 if shift % 2 else float(chances[shift // 2])
    return _Law(np.array(losses) * (1 + 8 * EPS), p, middle, beyond, reach, ratio)


def _ratios(variance: Fraction, count: int) -> list[int]:
    """Returns r_0, … (`count` of them) in units of 2^-BITS, rounded down by at most 2^-100 of
    them.

    By the recurrence, downwards from 0 ≤ r ≤ 1.
    """
    one = 1 << BITS
    low, high, found = 0, one, []
    # Far enough up that what r is there no longer matters.
    start = count + 8 * math.isqrt(math.ceil(variance)) + 200
    top, bottom = variance.numerator, variance.denominator
    for n in range(start, 0, -1):
        twice = (2 * n * bottom << BITS) // top
        low, high = (one << BITS) // (twice + 1 + high), (one << BITS) // (twice + low) + 1
        if n <= count:
            if (high - low) << 100 > low:
                raise ArithmeticError("the ratios of Bessel functions did not converge")
            found.append(low)
    return found[::-1]


@lru_cache(maxsize=64)
def _cumulant(shift: int, variance: Fraction) -> Callable[[float], float]:
    # The losses l and -l have masses p and p·e^-l: E - 1 = Σ p·(e^(sl) - 1)·(1 - e^(-(1+s)l)) over
    # l > 0. Below the last outcome l at -m is less than shift·asinh((m+shift)/v), which lies below
    # its tangent; there the chances fall at least as fast as `ratio`.
    import numpy as np

    law, v = _law(shift, variance), float(min(variance, 1 / LEAST_VARIANCE)) * (1 - EPS)
    with np.errstate(divide="ignore"):
        logs = np.log(law.p)
    far = law.last + shift
    top, slope = shift * math.asinh(far / v), shift / math.hypot(v, far)
    greatest = max(float(law.losses[0]), top)

    def of(s: float) -> float:
        tilted = _tilted(s, shift, v)
        fall = s * slope + math.log(law.ratio)
        if fall > -1e-9 or s * greatest > 1e12:
            return tilted
        terms = logs + s * law.losses
        terms += np.log(-np.expm1(-s * law.losses)) + np.log(-np.expm1(-(1 + s) * law.losses))
        beyond = float(logs[0]) + s * top + fall - math.log(-math.expm1(fall))
        most = max(float(terms.max()), beyond)
        y = most + math.log(float(np.exp(terms - most).sum()) + math.exp(beyond - most))
        y += 8 * EPS * (s * greatest + 800) + 1e-12
        exact = y + math.log1p(math.exp(-y)) if y > 0 else math.log1p(math.exp(y))
        return min(tilted, exact)

    return of


def _tilted(s: float, shift: int, v: float) -> float:
    """Returns a bound of K(s) for large s: e^K ≤ 1 + e^(s·shift·(θ - tanh θ) + τ·shift + v(cosh τ -
    1)).

    For n ≤ shift the loss is at most shift·asinh((shift-n)/v), above 0 below its tangent at sinh θ,
    so that e^(sl) is at most e to the power of a line in n of slope -τ = -s·shift/(v·cosh θ).
    """
    wanted = s * shift / v
    theta = min(wanted, math.asinh(wanted))
    # Newton's method for θ·cosh θ = wanted; any θ gives a bound.
    for _ in range(60):
        before, rise = theta, math.cosh(theta)
        theta -= (theta * rise - wanted) / (rise + theta * math.sinh(theta))
        if abs(theta - before) <= 1e-15 * theta:
            break
    tau = wanted / math.cosh(theta)
    gain = s * shift * (theta - math.tanh(theta)) + tau * shift + 2 * v * math.sinh(tau / 2) ** 2
    return (gain + math.log1p(math.exp(-gain))) * (1 + ROUNDING) + 1e-12 * s * shift * theta


def _last(shift: int, v: float, ratio: float) -> float:
    """Returns an s from which on `_tilted` is below `ratio`·s(1+s).

    With θ·cosh θ = s·shift/v, K/s² is at most what is compared here, which falls in θ.
    """
    theta, square = 1.0, shift * shift / v
    while True:
        c = math.cosh(theta)
        line = shift / (v * theta) + math.log(2) / (theta * theta * v)
        if square * ((1 + 1 / theta**2) / c + line / (c * c)) * (1 + 1e-9) <= ratio:
            return v * theta * c / shift
        theta *= 1.05


def skellam_rho(shift: int, variance: Fraction) -> Fraction:
    """Returns the least ρ known for which Skellam noise is ρ-zCDP, rounded up."""
    if not shift:
        return ZERO
    # By a path of single steps too: of shifts far beyond the noise that is less than what is found.
    path = shift * shift * _largest(1, variance)
    return path if shift > MOST_POINTS else min(path, _largest(shift, variance))


@lru_cache(maxsize=256)
def _largest(shift: int, variance: Fraction) -> Fraction:
    v = float(min(variance, 1 / LEAST_VARIANCE)) * (1 - EPS)
    exact = _cumulant(shift, variance)
    # The limit as α → 1.
    floor = exact(1e-9) / 1e-9

    def cumulant(s: float) -> float:
        # Where the bound for large orders is below that it says enough.
        tilted = _tilted(s, shift, v)
        return tilted if tilted <= floor * s * (1 + s) else exact(s)

    # Many outcomes take long at each order.
    close = min(max(1e-7 * math.sqrt(v), 1e-7), 1e-3)
    return largest_ratio(cumulant, lambda ratio: _last(shift, v, ratio), close)
