"""The privacy profile of one Gaussian mechanism, certified in many digits.

δ(ε) = Φ(μ/2-ε/μ) - e^ε·Φ(-μ/2-ε/μ) with μ = sensitivity/σ (Balle and Wang 2018, Theorem 8).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dpcompose.curves.curve import Certified
from dpcompose.curves.rounding.doubles import (
    MARGIN,
    WORKING_DIGITS,
    digits_of,
    down,
    mpf_of,
    shorten,
    up,
)
from dpcompose.curves.rounding.exact import ZERO

#: μ² below this is rounded up to it: no δ that can be asked for sees the difference.
_LEAST = Fraction(1, 10**80)
#: Beyond this only the leading term is kept.
_GREATEST = Fraction(10**30)


def gaussian_delta(mu_squared: Fraction, epsilon: Fraction) -> Certified:
    """Returns the least δ at `epsilon` ≥ 0 of a Gaussian mechanism; `mu_squared`:
    (sensitivity/σ)²."""
    if mu_squared == 0:
        return Certified(ZERO, ZERO)
    from mpmath import mp

    square = max(mu_squared, _LEAST)
    if square > _GREATEST or epsilon > _GREATEST:
        # δ ≤ e^(-z²/2) with z = ε/μ - μ/2, for z ≥ 0.
        near = epsilon < square * Fraction(51, 100) + 10**30
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

    square = max(mu_squared, _LEAST)
    if square > _GREATEST:
        # ε ≤ μ²/2 + μ·√(2·ln(1/δ)), and μ ≤ μ²/10^15.
        room = math.isqrt(2 * (delta.denominator.bit_length() + 1)) + 1
        return Certified(shorten(square * (Fraction(1, 2) + Fraction(room, 10**15)), up=True), None)
    guess = _guess(square, delta)
    with mp.workdps(_working_digits(square, guess) + 5):
        mu, wanted = mp.sqrt(mpf_of(square)), mpf_of(delta)
        epsilon = mpf_of(guess)
        low, high = mp.mpf(0), mu * mu / 2 + mu * (mp.sqrt(-2 * mp.log(wanted)) + 1)
        for _ in range(300):
            value, far = _delta(mu, epsilon)
            low, high = (low, epsilon) if value <= wanted else (epsilon, high)
            step = (mp.log(value) - mp.log(wanted)) * value / far
            if not low - high <= step <= high - low:
                step = (low + high) / 2 - epsilon
            epsilon = epsilon + step
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


def _guess(mu_squared: Fraction, delta: Fraction) -> Fraction:
    """Returns an ε near the least one at δ, by bisection in doubles: close enough to start Newton's
    method."""
    log_mu = 0.5 * (math.log(mu_squared.numerator) - math.log(mu_squared.denominator))
    mu = math.exp(log_mu)
    wanted = math.log(delta.numerator) - math.log(delta.denominator)
    # Against z = ε/μ - μ/2 from the lowest, ε = 0, to where the tail alone is below δ.
    low, high = -mu / 2, math.sqrt(max(0.0, -2 * wanted)) + 1
    for _ in range(60):
        middle = (low + high) / 2
        if log_difference(middle, mu) > wanted:
            low = middle
        else:
            high = middle
    return Fraction(mu) * max(Fraction(low) + Fraction(mu) / 2, Fraction(mu) / 2**40)


def log_difference(z: float, mu: float) -> float:
    """Returns ln(Φ(-z) - e^ε·Φ(-z-μ)) with ε = μ(z+μ/2) ≥ 0, to about ten digits."""
    density = -z * z / 2 - 0.5 * math.log(2 * math.pi)
    if mu <= 1e-3:
        # The mean value of -R', R' = zR - 1, which at large z is about 1/z².
        middle = z + mu / 2
        slope = 1 / (middle * middle + 3) if middle > 1e4 else 1 - middle * mills(middle)
        return math.log(max(mu * slope, 1e-300)) + density
    if z < 0:
        near = math.erfc(z / math.sqrt(2)) / 2
        far = math.exp(density) * mills(z + mu)
        return math.log(max(near - far, 1e-300))
    return math.log(max(mills(z) - mills(z + mu), 1e-300)) + density


def mills(z: float) -> float:
    """Returns (1-Φ(z))/φ(z), the tail of the normal law over its density, for z ≥ -1."""
    if z < 12:
        return math.erfc(z / math.sqrt(2)) * math.sqrt(math.pi / 2) * math.exp(z * z / 2)
    value = z
    for n in range(30, 0, -1):
        value = z + n / value
    return 1 / value
