"""Laws from privacy profiles: δ at grid points, made convex in e^ε, and read as masses.

Of each order of the tables only ε ≥ 0 is computed: below 0 a profile is δ(-ε) = 1-e^(-ε)(1-δ'(ε)),
with δ' that of the other order, and the loss -l has e^(-l) times the mass of l there. Most parts
are symmetric, δ' = δ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpcompose.curves.backends.lattice.masses import Floats, Masses
from dpcompose.curves.backends.lattice.tuning import FEW, MAX_POINTS, NATS, TAIL
from dpcompose.curves.rounding.doubles import EPS, SUM_ROUNDING


def from_profile(step: Fraction, delta: Floats, at: NDArray[np.int64] | None = None) -> Masses:
    """Returns the privacy loss distribution whose curve is the greatest convex one (in e^ε) below
    `delta`.

    `delta`: upper bounds of a profile at the ε 0, step, 2·step, …, or at the multiples of step in
    `at`, the first of them 0; the last one holds for every greater ε. A profile is convex and
    falling in y = e^ε, so that it also lies below every chord of upper bounds: a bound may be left
    out, but each one given must hold.
    """
    half = _half(float(step), delta, at, True)
    start = (1 - half.height) / (1 + math.exp(-half.first * float(step)))
    p = half.p
    centre = 1 - half.height - 2 * half.fall if half.first == 0 else start - half.fall
    p[half.first] = max(centre + 8 * EPS, 0.0) * (1 + 8 * EPS)
    return mirrored(step, p, half.infinite, p[0])


def from_profiles(step: Fraction, here: Profile, there: Profile) -> Masses:
    """Returns the privacy loss distribution above two profiles at ε ≥ 0: `here` of the tables in
    the one order, `there` in the other.

    Both are given the larger δ at 0 of the two, where the two halves of the law meet.
    """
    least = max(here[0][0], there[0][0])
    upper, lower = (
        _half(float(step), np.append(least, delta[1:]), at, False) for delta, at in (here, there)
    )
    centre = max(1 - upper.height - upper.fall - lower.fall + 8 * EPS, 0.0)
    return mirrored(step, upper.p, upper.infinite, centre * (1 + 8 * EPS), lower.p)


#: Upper bounds of a profile, and at which multiples of a step they hold, 0 first.
Profile = tuple[Floats, NDArray[np.int64]]


@dataclass(frozen=True, slots=True, eq=False)
class _Half:
    """The masses of the losses above 0 that belong to the greatest convex curve below a profile.

    `first`: the index of the first corner of the curve, `height` the curve there; `fall`: of the
    chord after that corner, per unit of e^ε, times e^ε there.
    """

    p: Floats
    infinite: float
    first: int
    height: float
    fall: float


def _half(width: float, delta: Floats, at: NDArray[np.int64] | None, symmetric: bool) -> _Half:
    """Returns the masses above 0 of the greatest convex curve below a profile; the parameters are
    those of `from_profile`, `width` is the step."""
    heights = np.minimum.accumulate(np.minimum(delta, 1.0))
    places = np.arange(len(heights)) if at is None else at
    corners = _corners(heights, places, width, symmetric)
    height, kept = heights[corners], places[corners]
    # fall: of the chord to the next corner, times e^x of the corner it starts from.
    gaps, drops = np.diff(kept) * width, height[:-1] - height[1:]
    with np.errstate(over="ignore"):
        fall = np.append(drops / np.expm1(gaps), 0.0)
    p = np.zeros(int(kept[-1]) + 1)
    bends = drops / -np.expm1(-gaps) * (1 + 8 * EPS) - fall[1:]
    p[kept[1:]] = np.maximum(bends, 0.0) * (1 + 8 * EPS)
    infinite = float(height[-1]) * (1 + 8 * EPS)
    return _Half(p, infinite, int(kept[0]), float(height[0]), float(fall[0]))


def _bends(heights: Floats, places: NDArray[np.int64], width: float) -> Floats:
    """Returns for each place but the ends by how much the chord before it falls steeper than the
    chord after it."""
    gaps, falls = np.diff(places) * width, -np.diff(heights)
    with np.errstate(over="ignore"):
        bends: Floats = falls[:-1] / -np.expm1(-gaps[:-1]) - falls[1:] / np.expm1(gaps[1:])
    return bends


def _corners(
    heights: Floats, places: NDArray[np.int64], width: float, symmetric: bool
) -> NDArray[np.int64]:
    """Returns the indices of the corners of the greatest convex curve below `heights`, from the
    left; found from the right.

    `symmetric`: whether the law is its own mirror image; if not, the first place stays a corner.
    """
    wrong = np.flatnonzero(_bends(heights, places, width) < 0)
    last = len(heights) - 1
    # To the right of the last wrong bend all are corners: `right` and above. The rest, from the
    # right: `stack`.
    right = min(int(wrong[-1]) + 2 if len(wrong) else 1, last)
    stack: list[int] = []
    at: list[int] = places.tolist()
    high: list[float] = heights.tolist()

    def ahead() -> tuple[int, int]:
        if not stack:
            return right, right + 1
        return stack[-1], stack[-2] if len(stack) > 1 else right

    def drop() -> None:
        nonlocal right
        if stack:
            stack.pop()
        else:
            right += 1

    for i in range(right - 1, -1, -1):
        while True:
            near, far = ahead()
            before = (high[i] - high[near]) / -math.expm1((at[i] - at[near]) * width)
            after = (
                (high[near] - high[far]) / _expm1((at[far] - at[near]) * width)
                if (far <= last)
                else 0.0
            )
            if before > after or near == last:
                break
            drop()
        if near == last and high[i] == high[near]:
            # Level to the end: the end is not a corner but where the level begins.
            last = right = i
            stack.clear()
        else:
            stack.append(i)
    # At 1 the curve meets its mirror image: the chord from corner k to its image has this fall.
    while symmetric:
        first, second = ahead()
        if second > last:
            break
        across = (1 - high[first]) / (1 + math.exp(-at[first] * width))
        if across > (high[first] - high[second]) / _expm1((at[second] - at[first]) * width):
            break
        drop()
    return np.concatenate([np.array(stack[::-1], dtype=np.int64), np.arange(right, last + 1)])


def _expm1(x: float) -> float:
    return math.expm1(x) if x < 700 else math.inf


def mirrored(
    step: Fraction,
    positive: Floats,
    infinite: float,
    centre: float,
    other: Floats | None = None,
) -> Masses:
    """Returns the law with these masses at step, 2·step, … and their mirror image below 0;
    `positive[0]` is ignored, the mass at 0 is `centre`.

    `infinite`: the chance of an infinite loss. `other`: the masses above 0 of the tables in the
    other order, which give those below 0; else the law is symmetric.
    """
    width = float(step)
    other = positive if other is None else other
    below = min(len(other) - 1, math.ceil(-math.log(TAIL) / width))
    losses = np.arange(1, len(other), dtype=np.float64) * width
    images = other[1:] * np.exp(-losses) * (1 + (4 + losses) * EPS)
    lower = images[:below].copy()
    if below:
        lower[-1] += images[below:].sum() * (1 + 64 * EPS)
    p = np.concatenate([lower[::-1], [centre], positive[1:]])
    return Masses(step, -below, p, min(infinite, 1.0))


def with_mirror_image(law: Masses, other: Masses | None = None) -> Masses:
    """Returns the law that has the losses above 0 of `law`, and below 0 the mirror image of those
    of `other`, the law of the tables in the other order; None: the same law.

    Below 0 the chances under Q are e^(-l) times the masses: roundings would be large there.
    """
    if law.first > MAX_POINTS:
        return law
    here, there = _above_zero(law), _above_zero(other or law)
    gaps = [_at_zero(half, each) for half, each in ((here, law), (there, other or law))]
    # Both orders have one δ at ε = 0: the lesser is raised next to it.
    for half, lacking in ((here, gaps[1] - gaps[0]), (there, gaps[0] - gaps[1])):
        half[1] += max(lacking, 0.0) / -math.expm1(-float(law.step)) * (1 + 8 * EPS)
    fades = np.exp(-np.arange(len(there)) * float(law.step))
    taken = float(here.sum() + (there * fades).sum()) + law.infinite
    return mirrored(law.step, here, law.infinite, max(0.0, 1 - taken) + SUM_ROUNDING, there)


def _above_zero(law: Masses) -> Floats:
    """Returns the masses at step, 2·step, …, after a 0 for the loss 0."""
    before = np.zeros(max(law.first, 0) + 2 * (law.first + len(law.p) < 2))
    found = np.concatenate([before, law.p[max(-law.first, 0) :]])
    found[0] = 0.0
    return found


def _at_zero(half: Floats, law: Masses) -> float:
    """Returns δ at ε = 0; `half`: the masses above 0."""
    fall = -np.expm1(-np.arange(len(half)) * float(law.step))
    return float((half * fall).sum()) + law.infinite


def curve(law: Masses) -> Floats:
    """Returns the hockey-stick curve δ(ε) of `law` at each of its grid points, rounded up.

    Sums of positive terms only, block by block, so that relative errors stay small.
    """
    width = float(law.step)
    if width > NATS:
        above = np.append(np.cumsum(law.p[:0:-1])[::-1], 0.0)
        return above * (1 + len(law.p) * EPS) + law.infinite
    size = min(FEW, int(300 / width))
    rise = np.exp(np.arange(size) * width)
    heights = np.empty(len(law.p))
    fall, height = 0.0, law.infinite
    for stop in range(len(law.p), 0, -size):
        start = max(stop - size, 0)
        p, up = law.p[start:stop], rise[: stop - start]
        # falls[i] = Σ_{j>i} e^(x_i-x_j)·p_j, which is e^x times the Q-chance above.
        above = np.append(np.cumsum((p / up)[:0:-1])[::-1], 0.0)
        falls = up * above + fall * (up / up[-1])
        falls *= 1 + 16 * EPS
        heights[start:stop] = height + np.cumsum(falls[::-1])[::-1] * math.expm1(width)
        height = float(heights[start])
        fall = math.exp(-width) * (float(falls[0]) + float(p[0]))
    blocks = len(law.p) / size
    result: Floats = heights * (1 + (4 * size + 64 * blocks + 64) * EPS)
    return result


def greatest(*laws: Masses) -> Masses:
    """Returns a symmetric law whose δ at each ε ≥ 0 is at least that of each of the laws, which
    together cover both orders of the tables."""
    size = min(max(1, *(law.first + len(law.p) - 1 for law in laws)) + 1, MAX_POINTS)
    heights = np.maximum.reduce([upward(law, size) for law in laws])
    return from_profile(laws[0].step, heights)


def upward(law: Masses, size: int) -> Floats:
    """Returns δ(ε) of `law` at the ε 0, step, …, (size-1)·step."""
    heights = curve(law)
    if law.first > 0:
        # Below the law's first point the curve is a chord to (0, 1): taken as 1 at most.
        heights = np.concatenate([np.ones(min(law.first, size)), heights])
    else:
        heights = heights[-law.first :]
    return np.concatenate([heights, np.full(max(size - len(heights), 0), law.infinite)])[:size]
