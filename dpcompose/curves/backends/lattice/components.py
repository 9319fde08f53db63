"""What an engine composes: independent losses with counts, and their cumulants.

`Pair`s are responses, kept exact; `Dense` are laws on a grid. The cumulant of one loss L is
K(θ) = ln E e^(θL) under P; they add up under composition.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpcompose.curves.backends.lattice.masses import Floats, Masses
from dpcompose.curves.backends.lattice.normal import dot
from dpcompose.curves.rounding.doubles import UNIT, float_of


@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """The possible losses of several laws in one array, one law after the other, with the
    logarithms of their chances; where each law starts, to which law each loss belongs, and how
    often each law is composed."""

    losses: Any
    logs: Any
    starts: Any
    owner: Any
    counts: Any

    def moments(self, theta: float) -> Moments:
        """Returns cumulant, mean and variance of the composition tilted by `theta`."""
        logs = self.logs + theta * self.losses
        most = np.maximum.reduceat(logs, self.starts)
        # Not so low that doubles lose digits, which is slow.
        weights = np.exp(np.maximum(logs - most[self.owner], -600.0))
        whole = np.add.reduceat(weights, self.starts)
        middle = np.add.reduceat(weights * self.losses, self.starts) / whole
        away = self.losses - middle[self.owner]
        square = np.add.reduceat(weights * away * away, self.starts) / whole
        total = dot(self.counts, most + np.log(whole))
        return Moments(total, dot(self.counts, middle), dot(self.counts, square))


@dataclass(frozen=True, slots=True, eq=False)
class Ensemble:
    """The parts of a composition as the lattice composes them: randomized responses, laws on one
    grid, and the Gaussian.

    `twice`: 2ε of each response in units of `unit`, with its count; `gaussian`: μ² of the Gaussian;
    `eps` and `num`: ε and count of the responses as doubles; `atoms`: the possible losses of all
    laws.
    """

    unit: Fraction
    twice: Any
    counts: tuple[int, ...]
    eps: Any
    num: Any
    dense: tuple[tuple[Masses, int], ...]
    mu2: float
    atoms: Atoms

    def greatest(self) -> Fraction:
        """Returns the sum of all ε of the responses, exactly."""
        total = sum(e * c for e, c in zip(self.twice.tolist(), self.counts, strict=True))
        return Fraction(total) * self.unit / 2


@dataclass(frozen=True, slots=True)
class Moments:
    """The cumulant K(θ) of a law tilted by θ (nearest double), and the mean and variance of the
    tilted law."""

    cumulant: float
    mean: float
    variance: float


def ensemble(
    responses: Mapping[Fraction, int],
    dense: Sequence[tuple[Masses, int]],
    gaussian: Fraction,
    unit: Fraction,
) -> Ensemble:
    """Returns the parts of a composition as the lattice needs them; each 2ε is rounded up to whole
    units, which dominates.

    `responses`: count by ε; `dense`: laws on one grid with counts; `gaussian`: μ². ε and counts are
    above 0, and no 2ε may have more than 2^62 units.
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
        atoms_of([(law.losses(), law.p, count) for law, count in dense]),
    )


def atoms_of(laws: Sequence[tuple[Floats, Floats, int]]) -> Atoms:
    """Returns the possible losses of all laws in one array; `laws`: losses, chances and how often
    each law is composed."""
    occur = [np.flatnonzero(p) for _, p, _ in laws]
    sizes = np.array([len(some) for some in occur], dtype=np.int64)
    pairs = list(zip(laws, occur, strict=True))
    return Atoms(
        np.concatenate([losses[some] for (losses, _, _), some in pairs] or [np.zeros(0)]),
        np.concatenate([np.log(p[some]) for (_, p, _), some in pairs] or [np.zeros(0)]),
        np.cumsum(sizes) - sizes,
        np.repeat(np.arange(len(sizes)), sizes),
        np.array([float(count) for _, _, count in laws]),
    )


def _trimmed(law: Masses) -> Masses:
    """Returns the law without the ends that have no chance, so that its greatest loss is one that
    occurs.

    A law with an overflow or without any finite loss becomes the one that gives everything away.
    """
    used = np.flatnonzero(law.p)
    if not len(used) or not math.isfinite(float(law.p.sum()) + law.infinite):
        return Masses(law.step, 0, np.ones(1), 1.0)
    low, high = int(used[0]), int(used[-1]) + 1
    if high - low == len(law.p):
        return law
    return Masses(law.step, law.first + low, law.p[low:high], law.infinite)


def moments(parts: Ensemble, theta: float, *, gaussian: bool = True) -> Moments:
    """Returns K(θ), K'(θ) and K''(θ) of all parts together at θ = `theta`; `gaussian`: whether the
    Gaussian counts."""
    total = mean = variance = 0.0
    if len(parts.eps):
        low = lower_chance(parts.eps, theta)
        total += dot(parts.num, theta * parts.eps + log_rest(parts.eps, theta))
        mean += dot(parts.num, parts.eps * (1 - 2 * low))
        variance += dot(parts.num, 4 * parts.eps**2 * low * (1 - low))
    if len(parts.atoms.counts):
        here = parts.atoms.moments(theta)
        total, mean, variance = total + here.cumulant, mean + here.mean, variance + here.variance
    if gaussian and parts.mu2:
        total += parts.mu2 * theta * (theta + 1) / 2
        mean += parts.mu2 * (theta + 0.5)
        variance += parts.mu2
    return Moments(total, mean, variance)


def lower_chance(eps: Any, theta: float) -> Any:
    """Returns the chance of the loss -ε in the law tilted by θ, 1/(1+e^((1+2θ)ε))."""
    return 1 / (1 + np.exp(np.clip((1 + 2 * theta) * eps, -700.0, 700.0)))


def log_rest(eps: Any, theta: float) -> Any:
    """Returns K(θ) - θε of each response, ln(p + (1-p)·e^(-2θε)) with p = e^ε/(1+e^ε)."""
    fade = np.exp(-np.minimum(eps, 700.0))
    turn = -2 * theta * eps
    if theta >= 0:
        return np.log1p(fade / (1 + fade) * np.expm1(turn))
    return np.logaddexp(0.0, turn - eps) - np.log1p(fade)


def tilt_for_epsilon(parts: Ensemble, epsilon: float) -> float:
    """Returns the tilt θ ≥ 0 under which the mean loss is `epsilon`; 0 where ε is below the mean
    without a tilt."""
    return _search(parts, lambda theta, m: epsilon - m.mean)


def tilt_for_delta(parts: Ensemble, log_delta: float) -> float:
    """Returns the tilt θ ≥ 0 whose mean loss is an ε with about this δ (`log_delta` is ln δ), by
    the saddle point approximation."""

    def above(theta: float, m: Moments) -> float:
        spread = math.sqrt(2 * math.pi * m.variance)
        size = math.log1p(spread * theta * (1 + theta))
        return m.cumulant - theta * m.mean - size - log_delta

    return _search(parts, above)


def _search(parts: Ensemble, excess: Callable[[float, Moments], float]) -> float:
    """Returns the least tilt θ, to one in a thousand, at which the falling function `excess` is no
    longer above 0; 0 if it never is."""
    start, atoms = moments(parts, 0.0), parts.atoms
    if start.variance <= 0 or not excess(0.0, start) > 0:
        return 0.0
    greatest = dot(parts.eps, parts.num)
    if len(atoms.counts):
        greatest += dot(atoms.counts, np.maximum.reduceat(atoms.losses, atoms.starts))
    if parts.mu2:
        greatest = math.inf
    least = 1 / greatest if greatest > 0 else 0.0
    # Far below what a smooth law asks for, since a small chance of a large loss asks for less.
    first = 2.0**-40 * max(least, 1e-3 / math.sqrt(start.variance + start.mean**2))

    def theta(place: int) -> float:
        return float(first * 2.0 ** (place / 1024))

    def is_enough(place: int) -> bool:
        now = moments(parts, theta(place))
        # A law that has shrunk to its greatest loss gains nothing by a steeper tilt.
        shrunk = theta(place) >= least and theta(place) * (greatest - now.mean) < 0.05
        return shrunk or not excess(theta(place), now) > 0

    place: int = bisect_left(range(1024 * 140), True, key=is_enough)
    return theta(place)


def chernoff(parts: Ensemble, theta: float, nats: float) -> tuple[float, float]:
    """Returns two numbers s at which Chernoff's bound shows that the tilted law has at most e^-nats
    above a loss, and below one, that is as near the mean as this bound allows."""
    here = moments(parts, theta, gaussian=False)
    spread = math.sqrt(here.variance)
    if spread == 0:
        return 1.0, 1.0
    tries = [2.0 ** (i / 2) * math.sqrt(2 * nats) / spread for i in range(-80, 9)]

    def bound(s: float) -> float:
        return (moments(parts, theta + s, gaussian=False).cumulant - here.cumulant + nats) / abs(s)

    def least_try(sign: float) -> float:
        """Returns the least of the tries from which on the bound grows: as the cumulant is convex,
        it falls before."""

        def grows(i: int) -> bool:
            return bound(sign * tries[i]) <= bound(sign * tries[i + 1])

        return float(tries[bisect_left(range(len(tries) - 1), True, key=grows)])

    return least_try(1.0), least_try(-1.0)


def reach(
    parts: Ensemble, theta: float, nats: float, shifts: tuple[float, float]
) -> tuple[float, float]:
    """Returns the losses (without the Gaussian) below and above which the tilted law has at most
    e^-nats.

    `shifts`: the two s of `chernoff`. The tilted chance above t is at most e^(K(θ+s) - K(θ) - s·t)
    for every s ≥ 0, and below t likewise.
    """
    here = moments(parts, theta, gaussian=False)
    if here.variance == 0:
        return here.mean, here.mean
    up = moments(parts, theta + shifts[0], gaussian=False).cumulant - here.cumulant
    down = moments(parts, theta - shifts[1], gaussian=False).cumulant - here.cumulant
    return -(down + nats) / shifts[1], (up + nats) / shifts[0]
