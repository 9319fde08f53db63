"""The distribution of a privacy loss on an even grid, with its certified mass at infinity.

A law here is certified in the sense of its hockey-stick curve, δ(ε) = `infinite` +
Σ_{l>ε} (1-e^(ε-l))·p(l): it is at least the profile of what it stands for at every real ε. The
curve grows with each p, with `infinite`, and when mass moves to a greater loss; so every rounding
here makes a mass larger or a loss greater.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpcompose.curves.backends.lattice.tuning import MAX_POINTS, TAIL
from dpcompose.curves.rounding.doubles import EPS

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Masses:
    """A privacy loss distribution on an even grid: the law of the loss ln(dP/dQ) under P.

    `p[i]` is the chance of the loss (first+i)·step, `infinite` that of an infinite loss; together
    1, up to roundings upwards. Under Q a loss l has the chance e^(-l)·p, and what is missing to 1
    is where P has nothing.
    """

    step: Fraction
    first: int
    p: Floats
    infinite: float

    def losses(self) -> Floats:
        """Returns the loss of each entry of `p`."""
        indices: Floats = self.first + np.arange(len(self.p), dtype=np.float64)
        return indices * float(self.step)

    def ends(self) -> tuple[float, float]:
        """Returns the losses of the first and of the last entry."""
        width = float(self.step)
        return self.first * width, (self.first + len(self.p) - 1) * width

    def tilted(self, theta: float) -> Floats:
        """Returns the chances in proportion to p·e^(θ·loss), 1 in all, where `theta` is θ; tiny
        ones are raised, since such doubles are slow."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.p) + theta * float(self.step) * np.arange(len(self.p))
        weights: Floats = np.exp(np.maximum(logs - logs.max(), -600.0))
        weights /= weights.sum()
        return weights


class Losses(NamedTuple):
    """A privacy loss distribution off any grid, certified as `Masses` are: losses with their
    chances under P, and the chance of an infinite loss."""

    losses: Floats
    p: Floats
    infinite: float


def bounded(x: Fraction, most: float) -> float:
    """Returns `x` ≥ 0 as the nearest double, but no more than `most`, however large it is."""
    return float(x) if x < most else most


def profile(masses: Masses, epsilon: float) -> float:
    """Returns the hockey-stick curve δ(ε) of `masses` at a real ε = `epsilon`, to nearest; for
    tests and plots."""
    losses = masses.losses()
    above = losses > epsilon
    terms = -np.expm1(epsilon - losses[above]) * masses.p[above]
    return masses.infinite + math.fsum(terms.tolist())


def on_grid(places: Floats, p: Floats, step: Fraction, infinite: float = 0.0) -> Masses:
    """Returns the law of losses that lie on the grid: `places` are their indices, equal ones are
    added up, `p` their chances.

    `infinite`: the chance of an infinite loss.
    """
    first, last, beyond = _window(places, p)
    kept = places <= last
    index = np.maximum(places[kept] - first, 0.0).astype(np.int64)
    # A sum of n positive terms is within n roundings of its value.
    most = int(np.bincount(index).max())
    total: Floats = np.bincount(index, weights=p[kept]).astype(np.float64)
    return Masses(step, int(first), total * (1 + most * EPS), infinite + beyond)


def spread(law: Masses, times: int) -> Masses:
    """Returns the same law on a grid that is `times` as fine."""
    if times == 1:
        return law
    used = np.flatnonzero(law.p)
    if not len(used):
        return Masses(law.step / times, 0, law.p[:1], law.infinite)
    places = (used + law.first).astype(np.float64) * times
    return on_grid(places, law.p[used], law.step / times, law.infinite)


def _window(places: Floats, p: Floats) -> tuple[float, float, float]:
    """Returns the lowest and highest index to keep, at most MAX_POINTS apart, and the mass above.

    `places`: the indices, `p`: their chances. Of more points than that, the lowest of hardly any
    chance are given up first (they move up), then the highest of hardly any (to infinity), then the
    lowest of any chance.
    """
    low, high = float(places.min()), float(places.max())
    if high - low < MAX_POINTS:
        return low, high, 0.0
    order = np.argsort(places)
    weightless = int(np.searchsorted(np.cumsum(p[order]), TAIL))
    low = float(places[order[min(weightless, len(order) - 1)]])
    last = low + MAX_POINTS - 1
    if high > last:
        beyond = float(p[places > last].sum()) * (1 + 1e-9)
        if beyond <= TAIL:
            return low, last, beyond
    return max(low, high - MAX_POINTS + 1), high, 0.0


def scatter(losses: Floats, p: Floats, step: Fraction, infinite: float = 0.0) -> Masses:
    """Returns the law on the grid of `step` of losses that lie anywhere: each is split over the two
    grid points around it, so that its chances under P and Q are conserved.

    The split law has the profile of the given one at the grid points and lies above it between them
    (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022). Losses may be below the true ones by one
    part in 2^52.
    """
    width = float(step)
    place = losses / width
    # Three roundings: of the loss, the step and the quotient.
    place = place + 4 * EPS * np.abs(place)
    base = np.floor(place)
    offset = (place - base) * width
    rest = width - offset
    whole = -math.expm1(-width)
    high = p * (np.expm1(-offset) / -whole) * (1 + 16 * EPS)
    low = p * np.exp(-offset) * (np.expm1(-rest) / -whole) * (1 + 16 * EPS)
    places, shares = np.concatenate([base, base + 1]), np.concatenate([low, high])
    return on_grid(places, shares, step, infinite)


def split(loss: Fraction, p: float, step: Fraction) -> list[tuple[int, float]]:
    """Returns the grid indices and masses into which `scatter` splits one loss of the chance `p`;
    the loss is exact."""
    base = math.floor(loss / step)
    offset = loss - base * step
    if offset == 0:
        return [(base, p)]
    whole = math.expm1(-float(step))
    trace_here = p * (1 + 16 * EPS)
    low = trace_here * math.exp(-float(offset)) * (math.expm1(float(offset - step)) / whole)
    return [(base, low), (base + 1, trace_here * (math.expm1(-float(offset)) / whole))]


def gather(entries: list[tuple[int, float]], step: Fraction, infinite: float = 0.0) -> Masses:
    """Returns the law with these masses, given as (grid index, mass); equal indices are added
    up."""
    top = max(index for index, _ in entries)
    first = max(min(index for index, _ in entries), top - MAX_POINTS)
    p = np.zeros(top - first + 1)
    for index, mass in entries:
        p[max(index - first, 0)] += mass
    return Masses(step, first, p * (1 + len(entries) * EPS), infinite)
