"""Power functions: the largest chance of an event at one table by its chance at another one.

Linear in pieces; along a path of tables they are put into one another, and of several guarantees
of one mechanism the least holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any

from mpmath import mp, mpf

from .lattice import DIGITS, Law, exact, finite


@dataclass(frozen=True)
class Power:
    """Its value at 0; then pieces of the slope e^loss, each with its length; level from there on.

    Concave, so that the losses fall.
    """

    start: Any
    pieces: tuple[tuple[Fraction, Any], ...]

    def __call__(self, x: Any) -> Any:
        total = self.start
        for loss, length in self.pieces:
            total += mp.exp(exact(loss)) * min(length, max(x, 0))
            x -= length
        return total

    def corners(self) -> list[tuple[Any, Fraction | None]]:
        """Where each piece starts, and its loss; last where the level one starts."""
        found: list[tuple[Any, Fraction | None]] = []
        at = mpf(0)
        for loss, length in self.pieces:
            found.append((at, loss))
            at += length
        return [*found, (at, None)]

    def law(self) -> Law:
        """The losses at the first table."""
        with mp.workdps(DIGITS + 20):
            no_failure = 1 - self.start
            leak = Fraction(int(mp.nint(self.start * mpf(10) ** 110)), 10**110)
            masses = (
                (loss, length * mp.exp(exact(loss)) / no_failure) for loss, length in self.pieces
            )
            return finite(masses, leak)


def joined(start: Any, pieces: Iterable[tuple[Fraction, Any]]) -> Power:
    made: list[tuple[Fraction, Any]] = []
    for loss, length in pieces:
        if length <= mpf(10) ** -(DIGITS + 10):
            continue
        if made and made[-1][0] == loss:
            length += made.pop()[1]
        made.append((loss, length))
    return Power(start, tuple(made))


def step(epsilon: Fraction, delta: Fraction = Fraction(0)) -> Power:
    """min(1, δ + e^ε·x, 1 - e^-ε·(1-δ-x)): of all that is (ε, δ)-DP."""
    with mp.workdps(DIGITS + 20):
        no_failure = 1 - exact(delta)
        first = no_failure / (1 + mp.exp(exact(epsilon)))
        return joined(exact(delta), [(epsilon, first), (-epsilon, no_failure - first)])


def then(first: Power, second: Power) -> Power:
    """From a table to the next one by `first`, and from there to a third one by `second`."""
    with mp.workdps(DIGITS + 20):
        pieces: list[tuple[Fraction, Any]] = []
        y = first.start
        for loss, length in first.pieces:
            slope, left = mp.exp(exact(loss)), length
            for n, (begin, further) in enumerate(second.corners()):
                if further is None:
                    break
                end = begin + second.pieces[n][1]
                part = min(left, (end - y) / slope)
                if part > 0:
                    pieces.append((loss + further, part))
                    y += part * slope
                    left -= part
        return joined(second(first.start), pieces)


def least(first: Power, second: Power) -> Power:
    """Both hold."""
    with mp.workdps(DIGITS + 20):
        cuts = sorted({at for power in (first, second) for at, _ in power.corners()} | {mpf(1)})
        for begin, end in list(pairwise(cuts)):
            gaps = [first(at) - second(at) for at in (begin, end)]
            if gaps[0] * gaps[1] < 0:
                cuts.append(begin + (end - begin) * gaps[0] / (gaps[0] - gaps[1]))
        cuts.sort()
        pieces: list[tuple[Fraction, Any]] = []
        for begin, end in pairwise(cuts):
            middle = (begin + end) / 2
            lower = min((first, second), key=lambda power: power(middle))
            loss = [found for at, found in lower.corners() if at <= middle][-1]
            if loss is not None:
                pieces.append((loss, end - begin))
        return joined(min(first(mpf(0)), second(mpf(0))), pieces)


def path(steps: Sequence[Power]) -> Power:
    """One after the other."""
    whole = steps[0]
    for each in steps[1:]:
        whole = then(whole, each)
    return whole


def any_order(steps: Sequence[Power]) -> Power:
    """The least of all orders of the steps, where the tables of every order exist."""
    orders = [path(order) for order in dict.fromkeys(permutations(steps))]
    whole = orders[0]
    for each in orders[1:]:
        whole = least(whole, each)
    return whole
