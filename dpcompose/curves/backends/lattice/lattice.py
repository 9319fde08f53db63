"""Composition on an even grid by one inverse Fourier transform of tilted laws.

The characteristic function of the tilted composition is the product of those of its parts, each to
the power of its count; one inverse transform over a window gives the tilted chances, whose largest
are of the size of what decides δ. Every error is bounded: of the angles and powers for each
frequency, of the transforms in the mean square (Higham 2002, Theorem 24.2), and of the losses
outside the window by Chernoff's bound. Losses below the window fold to places above: in one law
that is sound, and the law says how much they may be for whoever takes only some of its places.

A transform leaves an error of the size of the greatest chance on every place. So where a law is
wanted that is right in relative terms far into the upper tail (`composed`), the parts are composed
under several tilts, each of which makes another range of losses the bulk; each gives an upper bound
at every place, and the least of them is taken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from dpcompose.curves.backends.lattice.components import (
    Ensemble,
    chernoff,
    ensemble,
    log_rest,
    lower_chance,
    moments,
    reach,
    tilt_for_delta,
)
from dpcompose.curves.backends.lattice.law import Law
from dpcompose.curves.backends.lattice.masses import Floats, Masses
from dpcompose.curves.backends.lattice.normal import dot
from dpcompose.curves.backends.lattice.tuning import MAX_POINTS, NATS, TAIL
from dpcompose.curves.rounding.doubles import EPS, LEAST, UNIT, float_of
from dpcompose.curves.rounding.exact import MOST_LAWS, ZERO


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """The tilted parts in whole grid steps, each counted from its own reference loss.

    `pairs`: for each response the places of its greater loss and of the two grid points around its
    lesser one, with their tilted chances; `counts`: how often each occurs. `spreads`: of each law
    the first place, the tilted chances, the count. `offset`: the sum of all references, in steps
    from Σ counts·ε.
    """

    steps: Any
    chances: Any
    counts: Any
    spreads: tuple[tuple[int, Any, int], ...]
    offset: int
    log_mass: float
    log_error: float


def window(
    parts: Ensemble, theta: float, shifts: tuple[float, float] | None = None
) -> tuple[float, float]:
    """Returns the lowest and highest loss, without the Gaussian, outside which the tilted law may
    be left out.

    `shifts`: the s of Chernoff's bound, if they are known from a coarser grid, whose window is then
    nearly the same.
    """
    bottom, top = reach(parts, theta, NATS, shifts or chernoff(parts, theta, NATS))
    greatest = dot(parts.eps, parts.num)
    least = -greatest
    for law, count in parts.dense:
        first, last = law.ends()
        least, greatest = least + count * first, greatest + count * last
    room = 1e-9 * (abs(top) + abs(bottom))
    return max(bottom - room, least - room), min(top + room, greatest + room)


def lattice_law(
    parts: Ensemble,
    theta: float,
    step: Fraction,
    at: Fraction,
    shifts: tuple[float, float] | None = None,
) -> Law | None:
    """Returns the composition tilted by `theta` on a grid of `step`, precise for questions about
    losses near `at`; None if that grid would have too many points, or the tilt is too steep for it.

    `step` is a whole number of units. Each response keeps its greater loss; its lesser one lies a
    whole number of steps below, or is split over the two grid points around it, so that its chances
    under P and Q are conserved: a dominating law (Doroshenko and others 2022). `shifts`: as for
    `window`.
    """
    width = float_of(step)
    bottom, top = window(parts, theta, shifts)
    if not (top - bottom) / width < MAX_POINTS - 8:
        return None
    if theta * width > 500 and (parts.twice % int(step / parts.unit)).any():
        return None
    pieces = _pieces_of(parts, theta, step)
    base = parts.greatest() + pieces.offset * step
    start = float_of(base)
    low = math.floor((bottom - start) / width) - 2
    points = good_length(math.ceil((top - start) / width) + 3 - low)
    chances, noise = _invert(pieces, points)
    chances = np.roll(chances, -(low % points))
    center = min(max(math.floor((at - base) / step), low), low + points - 1)
    shift = theta * float_of(center * step)
    x = (np.arange(points, dtype=np.float64) + float(low - center)) * width
    return Law(
        base + center * step,
        x,
        chances,
        theta,
        pieces.log_mass - shift,
        pieces.log_error + 4 * UNIT * abs(shift),
        noise,
        # Chernoff's bound, on either side, with room for its roundings.
        math.exp(1 - NATS),
        _infinite_of(parts.dense),
        4 * UNIT * max(abs(float(x[0])), abs(float(x[-1]))),
        parts.mu2,
    )


def _infinite_of(laws: Sequence[tuple[Masses, int]]) -> float:
    """Returns the chance that any loss is infinite, rounded up: 1 less the chance that all are
    finite."""
    added = sum(count * law.infinite for law, count in laws)
    if added < 1e-12:
        return added * (1 + (len(laws) + 4) * 2 * UNIT)
    finite = share = sums = 0.0
    for law, count in laws:
        total = float(law.p.sum())
        finite += count * math.log(total)
        share += count * math.log1p(law.infinite / total)
        sums += count
    # A pairwise sum of chances is within a few tens of roundings.
    return min(added, math.exp(finite) * math.expm1(share) * (1 + (sums + 10) * 64 * UNIT))


def good_length(points: int) -> int:
    """Returns the least length of the form 2^a, 3·2^a or 5·2^a that is at least `points`, for a
    fast Fourier transform."""
    power = 1 << max(4, (points - 1).bit_length())
    return min(n for n in (power, power * 3 // 4, power * 5 // 8) if n >= points)


def _pieces_of(parts: Ensemble, theta: float, step: Fraction) -> Pieces:
    """Returns the parts tilted by `theta` in whole steps of the grid."""
    units, width, unit = int(step / parts.unit), float_of(step), float_of(parts.unit)
    chance = lower_chance(parts.eps, theta)
    down = -(-parts.twice // units)
    excess = down * units - parts.twice
    # Of the lesser loss, the P-chance that goes to the lower place is expm1(gap)/expm1(step).
    gap = (units - excess) * unit
    share = np.exp(gap - width) * np.expm1(-gap) / math.expm1(-width)
    share = np.where(excess == 0, 1.0, np.minimum(share, 1.0))
    rest = np.where(excess == 0, 0.0, np.expm1(gap - width) / math.expm1(-width))
    under = chance * share * np.exp(-theta * (excess * unit))
    over = chance * rest * np.exp(np.minimum(theta * gap, 600.0))
    total = (1 - chance) + under + over
    reference = -np.rint((under * down + over * (down - 1)) / total).astype(np.int64)
    counts = parts.num
    terms = counts * (log_rest(parts.eps, theta) + np.log(total))
    moved = -counts * (theta * width * reference)
    sizes = [24 * UNIT * float(np.abs(terms).sum() + np.abs(moved).sum() + counts.sum())]
    logs = [math.fsum((terms + 0.0).tolist()), math.fsum(moved.tolist())]
    offset = sum(c * r for c, r in zip(parts.counts, reference.tolist(), strict=True))
    spreads = []
    for law, count in parts.dense:
        weights = law.tilted(theta)
        middle = int(np.rint(dot(weights, np.arange(len(weights)))))
        away = theta * width * (np.arange(len(weights)) - middle)
        mass = dot(law.p, np.exp(np.minimum(away, 700.0)))
        spreads.append((-middle, weights, count))
        offset += count * (law.first + middle)
        logs.append(count * math.log(mass))
        sizes.append(UNIT * count * (20 + 4 * dot(weights, np.abs(away))))
    return Pieces(
        np.stack([-reference, -down - reference, 1 - down - reference]),
        np.stack([(1 - chance) / total, under / total, over / total]),
        counts,
        tuple(spreads),
        offset,
        math.fsum(logs),
        math.fsum(sizes) + 4 * UNIT * sum(map(abs, logs)),
    )


def _invert(pieces: Pieces, points: int) -> tuple[Any, float]:
    """Returns the tilted chances of the composition on the grid points 0, 1, … modulo `points`, and
    a bound of the Euclidean norm of their error."""
    of, noise = _product(pieces, points)
    sizes = np.exp(of.log)
    transform = np.zeros(points // 2 + 1, dtype=np.complex128)
    transform[of.k] = sizes * np.exp(1j * of.phase)
    # Each frequency but the ends stands for its negative as well.
    squares = 2 * dot(sizes**2, np.expm1(np.minimum(of.error, 300.0)) ** 2)
    chances = np.maximum(np.fft.irfft(transform, points), 0.0)
    length = math.sqrt(dot(chances, chances))
    noise += math.sqrt(squares / points) + 2 * math.exp(-NATS)
    return chances, noise + 16 * UNIT * math.log2(points) * (length + noise)


@dataclass(slots=True, eq=False)
class _Product:
    """A product of characteristic functions at the frequencies `k`: the logarithm of its modulus,
    its phase, and a bound of the error of its logarithm. At all other frequencies it is below
    e^-NATS and counts as 0."""

    k: Any
    log: Any
    phase: Any
    error: Any

    def multiply(self, value: Any, count: float, lost: Any = 0.0) -> None:
        """Multiplies by `count` copies of the characteristic function `value`, of the relative
        error `lost`, and leaves out the frequencies that have become faint."""
        self.log += count * np.log(np.maximum(np.abs(value), LEAST))
        turned = count * np.angle(value)
        self.phase += turned
        self.error += 4 * UNIT * (np.abs(turned) + np.abs(self.phase) + count) + count * lost
        seen = self.log > -NATS
        if not seen.all():
            self.k, self.log = self.k[seen], self.log[seen]
            self.phase, self.error = self.phase[seen], self.error[seen]


def _product(pieces: Pieces, points: int) -> tuple[_Product, float]:
    """Returns the characteristic function of the composition for a transform of the length
    `points`, and the norm of the errors of the laws' own transforms.

    Factors with the largest variance are multiplied first: most frequencies then become faint
    early, and are left out of the rest.
    """
    k = np.arange(points // 2 + 1, dtype=np.int64)
    of = _Product(k, np.zeros(len(k)), np.zeros(len(k)), np.full(len(k), 8 * UNIT))
    noise = 0.0
    for spread in sorted(pieces.spreads, key=_variance_of, reverse=True):
        transform, lost = _transform_of(*spread, points)
        noise += lost
        of.multiply(transform[of.k], spread[2])
    for i in np.argsort(-_variances_of(pieces)):
        value = _characteristic(pieces.steps[:, i], pieces.chances[:, i], of.k, points)
        # Known to 16 units. What is less counts as so much: that is off by up to three times
        # itself, and e²-1 is more.
        faint = np.abs(value) < 16 * UNIT
        value[faint] = 16 * UNIT
        of.multiply(value, pieces.counts[i], np.where(faint, 2.0, 16 * UNIT / np.abs(value)))
    return of, noise


def _variance_of(spread: tuple[int, Any, int]) -> float:
    """Returns the variance of so many copies of a law, in steps²; `spread`: first place, chances,
    count."""
    _, chances, count = spread
    places = np.arange(len(chances))
    mean = dot(chances, places)
    return count * dot(chances, (places - mean) ** 2)


def _variances_of(pieces: Pieces) -> Any:
    """Returns the variance of each response times its count, in steps²."""
    mean = (pieces.steps * pieces.chances).sum(axis=0)
    return pieces.counts * ((pieces.steps - mean) ** 2 * pieces.chances).sum(axis=0)


def _characteristic(steps: Any, chances: Any, k: Any, points: int) -> Any:
    """Returns Σ chance·e^(-2πi·k·step/points) of one response at the frequencies `k`; angles are
    reduced in whole numbers."""
    value = np.zeros(len(k), dtype=np.complex128)
    for step, chance in zip((steps % points).tolist(), chances.tolist(), strict=True):
        if chance:
            turn = step * k % points
            turn -= points * (turn > points // 2)
            value += chance * np.exp(1j * (turn * (-2 * math.pi / points)))
    return value


def _transform_of(first: int, chances: Any, count: int, points: int) -> tuple[Any, float]:
    """Returns the Fourier transform of a law folded onto `points` places, and a bound of the norm
    of the error of its `count`-th power.

    `first`: the place of the first chance. A law's transform is off by 16·u·log2(points) of its
    norm in the mean square; to the power n, n times that, as all factors are at most 1.
    """
    folded = np.bincount((first + np.arange(len(chances))) % points, chances, points)
    norm = math.sqrt(dot(folded, folded))
    return np.fft.rfft(folded), count * 16 * UNIT * math.log2(points) * norm


#: The means of neighbouring tilts are no further apart than so many times their deviations in all.
_APART = 2.5


def composed(laws: Sequence[tuple[Masses, int]], tilts: Sequence[float] = ()) -> Masses:
    """Returns the distribution of the sum of independent privacy losses, each law as often as its
    count, all on one grid; every chance is rounded up.

    `tilts`: those at which the chances of losses are wanted, beside 0, ascending; if there are none
    it is right everywhere, far into the upper tail.
    """
    step = laws[0][0].step
    parts = ensemble({}, laws, ZERO, step)
    best: Floats = np.ones(0)
    first, missing, end = 0, 0.0, None
    for theta in (0.0, *tilts) if tilts else _tilts(parts):
        law = lattice_law(parts, theta, step, Fraction(moments(parts, theta).mean))
        if law is None and not theta:
            return Masses(step, 0, np.zeros(1), 1.0)
        if law is None:
            continue
        p, start, end = _untilted(law), _first(law, step), law
        if not theta:
            # What lies below the first law's window, where no other law holds either.
            first, missing = start, law.missing
        best = np.concatenate([best, np.ones(max(start + len(p) - first - len(best), 0))])
        inside = slice(max(start - first, 0), start - first + len(p))
        best[inside] = np.minimum(best[inside], p[max(first - start, 0) :])
        x: Floats = law.x[0] + float(step) * np.arange(first - start, first - start + len(best))
        best = np.minimum(best, _lifted(law, x))
    assert end is not None
    beyond = end.missing * math.exp(min(end.log_mass - end.theta * float(end.x[-1]), 0.0)) * 1.01
    # Nothing is above the sum of the greatest losses, and next to nothing far below that.
    greatest = sum(count * (law.first + len(law.p) - 1) for law, count in parts.dense)
    if greatest < first + len(best):
        best, beyond = best[: greatest + 1 - first], 0.0
    high = len(best) - int(np.searchsorted(np.cumsum(best[::-1]), TAIL))
    best = best[: max(high, 1)]
    best[0] += missing
    return Masses(step, first, best, min(end.infinite + beyond + 2 * TAIL, 1.0))


def _tilts(parts: Ensemble) -> list[float]:
    """Returns tilts from 0 up to where the tail is, ascending, of which the tilted laws leave no
    gap between them, as far as MOST_LAWS of them can: the widest gap is halved first. Between those
    that are too far apart Chernoff's bound is taken."""
    last = tilt_for_delta(parts, math.log(TAIL))
    found = [(theta, moments(parts, theta)) for theta in sorted({0.0, last})]
    while len(found) < MOST_LAWS:
        gaps = [
            (there.mean - here.mean)
            / max(math.sqrt(here.variance) + math.sqrt(there.variance), 1e-300)
            for (_, here), (_, there) in pairwise(found)
        ]
        widest = max(range(len(gaps)), key=gaps.__getitem__, default=None)
        if widest is None or gaps[widest] <= _APART:
            break
        middle = (found[widest][0] + found[widest + 1][0]) / 2
        found.insert(widest + 1, (middle, moments(parts, middle)))
    return [theta for theta, _ in found]


def _first(law: Law, step: Fraction) -> int:
    """Returns the index on the grid of `step` at which a law begins."""
    return int(law.ref / step) + round(float(law.x[0]) / float(step))


def _untilted(law: Law) -> Floats:
    """Returns the chances of the losses of a law without its tilt, rounded up."""
    found: Floats = np.minimum((law.p + law.noise) * _lifted(law, law.x), 1.0)
    return found


def _lifted(law: Law, x: Floats) -> Floats:
    """Returns at losses `x` the factor from tilted to untilted chances, rounded up."""
    logs = law.log_mass - law.theta * x
    error = law.log_error + 4 * EPS * (abs(law.log_mass) + law.theta * np.abs(x) + 4)
    with np.errstate(over="ignore", under="ignore"):
        found: Floats = np.exp(logs + error)
    return found
