"""The loss of Gaussian noise at every step of an epoch, in one of which a row takes part.

With t steps and X_i = dP/dQ of step i, L = (X_1+…+X_t)/t is the likelihood ratio of the row in a
step drawn uniformly against no row. Under Q the X_i are independent and log-normal of mean 1. For
either order of the tables δ is the mean of a convex function of L, (L-e^ε)₊ or (1-e^ε·L)₊, so that
mass may move to the two grid points around it if its mean stays: a sum of independent numbers that
are spread so is spread so itself. A number is cut where its tail has next to no mass under P, which
is counted as told. Sums of 2, 4, 8, … numbers are each put on a grid of their own. Sums are of
positive terms only, so that tails have the relative precision of doubles.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dpcompose.curves.backends.lattice.masses import Floats, Masses, scatter
from dpcompose.curves.backends.lattice.powers import LossBound
from dpcompose.curves.backends.lattice.profiles import greatest
from dpcompose.curves.backends.lattice.sampled_gaussian import sampled_gaussian
from dpcompose.curves.backends.lattice.tuning import FEW, FINE, MAX_POINTS, NORMAL_TAIL
from dpcompose.curves.curve import Allocated
from dpcompose.curves.rounding.doubles import EPS, LEAST, SUM_ROUNDING
from dpcompose.curves.rounding.exact import float_up, sqrt_up

#: With another μ it is as if the step were known, which is never less.
_LEAST_MU, _MOST_MU = Fraction(1, 10**9), 12
#: Places of the law of a sum; an eighth as many are enough for choosing them.
_PLACES = 1200
#: Places lie as densely as this power of the mass there, and a share of them evenly.
_POWER, _EVEN = 0.125, 0.1
#: Beyond this mass a law is cut.
_CUT = 1e-24


class _Ratios(NamedTuple):
    """The law under Q of a sum of likelihood ratios dP/dQ: its values, ascending from 0, with their
    chances. `told`: the P-mass of the tail that was cut off, which counts as giving everything
    away."""

    values: Floats
    chances: Floats
    told: float


def allocated(part: Allocated, step: Fraction, side: str) -> Masses:
    """Returns the privacy loss distribution of one row in an epoch, on multiples of `step`.

    `side`: "removed" for the table with the row against the one without it, "added" for the
    reverse.
    """
    found = losses_of(part, side)
    if found is None:
        return sampled_gaussian(part.gaussian, Fraction(1), step, False)
    laws = [scatter(law.losses, law.chances, step, law.infinite) for law in found]
    return laws[0] if len(laws) == 1 else greatest(*laws)


def losses_of(part: Allocated, side: str) -> list[LossBound] | None:
    """Returns the possible losses of one row in an epoch: of the order `side` of the tables, or for
    `part.side` "both" of the two orders; None where μ is out of range."""
    if not _LEAST_MU**2 <= part.gaussian <= _MOST_MU**2:
        return None
    # As if there were at most so many steps: with fewer, L is spread further.
    steps = min(part.steps, MAX_POINTS)
    sums = _added_up(part.gaussian, steps)
    if part.side == "both":
        return [_of_loss(sums, steps, added) for added in (False, True)]
    return [_of_loss(sums, steps, (part.side == "added") != (side == "added"))]


def _of_loss(sums: _Ratios, steps: int, added: bool) -> LossBound:
    """Returns the privacy losses with their chances: ln L under P (with the row), or, where
    `added`, -ln L under Q; L as in the module. `sums`: the law of X_1+…+X_t; `steps`: t."""
    # Roundings: each value may be off by some 10 for each of 40 sums, and before by those of a
    # logarithm up to 400; the chances of t numbers by t times the roundings of a block.
    losses = np.log(sums.values[1:]) - math.log(steps)
    rise = 1 + steps * 2 * FINE * EPS
    chances = sums.chances * rise
    if added:
        return LossBound(SUM_ROUNDING - losses, chances[1:], float(chances[0]) + LEAST)
    told = sums.told / steps * rise + LEAST
    return LossBound(SUM_ROUNDING + losses, chances[1:] * sums.values[1:] / steps, told)


@lru_cache(maxsize=16)  # a law is put on several grids, in both orders
def _added_up(gaussian: Fraction, steps: int) -> _Ratios:
    """Returns the law under Q of X_1+…+X_t for t = `steps`, by doubling; `gaussian`: μ² of one
    step."""
    power, total = _one_ratio(gaussian), None
    while True:
        if steps % 2:
            total = power if total is None else _sum(total, power)
        steps //= 2
        if not steps:
            assert total is not None
            return total
        power = _sum(power, power)


def _one_ratio(gaussian: Fraction) -> _Ratios:
    """Returns the law under Q of the likelihood ratio of one Gaussian with μ² = `gaussian`."""
    mu = float_up(sqrt_up(gaussian))
    fine = sampled_gaussian(gaussian, Fraction(1), Fraction(4 * mu / FEW), False)
    # What lies below counts as 0, which only Q gives.
    below = math.erfc((NORMAL_TAIL - mu) / math.sqrt(2))
    values = np.append(0.0, np.exp(fine.losses()))
    chances = np.append(below, fine.p * np.exp(-fine.losses()))
    grid = _places(values, chances, _PLACES)
    spread, cut = _spread(values, chances, grid)
    return _Ratios(grid, spread, fine.infinite + cut)


def _sum(one: _Ratios, other: _Ratios) -> _Ratios:
    """Returns the law of the sum of two independent numbers, on a new grid that suits it."""
    few = [_coarse(each) for each in (one, other)]
    about = np.add.outer(few[0].values, few[1].values).ravel()
    grid = _places(about, np.multiply.outer(few[0].chances, few[1].chances).ravel(), _PLACES)
    chances, told = np.zeros(len(grid)), one.told + other.told
    rows = max(1, FINE // len(other.values))
    for start in range(0, len(one.values), rows):
        some = slice(start, start + rows)
        values = np.add.outer(one.values[some], other.values).ravel()
        mass = np.multiply.outer(one.chances[some], other.chances).ravel()
        spread, cut = _spread(values, mass, grid)
        chances += spread
        told += cut
    return _Ratios(grid, chances, told)


def _coarse(law: _Ratios) -> _Ratios:
    """Returns about the same law on few grid points, for choosing a grid; it is no bound."""
    grid = _places(law.values, law.chances, _PLACES // 8)
    return _Ratios(grid, _spread(law.values, law.chances, grid)[0], 0.0)


def _spread(values: Floats, chances: Floats, grid: Floats) -> tuple[Floats, float]:
    """Returns the chances on the points of `grid`, each value split over the two points around it
    so that the mean stays; and the mean of the values above the last point, which are cut off."""
    above = values > grid[-1]
    cut = float(((values - grid[-1]) * chances)[above].sum())
    values = np.minimum(values, grid[-1])
    left = np.clip(np.searchsorted(grid, values, side="right") - 1, 0, len(grid) - 2)
    low, high = grid[left], grid[left + 1]
    width = high - low
    found = np.zeros(len(grid))
    found += np.bincount(left, chances * ((high - values) / width), len(grid))
    found += np.bincount(left + 1, chances * ((values - low) / width), len(grid))
    return found, cut


def _places(values: Floats, chances: Floats, number: int) -> Floats:
    """Returns a grid of about `number` points, from 0 on, for a law with these values and chances:
    dense where P or Q has much mass."""
    order = np.argsort(values)
    values, chances = values[order], chances[order]
    mass = values * chances
    mass = chances + mass / mass.sum()
    first = max(int(np.searchsorted(np.cumsum(mass), _CUT)), int((values <= 0).sum()))
    last = len(values) - 1 - int(np.searchsorted(np.cumsum(mass[::-1]), _CUT))
    logs = np.log(values[first : last + 1])
    held, edges = np.histogram(logs, 4 * _PLACES, weights=mass[first : last + 1])
    known = np.flatnonzero(held)
    density = np.exp(_POWER * np.interp(np.arange(4 * _PLACES), known, np.log(held[known])))
    density = density / density.sum() + _EVEN / len(density)
    share = np.append(0.0, np.cumsum(density))
    places = np.exp(np.interp(np.linspace(0, share[-1], number - 1), share, edges))
    return np.unique(np.append(0.0, places))
