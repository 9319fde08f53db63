"""Power functions of tests, as the lines that lie above them: mixed and put into one another.

Of two tables let P and Q be the laws. Each (ε, δ) with P(E) ≤ δ + e^ε·Q(E) for every event E is a
line above the power function β, the largest P(E) for all E with Q(E) = x; the complements of the
same events give Q(E) ≤ δ' + e^-ε·P(E) with δ' = (δ + e^ε - 1)/e^ε. A curve is a list of lines, and
what is made of lines that hold is a line that holds:

* of laws P_j with the weights w_j, 1 in all, against one Q, which is among them with w_0:
  Σ w_j·P_j + w_0·Q ≤ Σ w_j·δ_j + (w_0 + Σ w_j·e^ε_j)·Q;
* of P against R and of R against Q: P ≤ δ₂ + e^ε₂·R ≤ (δ₂ + e^ε₂·δ₁) + e^(ε₁+ε₂)·Q.

With the lines that touch the curves at one and the same level this is what is known of the mixture,
β(x) = w_0·x + Σ w_j·β_j(x), and of the path, β₂(β₁(x)). Levels only choose lines: whichever are
taken, what comes out holds.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpcompose.curves.backends.lattice.masses import Floats, Masses
from dpcompose.curves.backends.lattice.profiles import Profile, from_profile, from_profiles
from dpcompose.curves.backends.lattice.tuning import FEW, FINE, MAX_POINTS, MOST_LOG, NATS
from dpcompose.curves.rounding.doubles import EPS, LEAST, PRODUCT_ROUNDING, ROUNDING


@dataclass(frozen=True, eq=False)
class Power:
    """The power function of tests between P and Q, as lines above it, one for each loss, ascending:
    P(E) ≤ up + e^loss·Q(E) and Q(E) ≤ back + e^-loss·P(E) for all events E.

    `up` and `back` are rounded up; losses may be off by `slack`, either way.
    """

    losses: Floats
    up: Floats
    back: Floats
    slack: float

    def reversed(self) -> Power:
        """Returns the power function of Q against P."""
        return Power(-self.losses[::-1], self.back[::-1], self.up[::-1], self.slack)

    @cached_property
    def levels(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Returns the points at which neighbouring lines meet: Q(E) and P(E) there, and the same
        for the complements.

        Each falls (the complements grow) with the loss, and each is a sum of positive terms.
        """
        gaps = np.maximum(np.diff(self.losses), 1e-300)
        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
            q = -np.diff(self.up) * np.exp(-self.losses[:-1]) / np.expm1(gaps)
            p = self.up[:-1] + np.exp(self.losses[:-1]) * q
            rest = np.diff(self.back) * np.exp(self.losses[1:]) / np.expm1(gaps)
            other = self.back[1:] + np.exp(-self.losses[1:]) * rest
        # Small ones are known best: where others are too small by rounding, they are raised.
        falling = [np.maximum.accumulate(_cleared(each)[::-1])[::-1] for each in (q, p)]
        growing = [np.maximum.accumulate(_cleared(each)) for each in (other, rest)]
        return falling[0], falling[1], growing[0], growing[1]

    @property
    def top(self) -> float:
        """Returns the loss from which on δ falls no more."""
        level = np.flatnonzero(self.up <= self.up[-1] * (1 + 1e-12))
        return float(self.losses[level[0]]) * (1 + 1e-12) + 2 * self.slack

    def thinned(self, fall: float) -> list[tuple[float, float]]:
        """Returns some of the pairs (ε, δ) with ε ≥ 0 that hold, in ascending order of ε: the first
        one, the last one, and between them one for each `fall` by which ln δ falls."""
        here = self.losses >= 0
        losses, up = self.losses[here], self.up[here]
        steps = np.floor(-np.log(np.maximum(up, LEAST)) / fall)
        some = np.flatnonzero(np.append(np.diff(steps) > 0, True))
        some = np.unique(np.append(0, some))
        # The loss 0 is exact.
        above = np.where(losses > 0, losses + self.slack, 0.0)
        return list(zip(above[some].tolist(), up[some].tolist(), strict=True))

    def at_level(self, levels: Floats, of: int) -> NDArray[np.int64]:
        """Returns the indices of the lines that touch the curve at some levels. `of` says what the
        levels are: 0 Q(E), 1 P(E), 2 and 3 the same of the complements."""
        known = self.levels[of]
        if of < 2:
            found: NDArray[np.int64] = np.searchsorted(-known, -levels, side="left")
        else:
            found = np.searchsorted(known, levels, side="right")
        return found

    def at(self, losses: Floats) -> Floats:
        """Returns δ at each ε of `losses`, up to roundings from above: a curve is convex in e^ε."""
        at = losses - self.slack - 4 * EPS * np.abs(losses)
        last = len(self.losses) - 1
        index = np.searchsorted(self.losses, at, side="right") - 1
        first = np.clip(index, 0, max(last - 1, 0))
        second = np.minimum(first + 1, last)
        gap = self.losses[second] - self.losses[first]
        inside = np.clip(at - self.losses[first], 0.0, np.maximum(gap, 0.0))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            share = np.expm1(inside) / np.expm1(gap)
            rest = np.exp(inside) * np.expm1(gap - inside) / np.expm1(gap)
            chord = rest * self.up[first] + share * self.up[second]
        chord = np.where((gap > 0) & (gap < MOST_LOG), chord, self.up[first])
        # Before the first line the chord to δ = 1 at e^ε = 0.
        early = np.minimum(at - self.losses[0], 0.0)
        start = -np.expm1(early) + np.exp(early) * self.up[0]
        found = np.where(index < 0, start, np.where(index >= last, self.up[last], chord))
        result: Floats = np.minimum(found * (1 + 32 * EPS), 1.0)
        return result


def _cleared(levels: Floats) -> Floats:
    """Returns the levels within [0, 1]; those that could not be computed are 0."""
    return np.clip(np.nan_to_num(levels, nan=0.0, posinf=1.0), 0.0, 1.0)


def symmetric(width: float, heights: Floats) -> Power:
    """Returns the power function of a profile that holds for both orders of the tables; `heights`:
    its δ at the ε 0, width, 2·width, …."""
    keep = knots(len(heights) - 1)
    losses = keep.astype(np.float64) * width
    return symmetric_at(losses, np.append(heights[keep[:-1]], heights[-1]))


def symmetric_at(losses: Floats, heights: Floats) -> Power:
    """Returns the power function of a test (most hits at a rate of false alarms) by a privacy
    profile that holds whichever of the two tables is the first.

    `heights`: the δ of the profile at each ε of `losses`, which ascend from 0.
    """
    # The last height holds for all that is beyond, and so in the end for e^-ε of next to 0.
    losses = np.append(losses, losses[-1] + NATS)
    high = np.minimum(np.append(heights, heights[-1]), 1.0)
    low = (-np.expm1(-losses) + np.exp(-losses) * high) * (1 + 8 * EPS)
    every = np.concatenate([-losses[:0:-1], losses])
    up = np.concatenate([low[:0:-1], high])
    # A place times a width, or a sum: a few roundings less than elsewhere.
    return Power(every, up, up[::-1], _roundings(every) / 4)


class ProfileBound(Protocol):
    """An upper bound of the profile of a part that is used once."""

    @property
    def top(self) -> float:
        """Returns the ε from which on the bound falls no more."""

    def at(self, losses: Floats) -> Floats:
        """Returns δ at each ε ≥ 0 of `losses`, rounded up."""


@dataclass(frozen=True, slots=True, eq=False)
class GreatestBound:
    """The greatest of several bounds; where that is more than `alike`, a further bound of the same
    profile, the latter."""

    options: tuple[ProfileBound, ...]
    alike: Callable[[Floats], Floats] | None = None

    @property
    def top(self) -> float:
        return max(each.top for each in self.options)

    def at(self, losses: Floats) -> Floats:
        found: Floats = np.maximum.reduce([each.at(losses) for each in self.options])
        return found if self.alike is None else np.minimum(found, self.alike(losses))


@dataclass(frozen=True, slots=True, eq=False)
class LossBound:
    """The profile of a loss with these values, ascending or descending and none too small, and
    their chances under P; `infinite` is the chance of an infinite loss."""

    losses: Floats
    chances: Floats
    infinite: float

    @property
    def top(self) -> float:
        return float(self.losses.max(initial=0.0))

    def at(self, losses: Floats) -> Floats:
        """Returns δ at each ε of `losses`: a sum of positive terms, rounded up."""
        found = np.empty(len(losses))
        for i, epsilon in enumerate(losses):
            above = self.losses > epsilon
            terms = -np.expm1(epsilon - self.losses[above]) * self.chances[above]
            # Products that leave the range of doubles are less than the last term.
            found[i] = terms.sum() * (1 + 64 * EPS) + self.infinite + LEAST * bool(len(terms))
        return np.minimum(found * (1 + EPS), 1.0)


def least_epsilon(bound: ProfileBound, delta: float) -> float | None:
    """Returns the least double ε ≥ 0 at which a bound is at most `delta`, None where it is so at
    none.

    A bound falls, so that where it is at most δ is looked for by halving. Whatever is returned, the
    bound is at most δ there: roundings that make it rise a little cannot make the ε unsafe.
    """

    def is_enough(bits: int) -> bool:
        return bool(bound.at(np.array([bits]).view(np.float64))[0] <= delta)

    # Positive doubles are in the order of their bits. One beyond this is of no use.
    last = int(np.array([1e15]).view(np.int64)[0])
    found: int = bisect_left(range(last + 1), True, key=is_enough)
    return float(np.array([found]).view(np.float64)[0]) if found <= last else None


def law_above(bound: ProfileBound, step: Fraction, other: ProfileBound | None = None) -> Masses:
    """Returns a privacy loss distribution on multiples of `step` whose curve is at least a bound.

    `other`: the bound for the tables in the other order; else it is the same one, and the law is
    symmetric.
    """
    if other is None:
        return from_profile(step, *_profile(bound, step))
    return from_profiles(step, _profile(bound, step), _profile(other, step))


def _profile(bound: ProfileBound, step: Fraction) -> Profile:
    """Returns a bound at multiples of `step`, up to where it falls no more or where the law would
    have too many points: what holds at the last place holds beyond it."""
    end = min(bound.top / float(step), MAX_POINTS - 2.0)
    at = knots(max(math.ceil(end), 0) + 1)
    return bound.at(at.astype(np.float64) * float(step)), at


def knots(end: int) -> NDArray[np.int64]:
    """Returns whole numbers from 0 to `end`: all of the first ones, then ever fewer, so many for
    each factor e."""
    first = min(2 * FEW, end)
    many = math.ceil(FEW * math.log(max(end, 1) / max(first, 1))) + 2
    far = np.geomspace(max(first, 1), max(end, 1), many).astype(np.int64)
    return np.unique(np.concatenate([np.arange(first + 1), far[1:-1], [end]]))


def mixed(weights: Sequence[float], curves: Sequence[Power | None]) -> Power:
    """Returns the power function of Σ w_j·P_j against Q, from `curves`, those of P_j against Q for
    j ≥ 1; `weights`: the w_j, w_0 (that of Q itself) first.

    Each weight is known to a rounding. A curve is `None` where P_j counts as giving everything
    away.
    """
    known = list(zip(weights[1:], curves, strict=True))
    minute = sum(weight for weight, curve in known if curve is None)
    used = [(weight, curve) for weight, curve in known if curve is not None]
    slack = max(curve.slack for _, curve in used)
    made = []
    for of in (0, 2):
        levels = shared_levels([curve.levels[of] for _, curve in used])
        chosen = [(*pair, pair[1].at_level(levels, of)) for pair in used]
        grown = np.full(len(levels), math.log(weights[0]) if weights[0] > 0 else -math.inf)
        up, back = np.full(len(levels), minute), np.zeros(len(levels))
        for weight, curve, index in chosen:
            grown = np.logaddexp(grown, math.log(weight) + curve.losses[index])
            up = up + weight * curve.up[index]
        for weight, curve, index in chosen:
            # By Q ≤ δ'_j + e^-ε_j·P_j for as much of Q as counts w_j·e^ε_j in the sum.
            share = np.exp(np.minimum(math.log(weight) + curve.losses[index] - grown, 0.0))
            back = back + share * curve.back[index]
        slack = max(slack, *(_roundings(curve.losses[index]) for _, curve, index in chosen))
        rise = 1 + ROUNDING + 4 * slack
        size = np.abs(grown)
        most = min(1.0, float(size.max(initial=0.0, where=np.isfinite(size))))
        made.append((grown, up * rise, back * rise, most * (1 + size)))
    return _sorted(made, slack + _roundings(made[0][0]) + ROUNDING)


def path(first: Power, second: Power) -> Power:
    """Returns the power function of P against Q, from that of R against Q (`first`) and that of P
    against R (`second`)."""
    made = []
    for here, there in ((1, 0), (3, 2)):
        levels = shared_levels([first.levels[here], second.levels[there]])
        one, two = first.at_level(levels, here), second.at_level(levels, there)
        losses = first.losses[one] + second.losses[two]
        up = second.up[two] + _scaled(second.losses[two], first.up[one], second.slack)
        back = first.back[one] + _scaled(-first.losses[one], second.back[two], first.slack)
        # Sums are known to a share of what is added.
        made.append((losses, up, back, np.abs(first.losses[one]) + np.abs(second.losses[two])))
    # A sum has one rounding.
    return _sorted(made, first.slack + second.slack + _roundings(losses) / 16)


def _scaled(losses: Floats, values: Floats, slack: float) -> Floats:
    """Returns e^loss·value, rounded up, where the loss is known to `slack`."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        found = np.exp(losses) * values * (1 + 2 * slack + _roundings(losses) + 8 * EPS)
    result: Floats = np.where(values > 0, np.maximum(found, LEAST), 0.0)
    return result


def _roundings(losses: Floats) -> float:
    """Returns by how much finite losses of this size may be off after a few roundings."""
    finite = np.abs(losses[np.isfinite(losses)])
    return 16 * EPS * float(finite.max(initial=0.0))


def shared_levels(known: Sequence[Floats]) -> Floats:
    """Returns levels at which some of several curves bend, up to the middle, with both ends;
    `known`: the levels of each curve."""
    every: Floats = np.unique(np.concatenate([*known, [0.0, 0.5]]))
    every = every[(every <= 0.5) & ((every >= LEAST) | (every == 0))]
    if len(every) > FINE:
        every = every[np.unique(np.linspace(0, len(every) - 1, FINE).astype(np.int64))]
    return every


def _sorted(made: Sequence[tuple[Floats, Floats, Floats, Floats]], slack: float) -> Power:
    """Returns the power function made of lines in any order: their losses, `up` and `back`, and the
    size of the numbers of which a loss is made."""
    losses, up, back, size = (np.concatenate(each) for each in zip(*made, strict=True))
    order = np.argsort(losses, kind="stable")
    losses, up, back = losses[order], up[order], back[order]
    # What holds at a loss holds above it (and for the other order, below).
    up = np.minimum.accumulate(np.minimum(up * (1 + 8 * EPS), 1.0))
    back = np.minimum.accumulate(np.minimum(back * (1 + 8 * EPS), 1.0)[::-1])[::-1]
    # Where lines that are nearly one meet is not known.
    apart = PRODUCT_ROUNDING * size[order]
    keep = np.ones(len(losses), dtype=np.bool_)
    for _ in range(2):
        kept = np.flatnonzero(keep)
        keep[kept[1:][np.diff(losses[kept]) < apart[kept[1:]]]] = False
    kept = np.unique(np.concatenate([np.flatnonzero(keep), [len(losses) - 1]]))
    return Power(losses[kept], up[kept], back[kept], slack)
