"""Gaussian differential privacy: no easier to tell apart than N(0, 1) and N(μ, 1).

The squares of μ add up. Group privacy: μ grows with the distance (GMPS24, VI.20). As zCDP,
ρ = μ²/2, the best possible.
"""

from __future__ import annotations

from fractions import Fraction

from dpcompose.core.notions.notion_facts import NotionFacts, same
from dpcompose.core.numbers.exact import is_square, sqrt_up
from dpcompose.core.numbers.words import number


def _root(amount: Fraction) -> tuple[Fraction, bool]:
    return sqrt_up(amount), is_square(amount)


FACTS = NotionFacts(
    parameters=("mu",),
    symbol="mu",
    sign="μ",
    words="Gaussian DP",
    says=lambda stated: f"{number(stated.value)}-GDP",
    unit="μ²",
    reads_as={"gdp": same, "zcdp": lambda amount: amount / 2},
    power=2,
    amount_of=lambda mu: mu * mu,
    value_of=_root,
    adding="Losses in μ add by their squares.",
)
