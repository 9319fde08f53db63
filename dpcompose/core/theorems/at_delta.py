"""Conversions from GDP, zCDP and Rényi DP to (ε, δ) at a chosen δ."""

from __future__ import annotations

from fractions import Fraction

from dpcompose.core.theorem import Example, Hypothesis, theorem
from dpcompose.core.theorems.stability import numbers

CHOSEN = Hypothesis("one δ", "the δ is chosen without a look at the outputs", "declared")
GDP_ONE = Hypothesis("Gaussian DP", "the loss is a μ; of Gaussian noise, sensitivity over σ")
CONCENTRATED = Hypothesis("a ρ", "the loss is a ρ, or an ε or a μ that was converted to one")
ROUTE = "the routes at a δ compute it, to more digits, of all that is composed"
DIVERGENCES = Hypothesis(
    "both orders of divergence",
    "at each order α > 1 the divergence is at most ε(α), whichever table comes first",
    "declared",
)


theorem(
    "gaussian-curve",
    title="Gaussian DP at a chosen δ",
    source="BW18",
    place="Theorem 8",
    formula="δ(ε) = Φ(μ/2 - ε/μ) - e^ε · Φ(-μ/2 - ε/μ)  (the bound takes μ² and δ, and gives ε)",
    hypotheses=(GDP_ONE, CHOSEN),
    example=Example(
        (Fraction("0.25"), Fraction("1e-6")),
        Fraction("2.25408465022"),
        "Noise of σ = 2 on a sum of sensitivity 1, so μ² = 0.25, has ε = 2.25408465022 at "
        "δ = 1e-6.",
    ),
    for_readers=ROUTE,
    routes=("exact Gaussian",),
    statement="""\
    Whatever is μ-GDP is (ε, δ)-DP for every ε ≥ 0 with δ = Φ(μ/2 - ε/μ) - e^ε·Φ(-μ/2 - ε/μ), and
    Gaussian noise with μ = sensitivity/σ has no smaller δ. Several Gaussian mechanisms are one,
    with μ² = Σ μ_i² (VI.23), so that nothing is lost by composing them first.

    Proof. The privacy loss of N(μ, 1) against N(0, 1) at x is μx - μ²/2. The best set at ε is where
    it is above ε, x > ε/μ + μ/2; its chances under the two laws are the two values of Φ.

    At δ = 0 no ε is finite (None).
    """,
)(None)


theorem(
    "zcdp-at-delta",
    title="zCDP at a chosen δ",
    source="CKS20",
    place="Corollary 13",
    formula="δ(ε) = min over α > 1 of e^((α-1)(αρ - ε))/(α - 1) · (1 - 1/α)^α  "
    "(the bound takes ρ and δ, and gives ε)",
    hypotheses=(CONCENTRATED, CHOSEN),
    specialises=("renyi-at-delta",),
    example=Example(
        (Fraction(293764, 114921), Fraction("1e-10")),
        Fraction("17.1435507436"),
        "The 2020 census of persons has ρ = 293764/114921, which is ε = 17.1435507436 at "
        "δ = 1e-10.",
    ),
    for_readers=ROUTE,
    routes=("zCDP conversion",),
    statement="""\
    Whatever is ρ-zCDP is (ε, δ)-DP for every ε ≥ 0 with the δ of the formula, of which any order
    α gives a valid one.

    It is never worse than ε = ρ + 2·sqrt(ρ·ln(1/δ)). Mechanisms whose noise is known are better
    composed by their losses: a ρ forgets what is below its worst order.

    At δ = 0 no ε is finite (None).
    """,
)(None)


theorem(
    "renyi-at-delta",
    title="A Rényi curve at a chosen δ",
    source="CKS20",
    place="Proposition 12",
    formula="ε = min over α of ε(α) + ln(1 - 1/α) + ln(1/(α·δ))/(α - 1)",
    hypotheses=(DIVERGENCES, CHOSEN),
    example=Example(
        ((numbers("2 0.5"), numbers("8 2")), Fraction("1e-5")),
        Fraction("3.21410916785"),
        "0.5 at the order 2 and 2 at the order 8 have ε = 3.2142 at δ = 1e-5, by the order 8.",
    ),
    for_readers=ROUTE,
    routes=("Rényi conversion",),
    words=("moments-accountant", "moments", "accountant", "rdp-accountant", "renyi-accountant"),
    statement="""\
    A mechanism whose Rényi divergence of order α is at most ε(α) is (ε, δ)-DP with the ε of the
    formula, for each order known. Divergences of one order add up under composition, so curves are
    added first and converted once, at the order that is best for the sum.

    Proof. With the privacy loss L the δ at ε is the mean of max(0, 1 - e^(ε-L)), and for every L
    that is at most e^((α-1)(L-ε))/(α - 1) · (1 - 1/α)^α: the two sides touch at
    e^(L-ε) = α/(α - 1). The mean of e^((α-1)L) is at most e^((α-1)ε(α)) by hypothesis.

    At δ = 0 no ε is finite (None).
    """,
)(None)
