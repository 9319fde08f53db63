"""How the Rényi divergence of one part grows: K(s) = s·D_{1+s}, in doubles, rounded up.

K is the cumulant generating function of the privacy loss: E_P[e^(s·loss)] = e^K(s), s = α-1 > 0.
It is convex with K(0) = 0, and adds over independent parts. All losses here are symmetric in the
two tables, or bounded for both orders.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction

from dpcompose.core.exact import float_up
from dpcompose.core.profile import parts
from dpcompose.values import dataclass

#: Every K below is within this of the truth, relatively: some hundred rounding errors.
ROUNDING = 1e-13
#: The least parameter told apart from zero, so that no product of two underflows.
_LEAST = 1e-100
#: Up to which order the sum for a sampled Gaussian is taken.
_HIGHEST_ORDER = 512
#: Geometric noise moved by this much, or by this many scales, counts as a response.
_FARTHEST = 10**12
#: In how many blocks the values of geometric noise are summed.
_BLOCKS = 400


@dataclass(frozen=True, slots=True)
class Cumulant:
    """K of one part for 0 < s ≤ `most`; `kinks`: where its slope jumps, sorted.

    `whole`: its slope jumps at every whole s.
    """

    of: Callable[[float], float]
    most: float = math.inf
    kinks: tuple[float, ...] = ()
    whole: bool = False


def cumulant(part: parts.Part) -> Cumulant | None:
    """K of a part without what `quadratic` tells of it; None if its divergence has no bound."""
    match part:
        case parts.Response(epsilon):
            return Cumulant(_response(2, _float(epsilon)))
        case parts.KaryResponse(k, epsilon):
            return Cumulant(_response(k, _float(epsilon)))
        case parts.Laplace(shift):
            return Cumulant(_laplace(_float(shift)))
        case parts.Geometric(shift, scale):
            loss = Cumulant(_response(2, _float(shift / scale)))
            known = shift < _FARTHEST and shift < _FARTHEST * scale
            return Cumulant(_geometric(shift, _float(1 / scale))) if known else loss
        case parts.BoundedRange(epsilon):
            return Cumulant(_bounded_range(_float(epsilon)))
        case parts.Points(points):
            pure = [epsilon for epsilon, delta in points if delta == 0]
            return Cumulant(_response(2, _float(min(pure)))) if pure else None
        case parts.DiscreteGaussian() | parts.Concentrated():
            return Cumulant(lambda s: 0.0)
        case parts.Renyi(points):
            return _chords(points)
        case parts.Sampled(rate, base, False):
            return None if base.parts or base.stay < 1 else _sampled(rate, base.gaussian)
        case _:
            return None


def quadratic(part: parts.Part) -> Fraction:
    """The exact ρ with which K(s) of a part contains ρ·s·(1+s)."""
    match part:
        case parts.DiscreteGaussian(shift, variance):
            # Canonne, Kamath and Steinke 2020 (The Discrete Gaussian), Theorem 4.
            return Fraction(shift * shift) / (2 * variance)
        case parts.Concentrated(rho):
            return rho
        case parts.Renyi():
            return part.rho
        case _:
            return Fraction(0)


def _float(x: Fraction) -> float:
    """`x` rounded up, infinite if it is too large; every K grows with the parameter."""
    try:
        return max(float_up(x), _LEAST)
    except OverflowError:
        return math.inf


def _softplus(y: float) -> float:
    """ln(1 + e^y)."""
    return y + math.log1p(math.exp(-y)) if y > 0 else math.log1p(math.exp(y))


def _gap(x: float) -> float:
    """1 - e^-x."""
    return -math.expm1(-x)


def _response(k: int, epsilon: float) -> Callable[[float], float]:
    # E - 1 = (e^(sε) - 1)·(1 - e^(-(1+s)ε))/(1 + (k-1)·e^-ε): no cancellation anywhere.
    others = float(min(k - 1, 2**500)) * math.exp(-epsilon)

    def of(s: float) -> float:
        x = s * epsilon
        if x < 30:
            return math.log1p(math.expm1(x) * _gap((1 + s) * epsilon) / (1 + others))
        return _softplus(x + math.log(_gap((1 + s) * epsilon)) - math.log1p(others))

    return of


def _excess(x: float) -> float:
    """e^x - 1 - x."""
    if abs(x) > 0.5:
        return math.expm1(x) - x
    term = 1.0
    for n in range(17, 2, -1):
        term = 1 + term * x / n
    return term * x * x / 2


def _laplace(shift: float) -> Callable[[float], float]:
    # E = ((1+s)·e^(s·shift) + s·e^(-(1+s)·shift))/(1+2s) (Mironov 2017, Proposition 6).
    def of(s: float) -> float:
        x, both = s * shift, 1 + 2 * s
        if x > 30:
            tail = math.log1p(s / (1 + s) * math.exp(-both * shift))
            return x + math.log1p(-s / both) + tail
        return math.log1p(((1 + s) * _excess(x) + s * _excess(-(1 + s) * shift)) / both)

    return of


def _geometric(shift: int, rate: float) -> Callable[[float], float]:
    # The losses L and -L have masses p and p·e^-L: E - 1 = Σ p·(e^(sL) - 1)·(1 - e^(-(1+s)L)) over
    # L > 0. All x ≤ 0 lose shift·rate, 0 < x < shift/2 lose (shift-2x)·rate; a block of x counts
    # as its first, which loses most.
    inside = (shift - 1) // 2
    width = max(1, -(-inside // _BLOCKS))
    starts = [(x, min(width, inside + 1 - x)) for x in range(1, inside + 1, width)]
    one, beyond = _gap(rate), 1 + math.exp(-rate)

    def of(s: float) -> float:
        decay = (1 + 2 * s) * rate

        def pair(x: int) -> float:
            loss = (shift - 2 * x) * rate
            return _gap(s * loss) * _gap((1 + s) * loss)

        total = pair(0) + one * math.fsum(
            math.exp(-decay * x) * (_gap(decay * n) / _gap(decay)) * pair(x) for x, n in starts
        )
        return _softplus(s * shift * rate + math.log(total) - math.log(beyond))

    return of


def log_sinhc(x: float) -> float:
    """ln(sinh(x/2)/(x/2)) for x ≥ 0."""
    if x > 1:
        return x / 2 + math.log1p(-math.exp(-x)) - math.log(x)
    square, term = x * x / 4, 1.0
    for n in range(8, 1, -1):
        term = 1 + term * square / (2 * n * (2 * n + 1))
    return math.log1p(term * square / 6)


def _bounded_range(eta: float) -> Callable[[float], float]:
    # The ratio dP/dQ lies in [e^(t-η), e^t] for some t. Of all such with mean 1 a convex function
    # of it is largest for two outcomes, at the ends; the best t is e^t = e^η·φ(αη)/φ(sη) with
    # φ(x) = (1-e^-x)/x, and gives K = αψ(αη) - sψ(sη) - ψ(η) with ψ = log_sinhc.
    def of(s: float) -> float:
        alpha = 1 + s
        most = min(s * eta, alpha * s * eta * eta / 8)
        terms = alpha * log_sinhc(alpha * eta), s * log_sinhc(s * eta), log_sinhc(eta)
        found = terms[0] - terms[1] - terms[2] + 1e-14 * terms[0]
        # The difference of large terms may be lost in rounding (or not a number).
        return found if found < most else most

    return of


def _chords(points: tuple[tuple[Fraction, Fraction], ...]) -> Cumulant | None:
    """K under the lower convex hull of its given points and (0, 0): K is convex."""
    hull = [(Fraction(0), Fraction(0))]
    for order, epsilon in sorted(points):
        s, value = order - 1, (order - 1) * epsilon
        while len(hull) > 1 and _turns_down(hull[-2], hull[-1], (s, value)):
            hull.pop()
        if s == hull[-1][0]:
            continue
        hull.append((s, value))
    if len(hull) == 1:
        return None
    at = [float(s) for s, _ in hull]
    values = [_float(value) if value else 0.0 for _, value in hull]
    return Cumulant(_between(at, values.__getitem__), at[-1], tuple(at[1:]))


def _turns_down(
    a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction], c: tuple[Fraction, Fraction]
) -> bool:
    return (b[1] - a[1]) * (c[0] - a[0]) >= (c[1] - a[1]) * (b[0] - a[0])


def _between(at: list[float], value: Callable[[int], float]) -> Callable[[float], float]:
    """The broken line through `value(n)` at `at[n]`; at[0] = 0."""

    def of(s: float) -> float:
        n = bisect_left(at, s)
        if n == len(at):
            return math.inf
        if n == 0 or s == at[n]:
            return value(n)
        share = (s - at[n - 1]) / (at[n] - at[n - 1])
        return (1 - share) * value(n - 1) + share * value(n)

    return of


def _sampled(rate: Fraction, mu_squared: Fraction) -> Cumulant:
    """The bound for whole orders α by a sum, by chords between (Mironov, Talwar and Zhang 2019).

    Their Section 3.3: E = Σ C(α,k)·(1-q)^(α-k)·q^k·e^(k(k-1)μ²/2), for both orders of the tables.
    """
    q, square = min(_float(rate), 1.0), _float(mu_squared)
    if q == 1:
        return Cumulant(lambda s: s * (1 + s) * square / 2)
    log_in, log_out = math.log(q), math.log1p(-float(rate))
    known: dict[int, float] = {0: 0.0}

    def whole(s: int) -> float:
        if s not in known:
            alpha, logs = s + 1, []
            for k in range(2, alpha + 1):
                z = k * (k - 1) * square / 2
                # E - 1: the terms without the exponential sum to 1.
                grown = z + math.log(_gap(z))
                logs.append(math.log(math.comb(alpha, k)) + (alpha - k) * log_out + k * log_in)
                logs[-1] += grown
            top = max(logs)
            if math.isinf(top):
                return top
            y = top + math.log(math.fsum(math.exp(each - top) for each in logs))
            known[s] = _softplus(y) * (1 + 1e-11)
        return known[s]

    at = [float(s) for s in range(_HIGHEST_ORDER)]
    return Cumulant(_between(at, whole), at[-1], whole=True)
