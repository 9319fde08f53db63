"""A composed privacy loss as tilted masses, the certified δ(ε) that it gives, and the least ε at
which that is at most some δ.

With P-chances p(l), the tilted law is p~(l) = p(l)·e^(θl)/M(θ), which is centred where δ is
decided when θ ≥ 0 is near the saddle point. δ(ε) = Σ_{l>ε} (1-e^(ε-l))·p(l) then becomes
M(θ)·e^(-θε)·Σ_{l>ε} (1-e^(-(l-ε)))·e^(-θ(l-ε))·p~(l): sums of positive numbers of ordinary size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpcompose.curves.backends.lattice.normal import dot, mills, tail
from dpcompose.curves.backends.lattice.tuning import NATS
from dpcompose.curves.rounding.doubles import EPS, SUM_ROUNDING, UNIT, float_of


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """A privacy loss distribution, stored tilted: the losses `ref` + `x`, ascending, with the
    tilted chances `p`.

    The chance of a loss under P is p·e^(log_mass - theta·x). Errors: `log_error` of log_mass,
    relative of every mass; `noise` bounds the root of the sum of the squared errors of `p`;
    `missing` the tilted chance of losses above the last, and that of losses below the first, each
    of which counts as one above; `slack` the absolute error of x.
    `infinite`: the chance, untilted, of an infinite loss. `gaussian`: μ² of a Gaussian that is
    still to be added.
    """

    ref: Fraction
    x: Any
    p: Any
    theta: float
    log_mass: float
    log_error: float
    noise: float
    missing: float
    infinite: float
    slack: float
    gaussian: float = 0.0

    def end(self) -> float:
        """Returns an ε above every loss that has a noticeable chance."""
        return (
            float_of(self.ref) + float(self.x[-1]) + 40 * (math.sqrt(self.gaussian) + self.gaussian)
        )


@dataclass(frozen=True, slots=True)
class LogDelta:
    """Bounds of ln δ at some ε from above and below, and its slope -(dδ/dε)/δ."""

    log_upper: float
    log_lower: float
    slope: float


def delta_of(law: Law, epsilon: Fraction) -> LogDelta:
    """Returns ln δ(ε) of the law at any real ε, certified from above and below."""
    at = float_of(epsilon - law.ref)
    slack = law.slack + 2 * UNIT * abs(at)
    if law.gaussian:
        weights, slopes, scale, loss = _gaussian_weights(law, at, slack)
        p = law.p
    else:
        start = int(np.searchsorted(law.x, at - slack, side="right"))
        stop = len(law.x)
        if law.theta > 0:
            stop = int(np.searchsorted(law.x, at + NATS / law.theta, side="right"))
        y = np.maximum(law.x[start:stop] - at + slack, 0.0)
        fade = np.exp(-law.theta * y)
        weights = -np.expm1(-y) * fade
        slopes = np.exp(-y) * fade
        p = law.p[start:stop]
        # The tilt of the losses' error, and the weights' own roundings.
        loss = 1e-14 + law.theta * slack
        scale = law.log_mass - law.theta * at
        if slack and len(y):
            below = np.maximum(y - 2 * slack, 0.0)
            low_weights = -np.expm1(-below) * fade
        else:
            low_weights = weights
    total = dot(weights, p)
    noise = law.noise * math.sqrt(dot(weights, weights))
    slope = dot(slopes, p)
    if law.gaussian:
        extra, lower = loss * total, total
        extra += dot(_weight_error(law, at), p)
    else:
        extra, lower = loss * total, dot(low_weights, p)
    error = law.log_error + 4 * UNIT * (abs(law.log_mass) + law.theta * abs(at))
    missing = law.missing + 2 * math.exp(-NATS)
    upper = _log(total + noise + extra + missing, scale + error, law.infinite)
    low = _log(lower - noise - extra - missing, scale - error, 0.0)
    if math.isnan(total + noise + extra + missing + scale + error + law.infinite):
        # Nothing is known of what has left the range of doubles.
        upper, low = 0.0, -math.inf
    return LogDelta(upper, low, slope / total if total > 0 else math.inf)


def _log(value: float, scale: float, infinite: float) -> float:
    """Returns ln(value·e^scale + infinite), at most 0."""
    log = math.log(value) + scale if value > 0 else -math.inf
    if infinite > 0:
        log = float(np.logaddexp(log, math.log(infinite) + 1e-15))
    return min(log, 0.0) + 1e-15 * abs(log) if log > -math.inf else log


def _gaussian_weights(law: Law, at: float, slack: float) -> tuple[Any, Any, float, float]:
    """Returns what the Gaussian that is still to be added makes of δ at `at`: for each loss l of
    the law the weight δ_μ(ε-l)·e^(θ(ε-l))/M_μ(θ), with ε = `at`; the same of -dδ_μ/dε; the
    logarithm of the factor common to all; and its error.

    δ_μ: the profile of the Gaussian; M_μ(θ) makes the weights at most 1. `slack`: added to each
    loss.
    """
    mu = math.sqrt(law.gaussian)
    most = law.gaussian * law.theta * (law.theta + 1) / 2
    y = at - law.x - slack
    z = y / mu - mu / 2
    lift = law.theta * y - most
    weights, slopes = np.empty_like(y), np.empty_like(y)
    high = z >= 0
    # In the upper tail by ratios of the tail to the density, which do not underflow.
    zh = z[high]
    density = np.exp(np.maximum(lift[high] - zh * zh / 2, -700.0)) / math.sqrt(2 * math.pi)
    far = mills(zh + mu)
    weights[high] = density * np.maximum(mills(zh) - far, 0.0)
    slopes[high] = density * far
    low = ~high
    zl, yl = z[low], y[low]
    factor = np.exp(np.maximum(lift[low], -700.0))
    far = _far(zl, yl, mu)
    weights[low] = factor * np.maximum(tail(zl) - far, 0.0)
    slopes[low] = factor * far
    loss = 1e-14 + 2 * law.theta * law.slack
    return weights, slopes, law.log_mass - law.theta * (at - slack) + most, loss


def _weight_error(law: Law, at: float) -> Any:
    """Returns a bound of the rounding error of each weight, relative to the terms that are
    subtracted."""
    mu = math.sqrt(law.gaussian)
    most = law.gaussian * law.theta * (law.theta + 1) / 2
    y = at - law.x
    z = y / mu - mu / 2
    lift = law.theta * y - most
    size = np.where(z >= 0, mills(np.maximum(z, 0.0)) * 0.4, 1.0)
    power = lift - np.where(z >= 0, z * z / 2, 0.0)
    return 20 * EPS * size * np.exp(np.maximum(power, -700.0)) * (2 + np.abs(lift) + z * z)


def _far(z: Any, y: Any, mu: float) -> Any:
    """Returns e^y·(1-Φ(z+mu)) for z < 0."""
    w = z + mu
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    above = density * mills(np.maximum(w, 0.0))
    return np.where(w >= 0, above, np.exp(np.minimum(y, 0.0)) * tail(np.minimum(w, 0.0)))


def epsilon_of(
    curve: Callable[[float], LogDelta], log_delta: float, guess: float, most: float, end: float
) -> float | None:
    """Returns an ε in [0, most] with δ(ε) ≤ e^log_delta for sure, close to the least; None if none
    is found.

    `curve`: gives ln δ at an ε; `guess`: where to start; `end`: an ε above every loss that has a
    noticeable chance. Newton's method within a bracket, which is halved where a step leaves it or
    is not half as long as the one before.
    """
    if curve(0.0).log_upper <= log_delta:
        return 0.0
    low, high, before = 0.0, math.inf, math.inf
    at = min(max(guess, 0.0), most)
    for _ in range(120):
        value = curve(at)
        excess = value.log_upper - log_delta
        if excess <= 0:
            high = at
        else:
            low = at
        step = _step(excess, value.slope)
        if high - low <= SUM_ROUNDING * low or (at == high and -step <= SUM_ROUNDING * high):
            break
        # A little further than to the root, so that the bracket closes from both sides.
        target = at + step + math.copysign(SUM_ROUNDING / 4 * at, step)
        if not low < target < min(high, most) or abs(step) > before / 2:
            far = end if at < end else 2 * at
            target = min(far, most) if high == math.inf else (low + high) / 2
        if target in (low, high):
            break
        before = abs(target - at)
        at = target
    return high if high < math.inf else None


def _step(excess: float, slope: float) -> float:
    """Returns Newton's step to the wanted ε: by ln δ from below the root, by δ as a function of e^ε
    from above it. `excess`: ln δ above the wanted one, `slope`: as in `LogDelta`."""
    if not 0 < slope < math.inf or abs(excess) == math.inf:
        return math.nan
    if excess > 0:
        return excess / slope
    fall = -math.expm1(min(-excess, 700.0)) / slope
    return math.log1p(fall) if fall > -1 else math.nan


def lower_epsilon(law: Law, log_delta: float, near: float) -> float | None:
    """Returns an ε just below `near` at which δ is surely above e^log_delta; None if none is found
    soon."""
    for exponent in (-12, -11, -10, -9, -8, -7, -6):
        at = near * (1 - 10.0**exponent)
        if delta_of(law, Fraction(at)).log_lower > log_delta:
            return at
    return None
