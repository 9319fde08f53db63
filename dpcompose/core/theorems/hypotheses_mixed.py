"""Bounds against adversaries whose two hypotheses are both mixtures (HBW22, corrected)."""

from __future__ import annotations

from fractions import Fraction

from dpcompose.core.theorem import Example, Hypothesis, theorem
from dpcompose.core.theorems import questions
from dpcompose.core.theorems.composition import FIXED, FRESH
from dpcompose.core.theorems.two_hypotheses import BITS, COMPUTED, ONE_ROW, WEAKER, used

F = Fraction

SAME_ROW = Hypothesis(
    "the same row in a block",
    "what a block holds of the person does not depend on the other blocks",
    "declared",
)
PURE_BLOCKS = Hypothesis("pure blocks", "every block is ε_i-DP, without a δ", test=questions.pure)


theorem(
    "HBW.coupling",
    title="Two mixtures: the coupling bound",
    source="dpcompose",
    place="Documentation",
    formula="ε = max ε_i;  δ = Σ w_i δ_i  over matched pairs",
    hypotheses=(ONE_ROW, BITS, SAME_ROW, WEAKER, FRESH, FIXED),
    specialises=("HBW.1",),
    example=Example(
        (((F("0.5"), F(1), F(0)), (F("0.5"), F(0), F(0))),),
        (F(1), F(0)),
        "Blocks of 1 and 3: {first} or {second} against {} or {second}, all with weight 1/2. "
        "{second} is matched with itself, {first} with {}: ε = 1.",
    ),
    departs="The print (Section V-B) has ε = ln Σ w_i e^(ε_i) over the matched pairs. That is not "
    "sound for two mixtures. Blocks of 1 and 3, half {first} and half {second} against half {} and "
    "half {second}: it gives 0.6201, where the true ε is 0.9696. The reason: P_i ≤ e^(ε_i)·Q_i for "
    "each pair adds up to a weighted sum of the Q_i, which need not be below the mean of the "
    "e^(ε_i) times the mean of the Q_i; the greatest ε_i always does.",
    spec="specs/patterns/medical-practices.yaml",
    uses=(used("exact transport", "nested sets"),),
    for_readers=COMPUTED,
    statement="""\
    Each of two hypotheses is a mixture of sets of blocks. Match the sets of one with those of
    the other, so that every set is matched with its whole weight, in parts where need be. A
    matched pair with weight w_i loses (ε_i, δ_i): what the blocks lose that are in one set alone.
    Then the hypotheses are told apart by at most the greatest ε_i, with δ the mean of the δ_i.

    Proof. P_i(S) ≤ e^(ε_i)·Q_i(S) + δ_i with the greatest ε in place of ε_i, times w_i, added up;
    the other direction is the same. Which coupling is best is a transport problem: the least
    greatest ε first, then the least mean δ. It is solved exactly where the sets are few.
    """,
)(None)


theorem(
    "HBW.A3",
    title="A coupling of two mixtures",
    source="HBW22",
    place="Algorithm 3",
    formula="match the next of both lists with the smaller weight; keep the rest of the other",
    hypotheses=(
        Hypothesis(
            "two weighted lists",
            "the weights of each are positive and sum to 1",
            test=questions.weighted,
        ),
    ),
    specialises=("HBW.coupling",),
    example=Example(
        ((F("0.5"), F("0.5")), (F("0.25"), F("0.75"))),
        ((0, 0, F("0.25")), (0, 1, F("0.25")), (1, 1, F("0.5"))),
        "Halves against a quarter and three quarters: the first half is split.",
    ),
    departs="The print takes any tuple of each list; the bound depends on which. The tool sorts "
    "the sets by their whole ε first, so that like meets like, and uses it only where the sets are "
    "too many for the best coupling.",
    uses=(used("Algorithm 3"),),
    for_readers=COMPUTED,
    statement="""\
    Two lists of weights that each sum to 1 are refined until they match: take the next of each
    list, match them with the smaller of the two weights, and keep what is left of the larger one.
    At most n + m - 1 pairs come out for lists of n and m. It is one coupling, not always the best.
    """,
)(None)


theorem(
    "HBW.likelihoods",
    title="Two mixtures: the likelihoods themselves",
    source="dpcompose",
    place="Documentation",
    formula="ε = max over L_i = e^(±ε_i) of |ln(Σ p_b Π_{i∈b} L_i / Σ q_b Π_{i∈b} L_i)|",
    hypotheses=(ONE_ROW, BITS, SAME_ROW, WEAKER, FRESH, FIXED),
    specialises=("HBW.coupling",),
    example=Example(
        (
            (F(1), F(3)),
            (((0,), F("0.5")), ((1,), F("0.5"))),
            (((), F("0.5")), ((1,), F("0.5"))),
        ),
        F("0.969562576345"),
        "The counterexample to the printed formula (HBW.coupling): 0.9696, which is the true ε. "
        "The best coupling gives 1.",
    ),
    departs="It is not in the paper.",
    spec="specs/patterns/medical-practices.yaml",
    uses=(
        used("every outcome", hypotheses=(PURE_BLOCKS,)),
        used("by size", "through nobody"),
    ),
    for_readers=COMPUTED,
    statement="""\
    Two hypotheses with the weights p_b and q_b for the sets b. Let L_i be how many times as
    likely what the i-th block gave is with the person as without; it lies between e^(-ε_i) and
    e^(ε_i). All that was released is Σ p_b Π_{i∈b} L_i times as likely as with nobody under the
    first, Σ q_b Π_{i∈b} L_i times under the second. The ratio of the two is monotone in each L_i by
    itself, so that it is greatest at a corner, where every L_i is e^(ε_i) or e^(-ε_i). Randomized
    responses reach every corner: no smaller ε holds for all pure blocks.

    Blocks that are in the same sets throughout count as one. Where one hypothesis is uniform over
    sets of some sizes and the other over sets of larger ones, the ratio grows in every L_i, since
    the number of blocks with the person grows in likelihood ratio: two corners are enough.

    With δ's the same ε holds with Σ δ_i: each block gives all away with chance at most δ_i.
    """,
)(None)
