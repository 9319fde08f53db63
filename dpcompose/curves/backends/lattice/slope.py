"""Laws with an exponential density, in closed form: of Laplace noise and of a bounded range."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dpcompose.curves.backends.lattice.masses import Masses
from dpcompose.curves.backends.lattice.settings import LOG_TAIL, MAX_POINTS
from dpcompose.curves.rounding.doubles import EPS


def slope(top: Fraction, height: float, step: Fraction) -> Masses:
    """Returns the law with the density height·e^(-(top-l)/2) under P on -top ≤ l ≤ top, each bin of
    the grid split over its two ends.

    With density f·e^(u/2) at u above the lower end, [w, v] within a bin of width h leaves
    f·8·sinh((v+w)/4)·sinh((v-w)/4)/(1-e^(-h)) on the upper end; the lower end is its mirror.
    Differences are taken between exact fractions, so that each entry is right in relative terms.
    """
    last, lowest = math.floor(top / step), math.floor(-top / step)
    width = float(step)
    # The density falls as e^(l/2) below the greatest loss.
    first = max(lowest, last - min(MAX_POINTS, math.ceil(2 * LOG_TAIL / width) + 1))
    over = top - last * step
    below = np.arange(last - first, -1, -1, dtype=np.float64) * width + float(over)
    density = height * np.exp(-below / 2) * (1 + (below + 64) * EPS)
    p = np.zeros(len(density) + 1)
    upper, lower = _ends(Fraction(0), step, step)
    high, low = density * upper, density * lower
    high[-1], low[-1] = (density[-1] * share for share in _ends(Fraction(0), over, step))
    if first == lowest:
        end = over if last == first else step
        high[0], low[0] = (density[0] * share for share in _ends(-top - first * step, end, step))
    else:
        low[0] += 2 * density[0]
    p[1:] += high
    p[:-1] += low
    return Masses(step, first, p, 0.0)


def _ends(start: Fraction, end: Fraction, step: Fraction) -> tuple[float, float]:
    """Returns the masses that the part [start, end] of a bin leaves on its upper and its lower end,
    for the density e^(u/2); `start` and `end` count from the lower end."""
    whole = -math.expm1(-float(step)) / 8
    across = math.sinh(float(end - start) / 4) / whole
    upper = math.sinh(float(end + start) / 4) * across
    lower = math.exp(-float(step) / 2) * math.sinh(float(2 * step - end - start) / 4) * across
    return upper, lower
