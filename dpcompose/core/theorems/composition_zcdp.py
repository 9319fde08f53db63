"""Composition under zero-concentrated DP: ρ adds up."""

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
    MISSING,
    OF_BLOCKS,
    OF_BLOCKS_COMMON,
    largest,
)
from dpcompose.core.theorems.runs import two_blocks
from dpcompose.core.theorems.stability import SEES_ONLY_INPUT, numbers

ZCDP = Hypothesis(
    "zCDP",
    "every loss is a ρ, or a pure ε or a μ that was converted to one",
    test=holds.in_notion(Notion.ZCDP),
)

_BLOCKS = Example((numbers("0.1 0.25"),), Fraction("0.25"), "Blocks of ρ = 0.1 and 0.25 cost 0.25.")


theorem(
    "VI.13",
    title="Adaptive composition of zCDP",
    formula="ρ = max over neighbours D, D' of Σ ρ_i(f_i(D), f_i(D'))",
    hypotheses=(ZCDP, BOUNDED_EACH, FRESH, FIXED),
    example=Example(
        (numbers("0.1 0.1 0"),),
        Fraction("0.2"),
        "A record leaves one cell of ρ = 0.1 and enters another; the third sees nothing: 0.2.",
    ),
    spec="specs/deployments/census-dhca-cells.yaml",
    notion=Notion.ZCDP,
    uses=OF_ALL,
    statement="""\
    Mechanisms read datasets that are made from one table, and may use all outputs before theirs.
    Between two tables the ρ of the whole release is the sum of the ρ that each mechanism loses
    between its two inputs.

    The ρ of one mechanism grows with the square of how far its input moves (VI.12); the sum is over
    those squares. The argument lists the ρ of the mechanisms for one and the same change.
    """,
)(total)


theorem(
    "VI.14",
    title="Adaptive composition of zCDP, common domain",
    formula="ρ = max over neighbours D, D' of Σ ρ_i over the i with f_i(D) ≠ f_i(D')",
    hypotheses=(ZCDP, COMMON_DOMAIN, SEES_ONLY_INPUT, FRESH, FIXED),
    example=Example(
        (numbers("0.25 0.2"),),
        Fraction("0.45"),
        "Blocks by value of ρ = 0.1, 0.25 and 0.2, bounded: a row that moves reaches two: 0.45.",
    ),
    spec="specs/patterns/districts-zcdp-bounded.yaml",
    notion=Notion.ZCDP,
    uses=(
        Use(Role.TWO_BLOCKS, "release", BOUNDED_BLOCKS, two_blocks, told=True),
        OF_COMMON_DOMAIN,
    ),
    statement="""\
    Every mechanism is stated on one and the same table, sees only a part of it or something made
    from it, and may use the outputs before its own. For two neighbouring tables only the mechanisms
    whose inputs differ lose anything, each at most its stated ρ, and these add up.

    With disjoint blocks by value and one replaced row this is the sum of the two largest ρ, as in
    IV.13.
    """,
)(total)


theorem(
    "VI.15",
    title="Sequential composition of zCDP",
    formula="ρ = Σ ρ_i",
    hypotheses=(ZCDP, ONE_DATASET, FRESH, FIXED),
    specialises=("VI.13",),
    example=Example(
        (numbers("104/4099 1440/4099 447/4099 687/4099 1256/4099 165/4099"),),
        Fraction(1),
        "Six levels of a census get 104, 1440, 447, 687, 1256 and 165 parts of 4099: together 1.",
    ),
    departs="In the remark after it, ρ_i times the squared distance is d_i², not d_i.",
    spec="specs/deployments/census-2020-redistricting-persons.yaml",
    notion=Notion.ZCDP,
    uses=OF_ONE_DATASET,
    statement="""\
    Mechanisms that read the same dataset, each of which may use the outputs before it, cost the
    sum of their ρ, whatever the neighbouring relation.
    """,
)(total)


theorem(
    "VI.16",
    title="Best bound on disjoint blocks, zCDP",
    formula="ρ = max ρ_i",
    hypotheses=(ZCDP, *BLOCKS, FRESH, FIXED),
    specialises=("VI.13",),
    example=_BLOCKS,
    departs=DEFINITIONS,
    spec="specs/patterns/districts-zcdp-unbounded.yaml",
    notion=Notion.ZCDP,
    uses=OF_BLOCKS,
    statement="""\
    If one neighbouring step changes at most one block of a partition, and is at most one step
    there, then mechanisms on the blocks cost together the largest of their ρ.
    """,
)(largest)


theorem(
    "A.15",
    title="Best bound on disjoint blocks, zCDP, common domain",
    formula="ρ = max ρ_i",
    hypotheses=(ZCDP, *COMMON_BLOCKS, FRESH, FIXED),
    specialises=("VI.14",),
    example=_BLOCKS,
    departs=MISSING + DEFINITIONS,
    notion=Notion.ZCDP,
    uses=OF_BLOCKS_COMMON,
    statement="""\
    If one neighbouring step changes at most one block of a partition, then mechanisms that are
    stated on the whole table, and see one block each, cost together the largest of their ρ.
    """,
)(largest)
