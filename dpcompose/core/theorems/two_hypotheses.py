"""Bounds against adversaries with two hypotheses about one person (HBW22, corrected).

`core.hypotheses` computes them; it is imported where one is needed, as most specs have none.
"""

from __future__ import annotations

from dpcompose.core.theorem import Hypothesis, Refused, Role, Use, checked, theorem
from dpcompose.core.theorems.setting import Asked


def _all_sets(asked: Asked) -> None:
    """Raises `Refused` unless each hypothesis with the person is uniform over all non-empty sets of
    blocks."""
    from dpcompose.core.hypotheses.beliefs import Between

    question = asked.question
    everyone = Between(1, question.size)
    present = [side for side in (question.first, question.second) if side.present]
    if {part for side in present for part, _ in side.parts} != {everyone}:
        raise Refused("not all sets of blocks but the empty one are held possible, equally")


def _weighted(asked: Asked) -> None:
    """Raises `Refused` unless the weights of each hypothesis are positive and sum to 1."""
    for side in (asked.question.first, asked.question.second):
        weights = [weight for _, weight in side.parts]
        if min(weights) <= 0 or sum(weights) != 1:
            raise Refused("the weights of a hypothesis are not positive numbers that sum to 1")


ONE_ROW = Hypothesis(
    "the person is a row",
    "one row added or removed is protected, and the blocks lose so much for it",
    test=Asked.protects_a_row,
)
ABSENT = checked(
    Asked,
    "nobody first",
    "one hypothesis is that the person is in no block",
    lambda it: not (it.question.first.present and it.question.second.present),
    "neither hypothesis is that the person is in no block",
)
UNIFORM = Hypothesis(
    "the uniform hypothesis",
    "the other holds all sets but the empty one possible, equally",
    test=_all_sets,
)


def used(*methods: str, hypotheses: tuple[Hypothesis, ...] = ()) -> Use:
    """Returns the use of a theorem for the bounds that these methods of `core.hypotheses` find."""
    return Use(Role.HYPOTHESES, "question", hypotheses, methods=methods)


theorem(
    "HBW.1",
    title="Differential privacy covers every hypothesis",
    source="HBW22",
    place="Theorem 1",
    formula="(ε, δ) against any two hypotheses",
    hypotheses=(ONE_ROW,),
    uses=(Use(Role.ALL_HYPOTHESES, "question", methods=("differential privacy",)),),
)(None)
theorem(
    "HBW.mixture",
    title="A point mass against a mixture",
    source="HBW22",
    place="Section V-B",
    formula="ε = ln Σ w_b e^(ε_b);  δ = max(Σ w_b δ_b, Σ w_b e^(-ε_b) δ_b / Σ w_b e^(-ε_b))",
    hypotheses=(
        ONE_ROW,
        checked(
            Asked,
            "a point mass",
            "one hypothesis holds a single set of blocks possible",
            lambda it: {it.question.first.point, it.question.second.point} != {None},
            "both hypotheses hold several sets of blocks possible",
        ),
    ),
    specialises=("HBW.1",),
    uses=(used("point mass"),),
)(None)
theorem(
    "HBW.3",
    title="The uniform hypothesis as a sample of one half",
    source="HBW22",
    place="Theorem 3",
    formula="ε = ln[Σ 2^(k-i) e^(ε^_i)/(2^k - 1)];  δ as for a mixture, with 2^(k-i)/(2^k - 1)",
    hypotheses=(ONE_ROW, ABSENT, UNIFORM),
    specialises=("HBW.mixture",),
    uses=(used("samples of one half"),),
)(None)
theorem(
    "HBW.6",
    title="Nobody against the uniform hypothesis",
    source="HBW22",
    place="Corollary 6",
    formula="ε = ln[(Π(1 + e^(ε_i)) - 1)/(2^k - 1)];  δ as for a mixture",
    hypotheses=(ONE_ROW, ABSENT, UNIFORM),
    specialises=("HBW.mixture",),
    uses=(used("point mass"),),
)(None)
theorem(
    "HBW.7",
    title="Nobody against the uniform hypothesis, equal blocks",
    source="HBW22",
    place="Corollary 7",
    formula="ε = ln[((1 + e^ε')^k - 1)/(2^k - 1)];  δ = k·2^(k-1)·δ'/(2^k - 1)",
    hypotheses=(
        ONE_ROW,
        ABSENT,
        UNIFORM,
        checked(
            Asked,
            "equal blocks",
            "all blocks have the same (ε, δ)",
            lambda it: len({(block.epsilon, block.delta) for block in it.question.blocks}) < 2,
            "the blocks do not all lose the same",
        ),
    ),
    specialises=("HBW.6",),
    uses=(used("point mass"),),
)(None)
theorem(
    "HBW.coupling",
    title="Two mixtures: the coupling bound",
    source="dpcompose",
    place="Documentation",
    formula="ε = max ε_i;  δ = Σ w_i δ_i  over matched pairs",
    hypotheses=(ONE_ROW,),
    specialises=("HBW.1",),
    uses=(used("exact transport", "nested sets"),),
)(None)
theorem(
    "HBW.A3",
    title="A coupling of two mixtures",
    source="HBW22",
    place="Algorithm 3",
    formula="match the next of both lists with the smaller weight; keep the rest of the other",
    hypotheses=(
        Hypothesis(
            "two weighted lists", "the weights of each are positive and sum to 1", test=_weighted
        ),
    ),
    specialises=("HBW.coupling",),
    uses=(used("Algorithm 3"),),
)(None)
theorem(
    "HBW.likelihoods",
    title="Two mixtures: the likelihoods themselves",
    source="dpcompose",
    place="Documentation",
    formula="ε = max over L_i = e^(±ε_i) of |ln(Σ p_b Π_{i∈b} L_i / Σ q_b Π_{i∈b} L_i)|",
    hypotheses=(ONE_ROW,),
    specialises=("HBW.coupling",),
    uses=(
        used(
            "every outcome",
            hypotheses=(
                checked(
                    Asked,
                    "pure blocks",
                    "every block is ε_i-DP, without a δ",
                    lambda it: not it.found.delta,
                    "some block has a δ",
                ),
            ),
        ),
        used("by size", "through nobody"),
    ),
)(None)
