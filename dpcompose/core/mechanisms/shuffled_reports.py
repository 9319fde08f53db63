"""Local reports that are shuffled: each row randomizes its own report, and the order is hidden."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

from dpcompose import curves
from dpcompose.core.mechanisms.family import FamilyForm, drawn_by, family_theorem
from dpcompose.core.mechanisms.randomized_response import RandomizedResponse
from dpcompose.core.notions.concrete_mechanism import Family
from dpcompose.core.notions.guarantee import Guarantee, guaranteed
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Assumption
from dpcompose.curves import Curve, Grouped, Points, curve_of
from dpcompose.curves.families import (
    MOST_COUNTED,
    OUTSIDE,
    profile_of_clones,
    profile_of_two_answers,
)
from dpcompose.curves.rounding import ZERO, bits_up, count_text, number

_ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class ShuffledReports(Family):
    """Releases the reports of all rows in a random order. A shift is a number of rows replaced.

    Each row's report alone is `each_epsilon`-DP; there are at least `reports`. `by_response`: each
    is randomized response, for which others are clones more often; `of_two`: over two values.
    """

    FORMULAS: ClassVar[dict[Notion, str]] = {Notion.PURE: "c * e"}
    each_epsilon: Fraction
    reports: int
    by_response: bool
    of_two: bool = False

    def parameters(self, shift: Fraction) -> dict[str, Any]:
        return {"e": self.each_epsilon}

    def epsilon(self, shift: Fraction) -> Fraction:
        return self.each_epsilon * math.ceil(shift)

    def loss(self, shift: Fraction) -> Curve:
        once = _profile(self.each_epsilon, self.reports, self.by_response)
        rows = math.ceil(shift)
        return once if rows == 1 else curve_of(Grouped(once, rows))

    def bounds(self, shift: Fraction) -> Iterator[Curve]:
        counted = None
        if self.of_two:
            counted = _profile_of_two(self.each_epsilon, self.reports, math.ceil(shift))
        if counted is None or self.reports > MOST_COUNTED:
            yield self.loss(shift)
        if counted is not None:
            yield counted

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
    found = _curve_of(profile_of_clones(each, reports, by_response), each)
    return found or curves.pure(each)


@lru_cache(maxsize=64)
def _profile_of_two(each: Fraction, reports: int, rows: int) -> Curve | None:
    """Returns the privacy loss of shuffled randomized response over two values for so many rows
    replaced, as certified points (ε, δ) of its profile; None where there is too much to compute."""
    return _curve_of(profile_of_two_answers(each, reports, rows), each * rows)


def _curve_of(profile: Iterable[tuple[Fraction, Fraction]], greatest: Fraction) -> Curve | None:
    """Returns the curve through points (ε, δ), with what was set aside as unusual; None if there
    are none. `greatest`: the ε at δ = 0."""
    points: list[tuple[Fraction, Fraction]] = []
    for epsilon, among in profile:
        found = ZERO
        if epsilon < greatest:
            found = bits_up(shuffled_reports(OUTSIDE, _ONE, among), 100)
        if found < 1 and (not points or found < points[-1][1]):
            points.append((epsilon, found))
    return curve_of(Points(tuple(points))) if points else None


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
    noise = local.noise
    of_two = type(noise) is RandomizedResponse and noise.k == 2
    made = ShuffledReports(local.value, reports, by_response, of_two)
    return guaranteed(Notion.PURE, made, _ONE)
