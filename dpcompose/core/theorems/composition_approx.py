"""Composition under approximate DP: pairs (ε, δ)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpcompose.core.change.units import Kind
from dpcompose.core.notions.notion import Notion, Pair
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
from dpcompose.core.theorems.stability import SEES_ONLY_INPUT

APPROX = Hypothesis(
    "approximate DP",
    "every loss is a pair (ε, δ), with δ = 0 for pure DP",
    test=holds.in_notion(Notion.APPROX),
)
ONE_PAIR = Hypothesis(
    "one pair each",
    "what is known of each block is one (ε, δ)",
    test=holds.one_pair_a_block(),
)
ONE_PAIR_A_ROW = Hypothesis(
    "one pair each",
    "what is known of each block is one (ε, δ)",
    test=holds.one_pair_a_block(Kind.SINGLE),
)

_SURVIVAL = (
    "Where Σ δ_i reaches 1 the tool takes 1 - Π (1 - δ_i) in its place, which always holds: a "
    "mechanism that is (ε, δ)-DP can be imitated by one that gives everything away with "
    "probability δ and is ε-DP otherwise."
)


def total_pairs(pairs: Sequence[Pair]) -> Pair:
    """Returns the sum of (ε, δ) pairs of one change; 1 - Π (1 - δ_i) where Σ δ_i reaches 1."""
    epsilon = total(pair[0] for pair in pairs)
    delta = total(pair[1] for pair in pairs)
    if delta >= 1:
        delta = 1 - math.prod((1 - pair[1] for pair in pairs), start=Fraction(1))
    return epsilon, delta


def largest_pair(pairs: Sequence[Pair]) -> Pair:
    """Returns the largest ε with the largest δ."""
    return largest([pair[0] for pair in pairs]), largest([pair[1] for pair in pairs])


def pairs(text: str) -> tuple[Pair, ...]:
    """Returns the (ε, δ) pairs written in a worked example, `ε,δ` with blanks between them."""
    split = (each.split(",") for each in text.split())
    return tuple((Fraction(epsilon), Fraction(delta)) for epsilon, delta in split)


_FOUR_REPORTS = Example(
    (pairs("1.2,1e-10 " * 4),),
    (Fraction("4.8"), Fraction("4e-10")),
    "Four reports of (1.2, 1e-10) on one table cost (4.8, 4e-10).",
)
_TWO_BLOCKS = Example(
    (pairs("0.5,1e-6 0.8,1e-7"),),
    (Fraction("0.8"), Fraction("1e-6")),
    "Blocks of (0.5, 1e-6) and (0.8, 1e-7) cost (0.8, 1e-6).",
)


theorem(
    "VI.4",
    title="Adaptive composition of approximate DP",
    formula="(ε, δ) = (Σ ε_i, Σ δ_i), of the changes of the inputs, at the worst neighbours",
    hypotheses=(APPROX, BOUNDED_EACH, FRESH, FIXED),
    example=Example(
        (pairs("1,1e-5 1,1e-5 1,1e-5 0,0"),),
        (Fraction(3), Fraction("3e-5")),
        "One ambulance more for three hospitals of (1, 1e-5) each: (3, 3e-5); others see nothing.",
    ),
    departs=f"{_SURVIVAL} In the hypotheses read that d_i and δ_i live on the input of the i-th "
    "mechanism. The proof of lemma A.11 has the slip of A.10 (see V.2); the lemma holds, since the "
    "integral of g ≤ 1 is at most the largest value of the measure on any set.",
    notion=Notion.APPROX,
    uses=OF_ALL,
    statement="""\
    Mechanisms read datasets that are made from one table, and may use all outputs before theirs.
    Between two tables the release of all outputs loses the sum of the ε and the sum of the δ that
    each mechanism loses between its two inputs.

    All other composition theorems of pure and approximate DP follow from this one. The argument
    lists the pairs of the mechanisms for one and the same change.
    """,
)(total_pairs)


theorem(
    "VI.5",
    title="Sequential composition of approximate DP",
    formula="(ε, δ) = (Σ ε_i, Σ δ_i)",
    hypotheses=(APPROX, ONE_DATASET, FRESH, FIXED),
    specialises=("VI.4",),
    example=_FOUR_REPORTS,
    departs=_SURVIVAL,
    spec="specs/deployments/linkedin-labour-market.yaml",
    notion=Notion.APPROX,
    uses=OF_ONE_DATASET,
    routes=("basic composition",),
    statement="""\
    Mechanisms that read the same dataset, each of which may use the outputs before it, cost the
    sum of their ε and the sum of their δ, whatever the neighbouring relation.
    """,
)(total_pairs)


theorem(
    "VI.6",
    title="Best bound on disjoint blocks, approximate DP",
    formula="(ε, δ) = (max ε_i, max δ_i)",
    hypotheses=(APPROX, *BLOCKS, ONE_PAIR, FRESH, FIXED),
    specialises=("VI.4",),
    example=_TWO_BLOCKS,
    departs=f"{DEFINITIONS} The tool also keeps the pairs themselves: every change costs one of "
    "them, which can be better at a given δ than the two largest numbers together.",
    spec="specs/patterns/clinics-approximate.yaml",
    notion=Notion.APPROX,
    uses=OF_BLOCKS,
    statement="""\
    If one neighbouring step changes at most one block of a partition, and is at most one step
    there, then mechanisms on the blocks cost together the largest ε and the largest δ among them.
    """,
)(largest_pair)


theorem(
    "VI.7",
    title="Adaptive composition of approximate DP, common domain",
    formula="(ε, δ) = (Σ ε_i, Σ δ_i) over the i with f_i(D) ≠ f_i(D'), at the worst neighbours",
    hypotheses=(APPROX, COMMON_DOMAIN, SEES_ONLY_INPUT, FRESH, FIXED),
    example=Example(
        (pairs("1,1e-5 " * 6),),
        (Fraction(6), Fraction("6e-5")),
        "An ambulance leaves three hospitals of (1, 1e-5), its successor joins three: (6, 6e-5).",
    ),
    departs="Called adaptive, but printed for the independent release. It holds adaptively: the "
    "proof of VI.4 compares two given tables, and by IV.10 those may be the closest ones. In the "
    "definition of δ_i the print forgets that the two tables must look like D and D' to the "
    f"mechanism, as its proof (A.12) has it. {_SURVIVAL}",
    spec="specs/paper/ambulances-approximate.yaml",
    notion=Notion.APPROX,
    uses=(
        Use(
            Role.TWO_BLOCKS,
            "release",
            (*BOUNDED_BLOCKS, ONE_PAIR_A_ROW),
            two_blocks,
            told=True,
        ),
        OF_COMMON_DOMAIN,
    ),
    statement="""\
    Every mechanism is stated on one and the same table, sees only a part of it or something made
    from it, and may use the outputs before its own. For two neighbouring tables only the mechanisms
    whose inputs differ lose anything; their ε add up, and so do their δ.
    """,
)(total_pairs)


theorem(
    "A.13",
    title="Best bound on disjoint blocks, approximate DP, common domain",
    formula="(ε, δ) = (max ε_i, max δ_i)",
    hypotheses=(APPROX, *COMMON_BLOCKS, ONE_PAIR, FRESH, FIXED),
    specialises=("VI.7",),
    example=_TWO_BLOCKS,
    departs=MISSING + DEFINITIONS,
    notion=Notion.APPROX,
    uses=OF_BLOCKS_COMMON,
    statement="""\
    If one neighbouring step changes at most one block of a partition, then mechanisms that are
    stated on the whole table, and see one block each, cost together the largest ε and the largest δ
    among them.
    """,
)(largest_pair)
