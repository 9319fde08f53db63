"""Moment generating functions M(s) = E e^(sL) of privacy losses, at complex s = θ + it.

What is computed is M(s)/M(θ) - 1, which is small where |t|·|L| is, without cancellation: a loss
that occurs n times counts with the n-th power, so that an error is multiplied by n.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpcompose.curves import curve as parts
from dpcompose.curves.backends.lattice.masses import Floats
from dpcompose.curves.backends.renyi.cumulants import not_below
from dpcompose.curves.rounding.doubles import UNIT

#: Relative error that is allowed for the closed forms below and for pairwise sums: four times what
#: their roundings, some thirty, come to.
ROUNDINGS = 128 * UNIT

#: Losses that are taken at a time where places on the line become faint.
_ROWS = 8


@dataclass(frozen=True, slots=True, eq=False)
class OnLine:
    """The moment generating functions of some losses on a vertical line, a row for each loss:
    `logs` is ln M(θ), each within `lost`; at several t, a column each, `more` = M(θ+it)/M(θ) - 1,
    each within `error`."""

    logs: Floats
    lost: Floats
    more: Any
    error: Floats


class Transforms(ABC):
    """The moment generating functions of losses of one kind; `counts`: how often each loss occurs,
    as a double. All attributes are arrays with an entry for each loss."""

    counts: Floats
    #: The time that one value takes, in values of a closed form.
    work = 1

    @abstractmethod
    def __init__(self, losses: Sequence[parts.Part], counts: Sequence[int]) -> None: ...

    def blocks(self) -> Iterator[Transforms]:
        """Yields the transforms of some losses after the other."""
        for start in range(0, len(self.counts), _ROWS):
            block = copy(self)
            for name, column in vars(self).items():
                setattr(block, name, column[start : start + _ROWS])
            yield block

    @abstractmethod
    def on_line(self, theta: float, t: Floats) -> OnLine | None:
        """Returns M at θ and at θ + it for each t ≥ 0, ascending; None where that would take too
        long."""

    @abstractmethod
    def beyond(self, theta: float, t: Floats) -> Floats:
        """Returns ln of an upper bound of |M(θ+iu)/M(θ)|, a row for each loss and a column for each
        t > 0: for all u from this t to the next one, from the last one on for all u."""


class ResponseTransforms(Transforms):
    """Transforms of randomized response, with the losses ε and -ε: M(s) = (e^((1+s)ε) + e^(-sε))/(1
    + e^ε)."""

    def __init__(self, losses: Sequence[parts.Part], counts: Sequence[int]) -> None:
        self.eps = np.array([not_below(_epsilon(loss)) for loss in losses])
        self.counts = np.array([float(count) for count in counts])

    def on_line(self, theta: float, t: Floats) -> OnLine:
        e = self.eps
        fade, low = np.exp(-e), np.exp(-(1 + 2 * theta) * e)
        with np.errstate(over="ignore"):
            near = np.log1p((np.expm1(theta * e) + fade * np.expm1(-theta * e)) / (1 + fade))
        far = theta * e + np.log1p(low) - np.log1p(fade)
        angles = e[:, None] * t
        up, down = rotations(angles)
        more = (up + low[:, None] * down) / (1 + low)[:, None]
        return OnLine(
            np.where(theta * e < 1, near, far), ROUNDINGS * theta * e, more, ROUNDINGS * angles
        )

    def beyond(self, theta: float, t: Floats) -> Floats:
        return np.zeros((len(self.eps), len(t)))


class LaplaceTransforms(Transforms):
    """Transforms of Laplace noise of scale 1 that is moved by a: M(s) = ((1+s)e^(sa) +
    s·e^(-(1+s)a))/(1+2s) (Mironov 2017, Proposition 6)."""

    def __init__(self, losses: Sequence[parts.Part], counts: Sequence[int]) -> None:
        self.shifts = shifts(losses)
        self.counts = np.array([float(count) for count in counts])

    def on_line(self, theta: float, t: Floats) -> OnLine:
        a, both = self.shifts, 1 + 2 * theta
        low = np.exp(-both * a)
        size = ((1 + theta) + theta * low) / both
        with np.errstate(over="ignore"):
            rise = (1 + theta) * np.expm1(theta * a) + theta * np.expm1(-(1 + theta) * a)
        logs = np.where(theta * a < 1, np.log1p(rise / both), theta * a + np.log(size))
        # (1+s)/(1+2s) and s/(1+2s) are 1/2 more and less than 1/(2(1+2s)).
        half = 0.5 / (both + 2j * t)
        angles = a[:, None] * t
        up, down = rotations(angles)
        slide = -2j * t * half / both * -np.expm1(-both * a)[:, None]
        more = (0.5 + half) * up + (0.5 - half) * low[:, None] * down + slide
        return OnLine(
            logs, ROUNDINGS * (theta + 1) * a, more / size[:, None], ROUNDINGS * 4 * angles
        )

    def beyond(self, theta: float, t: Floats) -> Floats:
        both = 1 + 2 * theta
        low = np.exp(-both * self.shifts)
        size = ((1 + theta) + theta * low) / both
        bound = (1 + low)[:, None] * (0.5 + 0.5 / np.hypot(both, 2 * t)) / size[:, None]
        logs: Floats = np.log(bound * (1 + 1e-12))
        return logs


def _epsilon(loss: parts.Part) -> Fraction:
    if isinstance(loss, parts.Response):
        return loss.epsilon
    greatest = loss.greatest() if isinstance(loss, parts.MechanismLoss) else None
    return Fraction(0) if greatest is None else greatest


def shifts(losses: Sequence[parts.Part]) -> Floats:
    """Returns the shift of each loss, which is of a concrete mechanism, rounded up."""
    lines = [loss.line() for loss in losses if isinstance(loss, parts.MechanismLoss)]
    return np.array([not_below(line) for line in lines if line is not None])


def rotations(angles: Floats) -> tuple[Any, Any]:
    """Returns e^(ix) - 1 and e^(-ix) - 1 for each angle x."""
    half = np.sin(angles / 2)
    up = -2 * half * half + 1j * np.sin(angles)
    return up, up.conj()
