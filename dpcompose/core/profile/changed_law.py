"""Laws on a grid (`lattice`) of compositions that differ in little from one that is known.

The transform of a composition is the product of those of its losses: one that is taken out is
divided by, as a difference of logarithms of the very same numbers, which leaves the others as they
were. Frequencies are kept at which more than next to nothing is left without any one part. What
comes instead has its transform, or, where it has few values, moves the ε that is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from dpcompose.core.numbers.exact import ZERO
from dpcompose.core.profile.components import (
    UNIT,
    Ensemble,
    chernoff,
    ensemble,
    moments,
    tilt_for_epsilon,
)
from dpcompose.core.profile.engine import common_step, rough_ensemble, unit_on
from dpcompose.core.profile.grids import Grid, GridQuestion, sides
from dpcompose.core.profile.lattice import (
    FAINT,
    MOST_POINTS,
    NATS,
    Pieces,
    Product,
    good_length,
    infinite_of,
    inverse,
    pieces_of,
    put,
    window,
)
from dpcompose.core.profile.law import Law, LogDelta, delta_of
from dpcompose.core.profile.line_sum import LineLogs, VerticalLine
from dpcompose.core.profile.log_products import factors, plus, spared
from dpcompose.core.profile.loss_distribution import laws as laws_of
from dpcompose.core.profile.masses import Floats, Masses
from dpcompose.core.profile.moved_losses import mixed, moves
from dpcompose.core.profile.parts import Bracket, Composition, Part, Response
from dpcompose.core.profile.root import epsilon_of
from dpcompose.core.profile.rounding import float_of
from dpcompose.core.profile.variants import Variant

#: No more values of transforms are computed for a whole.
_MOST_VALUES = 1 << 26
#: A window is so much wider than that of the whole.
_ROOM = 1.05
#: An answer is so many standard deviations from that of the whole, at most, and so much less is
#: known of the transform.
_NEAR, _NOISE, _LITTLE = 2.0, 8.0, 1e-12
#: No answer is further away, in standard deviations; no less of a Gaussian is left than this share,
#: and no more uncertain than this share of δ.
_FAR, _LEFT, _CLOSE = 20.0, 0.5, 1e-9


class ChangedLaws:
    """The laws of a composition at a δ, one for each order of the tables."""

    def __init__(self, whole: Composition, known: list[_KnownLaw]) -> None:
        self._whole, self._known = whole, known

    @classmethod
    def of(cls, whole: Composition, log_delta: float, found: Bracket) -> ChangedLaws | None:
        """By the ε that was found for the whole, and its grid; None where there is none."""
        known = [_known(whole, side, log_delta, found) for side in sides(whole.parts)]
        told = [each for each in known if each is not None]
        return cls(whole, told) if len(told) == len(known) else None

    def epsilon(self, variant: Variant) -> float | None:
        """The least ε of a variant; None where this is not the way to it."""
        return variant.worst(self._whole, (each.least for each in self._known))


@dataclass(frozen=True, slots=True, eq=False)
class _KnownLaw:
    """The whole on a grid, tilted by `theta`: its parts in `pieces`, and `product`, the logarithms
    of their transform over so many `points`, with the norm of the error of that.

    `epsilon`: what it comes to, and `deviation` that of the tilted loss. `shifts`: where Chernoff's
    bounds are taken; `cumulants`: K at `theta`, and there. `smooth`: whether half of the Gaussian
    leaves next to nothing of the last frequencies; all those at which it leaves some are kept.
    """

    side: str
    smooth: bool
    epsilon: float
    deviation: float
    step: Fraction
    theta: float
    shifts: tuple[float, float]
    points: int
    parts: Ensemble
    laws: dict[Part, tuple[Masses, int]]
    pieces: Pieces
    product: Product
    noise: float
    cumulants: Floats

    def least(self, variant: Variant) -> float | None:
        """For this order of the tables."""
        moved, rest = moves(variant.more)
        changed = self._changed(variant.less, rest)
        if changed is None:
            return None
        gaussian = float_of(variant.asked.gaussian) * (1 + 4 * UNIT)
        of_rest: Callable[[Fraction], LogDelta] | None
        if self.smooth:
            of_rest = self._summed(changed, gaussian)
        else:
            law = self._law(changed, gaussian)
            of_rest = None if law is None else partial(delta_of, law)
        if of_rest is None:
            return None
        told = of_rest

        def curve(epsilon: float) -> LogDelta:
            at = Fraction(epsilon)
            return mixed([(chance, told(at - loss)) for loss, chance in moved])

        far = self.epsilon + _FAR * self.deviation
        found = epsilon_of(curve, variant.log_delta, self.epsilon, variant.most, far)
        if found is None or abs(found - self.epsilon) > _NEAR * self.deviation:
            return None
        return found

    def _changed(self, less: Composition, more: Composition) -> _Changed | None:
        """Without some parts, and with others; None where these have several laws each."""
        put_laws = _laws(more, self.step, self.side)
        if put_laws is None:
            return None
        laws, taken_laws = dict(self.laws), dict[Part, tuple[Masses, int]]()
        for part, count in less.parts:
            if part in laws:
                law, before = laws.pop(part)
                taken_laws[part] = law, count
                if before > count:
                    laws[part] = law, before - count
        unit = self.parts.unit
        taken = ensemble(_responses(less), tuple(taken_laws.values()), ZERO, unit)
        put_in = ensemble(_responses(more), tuple(put_laws.values()), ZERO, unit)
        cumulants = self.cumulants - _cumulants(taken, self.theta, self.shifts)
        cumulants = cumulants + _cumulants(put_in, self.theta, self.shifts)
        old = pieces_of(taken, self.theta, self.step)
        new = pieces_of(put_in, self.theta, self.step)
        offset = self.pieces.offset - old.offset + new.offset
        greatest = self.parts.greatest() - taken.greatest() + put_in.greatest()
        logs, noise = self.product, self.noise
        for pieces, sign in ((old, -1), (new, 1)):
            for row in factors(pieces):
                told, lost = row(logs.k, self.points)
                logs = plus(logs, told, sign)
                noise += max(sign, 0) * lost
        log_mass = self.pieces.log_mass - old.log_mass + new.log_mass
        log_error = self.pieces.log_error + old.log_error + new.log_error
        return _Changed(
            logs,
            noise,
            greatest + offset * self.step,
            log_mass,
            log_error + 4 * UNIT * (abs(self.pieces.log_mass) + abs(old.log_mass) + abs(log_mass)),
            -(cumulants[2] - cumulants[0] + NATS) / self.shifts[1],
            (cumulants[1] - cumulants[0] + NATS) / self.shifts[0],
            infinite_of([*laws.values(), *put_laws.values()]),
        )

    def _law(self, changed: _Changed, gaussian: float) -> Law | None:
        """The chances on the grid; None where the window is too narrow, or they are not known."""
        base, points, width = changed.base, self.points, float_of(self.step)
        start, room = float_of(base), 1e-9 * (abs(changed.top) + abs(changed.bottom))
        low = math.floor((changed.bottom - room - start) / width) - 2
        if not math.ceil((changed.top + room - start) / width) + 3 - low <= points:
            return None
        transform = np.zeros(points // 2 + 1, dtype=np.complex128)
        squares = put(changed.logs, transform)
        chances, error = inverse(transform, points, squares, changed.noise)
        if error > _NOISE * self.noise + _LITTLE:
            return None
        middle = math.floor((Fraction(self.epsilon) - base) / self.step)
        center = min(max(middle, low), low + points - 1)
        shift = self.theta * float_of(center * self.step)
        x = (np.arange(points, dtype=np.float64) + float(low - center)) * width
        return Law(
            base + center * self.step,
            x,
            np.roll(chances, -(low % points)),
            self.theta,
            changed.log_mass - shift,
            changed.log_error + 4 * UNIT * abs(shift),
            error,
            math.exp(1 - NATS),
            changed.infinite,
            4 * UNIT * max(abs(float(x[0])), abs(float(x[-1]))),
            gaussian,
        )

    def _summed(self, changed: _Changed, gaussian: float) -> Callable[[Fraction], LogDelta] | None:
        """δ as a sum over a line, in whose last places a Gaussian leaves next to nothing."""
        if gaussian < _LEFT * self.parts.mu2:
            return None
        width, theta = float_of(self.step), self.theta
        period = self.points * width
        logs = changed.logs
        t = logs.k * (2 * math.pi / period)
        fall = gaussian * t * t / 2
        seen = logs.log - fall > -FAINT
        t, fall, turn = t[seen], fall[seen], gaussian * t[seen] * (theta + 0.5)
        told = LineLogs(
            changed.log_mass + gaussian * theta * (theta + 1) / 2,
            changed.log_error,
            logs.log[seen] - fall + 1j * (turn - logs.phase[seen]),
            logs.error[seen] + 8 * UNIT * (fall + np.abs(turn)),
        )
        weights = np.exp(-fall) / np.hypot(theta, t) ** 2
        # By Cauchy and Schwarz what transforms are off by; what is faint; what is beyond.
        missing = (
            math.sqrt(self.points) * changed.noise * 2 / period * float(np.sqrt(weights @ weights))
        )
        missing += math.exp(-FAINT) * (0.5 / theta + 2 / (period * theta * theta))
        missing += width * math.exp(-gaussian * (math.pi / width) ** 2 / 2)
        sum_ = VerticalLine((), gaussian).summed(theta, period, t, missing, told)
        infinite = changed.infinite

        def delta(epsilon: Fraction) -> LogDelta:
            found = sum_.log_delta(float_of(epsilon - changed.base))
            if not infinite:
                return found
            return LogDelta(
                float(np.logaddexp(found.log_upper, math.log(infinite))) + 4 * UNIT,
                -math.inf,
                found.slope,
            )

        return delta if sum_.is_close(self.epsilon - float_of(changed.base), _CLOSE) else None


@dataclass(frozen=True, slots=True, eq=False)
class _Changed:
    """A changed composition on the grid: `logs` of its transform, by places from `base`, with the
    norm of its error; ln of what they are over; little is outside of `bottom` and `top`."""

    logs: Product
    noise: float
    base: Fraction
    log_mass: float
    log_error: float
    bottom: float
    top: float
    infinite: float


def _known(whole: Composition, side: str, log_delta: float, found: Bracket) -> _KnownLaw | None:
    responses, half = _responses(whole), _LEFT * float_of(whole.gaussian)
    others = tuple(each for each in whole.parts if not isinstance(each[0], Response))
    step = found.grid
    if others:
        grid = Grid(GridQuestion(responses, others, whole.gaussian, laws_of), side)
        rough, step = grid.coarse()[1], step or grid.natural
    else:
        rough, step = rough_ensemble(responses, (), whole.gaussian), step or common_step(responses)
    if step is None:
        return None
    epsilon = float_of(found.upper)
    theta = tilt_for_epsilon(rough, epsilon)
    shifts = chernoff(rough, theta, NATS)
    deviation = math.sqrt(moments(rough, theta).variance)
    bottom, top = window(rough, theta, shifts)
    width, smooth = float_of(step), half * (math.pi / float_of(step)) ** 2 / 2 > FAINT
    if theta <= 0:
        return None
    span = _ROOM * (top - bottom)
    if smooth:
        # What neighbouring periods add is next to nothing.
        span = max(span, _FAR * deviation, (FAINT - log_delta) / theta)
    points = math.ceil(span / width) + 16
    if points > MOST_POINTS or points * len(whole.parts) > _MOST_VALUES:
        return None
    points = good_length(points)
    laws = _laws(whole, step, side)
    if laws is None:
        return None
    unit = unit_on(responses, step)
    parts = ensemble(responses, tuple(laws.values()), whole.gaussian, unit)
    pieces = pieces_of(parts, theta, step)
    fall = half * (2 * math.pi / (points * width)) ** 2 / 2 if smooth else 0.0
    product, noise = spared(pieces, points, fall)
    return _KnownLaw(
        side,
        smooth,
        epsilon,
        deviation,
        step,
        theta,
        shifts,
        points,
        parts,
        laws,
        pieces,
        product,
        noise,
        _cumulants(parts, theta, shifts),
    )


def _cumulants(parts: Ensemble, theta: float, shifts: tuple[float, float]) -> Floats:
    """K at a tilt, and where Chernoff's bounds are taken above and below."""
    at = (theta, theta + shifts[0], theta - shifts[1])
    return np.array([moments(parts, each, gaussian=False).cumulant for each in at])


def _responses(some: Composition) -> dict[Fraction, int]:
    return {part.epsilon: count for part, count in some.parts if isinstance(part, Response)}


def _laws(some: Composition, step: Fraction, side: str) -> dict[Part, tuple[Masses, int]] | None:
    """The parts that are not responses on a grid; None where copies of one have several laws."""
    found: dict[Part, tuple[Masses, int]] = {}
    for part, count in some.parts:
        if not isinstance(part, Response):
            [law, *others] = laws_of(part, count, step, side)
            if others:
                return None
            found[part] = law
    return found
