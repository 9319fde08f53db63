"""How well anybody can tell two neighbouring tables apart: the trade-off curve.

A test of "the person's data are in" against "they are not" has a rate α of false alarms and a rate
of hits. With f(α) the least rate of misses, the hits are at most 1 - f(α). A bound δ of the profile
at any ε ≥ 0, for both orders of the tables, says f(α) ≥ max(1 - δ - e^ε·α, e^-ε·(1 - δ - α))
(Wasserman and Zhou 2010; Dong, Roth and Su 2022). So the best ε may be looked for
in doubles: whichever is taken, what it says is certified, and is rounded up.

Where several changes are the worst at different ε, the greatest δ of all at each ε is that of the
lower convex hull of their curves (theory, section 11). It is the hull that holds where false alarms
and hits are counted over many people, or over the values of a secret, since these need not meet the
same change.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from dpcompose.curves.backends.renyi import renyi_curves as renyi
from dpcompose.curves.backends.renyi.renyi_tests import most_advantage, most_hits
from dpcompose.curves.curve import Curve
from dpcompose.curves.rounding.doubles import shorten
from dpcompose.curves.rounding.exact import MAX_EXPONENT, ONE, ZERO, exp_up, float_up

#: Smaller rates of false alarms are read as this one, which has more hits.
_LEAST_RATE = Fraction(1, 10**250)
#: The search ends where the chords show that no ε gives less by more than this share.
_NEAR = 1e-7
#: … or after so many ε.
_MOST_TRIED = 40
#: No logarithm of a likelihood ratio below this is looked at: f is then at most e to the power.
_LOWEST = -60.0
#: Profiles that differ by less than this share are not told apart.
_SAME = Fraction(1, 10**8)


class Divergences(NamedTuple):
    """The Rényi divergences of a change, beside its profile."""

    composition: Curve

    def power(self, rate: Fraction) -> Fraction:
        """Returns the most hits: all where everything is given away, which is never a false
        alarm."""
        no_failure = self.composition.no_failure
        if rate >= no_failure:
            return ONE
        return (
            1
            - no_failure
            + no_failure * Fraction(most_hits(self._curve, float_up(rate / no_failure)))
        )

    def advantage(self) -> Fraction:
        """Returns the most that hits are above false alarms."""
        no_failure = self.composition.no_failure
        return 1 - no_failure + no_failure * Fraction(most_advantage(self._curve))

    def _curve(self, order: float) -> float:
        return renyi.curve(self.composition, order)


#: A certified δ at any ε ≥ 0: for both orders of the tables; or, of a directed one, for the table
#: with the person's data against the one without them (1), and for the reverse (-1).
Profile = Callable[[Fraction, int], Fraction]


@dataclass(slots=True)
class TradeOff:
    """The curve by certified profiles.

    `profiles`: one for each change that may be the worst. `others`: what is known of the only
    change besides. `corners`: ε's at which profiles are known to bend, where the best ε may lie
    exactly. `directed`: whether the profiles differ in the two orders. `one_order`: the same with
    directed profiles, where these say more. What was asked for is kept, and which of the profiles
    were the greatest anywhere.
    """

    profiles: tuple[Profile, ...]
    corners: tuple[Fraction, ...] = ()
    others: tuple[Divergences, ...] = ()
    directed: bool = False
    one_order: TradeOff | None = None
    _known: dict[tuple[int, Fraction, int], Fraction] = field(default_factory=dict, repr=False)
    _powers: dict[Fraction, Fraction] = field(default_factory=dict, repr=False)
    _greatest: list[int] = field(default_factory=list, repr=False)

    def delta(self, epsilon: Fraction, order: int = 1) -> Fraction:
        """Returns the least δ that is certified at `epsilon` ≥ 0."""
        return max(self._delta(each, epsilon, order) for each in range(len(self.profiles)))

    def greatest(self, epsilon: Fraction, order: int = 1) -> Fraction:
        """Returns the greatest δ at `epsilon` of the profiles that were the greatest at some other
        ε."""
        return max(self._delta(each, epsilon, order) for each in self._greatest)

    def _delta(self, which: int, epsilon: Fraction, order: int = 1) -> Fraction:
        key = which, epsilon, order if self.directed else 1
        if key not in self._known:
            found = min(ONE, self.profiles[which](epsilon, order))
            if not epsilon:
                found = min([found, *(each.advantage() for each in self.others)])
            self._known[key] = found
        return self._known[key]

    @property
    def advantage(self) -> Fraction:
        """Returns the most that hits can be above false alarms: δ(0), the total variation."""
        return self.delta(ZERO)

    def power(self, rate: Fraction) -> Fraction:
        """Returns the most hits at a `rate` of false alarms, 0 < rate < 1: 1 - f(rate), rounded
        up."""
        if rate not in self._powers:
            self._powers[rate] = self._power(max(rate, _LEAST_RATE))
        return self._powers[rate]

    def success(self, baseline: Fraction) -> Fraction:
        """Returns the most hits where the guess is right of the table without the person's data
        with chance `baseline`: as `power`, or less where the orders of the tables differ."""
        both = self.power(baseline)
        return both if self.one_order is None else min(both, self.one_order.power(baseline))

    def _power(self, rate: Fraction) -> Fraction:
        most = min([ONE, *(each.power(rate) for each in self.others)])
        while True:
            self._include(ZERO)
            y = _BestEpsilon(self, rate).search()
            most = min(most, self.at(Fraction(abs(y)), rate, 1 if y >= 0 else -1))
            # Where another profile is greater at the ε that was found, it is looked at as well.
            if not self._include(Fraction(abs(y))):
                break
        corners = (self.at(each, rate, side) for each in self.corners for side in (1, -1))
        found = min((most, *corners))
        # So many bits are as good as what they are computed from.
        return max(rate, min(ONE, rate + self.advantage, shorten(found, up=True)))

    def _include(self, epsilon: Fraction) -> bool:
        """Count the greatest profile at `epsilon` among those that matter; whether it is new."""
        which = max(range(len(self.profiles)), key=lambda each: self._delta(each, epsilon))
        known = self.greatest(epsilon) if self._greatest else -ONE
        if self._delta(which, epsilon) <= known * (1 + _SAME):
            return False
        self._greatest.append(which)
        return True

    def at(self, epsilon: Fraction, rate: Fraction, side: int) -> Fraction:
        """Returns the bound on the hits that δ at `epsilon` gives; side 1: δ + e^ε·rate, side -1:
        the other bound.

        Rounded up; it can be above 1, and then says nothing.
        """
        delta = self.delta(epsilon, side)
        if epsilon > MAX_EXPONENT:
            return ONE
        if side > 0:
            return delta + exp_up(epsilon) * rate
        return 1 - (1 - delta - rate) / exp_up(epsilon)


@dataclass(slots=True)
class _BestEpsilon:
    """Looks for the ε that says most at a rate of false alarms.

    With y = ε for one order of the tables and -ε for the other one, the bound is convex in e^y.
    `tried`: (y, about the bound) in the order of y.
    """

    curve: TradeOff
    rate: Fraction
    tried: list[tuple[float, float]] = field(default_factory=list)
    seen: set[float] = field(default_factory=set)
    highest: float = 0.0

    def search(self) -> float:
        """Returns the best y of all that were tried."""
        self.highest = max(0.0, -math.log(self.rate)) + 1e-9
        self._look()
        return self.tried[self._best()][0]

    def _try(self, y: float) -> bool:
        """Whether there was anything new at `y`, which is then known."""
        y = min(max(y, _LOWEST), self.highest)
        if y in self.seen or len(self.seen) >= _MOST_TRIED:
            return False
        self.seen.add(y)
        order = 1 if y >= 0 else -1
        delta, rate = float(self.curve.greatest(Fraction(abs(y)), order)), float(self.rate)
        bound = delta + math.exp(y) * rate if y >= 0 else 1 - math.exp(y) * (1 - delta - rate)
        insort(self.tried, (y, bound))
        return True

    def _look(self) -> None:
        """Brackets the best ε, starting where it is for a Gaussian, and then closes in on it."""
        from statistics import NormalDist  # takes its time, and few ask

        normal = NormalDist()
        share = min(float(self.curve.advantage), 1 - 1e-12)
        # The μ of the Gaussian with the same advantage.
        spread = 2 * normal.inv_cdf((1 + share) / 2) if share > 0 else 0.0
        rate = min(float(self.rate), 1 - 1e-12)
        start = spread * -normal.inv_cdf(rate) - spread * spread / 2
        step = max(spread / 2, 1e-6)
        self._try(0.0)
        for corner in self.curve.corners:
            if corner < self.highest:
                self._try(float(corner))
                self._try(-float(corner))
        self._try(start)
        while (end := self._open_end()) and self._try(self.tried[self._best()][0] + end * step):
            step *= 2
        turn = 0
        while len(self.seen) < _MOST_TRIED:
            least, by_chords = self._chords()
            best = self.tried[self._best()][1]
            if best - least <= _NEAR * best:
                return
            turn += 1
            by_parabola = list(self._by_parabola(best)) if turn % 2 else []
            new = sum(self._try(y) for y in by_parabola)
            if not new and not self._try(by_chords):
                return

    def _best(self) -> int:
        return min(range(len(self.tried)), key=lambda place: self.tried[place][1])

    def _open_end(self) -> int:
        """Returns the side on which nothing above the best bound was tried: -1, 1, or 0 for
        none."""
        place = self._best()
        return -1 if place == 0 else int(place == len(self.tried) - 1)

    def _chords(self) -> tuple[float, float]:
        """Returns how low the bound can be by convexity, next to the best y, and where to look
        for it."""
        place = self._best()
        origin = self.tried[place][0]
        near = self.tried[max(0, place - 2) : place + 3]
        points = [(math.exp(min(y - origin, 600.0)), value) for y, value in near]
        found = []
        for left in (min(place, 2) - 1, min(place, 2)):
            if left < 0 or left + 1 >= len(points):
                continue
            (a, at_a), (b, at_b) = points[left : left + 2]
            before = _slope(*points[left - 1 : left + 1]) if left else None
            after = _slope(*points[left + 1 : left + 3]) if left + 2 < len(points) else None
            if before is not None and after is not None and before < after:
                x = min(max((at_b - at_a + before * a - after * b) / (before - after), a), b)
                found.append((min(at_a + before * (x - a), at_b), origin + math.log(x)))
                continue
            # Only one line is known, which is lowest at its end.
            middle = (near[left][0] + near[left + 1][0]) / 2
            if before is not None:
                found.append((at_a + before * (b - a), middle))
            elif after is not None:
                found.append((at_b + after * (a - b), middle))
        return min(found, default=(self.tried[place][1], origin))

    def _by_parabola(self, best: float) -> Iterable[float]:
        """Returns the lowest point of the parabola through the best y and its neighbours.

        Where that is no lower, what is so near on both sides that the chords show it.
        """
        place = self._best()
        if not 0 < place < len(self.tried) - 1:
            return
        (a, at_a), (b, at_b), (c, at_c) = self.tried[place - 1 : place + 2]
        left, right = (at_b - at_a) / (b - a), (at_c - at_b) / (c - b)
        bend = (right - left) / (c - a)
        if bend <= 0:
            return
        slope = left + bend * (b - a)
        if slope * slope / (4 * bend) > _NEAR * best / 4:
            yield b - slope / (2 * bend)
            return
        near = math.sqrt(_NEAR * best / bend) / 2
        for y in (b - near, b + near):
            if a + near / 4 < y < c - near / 4:
                yield y


def _slope(one: tuple[float, float], other: tuple[float, float]) -> float:
    return (other[1] - one[1]) / (other[0] - one[0]) if other[0] > one[0] else 0.0
