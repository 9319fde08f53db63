"""Bounds against adversaries with two hypotheses: any two, or one a point mass (HBW22)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from dpcompose.core.theorem import Example, Hypothesis, Role, Use, theorem
from dpcompose.core.theorems import questions
from dpcompose.core.theorems.composition import FIXED, FRESH

if TYPE_CHECKING:
    pass

# `core.hypotheses` is imported by the bounds that need it: most specs have no adversary.

F = Fraction

ONE_ROW = Hypothesis(
    "the person is a row",
    "one row added or removed is protected, and the blocks lose so much for it",
    test=questions.a_row,
)
BITS = Hypothesis(
    "blocks that overlap", "the person may be in several blocks, as the hypotheses say", "declared"
)
WEAKER = Hypothesis(
    "two hypotheses",
    "the adversary holds nothing possible of the person but the two hypotheses",
    "declared",
)
ABSENT = Hypothesis(
    "nobody first",
    "one hypothesis is that the person is in no block",
    test=questions.nobody_first,
)
POINT = Hypothesis(
    "a point mass",
    "one hypothesis holds a single set of blocks possible",
    test=questions.one_set,
)
UNIFORM = Hypothesis(
    "the uniform hypothesis",
    "the other holds all sets but the empty one possible, equally",
    test=questions.all_sets,
)
ALIKE = Hypothesis(
    "equal blocks", "all blocks have the same (ε, δ)", test=questions.have_equal_losses
)

#: `core.hypotheses` computes the bounds, of many blocks at once.
COMPUTED = "the tool finds the bound, and by which method, without listing what this lists"


def used(*methods: str, hypotheses: tuple[Hypothesis, ...] = ()) -> Use:
    """Returns the use of a theorem for bounds that certain methods of `core.hypotheses` find."""
    return Use(Role.HYPOTHESES, "question", hypotheses, methods=methods)


_BOTH_WAYS = (
    "In the direction P(S) ≤ e^ε·Q(S) + δ, with Q the mixture, the printed δ is not sound for "
    "unequal mechanisms. Two blocks of (3, 0) and (0.1, 0.1): it gives δ = 0.0667 at ε = 2.6716, "
    "where the true δ is 0.0724. For each b, P(S) ≤ e^(ε_b)·P_b(S) + δ_b; multiplied by w_b·e^-ε_b "
    "and added up this needs the mean of δ_b weighted by w_b·e^-ε_b, here 0.0951. The larger of "
    "the two means holds both ways"
)


theorem(
    "HBW.1",
    title="Differential privacy covers every hypothesis",
    source="HBW22",
    place="Theorem 1",
    formula="(ε, δ) against any two hypotheses",
    hypotheses=(ONE_ROW, BITS, FRESH, FIXED),
    example=Example(
        ((F("1.2"), F(0)),),
        (F("1.2"), F(0)),
        "Four practices of 0.3 are 1.2-DP: no two hypotheses about one patient are told apart by "
        "more.",
    ),
    departs="With at most m blocks for one person the (ε, δ) must be that of all blocks in which "
    "two sets can differ, up to 2m: the bound for one row added or removed covers a hypothesis "
    "against the empty set, not two non-empty sets against each other. The tool uses it for the "
    "former only.",
    uses=(Use(Role.ALL_HYPOTHESES, "question", methods=("differential privacy",)),),
    for_readers=COMPUTED,
    statement="""\
    What is (ε, δ)-DP under composition of all blocks is (ε, δ)-private against an adversary who
    tells two hypotheses about the blocks of one person apart, whatever they are.

    A hypothesis is a weighted list of sets of blocks. An adversary with few hypotheses may learn
    less; the entries that follow say how much less. That is weaker than differential privacy: it
    says nothing about anybody who holds something else possible.
    """,
)(None)


theorem(
    "HBW.mixture",
    title="A point mass against a mixture",
    source="HBW22",
    place="Section V-B",
    formula="ε = ln Σ w_b e^(ε_b);  δ = max(Σ w_b δ_b, Σ w_b e^(-ε_b) δ_b / Σ w_b e^(-ε_b))",
    hypotheses=(ONE_ROW, BITS, POINT, WEAKER, FRESH, FIXED),
    specialises=("HBW.1",),
    example=Example(
        (((F("0.5"), F(3), F(0)), (F("0.5"), F("0.1"), F("0.1"))),),
        (F("2.36041559566"), F("0.0947846436922")),
        "Two sets, equally likely, of (3, 0) and (0.1, 0.1): (2.3605, 0.0948). The mean δ alone "
        "would be 0.05.",
    ),
    departs=f"{_BOTH_WAYS}. The ε is sound, and the best possible for pure mechanisms, since one "
    "side is a point mass; for two mixtures the formula is false (HBW.coupling).",
    uses=(used("point mass"),),
    for_readers=COMPUTED,
    statement="""\
    One hypothesis is a single set of blocks, the other one of several sets b with the weights
    w_b; telling the single set from b alone is (ε_b, δ_b), which is what the blocks lose that are
    in one of the two but not in both. Then ε is the logarithm of the mean of e^(ε_b). δ is the mean
    δ_b, or the mean that is weighted with e^(-ε_b) as well if that is larger.

    Sets of certain sizes, all equally likely, are not listed: Σ_b e^(ε_b) over the sets of j blocks
    is the j-th elementary symmetric function of the e^(ε_i).
    """,
)(None)


theorem(
    "HBW.3",
    title="The uniform hypothesis as a sample of one half",
    source="HBW22",
    place="Theorem 3",
    formula="ε = ln[Σ 2^(k-i) e^(ε^_i)/(2^k - 1)];  δ as for a mixture, with 2^(k-i)/(2^k - 1)",
    hypotheses=(ONE_ROW, BITS, ABSENT, UNIFORM, WEAKER, FRESH, FIXED),
    specialises=("HBW.mixture",),
    example=Example(
        (((F("3.05124947952"), F("0.05")), (F("0.1"), F("0.1"))),),
        (F("2.67158580777"), F("0.0952673567536")),
        "Blocks of (3, 0) and (0.1, 0.1). The first with a sampled second: (3.0513, 0.05), twice; "
        "the second alone: (0.1, 0.1), once. Together (2.6716, 0.0953).",
    ),
    departs=f"{_BOTH_WAYS} (here the sets are grouped by their first block, which gives 0.0953). "
    "At a chosen δ the tool uses the sample itself: with R the law where each block has the person "
    "with chance 1/2 and P that of nobody, the uniform hypothesis is (2^k·R - P)/(2^k - 1), so "
    "that both directions follow exactly from the profiles of R and P.",
    uses=(used("samples of one half"),),
    for_readers=COMPUTED,
    statement="""\
    Nobody against all non-empty sets of k blocks, equally likely. The sets whose first block is
    the i-th are 2^(k-i): the i-th block has the person, and each later one has with chance 1/2,
    which is what a Poisson sample of rate 1/2 does. (ε^_i, δ^_i) is the composition of the i-th
    block with the later ones, each amplified by such a sample. The hypothesis is the mixture of
    these k cases with the weights 2^(k-i)/(2^k - 1).

    For pure blocks the result is that of HBW.6, by a second way.
    """,
)(None)


theorem(
    "HBW.6",
    title="Nobody against the uniform hypothesis",
    source="HBW22",
    place="Corollary 6",
    formula="ε = ln[(Π(1 + e^(ε_i)) - 1)/(2^k - 1)];  δ as for a mixture",
    hypotheses=(ONE_ROW, BITS, ABSENT, UNIFORM, WEAKER, FRESH, FIXED),
    specialises=("HBW.mixture",),
    example=Example(
        (((F(3), F(0)), (F("0.1"), F("0.1"))),),
        (F("2.67158580776"), F("0.0950196680251")),
        "Blocks of (3, 0) and (0.1, 0.1): (2.6716, 0.0951). The printed δ is 0.0667, and the "
        "true one 0.0724.",
    ),
    departs=f"{_BOTH_WAYS}. The recursion of the print, composed simply, sums up to this product.",
    uses=(used("point mass"),),
    for_readers=COMPUTED,
    statement="""\
    One hypothesis is that the person is in no block, the other holds all 2^k - 1 other sets of
    k blocks possible, equally; the i-th block is (ε_i, δ_i)-DP. All sets together make a product,
    so that none of them is listed. The ε is the best possible for pure blocks.

    At most m blocks for one person make another hypothesis, over fewer sets: then the sum over the
    sizes 1 to m counts (HBW.mixture).
    """,
)(None)


theorem(
    "HBW.7",
    title="Nobody against the uniform hypothesis, equal blocks",
    source="HBW22",
    place="Corollary 7",
    formula="ε = ln[((1 + e^ε')^k - 1)/(2^k - 1)];  δ = k·2^(k-1)·δ'/(2^k - 1)",
    hypotheses=(ONE_ROW, BITS, ABSENT, UNIFORM, ALIKE, WEAKER, FRESH, FIXED),
    specialises=("HBW.6",),
    example=Example(
        (F("0.3"), F(0), 4),
        (F("0.676023991961"), F(0)),
        "Four blocks of 0.3: 0.6760 instead of 1.2.",
    ),
    departs="With equal blocks ε_b and δ_b grow together, so that the weights e^(-ε_b) only lower "
    "the mean δ: the printed δ is sound here, unlike that of Theorem 3 and Corollary 6.",
    spec="specs/patterns/office-suite.yaml",
    uses=(used("point mass"),),
    for_readers=COMPUTED,
    statement="""\
    k blocks that are each (ε', δ')-DP, and the hypotheses of HBW.6. For k = 1 it is (ε', δ');
    for many blocks ε is about k·ln((1 + e^ε')/2), and δ about half of that of all blocks.
    """,
)(None)
