"""Rényi differential privacy: bounds of the divergence at some orders; it adds up as a curve."""

from __future__ import annotations

from dpcompose.core.notions.notion_facts import NotionFacts, curve

FACTS = NotionFacts(
    parameters=("alpha", "epsilon"),
    symbol="epsilon",
    sign="ε",
    words="Rényi DP",
    describe=lambda stated: curve(stated.points, "RDP", "order"),
    unit="ε",
    reads_as={},
    power=None,
)
