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
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

from dpcompose.curves.backends.lattice.tuning import TOLERANCE
from dpcompose.curves.backends.renyi import renyi_curves as renyi
from dpcompose.curves.backends.renyi.renyi_tests import most_advantage, most_hits
from dpcompose.curves.backends.renyi.valley import valley
from dpcompose.curves.curve import Curve
from dpcompose.curves.rounding.doubles import LEAST, shorten
from dpcompose.curves.rounding.exact import MAX_EXPONENT, ONE, ZERO, exp_up, float_up


def _power_by_divergences(curve: Curve, rate: Fraction) -> Fraction:
    """Returns the highest hit rate at a `rate` of false alarms that the Rényi divergences of a
    curve allow; an outcome that gives everything away always hits, and is never a false alarm."""
    no_failure = curve.no_failure
    if rate >= no_failure:
        return ONE
    hits = most_hits(partial(renyi.curve, curve), float_up(rate / no_failure))
    return 1 - no_failure + no_failure * Fraction(hits)


def _advantage_by_divergences(curve: Curve) -> Fraction:
    """Returns by how much the hit rate can at most exceed the rate of false alarms, by the Rényi
    divergences of a curve."""
    no_failure = curve.no_failure
    return 1 - no_failure + no_failure * Fraction(most_advantage(partial(renyi.curve, curve)))


#: A certified δ at any ε ≥ 0: for both orders of the tables; or, of a directed one, for the table
#: with the person's data against the one without them (1), and for the reverse (-1).
Profile = Callable[[Fraction, int], Fraction]


@dataclass(slots=True)
class TradeOff:
    """The trade-off curve of tests (false alarms against hits), from certified privacy profiles.

    `profiles`: one for each change that may be the worst. `renyi_curves`: curves of the only change
    whose Rényi divergences bound the tests too. `corners`: ε's at which profiles are known to bend,
    where the best ε may lie exactly. `directed`: whether the profiles differ in the two orders.
    `one_order`: the same with directed profiles, where these give more. Answers are
    cached, and `_greatest` has the profiles that were the greatest at some ε.
    """

    profiles: tuple[Profile, ...]
    corners: tuple[Fraction, ...] = ()
    renyi_curves: tuple[Curve, ...] = ()
    directed: bool = False
    one_order: TradeOff | None = None
    _known: dict[tuple[int, Fraction, int], Fraction] = field(default_factory=dict, repr=False)
    _powers: dict[Fraction, Fraction] = field(default_factory=dict, repr=False)
    _greatest: list[int] = field(default_factory=list, repr=False)

    def delta(self, epsilon: Fraction, order: int = 1) -> Fraction:
        """Returns the least δ that is certified at `epsilon` ≥ 0; `order`: 1 or -1, the order of
        the tables."""
        return max(self._delta(each, epsilon, order) for each in range(len(self.profiles)))

    def greatest(self, epsilon: Fraction, order: int = 1) -> Fraction:
        """Returns the greatest δ at `epsilon` of those profiles that were the greatest at some
        other ε."""
        return max(self._delta(each, epsilon, order) for each in self._greatest)

    def _delta(self, which: int, epsilon: Fraction, order: int = 1) -> Fraction:
        """Returns the δ at `epsilon` of the profile number `which`."""
        key = which, epsilon, order if self.directed else 1
        if key not in self._known:
            found = min(ONE, self.profiles[which](epsilon, order))
            if not epsilon:
                found = min([found, *map(_advantage_by_divergences, self.renyi_curves)])
            self._known[key] = found
        return self._known[key]

    @property
    def advantage(self) -> Fraction:
        """Returns by how much the hit rate can at most exceed the rate of false alarms: δ(0), the
        total variation."""
        return self.delta(ZERO)

    def power(self, rate: Fraction) -> Fraction:
        """Returns the highest hit rate at a `rate` of false alarms, 0 < rate < 1: 1 - f(rate),
        rounded up; of a rate below LEAST, that of LEAST, which is no lower."""
        if rate not in self._powers:
            self._powers[rate] = self._power(max(rate, Fraction(LEAST)))
        return self._powers[rate]

    def success(self, baseline: Fraction) -> Fraction:
        """Returns an upper bound of the chance that an attack is right whose guess is right with
        chance `baseline` without the person's data: `power` at that rate, or less where the curve
        of one order of the tables shows it."""
        both = self.power(baseline)
        return both if self.one_order is None else min(both, self.one_order.power(baseline))

    def _power(self, rate: Fraction) -> Fraction:
        """Returns the highest hit rate at a `rate` of false alarms, by the best ε."""
        most = min([ONE, *(_power_by_divergences(each, rate) for each in self.renyi_curves)])
        while True:
            self._include(ZERO)
            y = self._best(rate)
            most = min(most, self.at(Fraction(abs(y)), rate, 1 if y >= 0 else -1))
            # If another profile is greater at that ε, the search starts again with it.
            if not self._include(Fraction(abs(y))):
                break
        corners = (self.at(each, rate, side) for each in self.corners for side in (1, -1))
        found = min((most, *corners))
        # The inputs have no more bits than these.
        return max(rate, min(ONE, rate + self.advantage, shorten(found, up=True)))

    def _best(self, rate: Fraction) -> float:
        """Returns about the ε that gives the best bound at a `rate` of false alarms: y = ε for one
        order of the tables, y = -ε for the other one; the bound is convex in e^y."""
        from statistics import NormalDist  # takes its time, and few ask

        known: dict[float, float] = {}
        false_alarms = float(rate)

        def bound(y: float) -> float:
            if y not in known:
                delta = float(self.greatest(Fraction(abs(y)), 1 if y >= 0 else -1))
                one, other = delta + math.exp(y) * false_alarms, 1 - delta - false_alarms
                known[y] = one if y >= 0 else 1 - math.exp(y) * other
            return known[y]

        # It is looked for in units of where it is for the Gaussian with the same advantage.
        normal, share = NormalDist(), min(float(self.advantage), 1 - 1e-12)
        mu = 2 * normal.inv_cdf((1 + share) / 2) if share > 0 else 0.0
        start = -mu * normal.inv_cdf(min(false_alarms, 1 - 1e-12)) - mu * mu / 2
        unit, highest = max(mu / 2, 1e-6), max(0.0, -math.log(rate)) + 1e-9
        start = min(max(start, -MAX_EXPONENT), highest)
        valley(lambda x: bound(x * unit), start / unit, -MAX_EXPONENT / unit, highest / unit)
        return min(known, key=known.__getitem__)

    def _include(self, epsilon: Fraction) -> bool:
        """Counts the profile that is greatest at `epsilon` among those that matter; returns whether
        it is a new one."""
        which = max(range(len(self.profiles)), key=lambda each: self._delta(each, epsilon))
        known = self.greatest(epsilon) if self._greatest else -ONE
        if self._delta(which, epsilon) <= known * (1 + Fraction(TOLERANCE)):
            return False
        self._greatest.append(which)
        return True

    def at(self, epsilon: Fraction, rate: Fraction, side: int) -> Fraction:
        """Returns the bound on the hit rate that δ at `epsilon` gives, for `side` 1 δ + e^ε·rate,
        for -1 the other bound.

        Rounded up; it can be above 1, and then says nothing.
        """
        delta = self.delta(epsilon, side)
        if epsilon > MAX_EXPONENT:
            return ONE
        if side > 0:
            return delta + exp_up(epsilon) * rate
        return 1 - (1 - delta - rate) / exp_up(epsilon)
