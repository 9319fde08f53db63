"""Transforms of Gaussian noise below a secret Poisson sample, for one row more or less.

With z the loss of what is sampled and y = 1 + q(e^z-1) the odds of ((1-q)Q+qP, Q), M(s) is
E_Q y^(1+s), and E_Q y^(-s) where the row is added. E_Q is a sum over nodes by the trapezoidal rule,
which converges geometrically, as y^s is analytic and bounded around the real line: for
|Im z| ≤ w < π the argument of y is at most w, and |y| at least y(Re z)·cos(w/2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcompose.curves import curve as parts
from dpcompose.curves.backends.lattice.masses import Floats
from dpcompose.curves.backends.lattice.tuning import (
    FINE,
    MAX_POINTS,
    MOST_LOG,
    MOST_POINTS,
    TOLERANCE,
)
from dpcompose.curves.backends.renyi.cumulants import not_below
from dpcompose.curves.backends.vertical_line.transforms import (
    ROUNDINGS,
    OnLine,
    Transforms,
    rotations,
)
from dpcompose.curves.rounding.doubles import LEAST, UNIT
from dpcompose.curves.rounding.exact import sqrt_up

#: A sum over nodes leaves out at most e^-_NATS, for each loss.
_NATS = 46.0
#: The density of a loss is bounded from below by a step function with so many steps, which is cut
#: off at each of these shares of its maximum; the best bound of the transform is taken.
_CELLS, _LEVELS = 192, (1.0, 0.5, 0.25, 0.1, 0.03, 0.01, 1e-3, 1e-4)


@dataclass(frozen=True, slots=True, eq=False)
class _Nodes:
    """A quadrature rule for the mean under Q: `z` and the logarithms of the weights, a row for each
    loss.

    `slip`: the error of z, `off`: the relative one of the weights; `left` and e^`beyond`: bounds of
    what the rule leaves out of M(s), the first as a share of M(θ) ≥ 1.
    """

    z: Floats
    logs: Floats
    slip: Floats
    off: Floats
    left: float
    beyond: Floats


class SampledGaussians(Transforms):
    """Transforms of Gaussian noise behind samples of rates q, all with the row removed, ((1-q)Q+qP,
    Q): outcomes x ~ N(0, 1) under Q, z = μx - μ²/2."""

    added = False
    work = 4096

    def __init__(self, losses: Sequence[parts.Part], counts: Sequence[int]) -> None:
        samples = [loss for loss in losses if isinstance(loss, parts.Sampled)]
        self.q = np.array([min(not_below(each.rate), 1.0) for each in samples])
        squares = [each.base.gaussian for each in samples]
        self.mu = np.array([not_below(sqrt_up(square)) for square in squares])
        self.counts = np.array([float(count) for count in counts])

    def _power(self, theta: float) -> float:
        """Returns the power of y in M(θ)."""
        return -theta if self.added else 1 + theta

    def on_line(self, theta: float, t: Floats) -> OnLine | None:
        rule = self.nodes(theta, float(t[-1]))
        if rule is None or rule.z.shape[1] * len(t) > 2 * MAX_POINTS:
            return None
        q, power = self.q[:, None], self._power(theta)
        odds = q * np.expm1(rule.z)
        loss = np.log1p(odds)
        slope = q * np.exp(rule.z) / (1 + odds)
        slip = slope * rule.slip + 4 * UNIT * (np.abs(loss) + np.abs(odds) / (1 + odds))
        if not float((power * loss).max()) < MOST_LOG:
            return None
        plain = np.exp(rule.logs)
        tilted = np.exp(rule.logs + power * loss)
        size = np.abs(loss)
        off = rule.off + UNIT * (4 + 4 * np.abs(power * loss)) + abs(power) * slip
        rise = np.where(power * loss < 1, plain * np.expm1(power * loss), tilted - plain)
        above = rise.sum(axis=1)
        whole = 1 + above
        left = rule.left + np.exp(rule.beyond - np.log(whole)) * (1 + TOLERANCE)
        lost = ((3 * off + ROUNDINGS) * np.abs(rise)).sum(axis=1) + 8 * left * whole
        lost += abs(power) * ((slip + 4 * UNIT * size) * (tilted + plain)).sum(axis=1)
        lost = lost / whole + 4 * UNIT * np.log(whole)
        # For each unit of t: roundings of the weights, of the losses and of the sums.
        each = (tilted * ((off + ROUNDINGS) * size + slip)).sum(axis=1) / whole
        each += lost * (tilted * size).sum(axis=1) / whole
        more = np.empty((len(self.q), len(t)), dtype=np.complex128)
        chunk = max(1, MOST_POINTS // tilted.size)
        for start in range(0, len(t), chunk):
            angles = loss[:, None, :] * t[start : start + chunk, None]
            up, down = rotations(angles)
            turn = down if self.added else up
            more[:, start : start + chunk] = (turn * tilted[:, None, :]).sum(axis=2)
        more /= whole[:, None]
        error = np.minimum(each[:, None] * t, 4.0) + 8 * left[:, None]
        return OnLine(np.log1p(above), lost, more, error)

    def beyond(self, theta: float, t: Floats) -> Floats:
        """Returns ln of a bound of |M(θ+iu)/M(θ)| as `Transforms.beyond` does, from laws with
        stepwise densities that the law of the loss contains.

        If a share a of a law has the transform f, |φ| is at most 1-a+a|f|. |f(u)| is at most the
        variation of the density over u and, with v the variance and m the fourth central moment of
        that share, |f(u)|² ≤ 1 - vu² + (m+3v²)u⁴/12, as cos x ≤ 1 - x²/2 + x⁴/24: convex in u².
        """
        here = self.on_line(theta, np.zeros(1))
        if here is None or float(here.lost.max()) > TOLERANCE / 4:
            return np.zeros((len(self.q), len(t)))
        edges, chance = self.cells(theta)
        q, power = self.q[:, None], self._power(theta)
        odds = q * np.expm1(edges)
        loss = np.log1p(odds)
        slope = q * np.exp(edges) / (1 + odds)
        least = power * (loss[:, 1:] if self.added else loss[:, :-1])
        mass = chance * np.exp(least - here.logs[:, None]) * (1 - TOLERANCE)
        # The slope grows with z.
        shrunk = slope[:, :-1] / slope[:, 1:]
        density = mass / (slope[:, 1:] * np.diff(edges, axis=1))
        best = np.ones((len(self.q), len(t)))
        for level in _LEVELS:
            cut = np.minimum(density, level * density.max(axis=1)[:, None])
            varied = (np.abs(cut[:, 1:] - cut[:, :-1]).sum(axis=1) + cut[:, 0] + cut[:, -1])[
                :, None
            ]
            kept = mass * shrunk * (cut / np.maximum(density, 1e-300))
            share = kept.sum(axis=1)[:, None] * (1 - TOLERANCE)
            best = np.minimum(best, 1 - share + (1 + TOLERANCE) * varied / t)
            variance, fourth = _central((loss[:, 1:] + loss[:, :-1]) / 2, np.diff(loss), kept)
            turn = np.minimum(variance * t * t, 1e30)
            square = 1 - turn + (fourth / np.maximum(variance**2, 1e-300) + 3) * turn * turn / 12
            root = np.minimum(np.sqrt(np.maximum(square, 0.0)) + TOLERANCE * turn, 1.0)
            root = np.where(variance**2 > LEAST, root, 1.0)
            near = np.maximum(root[:, :-1], root[:, 1:])
            best[:, :-1] = np.minimum(best[:, :-1], 1 - share + share * near)
        logs: Floats = np.log(np.maximum(best, 1e-300))
        return logs

    def nodes(self, theta: float, most: float) -> _Nodes | None:
        """Returns a quadrature rule at the tilt `theta` that is good for all t up to `most`; None
        if it takes too many nodes."""
        mu, reach = float(self.mu.max()), math.sqrt(2 * _NATS) + 0.1
        if self.added:
            # y is at least 1-q.
            reach = math.sqrt(reach**2 - 2 * theta * math.log1p(-float(self.q.max())))
        top = reach + (0.0 if self.added else (1 + theta) * mu)
        if not (1 + theta + top) * mu < MOST_LOG:
            return None
        width = 0.0
        for part in range(1, 19):
            strip = part / 20 * math.pi / mu
            grown = strip**2 / 2 + most * mu * strip
            if self.added:
                grown -= theta * math.log(math.cos(mu * strip / 2))
            width = max(width, 2 * math.pi * strip / (_NATS + grown + 1))
        # Of few bits, so that the places are exact.
        mantissa, exponent = math.frexp(width)
        width = math.ldexp(math.floor(mantissa * 1024), exponent - 10)
        if (reach + top) / width > FINE:
            return None
        x = np.arange(-math.ceil(reach / width), math.ceil(top / width) + 1) * width
        mus = self.mu[:, None]
        z = mus * x - mus * mus / 2
        logs = np.broadcast_to(-x * x / 2 + math.log(width / math.sqrt(2 * math.pi)), z.shape)
        # Above, the density of M(θ) falls by e^(-reach·x) at least.
        last = np.log1p(self.q * np.expm1(z[:, -1])) * self._power(theta) - float(x[-1]) ** 2 / 2
        slip = 2 * UNIT * (np.abs(mus * x) + mus * mus)
        off = UNIT * (4 + 4 * np.abs(logs))
        return _Nodes(z, logs, slip, off, 3 * math.exp(-_NATS), last)

    def cells(self, theta: float) -> tuple[Floats, Floats]:
        """Returns edges of z, ascending, a row for each loss, and for the cells between them a
        lower bound of the chance under Q."""
        top = 5.0 + (0.0 if self.added else min((1 + theta) * float(self.mu.max()), 30.0))
        x = np.linspace(-5.0 - (3.0 if self.added else 0.0), top, _CELLS + 1)
        far = np.maximum(np.abs(x[:-1]), np.abs(x[1:]))
        chance = np.exp(-far * far / 2) * np.diff(x) / math.sqrt(2 * math.pi)
        mus = self.mu[:, None]
        edges = mus * x - mus * mus / 2
        return edges, np.broadcast_to(chance, (len(mus), len(chance)))


class AddedGaussians(SampledGaussians):
    """Transforms as `SampledGaussians`, with the row added: (Q, (1-q)Q+qP)."""

    added = True


def _central(middle: Floats, width: Floats, mass: Floats) -> tuple[Floats, Floats]:
    """Returns the variance and the fourth central moment of masses spread evenly over cells, as
    columns; `middle` and `width` are those of the cells."""
    mass = mass / np.maximum(mass.sum(axis=1)[:, None], 1e-300)
    away = middle - (mass * middle).sum(axis=1)[:, None]
    spread = width**2 / 12
    variance = (mass * (away**2 + spread)).sum(axis=1)[:, None]
    fourth = (mass * (away**4 + 6 * away**2 * spread + width**4 / 80)).sum(axis=1)[:, None]
    return variance, fourth
