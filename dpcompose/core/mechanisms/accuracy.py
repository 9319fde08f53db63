"""What noise does to an answer: its standard deviation, and how far off the answer is mostly."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import NamedTuple

from dpcompose.core.mechanisms.discrete_gaussian import DiscreteGaussian
from dpcompose.core.mechanisms.gaussian import Gaussian
from dpcompose.core.mechanisms.geometric import Geometric
from dpcompose.core.mechanisms.laplace import Laplace
from dpcompose.core.mechanisms.skellam import Skellam
from dpcompose.core.notions.concrete_mechanism import Family
from dpcompose.curves.rounding import exp_up, log_inverse_up, sqrt_up

#: More than the relative error of a quantile or a sum in doubles.
_SAFE = 1 + Fraction(1, 10**9)
_LEAST_SCALE = Fraction(1, 500)
#: Below this level the normal quantile is a chord: doubles next to 1/2 are too few.
_LEAST_LEVEL = Fraction(1, 10**6)
#: The highest level at which accuracy is stated.
HIGHEST = 1 - Fraction(1, 10**9)
#: Up to this standard deviation the law of Skellam noise is summed.
_SUMMED = 2_000


class Accuracy(NamedTuple):
    """How far the noise moves one answer, in the units of the answer; both numbers are rounded up.

    `deviation`: the standard deviation; `within`: with a given chance (the level) the noise is at
    most this.
    """

    deviation: Fraction
    within: Fraction


def accuracy_of(noise: Family, level: Fraction) -> Accuracy | None:
    """Returns how far a mechanism's noise moves one answer, or each coordinate of a vector.

    `level`: the chance with which the noise is at most `within`, above 0 and at most HIGHEST. None
    for what adds no noise to a number.
    """
    noise = getattr(noise, "noise", noise)  # `OneHot` has the noise of each coordinate
    rest = 1 - level
    match noise:
        case Laplace(scale):
            return Accuracy(sqrt_up(2 * scale**2), scale * log_inverse_up(rest))
        case Gaussian(sigma):
            return Accuracy(sigma, sigma * _normal_quantile(rest))
        case DiscreteGaussian(sigma):
            # Σ e^(-n²/2σ²) over n > w is at most the integral from w on, and over all n at least
            # σ√(2π): so the noise is beyond w no more often than the normal law.
            return Accuracy(sigma, Fraction(math.ceil(sigma * _normal_quantile(rest))))
        case Geometric(scale):
            scale = max(scale, _LEAST_SCALE)  # more noise, of which there is next to none
            ratio = math.exp(-1 / scale)
            deviation = Fraction(math.sqrt(2 * ratio) / -math.expm1(-1 / scale)) * _SAFE
            return Accuracy(deviation, Fraction(_within_geometric(scale, rest)))
        case Skellam(variance):
            return Accuracy(sqrt_up(variance), Fraction(_within_skellam(variance, rest)))
    return None


def _normal_quantile(rest: Fraction) -> Fraction:
    """Returns z, rounded up, with P(|Z| > z) = `rest` for a standard normal Z."""
    level = 1 - rest
    if level < _LEAST_LEVEL:  # the quantile is convex in the level: below a chord from 0
        return level / _LEAST_LEVEL * _normal_quantile(1 - _LEAST_LEVEL)
    return Fraction(-NormalDist().inv_cdf(float(rest / 2))) * _SAFE


def _within_geometric(scale: Fraction, rest: Fraction) -> int:
    """Returns the least w with P(|n| > w) = 2q^(w+1)/(1+q) ≤ `rest`, for geometric noise n, q =
    e^(-1/`scale`)."""
    most = rest * (1 + 1 / exp_up(1 / scale))
    found = max(0, math.floor(scale * log_inverse_up(most / 2)) - 2)
    while 2 * exp_up(-(found + 1) / scale) > most:
        found += 1
    return found


def _within_skellam(variance: Fraction, rest: Fraction) -> int:
    """Returns a w with P(|n| > w) ≤ `rest` for Skellam noise n: the least where the law is summed.

    P(|n| ≤ w) is the mean of e^(-v(1 - cos t))·sin((w + 1/2)t)/sin(t/2) over the circle, v the
    `variance`, by as many points as leave no other masses. Beyond that by Bernstein: 2·exp(-w²/(2(v
    + w/3))).
    """
    deviation = float(sqrt_up(variance))
    logarithm = float(log_inverse_up(rest / 2))
    root = math.sqrt(logarithm**2 / 9 + 2 * logarithm * deviation**2)
    bernstein = math.ceil(logarithm / 3 + root)
    if deviation > _SUMMED or rest < Fraction(1, 10**9):
        return bernstein + 1
    points = 2 * (bernstein + math.ceil(14 * deviation) + 60)
    turns = [(2 * k + 1) * math.pi / points for k in range(points // 2)]
    # 1 - cos t as 2·sin²(t/2): the difference has no digits left where t is small.
    sines, twice = [math.sin(t / 2) for t in turns], float(2 * variance)
    heights = [math.exp(-twice * sine**2) / sine for sine in sines]

    def is_within(most: int) -> bool:
        parts = (h * math.sin((most + 0.5) * t) for h, t in zip(heights, turns, strict=True))
        return 1 - math.fsum(parts) * 2 / points <= float(rest) * (1 - 1e-9) - 1e-13

    low, high = -1, bernstein + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_within(middle) else (middle, high)
    return high
