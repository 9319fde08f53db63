"""Laws with a discrete loss: randomized response, stated points, and lattices of losses."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpcompose.curves.backends.lattice.from_points import atoms
from dpcompose.curves.backends.lattice.masses import (
    Floats,
    Masses,
    bounded,
    gather,
    on_grid,
    scatter,
    split,
)
from dpcompose.curves.backends.lattice.settings import LEAST
from dpcompose.curves.rounding.doubles import EPS

MAX_SHIFT = 1 << 60


def response(epsilon: Fraction, step: Fraction) -> Masses:
    """Returns the privacy loss distribution of binary randomized response: +ε with chance
    e^ε/(1+e^ε), else -ε."""
    return kary_response(2, epsilon, step)


def kary_response(k: int, epsilon: Fraction, step: Fraction) -> Masses:
    """Returns the privacy loss distribution of randomized response over `k` values: +ε, -ε or,
    where another value comes out, 0.

    In terms of e^(-ε), so that nothing overflows; the profile falls as `k` grows.
    """
    others = float(min(k, 1 / LEAST) - 1)
    small = math.exp(-bounded(epsilon, 1000.0))
    if small < LEAST:
        return gather(split(epsilon, 1.0, step), step, others * LEAST)
    total = (1 + others * small) * (1 - 8 * EPS)
    entries = split(epsilon, 1 / total, step) + split(-epsilon, small / total, step)
    if k > 2:
        entries.append((0, (others - 1) * small / total))
    return gather(entries, step)


def stated(points: tuple[tuple[Fraction, Fraction], ...], step: Fraction) -> Masses:
    """Returns the privacy loss distribution that dominates every mechanism which is (ε, δ)-DP for
    each pair of `points`."""
    found, infinite = atoms(points)
    entries = [entry for loss, p in found for entry in split(loss, p, step)]
    return gather(entries or [(0, 0.0)], step, infinite)


def on_lattice(
    multiples: NDArray[np.int64], unit: Fraction, p: Floats, step: Fraction, infinite: float = 0.0
) -> Masses:
    """Returns the law with the losses multiples·unit, which all are odd or all even multiples, and
    their chances `p`; kept exactly where they lie on the grid of `step`, else split over it.

    `infinite`: the chance of an infinite loss.
    """
    if multiples[0] % 2 == 0:
        multiples, unit = multiples // 2, unit * 2
    ratio = unit / step
    if ratio.denominator == 1 and ratio.numerator * int(np.abs(multiples).max()) < 1 << 53:
        return on_grid(multiples.astype(np.float64) * ratio.numerator, p, step, infinite)
    losses: Floats = multiples.astype(np.float64) * float(unit)
    return scatter(losses, p, step, infinite)
