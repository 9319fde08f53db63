"""What an engine composes: independent losses with counts, and their cumulants.

`Pair`s are responses, kept exact; `Dense` are laws on a grid. The cumulant of one loss L is
K(θ) = ln E e^(θL) under P; they add up under composition.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpcompose.core.profile.masses import Masses
from dpcompose.core.profile.normal import dot
from dpcompose.core.profile.rounding import float_of

UNIT = 2.0**-53


@dataclass(frozen=True, slots=True, eq=False)
class Ensemble:
    """All parts of a composition: responses whose 2ε are `twice` units, laws on one grid with
    counts, and μ² of the Gaussian.

    `eps` and `num`: the ε and their counts as doubles; `losses`, `logs`: the losses of each law
    and the logarithms of their chances.
    """

    unit: Fraction
    twice: Any
    counts: tuple[int, ...]
    eps: Any
    num: Any
    dense: tuple[tuple[Masses, int], ...]
    mu2: float
    losses: tuple[Any, ...]
    logs: tuple[Any, ...]

    def greatest(self) -> Fraction:
        """The sum of all ε of the responses, exactly."""
        total = sum(e * c for e, c in zip(self.twice.tolist(), self.counts, strict=True))
        return Fraction(total) * self.unit / 2


@dataclass(frozen=True, slots=True)
class Moments:
    """Of the tilted law: the cumulant (nearest double), mean and variance."""

    cumulant: float
    mean: float
    variance: float


def ensemble(
    responses: Mapping[Fraction, int],
    dense: Sequence[tuple[Masses, int]],
    gaussian: Fraction,
    unit: Fraction,
) -> Ensemble:
    """Gathers the parts; each 2ε is rounded up to whole units, which dominates.

    ε and counts are above 0, and no 2ε may have more than 2^62 units.
    """
    merged: dict[int, int] = {}
    for epsilon, count in responses.items():
        steps = -(
            -2 * epsilon.numerator * unit.denominator // (epsilon.denominator * unit.numerator)
        )
        merged[steps] = merged.get(steps, 0) + count
    twice = np.array(sorted(merged), dtype=np.int64)
    counts = tuple(merged[steps] for steps in twice.tolist())
    dense = [(_trimmed(law), count) for law, count in dense]
    return Ensemble(
        unit,
        twice,
        counts,
        twice * (float_of(unit) / 2),
        np.array([float(c) for c in counts]),
        tuple(dense),
        float_of(gaussian) * (1 + 4 * UNIT),
        tuple(law.losses() for law, _ in dense),
        tuple(_logs(law.p) for law, _ in dense),
    )


def _trimmed(law: Masses) -> Masses:
    """Without ends of no chance, so that the greatest loss is one that occurs.

    What is no law, by an overflow or because nothing finite is left, gives all away.
    """
    used = np.flatnonzero(law.p)
    if not len(used) or not math.isfinite(float(law.p.sum()) + law.infinite):
        return Masses(law.step, 0, np.ones(1), 1.0)
    low, high = int(used[0]), int(used[-1]) + 1
    if high - low == len(law.p):
        return law
    return Masses(law.step, law.first + low, law.p[low:high], law.infinite)


def _logs(p: Any) -> Any:
    with np.errstate(divide="ignore"):
        return np.log(p)


def moments(parts: Ensemble, theta: float, *, gaussian: bool = True) -> Moments:
    """K(θ), K'(θ) and K''(θ) of the whole; without the Gaussian on demand."""
    total = mean = variance = 0.0
    if len(parts.eps):
        low = lower_chance(parts.eps, theta)
        total += dot(parts.num, theta * parts.eps + log_rest(parts.eps, theta))
        mean += dot(parts.num, parts.eps * (1 - 2 * low))
        variance += dot(parts.num, 4 * parts.eps**2 * low * (1 - low))
    for (_, count), losses, chances in zip(parts.dense, parts.losses, parts.logs, strict=True):
        logs = chances + theta * losses
        most = float(logs.max())
        # Not so low that doubles lose digits, which is slow.
        weights = np.exp(np.maximum(logs - most, -600.0))
        whole = float(weights.sum())
        middle = dot(weights, losses) / whole
        total += count * (most + math.log(whole))
        mean += count * middle
        variance += count * dot(weights, (losses - middle) ** 2) / whole
    if gaussian and parts.mu2:
        total += parts.mu2 * theta * (theta + 1) / 2
        mean += parts.mu2 * (theta + 0.5)
        variance += parts.mu2
    return Moments(total, mean, variance)


def lower_chance(eps: Any, theta: float) -> Any:
    """The chance of -ε in the tilted law, 1/(1+e^((1+2θ)ε))."""
    return 1 / (1 + np.exp(np.clip((1 + 2 * theta) * eps, -700.0, 700.0)))


def log_rest(eps: Any, theta: float) -> Any:
    """K(θ) - θε of each response: ln(p + (1-p)·e^(-2θε))."""
    fade = np.exp(-np.minimum(eps, 700.0))
    turn = -2 * theta * eps
    if theta >= 0:
        return np.log1p(fade / (1 + fade) * np.expm1(turn))
    return np.logaddexp(0.0, turn - eps) - np.log1p(fade)


def tilt_for_epsilon(parts: Ensemble, epsilon: float) -> float:
    """θ ≥ 0 whose tilted mean is `epsilon`; 0 where ε is below the mean."""
    return _search(parts, lambda theta, m: m.mean < epsilon)


def tilt_for_delta(parts: Ensemble, log_delta: float) -> float:
    """θ ≥ 0 whose tilted mean has about this δ, by the saddle point approximation."""

    def above(theta: float, m: Moments) -> bool:
        spread = math.sqrt(2 * math.pi * m.variance)
        size = math.log1p(spread * theta * (1 + theta))
        return m.cumulant - theta * m.mean - size > log_delta

    return _search(parts, above)


def _search(parts: Ensemble, more: Any) -> float:
    """The greatest θ at which `more` holds, to a few digits; 0 if never."""
    start = moments(parts, 0.0)
    if start.variance <= 0 or not more(0.0, start):
        return 0.0
    greatest = dot(parts.eps, parts.num) + sum(
        count * float(losses[-1])
        for (_, count), losses in zip(parts.dense, parts.losses, strict=True)
    )
    if parts.mu2:
        greatest = math.inf
    low, high = 0.0, max(1 / greatest, 1e-3 / math.sqrt(start.variance + start.mean**2))
    for _ in range(100):
        now = moments(parts, high)
        # A law that has shrunk to its greatest loss gains nothing by a steeper tilt.
        if high * (greatest - now.mean) < 0.05 or not more(high, now):
            break
        low, high = high, 2 * high
    for _ in range(14):
        middle = (low + high) / 2
        if more(middle, moments(parts, middle)):
            low = middle
        else:
            high = middle
    return (low + high) / 2


def chernoff(parts: Ensemble, theta: float, nats: float) -> tuple[float, float]:
    """The s for which Chernoff's bound leaves at most e^-nats above, and below, the least loss."""
    here = moments(parts, theta, gaussian=False)
    spread = math.sqrt(here.variance)
    if spread == 0:
        return 1.0, 1.0
    tries = [2.0 ** (i / 2) * math.sqrt(2 * nats) / spread for i in range(-10, 9)]

    def above(s: float) -> float:
        return (moments(parts, theta + s, gaussian=False).cumulant - here.cumulant + nats) / s

    def below(s: float) -> float:
        return (moments(parts, theta - s, gaussian=False).cumulant - here.cumulant + nats) / s

    return min(tries, key=above), min(tries, key=below)


def reach(
    parts: Ensemble, theta: float, nats: float, shifts: tuple[float, float]
) -> tuple[float, float]:
    """Losses, without the Gaussian, below and above which the tilted law has at most e^-nats.

    Chernoff: the tilted chance above t is at most e^(K(θ+s) - K(θ) - s·t) for every s ≥ 0.
    """
    here = moments(parts, theta, gaussian=False)
    if here.variance == 0:
        return here.mean, here.mean
    up = moments(parts, theta + shifts[0], gaussian=False).cumulant - here.cumulant
    down = moments(parts, theta - shifts[1], gaussian=False).cumulant - here.cumulant
    return -(down + nats) / shifts[1], (up + nats) / shifts[0]
