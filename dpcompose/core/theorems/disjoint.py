"""Disjoint blocks under pure DP: where the largest loss is enough, and what holds elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from heapq import nlargest

from dpcompose.core.guarantee import ZERO
from dpcompose.core.theorem import Example, Hypothesis, theorem
from dpcompose.core.theorems.composition import (
    COMMON_DOMAIN,
    FIXED,
    FRESH,
    INDEPENDENT,
    ON_INPUT,
    PURE,
    UNBOUNDED,
    total,
)
from dpcompose.core.theorems.stability import SEES_ONLY_INPUT, numbers

ONE_EACH = Hypothesis(
    "one block each", "every mechanism reads one block; those on the same block count as one"
)
DISJOINT = Hypothesis("disjoint blocks", "no row is in two blocks", "declared")
BY_VALUE = Hypothesis("blocks by value", "the value of a row alone decides which block it is in")
COMPATIBLE = Hypothesis(
    "compatible partition", "one step of the relation protected changes at most one block"
)
ONE_STEP = Hypothesis(
    "one step stays one step",
    "one step at the table is at most one step of the same relation at the block that changes",
)
SAME_RELATION = Hypothesis("same relation", "every guarantee is for the relation protected")
BOUNDED = Hypothesis("one row replaced", "bounded neighbours, stated and protected")

BLOCKS = (ONE_EACH, DISJOINT, COMPATIBLE, ONE_STEP, SAME_RELATION)
COMMON_BLOCKS = (ONE_EACH, DISJOINT, COMPATIBLE, SAME_RELATION, COMMON_DOMAIN, SEES_ONLY_INPUT)
BOUNDED_BLOCKS = (ONE_EACH, DISJOINT, BY_VALUE, BOUNDED, COMMON_DOMAIN, SEES_ONLY_INPUT)

#: What the tool reads differently in the definitions of Section IV.
DEFINITIONS = (
    "In the definition of a partitioning function read that two blocks have nothing in common (the "
    "print says the opposite), and in that of compatibility that at most one block changes; blocks "
    "need not cover the table, so it may be none."
)
MISSING = (
    "The print leaves out that the blocks are those of a compatible partition, which its proof "
    "uses; without it the bound is false. The tool requires it. "
)


def largest(losses: Sequence[Fraction]) -> Fraction:
    """The largest loss; 0 if there is none."""
    return max(losses, default=ZERO)


def two_largest(losses: Sequence[Fraction]) -> Fraction:
    """The two largest losses added; the only one if there is one."""
    return total(nlargest(2, losses))


_DISTRICTS = Example(
    (numbers("0.5 0.7 1"),), Fraction(1), "Districts of 0.5, 0.7 and 1 cost 1, the largest."
)
_FOLDS = Example(
    (numbers("0.5 0.7 1"),),
    Fraction(1),
    "Folds of a table by row number, of 0.5, 0.7 and 1: a replaced row stays in its fold, so 1.",
)


@theorem(
    "II.8",
    title="Parallel composition (classical)",
    place="Theorem II.8",
    formula="ε = max ε_i",
    hypotheses=(PURE, ONE_EACH, DISJOINT, BY_VALUE, ON_INPUT, UNBOUNDED, INDEPENDENT, FRESH),
    specialises=("IV.6", "V.4"),
    example=_DISTRICTS,
    departs="Printed with one ε for all mechanisms; with different ones the largest counts. That "
    "the mechanisms are independent is not said in the print; V.4 shows that it is not needed.",
    spec="specs/ambulances-districts-unbounded.yaml",
)
def parallel(epsilons: Sequence[Fraction]) -> Fraction:
    """Mechanisms that each read the rows of their own set of row values, sets without a common
    value, cost together as much as the most expensive of them.

    The classical form, for unbounded neighbours only: one added or removed row is in one block. It
    is false for bounded neighbours (Example II.9). IV.6 and V.4 generalise it to every relation
    under which a step changes one block.
    """
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
)
def parallel_trap(epsilons: Sequence[Fraction]) -> None:
    """Let every block be read by a mechanism that is private for replacing a row of the block. A
    row of the whole table that is replaced may move from one block to another: then one block loses
    a row and the other gains one, and the guarantees say nothing about that. Publishing the exact
    number of rows of each block is an instance.

    No finite bound follows, however small the stated losses. The ways out: state the guarantees on
    the whole table (IV.13), for added and removed rows (V.4 and A.3), or split by something that
    a replacement keeps, such as the position of the row or a public key (V.4).
    """


@theorem(
    "IV.6",
    title="Independent best bound on disjoint blocks",
    place="Theorem IV.6",
    formula="ε = max ε_i",
    hypotheses=(PURE, *BLOCKS, ON_INPUT, INDEPENDENT, FRESH),
    specialises=("IV.1", "V.4"),
    example=_DISTRICTS,
    departs=DEFINITIONS,
)
def independent_best(losses: Sequence[Fraction]) -> Fraction:
    """If one neighbouring step changes at most one block of a partition, and is at most one step
    there, then independent mechanisms on the blocks cost together the largest of their losses.

    Both conditions hold for unbounded neighbours and blocks by value, and for bounded neighbours
    and blocks by position.
    """
    return largest(losses)


@theorem(
    "IV.12",
    title="Independent best bound on disjoint blocks, common domain",
    place="Theorem IV.12",
    formula="ε = max ε_i",
    hypotheses=(PURE, *COMMON_BLOCKS, INDEPENDENT, FRESH),
    specialises=("IV.11", "V.6"),
    example=_FOLDS,
    departs=f"{DEFINITIONS} The remark after it has the direction reversed: IV.6 follows from "
    "IV.12 by preprocessing (III.6).",
)
def independent_best_common(losses: Sequence[Fraction]) -> Fraction:
    """If one neighbouring step changes at most one block of a partition, then independent
    mechanisms that are stated on the whole table, and see one block each, cost together the largest
    of their losses. What the step does inside the block does not matter.
    """
    return largest(losses)


@theorem(
    "IV.13",
    title="Bounded neighbours on disjoint blocks",
    place="Corollary IV.13",
    formula="ε = max of ε_i + ε_j over i ≠ j",
    hypotheses=(PURE, *BOUNDED_BLOCKS, FRESH, FIXED),
    specialises=("V.5",),
    example=Example(
        (numbers("0.5 0.7 1"),),
        Fraction("1.7"),
        "Districts of 0.5, 0.7 and 1: a row that moves from the second to the third costs 1.7.",
    ),
    departs="Printed for independent mechanisms. It holds adaptively: V.5 gives the same sum over "
    "the blocks that change, and a replaced row changes at most two. With one block the bound is "
    "its own ε.",
    spec="specs/ambulances-districts-bounded.yaml",
)
def bounded_disjoint(epsilons: Sequence[Fraction]) -> Fraction:
    """Mechanisms are stated for replacing one row of the whole table, and each sees only the rows
    of its own block, the blocks being disjoint sets of row values. A replaced row leaves at most
    one block and enters at most one other, so only two mechanisms can lose anything: together they
    cost the two largest losses, not the sum of all.

    This cannot be improved for guarantees that are known no better, and it has no counterpart for
    guarantees that are stated on the blocks themselves (Example II.9).
    """
    return two_largest(epsilons)


@theorem(
    "V.4",
    title="Adaptive best bound on disjoint blocks",
    place="Theorem V.4",
    formula="ε = max ε_i",
    hypotheses=(PURE, *BLOCKS, ON_INPUT, FRESH, FIXED),
    specialises=("V.2",),
    example=_DISTRICTS,
    departs=DEFINITIONS,
    spec="specs/ambulances-districts-unbounded.yaml",
)
def adaptive_best(losses: Sequence[Fraction]) -> Fraction:
    """If one neighbouring step changes at most one block of a partition, and is at most one step
    there, then mechanisms on the blocks cost together the largest of their losses, even if each
    uses the outputs before it.

    This is parallel composition for every relation to which the partition fits: unbounded
    neighbours and blocks by value, bounded neighbours and blocks by position or by a public key.
    """
    return largest(losses)


@theorem(
    "V.6",
    title="Adaptive best bound on disjoint blocks, common domain",
    place="Theorem V.6",
    formula="ε = max ε_i",
    hypotheses=(PURE, *COMMON_BLOCKS, FRESH, FIXED),
    specialises=("V.5",),
    example=_FOLDS,
    departs=DEFINITIONS,
    spec="specs/folds-common-domain.yaml",
)
def adaptive_best_common(losses: Sequence[Fraction]) -> Fraction:
    """If one neighbouring step changes at most one block of a partition, then mechanisms that are
    stated on the whole table, see one block each and may use the outputs before theirs cost
    together the largest of their losses.
    """
    return largest(losses)
