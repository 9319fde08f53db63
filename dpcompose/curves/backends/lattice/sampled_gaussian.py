"""The loss of a Gaussian mechanism, read in full or through a Poisson sample, as a law on a grid.

The tables' outcomes are x ~ N(μ, 1) under P and N(0, 1) under Q; with sampling rate q the odds of
((1-q)Q+qP, Q) are e^l = 1 + q(e^z-1) with z = μx-μ²/2. No mass is a difference of tails: what
a bin leaves on each of its ends is a positive integral, which Gauss-Legendre quadrature gives with
a relative error of a few roundings, however far out the bin lies.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpcompose.curves.backends.lattice.masses import Floats, Masses, bounded, gather, on_grid, split
from dpcompose.curves.backends.lattice.tuning import FINE, MAX_POINTS, NATS, NORMAL_TAIL
from dpcompose.curves.rounding.doubles import EPS, LEAST
from dpcompose.curves.rounding.exact import float_up, sqrt_up

#: Beyond this μ all is taken to be given away.
_MOST_MU = 1e3
#: Widest pieces, in units of 1/max(1, μ), and Gauss-Legendre nodes for them. On the ellipse with
#: half axis 0.5/max(1, μ) around a piece the normal density grows by less than e^9 and the share w
#: by 1/width, so that the error of n nodes is below 2·e^9·width^(2n-1) of the integral: 10^-15.
_WIDEST, _NODES = 0.1, 10


def sampled_gaussian(mu_squared: Fraction, rate: Fraction, step: Fraction, added: bool) -> Masses:
    """Returns the privacy loss distribution of a Gaussian behind a Poisson sample of rate q =
    `rate`: of the pair ((1-q)Q+qP, Q) or, where `added`, (Q, (1-q)Q+qP).

    `mu_squared`: Σμ² of the Gaussian. The second pair is (P, (1-q)P+qQ) seen from the other end.
    The profile grows with μ and with q, so that these are rounded up.
    """
    mu, q = _raised(mu_squared, rate)
    if mu > _MOST_MU or step > NATS:
        return revealing(rate, step, added)
    ranges = _outcomes(mu, q, added)
    span = _loss(mu, q, ranges[-1][1]) - _loss(mu, q, ranges[0][0])
    if span > (MAX_POINTS - 8) * step:
        return revealing(rate, step, added)
    pieces = [piece for ends in ranges for piece in _integrate(mu, q, float(step), added, *ends)]
    places = np.concatenate([places for places, _ in pieces]).astype(np.float64)
    p = np.concatenate([p for _, p in pieces])
    # Two tails of either law, and of two ranges the two between them.
    left_out = 6 * _beyond(NORMAL_TAIL)
    return on_grid(-places if added else places, p, step, left_out * 1.01)


def _raised(mu_squared: Fraction, rate: Fraction) -> tuple[float, float]:
    """Returns μ and q as doubles that are no less."""
    mu = max(bounded(sqrt_up(mu_squared), 2 * _MOST_MU) * (1 + EPS), LEAST)
    return mu, min(max(float_up(rate), LEAST), 1.0)


def revealing(rate: Fraction, step: Fraction, added: bool) -> Masses:
    """Returns the privacy loss distribution of the sampled pair where every outcome tells P from Q;
    `added` as for `sampled_gaussian`."""
    if rate == 1:
        return Masses(step, 0, np.zeros(1), 1.0)
    q = float_up(rate)
    edge = Fraction(-math.log1p(-q))
    if added:
        return gather(split(edge * (1 + Fraction(1, 2**50)), 1.0, step), step)
    rest = float_up(1 - rate) * (1 + 4 * EPS)
    return gather(split(-edge * (1 - Fraction(1, 2**50)), rest, step), step, q)


def _outcomes(mu: float, q: float, added: bool) -> list[tuple[float, float]]:
    """Returns the intervals of outcomes x that hold all but the tails of the first law of the pair.

    `added`: the pair is (Q, (1-q)Q+qP) instead of ((1-q)Q+qP, Q).
    """
    near, far = (-NORMAL_TAIL, NORMAL_TAIL), (mu - NORMAL_TAIL, mu + NORMAL_TAIL)
    if added:
        return [near]
    if q == 1:
        return [far]
    return [near, far] if far[0] > near[1] else [(near[0], far[1])]


def _beyond(x: float) -> float:
    """Returns the chance of a standard normal outcome above x."""
    return math.erfc(x / math.sqrt(2)) / 2


def _loss(mu: float, q: float, x: float) -> float:
    """Returns the loss l = ln(1 + q(e^z-1)) of the outcome `x`, with z = μx-μ²/2."""
    z = mu * x - mu * mu / 2
    if z < 30:
        return z if q == 1 else math.log1p(q * math.expm1(z))
    return z + math.log(q) + math.log1p((1 - q) / q * math.exp(-z))


def _edges(mu: float, q: float, losses: Floats, added: bool) -> Floats:
    """Returns the outcomes x with these losses, rounded to the side on which the losses of the law
    only grow; -∞ for a loss at or below the least, ln(1-q).

    `added`: the pair is (Q, (1-q)Q+qP), and so the other side is the safe one.
    """
    if q == 1:
        z, error = losses, np.abs(losses)
    else:
        small = np.minimum(losses, 30.0)
        odds = np.expm1(small) / q
        with np.errstate(divide="ignore", invalid="ignore"):
            low = np.log1p(odds)
            slack = (np.abs(odds) + np.abs(small) * np.exp(small) / q) / (1 + odds)
        far = losses + np.log1p(-(1 - q) * np.exp(-np.maximum(losses, 30.0))) - math.log(q)
        z = np.where(losses < 30, low, far)
        error = np.where(losses < 30, slack, np.abs(losses) - math.log(q)) + np.abs(z)
        z = np.where(odds > -1 + 1e-12, z, -np.inf)
    x = z / mu + mu / 2
    error = np.where(z > -np.inf, (error + np.abs(z)) / mu + np.abs(x) + mu, 0.0) * (4 * EPS)
    edges: Floats = x + error if added else x - error
    return edges


def _integrate(
    mu: float, q: float, width: float, added: bool, low: float, high: float
) -> Iterator[tuple[NDArray[np.int64], Floats]]:
    """Yields the privacy loss distribution of the outcomes in [low, high], block by block: indices
    k of the losses k·width, and masses to add at these.

    `mu`, `q`: μ and the rate of the pair; `width`: of the grid. `added`: the masses are those under
    Q instead of (1-q)Q+qP.
    """
    start = math.floor(_loss(mu, q, low) / width) - 1
    stop = math.ceil(_loss(mu, q, high) / width) + 1
    for first in range(start, stop, FINE):
        places = np.arange(first, min(first + FINE, stop) + 1, dtype=np.int64)
        losses = places.astype(np.float64) * width
        edges = _edges(mu, q, losses, added)
        begin = np.clip(edges[:-1], low, high)
        length = np.clip(edges[1:], low, high) - begin
        chosen = np.flatnonzero(length > 0)
        bins = _Bins(
            losses[chosen], edges[chosen], edges[chosen + 1], begin[chosen], length[chosen]
        )
        lower, upper = _split_masses(mu, q, width, added, bins)
        yield places[chosen], lower
        yield places[chosen + 1], upper


@dataclass(frozen=True, slots=True, eq=False)
class _Bins:
    """Bins of outcomes between two neighbouring losses of the grid: the loss at the lower edge,
    both edges, and start and length of the part to integrate over."""

    loss: Floats
    left: Floats
    right: Floats
    begin: Floats
    length: Floats


def _split_masses(
    mu: float, q: float, width: float, added: bool, bins: _Bins
) -> tuple[Floats, Floats]:
    """Returns the masses that the outcomes of each bin leave on its lower and on its upper end:
    under (1-q)Q+qP or, where `added`, under Q.

    An outcome of odds y = d((1-q)Q+qP)/dQ, in
    a bin whose ends have the odds a < b, leaves the share w = (y-a)/(b-a) of its Q-chance at b and
    the rest at a, which conserves its chances under both laws.
    """
    count = np.maximum(np.ceil(bins.length * (max(1, mu) / _WIDEST)), 1).astype(np.int64)
    owner = np.repeat(np.arange(len(count)), count)
    rank = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
    bottom = np.isneginf(bins.left)
    left = np.where(bottom, bins.begin, bins.left)
    across = bins.right - left
    points, weights = np.polynomial.legendre.leggauss(_NODES)
    length = (bins.length / count)[owner]
    inside = (rank * length)[:, None] + length[:, None] * ((1 + points) / 2)
    steps = (bins.begin - left)[owner][:, None] + inside
    x = bins.begin[owner][:, None] + inside
    # The bottom bin, done below, may overflow here.
    with np.errstate(over="ignore", invalid="ignore"):
        whole = np.expm1(mu * across)[owner][:, None]
        share = np.expm1(mu * steps) / whole
        other = np.exp(mu * steps) * np.expm1(mu * (across[owner][:, None] - steps)) / whole
    if bottom.any():
        rows = bottom[owner]
        least = bins.loss[owner][rows][:, None]
        unit = np.exp(least) * math.expm1(width)
        odds = q * np.expm1(mu * x[rows] - mu * mu / 2) - np.expm1(least)
        trace_here = 16 * EPS / unit
        share[rows] = np.maximum(odds / unit, 0.0) + trace_here
        other[rows] = np.maximum(1 - odds / unit, 0.0) + trace_here
    tilt = 0.0 if added else bins.loss[owner][:, None]
    density = np.exp(tilt - x * x / 2) * (weights / (2 * math.sqrt(2 * math.pi)))
    density *= length[:, None]
    reach = np.maximum(np.abs(bins.begin), np.abs(bins.begin + bins.length))
    margin = 1 + (reach**2 + 2 * np.abs(bins.loss) + 64) * EPS
    lower = np.bincount(owner, (density * other).sum(axis=1), len(count)) * margin
    upper = np.bincount(owner, (density * share).sum(axis=1), len(count)) * margin
    return lower, upper if added else upper * math.exp(width)
