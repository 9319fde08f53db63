"""Sums of responses on a grid, added one after the other: each moves what there is, or not.

All terms are positive, so that every chance has nearly all its digits, however small it is. For
some hundred unlike responses that takes less than transforms of all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dpcompose.core.profile.masses import Floats

#: What is left out at an end, each time that ends are looked at, and how often they are.
_MINUTE, _OFTEN = 1e-21, 8


@dataclass(frozen=True, slots=True, order=True)
class Row:
    """A tilted response: it has its greatest loss with the chance `top`, is lower by `down` steps
    with the chance `under`, or by one step less with the chance `over`; `count` times."""

    down: int
    top: float
    under: float
    over: float
    count: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class ShiftedSum:
    """Chances `p` of the places from `first` on, in steps below the greatest sum; `lost`: of all
    others together, at most. Each chance is within 4 roundings for each response."""

    first: int
    p: Floats
    lost: float = 0.0

    def plus(self, rows: Iterable[Row]) -> ShiftedSum:
        """With some responses more, those that move least best first."""
        first, p, lost, added = self.first, self.p, self.lost, 0
        for row in rows:
            for _ in range(row.count):
                size, added = len(p), added + 1
                more = np.zeros(size + row.down)
                np.multiply(p, row.top, out=more[:size])
                more[row.down :] += row.under * p
                if row.over:
                    more[row.down - 1 : -1] += row.over * p
                p = more
                if added % _OFTEN == 0:
                    first, p, lost = _trimmed(first, p, lost)
        return ShiftedSum(first, p, lost)

    def within(self, low: int, points: int) -> Floats:
        """The chances at as many places from `low` steps above the greatest sum on, upwards."""
        found = np.zeros(points)
        # The place i of p is first + i steps below: low + j = -(first + i).
        start = -(low + points - 1) - self.first
        begin, end = max(start, 0), min(start + points, len(self.p))
        if begin < end:
            found[begin - start : end - start] = self.p[begin:end]
        return found[::-1]


def _trimmed(first: int, p: Floats, lost: float) -> tuple[int, Floats, float]:
    """Without ends that next to never occur."""
    begin = int(np.searchsorted(np.cumsum(p), _MINUTE))
    end = len(p) - int(np.searchsorted(np.cumsum(p[::-1]), _MINUTE))
    return first + begin, p[begin:end], lost + 2 * _MINUTE * (1 + 1e-9)


NOTHING_ADDED = ShiftedSum(0, np.ones(1))
