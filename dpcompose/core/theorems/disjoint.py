"""Parallel composition under pure DP: the largest loss of disjoint blocks, or the two largest."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from heapq import nlargest

from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Example, Hypothesis, Role, Use, theorem
from dpcompose.core.theorems import predicates as holds
from dpcompose.core.theorems.composition import (
    COMMON_DOMAIN,
    FIXED,
    FRESH,
    INDEPENDENT,
    ON_INPUT,
    PURE,
    total,
)
from dpcompose.core.theorems.runs import every_block, worst_block
from dpcompose.core.theorems.stability import SEES_ONLY_INPUT, numbers
from dpcompose.curves.rounding import ZERO

ONE_EACH = Hypothesis(
    "one block each",
    "every mechanism reads one block; those on the same block count as one",
    test=holds.one_partition,
)
DISJOINT = Hypothesis("disjoint blocks", "no row is in two blocks", "declared")
BY_VALUE = Hypothesis(
    "blocks by value",
    "the value of a row alone decides which block it is in",
    test=holds.by_value,
)
COMPATIBLE = Hypothesis(
    "compatible partition",
    "one step of the relation protected changes at most one block",
    test=holds.compatible,
)
STAYS_ONE_STEP = Hypothesis(
    "one step stays one step",
    "one step is protected, and it is at most one step of the same relation at the block that "
    "changes",
    test=holds.one_step,
)
ONE_STEP = Hypothesis(
    "one step", "one step of the relation is protected, not several", test=holds.one_step
)
SAME_RELATION = Hypothesis(
    "same relation", "every guarantee is for the relation protected", test=holds.same_relation
)
BOUNDED = Hypothesis(
    "one row replaced", "bounded neighbours are protected", test=holds.bounded_neighbours
)

BLOCKS = (ONE_EACH, DISJOINT, STAYS_ONE_STEP, COMPATIBLE, ON_INPUT, SAME_RELATION)
COMMON_BLOCKS = (
    ONE_EACH,
    DISJOINT,
    ONE_STEP,
    COMPATIBLE,
    COMMON_DOMAIN,
    SAME_RELATION,
    SEES_ONLY_INPUT,
)
BOUNDED_BLOCKS = (
    ONE_EACH,
    DISJOINT,
    ONE_STEP,
    BOUNDED,
    BY_VALUE,
    COMMON_DOMAIN,
    SAME_RELATION,
    SEES_ONLY_INPUT,
)

#: How the theorems on the blocks of one partition are used, in every notion.
OF_BLOCKS = (Use(Role.WORST_BLOCK, "release", run=worst_block, told=True),)
OF_BLOCKS_COMMON = (Use(Role.WORST_BLOCK_COMMON, "release", run=worst_block, told=True),)

#: How the tool departs from the definitions of Section IV.
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
    """Returns the largest loss; 0 if there is none."""
    return max(losses, default=ZERO)


def two_largest(losses: Sequence[Fraction]) -> Fraction:
    """Returns the sum of the two largest losses, or the only loss."""
    return total(nlargest(2, losses))


DISTRICTS = Example(
    (numbers("0.5 0.7 1"),), Fraction(1), "Districts of 0.5, 0.7 and 1 cost 1, the largest."
)
_FOLDS = Example(
    (numbers("0.5 0.7 1"),),
    Fraction(1),
    "Folds of a table by row number, of 0.5, 0.7 and 1: a replaced row stays in its fold, so 1.",
)


theorem(
    "IV.6",
    title="Independent best bound on disjoint blocks",
    formula="ε = max ε_i",
    hypotheses=(PURE, *BLOCKS, INDEPENDENT, FRESH),
    specialises=("IV.1", "V.4"),
    example=DISTRICTS,
    departs=DEFINITIONS,
    notion=Notion.PURE,
    adaptive=False,
    uses=OF_BLOCKS,
    statement="""\
    If one neighbouring step changes at most one block of a partition, and is at most one step
    there, then independent mechanisms on the blocks cost together the largest of their losses.

    Both conditions hold for unbounded neighbours and blocks by value, and for bounded neighbours
    and blocks by position.
    """,
)(largest)


theorem(
    "IV.12",
    title="Independent best bound on disjoint blocks, common domain",
    formula="ε = max ε_i",
    hypotheses=(PURE, *COMMON_BLOCKS, INDEPENDENT, FRESH),
    specialises=("IV.11", "V.6"),
    example=_FOLDS,
    departs=f"{DEFINITIONS} The remark after it has the direction reversed: IV.6 follows from "
    "IV.12 by preprocessing (III.6).",
    notion=Notion.PURE,
    adaptive=False,
    uses=OF_BLOCKS_COMMON,
    statement="""\
    If one neighbouring step changes at most one block of a partition, then independent
    mechanisms that are stated on the whole table, and see one block each, cost together the largest
    of their losses. What the step does inside the block does not matter.
    """,
)(largest)


theorem(
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
    spec="specs/paper/ambulances-districts-bounded.yaml",
    notion=Notion.PURE,
    uses=(Use(Role.TWO_BLOCKS, "release", run=every_block, told=True),),
    statement="""\
    Mechanisms are stated for replacing one row of the whole table, and each sees only the rows
    of its own block, the blocks being disjoint sets of row values. A replaced row leaves at most
    one block and enters at most one other, so only two mechanisms can lose anything: together they
    cost the two largest losses, not the sum of all.

    This cannot be improved for guarantees that are known no better, and it has no counterpart for
    guarantees that are stated on the blocks themselves (Example II.9).
    """,
)(two_largest)


theorem(
    "V.4",
    title="Adaptive best bound on disjoint blocks",
    formula="ε = max ε_i",
    hypotheses=(PURE, *BLOCKS, FRESH, FIXED),
    specialises=("V.2",),
    example=DISTRICTS,
    departs=DEFINITIONS,
    spec="specs/patterns/ambulances-districts-unbounded.yaml",
    notion=Notion.PURE,
    adaptive=True,
    uses=OF_BLOCKS,
    statement="""\
    If one neighbouring step changes at most one block of a partition, and is at most one step
    there, then mechanisms on the blocks cost together the largest of their losses, even if each
    uses the outputs before it.

    This is parallel composition for every relation to which the partition fits: unbounded
    neighbours and blocks by value, bounded neighbours and blocks by position or by a public key.
    """,
)(largest)


theorem(
    "V.6",
    title="Adaptive best bound on disjoint blocks, common domain",
    formula="ε = max ε_i",
    hypotheses=(PURE, *COMMON_BLOCKS, FRESH, FIXED),
    specialises=("V.5",),
    example=_FOLDS,
    departs=DEFINITIONS,
    spec="specs/patterns/folds-common-domain.yaml",
    notion=Notion.PURE,
    adaptive=True,
    uses=OF_BLOCKS_COMMON,
    statement="""\
    If one neighbouring step changes at most one block of a partition, then mechanisms that are
    stated on the whole table, see one block each and may use the outputs before theirs cost
    together the largest of their losses.
    """,
)(largest)
