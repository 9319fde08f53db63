"""A privacy profile: (ε, δ) for several ε at once; it adds up as a curve."""

from __future__ import annotations

from dpcompose.core.notions.notion_facts import NotionFacts, curve

FACTS = NotionFacts(
    parameters=("points",),
    symbol="epsilon",
    sign="ε",
    words="a privacy profile",
    describe=lambda stated: curve(stated.points, "DP", "point"),
    unit="ε",
    reads_as={},
    power=None,
)
