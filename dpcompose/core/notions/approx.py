"""Approximate differential privacy: (ε, δ). Paths of steps are chained in pairs (`guarantee`)."""

from __future__ import annotations

from dpcompose.core.notions.notion_facts import NotionFacts, same
from dpcompose.curves.rounding import number

FACTS = NotionFacts(
    parameters=("epsilon", "delta"),
    symbol="epsilon",
    sign="ε",
    words="approximate DP",
    describe=lambda stated: f"({number(stated.value)}, {number(stated.delta)})-DP",
    unit="ε and δ",
    reads_as={"approx": same},
    power=None,
)
