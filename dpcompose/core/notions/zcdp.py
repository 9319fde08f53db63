"""Zero-concentrated differential privacy: the Rényi divergence of order α is at most α·ρ.

Group privacy: ρ grows with the square of the distance (GMPS24, VI.12).
"""

from __future__ import annotations

from dpcompose.core.notions.notion_facts import NotionFacts, same
from dpcompose.curves.rounding import number

FACTS = NotionFacts(
    parameters=("rho",),
    symbol="rho",
    sign="ρ",
    words="zCDP",
    describe=lambda stated: f"{number(stated.value)}-zCDP",
    unit="ρ",
    reads_as={"zcdp": same},
    power=2,
)
