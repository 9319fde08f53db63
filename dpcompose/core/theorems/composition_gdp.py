"""Composition under Gaussian DP: the squares of μ add up, so bounds take and give μ²."""

from __future__ import annotations

from fractions import Fraction

from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Example, Hypothesis, Role, Use, theorem
from dpcompose.core.theorems import predicates as holds
from dpcompose.core.theorems.composition import (
    BOUNDED_EACH,
    COMMON_DOMAIN,
    FIXED,
    FRESH,
    OF_ALL,
    OF_COMMON_DOMAIN,
    OF_ONE_DATASET,
    ONE_DATASET,
    total,
)
from dpcompose.core.theorems.disjoint import (
    BLOCKS,
    BOUNDED_BLOCKS,
    COMMON_BLOCKS,
    DEFINITIONS,
    OF_BLOCKS,
    OF_BLOCKS_COMMON,
    largest,
    two_largest,
)
from dpcompose.core.theorems.runs import every_block
from dpcompose.core.theorems.stability import SEES_ONLY_INPUT, numbers

GDP = Hypothesis(
    "Gaussian DP",
    "every loss is a μ, or a pure ε that was converted to one",
    test=holds.in_notion(Notion.GDP),
)

_BLOCKS = Example(
    (numbers("0.09 0.16"),),
    Fraction("0.16"),
    "Blocks of μ = 0.3 and 0.4 cost 0.4: the larger square, 0.16.",
)
_SUM = Example(
    (numbers("0.09 0.16"),),
    Fraction("0.25"),
    "μ = 0.3 and 0.4 cost 0.5: the squares 0.09 and 0.16 add up to 0.25.",
)


theorem(
    "VI.21",
    title="Adaptive composition of Gaussian DP",
    formula="μ² = max over neighbours D, D' of Σ μ_i(f_i(D), f_i(D'))²",
    hypotheses=(GDP, BOUNDED_EACH, FRESH, FIXED),
    example=_SUM,
    departs="In the printed proof read that the trade-off function is at least the product, not "
    "that it is equal to it.",
    spec="specs/patterns/visits-gaussian-cap.yaml",
    notion=Notion.GDP,
    uses=OF_ALL,
    statement="""\
    Mechanisms read datasets that are made from one table, and may use all outputs before theirs.
    Between two tables the square of the μ of the whole release is the sum of the squares of the μ
    that each mechanism loses between its two inputs.

    The argument lists the squares for one and the same change. The root of the sum is never above
    the sum of the μ.
    """,
)(total)


theorem(
    "VI.22",
    title="Adaptive composition of Gaussian DP, common domain",
    formula="μ² = max over neighbours D, D' of Σ μ_i² over the i with f_i(D) ≠ f_i(D')",
    hypotheses=(GDP, COMMON_DOMAIN, SEES_ONLY_INPUT, FRESH, FIXED),
    example=_SUM,
    notion=Notion.GDP,
    uses=(OF_COMMON_DOMAIN,),
    statement="""\
    Every mechanism is stated on one and the same table, sees only a part of it or something made
    from it, and may use the outputs before its own. For two neighbouring tables only the mechanisms
    whose inputs differ lose anything, each at most its stated μ, and the squares add up.
    """,
)(total)


theorem(
    "VI.23",
    title="Sequential composition of Gaussian DP",
    formula="μ² = Σ μ_i²",
    hypotheses=(GDP, ONE_DATASET, FRESH, FIXED),
    specialises=("VI.21",),
    example=_SUM,
    departs="The printed hypothesis speaks of pure DP on different inputs; read Gaussian DP on the "
    "one dataset that all read.",
    spec="specs/patterns/sensors-gaussian.yaml",
    notion=Notion.GDP,
    uses=OF_ONE_DATASET,
    statement="""\
    Mechanisms that read the same dataset, each of which may use the outputs before it, cost the
    root of the sum of the squares of their μ, whatever the neighbouring relation.
    """,
)(total)


theorem(
    "VI.26",
    title="Best bound on disjoint blocks, Gaussian DP",
    formula="μ² = max μ_i²",
    hypotheses=(GDP, *BLOCKS, FRESH, FIXED),
    specialises=("VI.21",),
    example=_BLOCKS,
    departs=DEFINITIONS,
    notion=Notion.GDP,
    uses=OF_BLOCKS,
    statement="""\
    If one neighbouring step changes at most one block of a partition, and is at most one step
    there, then mechanisms on the blocks cost together the largest of their μ.
    """,
)(largest)


theorem(
    "A.17",
    title="Best bound on disjoint blocks, Gaussian DP, common domain",
    formula="μ² = max μ_i²",
    hypotheses=(GDP, *COMMON_BLOCKS, FRESH, FIXED),
    specialises=("VI.22",),
    example=_BLOCKS,
    departs=DEFINITIONS,
    notion=Notion.GDP,
    uses=OF_BLOCKS_COMMON,
    statement="""\
    If one neighbouring step changes at most one block of a partition, then mechanisms that are
    stated on the whole table, and see one block each, cost together the largest of their μ.
    """,
)(largest)


theorem(
    "A.18",
    title="Bounded neighbours on disjoint blocks, Gaussian DP",
    place="Corollary A.18",
    formula="μ² = max of μ_i² + μ_j² over i ≠ j",
    hypotheses=(GDP, *BOUNDED_BLOCKS, FRESH, FIXED),
    specialises=("VI.22",),
    example=Example(
        (numbers("0.09 0.16 0.01"),),
        Fraction("0.25"),
        "Blocks of μ = 0.3, 0.4 and 0.1: the two largest squares, 0.09 + 0.16, so μ = 0.5.",
    ),
    departs="Printed for independent mechanisms. It holds adaptively: VI.22 gives the same sum of "
    "squares over the blocks that change, and a replaced row changes at most two.",
    spec="specs/patterns/districts-gaussian-bounded.yaml",
    notion=Notion.GDP,
    uses=(Use(Role.TWO_BLOCKS, "release", run=every_block, told=True),),
    statement="""\
    Mechanisms are stated for replacing one row of the whole table, and each sees only the rows
    of its own block, the blocks being disjoint sets of row values. Only the block that a replaced
    row leaves and the one that it enters lose anything: together the root of the sum of the two
    largest squares of μ.
    """,
)(two_largest)
