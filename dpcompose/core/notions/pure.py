"""Pure differential privacy: the privacy loss is at most ε.

Group privacy: ε grows with the distance (GMPS24, III.3). As zCDP, ρ = ε·tanh(ε/2); as GDP,
μ = 2Φ⁻¹(e^ε/(1+e^ε)); both are the best possible.
"""

from __future__ import annotations

from fractions import Fraction

from dpcompose.core.notions.notion_facts import NotionFacts, same
from dpcompose.curves.rounding import gaussian_mean_up, number, tanh_up


def _square_of_mu(epsilon: Fraction) -> Fraction:
    """Returns the μ² of a pure ε, rounded up."""
    mean = gaussian_mean_up(epsilon)
    return mean * mean


FACTS = NotionFacts(
    parameters=("epsilon",),
    symbol="epsilon",
    sign="ε",
    words="pure DP",
    describe=lambda stated: f"{number(stated.value)}-DP",
    unit="ε",
    reads_as={
        "pure": same,
        "approx": same,
        "gdp": _square_of_mu,
        "zcdp": lambda epsilon: epsilon * tanh_up(epsilon / 2),
    },
    power=1,
)
