"""Guarantees for one step of a relation, and paths of (ε, δ) steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcompose.core.notions.notion import Notion
from dpcompose.core.numbers.exact import MAX_EXPONENT, ZERO, exp_up, geometric_up

if TYPE_CHECKING:
    from dpcompose.core.mechanisms.family import Family


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
        if self.noise is not None and self.notion is Notion.GDP:
            square = self.noise.mu_squared(self.shift)
            assert square is not None
            return square
        return self.notion.facts.amount_of(self.value)


def guaranteed(notion: Notion, noise: Family, shift: Fraction) -> Guarantee:
    """What a concrete mechanism moved by `shift` guarantees in a notion that it has."""
    numbers = {Notion.PURE: noise.epsilon, Notion.ZCDP: noise.rho, Notion.GDP: noise.mu}
    value = numbers[notion](shift)
    assert value is not None
    return Guarantee(notion, value, noise=noise, shift=shift)


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
