"""Composition on an even grid by one inverse Fourier transform of tilted laws.

The characteristic function of the tilted composition is the product of those of its parts, each
to the power of its count; one inverse transform over a window gives the tilted chances, whose
largest are of the size of what decides δ. Every error is bounded: of the angles and powers for
each frequency, of the transforms in the mean square (Higham 2002, Theorem 24.2), and of the losses
above the window by Chernoff's bound. Losses below the window fold to places above, which is sound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpcompose.curves.backends.lattice.components import (
    Ensemble,
    chernoff,
    log_rest,
    lower_chance,
    reach,
)
from dpcompose.curves.backends.lattice.law import Law
from dpcompose.curves.backends.lattice.masses import MAX_POINTS, Masses
from dpcompose.curves.backends.lattice.normal import BLOCK, dot
from dpcompose.curves.rounding.doubles import UNIT, float_of

#: The tilted chance left out above the window is at most e^-NATS, and frequencies at which the
#: characteristic function is below that count as 0.
NATS = 40.0
#: With more pairs of a frequency and a response, a sieve by blocks of frequencies goes first.
_MANY = 1 << 20
#: A law is summed at the frequencies that are left, in rows of so many places, where that takes
#: less than its transform, each turn of an angle as long as so many points.
_ROW, _TURNS = 64, 4


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

    `shifts`: the s of Chernoff's bound, if they are known from a coarser grid.
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
    pieces = pieces_of(parts, theta, step)
    base = parts.greatest() + pieces.offset * step
    start = float_of(base)
    low = math.floor((bottom - start) / width) - 2
    points = good_length(math.ceil((top - start) / width) + 3 - low)
    missing = math.exp(1 - NATS)
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
        missing,
        infinite_of(parts.dense),
        4 * UNIT * max(abs(float(x[0])), abs(float(x[-1]))),
        parts.mu2,
    )


def infinite_of(laws: Sequence[tuple[Masses, int]]) -> float:
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


def pieces_of(parts: Ensemble, theta: float, step: Fraction) -> Pieces:
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
    half = points // 2 + 1
    transform = np.zeros(half, dtype=np.complex128)
    # By variance, so that most frequencies are soon found faint.
    order = np.argsort(-variances_of(pieces))
    of, noise = _product(pieces.spreads, _bright(pieces, order, points), points)
    squares = 0.0
    for begin in range(0, len(of.k), 2 * BLOCK):
        part = slice(begin, begin + 2 * BLOCK)
        kept, log, phase = of.k[part], of.log[part], of.phase[part]
        error = of.error[part] + 8 * UNIT
        done = 0
        while done < len(order) and len(kept):
            # Of few frequencies, many responses at once.
            block = order[done : done + max(1, 2 * BLOCK // len(kept))]
            value = characteristic(pieces.steps[:, block], pieces.chances[:, block], kept, points)
            number = pieces.counts[block][:, None]
            size, angle = np.maximum(np.abs(value), 16 * UNIT), np.angle(value)
            log = log + (number * np.log(size)).sum(axis=0)
            turned = number * angle
            phase = phase + turned.sum(axis=0)
            turns = np.abs(turned).sum(axis=0)
            error = error + 4 * UNIT * (len(block) * (turns + np.abs(phase)) + number.sum())
            error = error + 16 * UNIT * (number / size).sum(axis=0)
            done += len(block)
            if done % 8 == 0 or len(block) > 1:
                seen = log > -NATS
                if not seen.all():
                    kept, log, phase, error = kept[seen], log[seen], phase[seen], error[seen]
        squares += write_product(Product(kept, log, phase, error), transform)
    return inverse(transform, points, squares, noise)


def write_product(product: Product, transform: Any) -> float:
    """Writes a product into the array of the Fourier transform at its frequencies, and returns a
    bound of Σ|error|² over these frequencies and their negatives."""
    sizes = np.exp(product.log)
    transform[product.k] = sizes * np.exp(1j * product.phase)
    return 2 * dot(sizes**2, np.expm1(np.minimum(product.error, 300.0)) ** 2)


def inverse(transform: Any, points: int, squares: float, noise: float) -> tuple[Any, float]:
    """Returns the inverse Fourier transform, cut off at 0 from below, and a bound of the Euclidean
    norm of its error.

    `squares`: Σ|error|² of `transform`; `noise`: the norm of errors that were bounded on the grid
    already.
    """
    chances = np.maximum(np.fft.irfft(transform, points), 0.0)
    length = math.sqrt(dot(chances, chances))
    noise += math.sqrt(squares / points) + 2 * math.exp(-NATS)
    return chances, noise + 16 * UNIT * math.log2(points) * (length + noise)


def _bright(pieces: Pieces, order: Any, points: int) -> Any:
    """Returns the frequencies, out of those of a transform of the length `points`, at which the
    responses' characteristic function may be above e^-NATS; at all others it counts as 0.

    `order`: the responses, widest first. By blocks: within a block |φ_i| is at most its value in
    the middle plus half the block's width times the mean distance of the atoms from the greatest.
    """
    half = points // 2 + 1
    down = pieces.steps[0] - pieces.steps[1]
    stride = int(0.1 * points / (math.pi * float(down.max(initial=1))))
    if stride < 2 or len(order) * half < _MANY:
        return np.arange(half, dtype=np.int64)
    blocks = np.arange(-(-half // stride), dtype=np.int64)
    log = np.zeros(len(blocks))
    for done, i in enumerate(order):
        if done % 8 == 0:
            seen = log > -NATS
            blocks, log = blocks[seen], log[seen]
            # When few are left it is quicker to go on exactly.
            if len(blocks) * 64 < half // stride:
                break
        turn = (blocks * stride + stride / 2) * (-2 * math.pi / points)
        top, under, over = pieces.chances[:, i].tolist()
        value = under * np.exp(1j * turn * -float(down[i]))
        if over:
            value += over * np.exp(1j * turn * (1 - float(down[i])))
        away = math.pi * stride / points * float(down[i]) * (under + over)
        size = np.minimum(np.abs(top + value) + away + 1e-6, 1.0)
        log += float(pieces.counts[i]) * np.log(size)
    inside = np.arange(stride, dtype=np.int64)
    frequencies = (blocks[:, None] * stride + inside[None, :]).ravel()
    return frequencies[frequencies < half]


@dataclass(slots=True, eq=False)
class Product:
    """A product of characteristic functions at the frequencies `k`: the logarithm of its modulus,
    its phase, and a bound of the error of its logarithm."""

    k: Any
    log: Any
    phase: Any
    error: Any


def _product(
    spreads: tuple[tuple[int, Any, int], ...], bright: Any, points: int
) -> tuple[Product, float]:
    """Returns the product of the laws' characteristic functions at those frequencies of `bright`
    where it is not negligible, and the norm of the error of their transforms.

    `spreads`: as in `Pieces`; the widest come first, so that few frequencies are soon left.
    """
    of = Product(bright, *(np.zeros(len(bright)) for _ in range(3)))
    noise = 0.0
    for spread in sorted(spreads, key=width_of, reverse=True):
        first, chances, count = spread
        if _TURNS * (_ROW + len(chances) // _ROW) * len(of.k) > points:
            transform, lost = transform_of(*spread, points)
            noise += lost
            multiply(transform[of.k], count, of)
        else:
            power = _summed(first, chances, of.k, points)
            # A rounding for each row and column, some for the angles; what is less counts as it.
            lost = (_ROW + len(chances) / _ROW + 64) * UNIT
            power[np.abs(power) < lost] = lost
            multiply(power, count, of)
            of.error += count * (3 * lost / np.abs(power))
        seen = of.log > -NATS
        if not seen.all():
            of = Product(of.k[seen], of.log[seen], of.phase[seen], of.error[seen])
    return of, noise


def width_of(spread: tuple[int, Any, int]) -> float:
    """Returns the variance of so many copies of a law, in steps²; `spread`: first place, chances,
    count."""
    _, chances, count = spread
    places = np.arange(len(chances))
    mean = dot(chances, places)
    return count * dot(chances, (places - mean) ** 2)


def _summed(first: int, chances: Any, k: Any, points: int) -> Any:
    """Returns Σ chance·e^(-2πi·k·place/points) at a few frequencies `k`, place = row·_ROW + column
    + first."""
    rows = -(-len(chances) // _ROW)
    table = np.zeros(rows * _ROW)
    table[: len(chances)] = chances
    inner = table.reshape(rows, _ROW) @ _turns(np.arange(_ROW), k, points)
    return (inner * _turns(first + _ROW * np.arange(rows), k, points)).sum(axis=0)


def _turns(places: Any, k: Any, points: int) -> Any:
    """Returns e^(-2πi·k·place/points), a row for each place and a column for each k; angles are
    reduced in whole numbers."""
    turn = places[:, None] % points * k[None, :] % points
    turn -= points * (turn > points // 2)
    return np.exp(1j * (turn * (-2 * math.pi / points)))


def multiply(value: Any, count: float, of: Product) -> None:
    """Multiplies the product `of` by `count` copies of the characteristic function `value`, in
    place, and adds to its error."""
    of.log += count * np.log(np.maximum(np.abs(value), 16 * UNIT))
    turned = count * np.angle(value)
    of.phase += turned
    of.error += 4 * UNIT * (np.abs(turned) + np.abs(of.phase) + count)


def characteristic(steps: Any, chances: Any, k: Any, points: int) -> Any:
    """Returns Σ chance·e^(-2πi·k·step/points), a row for each response and a column for each
    frequency; angles are reduced in whole numbers."""
    value = np.zeros((steps.shape[1], len(k)), dtype=np.complex128)
    for step, chance in zip(steps % points, chances, strict=True):
        if not chance.any():
            continue
        value += chance[:, None] * _turns(step, k, points)
    return value


def variances_of(pieces: Pieces) -> Any:
    """Returns the variance of each response times its count, in steps²."""
    mean = (pieces.steps * pieces.chances).sum(axis=0)
    return pieces.counts * ((pieces.steps - mean) ** 2 * pieces.chances).sum(axis=0)


def transform_of(first: int, chances: Any, count: int, points: int) -> tuple[Any, float]:
    """Returns the Fourier transform of a law folded onto `points` places, and a bound of the norm
    of the error of its `count`-th power.

    `first`: the place of the first chance. A law's transform is off by 16·u·log2(points) of its
    norm in the mean square; to the power n, n times that, as all factors are at most 1.
    """
    folded = np.bincount((first + np.arange(len(chances))) % points, chances, points)
    norm = math.sqrt(dot(folded, folded))
    return np.fft.rfft(folded), count * 16 * UNIT * math.log2(points) * norm
