"""Composition of privacy profiles: privacy loss distributions, read as an ε at a chosen δ."""

from __future__ import annotations

from fractions import Fraction

from dpcompose.core.theorem import Example, Hypothesis, Role, Use, theorem
from dpcompose.core.theorems import questions
from dpcompose.core.theorems.composition import FIXED, FRESH
from dpcompose.core.theorems.composition_approx import APPROX, pairs

SAME_CHANGE = Hypothesis(
    "one change", "the pairs of the mechanisms are for one and the same neighbouring change"
)
ONE_CHANGE = Hypothesis(SAME_CHANGE.name, SAME_CHANGE.says, test=questions.a_row)
STATED_PAIRS = Hypothesis(APPROX.name, APPROX.says, test=questions.pairs_each)
BOTH_ORDERS = Hypothesis(
    "both orders", "a profile bounds δ whichever of the two tables comes first", "declared"
)

_THREE_TO_ONE = ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))


theorem(
    "dominating-pairs",
    title="Dominating pairs compose",
    source="ZDW22",
    place="Theorem 10",
    formula="δ(ε) = largest P_1×…×P_k(S) - e^ε · Q_1×…×Q_k(S) over the sets S of outcomes",
    hypotheses=(SAME_CHANGE, BOTH_ORDERS, FRESH, FIXED),
    example=Example(
        ((_THREE_TO_ONE, _THREE_TO_ONE), Fraction(3)),
        Fraction(3, 8),
        "Two answers that tell the truth with odds of 3 to 1 (ε = ln 3) have δ = 9/16 - 3/16 = 3/8 "
        "at ε = ln 3.",
    ),
    uses=(Use(Role.PROFILES),),
    for_readers="the tool composes on lattices of losses what this multiplies out",
    routes=("loss distributions",),
    words=(
        "pld",
        "privacy-loss-distribution",
        "privacy-loss-distributions",
        "loss-distribution",
        "privacy-loss",
        "dominating-pair",
        "fft-accountant",
        "prv",
    ),
    statement="""\
    Two laws P and Q dominate a mechanism if, for every real ε and in both orders of the two
    tables, its δ at ε is at most that of P and Q: the largest P(S) - e^ε·Q(S) over all sets S of
    outcomes. If each of several mechanisms, of which each may use the outputs before it, is
    dominated by a pair, then all of them together are dominated by the product of the pairs.

    So privacy losses ln P/Q add up as independent random numbers do, whatever the mechanisms are:
    stated (ε, δ), known noise, concentrated or sampled ones. The result is a profile, which has an
    ε at every δ; no pair (ε, δ) is singled out before the end, and no δ is spent twice.

    Proof for two mechanisms. Given what the first one puts out, the δ of the second at any ε is at
    most that of its pair, even if it was chosen in the light of that output; so the two together
    are dominated by the first mechanism and the second pair. Now exchange their roles.

    The arguments of the bound are the chances (P, Q) of the outcomes of each pair, and e^ε.
    """,
)(None)


theorem(
    "optimal-composition",
    title="Optimal composition of stated (ε, δ)",
    source="KOV15",
    place="Theorem 3.3",
    formula="ε = largest ln((P(S) - δ')/Q(S)) over the sets S of outcomes, "
    "δ' = 1 - (1 - δ)/Π (1 - δ_i)",
    hypotheses=(STATED_PAIRS, ONE_CHANGE, FRESH, FIXED),
    specialises=("dominating-pairs",),
    example=Example(
        (pairs("1,0 1,0"), Fraction("0.1")),
        Fraction("1.7928412378"),
        "Two mechanisms of ε = 1 have ε = 1.7928412378 at δ = 0.1, where the sum is 2.",
    ),
    departs="Printed for equal mechanisms; for unequal ones it is Theorem 1.5 of Murtagh and "
    "Vadhan 2016. Computing it for many unequal ε is hard in general; the tool does so on a grid "
    "that holds all stated ε, or announces a coarser one, on which losses are rounded up.",
    uses=(Use(Role.HYPOTHESES, "question", methods=("every outcome",)),),
    for_readers="the tool composes on lattices of losses what this multiplies out",
    routes=("optimal composition",),
    statement="""\
    A mechanism that is (ε_i, δ_i)-DP tells no more than this: with probability δ_i it gives all
    away, and otherwise it answers one bit truthfully with probability e^ε_i/(1 + e^ε_i). For such
    answers the privacy losses are sums of +ε_i and -ε_i, whose law is known, and so is the least ε
    at every δ. No smaller ε holds for all mechanisms with the stated guarantees.

    This holds for mechanisms of which each may use the outputs before it, as long as all (ε_i, δ_i)
    are fixed in advance. With δ' = 0 it is the sum of the ε_i; where δ is less than 1 - Π (1 - δ_i)
    there is no finite ε (None).

    P(S) and Q(S) are the chances of a set S of answers when the bit is 1 and when it is 0. The
    largest value is attained where S holds all answers whose loss is above some number.
    """,
)(None)
