"""Derivations: given facts at the leaves, applications of theorems above them.

A derivation is data. `facts` holds what the wording (`story`) needs; nothing here is
a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpcompose.core.guarantee import Amount, Notion
from dpcompose.core.problem import Path


@dataclass(frozen=True, slots=True)
class Quantity:
    """A certified loss: `amount` in the unit that adds up (ε, ρ, μ²), with δ for approximate DP.

    `exact`: whether both are the stated bound itself, not a value rounded up from it.
    """

    notion: Notion
    amount: Amount
    delta: Amount = Fraction(0)
    exact: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One line of reasoning.

    `rule`: which rule was applied (the wording knows each by name); `theorem`: the id in
    the book that justifies it, None for a fact given in the spec. `inputs`: the steps it uses.
    `paths`: the places of the spec that it speaks of.
    """

    rule: str
    theorem: str | None
    inputs: tuple[Step, ...]
    bound: Quantity | None
    facts: dict[str, Any] = field(default_factory=dict)
    paths: tuple[Path, ...] = ()
