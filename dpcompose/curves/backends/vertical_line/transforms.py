"""Moment generating functions M(s) = E e^(sL) of privacy losses, at complex s = θ + it.

What is computed is M(s)/M(θ) - 1, which is small where |t|·|L| is, without cancellation: a loss
that occurs n times counts with the n-th power, so that an error is multiplied by n.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpcompose.curves import curve as parts
from dpcompose.curves.backends.lattice.masses import Floats
from dpcompose.curves.backends.renyi.cumulants import not_below

#: The unit in the last place: relative error of one correctly rounded operation.
UNIT = 2.0**-53
#: Errors of the closed forms below are some thirty roundings; this many are allowed.
_ROUNDINGS = 100 * UNIT
#: e^-43, rounded up.
_LEFT_OUT = 1e-18


@dataclass(frozen=True, slots=True, eq=False)
class OnLine:
    """Transforms of some losses on the vertical line, a row each: `logs`, ln M(θ), each within
    `lost`; at several t, a column each, `more` = M(θ+it)/M(θ) - 1, each within `error`."""

    logs: Floats
    lost: Floats
    more: Any
    error: Floats


class Transforms(ABC):
    """The transforms of losses of one kind, each with how often it occurs, as a double."""

    counts: Floats
    #: What one value takes, in those of a closed form.
    work = 1

    @abstractmethod
    def __init__(self, losses: Sequence[parts.Part], counts: Sequence[int]) -> None: ...

    @abstractmethod
    def on_line(self, theta: float, t: Floats) -> OnLine | None:
        """At θ + it for each t ≥ 0, ascending; None where that would take too long."""

    @abstractmethod
    def beyond(self, theta: float, t: Floats) -> Floats:
        """ln of an upper bound of |M(θ+iu)/M(θ)|, a row for each loss, a column for each t > 0: for
        all u from this t to the next one, from the last one on for all u."""

    @abstractmethod
    def sizes(self, theta: float, t: Floats, rows: slice) -> Floats:
        """ln of an upper bound of |M(θ+it)/M(θ)|, for some of the losses, at each t."""


class ResponseTransforms(Transforms):
    """Losses ε and -ε: M(s) = (e^((1+s)ε) + e^(-sε))/(1 + e^ε)."""

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
        up, down = turned(angles)
        more = (up + low[:, None] * down) / (1 + low)[:, None]
        return OnLine(
            np.where(theta * e < 1, near, far), _ROUNDINGS * theta * e, more, _ROUNDINGS * angles
        )

    def beyond(self, theta: float, t: Floats) -> Floats:
        return np.zeros((len(self.eps), len(t)))

    def sizes(self, theta: float, t: Floats, rows: slice) -> Floats:
        e = self.eps[rows, None]
        low = np.exp(-(1 + 2 * theta) * e)
        angles = e * t
        square = 1 - 4 * low / (1 + low) ** 2 * np.sin(angles) ** 2
        logs: Floats = np.log(square + _ROUNDINGS * (1 + angles)) / 2
        return logs


class GeometricTransforms(Transforms):
    """Geometric noise moved by a few whole steps m: with r = e^(-1/scale), losses (m-2x)/scale for
    0 ≤ x ≤ m, of masses 1/(1+r), (1-r)/(1+r)·r^x in between, r^m/(1+r)."""

    def __init__(self, losses: Sequence[parts.Part], counts: Sequence[int]) -> None:
        told = [loss for loss in losses if isinstance(loss, parts.MechanismLoss)]
        self.counts = np.array([float(count) for count in counts])
        shifts = [int(loss.line() or 0) for loss in told]
        rates = [not_below(_epsilon(loss) / m) for loss, m in zip(told, shifts, strict=True)]
        self.rates = np.array(rates)
        m, g = np.array(shifts, dtype=np.float64)[:, None], self.rates[:, None]
        x = np.arange(max(shifts) + 1, dtype=np.float64)
        inner = np.where((x > 0) & (x < m), -np.expm1(-g), 1.0)
        self.masses = np.where(x <= m, np.exp(-g * x) * inner, 0.0) / (1 + np.exp(-g))
        self.losses = np.where(x <= m, (m - 2 * x) * g, 0.0)

    def on_line(self, theta: float, t: Floats) -> OnLine:
        top = self.losses[:, 0]
        whole, weights = self._tilted(theta)
        # Losses of either sign in pairs, so that nothing cancels.
        up = np.maximum(self.losses, 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            rise = self.masses * np.expm1(theta * up) * -np.expm1(-(1 + theta) * up)
            near = np.log1p(rise.sum(axis=1))
        logs = np.where(theta * top < 1, near, theta * top + np.log(whole))
        more = np.zeros((len(top), len(t)), dtype=np.complex128)
        for x in range(self.masses.shape[1]):
            more += weights[:, x, None] * turned(self.losses[:, x, None] * t)[0]
        more /= whole[:, None]
        return OnLine(
            logs,
            _ROUNDINGS * theta * top,
            more,
            (_ROUNDINGS + 4 * self.masses.shape[1] * UNIT) * top[:, None] * t,
        )

    def _tilted(self, theta: float) -> tuple[Floats, Floats]:
        """M(θ) over e^(θ·greatest loss), and what each loss adds to that."""
        weights: Floats = self.masses * np.exp(theta * (self.losses - self.losses[:, :1]))
        return weights.sum(axis=1), weights

    def beyond(self, theta: float, t: Floats) -> Floats:
        return np.zeros((len(self.losses), len(t)))

    def sizes(self, theta: float, t: Floats, rows: slice) -> Floats:
        whole, weights = self._tilted(theta)
        angles = self.rates[rows, None] * t
        cos, sin = np.cos(2 * angles), np.sin(2 * angles)
        many = weights.shape[1]
        real, imaginary = np.zeros_like(angles), np.zeros_like(angles)
        # Horner's rule in e^(-2it/scale).
        for x in reversed(range(many)):
            across = real * sin
            real = real * cos + imaginary * sin + weights[rows, x, None]
            imaginary = imaginary * cos - across
        off = (_ROUNDINGS + 8 * many * UNIT) * (1 + many * angles)
        logs: Floats = np.log(np.hypot(real, imaginary) / whole[rows, None] + off)
        return logs


class LaplaceTransforms(Transforms):
    """Laplace noise of scale 1 moved by a: M(s) = ((1+s)e^(sa) + s·e^(-(1+s)a))/(1+2s)
    (Mironov 2017, Proposition 6)."""

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
        up, down = turned(angles)
        slide = -2j * t * half / both * -np.expm1(-both * a)[:, None]
        more = (0.5 + half) * up + (0.5 - half) * low[:, None] * down + slide
        return OnLine(
            logs, _ROUNDINGS * (theta + 1) * a, more / size[:, None], _ROUNDINGS * 4 * angles
        )

    def beyond(self, theta: float, t: Floats) -> Floats:
        both = 1 + 2 * theta
        low = np.exp(-both * self.shifts)
        size = ((1 + theta) + theta * low) / both
        bound = (1 + low)[:, None] * (0.5 + 0.5 / np.hypot(both, 2 * t)) / size[:, None]
        logs: Floats = np.log(bound * (1 + 1e-12))
        return logs

    def sizes(self, theta: float, t: Floats, rows: slice) -> Floats:
        both = 1 + 2 * theta
        a = self.shifts[rows, None]
        low = np.exp(-both * a)
        size = ((1 + theta) + theta * low) / both
        angles = a * t
        square = (1 + low) ** 2 - 4 * low * np.sin(angles) ** 2
        atoms = np.sqrt(square + _ROUNDINGS * (1 + angles)) / 2
        slope = (1 + low) * (0.5 / np.hypot(both, 2 * t))
        logs: Floats = np.log((atoms + slope) / size * (1 + 1e-12))
        return logs


class DiscreteGaussianTransforms(Transforms):
    """Discrete normal noise of variance v ≥ 1 moved by a whole m: with ρ = m²/(2v), p = 2πv/m and
    Poisson's formula, M(θ+it) is e^(ρθ(θ+1)+iρt(1+2θ))·Σ_k e^(-ρ(t+kp)²+2πikθm)/Σ_k e^(-ρ(kp)²).

    Of these sums three terms count; what is left out is less than e^-43 in all.
    """

    def __init__(self, losses: Sequence[parts.Part], counts: Sequence[int]) -> None:
        told = [loss for loss in losses if isinstance(loss, parts.MechanismLoss)]
        self.rho = np.array([not_below(loss.quadratic()) for loss in told])
        self.shifts = np.array([float(loss.line() or 0) for loss in told])
        self.counts = np.array([float(count) for count in counts])

    def on_line(self, theta: float, t: Floats) -> OnLine:
        rho, far = self.rho, np.exp(-((np.pi * self.shifts) ** 2) / self.rho)
        turn = 2 * math.pi * theta * self.shifts
        size = 1 + 2 * far * np.cos(turn)
        logs = rho * theta * (theta + 1) + np.log1p(2 * far * np.cos(turn)) - np.log1p(2 * far)
        period = (np.pi * self.shifts / rho)[:, None]
        rho, turn = rho[:, None], turn[:, None]
        nearest = -np.rint(t / period)
        slope = rho * t * (1 + 2 * theta)
        spun = np.exp(1j * slope)
        # The main term less 1, without cancellation where it is the one with k = 0.
        away = t + nearest * period
        fall = -rho * away * away
        main = np.expm1(fall) * spun + turned(slope)[0]
        main = np.where(nearest == 0, main, np.exp(fall) * spun * np.exp(1j * turn * nearest) - 1)
        others = np.zeros_like(main)
        for k in (-1, 1):
            more = np.exp(-rho * (away + k * period) ** 2) * spun
            others += more * np.exp(1j * turn * (nearest + k)) - far[:, None] * np.exp(
                1j * turn * k
            )
        angles = slope + np.abs(turn * (np.abs(nearest) + 1)) * (nearest != 0)
        angles += 8 * self.shifts[:, None] * t
        error = _ROUNDINGS * (angles + rho * t * t * (nearest == 0) + 1e-8 * (1 + np.abs(turn)))
        error += (nearest != 0) * _ROUNDINGS + _LEFT_OUT
        lost = _ROUNDINGS * (rho[:, 0] * theta * (theta + 1) + 1e-8 * (1 + np.abs(turn[:, 0])))
        return OnLine(logs, lost + _LEFT_OUT, (main + others) / size[:, None], error)

    def beyond(self, theta: float, t: Floats) -> Floats:
        return np.zeros((len(self.rho), len(t)))

    def sizes(self, theta: float, t: Floats, rows: slice) -> Floats:
        rho, shifts = self.rho[rows, None], self.shifts[rows, None]
        period = np.pi * shifts / rho
        turns = t / period
        away = np.maximum(np.abs(turns - np.rint(turns)) - 4 * UNIT * turns, 0.0) * period
        # The two next terms are at least half a period away.
        rest = 4 * np.exp(-rho * (period - away) ** 2)
        logs: Floats = np.log((np.exp(-rho * away * away) + rest) * (1 + 1e-7))
        return logs


def _epsilon(loss: parts.Part) -> Fraction:
    if isinstance(loss, parts.Response):
        return loss.epsilon
    greatest = loss.greatest() if isinstance(loss, parts.MechanismLoss) else None
    return Fraction(0) if greatest is None else greatest


def shifts(losses: Sequence[parts.Part]) -> Floats:
    """Returns by how much each loss of a mechanism is moved, rounded up."""
    lines = [loss.line() for loss in losses if isinstance(loss, parts.MechanismLoss)]
    return np.array([not_below(line) for line in lines if line is not None])


def turned(angles: Floats) -> tuple[Any, Any]:
    """e^(ix) - 1 and e^(-ix) - 1."""
    half = np.sin(angles / 2)
    up = -2 * half * half + 1j * np.sin(angles)
    return up, up.conj()
