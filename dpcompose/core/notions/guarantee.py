"""The notions: their parameters, group privacy, conversions and chains of steps.

Losses are kept in the unit in which a notion adds up: ε for pure and approximate DP, ρ for zCDP,
μ² for GDP. All of them are dimensionless, in natural logarithms; δ is a probability.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcompose.core.numbers.exact import (
    MAX_EXPONENT,
    exp_up,
    gaussian_mean_up,
    geometric_up,
    sqrt_up,
    tanh_up,
)

if TYPE_CHECKING:
    from dpcompose.core.mechanisms.family import Family

#: A loss: an exact fraction, or `math.inf` for "no finite bound".
Amount = Fraction | float
ZERO = Fraction(0)


class Notion(StrEnum):
    """A privacy notion, named as in a spec."""

    PURE = "pure"
    APPROX = "approx"
    ZCDP = "zcdp"
    GDP = "gdp"
    RDP = "rdp"
    PROFILE = "profile"

    @property
    def symbol(self) -> str:
        """The name of the main parameter in specs and in JSON."""
        return {"zcdp": "rho", "gdp": "mu"}.get(self.value, "epsilon")

    @property
    def words(self) -> str:
        """What people call it."""
        return {
            "pure": "pure DP",
            "approx": "approximate DP",
            "zcdp": "zCDP",
            "gdp": "Gaussian DP",
            "rdp": "Rényi DP",
            "profile": "a privacy profile",
        }[self.value]


@dataclass(frozen=True, slots=True)
class Guarantee:
    """A guarantee for one step: `value` is ε (pure, approx), ρ (zcdp) or μ (gdp).

    `delta` is δ for approx and 0 otherwise. `points` are the (α, ε) of Rényi DP, or the (ε, δ) of
    a profile, sorted; `value` is then 0. `noise`: the concrete mechanism whose guarantee this is,
    for a `shift` in the units of its sensitivities.
    """

    notion: Notion
    value: Fraction
    delta: Fraction = ZERO
    points: tuple[tuple[Fraction, Fraction], ...] = ()
    noise: Family | None = None
    shift: Fraction = ZERO

    @property
    def amount(self) -> Fraction:
        """The value in the unit that adds up: ε, ρ or μ²."""
        return self.value * self.value if self.notion is Notion.GDP else self.value


#: Which notions a guarantee of a notion can be read as without choosing a δ (theory, section 6).
CONVERTS: dict[Notion, tuple[Notion, ...]] = {
    Notion.PURE: (Notion.PURE, Notion.APPROX, Notion.GDP, Notion.ZCDP),
    Notion.APPROX: (Notion.APPROX,),
    Notion.GDP: (Notion.GDP, Notion.ZCDP),
    Notion.ZCDP: (Notion.ZCDP,),
    Notion.RDP: (),
    Notion.PROFILE: (),
}


def convert(amount: Amount, source: Notion, target: Notion) -> Amount:
    """An amount in the unit of `source` as the least amount of `target` that always holds.

    pure → zCDP: ρ = ε·tanh(ε/2); pure → GDP: μ = 2Φ⁻¹(e^ε/(1+e^ε)); GDP → zCDP: ρ = μ²/2; all
    three are the best possible. Raises ValueError where no conversion without a δ exists.
    """
    if source is target or amount == 0 or isinstance(amount, float):
        return amount
    match source, target:
        case Notion.PURE, Notion.APPROX:
            return amount
        case Notion.PURE, Notion.ZCDP:
            return amount * tanh_up(amount / 2)
        case Notion.PURE, Notion.GDP:
            mean = gaussian_mean_up(amount)
            return mean * mean
        case Notion.GDP, Notion.ZCDP:
            return amount / 2
    raise ValueError(f"no exact conversion from {source} to {target}")


def at_distance(amount: Amount, notion: Notion, steps: int) -> Amount:
    """Group privacy in one number: ε and μ grow with the distance, ρ and μ² with its square.

    Source: GMPS24 III.3 (pure), VI.12 (zCDP), VI.20 (GDP).
    """
    return amount * (steps if notion is Notion.PURE else steps * steps)


def chain(parts: Sequence[tuple[Amount, int]], notion: Notion) -> Amount:
    """The loss along a path: `count` steps of each `amount`.

    ε and μ add along a path; ρ by (Σ √ρ)², the weak triangle inequality of the Rényi divergence
    at its best order. Rounded up where irrational.
    """
    steps = [(amount, count) for amount, count in parts if count and amount]
    if not steps:
        return ZERO
    if any(isinstance(amount, float) for amount, _ in steps):
        return math.inf
    if notion is Notion.PURE:
        return sum((amount * count for amount, count in steps), ZERO)
    if len({amount for amount, _ in steps}) == 1:
        total = sum(count for _, count in steps)
        return steps[0][0] * (total * total)
    root = sum((sqrt_up(Fraction(amount)) * count for amount, count in steps), ZERO)
    return root * root


#: (ε, δ) of one step.
Pair = tuple[Fraction, Fraction]


def chain_pairs(steps: Sequence[tuple[Pair, int]]) -> Pair | None:
    """(ε, δ) along a path of `count` steps of each pair, in this order; None if δ reaches 1.

    Both directions of the inequality must hold, so δ is the larger of the two ways of adding
    up; each δ_i is multiplied by e to the ε of the steps on one side of it (GMPS24, VI.3).
    """
    if len(steps) == 1 and steps[0][1] == 1:
        return steps[0][0]
    epsilon = sum((pair[0] * count for pair, count in steps), ZERO)
    if all(pair[1] == 0 for pair, _ in steps):
        return epsilon, ZERO
    if epsilon > MAX_EXPONENT:
        return None
    forward = _one_way(steps)
    delta = forward if len(steps) == 1 else max(forward, _one_way(steps[::-1]))
    return None if delta >= 1 else (epsilon, delta)


def _one_way(steps: Iterable[tuple[Pair, int]]) -> Fraction:
    total, before = ZERO, ZERO
    for (epsilon, delta), count in steps:
        if delta:
            total += exp_up(before) * delta * geometric_up(epsilon, count)
        before += epsilon * count
    return total
