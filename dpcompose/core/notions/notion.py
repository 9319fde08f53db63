"""The notions by name, with conversions of amounts, group privacy, and chains of steps.

A loss is stored in the unit in which its notion adds up: ε for pure and approximate DP, ρ for zCDP,
μ² for GDP. All of them are dimensionless, in natural logarithms; δ is a probability.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple, Protocol

from dpcompose.curves.families import geometric_mu, geometric_rho
from dpcompose.curves.rounding import (
    MAX_EXPONENT,
    ZERO,
    exp_up,
    gaussian_mean_up,
    geometric_up,
    is_square,
    number,
    plural,
    sqrt_up,
    tanh_up,
)

#: A loss: an exact fraction, or `math.inf` for "no finite bound".
Amount = Fraction | float
Points = Sequence[tuple[Fraction, Fraction]]


class Notion(StrEnum):
    """A privacy notion, named as in a spec."""

    PURE = "pure"
    APPROX = "approx"
    ZCDP = "zcdp"
    GDP = "gdp"
    RDP = "rdp"
    PROFILE = "profile"

    @property
    def facts(self) -> NotionFacts:
        """Returns the names, units and conversions of the notion."""
        return FACTS[self]

    def amount_of(self, value: Fraction) -> Fraction:
        """Returns the amount that adds up (ε, ρ or μ²) for the parameter ε, ρ or μ."""
        return value * value if self.facts.squared else value

    def value_of(self, amount: Fraction) -> tuple[Fraction, bool]:
        """Returns the parameter ε, ρ or μ for an amount that adds up, rounded up, and whether it is
        exact."""
        return (sqrt_up(amount), is_square(amount)) if self.facts.squared else (amount, True)


class StatedNumbers(Protocol):
    """The numbers of a stated guarantee: ε, ρ or μ, δ, and the points of a curve."""

    @property
    def value(self) -> Fraction:
        """Returns the parameter ε, ρ or μ."""

    @property
    def delta(self) -> Fraction:
        """Returns the δ, 0 where there is none."""

    @property
    def points(self) -> Points:
        """Returns the points (α, ε) of a Rényi curve or (ε, δ) of a profile."""


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
    power: int | None = None
    squared: bool = False
    adding: str | None = None


def curve(points: Points, suffix: str, noun: str) -> str:
    """Returns the points of a curve as text, `(2, 0.1)- and (8, 0.5)-RDP`.

    `suffix`: what follows the last point; `noun`: a point, in words. Of more than two points only
    the first and the last, with the number of points.
    """
    told = points if len(points) < 3 else (points[0], points[-1])
    pairs = [f"({number(first)}, {number(second)})" for first, second in told]
    if len(points) < 3:
        return f"{'- and '.join(pairs)}-{suffix}"
    return f"{pairs[0]}-{suffix} to {pairs[-1]}-{suffix} ({plural(len(points), noun)})"


def _same(amount: Fraction) -> Fraction:
    """Returns the amount unchanged: a conversion between notions with equal amounts."""
    return amount


FACTS: dict[Notion, NotionFacts] = {
    # Group privacy: ε grows with the distance (GMPS24, III.3). As zCDP, ρ = ε·tanh(ε/2); as GDP,
    # μ = 2Φ⁻¹(e^ε/(1+e^ε)); both are the best possible.
    Notion.PURE: NotionFacts(
        parameters=("epsilon",),
        symbol="epsilon",
        sign="ε",
        words="pure DP",
        describe=lambda stated: f"{number(stated.value)}-DP",
        unit="ε",
        reads_as={
            "pure": _same,
            "approx": _same,
            "gdp": lambda epsilon: gaussian_mean_up(epsilon) ** 2,
            "zcdp": lambda epsilon: epsilon * tanh_up(epsilon / 2),
        },
        power=1,
    ),
    # Paths of steps are chained in pairs (`chain_pairs`).
    Notion.APPROX: NotionFacts(
        parameters=("epsilon", "delta"),
        symbol="epsilon",
        sign="ε",
        words="approximate DP",
        describe=lambda stated: f"({number(stated.value)}, {number(stated.delta)})-DP",
        unit="ε and δ",
        reads_as={"approx": _same},
    ),
    # The Rényi divergence of order α is at most α·ρ. Group privacy: ρ grows with the square of the
    # distance (GMPS24, VI.12).
    Notion.ZCDP: NotionFacts(
        parameters=("rho",),
        symbol="rho",
        sign="ρ",
        words="zCDP",
        describe=lambda stated: f"{number(stated.value)}-zCDP",
        unit="ρ",
        reads_as={"zcdp": _same},
        power=2,
    ),
    # Neighbours are no easier to tell apart than N(0, 1), N(μ, 1). The squares of μ add up. Group
    # privacy: μ grows with the distance (GMPS24, VI.20). As zCDP, ρ = μ²/2, the best possible.
    Notion.GDP: NotionFacts(
        parameters=("mu",),
        symbol="mu",
        sign="μ",
        words="Gaussian DP",
        describe=lambda stated: f"{number(stated.value)}-GDP",
        unit="μ²",
        reads_as={"gdp": _same, "zcdp": lambda amount: amount / 2},
        power=2,
        squared=True,
        adding="Losses in μ add by their squares.",
    ),
    # Bounds of the divergence at some orders; they add up as a curve.
    Notion.RDP: NotionFacts(
        parameters=("alpha", "epsilon"),
        symbol="epsilon",
        sign="ε",
        words="Rényi DP",
        describe=lambda stated: curve(stated.points, "RDP", "order"),
        unit="ε",
        reads_as={},
    ),
    # (ε, δ) for several ε at once; it adds up as a curve.
    Notion.PROFILE: NotionFacts(
        parameters=("points",),
        symbol="epsilon",
        sign="ε",
        words="a privacy profile",
        describe=lambda stated: curve(stated.points, "DP", "point"),
        unit="ε",
        reads_as={},
    ),
}
#: The signs of the parameters of bounds and budgets, by their keys in specs.
SIGNS = {
    name: facts.sign if name == facts.symbol else "δ"
    for facts in FACTS.values()
    if facts.reads_as
    for name in facts.parameters
}
#: The notions to which each notion converts without choosing a δ (theory, section 6).
CONVERTS: dict[Notion, tuple[Notion, ...]] = {
    notion: tuple(Notion(name) for name in notion.facts.reads_as) for notion in Notion
}

#: The conversions that change the number, as formulas of it.
READINGS: dict[tuple[Notion, Notion], str] = {
    (Notion.PURE, Notion.GDP): "(2 * normal_quantile(exp(x) / (1 + exp(x)))) ** 2",
    (Notion.PURE, Notion.ZCDP): "x * tanh(x / 2)",
    (Notion.GDP, Notion.ZCDP): "x / 2",
}


def convert(amount: Amount, source: Notion, target: Notion) -> Amount:
    """Returns the least amount in `target` that every mechanism with this amount in `source`
    satisfies.

    Both amounts are in the units that add up (ε, ρ, μ²). Raises ValueError where no conversion
    without a δ exists.
    """
    if source is target or amount == 0 or isinstance(amount, float):
        return amount
    read = source.facts.reads_as.get(target)
    if read is None:
        raise ValueError(f"no exact conversion from {source} to {target}")
    return read(amount)


def at_distance(amount: Amount, notion: Notion, steps: int) -> Amount:
    """Returns the amount at group distance `steps`, for two tables so many steps apart.

    ε grows with the distance, ρ and μ² with its square. Not for notions with δ or curves.
    """
    assert notion.facts.power is not None
    grown: int = steps**notion.facts.power
    return amount * grown


def chain(parts: Sequence[tuple[Amount, int]], notion: Notion) -> Amount:
    """Returns the loss between the ends of a path of neighbouring tables, as in group privacy.

    `parts`: (amount of a step, number of such steps). ε and μ add along a path; ρ by (Σ √ρ)², the
    weak triangle inequality of the Rényi divergence at its best order. Rounded up where irrational.
    """
    steps = [(amount, count) for amount, count in parts if count and amount]
    if not steps:
        return ZERO
    if any(isinstance(amount, float) for amount, _ in steps):
        return math.inf
    assert notion.facts.power is not None
    if notion.facts.power == 1:
        return sum((amount * count for amount, count in steps), ZERO)
    if len({amount for amount, _ in steps}) == 1:
        total = sum(count for _, count in steps)
        return steps[0][0] * (total * total)
    root = sum((sqrt_up(Fraction(amount)) * count for amount, count in steps), ZERO)
    return root * root


#: A bound of the factor by which rounding may change a ratio, which may then be in wrong order.
_ORDER = 1 + Fraction(1, 10**30)
#: (ε, δ) of one step.
Pair = tuple[Fraction, Fraction]


def chain_pairs(steps: Sequence[tuple[Pair, int]], free: bool = False) -> Pair | None:
    """Returns the (ε, δ) between the ends of a path of neighbouring tables; None if δ reaches 1.

    `steps`: ((ε, δ) of a step, number of such steps). From one end of the path to the other the δ
    of a step counts times e to the ε of the steps before it (GMPS24, VI.3), so that two neighbours
    i, j in this order add less than in the other where δ_i/(e^ε_i - 1) ≥ δ_j/(e^ε_j - 1). `free`:
    the intermediate tables exist for every order of the steps. Each of the two directions then
    takes the order in which these ratios fall, and the sum is the same for both. Otherwise the
    order is not known, and the worst order is assumed.
    """
    if len(steps) == 1 and steps[0][1] == 1:
        return steps[0][0]
    epsilon = sum((pair[0] * count for pair, count in steps), ZERO)
    if all(pair[1] == 0 for pair, _ in steps):
        return epsilon, ZERO
    if epsilon > MAX_EXPONENT:
        return None
    delta = _one_way(in_order(steps, free))
    if len(steps) > 1 and not free:
        delta *= _ORDER
    return None if delta >= 1 else (epsilon, delta)


def in_order(steps: Sequence[tuple[Pair, int]], free: bool) -> Sequence[tuple[Pair, int]]:
    """Returns the steps of a path in the order in which their δ are added (see `chain_pairs`)."""
    return steps if len(steps) == 1 else sorted(steps, key=_ratio, reverse=free)


def _ratio(step: tuple[Pair, int]) -> tuple[bool, Fraction]:
    """Returns δ/(e^ε - 1) of a step as a key to sort by, infinite at ε = 0."""
    (epsilon, delta), _ = step
    if not epsilon or not delta:
        return bool(delta), ZERO
    return False, delta / (exp_up(epsilon) - 1)


def _one_way(steps: Iterable[tuple[Pair, int]]) -> Fraction:
    """Returns the δ along a path in the order of the steps, from one end to the other."""
    total, before = ZERO, ZERO
    for (epsilon, delta), count in steps:
        if delta:
            total += exp_up(before) * delta * geometric_up(epsilon, count)
        before += epsilon * count
    return total


def convert_over_steps(epsilon: Fraction, steps: int, notion: Notion) -> Fraction:
    """Returns the least ρ or μ² that every ε-DP mechanism satisfies at group distance `steps`,
    rounded up; ε > 0."""
    if notion is Notion.ZCDP:
        return geometric_rho(steps, 1 / epsilon)
    return geometric_mu(steps, 1 / epsilon) ** 2


def told_over_steps(
    epsilon: Fraction, steps: int, notion: Notion
) -> tuple[str, dict[str, Fraction | int]]:
    """Returns the formula of `convert_over_steps`, and what it is given."""
    if notion is Notion.ZCDP:
        formula = "x * (k - 2 * exp(-x) * (1 - exp(-k * x)) / (1 - exp(-2 * x)))"
        return formula, {"k": steps, "x": epsilon}
    half = (steps + 1) // 2
    tail = "-normal_quantile(exp(-{} * x) / (1 + exp(-x)))"
    formula = f"({tail.format('m')} {tail.format('n').replace('-', '- ', 1)}) ** 2"
    return formula, {"m": half, "n": steps + 1 - half, "x": epsilon}
