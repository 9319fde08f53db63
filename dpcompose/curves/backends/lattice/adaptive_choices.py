"""Copies of a mechanism whose worst pair of outputs may be chosen anew after each copy.

Let V_k(x) be the largest δ at ε = x that k copies can have, for every real x. V_0(x) = (1-e^x)₊,
and V_(k+1)(x) is the largest E V_k(x-L) over the pairs (P, Q) that one copy may have, with L its
loss under P: whatever the next copies do may depend on what came out, and a mixture of pairs is no
worse than its worst one. Each V_k is convex in e^x, as the largest of hockey-sticks, so that it
lies below its chords. V is kept on a grid of x, each value rounded up, and read by chords between.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dpcompose.curves.backends.lattice.masses import Floats
from dpcompose.curves.rounding.doubles import EPS, LEAST
from dpcompose.curves.rounding.exact import float_up, log_inverse_up

#: The most copies that are followed; so many values are computed for them at most.
MOST_COPIES, _MOST_VALUES = 128, 4_000_000
#: The least and the most places of the grid up to the greatest loss.
_FEWEST, _MOST = 20, 2000
#: The relative error allowed for one copy, and for one reading of a chord.
_ROUNDING = 1e-11
#: A place that is no whole number is read so far below itself, where V is no less.
_ASIDE = 1e-9
#: A greatest loss beyond these is left to other ways.
_LEAST_LOSS, _MOST_LOSS = 1e-6, 30.0


class ChoiceProfile(NamedTuple):
    """The largest δ at the ε that are multiples of `step`, from 0 on, rounded up."""

    step: float
    deltas: Floats

    def least_epsilon(self, delta: float) -> float:
        """Returns an ε at which δ is at most `delta` > 0, rounded up."""
        place = int(np.argmax(self.deltas <= delta))
        if not place:
            return 0.0
        before, after = float(self.deltas[place - 1]), float(self.deltas[place])
        share = (before - delta) / (before - after) * (1 + _ROUNDING)
        share = min(1.0, share + 4 * EPS * before / (before - after))
        rest = math.log1p(share * math.expm1(self.step))
        return ((place - 1) * self.step + rest) * (1 + _ROUNDING)

    def least_delta(self, epsilon: float) -> float:
        """Returns a δ that holds at `epsilon` ≥ 0, rounded up."""
        place = max(0.0, epsilon / self.step - _ASIDE)
        if place >= len(self.deltas) - 1:
            return float(self.deltas[-1])
        low = int(place)
        share = _share(place - low, self.step)
        found = (1 - share) * float(self.deltas[low]) + share * float(self.deltas[low + 1])
        return found * (1 + _ROUNDING)


#: Returns V_(k+1) from V_k, whose values have so many places more on each side.
_Turn = Callable[[Floats], Floats]


@lru_cache(maxsize=64)  # many questions are asked about one composition
def of_bounded_range(epsilon: Fraction, copies: int) -> ChoiceProfile | None:
    """Returns the profile of so many copies of mechanisms of range η = `epsilon` (exponential
    ones); None where they are too many, or η is out of range.

    The losses of a pair lie in [t-η, t] for some t in [0, η]. E V(x-L) is the Q-mean of a convex
    function of e^L, whose mean is 1, and so largest where only the two ends occur: t with chance
    p = (1-e^(t-η))/(1-e^-η) (Dong, Durfee and Rogers 2020). Between two places of the grid V is
    read by chords, by which the mean is c + αs + β/s in s = e^t. Where β < 0 it is concave, and
    exceeds its greater end by at most -β·w²/(4s³), with w the width in s and s its lower end.
    """
    loss = float_up(epsilon)
    places = _places(copies, math.sqrt(_MOST_VALUES / 3) / copies)
    if not places or not _LEAST_LOSS <= loss <= _MOST_LOSS:
        return None
    step = loss / places * (1 + _ROUNDING)
    whole = places * step
    rise = math.expm1(step) * math.exp(step) / 4

    def turn(value: Floats) -> Floats:
        # At place j: V(x-t) for t = i·step is at j - i, and V(x-t+η) at j - i + places.
        size = len(value) - 2 * places
        best = np.zeros(size)
        above = value[places : places + size], value[2 * places :]
        mean_above = above[0].copy()  # t = 0 has only the greater loss, of 0
        for i in range(1, places + 1):
            t = i * step
            here = value[places - i : places - i + size]
            there = value[2 * places - i : 2 * places - i + size]
            p = math.expm1(t - whole) / math.expm1(-whole)
            mean = p * here + math.expm1(t) / math.expm1(whole) * there
            bend = (here - above[0]) * math.exp(whole) - (there - above[1])
            excess = np.maximum(bend, 0.0) / math.expm1(whole) * rise
            np.maximum(best, np.maximum(mean, mean_above) + excess, out=best)
            above, mean_above = (here, there), mean
        return best

    return _followed(turn, copies, places, step)


@lru_cache(maxsize=64)
def of_two_answers(high: Fraction, low: Fraction, copies: int) -> ChoiceProfile | None:
    """Returns the profile of so many copies of an answer that has the chance `high` for one value
    and `low` for the other, either of which may be the first table's; None where they are too
    many, or a loss is out of range."""
    p, q = high.numerator / high.denominator, low.numerator / low.denominator
    other_p, other_q = float(1 - high), float(1 - low)
    if min(p, q, other_p, other_q) <= 0:
        return None
    one = float_up(log_inverse_up(low / high))
    other = float_up(log_inverse_up((1 - high) / (1 - low)))
    places = _places(copies, _MOST_VALUES / (3 * copies * copies))
    if not places or min(one, other) < _LEAST_LOSS or max(one, other) > _MOST_LOSS:
        return None
    step = max(one, other) / (places - 1)
    moves = [((p, one), (other_p, -other)), ((q, -one), (other_q, other))]

    def turn(value: Floats) -> Floats:
        size = len(value) - 2 * places
        every = []
        for ways in moves:
            mean = np.zeros(size)
            for chance, loss in ways:
                at = places - loss / step - _ASIDE
                first = math.floor(at)
                share = _share(at - first, step)
                mean += chance * (1 - share) * value[first : first + size]
                mean += chance * share * value[first + 1 : first + 1 + size]
            every.append(mean)
        return np.maximum(*every)

    return _followed(turn, copies, places, step)


def _places(copies: int, most: float) -> int:
    """Returns the number of places up to the greatest loss; 0 where they would be too few."""
    places = min(int(most), _MOST)
    return places if 1 < copies <= MOST_COPIES and places >= _FEWEST else 0


def _share(part: float, step: float) -> float:
    """Returns the weight of the upper end of a chord in e^x at a part of the way, rounded down: V
    falls."""
    return max(0.0, min(1.0, math.expm1(part * step) / math.expm1(step)) - _ROUNDING)


def _followed(turn: _Turn, copies: int, places: int, step: float) -> ChoiceProfile:
    """Returns V_n for n = `copies`, where no loss is beyond so many `places`."""
    far = copies * places
    # Each copy needs `places` more on each side; beyond the sum of all losses V is 0.
    value = np.maximum(-np.expm1(np.arange(-far, far + 1) * step), 0.0)
    for _ in range(copies):
        value = turn(np.append(value, np.zeros(places))) * (1 + _ROUNDING)
        # Chances that doubles cannot hold.
        value[value < LEAST] = LEAST
    return ChoiceProfile(step, value)
