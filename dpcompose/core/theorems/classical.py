"""Classical sequential and parallel composition under pure DP, for one row added or removed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpcompose.core.theorem import Example, Hypothesis, theorem
from dpcompose.core.theorems.composition import (
    FIXED,
    FRESH,
    INDEPENDENT,
    ON_INPUT,
    ONE_DATASET,
    PURE,
    THREE,
    total,
)
from dpcompose.core.theorems.disjoint import BY_VALUE, DISJOINT, DISTRICTS, ONE_EACH, largest
from dpcompose.core.theorems.stability import numbers

UNBOUNDED = Hypothesis("one row added or removed", "unbounded neighbours, stated and protected")
CLASSICAL = "the classical form; a theorem of the paper that holds of every relation is used"


@theorem(
    "II.5",
    title="Sequential composition of equal mechanisms",
    place="Theorem II.5",
    formula="ε = T · ε'",
    hypotheses=(PURE, ONE_DATASET, UNBOUNDED, FRESH, FIXED),
    specialises=("V.3",),
    example=Example((Fraction("0.1"), 10), Fraction(1), "Ten releases of 0.1 cost exactly 1."),
    for_readers=CLASSICAL,
    statement="""\
    Asking T times, each time of an ε-DP mechanism and in the light of the earlier answers, is
    Tε-DP.

    The classical form, for unbounded neighbours. V.3 generalises it: any relation, different
    losses.
    """,
)
def sequential_equal(epsilon: Fraction, times: int) -> Fraction:
    return epsilon * times


@theorem(
    "II.6",
    title="Independent sequential composition (classical)",
    place="Theorem II.6",
    formula="ε = Σ ε_i",
    hypotheses=(PURE, ONE_DATASET, UNBOUNDED, INDEPENDENT, FRESH),
    specialises=("IV.3",),
    example=THREE,
    departs="Printed without saying, outside its name, that the mechanisms are independent.",
    for_readers=CLASSICAL,
    statement="""\
    Releasing the outputs of several mechanisms on one table, none of which sees the outputs of
    the others, costs the sum of their losses.

    The classical form, for unbounded neighbours. IV.3 generalises it to every relation.
    """,
)
def sequential_independent(epsilons: Sequence[Fraction]) -> Fraction:
    return total(epsilons)


@theorem(
    "II.7",
    title="Adaptive sequential composition (classical)",
    place="Theorem II.7",
    formula="ε = Σ ε_i",
    hypotheses=(PURE, ONE_DATASET, UNBOUNDED, FRESH, FIXED),
    specialises=("V.3",),
    example=THREE,
    for_readers=CLASSICAL,
    statement="""\
    Releasing the outputs of several mechanisms on one table, each of which may use the outputs
    before it, costs the sum of their losses.

    The classical form, for unbounded neighbours. V.3 generalises it to every relation.
    """,
)
def sequential_adaptive(epsilons: Sequence[Fraction]) -> Fraction:
    return total(epsilons)


@theorem(
    "II.8",
    title="Parallel composition (classical)",
    place="Theorem II.8",
    formula="ε = max ε_i",
    hypotheses=(PURE, ONE_EACH, DISJOINT, BY_VALUE, ON_INPUT, UNBOUNDED, INDEPENDENT, FRESH),
    specialises=("IV.6", "V.4"),
    example=DISTRICTS,
    departs="Printed with one ε for all mechanisms; with different ones the largest counts. That "
    "the mechanisms are independent is not said in the print; V.4 shows that it is not needed.",
    spec="specs/ambulances-districts-unbounded.yaml",
    for_readers=CLASSICAL,
    statement="""\
    Mechanisms that each read the rows of their own set of row values, sets without a common
    value, cost together as much as the most expensive of them.

    The classical form, for unbounded neighbours only: one added or removed row is in one block. It
    is false for bounded neighbours (Example II.9). IV.6 and V.4 generalise it to every relation
    under which a step changes one block.
    """,
)
def parallel(epsilons: Sequence[Fraction]) -> Fraction:
    return largest(epsilons)


@theorem(
    "II.9",
    title="Parallel composition fails for bounded neighbours",
    place="Example II.9",
    formula="none: no finite ε",
    hypotheses=(
        Hypothesis("one row replaced", "bounded neighbours are protected"),
        Hypothesis("bounded statements on blocks", "blocks have guarantees for replaced rows only"),
        Hypothesis("rows change blocks", "a replaced row may leave one block and enter another"),
    ),
    example=Example(
        (numbers("0 0"),),
        None,
        "The exact numbers of rows in the north and in the south are bounded 0-DP each; together "
        "they show for certain that a row has moved.",
    ),
    departs="Where the example says that the count does not contradict unbounded DP, read bounded.",
    spec="specs/parallel-trap.yaml",
    for_readers="it shows that there is no bound",
    statement="""\
    Let every block be read by a mechanism that is private for replacing a row of the block. A
    row of the whole table that is replaced may move from one block to another: then one block loses
    a row and the other gains one, and the guarantees say nothing about that. Publishing the exact
    number of rows of each block is an instance.

    No finite bound follows, however small the stated losses. The ways out: state the guarantees on
    the whole table (IV.13), for added and removed rows (V.4 and A.3), or split by something that
    a replacement keeps, such as the position of the row or a public key (V.4).
    """,
)
def parallel_trap(epsilons: Sequence[Fraction]) -> None:
    return None
