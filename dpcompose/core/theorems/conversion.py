"""Other notions, an ε at a chosen δ, and what is computed from outputs."""

from __future__ import annotations

from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Hypothesis, Role, Use, checked, theorem
from dpcompose.core.theorems.composition import INDEPENDENT
from dpcompose.core.theorems.setting import ChargedStep


def _reads_as(source: Notion, target: Notion, says: str) -> tuple[Hypothesis]:
    """Returns the hypothesis that a loss stated in `source` converts to one in `target`; `says`: in
    words."""
    return (
        checked(
            ChargedStep,
            source.facts.words,
            says,
            lambda it: (it.guarantee.notion, it.notion) == (source, target),
            "a guarantee of {0.guarantee.notion.value} is read as one of {0.notion.value}",
        ),
    )


def reading(source: Notion, target: Notion) -> str | None:
    """Returns the id of the theorem by which a loss in one notion is read in another without a δ;
    None if there is none."""
    return _READINGS.get((source, target))


#: The theorems of conversions, by the notions.
_READINGS: dict[tuple[Notion, Notion], str] = {
    (Notion.PURE, Notion.ZCDP): "pure-to-zcdp",
    (Notion.PURE, Notion.GDP): "pure-to-gdp",
    (Notion.GDP, Notion.ZCDP): "gdp-to-zcdp",
}

theorem(
    "gaussian-curve",
    title="Gaussian DP at a chosen δ",
    source="BW18",
    place="Theorem 8",
    formula="δ(ε) = Φ(μ/2 - ε/μ) - e^ε · Φ(-μ/2 - ε/μ)  (the bound takes μ² and δ, and gives ε)",
    routes=("exact Gaussian",),
)(None)
theorem(
    "zcdp-at-delta",
    title="zCDP at a chosen δ",
    source="CKS20",
    place="Corollary 13",
    formula="δ(ε) = min over α > 1 of e^((α-1)(αρ - ε))/(α - 1) · (1 - 1/α)^α  "
    "(the bound takes ρ and δ, and gives ε)",
    specialises=("renyi-at-delta",),
    routes=("zCDP conversion",),
)(None)
theorem(
    "renyi-at-delta",
    title="A Rényi curve at a chosen δ",
    source="CKS20",
    place="Proposition 12",
    formula="ε = min over α of ε(α) + ln(1 - 1/α) + ln(1/(α·δ))/(α - 1)",
    routes=("Rényi conversion",),
)(None)
theorem(
    "pure-to-zcdp",
    title="Pure DP as zCDP",
    source="dpcompose",
    place="Documentation",
    formula="ρ = ε · tanh(ε/2)",
    hypotheses=_reads_as(Notion.PURE, Notion.ZCDP, "the loss is an ε, without a δ"),
    uses=(Use(Role.CONVERSION, "touch"),),
)(None)
theorem(
    "pure-to-gdp",
    title="Pure DP as Gaussian DP",
    source="dpcompose",
    place="Documentation",
    formula="μ = 2 · Φ⁻¹(e^ε/(1 + e^ε))  (the bound gives μ²)",
    hypotheses=_reads_as(Notion.PURE, Notion.GDP, "the loss is an ε, without a δ"),
    uses=(Use(Role.CONVERSION, "touch"),),
)(None)
theorem(
    "gdp-to-zcdp",
    title="Gaussian DP as zCDP",
    source="dpcompose",
    place="Documentation",
    formula="ρ = μ²/2",
    hypotheses=_reads_as(Notion.GDP, Notion.ZCDP, "the loss is a μ"),
    uses=(Use(Role.CONVERSION, "touch"),),
)(None)
theorem(
    "VII.1",
    title="Post-processing",
    formula="loss of g(M) = loss of M;  what reads released outputs only costs 0",
    uses=(Use(Role.POST_PROCESSING),),
)(None)
theorem(
    "VII.2",
    title="Converse of independent composition",
    formula="loss of each M_i ≤ loss of (M_1, …, M_k)",
    hypotheses=(INDEPENDENT,),
    specialises=("VII.1",),
    uses=(Use(Role.CONVERSE),),
)(None)
