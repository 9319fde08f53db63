"""Gaussian differential privacy: neighbours are no easier to tell apart than N(0, 1), N(μ, 1).

The squares of μ add up. Group privacy: μ grows with the distance (GMPS24, VI.20). As zCDP, ρ =
μ²/2, the best possible.
"""

from __future__ import annotations

from dpcompose.core.notions.notion_facts import NotionFacts, same
from dpcompose.curves.rounding import number

FACTS = NotionFacts(
    parameters=("mu",),
    symbol="mu",
    sign="μ",
    words="Gaussian DP",
    describe=lambda stated: f"{number(stated.value)}-GDP",
    unit="μ²",
    reads_as={"gdp": same, "zcdp": lambda amount: amount / 2},
    power=2,
    squared=True,
    adding="Losses in μ add by their squares.",
)
