"""ρ and μ to (ε, δ) at a chosen δ, rounded up (theory, section 6); used to check budgets."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dpcompose.core.exact import sqrt_up

_DIGITS = 50
#: What a result in floating point of 50 digits may be off by, generously.
_MARGIN = Fraction(1, 10**30)


def zcdp_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    """The ε at δ of a ρ-zCDP mechanism (Canonne, Kamath and Steinke 2020, Corollary 13).

    ε = inf over α > 1 of αρ + (ln(1/(αδ)) + (α-1)·ln(1-1/α))/(α-1). Every α gives a valid bound,
    so that only the evaluation has to be rounded up, not the search.
    """
    if rho == 0:
        return Fraction(0)
    from mpmath import mp, mpf

    with mp.workdps(_DIGITS):
        r, log_inverse = mpf(rho.numerator) / rho.denominator, -mp.log(_exact(delta))

        def bound(excess: Any) -> Any:
            alpha = 1 + excess
            return (
                alpha * r + (log_inverse - mp.log(alpha) + excess * mp.log(excess / alpha)) / excess
            )

        low, high = mp.log(mpf(10) ** -12), mp.log(mpf(10) ** 12)
        golden = (mp.sqrt(5) - 1) / 2
        for _ in range(160):
            left, right = high - golden * (high - low), low + golden * (high - low)
            if bound(mp.exp(left)) <= bound(mp.exp(right)):
                high = right
            else:
                low = left
        best = bound(mp.exp((low + high) / 2))
        return max(Fraction(0), _fraction(best)) * (1 + _MARGIN) + _MARGIN


def gdp_epsilon(mu_squared: Fraction, delta: Fraction) -> Fraction:
    """The ε at δ of a μ-GDP mechanism: δ(ε) = Φ(μ/2-ε/μ) - e^ε·Φ(-μ/2-ε/μ), solved for ε."""
    if mu_squared == 0:
        return Fraction(0)
    from mpmath import mp, mpf

    root = sqrt_up(mu_squared)
    with mp.workdps(_DIGITS + int(-math.log10(delta)) if delta > 0 else _DIGITS):
        mu, wanted = mpf(root.numerator) / root.denominator, _exact(delta)

        def left_over(epsilon: Any) -> Any:
            near = mp.erfc((epsilon / mu - mu / 2) / mp.sqrt(2)) / 2
            far = mp.erfc((epsilon / mu + mu / 2) / mp.sqrt(2)) / 2
            return near - mp.exp(epsilon) * far

        if left_over(mpf(0)) <= wanted:
            return Fraction(0)
        low, high = mpf(0), mu * mu / 2 + mu * mp.sqrt(2 * mp.log(2 / wanted)) + 1
        for _ in range(170):
            middle = (low + high) / 2
            if left_over(middle) <= wanted:
                high = middle
            else:
                low = middle
        return _fraction(high) * (1 + _MARGIN) + _MARGIN


def _exact(x: Fraction) -> Any:
    from mpmath import mpf

    return mpf(x.numerator) / x.denominator


def _fraction(x: Any) -> Fraction:
    sign, mantissa, exponent, _ = x._mpf_
    value = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -value if sign else value
