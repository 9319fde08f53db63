"""The privacy profile of one Gaussian mechanism, certified in many digits.

δ(ε) = Φ(μ/2-ε/μ) - e^ε·Φ(-μ/2-ε/μ) with μ = sensitivity/σ (Balle and Wang 2018, Theorem 8).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpcompose.curves.curve import Certified
from dpcompose.curves.rounding.doubles import (
    LEAST,
    MARGIN,
    WORKING_DIGITS,
    digits_of,
    down,
    mpf_of,
    shorten,
    up,
)
from dpcompose.curves.rounding.exact import FURTHEST, ZERO, log_inverse_up, sqrt_up


def gaussian_delta(mu_squared: Fraction, epsilon: Fraction) -> Certified:
    """Returns the least δ at `epsilon` ≥ 0 of a Gaussian mechanism; `mu_squared`:
    (sensitivity/σ)²."""
    if mu_squared == 0:
        return Certified(ZERO, ZERO)
    from mpmath import mp

    square = max(mu_squared, Fraction(LEAST))
    if square > FURTHEST or epsilon > FURTHEST:
        # δ ≤ e^(-z²/2) with z = ε/μ - μ/2, which is at least μ/100 + FURTHEST/μ > 10^6.
        near = epsilon < square * Fraction(51, 100) + FURTHEST
        return Certified(Fraction(1) if near else Fraction(1, 10**9000), None)
    with mp.workdps(_working_digits(square, epsilon)):
        value = _delta(mp.sqrt(mpf_of(square)), mpf_of(epsilon))[0]
    lower = ZERO if square != mu_squared else down(value, MARGIN)
    return Certified(min(up(value, MARGIN), Fraction(1)), lower)


def gaussian_epsilon(mu_squared: Fraction, delta: Fraction) -> Certified | None:
    """Returns the least ε ≥ 0 at `delta` of a Gaussian mechanism; None for δ = 0, which has none.

    `mu_squared`: (sensitivity/σ)².
    """
    if mu_squared == 0 or delta >= 1:
        return Certified(ZERO, ZERO)
    if delta <= 0:
        return None
    if gaussian_delta(mu_squared, ZERO).upper <= delta:
        return Certified(ZERO, ZERO)
    from mpmath import mp

    square = max(mu_squared, Fraction(LEAST))
    # There the tail alone is below δ: ε = μ(z+μ/2) with e^(-z²/2) ≤ δ.
    furthest = square / 2 + sqrt_up(square * 2 * log_inverse_up(delta))
    if square > FURTHEST:
        return Certified(shorten(furthest, up=True), None)
    with mp.workdps(_working_digits(square, furthest) + 5):
        mu, wanted = mp.sqrt(mpf_of(square)), mpf_of(delta)
        epsilon = mpf_of(furthest)
        # Newton's method: ln δ is concave in ε, so that from above no step goes below the root, but
        # for roundings.
        for _ in range(300):
            value, far = _delta(mu, epsilon)
            step = (mp.log(value) - mp.log(wanted)) * value / far
            epsilon = epsilon + max(step, -epsilon / 2)
            if abs(step) <= epsilon * mp.mpf(10) ** -20:
                break
        upper = _certified(mu, epsilon, wanted, 1)
        lower = ZERO if square != mu_squared else _certified(mu, epsilon, wanted, -1)
    return Certified(upper, lower)


def _certified(mu: Any, epsilon: Any, wanted: Any, side: int) -> Fraction:
    """Returns a number close to `epsilon` whose δ is surely at most `wanted` (`side` 1) or at least
    `wanted` (`side` -1)."""
    from mpmath import mp

    margin = mp.mpf(10) ** -28
    slack = 1 + side * mp.mpf(10) ** -30
    for _ in range(100):
        moved = epsilon * (1 + side * margin)
        if moved <= 0:
            return ZERO
        value = _delta(mu, moved)[0] * slack
        if (value <= wanted) if side > 0 else (value >= wanted):
            return up(moved, ZERO) if side > 0 else down(moved, ZERO)
        margin *= 8
    raise ArithmeticError("the Gaussian curve did not converge")


def _delta(mu: Any, epsilon: Any) -> tuple[Any, Any]:
    """Returns δ(ε) and e^ε·Φ(-μ/2-ε/μ) = -dδ/dε, in the working precision of mpmath."""
    from mpmath import mp

    root = mp.sqrt(2)
    near = mp.erfc((epsilon / mu - mu / 2) / root) / 2
    far = mp.exp(epsilon) * mp.erfc((epsilon / mu + mu / 2) / root) / 2
    return near - far, far


def _working_digits(mu_squared: Fraction, epsilon: Fraction) -> int:
    """Returns how many digits suffice for δ(ε): its two terms cancel at small μ, and e^ε and
    e^(-z²/2) lose digits at large exponents.

    The difference of the two terms is about μ/(z+1) of either, z = ε/μ.
    """
    size = digits_of(mu_squared)
    lost = max(0, -size) + 2 * max(0, size)
    if epsilon:
        lost += 2 * max(0, digits_of(epsilon)) + max(0, digits_of(epsilon * epsilon / mu_squared))
    return WORKING_DIGITS + lost
