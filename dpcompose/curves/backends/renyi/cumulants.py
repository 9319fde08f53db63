"""How the Rényi divergence of one part grows: K(s) = s·D_{1+s}, in doubles, within ROUNDING.

K is the cumulant generating function of the privacy loss: E_P[e^(s·loss)] = e^K(s), s = α-1 > 0.
It is convex with K(0) = 0, and adds over independent parts. All losses here are symmetric in the
two tables, or bounded for both orders.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from dpcompose.curves import curve as parts
from dpcompose.curves.backends.lattice.tuning import PLACES
from dpcompose.curves.rounding.doubles import LEAST
from dpcompose.curves.rounding.exact import float_up


class Cumulant(NamedTuple):
    """K(s) = s·D_(1+s) of one part, for 0 < s ≤ `most`; `kinks`: the s where its slope jumps,
    sorted; `whole`: whether its slope jumps at every whole s."""

    of: Callable[[float], float]
    most: float = math.inf
    kinks: tuple[float, ...] = ()
    whole: bool = False


#: K of a part whose divergence is ρ·α alone, which `quadratic` gives.
NOTHING = Cumulant(lambda s: 0.0)


def cumulant(part: parts.Part) -> Cumulant | None:
    """Returns K of a part without the ρ·s·(1+s) of `quadratic`; None if its divergence has no
    bound."""
    match part:
        case parts.Response(epsilon):
            return Cumulant(of_response(2, not_below(epsilon)))
        case parts.MechanismLoss():
            return part.cumulant()
        case parts.Points(points):
            pure = [epsilon for epsilon, delta in points if delta == 0]
            return Cumulant(of_response(2, not_below(min(pure)))) if pure else None
        case parts.Concentrated():
            return NOTHING
        case parts.Renyi(points):
            return _chords(points)
        case parts.Sampled(rate, base, False):
            return None if base.parts or base.no_failure < 1 else _sampled(rate, base.gaussian)
        case parts.Maximum(options):
            return _greatest([_of_composition(each) for each in options])
        case _:
            return None


def _of_composition(composition: parts.Curve) -> Cumulant | None:
    """Returns K of a whole composition, with the part ρ·s·(1+s); None if something gives everything
    away."""
    every = [(part, cumulant(part), count) for part, count in composition.parts]
    if composition.no_failure < 1 or any(each is None for _, each, _ in every):
        return None
    known = [(each, count) for _, each, count in every if each is not None]
    rho = composition.gaussian / 2
    rho += sum((quadratic(part) * count for part, _, count in every), Fraction(0))
    square = not_below(rho) if rho else 0.0

    def of(s: float) -> float:
        return square * s * (1 + s) + math.fsum(count * each.of(s) for each, count in known)

    return Cumulant(
        of,
        min((each.most for each, _ in known), default=math.inf),
        tuple(sorted({kink for each, _ in known for kink in each.kinks})),
        any(each.whole for each, _ in known),
    )


def _greatest(every: list[Cumulant | None]) -> Cumulant | None:
    """Returns the greatest of several K at each order; None if one is None."""
    known = [each for each in every if each is not None]
    if len(known) < len(every):
        return None
    return Cumulant(
        lambda s: max(each.of(s) for each in known),
        min(each.most for each in known),
        tuple(sorted({kink for each in known for kink in each.kinks})),
        any(each.whole for each in known),
    )


def quadratic(part: parts.Part) -> Fraction:
    """Returns the exact ρ for which K(s) of a part contains the term ρ·s·(1+s)."""
    match part:
        case parts.MechanismLoss():
            return part.quadratic()
        case parts.Concentrated(rho):
            return rho
        case parts.Renyi():
            return part.rho
        case _:
            return Fraction(0)


def not_below(x: Fraction) -> float:
    """Returns `x` rounded up to a double, infinite if it is too large; for parameters with which K
    grows."""
    try:
        return max(float_up(x), LEAST)
    except OverflowError:
        return math.inf


def softplus(y: float) -> float:
    """Returns ln(1 + e^y)."""
    return y + math.log1p(math.exp(-y)) if y > 0 else math.log1p(math.exp(y))


def gap(x: float) -> float:
    """Returns 1 - e^-x."""
    return -math.expm1(-x)


def of_response(k: int, epsilon: float) -> Callable[[float], float]:
    """Returns K of randomized response over `k` values."""
    # E - 1 = (e^(sε) - 1)·(1 - e^(-(1+s)ε))/(1 + (k-1)·e^-ε): no cancellation anywhere.
    others = float(min(k - 1, 2**500)) * math.exp(-epsilon)

    def of(s: float) -> float:
        x = s * epsilon
        if x < 30:
            return math.log1p(math.expm1(x) * gap((1 + s) * epsilon) / (1 + others))
        return softplus(x + math.log(gap((1 + s) * epsilon)) - math.log1p(others))

    return of


def _chords(points: tuple[tuple[Fraction, Fraction], ...]) -> Cumulant | None:
    """Returns K as the lower convex hull of (0, 0) and the given points, (α, ε) with the divergence
    ε at the order α: K is convex."""
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
    values = [not_below(value) if value else 0.0 for _, value in hull]
    return Cumulant(_between(at, values.__getitem__), at[-1], tuple(at[1:]))


def _turns_down(
    a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction], c: tuple[Fraction, Fraction]
) -> bool:
    """Returns whether `b` lies on or above the line from `a` to `c`."""
    return (b[1] - a[1]) * (c[0] - a[0]) >= (c[1] - a[1]) * (b[0] - a[0])


def _between(at: list[float], value: Callable[[int], float]) -> Callable[[float], float]:
    """Returns the broken line through `value(n)` at `at[n]`; at[0] = 0."""

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
    """Returns K of a Gaussian behind a Poisson sample: at whole orders α up to PLACES by the sum
    of Mironov, Talwar and Zhang (2019), between them by chords.

    Their Section 3.3: E = Σ C(α,k)·(1-q)^(α-k)·q^k·e^(k(k-1)μ²/2), for both orders; q is `rate`, μ²
    `mu_squared`.
    """
    q, square = min(not_below(rate), 1.0), not_below(mu_squared)
    if q == 1:
        return Cumulant(lambda s: s * (1 + s) * square / 2)
    log_in, log_out = math.log(q), math.log1p(-float(rate))
    known: dict[int, float] = {0: 0.0}

    def at_whole_order(s: int) -> float:
        """Returns K(s) at a whole number `s`."""
        if s not in known:
            alpha, logs = s + 1, []
            for k in range(2, alpha + 1):
                z = k * (k - 1) * square / 2
                # E - 1: the terms without the exponential sum to 1.
                grown = z + math.log(gap(z))
                logs.append(math.log(math.comb(alpha, k)) + (alpha - k) * log_out + k * log_in)
                logs[-1] += grown
            top = max(logs)
            if math.isinf(top):
                return top
            y = top + math.log(math.fsum(math.exp(each - top) for each in logs))
            known[s] = softplus(y) * (1 + 1e-11)
        return known[s]

    at = [float(s) for s in range(PLACES)]
    return Cumulant(_between(at, at_whole_order), at[-1], whole=True)
