"""Sums of independent losses on one grid, right in relative terms far into the upper tail.

A Fourier transform leaves an error of the size of the greatest chance on every place. So the laws
are transformed under several exponential tilts, p(l)·e^(θl), each of which makes another range of
losses the bulk; each gives an upper bound at every place, and the least of them is taken.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpcompose.curves.backends.lattice.masses import EPS, MAX_POINTS, TAIL, Floats, Masses

#: Tilts, in units of one over the standard deviation of the sum: so far apart, at most, that
#: between two of them a chance is some 10^-2 of the greatest one.
_TILTS = (0, 3, 6, 9, 12, 15)
#: Up to this many products two laws are multiplied out.
_DIRECT = 1 << 22
#: Bounds below this may have vanished; that much on every place goes to infinity.
_VANISHED = 1e-300
#: So many copies of a law whose sum has more points are added up at once.
_MANY_COPIES, _LONG = 4, 1 << 17
#: Frequencies of such a sum below e to minus this count as 0.
_FAINT = 80.0
#: So many standard deviations around its mean are looked at under each tilt; and where only the
#: upper tail is wanted, below all but this chance is left.
_AROUND, _NO_WEIGHT = 12, 1e-22


def power(law: Masses, count: int, both: bool = False) -> Masses:
    """Returns the sum of `count` ≥ 1 independent losses of one law; `both` as in `join`.

    By squaring, but long laws by the power of one transform.
    """
    result: Masses | None = None
    while True:
        if count >= _MANY_COPIES and count * len(law.p) > _LONG and len(law.p) ** 2 > _DIRECT:
            law, count = _power_of_transform(law, count, both), 1
        if count & 1:
            result = law if result is None else join(result, law, both)
        count >>= 1
        if not count and result is not None:
            return result
        law = join(law, law, both)


def join(one: Masses, other: Masses, both: bool = False) -> Masses:
    """Returns the sum of two independent losses; every chance is rounded up.

    Small relative errors in the bulk and the upper tail; if `both`, in the lower tail too.
    """
    infinite = one.infinite + other.infinite
    short = min(len(one.p), len(other.p))
    if len(one.p) * len(other.p) <= _DIRECT:
        p: Floats = np.convolve(one.p, other.p) * (1 + (short + 4) * EPS)
    else:
        p = _tilted_product(one, other, both)
        infinite += len(p) * _VANISHED
    first = one.first + other.first
    # Ends of next to no chance: above to infinity, below to the lowest loss that is kept.
    high = len(p) - int(np.searchsorted(np.cumsum(p[::-1]), TAIL))
    infinite += 2 * TAIL
    low = max(int(np.searchsorted(np.cumsum(p), TAIL)), high - MAX_POINTS, 0)
    below, p = float(p[:low].sum()), p[low : max(high, low + 1)].copy()
    p[0] += below * (1 + 64 * EPS)
    return Masses(one.step, first + low, p, min(infinite * (1 + 8 * EPS), 1.0))


def _tilted_product(one: Masses, other: Masses, both: bool) -> Floats:
    """Returns the convolution of both chances, by Fourier transforms.

    If each transform is off by u·log2(N) of its norm times a small number (32 EPS is far more
    than all three), no place is off by more than that of the product of the norms (Cauchy and
    Schwarz), which is the square root of N less than a bound on all places together.
    """
    size = len(one.p) + len(other.p) - 1
    length = 1 << (size - 1).bit_length()
    width, spread = float(one.step), math.hypot(_deviation(one), _deviation(other))
    best = np.full(size, np.inf)
    for tilt in sorted({*_TILTS, *(-tilt for tilt in _TILTS if both)}):
        theta = tilt / max(spread, 1e-300) * width
        a, log_a = _tilted(one.p, theta)
        b, log_b = (a, log_a) if other is one else _tilted(other.p, theta)
        transform = np.fft.rfft(a, length)
        transform *= transform if other is one else np.fft.rfft(b, length)
        product = np.fft.irfft(transform, length)[:size]
        norm = math.sqrt(float(np.dot(a, a)) * float(np.dot(b, b)))
        product = np.maximum(product, 0.0) + 32 * EPS * math.log2(length) * norm
        # Untilting, and the roundings of the tilts on the way.
        exponents = log_a + log_b - theta * np.arange(size)
        sizes = abs(theta) * size + abs(log_a) + abs(log_b) + 1500
        with np.errstate(over="ignore", under="ignore"):
            best = np.minimum(best, product * np.exp(exponents) * (1 + (4 * sizes + 16) * EPS))
    result: Floats = np.minimum(best, 1.0)
    return result


def _power_of_transform(law: Masses, count: int, both: bool) -> Masses:
    """Returns the sum of many independent losses of one law, by the power of its transform.

    Under each tilt some standard deviations around the mean are looked at. What lies outside folds
    to places inside, which only raises these; elsewhere Chernoff's bound is taken. Above all of
    them what is left goes to infinity, below to the lowest place. With z the transform of tilted
    chances, known to d in the mean square, every place is off by at most count·d·|z|^(count-1) in
    the mean square (Cauchy and Schwarz).
    """
    used = np.flatnonzero(law.p)
    if not len(used):
        return Masses(law.step, law.first * count, law.p[:1], min(law.infinite * count, 1.0))
    p = law.p[used[0] : used[-1] + 1]
    per = float(law.step) / max(_deviation(law) * math.sqrt(count), float(law.step) / 64)
    below = TAIL if both else _NO_WEIGHT
    low, high = _reach(p, count, per, below)
    best = np.full(high - low + 1, 1.0)
    sides = (1, -1) if both else (1,)
    for theta in sorted({_tilt(p, count, side * per, tilt) for tilt in _TILTS for side in sides}):
        a, log_total, top = _leaning(p, theta)
        along = np.arange(len(a))
        mean = float(np.dot(a, along))
        wide = math.sqrt(count * float(np.dot(a, (along - mean) ** 2)))
        length = 1 << math.ceil(math.log2(2 * _AROUND * wide + 16))
        middle, center = round(mean), round(count * mean)
        folded = np.bincount((along - middle) % length, a, length)
        z = np.fft.rfft(folded)
        off = 8 * EPS * math.log2(length) * math.sqrt(float(np.dot(folded, folded)))
        sizes = np.abs(z) + off * math.sqrt(length)
        bright = sizes > math.exp(-_FAINT / (count - 1))
        rest = math.sqrt(2 * float((sizes[bright] ** (2 * count - 2)).sum()) / length)
        rest += math.exp(-_FAINT)
        raised = np.zeros_like(z)
        raised[bright] = _raised(z[bright], count)
        product = np.fft.irfft(raised, length)
        error = (count * (off + 4 * EPS) + 8 * EPS * math.log2(length)) * rest * (1 + 1e-9)
        error += math.exp(-_FAINT)
        slack = abs(theta) * (count * (len(p) + top) + high)
        slack += count * (abs(log_total) + 64 + len(p) / length)
        lift = 1 + (4 * slack + 64) * EPS
        start = max(low, center - length // 2)
        stop = max(min(high + 1, center - length // 2 + length), start)
        for first, last, near in ((low, start, 0), (start, stop, 1), (stop, high + 1, 0)):
            places = np.arange(first, last)
            chances: Any = 1.0
            if near:
                chances = np.maximum(product[(places - count * middle) % length], 0.0) + error
            with np.errstate(over="ignore", under="ignore"):
                chances *= np.exp(count * log_total - theta * (places - count * top)) * lift
            inside = slice(first - low, last - low)
            best[inside] = np.minimum(best[inside], chances)
    best[0] += 2 * below
    infinite = count * law.infinite * (1 + 8 * EPS) + 2 * TAIL + len(best) * _VANISHED
    first = (law.first + int(used[0])) * count + low
    return Masses(law.step, first, best, min(infinite, 1.0))


def _tilt(p: Floats, count: int, per: float, tilt: float) -> float:
    """Returns the size of a tilt, to one side, that is to this law as `tilt` deviations to a
    normal one."""
    low, high = 0.0, tilt * abs(per)
    for _ in range(10 if tilt else 0):
        theta = math.copysign((low + high) / 2, per)
        a, log_total, top = _leaning(p, theta)
        mean = float(np.dot(a, np.arange(len(a))))
        # What Chernoff's bound leaves beyond the mean of the tilted law.
        if count * (theta * (mean - top) - log_total) > tilt**2 / 2:
            high = abs(theta)
        else:
            low = abs(theta)
    return math.copysign(high, per) if tilt else 0.0


def _raised(z: Any, count: int) -> Any:
    """z^count by squaring, which rounds as often as multiplication would."""
    result = np.ones_like(z)
    while count:
        if count & 1:
            result = result * z
        count >>= 1
        if count:
            z = z * z
    return result


def _reach(p: Floats, count: int, per: float, below: float) -> tuple[int, int]:
    """Returns the places beyond which so many copies are with a chance of at most TAIL, or below
    which with one of at most `below`, by Chernoff's bound, or which they do not reach."""
    last, first = float(count * (len(p) - 1)), 0.0
    for tilt in np.geomspace(0.5, 256, 16):
        theta = float(tilt) * per
        _, log_up, top = _leaning(p, theta)
        last = min(last, count * top + (count * log_up - math.log(TAIL)) / theta)
        _, log_down, top = _leaning(p, -theta)
        first = max(first, count * top - (count * log_down - math.log(below)) / theta)
    return max(math.floor(first) - 1, 0), math.ceil(last) + 1


def _leaning(p: Floats, theta: float) -> tuple[Floats, float, int]:
    """p·e^(θ(i-top)) divided by its sum, and the logarithm of that, with the greatest at `top`."""
    steps = theta * np.arange(len(p))
    with np.errstate(divide="ignore", under="ignore"):
        logs = np.log(p) + steps
    top = int(logs.argmax())
    # Without the logarithms, which would be raised to a power with all that they are off.
    away = steps - steps[top]
    tilted = np.where(away < 600, p * np.exp(np.minimum(away, 600)), np.exp(logs - steps[top]))
    total = float(tilted.sum())
    return tilted / total, math.log(total), top


def _tilted(p: Floats, theta: float) -> tuple[Floats, float]:
    """p·e^(θ·i) divided by its sum, and the logarithm of that."""
    with np.errstate(divide="ignore", under="ignore"):
        logs = np.log(p) + theta * np.arange(len(p))
    top = float(logs.max())
    tilted = np.exp(logs - top)
    total = float(tilted.sum())
    return tilted / total, top + math.log(total)


def _deviation(law: Masses) -> float:
    losses = law.losses()
    total = float(law.p.sum())
    if not total:
        return 0.0
    mean = float(np.dot(losses, law.p)) / total
    return math.sqrt(max(float(np.dot((losses - mean) ** 2, law.p)) / total, 0.0))
