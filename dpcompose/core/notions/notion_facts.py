"""The facts that each notion declares: its names, how it adds up, and its conversions.

Each notion has one file here, and one line in `notion`. A loss is stored in the unit in which the
notion adds up: ε for pure and approximate DP, ρ for zCDP, μ² for GDP. All of them are
dimensionless, in natural logarithms; δ is a probability.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol

from dpcompose.curves.rounding import number, plural

Points = Sequence[tuple[Fraction, Fraction]]


class StatedNumbers(Protocol):
    """The numbers of a stated guarantee: ε, ρ or μ, δ, and the points of a curve."""

    @property
    def value(self) -> Fraction:
        """The parameter ε, ρ or μ."""

    @property
    def delta(self) -> Fraction:
        """The δ, 0 where there is none."""

    @property
    def points(self) -> Points:
        """The points (α, ε) of a Rényi curve or (ε, δ) of a profile."""


def same(amount: Fraction) -> Fraction:
    """Returns the amount unchanged: a conversion between notions with equal amounts."""
    return amount


class NotionFacts(NamedTuple):
    """The names, units and conversions of a notion.

    `parameters`: the keys of a guarantee in specs and in JSON; `symbol`: the main key, shown to
    people as `sign`; `words`: the notion's name for people. `describe`: returns a guarantee as
    text. `unit`: the unit that adds up; `squared`: whether that is the square of the parameter.
    `power`: the power of the distance with which amounts grow (group privacy), None where one
    number does not suffice. `reads_as`: the notions to which it converts without a δ (itself
    included), each with a function to the least amount that always holds. `adding`: how the shares
    of a whole are computed, where they do not add up.
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
    """Returns the points of a curve as text, `(2, 0.1)- and (8, 0.5)-RDP`.

    Of more than two points only the first and the last, with the number of points.
    """
    told = points if len(points) < 3 else (points[0], points[-1])
    pairs = [f"({number(first)}, {number(second)})" for first, second in told]
    if len(points) < 3:
        return f"{'- and '.join(pairs)}-{suffix}"
    return f"{pairs[0]}-{suffix} to {pairs[-1]}-{suffix} ({plural(len(points), noun)})"
