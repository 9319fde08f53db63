"""One secret sample by itself: its curve follows exactly from that of what is sampled."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpcompose.curves.curve import Certified, Curve, Sampled
from dpcompose.curves.rounding.doubles import MARGIN, digits_of, down, exact_of, mpf_of
from dpcompose.curves.rounding.exact import MAX_EXPONENT, ZERO, amplified_up

#: ε or δ of a composition.
EpsilonAt = Callable[[Curve, Fraction], Certified | None]
DeltaAt = Callable[[Curve, Fraction], Certified]


def epsilon_behind(part: Sampled, delta: Fraction, epsilon_at: EpsilonAt) -> Certified | None:
    """Returns the least ε at δ of one composition behind a secret sample, for both orders of the
    tables; None where no finite one is known.

    `epsilon_at`: gives the least ε of what is sampled, at a δ. With δ(ε) the profile of that and q
    the rate, the sample has δ'(ln(1+q(e^ε-1))) = q·δ(ε) for ε ≥ 0 in the order ((1-q)Q+qP, Q). In
    the other one, P-e^ε'((1-q)P+qQ) = q(P-e^εQ) - q(1-q)(e^ε-1)(P-Q), which on the event where it
    is largest is at most q(P-e^εQ), as P ≥ Q there (Balle, Barthe and Gaboardi 2018, Theorems 8 and
    9).
    """
    if not part.rate or delta >= part.rate:
        return Certified(ZERO, ZERO)
    inner = epsilon_at(part.base, delta / part.rate)
    if inner is None:
        return None
    upper = amplified(inner.upper, part.rate)
    lower = inner.lower
    if lower is not None:
        # Less the roundings of e^ε and of the logarithm; the logarithm is concave.
        lower = max(amplified(lower, part.rate) * (1 - MARGIN) - MARGIN, lower * part.rate)
    return inner._replace(upper=upper, lower=lower)


def delta_behind(part: Sampled, epsilon: Fraction, other: bool, delta_at: DeltaAt) -> Certified:
    """Returns the least δ at ε of one composition behind a secret sample, by the formula of
    `epsilon_behind`; `delta_at` gives the least δ of what is sampled, at an ε.

    `other`: only of the order (P, (1-q)P+qQ), for which with a = e^ε and c = 1-a(1-q) the events
    have P-a((1-q)P+qQ) = c·P-aq·Q, and so δ' = c·δ(ln(aq/c)); there is none where c ≤ 0.
    """
    if not part.rate:
        return Certified(ZERO, ZERO)
    if other and part.rate < 1:
        share, at = _other_order(epsilon, part.rate)
        if not share:
            return Certified(ZERO, ZERO)
    else:
        share, at = part.rate, _below(epsilon, part.rate)
    inner = delta_at(part.base, at)
    # The ε was rounded, so that nothing is known from below.
    return inner._replace(upper=inner.upper * share, lower=None)


def _other_order(epsilon: Fraction, rate: Fraction) -> tuple[Fraction, Fraction]:
    """Returns the c of `delta_behind`, rounded up, and ln(aq/c), rounded down; two zeros where c is
    at most 0. A larger c is a larger δ, at its own ln(aq/c)."""
    if epsilon > MAX_EXPONENT:
        return ZERO, ZERO
    from mpmath import mp

    with mp.workdps(60 + max(0, -digits_of(rate))):
        a, q = mp.exp(mpf_of(epsilon)), mpf_of(rate)
        # 1-a(1-q), without its cancellation where both a-1 and q are small.
        share = q * a - mp.expm1(mpf_of(epsilon))
        share += (q * a + mp.expm1(mpf_of(epsilon))) * mp.mpf(10) ** -50
        if share <= 0:
            return ZERO, ZERO
        return exact_of(share), max(ZERO, down(mp.log(a * q / share), Fraction(1, 10**40)))


def amplified(epsilon: Fraction, rate: Fraction) -> Fraction:
    """Returns ln(1+q(e^ε-1)), the ε behind a sample of the rate q, rounded up and never above ε."""
    return min(epsilon, amplified_up(epsilon, rate)) if rate else ZERO


def _below(epsilon: Fraction, rate: Fraction) -> Fraction:
    """Returns the ε of what is sampled that a sample of this rate turns into `epsilon`, rounded
    down."""
    if rate == 1 or epsilon == 0 or epsilon > MAX_EXPONENT:
        return epsilon
    from mpmath import mp

    with mp.workdps(60):
        inner = mp.log1p(mp.expm1(mpf_of(epsilon)) / mpf_of(rate))
        return max(epsilon, down(inner, Fraction(1, 10**40)))
