"""Local reports that are shuffled: each row randomizes its own report, and the order is hidden."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from dpcompose import curves
from dpcompose.core.mechanisms.family import FamilyForm, drawn_by, family_theorem
from dpcompose.core.notions.concrete_mechanism import Family
from dpcompose.core.notions.guarantee import Guarantee, guaranteed
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Assumption
from dpcompose.curves import Curve, Grouped, Points, curve_of
from dpcompose.curves.families import OUTSIDE, profile_of_clones
from dpcompose.curves.rounding import ZERO, bits_up, count_text, number

_ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class ShuffledReports(Family):
    """Releases the reports of all rows in a random order. A shift is a number of rows replaced.

    Each row's report alone is `each_epsilon`-DP; there are at least `reports`. `by_response`: each
    is randomized response, for which others are clones more often.
    """

    each_epsilon: Fraction
    reports: int
    by_response: bool

    def epsilon(self, shift: Fraction) -> Fraction:
        return self.each_epsilon * math.ceil(shift)

    def loss(self, shift: Fraction) -> Curve:
        once = _profile(self.each_epsilon, self.reports, self.by_response)
        rows = math.ceil(shift)
        return once if rows == 1 else curve_of(Grouped(once, rows))

    def describe(self, shift: Fraction) -> str:
        local = "randomized response" if self.by_response else "each"
        return (
            f"{count_text(self.reports)} shuffled reports, {local} {number(self.each_epsilon)}-DP"
        )


@lru_cache(maxsize=64)
def _profile(each: Fraction, reports: int, by_response: bool) -> Curve:
    """Returns the privacy loss for one row replaced, as certified points (ε, δ) of its profile.

    `each`, `reports`, `by_response`: see `ShuffledReports`.
    """
    points: list[tuple[Fraction, Fraction]] = []
    for epsilon, among in profile_of_clones(each, reports, by_response):
        found = ZERO
        if epsilon < each:
            found = bits_up(shuffled_reports(OUTSIDE, _ONE, among), 100)
        if found < 1 and (not points or found < points[-1][1]):
            points.append((epsilon, found))
    return curve_of(Points(tuple(points))) if points else curves.pure(each)


@family_theorem(
    "shuffled-reports",
    title="Local reports in a random order",
    place="Theorem",
    formula="(A+Δ, C-A+1-Δ) against (A+1-Δ, C-A+Δ), C ~ Bin(n-1, e^-ε₀), A ~ Bin(C, ½)",
    given=drawn_by("one report of each row", ShuffledReports),
)
def shuffled_reports(few: Fraction, alone: Fraction, among: Fraction) -> Fraction:
    """Returns the δ of shuffled reports at some ε.

    `few`: the chance of an unusual number of clones (reports that may stand for the replaced
    row's); `alone`: the δ in that case; `among`: the δ in all other cases.
    """
    return few * alone + (1 - few) * among


#: The form of what randomized response and local mechanisms become on shuffled rows.
FORM = FamilyForm(
    name="shuffled-reports",
    family=ShuffledReports,
    about="Randomized reports of rows in a random order.",
    keys=(),
    states=("pure",),
    trusted=Assumption(
        "{}: every row sends one report by the same randomizer, from its own value alone",
        shortly="one report of each row by the same randomizer",
    ),
)


def shuffled(local: Guarantee, reports: int, by_response: bool) -> Guarantee:
    """Returns the guarantee of shuffled reports, given that of one report (`local`).

    `reports`, `by_response`: see `ShuffledReports`.
    """
    return guaranteed(Notion.PURE, ShuffledReports(local.value, reports, by_response), _ONE)
