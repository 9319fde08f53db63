"""Post-processing, and the guarantee of each output from that of all outputs together."""

from __future__ import annotations

from fractions import Fraction

from dpcompose.core.theorem import Example, Hypothesis, Role, Use, theorem
from dpcompose.core.theorems.composition import INDEPENDENT

theorem(
    "VII.1",
    title="Post-processing",
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
    spec="specs/patterns/smoothed-counts.yaml",
    uses=(Use(Role.POST_PROCESSING),),
    for_readers="what it covers costs nothing, so that there is nothing to compute",
    statement="""\
    Whatever is computed from released outputs, without another look at the tables, has no larger
    loss than those outputs. This holds for pure, approximate, zero-concentrated and Gaussian DP.
    """,
)(None)


theorem(
    "VII.2",
    title="Converse of independent composition",
    formula="loss of each M_i ≤ loss of (M_1, …, M_k)",
    hypotheses=(INDEPENDENT,),
    specialises=("VII.1",),
    example=Example(
        (Fraction("0.6"),),
        Fraction("0.6"),
        "If two releases together are 0.6-DP, neither is worse than 0.6 by itself.",
    ),
    uses=(Use(Role.CONVERSE),),
    for_readers="it says why there is no bound",
    statement="""\
    If the release of several independent outputs satisfies a guarantee, then each of them
    satisfies it, since forgetting the others is post-processing.

    So a mechanism that is not private by itself never becomes private in company; this is how
    Example II.9 fails. The mechanism is meant together with the map before it: nothing follows for
    the mechanism alone.
    """,
)(None)
