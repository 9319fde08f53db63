"""How much privacy is lost, or may be: certified bounds and budgets."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpcompose.core.notions.notion import Amount, Notion


@dataclass(frozen=True, slots=True)
class Quantity:
    """A certified loss: `amount` in the unit that adds up (ε, ρ, μ²), with δ for approximate DP.

    `exact`: whether both are the stated bound itself, not a value rounded up from it.
    """

    notion: Notion
    amount: Amount
    delta: Amount = Fraction(0)
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Budget:
    """What a result may cost at most, as asked.

    `parameters`: ε, ε and δ, ρ or μ by the names of specs, in the order of the spec.
    """

    parameters: tuple[tuple[str, Fraction], ...]
