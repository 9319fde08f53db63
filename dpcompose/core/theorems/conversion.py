"""Conversions between notions that need no δ, each with a short proof."""

from __future__ import annotations

from fractions import Fraction

from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Example, Hypothesis, Role, Use, theorem
from dpcompose.core.theorems.touches import reads_as
from dpcompose.curves.rounding import tanh_up

_SOURCE = "dpcompose"
_PLACE = "Documentation"
#: The search and these functions both call `core.notions.convert`.
_SHARED = "the tool converts by the same formula where it charges a mechanism"


def _reads_as(source: Notion, target: Notion, says: str) -> Hypothesis:
    """Returns the hypothesis that a loss stated in `source` is read as one in `target`."""
    return Hypothesis(source.facts.words, says, test=reads_as(source, target))


theorem(
    "pure-to-zcdp",
    title="Pure DP as zCDP",
    place=_PLACE,
    source=_SOURCE,
    formula="ρ = ε · tanh(ε/2)",
    hypotheses=(_reads_as(Notion.PURE, Notion.ZCDP, "the loss is an ε, without a δ"),),
    example=Example(
        (Fraction(1),),
        tanh_up(Fraction(1, 2)),
        "ε = 1 is ρ = tanh(1/2), about 0.46212, where ε²/2 would give 0.5.",
    ),
    uses=(Use(Role.CONVERSION, "touch"),),
    for_readers=_SHARED,
    statement="""\
    Whatever is ε-DP is ρ-zCDP with ρ = ε·tanh(ε/2), rounded up, and no smaller ρ will do.

    Proof. Among two laws whose densities differ at most by the factor e^ε, the Rényi divergence of
    every order is largest for randomized response, which answers one bit truthfully with
    probability e^ε/(1 + e^ε): the likelihood ratio x has mean 1 and lies between e^-ε and e^ε, x^α
    is convex, and so its mean is largest when x takes the two ends only.

    With t = α - 1/2 that divergence times α - 1 is h(t²) - h(1/4), where h(s) = ln cosh(ε√s), and
    α(α - 1) = t² - 1/4. Since tanh(y)/y falls in y, h' falls too, so h is concave and lies below
    its tangent at 1/4, whose slope is ε·tanh(ε/2). Dividing by α - 1 gives a divergence of at most
    αε·tanh(ε/2).

    As α tends to 1 the two sides meet, so the constant is the least. It is below the usual ε²/2.
    """,
)(None)


theorem(
    "pure-to-gdp",
    title="Pure DP as Gaussian DP",
    place=_PLACE,
    source=_SOURCE,
    formula="μ = 2 · Φ⁻¹(e^ε/(1 + e^ε))  (the bound gives μ²)",
    hypotheses=(_reads_as(Notion.PURE, Notion.GDP, "the loss is an ε, without a δ"),),
    example=Example(
        (Fraction(0),),
        Fraction(0),
        "ε = 0 is μ = 0. ε = 1 is μ = 2·Φ⁻¹(0.7311), about 1.2320, whose square is 1.5179.",
    ),
    uses=(Use(Role.CONVERSION, "touch"),),
    for_readers=_SHARED,
    statement="""\
    Whatever is ε-DP is μ-GDP with μ = 2Φ⁻¹(e^ε/(1 + e^ε)), rounded up, and no smaller μ will do.

    Proof. The trade-off function of an ε-DP mechanism is nowhere below the one of randomized
    response: two straight lines, from (0, 1) down to the corner (c, c) with c = 1/(1 + e^ε), and
    from there to (1, 0). The Gaussian trade-off function is convex, ends at the same two points,
    and takes the value c or less at c exactly when Φ(-μ/2) ≤ c. In that case it lies below both
    lines, by convexity; otherwise it lies above the corner. Φ(-μ/2) = c is the stated μ.

    To compose many pure mechanisms, converting them to zCDP loses less.
    """,
)(None)


theorem(
    "gdp-to-zcdp",
    title="Gaussian DP as zCDP",
    place=_PLACE,
    source=_SOURCE,
    formula="ρ = μ²/2",
    hypotheses=(_reads_as(Notion.GDP, Notion.ZCDP, "the loss is a μ"),),
    example=Example((Fraction("0.25"),), Fraction("0.125"), "μ = 0.5, so μ² = 0.25, is ρ = 0.125."),
    uses=(Use(Role.CONVERSION, "touch"),),
    for_readers=_SHARED,
    statement="""\
    Whatever is μ-GDP is ρ-zCDP with ρ = μ²/2, and no smaller ρ will do.

    Proof. By Blackwell's theorem two laws that are as hard to tell apart as N(0, 1) and N(μ, 1) can
    be made from these by post-processing, which raises no Rényi divergence; that of order α between
    the two normal laws is αμ²/2. They are themselves μ-GDP, so the constant is the least.

    There is no way back: zCDP does not imply any μ.
    """,
)(None)
