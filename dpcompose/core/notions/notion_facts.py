"""What a notion must answer: its names, how it adds up, and what else it says.

Each notion has one file here, and one line in `notion`. A loss is kept in the unit in which the
notion adds up: ε for pure and approximate DP, ρ for zCDP, μ² for GDP. All of them are
dimensionless, in natural logarithms; δ is a probability.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from dpcompose.curves.rounding import number, plural

Points = Sequence[tuple[Fraction, Fraction]]


class StatedNumbers(Protocol):
    """The numbers of a guarantee: ε, ρ or μ, δ, and the points of a curve."""

    @property
    def value(self) -> Fraction:
        """ε, ρ or μ."""

    @property
    def delta(self) -> Fraction:
        """δ, 0 where there is none."""

    @property
    def points(self) -> Points:
        """(α, ε) or (ε, δ)."""


def same(amount: Fraction) -> Fraction:
    """Returns the amount itself."""
    return amount


@dataclass(frozen=True, slots=True, kw_only=True)
class NotionFacts:
    """The facts about a notion.

    `parameters`: the keys of what it states, in specs and in JSON; `symbol` is the main one, with
    `sign` for people, who call the notion by `words`. `describe`: a guarantee for people. `unit`:
    what adds up; `squared`: whether that is the square of the parameter. `power`: with which power
    of the distance amounts grow (group privacy), None where one number does not say it.
    `reads_as`: the notions that it can be read as without a δ (itself included), each with the
    least amount that always holds. `adding`: how shares make the whole, where they do not add up.
    """

    parameters: tuple[str, ...]
    symbol: str
    sign: str
    words: str
    describe: Callable[[StatedNumbers], str]
    unit: str
    reads_as: Mapping[str, Callable[[Fraction], Fraction]]
    power: int | None
    squared: bool = False
    adding: str | None = None


def curve(points: Points, suffix: str, noun: str) -> str:
    """`(2, 0.1)- and (8, 0.5)-RDP`; of more than two the first and the last."""
    told = points if len(points) < 3 else (points[0], points[-1])
    pairs = [f"({number(first)}, {number(second)})" for first, second in told]
    if len(points) < 3:
        return f"{'- and '.join(pairs)}-{suffix}"
    return f"{pairs[0]}-{suffix} to {pairs[-1]}-{suffix} ({plural(len(points), noun)})"
