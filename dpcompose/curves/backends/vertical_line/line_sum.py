"""δ(ε) of a composition as an integral over a vertical line, by the trapezoidal rule.

With K(s) = ln E e^(sL) of the composed loss L, δ(ε) = E (1-e^(ε-L))+ is the integral of
e^(K(s)-sε)/(s(s+1)) over s = θ + it, over 2π, for any θ > 0. The trapezoidal rule of period P,
t = 2πj/P, gives the sum of δ(ε+kP)·e^(θkP) over all whole k (Poisson's formula): more than δ(ε),
and hardly more where P is large. Near the saddle point of K(s)-sε few t count, however many losses
are composed, since |e^K| falls as a normal law's does; no loss is put on a grid. What is left out
beyond the last t is bounded, for which the loss must have something smooth: `Transforms.beyond`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpcompose.curves.backends.lattice.law import LogDelta
from dpcompose.curves.backends.lattice.masses import Floats
from dpcompose.curves.backends.lattice.tuning import MAX_POINTS, TOLERANCE
from dpcompose.curves.backends.vertical_line.transforms import OnLine, Transforms
from dpcompose.curves.rounding.doubles import LEAST, UNIT

#: The sum adds to δ(ε) its values one period away, and leaves out all t beyond the last: each is
#: about e^-_NATS of δ(ε).
_NATS = 30.0
#: Besides the tilt of the saddle point this share of it is tried, which has a shorter period, if
#: e^K(θ)-θε, the size of the terms, grows by at most a factor of e^_LOSS there.
_SMALLER, _LOSS = 0.6, 8.0
#: By what is smoothed an ε grows by this share at most.
_SMOOTHED = 2 * TOLERANCE
#: Most places are faint after so many losses, and are then left out of the rest.
_SEEN = 32
#: The last t of a sum is one of so many places, each greater than the one before by this factor.
_GROWTH, _BOUNDS = 2 ** (1 / 3), 80
#: Derivatives of K are read off at a distance from θ that is this many standard deviations of the
#: tilted loss, between the least and the most.
_NEAR, _LEAST, _MOST = 1e-3, 1e-8, 1e-2


@dataclass(frozen=True, slots=True)
class LineMoments:
    """The cumulant K(θ) of the composed loss and its first two derivatives, to a few digits."""

    cumulant: float
    mean: float
    variance: float


@dataclass(frozen=True, slots=True, eq=False)
class LineLogs:
    """K(θ) in `log_mass`, with an error of at most `lost`; and in `logs` K(θ+it)-K(θ) at the places
    `t`, with errors of at most `errors`."""

    log_mass: float
    lost: float
    t: Floats
    logs: Any
    errors: Floats


@dataclass(frozen=True, slots=True, eq=False)
class LineSum:
    """The trapezoidal sum for δ(ε) at one tilt θ: e^(`log_mass`-θε)·Σ Re(`terms`·e^(-itε)), each
    term within `errors`, and all that is left out within `missing`."""

    theta: float
    log_mass: float
    log_error: float
    t: Floats
    terms: Any
    errors: Floats
    missing: float

    def log_delta(self, epsilon: float) -> LogDelta:
        """Returns ln δ(ε), certified from above, from below too within TOLERANCE, and its slope."""
        total, error, slope = self._sum_at(epsilon)
        scale = self.log_mass - self.theta * epsilon
        slack = self.log_error + 4 * UNIT * (abs(self.log_mass) + self.theta * abs(epsilon))
        upper = math.log(max(max(total, 0.0) + error, math.ulp(0.0))) + scale + slack
        close = error + slack * total <= TOLERANCE * total
        return LogDelta(
            min(upper, 0.0),
            upper - TOLERANCE if close else -math.inf,
            slope / total if total else 0.0,
        )

    def _sum_at(self, epsilon: float) -> tuple[float, float, float]:
        """Returns the sum, a bound of its error, and the corresponding sum for the slope."""
        turned = self.terms * np.exp(-1j * epsilon * self.t)
        total = float(turned.real.sum())
        away = np.abs(self.terms) * (abs(epsilon) * self.t * 4 * UNIT + 100 * UNIT)
        error = float((self.errors + away).sum()) + self.missing
        slope = float((turned * (self.theta + 1j * self.t)).real.sum())
        return total, error, slope


class VerticalLine:
    """The transforms of the losses of all parts, with μ² of the Gaussian (`square`)."""

    def __init__(self, kinds: Sequence[Transforms], square: float) -> None:
        self.kinds, self.square = kinds, square
        self.near = 1.0

    @cached_property
    def smooth(self) -> bool:
        """Returns whether the terms of the sum at θ = 0 fall to next to nothing somewhere, so that
        it can be cut off; the sums at other θ then can too."""
        return float(self.log_decay(0.0, np.array([1 / LEAST]))[0]) < -_NATS

    def log_decay(self, theta: float, places: Floats) -> Floats:
        """Returns ln of an upper bound of |e^(K(θ+iu)-K(θ))| for all u beyond each of `places`."""
        kept = -self.square * places * places / 2
        for kind in self.kinds:
            with np.errstate(divide="ignore"):
                logs = kind.counts[:, None] * np.minimum(kind.beyond(theta, places), 0.0)
            kept += logs.sum(axis=0)
        result: Floats = np.maximum.accumulate(kept[::-1])[::-1]
        return result

    def moments(self, theta: float) -> LineMoments | None:
        """Returns K(θ) and its derivatives, from K at θ and at a place nearby on the line; None
        where these cannot be had."""
        for _ in range(40):
            found = self.on_line(theta, np.array([self.near]))
            if found is None:
                return None
            log_mass, logs = found.log_mass, found.logs
            fall = -2 * float(logs[0].real)
            if not (math.isfinite(log_mass) and 0 < fall < math.inf):
                self.near *= 0.01 if fall > 0 else 100.0
            elif fall > _MOST**2:
                self.near *= max(_NEAR / math.sqrt(fall), 0.01)
            elif fall < _LEAST**2:
                self.near *= min(_NEAR / math.sqrt(fall), 1e4)
            else:
                return LineMoments(log_mass, logs[0].imag / self.near, fall / self.near**2)
        return None

    def on_line(self, theta: float, t: Floats, faint: float = -math.inf) -> LineLogs | None:
        """Returns K at θ and at θ+it for each t, or for those alone at which the real part of
        K(θ+it)-K(θ) is not surely below `faint`; None where that would take too long."""
        log_mass, lost = self.square * theta * (theta + 1) / 2, 0.0
        turn = self.square * t * (theta + 0.5)
        logs = -self.square * t * t / 2 + 1j * turn
        errors = 8 * UNIT * np.abs(logs)
        for kind in self.kinds:
            for block in (kind,) if faint == -math.inf else kind.blocks():
                found = block.on_line(theta, t)
                if found is None:
                    return None
                # The roundings of the sum over the losses are in it.
                rounding = (8 + len(block.counts)) * UNIT
                log_mass += float(block.counts @ found.logs)
                lost += float(block.counts @ (found.lost + rounding * np.abs(found.logs)))
                change, error = _logs_of(block.counts, found, rounding)
                logs, errors = logs + change, errors + error
                # No transform is more than 1.
                seen = logs.real + errors > faint
                if not seen.all():
                    t, logs, errors = t[seen], logs[seen], errors[seen]
        return LineLogs(log_mass, lost + 64 * UNIT * abs(log_mass), t, logs, errors)

    def sum(self, theta: float, period: float, size: float) -> LineSum | None:
        """Returns the sum with this `period` P, up to a t beyond which the terms are next to
        nothing beside e^`size`, roughly δ; None where that takes too many terms."""
        step = 2 * math.pi / period
        if not step or size > _NATS:  # beyond all numbers
            return None
        end = _faint(self.log_decay, theta, step, size)
        if end is None:
            return None
        last, beyond = end
        many = math.ceil(last / step)
        # The cost of one place t, in values of a closed form; the place itself costs 64 of them.
        rows = min(sum(len(kind.counts) for kind in self.kinds), _SEEN)
        work = max(rows, *(kind.work for kind in self.kinds))
        if many * (work + 64) > 2 * MAX_POINTS:
            return None
        t = step * np.arange(many + 1, dtype=np.float64)
        weights = (2 / period) / ((theta + 1j * t) * (theta + 1 + 1j * t))
        weights[0] /= 2
        # What is left out at faint places comes to no more than what is beyond the last one.
        faint = size - _NATS - math.log(float(np.abs(weights).sum()))
        found = self.on_line(theta, t, faint)
        if found is None:
            return None
        beyond += math.exp(size - _NATS) * (1 + 64 * UNIT)
        weights = weights[np.rint(found.t / step).astype(np.int64)]
        values = np.exp(found.logs)
        wrong = np.abs(values) * np.expm1(np.minimum(found.errors, 700.0))
        terms, wrong = values * weights, wrong * np.abs(weights)
        return LineSum(theta, found.log_mass, found.lost, found.t, terms, wrong, beyond)

    def tilt(self, much: Callable[[float, LineMoments], float]) -> float | None:
        """Returns a θ at which `much`, a function that falls in θ, is about 0; a small θ if `much`
        is nowhere above 0; None where the moments cannot be computed."""
        start = self.moments(1e-6) or self.moments(0.0)
        if start is None:
            return None
        spread = math.sqrt(start.variance)
        least = 1e-2 / spread

        def at(theta: float) -> float:
            found = self.moments(theta)
            return -math.inf if found is None else much(theta, found)

        low, high = 0.0, 4 / spread
        below, above = math.inf, at(high)
        while above > 0 and high * spread < 1e6:
            low, below, high = high, above, 2 * high
            above = at(high)
        if not low:
            low, below = high / 2, at(high / 2)
            while below <= 0:
                if low < least:
                    return least
                low, below, high, above = low / 2, at(low / 2), low, below
        for _ in range(12):
            # The secant, and less of the value at an end that stays (Illinois).
            share = below / (below - above) if math.inf > below > above > -math.inf else 0.5
            theta = low * math.pow(high / low, min(max(share, 0.1), 0.9))
            value = at(theta)
            if abs(value) < 0.05:
                return theta
            if value > 0:
                low, below, above = theta, value, above / 2
            else:
                high, above, below = theta, value, below / 2
        return low

    def near_tilt(self, theta: float, at: float | None = None) -> tuple[LineSum | None, float]:
        """Returns a sum that is accurate for δ at ε near `at`, and that ε; None for the sum where
        it would take too many terms.

        `at`: None stands for the mean of the loss at the tilt `theta`. Of a few tilts close to
        `theta` the one with the shortest period is taken.
        """
        centre = self.moments(theta)
        if centre is None:
            return None, 0.0
        at = centre.mean if at is None else at
        best: tuple[float, float] | None = None
        least = centre.cumulant - theta * at
        # Where θ is small, δ is about that of a normal loss at its mean.
        near = min(flat(theta, centre.variance), math.log(0.4 * math.sqrt(centre.variance)))
        smooth, size = 1 / math.sqrt(centre.variance), 0.0
        for tilt in (max(theta, smooth), theta, _SMALLER * theta):
            here = centre if tilt == theta else self.moments(tilt)
            if here is not None and here.cumulant - tilt * at <= least + _LOSS:
                period, enough = self._period(tilt, here, at)
                if best is None or period < best[0]:
                    best = period, tilt
                    size = least - (here.cumulant - tilt * at) + near
                if enough:
                    break
        if best is None:
            return None, at
        period, tilt = best
        line = self if self.smooth else self._smoothed(tilt, at)
        return line.sum(tilt, period, size), at

    def _smoothed(self, theta: float, at: float) -> VerticalLine:
        """Returns the line with so little of a Gaussian beside all losses that an ε near `at` grows
        by a share of _SMOOTHED: one loss more dominates."""
        more = 2 * _SMOOTHED * max(at, 1e-3 / theta) / (1 + 2 * theta)
        return VerticalLine(self.kinds, self.square + more)

    def _period(self, theta: float, here: LineMoments, at: float) -> tuple[float, bool]:
        """Returns a period P for which the sum over the line (Poisson's summation) at the ε `at` is
        hardly more than δ(at), and whether what is added from below `at` alone decides P.

        The sum adds the δ at all other at + kP, times e^(θkP), to δ(at): below `at` δ is at most 1,
        above it is bounded by Chernoff's inequality.
        """
        size = here.cumulant - theta * at + flat(theta, here.variance)
        below = (_NATS - size) / theta
        above = math.inf
        for factor in (0.4, 0.8, 0.2, 1.6, 0.1):
            more = self.moments((1 + factor) * theta)
            if more is not None:
                gained = more.cumulant - (1 + factor) * theta * at - size + _NATS
                above = min(above, gained / (factor * theta))
                if above <= below:
                    return below, True
        return max(below, above), False


def _faint(
    bound: Callable[[float, Floats], Floats], theta: float, step: float, size: float
) -> tuple[float, float] | None:
    """Returns a place t beyond which all terms of the sum come to less than e^(`size` - _NATS), and
    a bound of what they come to; None if there is none.

    `bound`: gives ln of a bound of the terms at the tilt `theta` beyond each place; `step`: the
    distance of neighbouring places of the sum.
    """
    places = step * 16 * _GROWTH ** np.arange(_BOUNDS, dtype=np.float64)
    # Of the sum over 1/|s(s+1)| < 1/t².
    left = bound(theta, places) - np.log(math.pi * places)
    faint = np.flatnonzero(left <= size - _NATS)
    if not len(faint):
        return None
    return float(places[faint[0]]), math.exp(float(left[faint[0]])) * (1 + 64 * UNIT)


def _logs_of(counts: Floats, found: OnLine, rounding: float) -> tuple[Any, Floats]:
    """Returns ln of the product of transforms, each as often as its count, at each place, and its
    error, where each has the relative error `rounding` besides its own."""
    real, imaginary = found.more.real, found.more.imag
    size = np.abs(1 + found.more)
    clear = (size > 0.5) & (found.error < 0.1)
    size = np.maximum(size, np.where(clear, 0.0, found.error + 1e-290))
    square = real * (2 + real) + imaginary * imaginary
    shrunk = np.where(clear, np.log1p(np.maximum(square, -0.9)) / 2, np.log(size))
    angle = np.arctan2(imaginary, 1 + real)
    rough = 2 * np.abs(real) + real**2 + imaginary**2 + np.abs(angle) + np.abs(shrunk)
    errors = counts @ (np.log1p(3 * found.error / size) + rounding * rough)
    return counts @ (shrunk + 1j * angle), errors


def flat(theta: float, variance: float) -> float:
    """Returns ln δ(ε) - (K(θ)-θε) by the saddle point approximation; `variance`: that of the tilted
    loss."""
    return -math.log1p(math.sqrt(2 * math.pi * variance) * theta * (1 + theta))
