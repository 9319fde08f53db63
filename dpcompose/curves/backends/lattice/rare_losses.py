"""Rare large losses beside very many small ones: what is read through samples of tiny rates.

Behind a sample of rate q nearly all losses are about q, and a few, each of a tiny chance, may be
of any size. No even grid holds both. So losses are cut off where what lies beyond has next to no
chance beside δ in all draws together (it counts as infinite), and the rest is split by size:

* Let N hold the losses of one draw up to a limit, of the chances p under P and p·e^(-l) under Q,
  and F the others. Draw one loss by the chances in N divided by s ≤ Σ_N p, and by itself a second
  one: none, with s, or one of F. Whoever sees both sees the draw too: the second loss where there
  is one, else the first one. So the two together lose at least as much as the draw, if each loss
  of F grows by ln(Σ_N p·e^(-l)/Σ_N p), which makes up for what the first one tells.

Small losses are composed on a fine grid, in two stages if they are many, the second of which has a
wider one; large ones, none of which most draws have, on a wider grid still. The profile is then
δ(ε) = Σ_x P(the large ones come to x)·δ_small(ε-x): no grid needs to hold both.

How fine each grid is follows from what rounding adds to the variance of the tilted loss: at most
step²/4 for each loss l, and at most step·|l|, of which an ε grows by (1+θ)/2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dpcompose.curves.backends.lattice.components import (
    Ensemble,
    atoms_of,
    moments,
    tilt_for_delta,
    tilt_for_epsilon,
)
from dpcompose.curves.backends.lattice.engine import LatticeBound, dyadic
from dpcompose.curves.backends.lattice.lattice import composed, good_length
from dpcompose.curves.backends.lattice.law import LogDelta, epsilon_of
from dpcompose.curves.backends.lattice.masses import Floats, Losses, Masses, scatter
from dpcompose.curves.backends.lattice.normal import dot
from dpcompose.curves.backends.lattice.tuning import FEW, FINE, MOST_LOG, NATS, TOLERANCE
from dpcompose.curves.rounding.doubles import EPS, LEAST, SUM_ROUNDING, UNIT

#: This share of δ may be lost by cutting losses off.
_CUT = 1e-9
#: What rounding to the grids may add to an ε, relatively, at first and where that takes too long.
_SHARES = (1e2 * TOLERANCE, 1e3 * TOLERANCE, 1e4 * TOLERANCE)
#: No grid has more points than about this.
_POINTS = 1 << 18
#: An ε is asked for so many times, each time on grids for the one found before, which are finer
#: once the two differ by no more than this share.
_TRIES, _CLOSE = 8, 0.2
#: Where δ' falls by so much more steeply than the tilt, it is made up of losses far from those of
#: the tilted law. Small losses are then no larger than so many times the scale on which it falls,
#: and sums of large ones are known apart up to so many times ε.
_APART, _NEAR, _BEYOND = 1.5, 8.0, 1.25
#: Tilts at which Chernoff's bound of small losses is tried, each twice the one before.
_LADDER = 24
#: Losses of more than ε by this are large: an error of a transform counts beside all of its law,
#: and so losses that decide about ε stand apart from what nearly all draws lose.
_LARGE = 8
#: And this share of all losses may be large.
_FEW_LARGE = 1e-4
#: A window holds so many standard deviations of the tilted loss.
_WIDTH = 24.0


class _LargeSums(NamedTuple):
    """What large losses come to, with the chances, and the chance of more than that."""

    places: Floats
    chances: Floats
    beyond: float


class Other(NamedTuple):
    """What is composed with draws: its law on a grid of any step, about its losses, and how often
    it occurs."""

    on_grid: Callable[[Fraction], Masses]
    rough: Losses
    times: int


@dataclass(frozen=True, slots=True, eq=False)
class ProfileBySize:
    """The profile of the small losses at their own grid points (`small`, `delta`), for which large
    losses come to `large` with the chances `p`; `infinite`: the chance of an infinite loss."""

    small: Masses
    delta: Floats
    large: Floats
    p: Floats
    infinite: float

    def log_delta(self, epsilon: float) -> LogDelta:
        """Returns ln δ at ε, certified from above, and its slope."""
        width, first = float(self.small.step), self.small.first * float(self.small.step)
        x = epsilon - self.large
        x -= 8 * EPS * (abs(epsilon) + np.abs(self.large) + abs(first) + width * len(self.delta))
        heights, falls = self._heights(x - first, width)
        total = float((heights * self.p).sum()) * (1 + SUM_ROUNDING) + self.infinite
        slope = float((falls * self.p).sum())
        if not total > 0:
            return LogDelta(-math.inf, -math.inf, math.inf)
        log = math.log(total)
        return LogDelta(min(log + 4 * EPS * (1 - log), 0.0), -math.inf, slope / total)

    @property
    def size(self) -> int:
        """Returns how many grid points there are."""
        return len(self.delta) + len(self.large)

    def steepness(self, epsilon: float) -> float:
        """Returns about how steeply the slope of δ falls at ε."""
        here, apart = self.log_delta(epsilon), 8 * float(self.small.step)
        there = self.log_delta(epsilon + apart)
        if not (0 < here.slope < math.inf and 0 < there.slope < math.inf):
            return 0.0
        fall = here.log_upper - there.log_upper + math.log(here.slope) - math.log(there.slope)
        return max(fall / apart, 0.0)

    def _heights(self, x: Floats, width: float) -> tuple[Floats, Floats]:
        """Returns the finite part of δ of the small losses at `x`, counted from their first grid
        point, and how it falls there.

        It is linear in e^ε between grid points, and below the first one, where it would be all of
        P less e^ε times all of Q.
        """
        delta, last = self.delta, len(self.delta) - 1
        whole = float(self.small.p.sum()) * (1 + SUM_ROUNDING)
        place = np.clip(np.floor(x / width), 0, last)
        index = place.astype(np.int64)
        above = delta[np.minimum(index + 1, last)]
        drop = (delta[index] - above) / math.expm1(width)
        away = np.minimum(np.maximum(x - place * width, 0.0), width)
        inside = np.maximum(delta[index] - drop * np.expm1(away), above)
        below = whole - np.exp(np.minimum(x, 0.0)) * max(whole - float(delta[0]), 0.0)
        heights = np.where(x < 0, below + 8 * EPS, inside) * (1 + 8 * EPS)
        falls = np.where(x < 0, whole + 8 * EPS - below, drop * np.exp(away))
        return np.where(place >= last, 0.0, heights), np.where(place >= last, 0.0, falls)


class BySize:
    """A composition of draws, each with its count, and all else, for one order of the tables."""

    def __init__(self, draws: Sequence[tuple[Losses, int]], others: Sequence[Other]) -> None:
        self.draws, self.others = draws, others

    def epsilon(self, log_delta: float, most: float, enough: float) -> LatticeBound | None:
        """Returns the least ε at ln δ = `log_delta`, or any that is not above `enough`; None if
        none is found. `most`: an ε that is known to hold."""
        cut = self._cut(log_delta)
        here = _ensemble(cut, self.others)
        best: LatticeBound | None = None
        theta = steep = tilt_for_delta(here, log_delta)
        at = moments(here, theta).mean
        shares = list(_SHARES)
        for _ in range(_TRIES):
            found = self._profile(cut, (theta, steep), at, shares[-1])
            if found is None:
                break
            start = min(max(at, 0.0), most)
            epsilon = epsilon_of(found.log_delta, log_delta, start, most, at + 8 / (theta + LEAST))
            if epsilon is None:
                break
            if best is None or epsilon < best.upper:
                best = LatticeBound(epsilon, None, found.small.step)
            # Grids are good for ε near `at` alone.
            if abs(at - epsilon) < _CLOSE * epsilon:
                shares.pop()
            if epsilon <= max(enough, 0.0) or not shares or found.size > _POINTS // 4:
                break
            at = epsilon
            theta, steep = tilt_for_epsilon(here, at), found.steepness(at)
        return best

    def log_delta(self, epsilon: float, enough: float) -> LatticeBound | None:
        """Returns ln of the least δ at `epsilon` ≥ 0, or any that is not above `enough`; None if
        none is found."""
        best: LatticeBound | None = None
        log_delta, steep = self._rough_log_delta(epsilon), 0.0
        every = [*self._cut(log_delta), *((other.rough, other.times) for other in self.others)]
        if epsilon > sum(float(law.losses.max()) * n for law, n in every) * (1 + SUM_ROUNDING):
            infinite = sum(law.infinite * n for law, n in every) * (1 + SUM_ROUNDING)
            return LatticeBound(math.log(infinite) if infinite else -math.inf, None, None)
        for share in reversed(_SHARES):
            cut = self._cut(log_delta)
            theta = tilt_for_epsilon(_ensemble(cut, self.others), epsilon)
            found = self._profile(cut, (theta, steep), epsilon, share)
            if found is None:
                break
            value = found.log_delta(math.nextafter(epsilon, -math.inf)).log_upper
            if best is None or value < best.upper:
                best = LatticeBound(value, None, found.small.step)
            if value <= enough or found.size > _POINTS // 4:
                break
            log_delta, steep = min(log_delta, value), found.steepness(epsilon)
        return best

    def _rough_log_delta(self, epsilon: float) -> float:
        """Returns about ln δ at ε, rather less: by one large loss, or by a normal law of the small
        ones."""
        rare = square = LEAST
        for law, count in (*self.draws, *((other.rough, other.times) for other in self.others)):
            rare -= count * float(np.dot(law.p, np.expm1(np.minimum(epsilon - law.losses, 0.0))))
            square += count * float(np.dot(law.p, np.minimum(law.losses, epsilon + LEAST) ** 2))
        return max(math.log(min(rare, 1.0)), -(epsilon**2) / (2 * square) - math.log(FEW))

    def _cut(self, log_delta: float) -> list[tuple[Losses, int]]:
        """Returns the draws without the losses beyond which next to nothing of δ is, in all draws;
        these count as infinite."""
        share = math.exp(max(log_delta, -MOST_LOG)) * _CUT / len(self.draws)
        return [(_without_tail(law, share / count), count) for law, count in self.draws]

    def _profile(
        self, cut: Sequence[tuple[Losses, int]], tilts: tuple[float, float], at: float, share: float
    ) -> ProfileBySize | None:
        """Returns the profile with the grids that are good for ε near `at`, of which an ε grows by
        about `share`; None where a grid would have too many points.

        `tilts`: that of the losses that make up δ, and how steeply δ' falls at `at`, which is more
        where these are small ones or a large one.
        """
        theta, steep = tilts[0], max(tilts)
        wanted = sorted({theta, steep})
        here = _ensemble(cut, self.others)
        deviation = math.sqrt(moments(here, theta).variance)
        if not 0 < deviation < math.inf:
            return None
        # Half of (1+θ) times the variance that is added, by three grids.
        budget = 2 * share * max(at, deviation / FEW) / (1 + steep) / 3
        cut = [(_raised(law, theta, budget / count), count) for law, count in cut]
        sizes = _Sizes(cut, theta)
        limit = sizes.limit(budget, deviation, max(at, deviation / FEW) / _LARGE)
        if steep > _APART * theta:
            limit = min(limit, max(_NEAR / steep, sizes.usual))
        counts = [count for _, count in cut]
        small, large = zip(*(_split(law, limit) for law, _ in cut), strict=True)
        near = moments(_ensemble(list(zip(small, counts, strict=True)), self.others), steep)
        deviation = math.sqrt(near.variance)

        step = sizes.step(budget, limit, small=True)
        stages = [max(1, math.isqrt(count)) if count > FEW else 1 for count in counts]
        wide = math.sqrt(4 * budget / self._pieces(counts, stages))
        if all(stage == 1 for stage in stages):
            step = wide = min(step, wide)
        points = (_WIDTH * deviation + limit) / wide
        for count, stage in zip(counts, stages, strict=True):
            if stage > 1:
                points += (_WIDTH * deviation * math.sqrt(stage / count) + limit) / step
        if not points < _POINTS:
            return None
        fine, coarse = _grid(step), _grid(wide)
        laws = []
        for losses, count, stage in zip(small, counts, stages, strict=True):
            laws += _in_stages(losses, count, stage, fine, coarse, wanted)
        laws += [(other.on_grid(coarse), other.times) for other in self.others]
        sums = _without_noise(composed(laws, wanted), laws, steep)
        infinite = sums.infinite
        places, chances = np.zeros(1), np.ones(1)
        # A law without large losses is the loss 0 alone.
        rare = [(law, count) for law, count in zip(large, counts, strict=True) if len(law.p) > 1]
        if rare:
            grid = _grid(sizes.step(budget, limit, small=False))
            whole = _sums_of(rare, grid, theta)
            if whole is None:
                return None
            places, chances, more = whole
            infinite += more
            # Large losses that come to less than ε are all less than that.
            end = _BEYOND * at
            few = [(_up_to(losses, end + float(grid)), count) for losses, count in rare]
            if steep > _APART * theta and all(len(losses.p) > 1 for losses, _ in few):
                below = _sums_of(few, grid, steep)
                if below is not None:
                    first, least = places < end, below.places < end
                    places = np.append(below.places[least], places[~first])
                    chances = np.append(below.chances[least], chances[~first])
        infinite += sum(n * losses.infinite for losses, n in zip(large, counts, strict=True))
        table = _table(sums)
        if table is None or not infinite < 1:
            return None
        used = chances > 0
        return ProfileBySize(
            sums, table, places[used], chances[used], infinite * (1 + SUM_ROUNDING)
        )

    def _pieces(self, counts: Sequence[int], stages: Sequence[int]) -> float:
        """Returns how many losses are put on the wider grid of small losses."""
        many = sum(count / stage + 1 for count, stage in zip(counts, stages, strict=True))
        return float(many + sum(other.times for other in self.others))


class _Sizes:
    """The sizes of the losses of all draws, ascending, with their tilted chances times how often
    each draw occurs, for choosing grids."""

    def __init__(self, cut: Sequence[tuple[Losses, int]], theta: float) -> None:
        sizes, weights = [], []
        for law, count in cut:
            with np.errstate(divide="ignore"):
                logs = np.log(law.p) + theta * law.losses
            tilted = np.exp(logs - logs.max())
            sizes.append(np.abs(law.losses))
            weights.append(tilted * (count / tilted.sum()))
        order = np.argsort(np.concatenate(sizes))
        self.size, weight = np.concatenate(sizes)[order], np.concatenate(weights)[order]
        self.weight = np.append(0.0, np.cumsum(weight))
        self.moved = np.append(0.0, np.cumsum(weight * self.size))
        # A large loss counts with a small one beside it, so that few may be large.
        plain = np.concatenate([law.p * count for law, count in cut])[order]
        most = int(np.searchsorted(np.cumsum(plain), plain.sum() * (1 - _FEW_LARGE)))
        self.usual = float(self.size[min(most, len(self.size) - 1)])

    def step(self, budget: float, limit: float, *, small: bool) -> float:
        """Returns the widest step of a grid on which losses up to `limit`, or those above it, add
        no more than `budget` to the variance."""
        middle, end = int(np.searchsorted(self.size, limit, side="right")), len(self.size)
        low, high = (0, middle) if small else (middle, end)

        def added(step: float) -> float:
            part = min(max(int(np.searchsorted(self.size, step / 4)), low), high)
            by_size = step * float(self.moved[part] - self.moved[low])
            return by_size + step * step / 4 * float(self.weight[high] - self.weight[part])

        # No wider than what it holds.
        broad = float(self.size[high - 1]) if high > low else 0.0
        narrow, broad = LEAST, broad or max(limit, LEAST)
        if added(broad) <= budget:
            return broad
        for _ in range(200):
            step = math.sqrt(narrow * broad)
            narrow, broad = (step, broad) if added(step) <= budget else (narrow, step)
            if broad < narrow * 1.01:
                break
        return narrow

    def limit(self, budget: float, deviation: float, top: float) -> float:
        """Returns up to which size, `top` or less, losses are small, for the fewest points of all
        grids."""
        most = float(self.size[-1])
        best = (math.inf, most)
        start = min(most, max(top, self.usual))
        for limit in (max(start / 2**n, self.usual) for n in range(64)):
            fine = self.step(budget, limit, small=True)
            points = limit / fine
            if limit < most:
                coarse = self.step(budget, limit, small=False)
                points += (most + deviation) / coarse + FINE
            best = min(best, (points, limit))
            if limit <= self.usual or limit < fine:
                break
        return best[1]


def _grid(width: float) -> Fraction:
    """Returns a step of few bits that is at most `width`."""
    power = dyadic(Fraction(width)) / 64
    return power * int(Fraction(width) / power)


def _ensemble(cut: Sequence[tuple[Losses, int]], others: Sequence[Other]) -> Ensemble:
    """Returns the losses of all draws and of all else, for choosing tilts alone."""
    every = [*cut, *((other.rough, other.times) for other in others)]
    none = np.zeros(0)
    atoms = atoms_of([(law.losses, law.p, count) for law, count in every])
    return Ensemble(Fraction(1), none.astype(np.int64), (), none, none, (), 0.0, atoms)


def _without_tail(law: Losses, most: float) -> Losses:
    """Returns a law whose greatest losses, of a chance of at most `most` together, are infinite."""
    order = np.argsort(law.losses)
    losses, p = law.losses[order], law.p[order]
    beyond = np.cumsum(p[::-1])[::-1] * (1 + len(p) * EPS)
    kept = max(int(np.searchsorted(-beyond, -most)), 1)
    rest = float(beyond[kept]) if kept < len(p) else 0.0
    some = np.flatnonzero(p[:kept])
    return Losses(losses[some], p[some], law.infinite + rest)


def _raised(law: Losses, theta: float, most: float) -> Losses:
    """Returns a law whose least losses are raised to a common one, by which the mean of the tilted
    loss grows by no more than `most`."""
    logs = np.log(law.p) + theta * law.losses
    tilted = np.exp(logs - logs.max())
    tilted /= tilted.sum()
    # What is added to the mean where all before a place are raised to the loss there.
    before, moved = np.cumsum(tilted), np.cumsum(tilted * law.losses)
    added = law.losses * before - moved
    place = max(int(np.searchsorted(added, most)) - 1, 0)
    return law._replace(losses=np.maximum(law.losses, law.losses[place]))


def _split(law: Losses, limit: float) -> tuple[Losses, Losses]:
    """Returns the laws of the small losses of a draw and of the large ones, or none (the loss 0);
    see the module's text. The infinite loss is one of the large ones."""
    small = law.losses <= limit
    if small.all():
        return law._replace(infinite=0.0), Losses(np.zeros(1), np.ones(1), law.infinite)
    losses, p = law.losses[small], law.p[small]
    whole = math.fsum(p.tolist())
    other = math.fsum((p * np.exp(-losses)).tolist())
    grown = max(math.log(other / whole), 0.0) + 16 * EPS
    none = whole * (1 - 4 * EPS)
    near = Losses(losses, p / none * (1 + 4 * EPS), 0.0)
    return near, Losses(
        np.append(0.0, law.losses[~small] + grown), np.append(whole, law.p[~small]), law.infinite
    )


def _in_stages(
    law: Losses, count: int, stage: int, fine: Fraction, coarse: Fraction, tilts: Sequence[float]
) -> list[tuple[Masses, int]]:
    """Returns laws on the coarse grid that make `count` small losses: `stage` of them at a time are
    composed on the fine one, and the rest apart."""
    if stage == 1:
        return [(scatter(law.losses, law.p, coarse), count)]
    one = scatter(law.losses, law.p, fine)
    times, rest = divmod(count, stage)
    found = []
    for each, many in ((stage, times), (rest, 1)):
        if each:
            some = composed([(one, each)], tilts)
            found.append((scatter(some.losses(), some.p, coarse, some.infinite), many))
    return found


def _without_noise(law: Masses, laws: Sequence[tuple[Masses, int]], theta: float) -> Masses:
    """Returns the composition of `laws`, which is `law`, with no chance above Chernoff's bound by
    tilts from `theta` on: errors of a transform are above it far beyond the bulk."""
    losses = law.losses()
    bound = np.zeros(len(losses))
    for n in range(_LADDER):
        tilt = max(theta, 1 / max(float(losses[-1]), LEAST)) * 2.0**n
        total = size = 0.0
        for each, count in laws:
            used = np.flatnonzero(each.p)
            logs = np.log(each.p[used]) + tilt * each.losses()[used]
            most = float(logs.max())
            total += count * (most + math.log(float(np.exp(logs - most).sum())))
            size += count * (1 + abs(most) + tilt * float(np.abs(each.ends()).max()))
        bound = np.minimum(bound, total - tilt * losses + 64 * EPS * size)
    return Masses(law.step, law.first, np.minimum(law.p, np.exp(bound)), law.infinite)


def _up_to(law: Losses, end: float) -> Losses:
    """Returns the losses up to `end` alone."""
    few = law.losses <= end
    return Losses(law.losses[few], law.p[few], 0.0)


def _sums_of(laws: Sequence[tuple[Losses, int]], step: Fraction, theta: float) -> _LargeSums | None:
    """Returns what large losses, of which each draw may have one, come to on a grid, precise at the
    tilt `theta`; None where they are not rare, or reach too far. The first loss of each law is 0,
    that of a draw without a large one.

    Relative to no large loss at all, a draw has the transform 1 + w(k), with w that of the large
    losses, and all draws Π(1+w)^n = 1 + the transform of at least one large loss. Errors are in
    proportion to w, of which most is left where w is next to nothing.
    """
    width = float(step)
    one = [(scatter(law.losses[1:], law.p[1:], step), law, count) for law, count in laws]
    one = [(masses, law, count) for masses, law, count in one if masses.first >= 0]
    if len(one) < len(laws):
        return None

    def log_mass(tilt: float) -> float:
        """Returns ln of E e^(tilt·x) relative to no large loss."""
        total = 0.0
        for masses, law, count in one:
            logs = np.log(np.maximum(masses.p, 1e-300)) + tilt * masses.losses()
            if not logs.max() < MOST_LOG:
                return math.inf
            total += count * math.log1p(float(np.exp(logs).sum()) / float(law.p[0]))
        return total

    least = log_mass(theta)
    greatest = max(masses.ends()[1] for masses, _, _ in one)
    shifts = [2.0**n / greatest for n in range(-3, 12)]
    end = min((log_mass(theta + s) - least + NATS) / s for s in shifts)
    many = math.ceil(max(end, greatest) / width) + 2 if end < math.inf else math.inf
    if not many < _POINTS:
        return None
    points = good_length(int(many))
    logs, turns = np.zeros(points // 2 + 1), np.zeros(points // 2 + 1)
    noise = none = 0.0
    off = 16 * UNIT * math.log2(points)
    for masses, law, count in one:
        tilted = np.zeros(points)
        places = masses.first + np.arange(len(masses.p))
        tilted[places] = masses.p * np.exp(theta * width * places) / float(law.p[0])
        if not tilted.sum() < 0.5:
            return None
        w = np.fft.rfft(tilted)
        logs += count * np.log1p(2 * w.real + w.real**2 + w.imag**2) / 2
        turns += count * np.arctan2(w.imag, 1 + w.real)
        # ln(1+w) moves by at most twice as much as w.
        noise += 2 * count * (off * math.sqrt(dot(tilted, tilted)) + 8 * UNIT * tilted.sum())
        none += count * math.log(float(law.p[0]))
    size = math.exp(-least)
    turned = np.exp(logs - least) * (np.cos(turns) + 1j * np.sin(turns)) - size
    near = np.abs(logs) + np.abs(turns) < 0.5
    rise, half = np.expm1(logs[near]), np.sin(turns[near] / 2)
    small = rise - 2 * (1 + rise) * half * half + 1j * (1 + rise) * np.sin(turns[near])
    turned[near] = size * small
    noise += 16 * UNIT * float((np.abs(turned) * (1 + np.abs(logs) + np.abs(turns))).max())
    chances = np.maximum(np.fft.irfft(turned, points), 0.0)
    noise += off * (math.sqrt(dot(chances, chances)) + noise)
    x: Floats = width * np.arange(points, dtype=np.float64)
    error = sum(count for _, _, count in one) * 4 * EPS + 8 * EPS * (abs(least) + theta * x + 4)
    lift = np.exp(none + least - theta * x + error)
    p: Floats = np.minimum((chances + noise) * lift, 1.0)
    p[0] += math.exp(none) * (1 + float(error[0]))
    beyond = math.exp(min(1 - NATS + none + least - theta * float(x[-1]), 0.0))
    return _LargeSums(x, p, beyond)


def _table(law: Masses) -> Floats | None:
    """Returns the finite part of δ at each loss of a law; None where the losses reach too far.

    With A the chance of a loss above it, δ(l) = Σ_{j≥l} (1-e^(-step))·A(j)·e^(l-j), a sum of
    positive terms.
    """
    width, many = float(law.step), len(law.p)
    if not width * many < MOST_LOG:
        return None
    above = np.append(np.cumsum(law.p[::-1])[::-1][1:], 0.0)
    x = width * np.arange(many)
    terms = -math.expm1(-width) * above * np.exp(-x)
    table: Floats = np.cumsum(terms[::-1])[::-1] * np.exp(x)
    return table * (1 + (4 * many + 2 * MOST_LOG) * EPS)
