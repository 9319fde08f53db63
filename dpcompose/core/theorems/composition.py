"""Composition under pure DP: all mechanisms on one dataset, or on whatever is made from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from dpcompose.core.guarantee import ZERO
from dpcompose.core.theorem import Example, Hypothesis, theorem
from dpcompose.core.theorems.stability import SEES_ONLY_INPUT, numbers

FRESH = Hypothesis(
    "fresh noise",
    "each mechanism draws its randomness anew, independently of all but its declared inputs",
    "declared",
)
FIXED = Hypothesis(
    "fixed in advance",
    "maps, partitions, parameters and the number of mechanisms depend on no output",
    "declared",
)
INDEPENDENT = Hypothesis(
    "independent", "no mechanism uses an output of another (`adaptivity: independent`)", "declared"
)
PURE = Hypothesis("pure DP", "every loss is an ε, without a δ")
ONE_DATASET = Hypothesis("one dataset", "all mechanisms read the same dataset")
ON_INPUT = Hypothesis(
    "stated on the input", "every guarantee is stated on the dataset that its mechanism reads"
)
COMMON_DOMAIN = Hypothesis(
    "common domain",
    "every guarantee is stated on one common table (`stated_on`), from which the inputs are made",
)
UNBOUNDED = Hypothesis("one row added or removed", "unbounded neighbours, stated and protected")


def total(losses: Iterable[Fraction]) -> Fraction:
    """What losses on the same change add up to."""
    return sum(losses, ZERO)


_THREE = Example(
    (numbers("0.1 0.2 0.3"),), Fraction("0.6"), "Queries of 0.1, 0.2 and 0.3 on one table cost 0.6."
)
_COUNT_AND_PLACE = Example(
    (numbers("1 3 0 0"),),
    Fraction(4),
    "One ambulance more in the north: its count loses 1, its nearest place (3 km across) loses 3, "
    "the south loses nothing; together 4.",
)
_TWO_OF_THREE = Example(
    (numbers("0.7 1"),),
    Fraction("1.7"),
    "A row moves from the block of 0.7 to the block of 1; the block of 0.5 sees nothing: 1.7.",
)


@theorem(
    "II.5",
    title="Sequential composition of equal mechanisms",
    place="Theorem II.5",
    formula="ε = T · ε'",
    hypotheses=(PURE, ONE_DATASET, UNBOUNDED, FRESH, FIXED),
    specialises=("V.3",),
    example=Example((Fraction("0.1"), 10), Fraction(1), "Ten releases of 0.1 cost exactly 1."),
)
def sequential_equal(epsilon: Fraction, times: int) -> Fraction:
    """Asking T times, each time of an ε-DP mechanism and in the light of the earlier answers, is
    Tε-DP.

    The classical form, for unbounded neighbours. V.3 generalises it: any relation, different
    losses.
    """
    return epsilon * times


@theorem(
    "II.6",
    title="Independent sequential composition (classical)",
    place="Theorem II.6",
    formula="ε = Σ ε_i",
    hypotheses=(PURE, ONE_DATASET, UNBOUNDED, INDEPENDENT, FRESH),
    specialises=("IV.3",),
    example=_THREE,
    departs="Printed without saying, outside its name, that the mechanisms are independent.",
)
def sequential_independent(epsilons: Sequence[Fraction]) -> Fraction:
    """Releasing the outputs of several mechanisms on one table, none of which sees the outputs of
    the others, costs the sum of their losses.

    The classical form, for unbounded neighbours. IV.3 generalises it to every relation.
    """
    return total(epsilons)


@theorem(
    "II.7",
    title="Adaptive sequential composition (classical)",
    place="Theorem II.7",
    formula="ε = Σ ε_i",
    hypotheses=(PURE, ONE_DATASET, UNBOUNDED, FRESH, FIXED),
    specialises=("V.3",),
    example=_THREE,
)
def sequential_adaptive(epsilons: Sequence[Fraction]) -> Fraction:
    """Releasing the outputs of several mechanisms on one table, each of which may use the outputs
    before it, costs the sum of their losses.

    The classical form, for unbounded neighbours. V.3 generalises it to every relation.
    """
    return total(epsilons)


@theorem(
    "IV.1",
    title="Independent composition (IC)",
    place="Theorem IV.1",
    formula="ε = max over neighbours D, D' of Σ d_i(f_i(D), f_i(D'))",
    hypotheses=(PURE, ON_INPUT, INDEPENDENT, FRESH),
    specialises=("V.2",),
    example=_COUNT_AND_PLACE,
    departs="Example IV.2 ends at d + 2L. One added or removed row touches one district only, so "
    "the tool certifies 1 + L. In Example IV.5 read that an ambulance has at most three hospitals. "
    "The printed proof compares product sets only; V.2 covers every set of outputs.",
    spec="specs/ambulances-count-and-nearest.yaml",
)
def independent_composition(losses: Sequence[Fraction]) -> Fraction:
    """Mechanisms that do not see each other's outputs read datasets that are made, each in its own
    way, from one table. Between two tables the release of all outputs loses the sum of what each
    mechanism loses between the two inputs that it gets from them.

    What is certified is that sum at the worst neighbouring tables, not the sum of everybody's
    worst: a mechanism whose input does not change adds nothing. The argument lists the losses of
    the mechanisms for one and the same change.
    """
    return total(losses)


@theorem(
    "IV.3",
    title="Independent sequential composition, any relation",
    place="Theorem IV.3",
    formula="ε = Σ ε_i",
    hypotheses=(PURE, ONE_DATASET, INDEPENDENT, FRESH),
    specialises=("IV.1", "V.3"),
    example=_THREE,
)
def independent_sequential(losses: Sequence[Fraction]) -> Fraction:
    """Mechanisms that read the same dataset, and do not see each other's outputs, cost the sum of
    their losses, whatever the neighbouring relation, and even if their guarantees are for
    different relations.
    """
    return total(losses)


@theorem(
    "IV.11",
    title="Independent composition, common domain",
    place="Theorem IV.11",
    formula="ε = max over neighbours D, D' of Σ ε_i over the i with f_i(D) ≠ f_i(D')",
    hypotheses=(PURE, COMMON_DOMAIN, SEES_ONLY_INPUT, INDEPENDENT, FRESH),
    specialises=("V.5",),
    example=_TWO_OF_THREE,
)
def independent_common(losses: Sequence[Fraction]) -> Fraction:
    """Every mechanism is stated on one and the same table, but sees only a part of it, or something
    made from it; none sees the outputs of the others. For two neighbouring tables only the
    mechanisms whose inputs differ lose anything, each at most its stated loss, and these losses add
    up.

    By IV.10 a mechanism may lose even less. The argument lists the losses of the mechanisms that
    the change reaches.
    """
    return total(losses)


@theorem(
    "V.2",
    title="Adaptive composition (AC)",
    place="Theorem V.2",
    formula="ε = max over neighbours D, D' of Σ d_i(f_i(D), f_i(D'))",
    hypotheses=(PURE, ON_INPUT, FRESH, FIXED),
    specialises=("VI.4",),
    example=_COUNT_AND_PLACE,
    departs="The printed proof of lemma A.10 compares an integral with the measure of the whole "
    "set, which fails for negative measures. The lemma holds all the same: the integral of g ≥ 0 "
    "against a measure that is positive nowhere is not positive.",
    spec="specs/ambulances-hospitals.yaml",
)
def adaptive_composition(losses: Sequence[Fraction]) -> Fraction:
    """Mechanisms read datasets that are made, each in its own way, from one table, and may use all
    outputs before theirs. Between two tables the release of all outputs loses the sum of what each
    mechanism loses between its two inputs: using earlier outputs costs nothing extra.

    This is the general theorem of pure DP; sequential and parallel composition and all that lies
    between are cases of it. The argument lists the losses of the mechanisms for one and the same
    change.
    """
    return total(losses)


@theorem(
    "V.3",
    title="Adaptive sequential composition, any relation",
    place="Theorem V.3",
    formula="ε = Σ ε_i",
    hypotheses=(PURE, ONE_DATASET, FRESH, FIXED),
    specialises=("V.2",),
    example=_THREE,
    spec="specs/sequential-budget.yaml",
)
def adaptive_sequential(losses: Sequence[Fraction]) -> Fraction:
    """Mechanisms that read the same dataset cost the sum of their losses, even if each uses the
    outputs before it, whatever the neighbouring relation.
    """
    return total(losses)


@theorem(
    "V.5",
    title="Adaptive composition, common domain",
    place="Theorem V.5",
    formula="ε = max over neighbours D, D' of Σ ε_i over the i with f_i(D) ≠ f_i(D')",
    hypotheses=(PURE, COMMON_DOMAIN, SEES_ONLY_INPUT, FRESH, FIXED),
    specialises=("VI.7",),
    example=_TWO_OF_THREE,
    spec="specs/software-features-bounded.yaml",
)
def adaptive_common(losses: Sequence[Fraction]) -> Fraction:
    """Every mechanism is stated on one and the same table, sees only a part of it or something made
    from it, and may use the outputs before its own. For two neighbouring tables only the mechanisms
    whose inputs differ lose anything, each at most its stated loss, and these losses add up.

    Since the guarantees are stated on the common table, what a part becomes under a change does not
    matter, which saves bounded neighbours from Example II.9.
    """
    return total(losses)


@theorem(
    "VII.1",
    title="Post-processing",
    place="Theorem VII.1",
    formula="loss of g(M) = loss of M;  what reads released outputs only costs 0",
    hypotheses=(
        Hypothesis(
            "outputs only",
            "the step uses released outputs, public data and fresh randomness, never the tables",
            "declared",
        ),
    ),
    example=Example(
        (Fraction("0.3"),),
        Fraction("0.3"),
        "A count of 0.3, smoothed after its release, costs 0.3.",
    ),
    departs="Printed for functions without randomness. Fresh randomness can be handed over with "
    "the output: it is the same for all tables, so no loss grows. In the printed proof read the "
    "preimage of a set of results for the image of a set of outputs.",
    spec="specs/smoothed-counts.yaml",
)
def post_processing(loss: Fraction) -> Fraction:
    """Whatever is computed from released outputs, without another look at the tables, has no larger
    loss than those outputs. This holds for pure, approximate, zero-concentrated and Gaussian DP.
    """
    return loss


@theorem(
    "VII.2",
    title="Converse of independent composition",
    place="Theorem VII.2",
    formula="loss of each M_i ≤ loss of (M_1, …, M_k)",
    hypotheses=(INDEPENDENT,),
    specialises=("VII.1",),
    example=Example(
        (Fraction("0.6"),),
        Fraction("0.6"),
        "If two releases together are 0.6-DP, neither is worse than 0.6 by itself.",
    ),
)
def independent_converse(loss: Fraction) -> Fraction:
    """If the release of several independent outputs satisfies a guarantee, then each of them
    satisfies it, since forgetting the others is post-processing.

    So a mechanism that is not private by itself never becomes private in company; this is how
    Example II.9 fails. The mechanism is meant together with the map before it: nothing follows for
    the mechanism alone.
    """
    return loss


@theorem(
    "VII.3",
    title="Converse of adaptive composition",
    place="Theorem VII.3",
    formula="loss of each output N_i ≤ loss of (N_1, …, N_k)",
    specialises=("VII.1",),
    example=Example(
        (Fraction("0.6"),),
        Fraction("0.6"),
        "If a chain of queries is 0.6-DP, its last answer is 0.6-DP as a release of its own.",
    ),
)
def adaptive_converse(loss: Fraction) -> Fraction:
    """If an adaptive release satisfies a guarantee, then so does each of its outputs, taken as one
    release from the tables to that output.

    It does not follow that each mechanism satisfies the guarantee for every history that it could
    be given.
    """
    return loss
